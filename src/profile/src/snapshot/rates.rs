//! Reading how fast puts, gets and atomics were.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tables::written;
use crate::op;
use crate::order;
use crate::segment::Segment;
use crate::segment::layout::Slot;
use crate::segment::rates::{NO_ROOM, split};
use crate::tables::Rate;

/// Reads the rows of all threads of a PE.
pub(crate) fn take<'a>(segment: &Segment, slots: impl Iterator<Item = &'a Slot>) -> Vec<Rate> {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let mut rates: Vec<(u64, Rate)> = Vec::new();
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
            rates.push((key, rate));
        });
    }
    order::merge_by_key(&mut rates, |(key, _)| split(*key), |(_, sum), (_, more)| sum.add(more));
    rates.into_iter().map(|(_, rate)| rate).collect()
}
