//! Calls within calls: handlers of messages, which whoever waits runs.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::stall::{show, shown};
use super::{claim, cold, hot, sites, timeline, tls, waits};
use crate::op::{self, Operation, Timing};
use crate::segment::layout::{STATE_INSIDE, Slot, current_word, state_of};
use crate::trace;

/// Runs what comes in between of a call. Afterwards the thread shows the call again, and the time of what was recorded
/// meanwhile is part of the call's.
#[inline]
pub fn nested<R>(f: impl FnOnce() -> R) -> R {
    let before = tls::slot().map(|slot| {
        waits::settle(slot);
        (shown(slot), times(slot).map(|time| time.load(Relaxed)))
    });
    let result = f();
    if let (Some((before, known)), Some(slot)) = (before, tls::slot()) {
        show(slot, before);
        times(slot).iter().zip(known).for_each(|(time, known)| time.store(known, Relaxed));
        timeline::within(slot, before[3]);
    }
    result
}

/// What the time of a call is added to.
fn times(slot: &Slot) -> [&AtomicU64; 2] {
    [&slot.head.claimed_ns, &slot.tables.phase.waits_ns]
}

/// Whether the calling thread is in a call that is timed, so that a wait within it is part of its time.
pub fn is_in_timed_call() -> bool {
    let Some(slot) = tls::slot() else { return false };
    let word = slot.head.current.word.load(Relaxed);
    state_of(word) == STATE_INSIDE && op::get(word as u16).is_some_and(|row| row.timing == Timing::Timed)
}

/// Runs a wait within a call that is not timed, or not always, and that is recorded as a call of its own. Gives when it
/// was over, on the thread's clock: for [`sampled_after`] and [`sized_after`].
pub fn exclusive_wait(wait: impl FnOnce()) -> u64 {
    let before = tls::slot().map(|slot| {
        waits::settle(slot);
        shown(slot)
    });
    wait();
    let slot = tls::slot();
    if let (Some(before), Some(slot)) = (before, slot) {
        show(slot, before);
    }
    slot.or_else(claim::shared).map_or(0, |slot| hot::ticks(&slot.head))
}

/// As [`super::sampled`], of a call that may have an [`exclusive_wait`]: what it took is counted from the end of that.
/// `waited` says when the thread's last such wait was over.
pub fn sampled_after<R>(
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
    f: impl FnOnce() -> R,
    waited: impl FnOnce() -> u64,
) -> R {
    let start = hot::begin_sampled(op, peer, addr, bytes);
    let result = f();
    if start != 0 {
        cold::leave_sample(op.id(), later(start, waited()));
    }
    result
}

/// As [`super::sized`]; see [`sampled_after`].
pub fn sized_after<R>(
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
    f: impl FnOnce() -> R,
    waited: impl FnOnce() -> u64,
) -> R {
    let start = hot::begin_sized(op, peer, addr, bytes);
    let result = f();
    if start != 0 {
        hot::end_sized(op.id(), later(start, waited()), peer, bytes);
    }
    result
}

/// As [`super::sampled`], of a short call without a peer by which a thread waits: the wait that it shows stays to be
/// seen.
pub fn sampled_in_wait<R>(op: impl Operation, f: impl FnOnce() -> R) -> R {
    let Some(slot) = tls::slot() else { return super::sampled(op, -1, 0, 0, f) };
    waits::settle(slot);
    let (before, cell) = (shown(slot), slot.cell(op.id()));
    hot::count(slot, cell, -1, 0);
    let site = sites::note_short(slot, op, (-1, 0, 0), true);
    let left = cell.countdown.load(Relaxed);
    hot::bump32(&cell.countdown, u32::MAX);
    if left & trace::mask() != 0 {
        return f();
    }
    let is_traced = || shown(slot) != before;
    let mut word = hot::probed_word(op, -1);
    let start = cold::begin_of(slot, word, left, (0, 0), site);
    if is_traced() {
        word = slot.head.current.word.load(Relaxed);
        show(slot, before);
    }
    let result = f();
    if start != 0 {
        cold::leave_sample_of(slot, op.id(), start, word);
    }
    if is_traced() {
        show(slot, before);
    }
    result
}

/// The begin of a call, or the end of a wait since then. The lowest bits of a begin say what it is.
fn later(start: u64, waited: u64) -> u64 {
    if waited > start { waited & !cold::MARKS | start & cold::MARKS } else { start }
}

/// Begins a call that may take long and ends by [`leave`]; gives what that needs: 0 where it has no time stamp yet.
pub fn enter(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> u64 {
    hot::begin_timed(op, peer, addr, bytes)
}

/// Ends it.
pub fn leave(op: impl Operation, start: u64, peer: i32) {
    hot::end_timed(op, start, peer);
}

/// Shows for whom, and for what, the call waits that the calling thread is in; false where it is in none that shows
/// itself.
pub fn waits_on(peer: i32, addr: usize) -> bool {
    let Some(slot) = tls::slot() else { return false };
    waits::settle(slot);
    let current = &slot.head.current;
    let word = current.word.load(Relaxed);
    if state_of(word) != STATE_INSIDE {
        return false;
    }
    current.addr.store(addr as u64, Relaxed);
    current.word.store(current_word(word as u16, STATE_INSIDE, peer), Release);
    true
}
