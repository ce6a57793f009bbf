//! Atomic operations.
#![allow(unsafe_code)]

use super::pes::{amo, everywhere, heap, update};
use super::ways;
use pellucid_core::transport::{AmoOp, Completion};
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn atomics_of_both_widths() {
    everywhere(ways(), |pes, to| {
        for width in [4u8, 8] {
            let mask = if width == 4 { u64::from(u32::MAX) } else { u64::MAX };
            let at = heap(to, 128);
            let now = || pes[to as usize].word(128) & mask;
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
            update(&pes[0], at, AmoOp::Set, width, 0, Completion::Local);
            pes[0].quiet();
            assert_eq!(now(), 0);
        }
    });
}

/// Atomics of several threads of all PEs, with and without results, and, where a transport says that it goes well with
/// them, the CPU's own on the same word: nothing is lost. A pair of transports comes to it from both sides.
#[test]
fn atomics_of_all_sides_exclude_each_other() {
    const EACH: u64 = 300;
    for way in ways() {
        let pes = way.open(3);
        let with_cpu = pes.iter().flat_map(|pe| pe.transports()).all(|it| it.capabilities().atomics_with_cpu);
        // SAFETY: an aligned word that lives as long as the PEs; all use it atomically.
        let word = unsafe { AtomicU64::from_ptr(pes[1].heap().cast::<u64>()) };
        // A transport whose atomics do not exclude the CPU's is for all PEs, or for none.
        let sides: Vec<usize> = if with_cpu { vec![0, 0, 2, 2] } else { vec![2; 4] };
        std::thread::scope(|scope| {
            for (thread, side) in sides.into_iter().enumerate() {
                let pe = &pes[side];
                scope.spawn(move || {
                    for i in 0..EACH {
                        if i as usize % 2 == thread % 2 {
                            amo(pe, heap(1, 0), AmoOp::Add, 8, 1, 0);
                        } else {
                            update(pe, heap(1, 0), AmoOp::Add, 8, 1, Completion::Deferred);
                        }
                    }
                    pe.quiet();
                });
            }
            if with_cpu {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        word.fetch_add(1, Ordering::AcqRel);
                        std::thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(word.load(Ordering::Acquire), (4 + u64::from(with_cpu)) * EACH, "{}", way.name);
    }
}

/// Each of some threads draws numbers: no two get the same.
#[test]
fn fetched_values_are_each_given_once() {
    for way in ways() {
        let pes = way.open(3);
        let draw =
            |me: usize| -> Vec<u64> { (0..500).map(|_| amo(&pes[me], heap(2, 64), AmoOp::Add, 8, 1, 0)).collect() };
        let mut all: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = [0, 0, 1, 1].map(|me| scope.spawn(move || draw(me))).into_iter().collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..2000), "{}", way.name);
    }
}
