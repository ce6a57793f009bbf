//! Moving what was recorded of an object that was unloaded, once another one is at its addresses: its call sites get
//! addresses at which nothing is loaded, so that calls from the same addresses are other sites from then on.
//!
//! Rows stay where they are: whoever looks one up by the old key finds none, and takes another. Where the object comes
//! back, its rows get their keys again, and are found where they always were.

use std::ops::Range;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::release;
use crate::pages::visit_written;
use crate::segment::layout::{Region, SLOTS, Slot};
use crate::segment::meetings::Sync;
use crate::segment::sites::{KEY_REGION, key, split_key};

/// Addresses that are others from now on.
pub(super) struct Move {
    /// Where they were.
    pub from: Range<u64>,
    /// Where they begin now.
    pub to: u64,
}

impl Move {
    /// Moves what this PE has recorded, and what others of the host have recorded of it.
    pub fn apply(&self, region: &Region) {
        self.address(&region.head.region_error);
        let used = (region.head.slots_used.load(Acquire) as usize).min(SLOTS);
        region.slots[..used].iter().chain(&region.slots[SLOTS..]).for_each(|slot| self.slot(slot));
        let pe = u64::from(region.head.pe.load(Relaxed)) + 1;
        for slot in release::waiting_slots() {
            visit_written(&slot.tables.causes, |cause| {
                if cause.by_pe.load(Relaxed) == pe {
                    self.keys([&cause.by, &cause.from]);
                }
            });
        }
    }

    fn slot(&self, slot: &Slot) {
        let tables = &slot.tables;
        tables.flows.iter().for_each(|flow| self.address(&flow.site));
        visit_written(&tables.sites, |site| self.keys([&site.key]));
        visit_written(&tables.callers, |caller| {
            self.keys([&caller.key]);
            caller.returns.iter().for_each(|word| self.address(word));
        });
        visit_written(&tables.causes, |cause| self.keys([&cause.key]));
        visit_written(&tables.stores.by, |by| self.keys([by]));
        visit_written(&tables.syncs, |sync| self.meeting(sync));
        visit_written(&tables.longest.syncs, |sync| self.meeting(sync));
        visit_written(&tables.longest_phases.syncs, |sync| self.meeting(sync));
        self.keys([&tables.waited.key]);
        self.address(&tables.slow_wait.returns_to);
    }

    fn meeting(&self, sync: &Sync) {
        self.keys([&sync.key, &sync.from_key]);
        self.address(&sync.caller);
    }

    fn keys<const N: usize>(&self, words: [&AtomicU64; N]) {
        words.into_iter().for_each(|word| replace(word, |old| self.key(old)));
    }

    fn address(&self, word: &AtomicU64) {
        replace(word, |old| self.moved(old));
    }

    fn key(&self, old: u64) -> Option<u64> {
        let (address, op, region) = split_key(old);
        Some(key(self.moved(address)?, op, u64::from(region) << KEY_REGION))
    }

    fn moved(&self, address: u64) -> Option<u64> {
        self.from.contains(&address).then(|| address - self.from.start + self.to)
    }
}

/// Its thread may write to it at the same time: then that is what it is.
fn replace(word: &AtomicU64, new: impl FnOnce(u64) -> Option<u64>) {
    let old = word.load(Relaxed);
    if let Some(new) = new(old) {
        let _ = word.compare_exchange(old, new, Relaxed, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_comes_back_as_it_was() {
        let away = Move { from: 0x7f00_0000_1040..0x7f00_0000_2000, to: 0x1000_0000_0040 };
        let back = Move { from: 0x1000_0000_0040..0x1000_0000_1000, to: 0x7f00_0000_1040 };
        for address in [0x7f00_0000_1041, 0x7f00_0000_1fff] {
            let moved = away.moved(address).unwrap();
            assert_eq!((moved - away.to, back.moved(moved)), (address - away.from.start, Some(address)));
            let known = key(address, 17, 5 << KEY_REGION);
            let word = AtomicU64::new(known);
            away.keys([&word]);
            assert_eq!(split_key(word.load(Relaxed)), (moved & !1, 17, 5));
            back.keys([&word]);
            assert_eq!(word.load(Relaxed), known);
        }
        for other in [0, 0x40_1136, 0x7f00_0000_103f, 0x7f00_0000_2000, u64::MAX] {
            assert_eq!(away.moved(other), None, "{other:#x}");
        }
    }
}
