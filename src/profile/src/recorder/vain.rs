//! Stores that have come while a thread waited, and did not end its wait.
//!
//! What a thread has noted of a store says neither when it was made nor what it stored. But whoever waits looks again
//! and again: what was noted before a look in vain has not ended the wait. A thread whose wait is slow takes such notes
//! away, now and then and once what it waits for has changed; those that are there when it ends were made after. And it
//! notes when it looked last, so that stores of threads that have called since can be told to have come before.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::hot::ticks;
use super::release::{self, visit};
use super::{claim, slow_wait, tls};
use crate::op::{self, Class, WAITS, traits};
use crate::segment::layout::{STATE_INSIDE, Slot, state_of, symmetric};

/// How long after a store it is seen at the latest, where somebody looks all the time, in nanoseconds. Times of calls
/// of other threads may be off by the time after which they are stamped.
const SEEN_AFTER_NS: u64 = 2000;
/// Notes are taken away no more often than after this part of the time waited so far: it is not the wait's own time.
const OFTEN: u64 = 4;

/// The calling thread has looked in vain, and is about to let others have its core.
#[cold]
pub fn goes_on() {
    let Some(slot) = tls::slot() else { return };
    slow_wait::begin(slot);
    let (current, waited) = (&slot.head.current, &slot.tables.waited);
    let word = current.word.load(Relaxed);
    let (op, start) = (word as u16, current.start.load(Relaxed));
    if state_of(word) != STATE_INSIDE || traits(op) & WAITS == 0 || start == 0 || !is_for_stores(op) {
        return;
    }
    let now = ticks(&slot.head);
    let is_first = waited.looked.swap(now, Relaxed) < start;
    let so_far = now.saturating_sub(start);
    let Some(price) = release::price() else { return };
    // Nobody looks into a wait that has not paid for it.
    if waited.since_look.load(Relaxed).saturating_add(so_far) < waited.due.load(Relaxed) {
        return;
    }
    let seen = if release::waits_for_several(op) { 0 } else { variable(slot).unwrap_or(0) };
    // It may be what is waited for: that shows at the next look.
    if is_first || waited.seen.load(Relaxed) != seen {
        waited.seen.store(seen, Relaxed);
        return waited.changed.store(1, Relaxed);
    }
    let since = now.saturating_sub(waited.taken.load(Relaxed).max(start));
    let is_due = since >= price.max(so_far / OFTEN);
    if is_due || (waited.changed.load(Relaxed) != 0 && since >= price / OFTEN) {
        waited.changed.store(0, Relaxed);
        waited.taken.store(now, Relaxed);
        visit(slot, op, |store| store.take_away());
    }
}

/// Until when a wait that began and ended then has certainly looked in vain.
pub(super) fn until(slot: &Slot, begun: u64, end: u64) -> u64 {
    let looked = slot.tables.waited.looked.load(Relaxed);
    // One that was over before it was slow has looked all the time.
    let last = if looked >= begun { looked.min(end) } else { end };
    let mult = u128::from(slot.head.clock_mult.load(Relaxed).max(1));
    let seen_after = (u128::from(SEEN_AFTER_NS) << 32) / mult;
    last.saturating_sub(seen_after as u64).max(begun)
}

fn is_for_stores(op: u16) -> bool {
    let is_lock = op::get(op).is_some_and(|row| row.class == Class::Lock);
    !is_lock && !op::request::waits(op)
}

/// The word that has what is waited for.
fn variable(slot: &Slot) -> Option<u64> {
    let memory = claim::region_unchecked()?.head.memory.each_ref().map(|word| word.load(Relaxed));
    let addr = slot.head.current.addr.load(Relaxed) & !7;
    symmetric(memory, addr)?;
    // SAFETY: the thread waits for a variable in this word, which is in symmetric memory of its PE as a whole: that
    // consists of pages. It is aligned.
    Some(unsafe { AtomicU64::from_ptr(addr as *mut u64) }.load(Relaxed))
}
