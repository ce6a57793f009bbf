//! Routines, summed over PEs.

use std::collections::HashMap;

use super::exact::Exact;
use super::sites::more;
use crate::histogram::{BUCKETS, Histogram};
use crate::model::{Pe, Routine};

#[derive(Debug, Default)]
pub(super) struct Routines(HashMap<String, Sum>);

#[derive(Debug)]
struct Sum {
    /// Without latencies and variance.
    routine: Routine,
    latency: Vec<u64>,
    variance: Exact,
    /// Most time of a PE, and the first such PE.
    most: (u64, u32),
    /// Where it appeared first: the PE, and the place there.
    first: (u32, u32),
}

impl Sum {
    fn new(routine: &Routine, first: (u32, u32)) -> Sum {
        let routine = Routine::new(&routine.name, routine.class);
        Sum { routine, latency: vec![0; BUCKETS], variance: Exact::default(), most: (0, first.0), first }
    }

    fn add(&mut self, routine: &Routine, first: (u32, u32)) {
        for &(bucket, count) in routine.latency.counts() {
            let place = &mut self.latency[usize::from(bucket)];
            *place = place.saturating_add(count);
        }
        self.routine.merge_but_latency(routine);
        self.first = self.first.min(first);
    }
}

impl Routines {
    pub(super) fn add(&mut self, pe: &Pe) {
        for (at, routine) in pe.routines.iter().enumerate() {
            let first = (pe.pe, at as u32);
            let sum = match self.0.get_mut(&routine.name) {
                Some(sum) => sum,
                None => self.0.entry(routine.name.clone()).or_insert_with(|| Sum::new(routine, first)),
            };
            sum.add(routine, first);
            sum.most = more(sum.most, (routine.spent_ns(), pe.pe));
            sum.variance.add_f64(routine.total_variance);
        }
    }

    pub(super) fn join(&mut self, other: Routines) {
        for (name, from) in other.0 {
            let Some(sum) = self.0.get_mut(&name) else {
                self.0.insert(name, from);
                continue;
            };
            sum.add(&from.routine, from.first);
            sum.most = more(sum.most, from.most);
            sum.variance.add(from.variance);
            sum.latency.iter_mut().zip(from.latency).for_each(|(to, from)| *to = to.saturating_add(from));
        }
    }

    /// In the order of first appearance, with the most time of a PE and the first such PE.
    pub(super) fn finish(self) -> (Vec<Routine>, Vec<(u64, u32)>) {
        let mut sums: Vec<Sum> = self.0.into_values().collect();
        sums.sort_by_key(|sum| sum.first);
        let finish = |sum: Sum| {
            let latency = Histogram::from_counts((0..).zip(sum.latency));
            (Routine { latency, total_variance: sum.variance.value(), ..sum.routine }, sum.most)
        };
        sums.into_iter().map(finish).unzip()
    }
}
