//! What is found out while a thread waits for long: there is time for it, some ten microseconds after the wait began.
//!
//! How long it is on no core: what it stood in a run queue beyond that it stood outside of the library. That is no
//! work, but what it has done there besides is what others wait for. The time on cores is asked for twice, while it
//! waits and when that is over. That takes half a microsecond, as long as a turn of a PE among several on a core: of
//! waits that are over soon one stands for several. And who called: what is waited for in a meeting is that one's, too.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::{bump, ticks};
use super::system::on_core_ns;
use super::{callers, claim, cold};
use crate::clock;
use crate::op::{TOGETHER, traits};
use crate::segment::layout::{STATE_INSIDE, Slot, state_of};
use crate::segment::tables::SlowWait;

/// A wait that is over before is a short one.
const SHORT_NS: u64 = 200_000;
/// The mean number of short ones from one that is asked for to the next.
const MEAN_GAP: u64 = 16;

/// The calling thread is about to let others have its core.
pub(super) fn begin(slot: &Slot) {
    let (current, wait) = (&slot.head.current, &slot.tables.slow_wait);
    let (word, start) = (current.word.load(Relaxed), current.start.load(Relaxed) & !1);
    if state_of(word) != STATE_INSIDE || start == 0 {
        return;
    }
    if wait.start.load(Relaxed) == start {
        return goes_on(slot, wait, start);
    }
    let is_meeting = traits(word as u16) & TOGETHER != 0;
    wait.returns_to.store(if is_meeting { callers::caller() } else { 0 }, Relaxed);
    match wait.skip.load(Relaxed).checked_sub(1) {
        Some(left) => {
            wait.skip.store(left, Relaxed);
            wait.since.store(0, Relaxed);
        }
        None => ask(wait, ticks(&slot.head)),
    }
    wait.interrupted_ns.store(0, Relaxed);
    wait.start.store(start, Relaxed);
}

/// The call that the thread is in was interrupted by others, in a signal handler, which took so long until now.
pub(super) fn interrupted(slot: &Slot, ns: u64) {
    begin(slot);
    if is_of(slot, slot.head.current.start.load(Relaxed)) {
        slot.tables.slow_wait.interrupted_ns.store(ns, Relaxed);
    }
}

/// What calls took that have interrupted the one that was entered at `start`, in nanoseconds.
pub(super) fn interrupted_ns(slot: &Slot, start: u64) -> u64 {
    if is_of(slot, start) { slot.tables.slow_wait.interrupted_ns.load(Relaxed) } else { 0 }
}

/// One that was left out is not, once it is long. What it did until now counts as on no core: mostly it has slept.
fn goes_on(slot: &Slot, wait: &SlowWait, start: u64) {
    if wait.since.load(Relaxed) == 0 && ns(slot, ticks(&slot.head).saturating_sub(start)) >= SHORT_NS {
        ask(wait, start);
    }
}

fn ask(wait: &SlowWait, since: u64) {
    wait.since.store(since, Relaxed);
    wait.on_core_ns.store(on_core_ns(), Relaxed);
}

fn ns(slot: &Slot, ticks: u64) -> u64 {
    clock::scale_ns(ticks, slot.head.clock_mult.load(Relaxed))
}

/// The call that was entered at `start` is over at `end`.
#[inline(always)]
pub(super) fn end(slot: &Slot, start: u64, end: u64) {
    if is_of(slot, start) {
        add(slot, start & !1, end);
    }
}

/// Whether the last slow wait was in the call that was entered at `start`.
#[inline(always)]
pub(super) fn is_of(slot: &Slot, start: u64) -> bool {
    slot.tables.slow_wait.start.load(Relaxed) == start & !1
}

#[cold]
#[inline(never)]
fn add(slot: &Slot, start: u64, end: u64) {
    if claim::is_finalizing() {
        return;
    }
    let wait = &slot.tables.slow_wait;
    let since = wait.since.load(Relaxed);
    let is_short = ns(slot, end.saturating_sub(start)) < SHORT_NS;
    if since == 0 && is_short {
        return bump(&wait.skipped, 1);
    }
    // One that is long, but was never about to let others have the core meanwhile, has slept.
    let waited_ns = ns(slot, end.saturating_sub(if since == 0 { start } else { since }));
    let on_core = if since == 0 { 0 } else { on_core_ns().saturating_sub(wait.on_core_ns.load(Relaxed)) };
    let mut off_core = waited_ns.saturating_sub(on_core);
    if is_short {
        // It stands for the short ones that were left out, too.
        off_core *= 1 + wait.skipped.swap(0, Relaxed);
        wait.skip.store(cold::draw(slot, 2 * MEAN_GAP - 1), Relaxed);
    }
    bump(&wait.off_core_ns, off_core);
}

/// Who called the meeting that was entered then, where that was looked for: as [`Sync::caller`].
///
/// [`Sync::caller`]: crate::segment::meetings::Sync::caller
pub(super) fn caller(slot: &Slot, arrived: u64) -> u64 {
    if is_of(slot, arrived) { slot.tables.slow_wait.returns_to.load(Relaxed) } else { 0 }
}
