//! Hardware and software counters around timed calls and regions. A thread has a group of counters that one system call
//! reads; the PE has each counter once more for all its threads, also those that never call the library.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::consumers;
use super::hot::bump;
use crate::segment::counters::{COUNTERS, Values};
use crate::segment::layout::Slot;
use crate::segment::sites::KEY_REGION;
use crate::segment::tables::REGIONS;

#[cfg(feature = "counters")]
use super::perf;

/// Whether counters are read.
#[inline(always)]
pub(super) fn is_on() -> bool {
    consumers::is(consumers::COUNTERS)
}

/// From now on these counters (indices of [`crate::counters::KNOWN`]) are read. Which of them the system has, the
/// profile says. Once a process, after the recorder is attached.
#[cfg(feature = "counters")]
pub fn count(wanted: &[usize]) {
    let Some(region) = super::claim::region() else { return };
    if perf::open_all(region, wanted) {
        consumers::set(consumers::COUNTERS, true);
    }
}

/// What the thread has counted so far.
#[cfg(feature = "counters")]
fn read(slot: &Slot) -> Option<[u64; COUNTERS]> {
    perf::read(slot)
}

#[cfg(not(feature = "counters"))]
fn read(_: &Slot) -> Option<[u64; COUNTERS]> {
    None
}

fn get(word: &AtomicU64) -> u64 {
    word.load(Relaxed)
}

fn add(to: &Values, now: &[u64; COUNTERS], before: &Values) {
    for ((to, &now), before) in to.iter().zip(now).zip(before) {
        // A counter that shares its place with others is estimated, and may seem to go back.
        bump(to, now.saturating_sub(get(before)));
    }
}

fn region(slot: &Slot) -> usize {
    (get(&slot.head.region_key) >> KEY_REGION) as usize % REGIONS
}

/// Reads the counters and adds what was counted since the last time to the region in place.
fn take(slot: &Slot) -> Option<[u64; COUNTERS]> {
    let now = read(slot)?;
    let table = &slot.tables.counters;
    add(&table.regions[region(slot)], &now, &table.last);
    table.last.iter().zip(now).for_each(|(to, now)| to.store(now.max(get(to)), Relaxed));
    Some(now)
}

/// A timed call is about to begin.
#[cold]
#[inline(never)]
pub(super) fn enter(slot: &Slot) {
    if let Some(now) = take(slot) {
        slot.tables.counters.entered.iter().zip(now).for_each(|(to, now)| to.store(now, Relaxed));
    }
}

/// It has ended.
#[cold]
#[inline(never)]
pub(super) fn leave(slot: &Slot, op: u16) {
    let Some(now) = take(slot) else { return };
    let table = &slot.tables.counters;
    let at = usize::from(op) % table.ops.len();
    add(&table.ops[at], &now, &table.entered);
    add(&table.library[region(slot)], &now, &table.entered);
    bump(&table.calls[at], 1);
}

/// The region of the thread is about to change, or its numbers are about to be looked at.
pub(super) fn settle(slot: &Slot) {
    if is_on() {
        take(slot);
    }
}

/// Brings the PE's totals up to date.
pub(super) fn refresh() {
    #[cfg(feature = "counters")]
    if is_on() {
        if let Some(slot) = super::tls::slot() {
            take(slot);
        }
        perf::refresh();
    }
}

/// The owner of a slot ends.
pub(super) fn thread_ends(slot: &Slot) {
    #[cfg(feature = "counters")]
    if is_on() {
        take(slot);
        perf::close(slot);
        slot.tables.counters.last.iter().for_each(|word| word.store(0, Relaxed));
    }
    #[cfg(not(feature = "counters"))]
    let _ = slot;
}
