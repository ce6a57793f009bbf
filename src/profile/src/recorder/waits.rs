//! Barriers, waits and small collectives: timed once they come to wait, else sampled.
//!
//! Two readings of the clock are a quarter of a barrier of two PEs that arrive together. So a call begins without a
//! stamp; where its wait goes beyond a few turns, the waiting loop calls [`begins`], which takes the stamp while there
//! is nothing else to do, less what those turns take. Calls that end before are counted, and samples say what they
//! took. The clock has paid for each call that is timed where calls are rare: then all are.
//!
//! Nor is such a call counted at its begin, where others wait for what it is about to tell them: that comes once it has
//! told them ([`algorithms::algorithm`]), while it waits itself ([`counts`]), or after it.
//!
//! A sample that comes to wait is no sample but one of those that are timed, and the next call is the sample: what
//! samples stand for are calls that did not wait.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::time::Duration;

use super::hot::{bump, bump32, elapsed, ticks};
use super::{algorithms, claim, cold, consumers, counted, hot, meetings, nbi, release, sites, timeline, tls, warm_up};
use crate::clock;
use crate::op::{COMPLETES, Operation, TIMED_IF_WAITS, TOGETHER, WAITS, traits};
use crate::segment::layout::{
    Cell, END_KEPT, NOT_COUNTED, ROW_OVERFLOW, STATE_DONE, STATE_INSIDE, Slot, current_word, state_of,
};
use crate::segment::meetings::TeamRow;

/// Largest payload in bytes of a collective that may end without a stamp: beyond, it is the copy that takes time.
pub const UNSTAMPED_BYTES: usize = 1024;
/// The lowest bit of [`crate::segment::layout::Current::start`]: the call has come to wait.
const WAITED: u64 = 1;
/// Time in nanoseconds that pays for timing a call: a quarter of a per cent of it.
const NS_PER_CREDIT: u64 = 10_000;
/// What one sample earns at most: a PE that was stopped for a while does not pay for hundreds of calls.
const MOST_EARNED: u64 = 2;

/// How long a wait lasts before it is stamped, in nanoseconds.
static STAMPED_AFTER_NS: AtomicU64 = AtomicU64::new(0);

/// A wait has lasted so long when it comes to [`begins`].
pub fn stamps_come_after(time: Duration) {
    STAMPED_AFTER_NS.store(u64::try_from(time.as_nanos()).unwrap_or(0), Relaxed);
}

/// The calling thread waits: there is time to count the call. Gives whether that was left to do.
#[cold]
pub fn counts() -> bool {
    tls::slot().is_some_and(settle)
}

/// The calling thread waits, and has for a while: see [`stamps_come_after`].
#[cold]
pub fn begins() {
    let Some(slot) = tls::slot() else { return };
    settle(slot);
    let current = &slot.head.current;
    let word = current.word.load(Relaxed);
    let op = word as u16;
    if state_of(word) != STATE_INSIDE || traits(op) & TIMED_IF_WAITS == 0 {
        return;
    }
    let mut start = current.start.load(Relaxed);
    if start == 0 {
        // It was counted as one that a sample stands for, and as a meeting that is over.
        bump32(&slot.cell(op).countdown, 1);
        if traits(op) & TOGETHER != 0 {
            meetings::meets_after_all(slot, (word >> 32) as i32);
        }
        start = hot::ticks_before(&slot.head, Duration::from_nanos(STAMPED_AFTER_NS.load(Relaxed)));
    }
    current.start.store(start | WAITED, Relaxed);
}

