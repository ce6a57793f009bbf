//! How evenly time is spread over the PEs.

use crate::merge::PeRow;
use crate::op::Class;

/// A kind of time, over the PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// What the time went into.
    pub what: &'static str,
    /// Mean over the PEs in nanoseconds.
    pub mean_ns: f64,
    /// The PE with least, and how much.
    pub min: (u32, u64),
    /// The PE with most, and how much.
    pub max: (u32, u64),
}

impl Balance {
    /// How much longer the longest PE takes than the mean, in percent: what perfect balance would save.
    pub fn imbalance_percent(&self) -> f64 {
        if self.mean_ns > 0.0 { 100.0 * (self.max.1 as f64 / self.mean_ns - 1.0) } else { 0.0 }
    }
}

/// Picks a kind of time out of a PE.
type Pick = fn(&PeRow) -> u64;

/// The kinds of waiting, with their column titles.
pub(super) const WAITING: [(&str, Pick); 4] = [
    ("barriers", |pe| pe.time_ns(|c| c == Class::Barrier)),
    ("waits", |pe| pe.time_ns(|c| c == Class::Wait)),
    ("collectives", |pe| pe.time_ns(|c| c == Class::Collective)),
    ("locks", |pe| pe.time_ns(|c| c == Class::Lock)),
];

/// Each kind of time over the PEs. Kinds that took no time anywhere are left out; empty without PEs.
pub fn balance(pes: &[PeRow]) -> Vec<Balance> {
    let whole: [(&'static str, Pick); 4] = [
        ("run time", PeRow::main_ns),
        ("outside the library", PeRow::outside_ns),
        ("in the library", PeRow::library_ns),
        ("in put, get, atomics", |pe| {
            pe.time_ns(|c| matches!(c, Class::Put | Class::Get | Class::Amo | Class::Signal))
        }),
    ];
    let waiting: [(&'static str, Pick); 4] = [
        ("in barriers", WAITING[0].1),
        ("in waits", WAITING[1].1),
        ("in collectives", WAITING[2].1),
        ("in locks", WAITING[3].1),
    ];
    whole.into_iter().chain(waiting).filter_map(|(what, pick)| balance_of(what, pes, pick)).collect()
}

fn balance_of(what: &'static str, pes: &[PeRow], pick: Pick) -> Option<Balance> {
    let times: Vec<(u32, u64)> = pes.iter().filter(|pe| !pe.incomplete).map(|pe| (pe.pe, pick(pe))).collect();
    let mean_ns = times.iter().map(|&(_, ns)| ns as f64).sum::<f64>() / times.len() as f64;
    let min = times.iter().copied().min_by_key(|&(pe, ns)| (ns, pe))?;
    // The first of equal PEs in both cases.
    let max = times.iter().copied().max_by_key(|&(pe, ns)| (ns, std::cmp::Reverse(pe)))?;
    (max.1 > 0).then_some(Balance { what, mean_ns, min, max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Progress, Routine};

    #[test]
    fn names_the_pes_at_both_ends() {
        let pe = |number, barrier| {
            let mut routine = Routine::new("shmem_barrier_all", Class::Barrier);
            routine.total_ns = barrier;
            let progress = Progress::Finalized;
            PeRow::from(&Pe { pe: number, progress, end_ns: 1000, routines: vec![routine], ..Pe::default() })
        };
        let all = balance(&[pe(0, 100), pe(1, 500), pe(2, 0), pe(3, 200)]);
        let barriers = all.iter().find(|b| b.what == "in barriers").unwrap();
        assert_eq!((barriers.mean_ns, barriers.min, barriers.max), (200.0, (2, 0), (1, 500)));
        assert_eq!(barriers.imbalance_percent(), 150.0);
        let outside = all.iter().find(|b| b.what == "outside the library").unwrap();
        assert_eq!((outside.min, outside.max), ((1, 500), (2, 1000)));
        assert!(all.iter().all(|b| b.what != "in locks"));
        assert!(balance(&[]).is_empty());
    }
}
