//! Puts and gets.
#![allow(unsafe_code)]

use super::pes::{everywhere, get, heap, put};
use super::random::Random;
use super::ways;
use pellucid_core::transport::{AmoOp, Atomic, COPIED, Channel, Completion, RemoteAddress, SegmentId};

/// Sizes on both sides of those from which transports do something else.
pub const SIZES: [usize; 14] = [0, 1, 7, 8, 63, 64, 65, 100, 4096, 8191, 8192, 65_536, 65_537, (1 << 20) + 3];

#[test]
fn puts_and_gets_of_all_sizes() {
    everywhere(ways(), |pes, to| {
        let mut random = Random(88_172_645_463_325_252);
        for when in [Completion::Local, Completion::Deferred] {
            for bytes in SIZES {
                for (segment, offset) in [(SegmentId::HEAP, 24), (SegmentId::DATA, 3)] {
                    if segment == SegmentId::DATA && bytes > 60_000 {
                        continue;
                    }
                    let at = RemoteAddress { pe: to, segment, offset };
                    let data = random.bytes(bytes);
                    put(&pes[0], at, &data, when);
                    pes[0].quiet();
                    assert!(pes[to as usize].bytes(segment, offset, bytes) == data, "{bytes} bytes");
                    let mut back = vec![0; bytes];
                    get(&pes[0], at, &mut back, when);
                    pes[0].quiet();
                    assert!(back == data, "{bytes} bytes back");
                }
            }
        }
    });
}

/// The source of a put is the caller's again when the transport says so, and not later.
#[test]
fn what_is_put_is_what_was_there_at_the_call() {
    everywhere(ways(), |pes, to| {
        for (bytes, when) in [(COPIED, Completion::Deferred), (5000, Completion::Local), (300_000, Completion::Local)] {
            let mut data = vec![5u8; bytes];
            put(&pes[0], heap(to, 0), &data, when);
            data.fill(9);
            pes[0].quiet();
            assert!(pes[to as usize].bytes(SegmentId::HEAP, 0, bytes) == vec![5; bytes], "{bytes} bytes");
        }
    });
}

/// Nonblocking fetches: the results are there after the quiet.
#[test]
fn nonblocking_fetches_and_gets() {
    everywhere(ways(), |pes, to| {
        for i in 0..1000u64 {
            put(&pes[0], heap(to, 8 * i as usize), &(i * 3).to_ne_bytes(), Completion::Local);
        }
        pes[0].quiet();
        let mut got = vec![0u64; 1000];
        let mut fetched = vec![0u64; 1000];
        let way = pes[0].way(to);
        for i in 0..1000 {
            // SAFETY: both live until the quiet.
            unsafe {
                let into = (&raw mut got[i]).cast();
                way.get(Channel::DEFAULT, into, heap(to, 8 * i), 8, Completion::Deferred).unwrap();
                let result = (&raw mut fetched[i]).cast();
                let fetch = Atomic { op: AmoOp::Add, width: 8, operand: 0, compare: 0, result };
                way.atomic(Channel::DEFAULT, heap(to, 8 * i), fetch, Completion::Deferred).unwrap();
            }
        }
        pes[0].quiet();
        for i in 0..1000 {
            // Read as memory that somebody else has written.
            // SAFETY: in bounds.
            let (got, fetched) =
                unsafe { (got.as_ptr().add(i).read_volatile(), fetched.as_ptr().add(i).read_volatile()) };
            assert_eq!((got, fetched), (3 * i as u64, 3 * i as u64));
        }
    });
}

/// A stream of small puts is complete after a quiet.
#[test]
fn small_nonblocking_puts() {
    everywhere(ways(), |pes, to| {
        let values: Vec<u64> = (0..3000).map(|i| i * i + 1).collect();
        for (i, value) in values.iter().enumerate() {
            put(&pes[0], heap(to, 8 * i), &value.to_ne_bytes(), Completion::Deferred);
        }
        pes[0].quiet();
        for (i, value) in values.iter().enumerate() {
            assert_eq!(pes[to as usize].word(8 * i), *value);
        }
    });
}