/// Begins a call without a stamp; [`settle`] counts it. False: it needs one.
#[inline(always)]
pub(super) fn begin(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> bool {
    let Some(slot) = tls::slot() else { return false };
    begin_on(slot, meetings::team_row_of(slot, op.traits(), peer), op, (peer, addr, bytes))
}

/// As [`begin`], of all PEs of the team in this row, where there is one.
#[inline(always)]
pub(super) fn begin_on(
    slot: &Slot,
    team: Option<&TeamRow>,
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
) -> bool {
    let completes = op.traits() & COMPLETES != 0 && nbi::end_unless_timed(slot);
    if slot.cell(op.id()).countdown.load(Relaxed) == 0 || bytes > UNSTAMPED_BYTES || completes || consumers::any() {
        return false;
    }
    // One that is kept needs its stamps.
    if team.is_some_and(|team| team.calls.load(Relaxed) >= team.stamped_next.load(Relaxed)) {
        return false;
    }
    let current = &slot.head.current;
    current.addr.store(addr as u64, Relaxed);
    current.bytes.store(bytes as u64, Relaxed);
    current.start.store(0, Relaxed);
    current.word.store(current_word(op.id(), STATE_INSIDE, peer) | NOT_COUNTED, Release);
    true
}

/// Counts the call at hand where that is left to do, which it gives: before anything else is recorded.
#[inline(always)]
pub(super) fn settle(slot: &'static Slot) -> bool {
    let is_left = slot.head.current.word.load(Relaxed) & NOT_COUNTED != 0;
    if is_left {
        count(slot, None);
    }
    is_left
}

/// Counts the call at hand, and the algorithm that it takes, where that is known.
#[inline(always)]
pub(super) fn count(slot: &'static Slot, algorithm: Option<u8>) {
    if !counted::again(slot, algorithm) {
        count_anew(slot, algorithm);
    }
}

#[cold]
#[inline(never)]
fn count_anew(slot: &'static Slot, algorithm: Option<u8>) {
    let current = &slot.head.current;
    let word = current.word.load(Relaxed);
    // A signal handler may have called meanwhile: its call has counted this one, and left its own word.
    if word & NOT_COUNTED == 0 {
        return;
    }
    let (op, peer) = (word as u16, (word >> 32) as i32);
    let (addr, bytes) = (current.addr.load(Relaxed) as usize, current.bytes.load(Relaxed) as usize);
    let site = sites::note(slot, op, peer, addr, bytes);
    slot.head.site.store(site, Relaxed);
    hot::count_long(slot, op, peer, bytes);
    bump32(&slot.cell(op).countdown, u32::MAX);
    let team = meetings::team_row_of(slot, traits(op), peer);
    let is_end_kept = team.is_some_and(|team| meetings::met_in_passing(slot, team, bytes as u64, site));
    let row = algorithm.map(|algorithm| algorithms::count(slot, op, algorithm));
    counted::note(slot, (word, algorithm), bytes, (site, row, team));
    current.word.store(current_word(op, STATE_INSIDE, peer) | if is_end_kept { END_KEPT } else { 0 }, Release);
}

/// Ends a call that began at `start`, or without a stamp, where that is 0.
#[inline(always)]
pub(super) fn leave(op: impl Operation, start: u64, peer: i32) {
    let Some(slot) = tls::slot() else { return cold::leave_shared(op.id(), start) };
    let current = &slot.head.current;
    let left = current.word.load(Relaxed) & (NOT_COUNTED | END_KEPT);
    if start | current.start.load(Relaxed) | left != 0 {
        return leave_whole(slot, op.id(), start, peer);
    }
    current.word.store(current_word(op.id(), STATE_DONE, peer), Relaxed);
}

/// As [`leave`], of a call for which there is more to do.
#[inline(never)]
fn leave_whole(slot: &'static Slot, op: u16, start: u64, peer: i32) {
    settle(slot);
    let current = &slot.head.current;
    if start | current.start.load(Relaxed) != 0 {
        return leave_stamped(slot, op, start, peer);
    }
    if current.word.load(Relaxed) & END_KEPT != 0 {
        meetings::begin_phase(slot, ticks(&slot.head));
    }
    current.word.store(current_word(op, STATE_DONE, peer), Relaxed);
}

fn leave_stamped(slot: &Slot, op: u16, start: u64, peer: i32) {
    let (current, cell) = (&slot.head.current, slot.cell(op));
    let waited = current.start.load(Relaxed) & WAITED != 0;
    let is_due = start != 0 && cell.countdown.load(Relaxed) == 0;
    let start = if start == 0 { current.start.load(Relaxed) } else { start };
    let is_whole = cell.row.load(Relaxed) <= ROW_OVERFLOW || consumers::any();
    let is_large = current.bytes.load(Relaxed) > UNSTAMPED_BYTES as u64;
    let ticks = if waited || !is_due || is_whole || is_large {
        hot::leave_timed(op, start, peer)
    } else {
        leave_sample(slot, op, start, peer)
    };
    if traits(op) & WAITS != 0 {
        release::waited(op, start, ticks);
    }
}

/// Ends a sample: a call that did not come to wait. It stands for those since the last one.
fn leave_sample(slot: &Slot, op: u16, start: u64, peer: i32) -> u64 {
    let (head, cell) = (&slot.head, slot.cell(op));
    let now = ticks(head);
    let took = elapsed(head, start, now);
    let mult = head.clock_mult.load(Relaxed);
    let overhead_ns = clock::scale_ns(claim::sample_overhead() >> 8, mult);
    let row = cold::row(slot, cell);
    let weight = warm_up::calls(cell);
    earn(slot, cell, row, now);
    let raw_ns = clock::scale_ns(took, mult) + overhead_ns;
    let site = head.site.load(Relaxed);
    let claimed = cold::claim_sample(slot, cell, site, (raw_ns, overhead_ns), now);
    meetings::waited(slot, traits(op), claimed);
    timeline::tend(slot, op, start, now);
    meetings::met(slot, traits(op), peer, (start, now), weight);
    if traits(op) & WAITS != 0 {
        bump(&slot.tables.waited.since_look, took.saturating_mul(weight - 1));
    }
    head.current.word.store(current_word(op, STATE_DONE, peer), Relaxed);
    took
}

/// The time since the last sample of this operation pays for timing calls: where they are rare, for each.
fn earn(slot: &Slot, cell: &Cell, row: u32, now: u64) {
    let since = slot.row(row).sampled_at.load(Relaxed);
    if since == 0 {
        return;
    }
    let passed = clock::scale_ns(now.saturating_sub(since), slot.head.clock_mult.load(Relaxed));
    let earned = (passed / NS_PER_CREDIT).min(MOST_EARNED) as u32;
    cell.credit.store(cell.credit.load(Relaxed).max(earned), Relaxed);
}
