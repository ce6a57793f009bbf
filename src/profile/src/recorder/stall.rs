//! Calls that wait long, shown as what their thread does where recording does not show them: because the profile is
//! off, or because they are of the short ones, whose begin is not kept.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::Duration;

use super::{claim, hot, tls};
use crate::arm;
use crate::segment::Condition;
use crate::segment::layout::{STATE_INSIDE, Slot, current_word, state_of};
use crate::segment::sites::SITE_OVERFLOW;

/// What a thread shows.
pub type Shown = [u64; 5];

/// Whether a long wait of the calling thread is to be shown: there is a place for it, and the recorder does not show it
/// by itself.
pub fn may_stall() -> bool {
    let is_inside = |slot: &Slot| state_of(slot.head.current.word.load(Relaxed)) == STATE_INSIDE;
    claim::own().is_some_and(|(_, slot)| arm::level() <= 0 || !is_inside(slot))
}

/// Shows that the calling thread is in this call, and has been waiting for so long. Gives what it showed before.
pub fn stall(op: u16, peer: i32, addr: usize, bytes: usize, waited: Duration) -> Option<Shown> {
    let slot = tls::slot()?;
    let before = shown(slot);
    let start = hot::ticks_before(&slot.head, waited);
    // Where it was called from is not known here.
    show(slot, [current_word(op, STATE_INSIDE, peer), addr as u64, bytes as u64, start, SITE_OVERFLOW as u64]);
    Some(before)
}

/// It waits no longer.
pub fn stall_over(before: &Shown) {
    if let Some(slot) = tls::slot() {
        show(slot, *before);
    }
}

/// Notes what the calling thread, which is in a long wait, waits for.
pub fn waits_for(condition: &Condition) {
    if let Some(slot) = tls::slot() {
        slot.tables.waiting.note(slot.head.current.start.load(Relaxed), condition);
    }
}

pub(super) fn shown(slot: &Slot) -> Shown {
    let current = &slot.head.current;
    let [word, addr, bytes, start] =
        [&current.word, &current.addr, &current.bytes, &current.start].map(|word| word.load(Relaxed));
    [word, addr, bytes, start, slot.head.site.load(Relaxed).into()]
}

pub(super) fn show(slot: &Slot, [word, addr, bytes, start, site]: Shown) {
    let current = &slot.head.current;
    slot.head.site.store(site as u32, Relaxed);
    current.addr.store(addr, Relaxed);
    current.bytes.store(bytes, Relaxed);
    current.start.store(start, Relaxed);
    current.word.store(word, Release);
}
