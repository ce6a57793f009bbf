//! What the threads and messages of libfabric have to do with fences, quiets and channels.

use super::job::{job, settings};
use super::pes::heap;
use super::{connect, put};
use pellucid_core::transport::ofi::Settings;
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, Transport};
use std::ptr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What is tested under that name is really in force.
#[test]
fn memory_is_registered_as_for_a_card_where_that_is_asked_for() {
    let Some(pes) = job(1, &Settings { as_cards_do: true, ..settings() }) else { return };
    let rows = &pes[0].fabric.describe().rows;
    let modes = rows.iter().find(|row| row.0 == "memory registration").map(|row| row.1.as_str());
    assert_eq!(modes, Some("basic"));
}

/// Where completions do not say that data have arrived, a quiet ends with a message that the target has seen since.
/// That of another thread's quiet will do, but not before it has been seen.
#[test]
fn quiets_of_two_threads_each_know_that_the_data_have_arrived() {
    const BYTES: usize = 20_000;
    let settings = Settings { without_delivery: true, without_send_after_write: true, ..settings() };
    let Some(pes) = job(2, &settings) else { return };
    put(&pes[0], heap(1, 0), &[0; 8], Completion::Local);
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    pes[1].fabric.drain();
    let (together, running) = (Barrier::new(2), AtomicUsize::new(2));
    let quiets = |thread: usize| {
        let mut unknown = 0;
        for round in 1..=100u8 {
            let data = vec![round; BYTES];
            together.wait();
            let before = pes[1].fabric.network_counters().received();
            put(&pes[0], heap(1, thread * BYTES), &data, Completion::Deferred);
            together.wait();
            match round % 2 {
                0 => pes[0].fabric.quiet(Channel::DEFAULT).unwrap(),
                _ => pes[0].fabric.quiet_pes(Channel::DEFAULT, &mut [1].into_iter()).unwrap(),
            }
            unknown += i32::from(pes[1].fabric.network_counters().received() == before);
        }
        running.fetch_sub(1, Ordering::Relaxed);
        unknown
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(|| quiets(0)), scope.spawn(|| quiets(1))];
        while running.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(1));
            pes[1].fabric.progress();
        }
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [0, 0]);
    });
}

/// A stream of small puts is complete after a quiet, and has shared messages.
#[test]
fn small_nonblocking_puts_share_messages() {
    let Some(pes) = job(2, &settings()) else { return };
    let values: Vec<u64> = (0..50_000).map(|i| i * i + 1).collect();
    for (i, value) in values.iter().enumerate() {
        put(&pes[0], heap(1, 8 * i), &value.to_ne_bytes(), Completion::Deferred);
    }
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    for (i, value) in values.iter().enumerate() {
        assert_eq!(pes[1].word(8 * i), *value);
    }
    let wire = pes[0].fabric.network_counters();
    assert_eq!(wire.request_entries(), 50_000);
    assert!(wire.requests() < 5_000, "{} messages", wire.requests());
}

/// Channels complete on their own, and so do PEs of one channel: PE 2 answers nothing until it is told to.
#[test]
fn quiet_waits_for_its_own_channel_and_pes_only() {
    let Some(pes) = job(3, &settings()) else { return };
    let source = 7u64.to_ne_bytes();
    connect(&pes);
    pes[2].fabric.drain();
    let stuck = pes[0].fabric.open_channel().unwrap();
    let free = pes[0].fabric.open_channel().unwrap();
    assert_ne!(stuck, free);
    let add = Atomic { op: AmoOp::Add, width: 8, operand: 1, compare: 0, result: ptr::null_mut() };
    // SAFETY: the source lives on, and nothing comes back.
    unsafe {
        pes[0].fabric.put(stuck, heap(2, 16), source.as_ptr(), 8, Completion::Local).unwrap();
        pes[0].fabric.atomic(stuck, heap(2, 24), add, Completion::Deferred).unwrap();
        pes[0].fabric.put(stuck, heap(1, 16), source.as_ptr(), 8, Completion::Deferred).unwrap();
        pes[0].fabric.put(free, heap(1, 24), source.as_ptr(), 8, Completion::Local).unwrap();
    }
    pes[0].fabric.quiet(free).unwrap();
    assert_eq!(pes[1].word(24), 7);
    pes[0].fabric.quiet_pes(stuck, &mut [1].into_iter()).unwrap();
    assert_eq!((pes[1].word(16), pes[2].word(24)), (7, 0));
    std::thread::scope(|scope| {
        // PE 2 looks after its queue, as it would in a wait.
        scope.spawn(|| pes[2].await_word(24, |n| n == 1));
        pes[0].fabric.quiet(stuck).unwrap();
    });
    assert_eq!(pes[2].word(16), 7);
    pes[0].fabric.close_channel(stuck);
    pes[0].fabric.close_channel(free);
    assert!(pes[0].fabric.open_channel().is_some());
}
