//! What samples may claim for the calls that they stand for: never more than the time that has passed.
//!
//! Calls that overlap in the processor take longer alone, which is how a sample is timed, than apart. Samples of random
//! updates taken for all of them come to more than the run. A thread's claims since any moment must not exceed the time
//! since it: then they do not exceed its run either. Two moments are tried, and the larger room counts: the operation's
//! last sample, since when the calls were made that a sample stands for; and some 64 to 128 samples of any operation
//! ago, since calls are not all alike, and a long one among short ones would else be cut and nothing be added to the
//! short ones.

use std::sync::atomic::Ordering::Relaxed;

use crate::clock;
use crate::segment::layout::{ROW_OVERFLOW, Slot};

/// Samples between two moments.
const SAMPLES: u64 = 64;

/// What a sample of the operation with this row may claim now (in ticks), in nanoseconds. To be followed by [`note`].
pub(super) fn room_ns(slot: &Slot, row: u32, now: u64) -> u64 {
    if row == ROW_OVERFLOW {
        return u64::MAX;
    }
    let (row, recent) = (slot.row(row), &slot.tables.claims);
    let claimed = slot.head.claimed_ns.load(Relaxed);
    let room = |at: u64, claimed_at: u64| {
        let passed = clock::scale_ns(now.saturating_sub(at), slot.head.clock_mult.load(Relaxed));
        passed.saturating_sub(claimed.saturating_sub(claimed_at))
    };
    let own = room(row.sampled_at.load(Relaxed), row.claimed_at.load(Relaxed));
    let recently = match recent.at[0].load(Relaxed) {
        0 => 0,
        at => room(at, recent.claimed[0].load(Relaxed)),
    };
    row.sampled_at.store(now, Relaxed);
    own.max(recently)
}

/// A sample of the operation with this row, taken at `now`, has made its claim.
pub(super) fn note(slot: &Slot, row: u32, now: u64) {
    let claimed = slot.head.claimed_ns.load(Relaxed);
    slot.row(row).claimed_at.store(claimed, Relaxed);
    let recent = &slot.tables.claims;
    let samples = recent.samples.load(Relaxed) + 1;
    recent.samples.store(samples, Relaxed);
    if samples.is_multiple_of(SAMPLES) {
        for of in [&recent.at, &recent.claimed] {
            of[0].store(of[1].load(Relaxed), Relaxed);
        }
        recent.at[1].store(now, Relaxed);
        recent.claimed[1].store(claimed, Relaxed);
    }
}
