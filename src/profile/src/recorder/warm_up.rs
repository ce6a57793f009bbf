//! The calls before a sample, which take its way for nothing.
//!
//! Of a thousand calls one takes the way of samples. Since the last one other programs have had the core, or the
//! program's own data has filled the caches: then what lies between the two stamps takes half a microsecond, and the
//! sample would claim that for a thousand calls which went the short way, where everything was at hand. So where
//! samples are far apart, the call before one takes its way too and is forgotten. Any call is as likely as before to be
//! the sample.
//!
//! Nor is the sample the call that is looked at more closely ([`super::rates`]): what the kernel is asked leaves little
//! in the caches. That is the call before the warm-up call.

use std::sync::atomic::Ordering::Relaxed;

use super::rates;
use crate::segment::layout::{Cell, Slot};

/// From so many calls between samples on there is one before each.
pub(super) const SPARSE: u32 = 64;
/// In [`Cell::gap`]: the call before this one was the warm-up call.
const WARMED_UP: u32 = 1 << 31;
/// The same: what the calls move counts towards the next closer look.
const MOVED: u32 = 1 << 30;
/// The rest is the number of calls.
const CALLS: u32 = MOVED - 1;

/// Calls that the next sample stands for.
#[inline(always)]
pub(super) fn calls(cell: &Cell) -> u64 {
    u64::from(cell.gap.load(Relaxed) & CALLS).max(1)
}

/// The next sample was planned: the warm-up call comes before it.
#[inline(always)]
pub(super) fn plan(cell: &Cell) {
    if cell.gap.load(Relaxed) & CALLS >= SPARSE {
        cell.countdown.store(cell.countdown.load(Relaxed).saturating_sub(1), Relaxed);
    }
}

/// A call of `bytes` begins that is a sample, or comes before one.
#[inline(always)]
pub(super) fn begin(slot: &Slot, cell: &Cell, op: u16, bytes: usize) {
    let gap = cell.gap.load(Relaxed);
    if gap & MOVED != 0 {
        return;
    }
    rates::begin(slot, op, bytes, calls(cell));
    if gap >= SPARSE {
        cell.gap.store(gap | MOVED, Relaxed);
    }
}

/// Whether a call that has taken the way of samples was none. The next one is nearer to it then.
#[inline(always)]
pub(super) fn is_warm_up(slot: &Slot, cell: &Cell, op: u16, to: (i32, usize)) -> bool {
    let gap = cell.gap.load(Relaxed);
    if gap & CALLS < SPARSE || gap & WARMED_UP != 0 {
        return false;
    }
    let was_looked_at = rates::close_look(slot, op, to);
    // One more call until the sample, or this was the last.
    cell.gap.store(if was_looked_at { gap + 1 } else { gap | WARMED_UP }, Relaxed);
    cell.countdown.store(0, Relaxed);
    true
}
