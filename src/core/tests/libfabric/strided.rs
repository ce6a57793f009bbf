//! Blocks and small gets that travel together, and those that do not.

use super::job::{job, settings};
use super::pes::heap;
use super::put;
use pellucid_core::transport::{Blocks, Channel, Completion, Transport};

/// More requests than may be under way at a time, each with a reply that nothing else fits into; by two threads, whose
/// channels are their own.
#[test]
fn a_reader_of_millions_of_blocks_waits_for_what_it_has_asked_for() {
    let Some(pes) = job(2, &settings()) else { return };
    put(&pes[0], heap(1, 8), b"whatever", Completion::Local);
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    let before = pes[0].fabric.network_counters().requests();
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let fabric = &pes[0].fabric;
                let (channel, mut got) = (fabric.open_channel().unwrap(), [0u8; 8]);
                let blocks = Blocks { bytes: 8, count: 1_200_000, here: 0, there: 0 };
                // SAFETY: it lives until the quiet.
                unsafe { fabric.get_blocks(channel, got.as_mut_ptr(), heap(1, 8), blocks).unwrap() };
                fabric.quiet(channel).unwrap();
                assert_eq!(&got, b"whatever");
                fabric.close_channel(channel);
            });
        }
    });
    assert!(pes[0].fabric.network_counters().requests() - before > 2 * 1024);
}

/// A read of its own would cost the target's CPU two messages, where it is that which reads.
#[test]
fn small_gets_that_nobody_waits_for_travel_together() {
    let Some(pes) = job(2, &settings()) else { return };
    let (fabric, mut got) = (&pes[0].fabric, vec![0u64; 3000]);
    if !fabric.describe().to_string().contains("manual") {
        println!("not tested: the network reads without a CPU");
        return;
    }
    let numbers: Vec<u8> = (0..3000_u64).flat_map(u64::to_ne_bytes).collect();
    put(&pes[0], heap(1, 0), &numbers, Completion::Local);
    fabric.quiet(Channel::DEFAULT).unwrap();
    let before = (fabric.network_counters().reads(), fabric.network_counters().requests());
    for i in 0..got.len() {
        let to = got.as_mut_ptr().wrapping_add(i).cast();
        // SAFETY: they are there until the quiet.
        unsafe { fabric.get(Channel::DEFAULT, to, heap(1, 8 * (2999 - i)), 8, Completion::Deferred).unwrap() };
    }
    fabric.quiet(Channel::DEFAULT).unwrap();
    assert!(got.iter().copied().eq((0..3000).rev()));
    let counters = fabric.network_counters();
    assert_eq!(counters.reads(), before.0);
    assert!(counters.requests() - before.1 < 300, "{} requests", counters.requests() - before.1);
}

#[test]
fn small_blocks_travel_together() {
    let Some(pes) = job(2, &settings()) else { return };
    let mut back = vec![0u64; 5000];
    let counters = pes[0].fabric.network_counters();
    let before = (counters.reads(), counters.requests());
    let blocks = Blocks { bytes: 8, count: back.len(), here: 8, there: 24 };
    // SAFETY: they are there until the quiet.
    unsafe { pes[0].fabric.get_blocks(Channel::DEFAULT, back.as_mut_ptr().cast(), heap(1, 0), blocks).unwrap() };
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    assert_eq!((counters.reads() - before.0, counters.requests() - before.1), (0, 5));
    let before = (counters.writes(), counters.requests());
    // SAFETY: as above.
    unsafe { pes[0].fabric.put_blocks(Channel::DEFAULT, heap(1, 0), back.as_ptr().cast(), blocks).unwrap() };
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    assert_eq!((counters.writes() - before.0, counters.requests() - before.1), (0, 5));
}

/// Small blocks travel in one message, whose entries are carried out in their order: also those to one place.
#[test]
fn small_blocks_to_one_place_are_written_in_order() {
    let Some(pes) = job(2, &settings()) else { return };
    let numbers: Vec<u64> = (1..=300).collect();
    for bytes in [1, 2, 3, 8, 16, 64] {
        let count = numbers.len() * 8 / bytes;
        let blocks = Blocks { bytes, count, here: bytes as isize, there: 0 };
        // SAFETY: they are there until the quiet.
        unsafe { pes[0].fabric.put_blocks(Channel::DEFAULT, heap(1, 64), numbers.as_ptr().cast(), blocks).unwrap() };
        pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
        let all: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let last = &all[(count - 1) * bytes..count * bytes];
        assert_eq!(pes[1].bytes(super::SegmentId::HEAP, 64, bytes), last, "{bytes} bytes");
    }
}
