//! What recording call sites and peers may cost.
//!
//! A call of nanoseconds takes twice as long where it is counted by call site and by peer, too. A program that makes
//! little else would feel it. Once recording a thread's short calls takes more than [`PERCENT`] of its run, the
//! routines that are called most are counted by routine, size and distance only, and each sample adds the calls that it
//! stands for to its call site and its peer. Timing has been thinned by then (`cold.rs`).
//!
//! Routines that only say what is known, as `shmem_my_pe`, are counted so as soon as there are thousands of calls:
//! programs call them several times an item, and each takes less than its call site would.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{claim, consumers, release, sites};
use crate::arm::{self, ARM, SITE};
use crate::clock;
use crate::op::{self, COUNT, QUERIES, STORES, Timing, traits};
use crate::segment::layout::{RegionHead, Slot};
use crate::segment::tables::ops_in;

/// Share of the run.
const PERCENT: u64 = 2;
/// Nothing is said of shorter runs: they are over soon.
const FIRST_NS: u64 = 1_000_000_000;
/// Samples of an operation from one look to the next.
const EVERY: u64 = 64;
/// What has this part of a thread's short calls, or more, is called most.
const MOST: u64 = 8;
/// Calls of a routine that only says what is known, from which on none is worth its site. The first look after that is
/// at some 8,000 calls.
const MANY_QUERIES: u64 = 4096;

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
    if IS_OFF.load(Relaxed) || arm::counts_only() {
        return;
    }
    // Of stores to single words each is kept where one ends a wait.
    let is_awaited = traits(op) & STORES != 0 && release::anyone_waits();
    if arm::samples_sites(op) {
        if is_awaited {
            arm::sample_sites(op, false);
        }
        return;
    }
    let Some(region) = claim::region_unchecked() else { return };
    let is_query = traits(op) & QUERIES != 0 && calls(slot, op) >= MANY_QUERIES;
    if !is_awaited && may_be_sampled(op) && (is_query || costs_too_much(slot, op, now, &region.head)) {
        arm::sample_sites(op, true);
        // The next sample of this thread stands for calls from now on only.
        mark(slot, op);
    }
}

/// Not where calls do not come from entries that count by site, so that nothing would be saved.
fn may_be_sampled(op: u16) -> bool {
    usize::from(op) < COUNT && arm::flag(&ARM, op) == SITE && !consumers::any()
}

fn costs_too_much(slot: &Slot, op: u16, now: u64, head: &RegionHead) -> bool {
    let since = slot.tables.lives.since.load(Relaxed).max(head.attach_ticks.load(Relaxed));
    // The slot has the calls of all who have owned it.
    let run = slot.tables.lives.ended.load(Relaxed) + now.saturating_sub(since);
    if clock::scale_ns(run, slot.head.clock_mult.load(Relaxed)) < FIRST_NS {
        return false;
    }
    let (own, all) = (calls(slot, op), ops_in(&slot.tables.used).map(|op| calls(slot, op)).sum::<u64>());
    let cost = (u128::from(all) * u128::from(head.call_cost.load(Relaxed))) >> 8;
    own >= all / MOST && cost * 100 > u128::from(run) * u128::from(PERCENT)
}

/// Calls of a short operation that samples stand for.
fn calls(slot: &Slot, op: u16) -> u64 {
    let is_short = op::get(op).is_some_and(|row| row.timing != Timing::Timed);
    if is_short { slot.cell(op).sample_weight.load(Relaxed) } else { 0 }
}

fn mark(slot: &Slot, op: u16) {
    slot.tables.sampled_sites[usize::from(op) / 64].fetch_or(1 << (op % 64), Relaxed);
}

/// A sample has ended that stands for so many calls: where only samples have sites, it adds them to its own. Of another
/// thread than the one that began it, the first adds itself only: how many of those since the one before had their
/// sites counted is not known.
#[inline(always)]
pub(super) fn note(slot: &Slot, op: u16, to: (i32, u64), calls: u64) {
    if !arm::counts_only() && arm::samples_sites(op) {
        let is_first = !slot.tables.samples_sites_of(op);
        mark(slot, op);
        sites::note_sample(slot, op, to, if is_first { 1 } else { calls });
    }
}
