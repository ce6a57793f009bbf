//! Strided gets and puts: blocks that travel together, and those that do not.

use super::job::{Pe, Random, heap, job, settings};
use super::put;
use pellucid_core::transport::{AmoOp, Atomic, Blocks, Channel, Completion, SegmentId, Transport};

/// Where the blocks begin that are read there, and here.
const THERE: usize = 100_000;
const HERE: usize = 200_000;
/// Where they are written.
const WRITTEN: usize = 400_000;

#[test]
fn blocks_of_all_sizes_and_strides() {
    let Some(pes) = job(2, &settings()) else { return };
    let mut random = Random(11);
    let data = random.bytes(2 * THERE);
    put(&pes[0], heap(1, 0), &data, Completion::Local);
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    for bytes in [1, 2, 3, 8, 16, 64, 65, 512, 513] {
        for count in [1, 2, 3, 129, 300, 1000, 9000] {
            for (here, there) in [(1, 1), (1, 3), (5, 1), (-1, 2), (2, -1), (3, 0)] {
                let (here, there) = (here * bytes as isize, there * bytes as isize);
                // Nobody says in which order large blocks are written to one place.
                let is_one_place = there == 0 && bytes > 64;
                if is_one_place || count as isize * here.abs().max(there.abs()) > THERE as isize {
                    continue;
                }
                let blocks = Blocks { bytes, count, here, there };
                get_blocks(&pes, &data, blocks);
                put_blocks(&pes, &data, blocks);
            }
        }
    }
}

fn at(base: usize, step: isize, i: usize) -> usize {
    base.wrapping_add_signed(step * i as isize)
}

/// Before blocks and behind them, the same messages have puts.
fn put_blocks(pes: &[Pe], data: &[u8], blocks: Blocks) {
    let reach = blocks.bytes + blocks.count * blocks.there.unsigned_abs();
    let (from, len) = (WRITTEN - reach, 2 * reach);
    let mut expected = vec![7; len];
    put(&pes[0], heap(1, from), &expected, Completion::Local);
    pes[0].fabric.fence(Channel::DEFAULT).unwrap();
    let fabric = &pes[0].fabric;
    put(&pes[0], heap(1, WRITTEN), &[9], Completion::Deferred);
    fabric.fence(Channel::DEFAULT).unwrap();
    // SAFETY: the data stay.
    unsafe { fabric.put_blocks(Channel::DEFAULT, heap(1, WRITTEN), data.as_ptr().add(THERE), blocks).unwrap() };
    fabric.fence(Channel::DEFAULT).unwrap();
    put(&pes[0], heap(1, WRITTEN), &[8], Completion::Deferred);
    fabric.quiet(Channel::DEFAULT).unwrap();
    for i in 0..blocks.count {
        let (to, source) = (at(WRITTEN, blocks.there, i) - from, at(THERE, blocks.here, i));
        expected[to..to + blocks.bytes].copy_from_slice(&data[source..source + blocks.bytes]);
    }
    expected[WRITTEN - from] = 8;
    assert!(pes[1].bytes(SegmentId::HEAP, from, len) == expected, "{blocks:?}");
}

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

#[test]
fn blocks_without_bytes_are_none() {
    let Some(pes) = job(2, &settings()) else { return };
    let blocks = Blocks { bytes: 0, count: 100, here: 8, there: 8 };
    let mut nothing = 0u8;
    // SAFETY: nothing is read or written.
    unsafe {
        pes[0].fabric.get_blocks(Channel::DEFAULT, &raw mut nothing, heap(1, 0), blocks).unwrap();
        pes[0].fabric.put_blocks(Channel::DEFAULT, heap(1, 0), &raw const nothing, blocks).unwrap();
    }
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
}

/// Beside blocks, the same messages bring results of atomic operations.
fn get_blocks(pes: &[Pe], data: &[u8], blocks: Blocks) {
    let mut back = vec![0u8; 2 * HERE];
    let mut expected = back.clone();
    let mut fetched = 0u64;
    for i in 0..blocks.count {
        let (to, from) = (at(HERE, blocks.here, i), at(THERE, blocks.there, i));
        expected[to..to + blocks.bytes].copy_from_slice(&data[from..from + blocks.bytes]);
    }
    let result = (&raw mut fetched).cast();
    let fetch = || Atomic { op: AmoOp::Fetch, width: 8, operand: 0, compare: 0, result };
    // SAFETY: both live until the quiet.
    unsafe {
        let fabric = &pes[0].fabric;
        let dest = back.as_mut_ptr().add(HERE);
        fabric.atomic(Channel::DEFAULT, heap(1, 8), fetch(), Completion::Deferred).unwrap();
        fabric.get_blocks(Channel::DEFAULT, dest, heap(1, THERE), blocks).unwrap();
        fabric.atomic(Channel::DEFAULT, heap(1, 8), fetch(), Completion::Deferred).unwrap();
        fabric.quiet(Channel::DEFAULT).unwrap();
    }
    assert!(back == expected, "{blocks:?}");
    assert_eq!(fetched.to_ne_bytes(), data[8..16], "{blocks:?}");
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
