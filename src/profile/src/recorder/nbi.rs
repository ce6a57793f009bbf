//! Recording nonblocking operations, from issue to completion.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::{self, bump};
use super::tls;
use crate::op::{TOGETHER, traits};
use crate::segment::layout::Slot;
use crate::segment::tables::Nbi;

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

/// A completing call begins: the time now if there is something to complete, else 0.
#[inline(always)]
pub(super) fn begin_completion() -> u64 {
    match tls::slot() {
        Some(slot) if slot.tables.nbi.open.load(Relaxed) != 0 => hot::ticks(&slot.head),
        _ => 0,
    }
}

/// A completing call that began at `begun` (0: nothing was open) is over.
#[inline(always)]
pub(super) fn complete(op: u16, begun: u64) {
    if begun != 0
        && let Some(slot) = tls::slot()
        && slot.tables.nbi.open.load(Relaxed) != 0
    {
        complete_batch(slot, op, begun);
    }
}

#[cold]
#[inline(never)]
fn complete_batch(slot: &Slot, op: u16, begun: u64) {
    let now = hot::ticks(&slot.head);
    let nbi = &slot.tables.nbi;
    let ticks = now.saturating_sub(slot.head.nbi_since.load(Relaxed));
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
