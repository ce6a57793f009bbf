//! The fabric over libfabric: several PEs in one process.
//!
//! Skipped, with a message, where the machine has no libfabric.

mod events;
mod faults;
mod job;
mod order;
mod segments;
mod sleep;
mod strangers;
mod strided;
mod threads;

use job::{Pe, Random, heap, job, settings};
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, RemoteAddress, SegmentId, Tag, Transport};
use std::ptr;

const SIZES: [usize; 14] = [0, 1, 7, 8, 63, 64, 65, 100, 4096, 8191, 8192, 65_536, 65_537, (1 << 20) + 3];

fn put(pe: &Pe, to: RemoteAddress, data: &[u8], when: Completion) {
    // SAFETY: the tests keep the data until the quiet.
    unsafe { pe.fabric.put(Channel::DEFAULT, to, data.as_ptr(), data.len(), when).unwrap() }
}

fn get(pe: &Pe, from: RemoteAddress, data: &mut [u8], when: Completion) {
    // SAFETY: as above.
    unsafe { pe.fabric.get(Channel::DEFAULT, data.as_mut_ptr(), from, data.len(), when).unwrap() }
}

fn amo(pe: &Pe, at: RemoteAddress, op: AmoOp, width: u8, operand: u64, compare: u64) -> u64 {
    let mut result = 0u64;
    let atomic = Atomic { op, width, operand, compare, result: (&raw mut result).cast() };
    // SAFETY: the result lives until the return.
    unsafe { pe.fabric.atomic(Channel::DEFAULT, at, atomic, Completion::Local).unwrap() };
    result
}

#[test]
fn puts_and_gets_of_all_sizes() {
    let Some(pes) = job(2, &settings()) else { return };
    println!("{}", pes[0].fabric.describe());
    let mut random = Random(88_172_645_463_325_252);
    for when in [Completion::Local, Completion::Deferred] {
        for bytes in SIZES {
            for (segment, offset) in [(SegmentId::HEAP, 24), (SegmentId::DATA, 3)] {
                if segment == SegmentId::DATA && bytes > 60_000 {
                    continue;
                }
                let to = RemoteAddress { pe: 1, segment, offset };
                let data = random.bytes(bytes);
                put(&pes[0], to, &data, when);
                pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
                assert_eq!(pes[1].bytes(segment, offset, bytes), data, "{bytes} bytes");
                let mut back = vec![0; bytes];
                get(&pes[0], to, &mut back, when);
                pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
                assert!(back == data, "{bytes} bytes back");
            }
        }
    }
    let wire = pes[0].fabric.network_counters();
    assert!(wire.writes() > 20 && wire.reads() > 20 && wire.requests() > 0 && wire.injects() > 0);
}

#[test]
fn atomics_of_both_widths() {
    let Some(pes) = job(2, &settings()) else { return };
    for width in [4u8, 8] {
        let mask = if width == 4 { u64::from(u32::MAX) } else { u64::MAX };
        let at = heap(1, 128);
        let now = || pes[1].word(128) & mask;
        assert_eq!(amo(&pes[0], at, AmoOp::Swap, width, 5, 0) & mask, 0);
        assert_eq!(amo(&pes[0], at, AmoOp::Add, width, mask - 1, 0), 5);
        assert_eq!(now(), 3);
        assert_eq!(amo(&pes[0], at, AmoOp::Fetch, width, 0, 0), 3);
        assert_eq!(amo(&pes[0], at, AmoOp::CompareSwap, width, 12, 4), 3);
        assert_eq!(amo(&pes[0], at, AmoOp::CompareSwap, width, 12, 3), 3);
        assert_eq!(amo(&pes[0], at, AmoOp::And, width, 6, 0), 12);
        assert_eq!(amo(&pes[0], at, AmoOp::Or, width, 3, 0), 4);
        assert_eq!(amo(&pes[0], at, AmoOp::Xor, width, mask, 0), 7);
        assert_eq!(now(), mask - 7);
        let set = Atomic { op: AmoOp::Set, width, operand: 0, compare: 0, result: ptr::null_mut() };
        // SAFETY: nothing comes back.
        unsafe { pes[0].fabric.atomic(Channel::DEFAULT, at, set, Completion::Local).unwrap() };
        pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
        assert_eq!(now(), 0);
    }
}

#[test]
fn messages_are_taken_by_tag() {
    let Some(pes) = job(2, &settings()) else { return };
    let tag = |step| Tag { group: 9, number: 4, step };
    assert_eq!(pes[1].fabric.take(0, tag(0)).unwrap(), None);
    for step in 0..100u32 {
        let payload = vec![step as u8; (step as usize * 83) % 8193];
        pes[0].fabric.send(1, tag(step), &payload).unwrap();
    }
    for step in (0..100u32).rev() {
        let message = loop {
            match pes[1].fabric.take(0, tag(step)).unwrap() {
                Some(message) => break message,
                None => {
                    pes[1].fabric.progress();
                }
            }
        };
        assert_eq!(message, vec![step as u8; (step as usize * 83) % 8193]);
    }
    assert_eq!(pes[1].fabric.take(0, tag(5)).unwrap(), None);
    let long = pes[0].fabric.send(1, tag(0), &vec![0; 8193]).unwrap_err();
    assert!(long.to_string().contains("8193"), "{long}");
}
