//! In which region a thread has been for longest since it last waited or met others: whoever waits for it meanwhile
//! waits for what it does there.

use std::sync::atomic::Ordering::Relaxed;

use crate::segment::layout::Slot;
use crate::segment::sites::KEY_REGION;
use crate::segment::tables::REGIONS;

/// When the last wait or meeting of a thread was over, or it began, in ticks.
pub(super) fn last_left(slot: &Slot) -> u64 {
    let left = [&slot.tables.waited.left, &slot.tables.phase.left, &slot.tables.lives.since];
    left.map(|word| word.load(Relaxed)).into_iter().max().unwrap_or(0)
}

/// The number of the region that a thread is in.
pub(super) fn present(slot: &Slot) -> usize {
    (slot.head.region_key.load(Relaxed) >> KEY_REGION) as usize % REGIONS
}

/// How long it has been there at `now`, since `since` at most.
fn stay(slot: &Slot, since: u64, now: u64) -> u64 {
    now.saturating_sub(slot.head.region_since.load(Relaxed).max(since))
}

/// The longest stay that is over, since `since`.
fn longest(slot: &Slot, since: u64) -> u64 {
    let waited = &slot.tables.waited;
    if waited.stayed_since.load(Relaxed) == since { waited.stayed.load(Relaxed) } else { 0 }
}

/// The thread leaves the region that it is in.
pub(super) fn leave(slot: &Slot, now: u64) {
    let (waited, since) = (&slot.tables.waited, last_left(slot));
    let ticks = stay(slot, since, now);
    if ticks >= longest(slot, since) {
        waited.stayed_in.store(present(slot) as u64, Relaxed);
        waited.stayed.store(ticks, Relaxed);
        waited.stayed_since.store(since, Relaxed);
    }
}

/// The region in which a thread has been for longest from `since`, its last wait, until `now`; 0: in none.
pub(super) fn most(slot: &Slot, since: u64, now: u64) -> u64 {
    if stay(slot, since, now) >= longest(slot, since) {
        present(slot) as u64
    } else {
        slot.tables.waited.stayed_in.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::tests::Fixture;
    use crate::recorder::{claim, hot, region_begin, region_end};

    #[test]
    fn a_region_before_the_last_wait_is_not_where_a_thread_has_been_since() {
        let _fixture = Fixture::new();
        let (region, slot) = claim::own().unwrap();
        let most = |after: u64| {
            let number = most(slot, last_left(slot), hot::ticks(&slot.head) + after) as usize;
            region.names.regions[number].get()
        };
        let stays_long = || slot.head.region_since.store(hot::ticks(&slot.head) / 2, Relaxed);
        slot.tables.lives.since.store(1, Relaxed);
        assert_eq!(most(0), "", "it has been in none");
        assert!(region_begin("long"));
        stays_long();
        assert_eq!(most(0), "long", "it is there");
        assert!(region_end(None) && region_begin("short"));
        assert_eq!(most(0), "long", "it was there");
        assert!(region_end(None));
        slot.tables.waited.left.store(hot::ticks(&slot.head), Relaxed);
        assert_eq!(most(1 << 40), "", "it was there before it waited");
        assert!(region_begin("short"));
        assert_eq!(most(1 << 40), "short");
    }
}
