//! Reading what a PE did with distributed locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tables::written;
use super::unfinished::Unfinished;
use crate::op::{self, Class};
use crate::order;
use crate::segment::Segment;
use crate::segment::layout::{Region, Slot, symmetric};
use crate::segment::locks::{LockRow, number, object};
use crate::tables::Lock;

/// Reads the locks of a PE that ends at `end_ns`. A wait that has not come to its end counts as far as it went.
pub(crate) fn take<'a>(
    segment: &Segment,
    region: &Region,
    slots: impl Iterator<Item = &'a Slot>,
    end_ns: u64,
) -> Vec<Lock> {
    let mut locks = Vec::new();
    written(segment, &region.names.locks, |_, row| {
        if row.taken.load(Relaxed) > 0 {
            locks.push(read(segment, row, end_ns));
        }
    });
    let memory = region.head.memory.each_ref().map(|word| word.load(Relaxed));
    for slot in slots {
        let Some(call) = Unfinished::of(segment, slot, end_ns).filter(|call| is_set(call.op)) else { continue };
        let Some(lock) = symmetric(memory, slot.head.current.addr.load(Relaxed)) else { continue };
        let open = Lock { object: Some(object(number(lock))), waited_ns: call.ns, ..Lock::default() };
        match locks.iter_mut().find(|lock| lock.object == open.object) {
            Some(lock) => lock.waited_ns = lock.waited_ns.saturating_add(open.waited_ns),
            None => locks.push(open),
        }
    }
    order::sort_by_key(&mut locks, |lock: &Lock| lock.object);
    locks
}

/// Whether a routine waits until it has a lock.
fn is_set(op: u16) -> bool {
    op::get(op).is_some_and(|row| row.class == Class::Lock && Lock::is_waited_for_in(row.name()))
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
