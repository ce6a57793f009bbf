//! What recording call sites and peers may cost.
//!
//! A call of nanoseconds takes twice as long where it is counted by call site and by peer, too. A program that makes
//! little else would feel it. Once recording its short calls takes more than [`PERCENT`] of a thread's run, those of
//! which there are many are counted by routine, size and distance only, and each sample adds the calls that it stands
//! for to its call site and its peer. Timing has been thinned by then (`cold.rs`).

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::claim;
use crate::arm;
use crate::clock;
use crate::op::{self, COMPLETES, COUNT, NONBLOCKING, STORES, Timing, traits};
use crate::segment::layout::Slot;
use crate::segment::tables::ops_in;

/// Share of the run.
const PERCENT: u64 = 2;
/// Nothing is said of shorter runs: they are over soon.
const FIRST_NS: u64 = 1_000_000_000;
/// Samples of an operation from one look to the next.
const EVERY: u64 = 64;
/// An operation with this part of the thread's short calls, or more, is one of many.
const MANY: u64 = 8;

static IS_OFF: AtomicBool = AtomicBool::new(false);

/// Each call is counted by call site and peer from now on, whatever it costs.
pub fn set_exact_sites(exact: bool) {
    IS_OFF.store(exact, Relaxed);
}

/// Whether it is time to look, after a sample of an operation of which there are so many.
#[inline(always)]
pub(super) fn is_due(samples: u64) -> bool {
    samples.is_multiple_of(EVERY)
}

/// Looks what recording short calls takes of the thread's run until `now`, and has the sites of an operation sampled
/// where that is too much.
#[cold]
#[inline(never)]
pub(super) fn look(slot: &Slot, op: u16, now: u64) {
    if IS_OFF.load(Relaxed) || arm::counts_only() || arm::samples_sites(op) || !may_be_sampled(slot, op) {
        return;
    }
    let Some(region) = claim::region_unchecked() else { return };
    let since = slot.tables.lives.since.load(Relaxed).max(region.head.attach_ticks.load(Relaxed));
    let run = now.saturating_sub(since);
    if clock::scale_ns(run, slot.head.clock_mult.load(Relaxed)) < FIRST_NS {
        return;
    }
    let cost = |calls: u64| (u128::from(calls) * u128::from(region.head.call_cost.load(Relaxed))) >> 8;
    let (own, all) = (calls(slot, op), ops_in(&slot.tables.used).map(|op| calls(slot, op)).sum::<u64>());
    if own >= all / MANY && cost(all) * 100 > u128::from(run) * u128::from(PERCENT) {
        arm::sample_sites(op);
    }
}

/// Calls of a short operation that a sample stands for, or that were timed.
fn calls(slot: &Slot, op: u16) -> u64 {
    let is_short = op::get(op).is_some_and(|row| row.timing != Timing::Timed);
    if is_short { slot.cell(op).sample_weight.load(Relaxed) } else { 0 }
}

/// Not where more than sites and peers hangs on a call: what begins or completes operations; and what stores to single
/// words, where threads wait for such words (`release.rs`).
fn may_be_sampled(slot: &Slot, op: u16) -> bool {
    let traits = traits(op);
    let waits = slot.tables.waited.since_look.load(Relaxed) > 0 || slot.tables.waited.left.load(Relaxed) > 0;
    usize::from(op) < COUNT && traits & (NONBLOCKING | COMPLETES) == 0 && (traits & STORES == 0 || !waits)
}

/// Calls that a call of an operation whose sites are sampled adds to its site and its peer: none where it is no sample.
/// The first sample adds itself only: how many of those since the one before had their sites counted is not known.
#[cold]
#[inline(never)]
pub(super) fn stands_for(slot: &Slot, op: u16) -> u64 {
    let cell = slot.cell(op);
    if cell.countdown.load(Relaxed) != 0 {
        return 0;
    }
    if !slot.tables.samples_sites_of(op) {
        slot.tables.sampled_sites[usize::from(op) / 64].fetch_or(1 << (op % 64), Relaxed);
        return 1;
    }
    u64::from(cell.gap.load(Relaxed)).max(1)
}
