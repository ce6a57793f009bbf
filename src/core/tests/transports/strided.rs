//! Strided gets and puts.

#![allow(unsafe_code)]

use super::pes::{Pe, everywhere, heap, put};
use super::random::Random;
use super::ways;
use pellucid_core::transport::{AmoOp, Atomic, Blocks, Channel, Completion, SegmentId};

/// Where the blocks begin that are read there, and here.
const THERE: usize = 100_000;
const HERE: usize = 200_000;
/// Where they are written.
const WRITTEN: usize = 400_000;

#[test]
fn blocks_of_all_sizes_and_strides() {
    everywhere(ways(), blocks);
}

fn blocks(pes: &[Pe], to: i32) {
    let mut random = Random(11);
    let data = random.bytes(2 * THERE);
    put(&pes[0], heap(to, 0), &data, Completion::Local);
    pes[0].quiet();
    for bytes in [1, 2, 3, 8, 16, 64, 65, 512, 513] {
        for count in [1, 2, 3, 129, 300, 1000, 9000] {
            for (here, there) in [(1, 1), (1, 3), (5, 1), (-1, 2), (2, -1), (3, 0)] {
                let (here, there) = (here * bytes as isize, there * bytes as isize);
                if count as isize * here.abs().max(there.abs()) > THERE as isize {
                    continue;
                }
                let blocks = Blocks { bytes, count, here, there };
                get_blocks((pes, to), &data, blocks);
                // Nobody says in which order blocks are written to one place.
                if there != 0 {
                    put_blocks((pes, to), &data, blocks);
                }
            }
        }
    }
}

fn at(base: usize, step: isize, i: usize) -> usize {
    base.wrapping_add_signed(step * i as isize)
}

/// Before blocks and behind them, the same messages have puts.
fn put_blocks((pes, to): (&[Pe], i32), data: &[u8], blocks: Blocks) {
    let reach = blocks.bytes + blocks.count * blocks.there.unsigned_abs();
    let (from, len) = (WRITTEN - reach, 2 * reach);
    let mut expected = vec![7; len];
    put(&pes[0], heap(to, from), &expected, Completion::Local);
    pes[0].fence();
    let way = pes[0].way(to);
    put(&pes[0], heap(to, WRITTEN), &[9], Completion::Deferred);
    way.fence(Channel::DEFAULT).unwrap();
    // SAFETY: the data stay.
    unsafe { way.put_blocks(Channel::DEFAULT, heap(to, WRITTEN), data.as_ptr().add(THERE), blocks).unwrap() };
    way.fence(Channel::DEFAULT).unwrap();
    put(&pes[0], heap(to, WRITTEN), &[8], Completion::Deferred);
    way.quiet(Channel::DEFAULT).unwrap();
    for i in 0..blocks.count {
        let (dest, source) = (at(WRITTEN, blocks.there, i) - from, at(THERE, blocks.here, i));
        expected[dest..dest + blocks.bytes].copy_from_slice(&data[source..source + blocks.bytes]);
    }
    expected[WRITTEN - from] = 8;
    assert!(pes[to as usize].bytes(SegmentId::HEAP, from, len) == expected, "{blocks:?}");
}

#[test]
fn blocks_without_bytes_are_none() {
    everywhere(ways(), |pes, to| {
        let blocks = Blocks { bytes: 0, count: 100, here: 8, there: 8 };
        let mut nothing = 0u8;
        // SAFETY: nothing is read or written.
        unsafe {
            pes[0].way(to).get_blocks(Channel::DEFAULT, &raw mut nothing, heap(to, 0), blocks).unwrap();
            pes[0].way(to).put_blocks(Channel::DEFAULT, heap(to, 0), &raw const nothing, blocks).unwrap();
        }
        pes[0].quiet();
    });
}

/// Beside blocks, the same messages bring results of atomic operations.
fn get_blocks((pes, to): (&[Pe], i32), data: &[u8], blocks: Blocks) {
    let mut back = vec![0u8; 2 * HERE];
    let mut expected = back.clone();
    let mut fetched = 0u64;
    for i in 0..blocks.count {
        let (dest, from) = (at(HERE, blocks.here, i), at(THERE, blocks.there, i));
        expected[dest..dest + blocks.bytes].copy_from_slice(&data[from..from + blocks.bytes]);
    }
    let result = (&raw mut fetched).cast();
    let fetch = || Atomic { op: AmoOp::Fetch, width: 8, operand: 0, compare: 0, result };
    // SAFETY: both live until the quiet.
    unsafe {
        let way = pes[0].way(to);
        let dest = back.as_mut_ptr().add(HERE);
        way.atomic(Channel::DEFAULT, heap(to, 8), fetch(), Completion::Deferred).unwrap();
        way.get_blocks(Channel::DEFAULT, dest, heap(to, THERE), blocks).unwrap();
        way.atomic(Channel::DEFAULT, heap(to, 8), fetch(), Completion::Deferred).unwrap();
        way.quiet(Channel::DEFAULT).unwrap();
    }
    assert!(back == expected, "{blocks:?}");
    assert_eq!(fetched.to_ne_bytes(), data[8..16], "{blocks:?}");
}
