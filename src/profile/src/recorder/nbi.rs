//! Recording nonblocking operations, from issue to completion.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::hot::{self, bump};
use super::{cold, tls};
use crate::arm;
use crate::clock;
use crate::op::{TOGETHER, traits};
use crate::segment::layout::Slot;
use crate::segment::tables::{BEGINS_TIMED, FOLLOWED, NOT_FOLLOWED, Nbi};

/// Since when the process has been recording: of what was issued before, the completion may not have been seen.
static RECORDING_SINCE: AtomicU64 = AtomicU64::new(0);

/// Recording goes on from `now`. What the calling thread had issued is complete, or nobody sees when it will be.
pub(super) fn begin_anew(now: u64) {
    RECORDING_SINCE.store(now, Relaxed);
    if let Some(slot) = tls::slot() {
        begin(slot);
    }
}

/// Batches that are timed before those that are over at once are sampled.
const ALL_TIMED: u64 = 128;
/// The mean number of batches from one that is timed to the next.
const MEAN_GAP: u64 = 64;
/// What takes so long is worth its three readings of the clock, each time.
const LONG_NS: u64 = 4000;

/// A nonblocking operation is issued.
#[inline(always)]
pub(super) fn issue(slot: &Slot) {
    let nbi = &slot.tables.nbi;
    if begins_timed(nbi) || arm::counts_only() && open(nbi) == 0 && nbi.skip.load(Relaxed) == 0 {
        nbi.next.store(if arm::counts_only() { NOT_FOLLOWED } else { FOLLOWED }, Relaxed);
        slot.head.nbi_since.store(hot::ticks(&slot.head), Relaxed);
    }
    issue_more(nbi);
}

/// Says whether the batch that begins next is to be timed. Where short calls are only counted, none of them begins one.
#[inline(always)]
fn begin_next(nbi: &Nbi, skip: u64) {
    nbi.skip.store(skip, Relaxed);
    let next = match skip {
        _ if arm::counts_only() => NOT_FOLLOWED,
        0 => BEGINS_TIMED,
        _ => FOLLOWED,
    };
    nbi.next.store(next, Relaxed);
}

/// A nonblocking operation is issued that is only counted.
pub(super) fn issue_unseen(slot: &Slot) {
    slot.tables.nbi.next.store(NOT_FOLLOWED, Relaxed);
}

/// Operations of the open batch.
#[inline(always)]
fn open(nbi: &Nbi) -> u64 {
    nbi.issued.load(Relaxed).wrapping_sub(nbi.closed.load(Relaxed))
}

/// What is under way will be complete when nobody sees it.
fn forget(nbi: &Nbi) {
    bump(&nbi.unseen, open(nbi));
    nbi.closed.store(nbi.issued.load(Relaxed), Relaxed);
    begin_next(nbi, nbi.skip.load(Relaxed));
}

/// Whether the next operation is the first of a batch that is to be timed.
#[inline(always)]
pub(super) fn begins_timed(nbi: &Nbi) -> bool {
    next(nbi) == BEGINS_TIMED
}

/// Whether the next operation is followed to its completion.
#[inline(always)]
pub(super) fn is_followed(nbi: &Nbi) -> bool {
    next(nbi) != NOT_FOLLOWED
}

#[inline(always)]
fn next(nbi: &Nbi) -> u64 {
    // SAFETY: only this thread writes it. Only where words are not atomic do compilers compare with them where they
    // are, which takes no register.
    unsafe { *nbi.next.as_ptr() }
}

/// As [`issue`], where it is not the first of a batch that is timed.
#[inline(always)]
pub(super) fn issue_more(nbi: &Nbi) {
    bump(&nbi.issued, 1);
}

/// A completing call ends the batch that is open, unless it is timed. Returns whether one that is timed is open: the
/// call has to look at the clock.
#[inline(always)]
pub(super) fn end_unless_timed(slot: &Slot) -> bool {
    let nbi = &slot.tables.nbi;
    if open(nbi) == 0 {
        return false;
    }
    let is_timed = slot.head.nbi_since.load(Relaxed) != 0;
    if !is_timed {
        end(nbi);
        begin_next(nbi, nbi.skip.load(Relaxed).saturating_sub(1));
        bump(&nbi.skipped, 1);
    }
    is_timed
}

/// A batch has ended.
#[inline(always)]
fn end(nbi: &Nbi) {
    bump(&nbi.batches, 1);
    nbi.closed.store(nbi.issued.load(Relaxed), Relaxed);
}

/// A thread begins, which has issued nothing.
pub(super) fn begin(slot: &Slot) {
    forget(&slot.tables.nbi);
    slot.head.nbi_since.store(0, Relaxed);
}

/// A completing call begins, at `start` where that is known, else (0) now: when, if a batch that is timed is open, else
/// 0. A call that is timed has no other reading of the clock between its begin and its end.
#[inline(always)]
pub(super) fn begin_completion(start: u64) -> u64 {
    match tls::slot() {
        Some(slot) if end_unless_timed(slot) => {
            if start == 0 {
                hot::ticks(&slot.head)
            } else {
                start
            }
        }
        _ => 0,
    }
}

/// A completing call that began at `begun` (0: no batch that is timed was open) is over since `end` (0: since now).
#[inline(always)]
pub(super) fn complete(op: u16, begun: u64, end: u64) {
    if begun != 0
        && let Some(slot) = tls::slot()
        && end_unless_timed(slot)
    {
        complete_batch(slot, op, begun, end);
    }
}

#[cold]
#[inline(never)]
fn complete_batch(slot: &Slot, op: u16, begun: u64, end_ticks: u64) {
    let now = if end_ticks == 0 { hot::ticks(&slot.head) } else { end_ticks };
    let (nbi, since) = (&slot.tables.nbi, slot.head.nbi_since.load(Relaxed));
    slot.head.nbi_since.store(0, Relaxed);
    if since < RECORDING_SINCE.load(Relaxed) {
        return forget(nbi);
    }
    end(nbi);
    let ticks = now.saturating_sub(since);
    let stands_for = 1 + nbi.skipped.load(Relaxed);
    bump(&nbi.ticks, ticks * stands_for);
    bump(&nbi.blocked_ticks, now.saturating_sub(begun) * stands_for);
    if traits(op) & TOGETHER != 0 {
        bump(&nbi.met_ticks, now.saturating_sub(begun) * stands_for);
    }
    if ticks > nbi.max_ticks.load(Relaxed) {
        nbi.max_ticks.store(ticks, Relaxed);
    }
    nbi.skipped.store(0, Relaxed);
    let is_long = clock::scale_ns(ticks, slot.head.clock_mult.load(Relaxed)) >= LONG_NS;
    let skip = if is_long || nbi.batches.load(Relaxed) < ALL_TIMED { 0 } else { cold::draw(slot, 2 * MEAN_GAP - 1) };
    begin_next(nbi, skip);
}
