//! What recording a call costs, against the same call without a recorder.
//!
//! `cargo run --release -p pellucid-profile --example overhead`
//!
//! Each figure is the least of several medians of batches; all variants take turns, so that a slow phase of the machine
//! hits them alike.

use std::hint::black_box;
use std::time::Instant;

use pellucid_profile::clock::Scale;
use pellucid_profile::recorder::{self, sampled, sized, timed};

const CALLS: u32 = 20_000;
const BATCHES: usize = 41;
const ROUNDS: usize = 7;

// Operation ids: any will do.
const P: u16 = 1;
const QUIET: u16 = 2;
const PUT: u16 = 3;
const BARRIER: u16 = 4;
const LARGE: u16 = 5;

#[inline(never)]
fn empty(word: &mut u64, value: u64, _peer: i32) {
    *word = value;
}

#[inline(never)]
fn sampled_p(word: &mut u64, value: u64, peer: i32) {
    let addr = std::ptr::from_mut(word).addr();
    sampled(P, peer, addr, 8, || *word = value);
}

#[inline(never)]
fn sampled_quiet(word: &mut u64, value: u64, _peer: i32) {
    sampled(QUIET, -1, 0, 0, || *word = value);
}

#[inline(never)]
fn sized_small(word: &mut u64, value: u64, peer: i32) {
    let addr = std::ptr::from_mut(word).addr();
    sized(PUT, peer, addr, black_box(64), || *word = value);
}

#[inline(never)]
fn sized_large(word: &mut u64, value: u64, peer: i32) {
    let addr = std::ptr::from_mut(word).addr();
    sized(LARGE, peer, addr, black_box(4096), || *word = value);
}

#[inline(never)]
fn timed_barrier(word: &mut u64, value: u64, _peer: i32) {
    timed(BARRIER, -1, 0, 0, || *word = value);
}

#[inline(never)]
fn two_stamps(word: &mut u64, value: u64, _peer: i32) {
    let start = black_box(stamp());
    *word = value;
    black_box(stamp().wrapping_sub(start));
}

/// What the recorder reads: the counter, unserialized.
#[inline(always)]
fn stamp() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: rdtsc has no precondition.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    pellucid_profile::clock::monotonic_ns()
}

type Call = fn(&mut u64, u64, i32);

/// Nanoseconds a call: the median of the batches.
fn median_ns(call: Call) -> f64 {
    let mut word = 0;
    let mut batches: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let call = black_box(call);
            let begin = Instant::now();
            for i in 0..CALLS {
                call(&mut word, u64::from(i), 1);
            }
            begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
        })
        .collect();
    black_box(word);
    batches.sort_by(f64::total_cmp);
    batches[BATCHES / 2]
}

fn main() {
    let _segment = recorder::attach_private(0, 2, true).expect("a private segment needs memfd_create");
    recorder::set_level(1);
    let scale = Scale::of_this_machine();
    let rows: [(&str, Call); 7] = [
        ("empty call", empty),
        ("two time stamps", two_stamps),
        ("sampled, p of 8 bytes", sampled_p),
        ("sampled, quiet", sampled_quiet),
        ("sized, put of 64 bytes", sized_small),
        ("sized, put of 4096 bytes (timed)", sized_large),
        ("timed, barrier", timed_barrier),
    ];
    let mut best = [f64::INFINITY; 7];
    for _ in 0..ROUNDS {
        for (best, (_, call)) in best.iter_mut().zip(rows) {
            *best = best.min(median_ns(call));
        }
    }
    println!("clock: {:?}, {:.3} ns a tick", scale.source, scale.ns_per_tick());
    println!("{:<34} {:>8} {:>14} {:>18}", "", "ns", "over empty", "over two stamps");
    for ((name, _), ns) in rows.iter().zip(best) {
        println!("{name:<34} {ns:>8.2} {:>14.2} {:>18.2}", ns - best[0], ns - best[1]);
    }
}
