//! Reading who called the functions that call the library.

use std::sync::atomic::Ordering::Relaxed;

use super::tables::written;
use crate::op;
use crate::order;
use crate::segment::Segment;
use crate::segment::callers::DEPTH;
use crate::segment::layout::Slot;
use crate::segment::sites::split_key;
use crate::tables::Callers;

/// Reads the ways to call sites of all threads of a PE.
pub(crate) fn take<'a>(segment: &Segment, slots: impl Iterator<Item = &'a Slot>) -> Vec<Callers> {
    let mut sums: Vec<((u64, [u64; DEPTH]), u64)> = Vec::new();
    for slot in slots {
        written(segment, &slot.tables.callers, |_, row| {
            let (key, times) = (row.key.load(Relaxed), row.times.load(Relaxed));
            if key != 0 && times > 0 {
                sums.push(((key, row.returns.each_ref().map(|word| word.load(Relaxed))), times));
            }
        });
    }
    order::merge_by_key(&mut sums, |(way, _)| *way, |(_, sum), (_, more)| *sum = sum.saturating_add(*more));
    let callers = |((key, returns), times): ((u64, [u64; DEPTH]), u64)| {
        let (address, op, region) = split_key(key);
        let routine = op::get(op)?.name().to_owned();
        let returns = returns.into_iter().filter(|&address| address != 0).collect();
        Some(Callers { address, routine, region, returns, times })
    };
    sums.into_iter().filter_map(callers).collect()
}
