//! Reading what a PE did with distributed locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tables::written;
use crate::order;
use crate::segment::Segment;
use crate::segment::layout::Region;
use crate::segment::locks::{LockRow, object};
use crate::tables::Lock;

/// Reads the locks of a PE that ends at `end_ns`.
pub(crate) fn take(segment: &Segment, region: &Region, end_ns: u64) -> Vec<Lock> {
    let mut locks = Vec::new();
    written(segment, &region.names.locks, |_, row| {
        if row.taken.load(Relaxed) > 0 {
            locks.push(read(segment, row, end_ns));
        }
    });
    order::sort_by_key(&mut locks, |lock: &Lock| lock.object);
    locks
}

fn read(segment: &Segment, row: &LockRow, end_ns: u64) -> Lock {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let ns = |word: &AtomicU64| segment.scale().ns(get(word));
    // One that is never released is held to the end.
    let since = get(&row.since);
    let held = if since == 0 { 0 } else { end_ns.saturating_sub(segment.since_start(since)) };
    Lock {
        object: (get(&row.lock) != 0).then(|| object(get(&row.lock))),
        taken: get(&row.taken),
        contended: get(&row.contended),
        waited_ns: ns(&row.waited),
        held_ns: ns(&row.held).saturating_add(held),
        max_held_ns: ns(&row.max_held).max(held),
        handovers: get(&row.handovers),
        handover_ns: ns(&row.handover),
    }
}
