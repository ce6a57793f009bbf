//! Reading hardware and software counters.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::tables::written;
use crate::op;
use crate::segment::Segment;
use crate::segment::counters::{COUNTER_MISSING, COUNTER_NONE, COUNTERS, Values};
use crate::segment::layout::{Region, Slot};
use crate::tables::{Counter, CounterRegion, CounterRoutine, Counters};

/// Sums over the threads of a PE.
pub(crate) struct Sums<'a> {
    segment: &'a Segment,
    list: Vec<Counter>,
    regions: Vec<([u64; COUNTERS], [u64; COUNTERS])>,
    routines: Vec<(u64, [u64; COUNTERS])>,
}

fn add(to: &mut [u64; COUNTERS], from: &Values) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from.load(Relaxed));
}

impl<'a> Sums<'a> {
    /// Nothing yet; reads which counters there are.
    pub(crate) fn new(segment: &'a Segment, region: &Region) -> Sums<'a> {
        let heads = region.names.counters.iter().take_while(|head| head.state.load(Acquire) != COUNTER_NONE);
        let get = |word: &AtomicU64| word.load(Relaxed);
        let list = heads.map(|head| Counter {
            name: head.name.get(),
            available: head.state.load(Relaxed) != COUNTER_MISSING,
            remark: head.reason.get(),
            total: get(&head.total),
            wanted_ns: get(&head.wanted_ns),
            counted_ns: get(&head.counted_ns),
        });
        Sums { segment, list: list.collect(), regions: Vec::new(), routines: Vec::new() }
    }

    /// Adds a thread.
    pub(crate) fn add(&mut self, slot: &Slot) {
        if !self.list.iter().any(|counter| counter.available) {
            return;
        }
        let table = &slot.tables.counters;
        self.regions.resize(table.regions.len(), Default::default());
        for (sum, (own, library)) in self.regions.iter_mut().zip(table.regions.iter().zip(&table.library)) {
            add(&mut sum.0, own);
            add(&mut sum.1, library);
        }
        self.routines.resize(op::TOTAL, Default::default());
        let routines = &mut self.routines;
        written(self.segment, &table.calls, |at, calls| {
            let calls = calls.load(Relaxed);
            if let Some(sum) = routines.get_mut(at).filter(|_| calls > 0) {
                sum.0 += calls;
                add(&mut sum.1, &table.ops[at]);
            }
        });
    }

    /// All of it.
    pub(crate) fn finish(mut self) -> Counters {
        let count = self.list.len();
        let cut = |values: &[u64; COUNTERS]| values[..count].to_vec();
        for (at, counter) in self.list.iter_mut().enumerate() {
            // A PE that was killed has not read its total at the end.
            let threads: u64 = self.regions.iter().map(|(own, _)| own[at]).sum();
            counter.total = counter.total.max(threads);
        }
        let regions = self.regions.iter().enumerate().filter(|(_, (own, _))| own.iter().any(|&value| value > 0));
        let routines = self.routines.iter().enumerate().filter(|(_, (calls, _))| *calls > 0);
        Counters {
            regions: regions
                .map(|(number, (own, library))| CounterRegion {
                    region: number as u8,
                    values: cut(own),
                    library: cut(library),
                })
                .collect(),
            routines: routines
                .map(|(op, (calls, values))| CounterRoutine {
                    routine: op::ALL[op].name().to_owned(),
                    calls: *calls,
                    values: cut(values),
                })
                .collect(),
            list: self.list,
        }
    }
}
