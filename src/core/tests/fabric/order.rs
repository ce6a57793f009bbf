//! Fences, quiets, signals and channels.

use super::job::{HEAP, Pe, Random, heap, job, settings};
use super::{amo, get, put};
use pellucid_core::transport::ofi::{Settings, Sleep};
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, SegmentId, SignalOp, Transport};
use std::ptr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Settings under which the same must come out: as the provider is, without delivery completions, without the order of
/// messages behind writes, with atomics by the provider, which takes the orders away, with naps in place of sleep, and
/// with memory registered as for a network card.
fn ways() -> Vec<Settings> {
    let nic = Settings { atomics: pellucid_core::transport::Atomics::Nic, ..settings() };
    let others = [
        Settings { without_delivery: true, ..settings() },
        Settings { without_send_after_write: true, ..settings() },
        Settings { sleep: Sleep::Naps, ..settings() },
        Settings { as_cards_do: true, ..settings() },
    ];
    // Another provider that is asked for may have no atomics.
    let nic = std::env::var_os("PELLUCID_TEST_PROVIDER").is_none().then_some(nic);
    [settings()].into_iter().chain(others).chain(nic).collect()
}

/// What is tested under that name is really in force.
#[test]
fn memory_is_registered_as_for_a_card_where_that_is_asked_for() {
    let Some(pes) = job(1, &Settings { as_cards_do: true, ..settings() }) else { return };
    let rows = &pes[0].fabric.describe().rows;
    let modes = rows.iter().find(|row| row.0 == "memory registration").map(|row| row.1.as_str());
    assert_eq!(modes, Some("basic"));
}

/// Every PE writes a region of its own on every other, with puts of all kinds that overlap and are kept apart by fences
/// only, and compares with a copy that it keeps here.
#[test]
fn fenced_puts_of_all_kinds_keep_their_order() {
    const REGION: usize = 200_000;
    for settings in ways() {
        let Some(pes) = job(3, &settings) else { return };
        std::thread::scope(|scope| {
            for me in 0..3i32 {
                let pes = &pes;
                scope.spawn(move || fenced(me, pes, REGION));
            }
        });
    }
}

fn fenced(me: i32, pes: &[Pe], region: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 + me as u64);
    let pe = &pes[me as usize];
    let start = region * me as usize;
    let mut models = vec![vec![0u8; region]; 3];
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for round in 0..600 {
        let to = ((me as usize + 1 + random.below(2)) % 3) as i32;
        let largest = [8, 64, 200, 5_000, 9_000, 100_000][random.below(6)];
        let bytes = 1 + random.below(largest);
        // A small range of places, so that puts meet.
        let offset = random.below(300).min(region - bytes);
        let data = random.bytes(bytes);
        models[to as usize][offset..offset + bytes].copy_from_slice(&data);
        match random.below(5) {
            0 => put(pe, heap(to, start + offset), &data, Completion::Local),
            4 if bytes < 100_000 => {
                let signal = heap(to, HEAP - 8 * (1 + me as usize));
                // SAFETY: the data are kept until the quiet.
                unsafe {
                    let (from, at) = (data.as_ptr(), heap(to, start + offset));
                    pe.fabric
                        .put_signal(Channel::DEFAULT, at, from, bytes, signal, 1, SignalOp::Add, Completion::Deferred)
                        .unwrap();
                }
                kept.push(data);
            }
            _ => {
                put(pe, heap(to, start + offset), &data, Completion::Deferred);
                kept.push(data);
            }
        }
        pe.fabric.fence(Channel::DEFAULT).unwrap();
        if round % 50 == 49 {
            match round % 100 {
                49 => pe.fabric.quiet(Channel::DEFAULT).unwrap(),
                _ => pe.fabric.quiet_pes(Channel::DEFAULT, &mut (0..3).filter(|p| *p != me)).unwrap(),
            }
            kept.clear();
            for (to, model) in models.iter().enumerate().filter(|(to, _)| *to != me as usize) {
                let there = pes[to].bytes(SegmentId::HEAP, start, region);
                assert!(there == *model, "PE {me} to PE {to}, round {round}");
                let mut back = vec![0; region];
                get(pe, heap(to as i32, start), &mut back, Completion::Local);
                assert!(back == *model, "PE {me} from PE {to}, round {round}");
            }
        }
    }
}

