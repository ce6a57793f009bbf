//! The progress threads, with nobody in the library.

use super::job::{job, settings};
use super::pes::{HEAP, heap};
use super::{amo, put};
use pellucid_core::transport::ofi::{Settings, Sleep};
use pellucid_core::transport::{AmoOp, Channel, Completion, Transport};
use std::time::{Duration, Instant};

/// `tcp` has a descriptor to sleep on.
#[test]
fn tcp_is_slept_on() {
    let settings = settings();
    if !settings.provider.as_deref().unwrap_or_default().starts_with("tcp") {
        return;
    }
    let Some(pes) = job(1, &settings) else { return };
    let rows = &pes[0].fabric.describe().rows;
    let progress = rows.iter().find(|row| row.0 == "progress").unwrap();
    assert_eq!(progress.2, "served by a thread that sleeps on the queue");
}

/// Where nothing comes, next to nothing is looked at, also after there was something.
#[test]
fn a_thread_that_sleeps_does_not_look() {
    let Some(pes) = job(2, &settings()) else { return };
    for round in 0..3u64 {
        assert_eq!(amo(&pes[0], heap(1, 0), AmoOp::Add, 8, 1, 0), round);
        put(&pes[1], heap(0, 8), &[1; 8], Completion::Local);
        pes[1].fabric.quiet(Channel::DEFAULT).unwrap();
        for pe in &pes {
            let (start, before) = (Instant::now(), pe.fabric.network_counters().polls());
            std::thread::sleep(Duration::from_millis(200));
            let looks = pe.fabric.network_counters().polls() - before;
            // A sleep ends after 100 ms; before the first there are some looks in a row.
            let most = 100 + start.elapsed().as_millis() as u64 / 10;
            assert!(looks <= most, "{looks} looks in {:?}, {most} at most", start.elapsed());
        }
    }
}

/// A PE that computes for a while sleeps in its thread, is served, and sleeps again.
#[test]
fn a_pe_that_computes_sleeps_and_is_served() {
    for sleep in [Sleep::Descriptor, Sleep::Naps] {
        let Some(pes) = job(2, &Settings { sleep, ..settings() }) else { return };
        for round in 0..20u64 {
            assert_eq!(amo(&pes[0], heap(1, 0), AmoOp::Add, 8, 1, 0), round);
            if sleep == Sleep::Naps {
                continue;
            }
            let (start, before) = (Instant::now(), pes[1].fabric.network_counters().naps());
            std::thread::sleep(Duration::from_millis(20 * (round % 4)));
            let naps = pes[1].fabric.network_counters().naps() - before;
            // A sleep ends after 100 ms; the requests of a round wake it a few times.
            let most = 40 + start.elapsed().as_millis() as u64 / 50;
            assert!(naps <= most, "{sleep:?}: {naps} sleeps, {most} at most");
        }
    }
}

/// More data than sockets hold, and a sender that goes away to compute: its thread sends the rest as there is room.
#[test]
fn what_is_posted_leaves_without_the_program() {
    const PUTS: u64 = 64;
    for sleep in [Sleep::Descriptor, Sleep::Naps] {
        let Some(pes) = job(2, &Settings { sleep, ..settings() }) else { return };
        let data = vec![0x55u8; HEAP / 2];
        put(&pes[0], heap(1, 0), &[1; 8], Completion::Local);
        pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
        // Long enough that both threads are in one of their longer sleeps.
        std::thread::sleep(Duration::from_millis(200));
        for _ in 0..PUTS {
            put(&pes[0], heap(1, 8), &data, Completion::Deferred);
        }
        let last = PUTS.to_ne_bytes();
        pes[0].fabric.fence(Channel::DEFAULT).unwrap();
        put(&pes[0], heap(1, HEAP - 8), &last, Completion::Deferred);
        let start = Instant::now();
        while pes[1].word(HEAP - 8) != PUTS {
            assert!(start.elapsed() < Duration::from_secs(60), "{sleep:?}: the data do not come");
            std::thread::sleep(Duration::from_millis(1));
        }
        pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
        assert_eq!(pes[1].bytes(super::SegmentId::HEAP, 8, data.len()), data);
    }
}
