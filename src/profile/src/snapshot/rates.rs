//! Reading how fast puts, gets and atomics were.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tables::written;
use crate::op;
use crate::segment::Segment;
use crate::segment::layout::Slot;
use crate::segment::rates::{NO_ROOM, split};
use crate::tables::Rate;

/// Reads the rows of all threads of a PE.
pub(crate) fn take<'a>(segment: &Segment, slots: impl Iterator<Item = &'a Slot>) -> Vec<Rate> {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let mut rates: BTreeMap<(u16, u8, u8), Rate> = BTreeMap::new();
    for slot in slots {
        written(segment, &slot.tables.rates, |_, row| {
            let key = get(&row.key);
            let (op, class, distance) = split(key);
            let (Some(routine), true) = (op::get(op), key != 0 && key != NO_ROOM) else { return };
            let rate = Rate {
                routine: routine.name().into(),
                class,
                distance,
                calls: get(&row.calls),
                ns: get(&row.ns),
                looks: get(&row.looks),
                faults: get(&row.faults),
                busy: get(&row.busy),
                preempted: get(&row.preempted),
            };
            match rates.get_mut(&(op, class, distance)) {
                Some(known) => known.add(&rate),
                None => _ = rates.insert((op, class, distance), rate),
            }
        });
    }
    rates.into_values().collect()
}
