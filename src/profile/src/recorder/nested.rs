//! Calls within calls: handlers of messages, which whoever waits runs.

use std::sync::atomic::Ordering::{Relaxed, Release};

use super::stall::{show, shown};
use super::{hot, tls, waits};
use crate::op::Operation;
use crate::segment::layout::{STATE_INSIDE, current_word, state_of};

/// Runs what comes in between of a call. Afterwards the thread shows the call again, and the time of what was recorded
/// meanwhile is part of the call's.
#[inline]
pub fn nested<R>(f: impl FnOnce() -> R) -> R {
    let before = tls::slot().map(|slot| {
        waits::settle(slot);
        (shown(slot), slot.head.claimed_ns.load(Relaxed))
    });
    let result = f();
    if let (Some((before, claimed)), Some(slot)) = (before, tls::slot()) {
        show(slot, before);
        slot.head.claimed_ns.store(claimed, Relaxed);
    }
    result
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
