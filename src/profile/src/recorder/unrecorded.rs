//! Time at level 0. Nobody knows what the PE did then: it is no part of the time that shares are of, and what was under
//! way when it began goes on from where it was.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::hot::ticks;
use super::{claim, system, timeline, tls};
use crate::clock;
use crate::segment::layout::{OWNER_NONE, ROW_OVERFLOW, Region, RegionHead, SLOTS, Slot};
use crate::segment::tables::{NESTING, REGIONS};

/// Recording stops here. Before the PE is initialized and after it has begun to finalize that is no part of its run.
pub(super) fn begin(region: &Region) {
    let head = &region.head;
    let is_in_run = head.init_ticks.load(Relaxed) > 0 && head.finalize_ticks.load(Relaxed) == 0;
    if !is_in_run || head.off_since.load(Relaxed) > 0 {
        return;
    }
    let now = ticks(&region.slots[SLOTS].head);
    if is_long(region, head.usage_at.load(Relaxed), now) {
        if let Some(slot) = tls::slot() {
            system::note_queue(slot);
        }
        system::note_usage(region);
    }
    head.off_since.store(now, Relaxed);
}

/// Time in nanoseconds from which on the kernel is asked what it has counted meanwhile, which takes some microseconds:
/// a program may change the level around each of its loops.
const LONG_NS: u64 = 2_000_000;

fn is_long(region: &Region, since: u64, now: u64) -> bool {
    ns(region, now.saturating_sub(since)) >= LONG_NS
}

fn ns(region: &Region, ticks: u64) -> u64 {
    clock::scale_ns(ticks, region.slots[SLOTS].head.clock_mult.load(Relaxed))
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
    head.off_since.store(0, Relaxed);
    let is_long = is_long(region, since, now);
    take_away_usage(region, (since, now), is_long);
    if let Some(slot) = tls::slot() {
        timeline::not_recorded(slot, (since, now));
    }
    head.off_ticks.fetch_add(now.saturating_sub(since), Relaxed);
    let used = (head.slots_used.load(Acquire) as usize).min(SLOTS);
    let shift = Shift { init: head.init_ticks.load(Relaxed), by: now.saturating_sub(since), now, is_long };
    region.slots[..used].iter().filter(|slot| slot.head.owner.load(Relaxed) != OWNER_NONE).for_each(|s| shift.slot(s));
}

/// What the process took from `since` to `now` is not of its run. Where that is short, it is taken to have been on a
/// core; where the kernel was asked for the last time before it, its part of what was counted since then is.
fn take_away_usage(region: &Region, (since, now): (u64, u64), is_long: bool) {
    let head = &region.head;
    if !is_long {
        head.usage_before[0].fetch_add(ns(region, now.saturating_sub(since)), Relaxed);
        return;
    }
    let before = head.usage.each_ref().map(|word| word.load(Relaxed));
    let whole = now.saturating_sub(head.usage_at.load(Relaxed).min(since)).max(1);
    let part = |count: u64| (u128::from(count) * u128::from(now.saturating_sub(since)) / u128::from(whole)) as u64;
    system::note_usage(region);
    for ((at, usage), before) in head.usage_before.iter().zip(&head.usage).zip(before) {
        at.fetch_add(part(usage.load(Relaxed).saturating_sub(before)), Relaxed);
    }
    if let Some(slot) = tls::slot() {
        system::begin_queue(slot);
    }
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
    is_long: bool,
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
        let depth = (slot.head.region_depth.load(Relaxed) as usize).min(NESTING);
        let open = || tables.stack[..depth].iter().map(|number| number.load(Relaxed) as usize % REGIONS);
        for (at, number) in open().enumerate() {
            // One that is open twice began once.
            if !open().take(at).any(|outer| outer == number) {
                self.moment(&tables.regions[number].since, 0);
            }
        }
        // Each is on a page of its own.
        let rows = if self.is_long { slot.head.rows_used.load(Relaxed) } else { 0 };
        (ROW_OVERFLOW + 1..=ROW_OVERFLOW + rows).for_each(|row| self.moment(&slot.row(row).sampled_at, 0));
    }
}
