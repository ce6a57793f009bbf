//! Time at level 0. Nobody knows what the PE did then: it is no part of the time that shares are of, and what was under
//! way when it began goes on from where it was.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::hot::ticks;
use super::{claim, system, tls};
use crate::segment::layout::{OWNER_NONE, ROW_OVERFLOW, Region, RegionHead, SLOTS, Slot};

/// Recording stops here. Before the PE is initialized and after it has begun to finalize that is no part of its run.
pub(super) fn begin(region: &Region) {
    let head = &region.head;
    let is_in_run = head.init_ticks.load(Relaxed) > 0 && head.finalize_ticks.load(Relaxed) == 0;
    if !is_in_run || head.off_since.load(Relaxed) > 0 {
        return;
    }
    if let Some(slot) = tls::slot() {
        system::note_queue(slot);
    }
    system::note_usage(region);
    head.off_since.store(ticks(&region.slots[SLOTS].head), Relaxed);
}

/// It was initialized while nothing was recorded, so that nothing has been since.
pub(super) fn began_before(head: &RegionHead) {
    head.off_since.store(head.init_ticks.load(Relaxed), Relaxed);
}

/// Recording goes on, or will not do so any more before the PE ends.
pub(super) fn end(region: &Region) {
    let head = &region.head;
    let since = head.off_since.load(Relaxed);
    if since == 0 {
        return;
    }
    let now = ticks(&region.slots[SLOTS].head);
    let before = head.usage.each_ref().map(|word| word.load(Relaxed));
    head.off_since.store(0, Relaxed);
    system::note_usage(region);
    for ((at, usage), before) in head.usage_before.iter().zip(&head.usage).zip(before) {
        at.fetch_add(usage.load(Relaxed).saturating_sub(before), Relaxed);
    }
    if let Some(slot) = tls::slot() {
        system::begin_queue(slot);
    }
    head.off_ticks.fetch_add(now.saturating_sub(since), Relaxed);
    let used = (head.slots_used.load(Acquire) as usize).min(SLOTS);
    let shift = Shift { init: head.init_ticks.load(Relaxed), by: now.saturating_sub(since), now };
    region.slots[..used].iter().filter(|slot| slot.head.owner.load(Relaxed) != OWNER_NONE).for_each(|s| shift.slot(s));
}

/// The time at `now` for what lasts: while nothing is recorded it stands still.
pub(super) fn recorded(now: u64) -> u64 {
    match claim::region_unchecked().map_or(0, |region| region.head.off_since.load(Relaxed)) {
        0 => now,
        since => now.min(since),
    }
}

/// By how much moments in ticks move on that something has lasted from.
struct Shift {
    init: u64,
    by: u64,
    now: u64,
}

impl Shift {
    fn moment(&self, word: &AtomicU64, least: u64) {
        let at = word.load(Relaxed);
        if at > 0 {
            word.store(at.max(least).saturating_add(self.by).min(self.now), Relaxed);
        }
    }

    fn slot(&self, slot: &Slot) {
        let tables = &slot.tables;
        self.moment(&tables.lives.since, self.init);
        let begins = [&slot.head.region_since, &tables.phase.left, &tables.waited.left];
        begins.into_iter().for_each(|word| self.moment(word, 0));
        let open = tables.regions.iter().filter(|region| region.open.load(Relaxed) > 0);
        open.for_each(|region| self.moment(&region.since, 0));
        let rows = slot.head.rows_used.load(Relaxed);
        (ROW_OVERFLOW + 1..=ROW_OVERFLOW + rows).for_each(|row| self.moment(&slot.row(row).sampled_at, 0));
    }
}
