//! Recording nonblocking operations, from issue to completion.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::hot::{self, bump};
use super::tls;
use crate::op::{TOGETHER, traits};
use crate::segment::layout::Slot;
use crate::segment::tables::Nbi;

/// Since when the process has been recording: of what was issued before, the completion may not have been seen.
static RECORDING_SINCE: AtomicU64 = AtomicU64::new(0);

/// Recording goes on from `now`. What the calling thread had issued is complete, or nobody sees when it will be.
pub(super) fn begin_anew(now: u64) {
    RECORDING_SINCE.store(now, Relaxed);
    if let Some(slot) = tls::slot() {
        slot.tables.nbi.open.store(0, Relaxed);
    }
}

/// A nonblocking operation is issued.
#[inline(always)]
pub(super) fn issue(slot: &Slot, bytes: usize) {
    let nbi = &slot.tables.nbi;
    if nbi.open.load(Relaxed) == 0 {
        slot.head.nbi_since.store(hot::ticks(&slot.head), Relaxed);
    }
    issue_more(nbi, bytes);
}

/// As [`issue`], while others are open.
#[inline(always)]
pub(super) fn issue_more(nbi: &Nbi, bytes: usize) {
    bump(&nbi.open, 1);
    bump(&nbi.issued, 1);
    bump(&nbi.bytes, bytes as u64);
}

/// A completing call begins, at `start` where that is known, else (0) now: when, if there is something to complete,
/// else 0. A call that is timed has no other reading of the clock between its begin and its end.
#[inline(always)]
pub(super) fn begin_completion(start: u64) -> u64 {
    match tls::slot() {
        Some(slot) if slot.tables.nbi.open.load(Relaxed) != 0 => {
            if start == 0 {
                hot::ticks(&slot.head)
            } else {
                start
            }
        }
        _ => 0,
    }
}

/// A completing call that began at `begun` (0: nothing was open) is over since `end` (0: since now).
#[inline(always)]
pub(super) fn complete(op: u16, begun: u64, end: u64) {
    if begun != 0
        && let Some(slot) = tls::slot()
        && slot.tables.nbi.open.load(Relaxed) != 0
    {
        complete_batch(slot, op, begun, end);
    }
}

#[cold]
#[inline(never)]
fn complete_batch(slot: &Slot, op: u16, begun: u64, end: u64) {
    let now = if end == 0 { hot::ticks(&slot.head) } else { end };
    let (nbi, since) = (&slot.tables.nbi, slot.head.nbi_since.load(Relaxed));
    if since < RECORDING_SINCE.load(Relaxed) {
        return nbi.open.store(0, Relaxed);
    }
    let ticks = now.saturating_sub(since);
    bump(&nbi.batches, 1);
    bump(&nbi.completed, nbi.open.load(Relaxed));
    bump(&nbi.ticks, ticks);
    bump(&nbi.blocked_ticks, now.saturating_sub(begun));
    if traits(op) & TOGETHER != 0 {
        bump(&nbi.met_ticks, now.saturating_sub(begun));
    }
    if ticks > nbi.max_ticks.load(Relaxed) {
        nbi.max_ticks.store(ticks, Relaxed);
    }
    nbi.open.store(0, Relaxed);
}
