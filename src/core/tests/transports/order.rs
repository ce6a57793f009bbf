//! Fences, quiets, signals and channels.
#![allow(unsafe_code)]

use super::pes::{HEAP, Pe, amo, get, heap, put, update};
use super::random::Random;
use super::ways;
use pellucid_core::transport::{AmoOp, Channel, Completion, SegmentId, SignalOp};

/// Every PE writes a region of its own on every other, with puts of all kinds that overlap and are kept apart by fences
/// only, and compares with a copy that it keeps here.
#[test]
fn fenced_puts_of_all_kinds_keep_their_order() {
    const REGION: usize = 200_000;
    for way in ways() {
        println!("{}", way.name);
        let pes = way.open(3);
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
                    pe.way(to)
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
        pe.fence();
        if round % 50 == 49 {
            match round % 100 {
                49 => pe.quiet(),
                _ => quiet_pes(pe, &[0, 1, 2]),
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

/// By the transport of each.
fn quiet_pes(pe: &Pe, pes: &[i32]) {
    for to in pes.iter().filter(|to| **to != pe.me) {
        pe.way(*to).quiet_pes(Channel::DEFAULT, &mut std::iter::once(*to)).unwrap();
    }
}

/// The receiver of a signal looks at the data at once, every time.
#[test]
fn nobody_sees_a_signal_before_its_data() {
    const SLOTS: u64 = 4;
    const SLOT: usize = 200_000;
    for way in ways() {
        println!("{}", way.name);
        let pes = way.open(3);
        let size = |i: u64| [8, 100, 4096, 5000, 40_000, 199_999][(i % 6) as usize];
        let (signal, taken) = (HEAP - 64, HEAP - 128);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut kept = Vec::new();
                for i in 1..=600u64 {
                    // A slot is used again when the receiver has looked at it.
                    pes[0].await_word(taken, |n| n + SLOTS >= i);
                    let data = vec![(i * 31) as u8; size(i)];
                    let to = heap(2, (i % SLOTS) as usize * SLOT);
                    let when = if i % 3 == 0 { Completion::Deferred } else { Completion::Local };
                    let (value, op) = if i % 2 == 0 { (i, SignalOp::Set) } else { (1, SignalOp::Add) };
                    // SAFETY: data that are not copied at once are kept.
                    unsafe {
                        let (from, bytes) = (data.as_ptr(), data.len());
                        pes[0]
                            .way(2)
                            .put_signal(Channel::DEFAULT, to, from, bytes, heap(2, signal), value, op, when)
                            .unwrap();
                    }
                    kept.push(data);
                    // Signals of different puts are ordered by a fence only.
                    pes[0].fence();
                }
                pes[0].quiet();
            });
            for i in 1..=600u64 {
                pes[2].await_word(signal, |n| n >= i);
                let slot = pes[2].bytes(SegmentId::HEAP, (i % SLOTS) as usize * SLOT, size(i));
                assert!(slot.iter().all(|b| *b == (i * 31) as u8), "signal {i}");
                update(&pes[2], heap(0, taken), AmoOp::Add, 8, 1, Completion::Local);
            }
            pes[2].quiet();
        });
    }
}

/// A signal that is sent when its data are known to be there is no later than what comes after a fence.
#[test]
fn no_write_behind_a_fence_overtakes_a_signal() {
    const BYTES: usize = 100_000;
    let (signal, behind) = (HEAP - 64, 2 * BYTES);
    for way in ways() {
        println!("{}", way.name);
        let pes = way.open(3);
        let (data, mark) = (vec![1u8; BYTES], |round: u64| vec![round as u8; BYTES]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=100u64 {
                    // SAFETY: the data are kept until the quiet.
                    unsafe {
                        let (to, from, at) = (heap(2, 0), data.as_ptr(), heap(2, signal));
                        pes[0]
                            .way(2)
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
                    pes[0].fence();
                    let marks = mark(round);
                    put(&pes[0], heap(2, behind), &marks, Completion::Deferred);
                    pes[0].quiet();
                }
            });
            for round in 1..=100u64 {
                pes[2].await_word(behind, |word| word as u8 >= round as u8);
                assert!(pes[2].word(signal) >= round, "round {round}");
            }
        });
    }
}

/// What a channel has is complete after its quiet, whatever others have; and numbers are given again.
#[test]
fn channels_complete_on_their_own() {
    for way in ways() {
        let pes = way.open(3);
        let way = pes[0].way(2);
        for round in 1..=20u64 {
            let (one, other) = (way.open_channel().unwrap(), way.open_channel().unwrap());
            let (values, into) = ([round; 100], heap(2, 0));
            // SAFETY: the values stay until both channels are quiet.
            unsafe {
                way.put(one, into, values.as_ptr().cast(), 800, Completion::Deferred).unwrap();
                way.put(other, into.after(800), values.as_ptr().cast(), 800, Completion::Deferred).unwrap();
            }
            way.quiet(other).unwrap();
            assert_eq!(pes[2].word(800 + 792), round);
            way.quiet_pes(one, &mut std::iter::once(2)).unwrap();
            assert_eq!(pes[2].word(792), round);
            way.close_channel(one);
            way.close_channel(other);
        }
        assert_eq!(amo(&pes[0], heap(2, 0), AmoOp::Fetch, 8, 0, 0), 20);
    }
}