/// The receiver of a signal looks at the data at once, every time.
#[test]
fn nobody_sees_a_signal_before_its_data() {
    const SLOTS: u64 = 4;
    const SLOT: usize = 200_000;
    for settings in ways() {
        let Some(pes) = job(2, &settings) else { return };
        let size = |i: u64| [8, 100, 4096, 5000, 40_000, 199_999][(i % 6) as usize];
        let (signal, taken) = (HEAP - 64, HEAP - 128);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut kept = Vec::new();
                for i in 1..=600u64 {
                    // A slot is used again when the receiver has looked at it.
                    pes[0].await_word(taken, |n| n + SLOTS >= i);
                    let data = vec![(i * 31) as u8; size(i)];
                    let to = heap(1, (i % SLOTS) as usize * SLOT);
                    let when = if i % 3 == 0 { Completion::Deferred } else { Completion::Local };
                    let (value, op) = if i % 2 == 0 { (i, SignalOp::Set) } else { (1, SignalOp::Add) };
                    // SAFETY: data that are not copied at once are kept.
                    unsafe {
                        let (from, bytes) = (data.as_ptr(), data.len());
                        pes[0]
                            .fabric
                            .put_signal(Channel::DEFAULT, to, from, bytes, heap(1, signal), value, op, when)
                            .unwrap();
                    }
                    kept.push(data);
                    // Signals of different puts are ordered by a fence only.
                    pes[0].fabric.fence(Channel::DEFAULT).unwrap();
                }
                pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
            });
            for i in 1..=600u64 {
                pes[1].await_word(signal, |n| n >= i);
                let slot = pes[1].bytes(SegmentId::HEAP, (i % SLOTS) as usize * SLOT, size(i));
                assert!(slot.iter().all(|b| *b == (i * 31) as u8), "signal {i}");
                let next = Atomic { op: AmoOp::Add, width: 8, operand: 1, compare: 0, result: ptr::null_mut() };
                // SAFETY: nothing comes back.
                unsafe { pes[1].fabric.atomic(Channel::DEFAULT, heap(0, taken), next, Completion::Local).unwrap() };
            }
            pes[1].fabric.quiet(Channel::DEFAULT).unwrap();
        });
    }
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

/// A signal that is sent when its data are known to be there is no later than what comes after a fence.
#[test]
fn no_write_behind_a_fence_overtakes_a_signal() {
    const BYTES: usize = 100_000;
    let (signal, behind) = (HEAP - 64, 2 * BYTES);
    for settings in ways() {
        let Some(pes) = job(2, &settings) else { return };
        let (data, mark) = (vec![1u8; BYTES], |round: u64| vec![round as u8; BYTES]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=100u64 {
                    // SAFETY: the data are kept until the quiet.
                    unsafe {
                        let (to, from, at) = (heap(1, 0), data.as_ptr(), heap(1, signal));
                        pes[0]
                            .fabric
                            .put_signal(
                                Channel::DEFAULT,
                                to,
                                from,
                                BYTES,
                                at,
                                round,
                                SignalOp::Set,
                                Completion::Deferred,
                            )
                            .unwrap();
                    }
                    pes[0].fabric.fence(Channel::DEFAULT).unwrap();
                    let marks = mark(round);
                    put(&pes[0], heap(1, behind), &marks, Completion::Deferred);
                    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
                }
            });
            for round in 1..=100u64 {
                pes[1].await_word(behind, |word| word as u8 >= round as u8);
                assert!(pes[1].word(signal) >= round, "round {round}");
            }
        });
    }
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
    // Connections first, while all serve.
    for pe in [1, 2] {
        put(&pes[0], heap(pe, 0), &source, Completion::Local);
        amo(&pes[0], heap(pe, 8), AmoOp::Add, 8, 1, 0);
    }
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
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
