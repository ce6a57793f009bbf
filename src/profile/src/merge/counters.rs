//! Hardware and software counters over all PEs.

use std::collections::BTreeMap;

use super::sites::more;
use crate::counters::KNOWN;
use crate::model::Pe;

/// What a value is of, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Around {
    /// The PE from the end of initialization on, all its threads.
    Run,
    /// Timed calls.
    Library,
    /// The run less those.
    Outside,
    /// A region, without inner ones.
    Region,
    /// Timed calls in it.
    RegionLibrary,
    /// Timed calls of a routine.
    Routine,
}

impl Around {
    /// As reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Around::Run => "run",
            Around::Library => "library",
            Around::Outside => "outside",
            Around::Region => "region",
            Around::RegionLibrary => "library in region",
            Around::Routine => "routine",
        }
    }
}

/// A counter around something, over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterSum {
    /// Timed calls, where it is about such.
    pub calls: Option<u64>,
    /// The value.
    pub value: u64,
    /// The largest of a PE, and the first such PE.
    pub most: (u64, u32),
    /// PEs that have the counter.
    pub pes: u64,
}

/// Place in [`KNOWN`], what it is of, and a name.
pub type CounterKey = (usize, Around, String);

/// Counters over all PEs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterSums {
    /// The sums.
    pub sums: BTreeMap<CounterKey, CounterSum>,
    /// What is missing: whether there is something of it, counter, reason; and on how many PEs.
    pub missing: BTreeMap<(bool, String, String), u64>,
    /// Whether some took turns, and are estimates.
    pub is_estimated: bool,
}

impl CounterSums {
    pub(super) fn add(&mut self, pe: &Pe) {
        let counters = &pe.tables.counters;
        for counter in counters.list.iter().filter(|counter| !counter.remark.is_empty()) {
            let key = (counter.available, counter.name.clone(), counter.remark.clone());
            *self.missing.entry(key).or_default() += 1;
        }
        self.is_estimated |= counters.list.iter().any(|counter| counter.counted_ns < counter.wanted_ns);
        for (at, counter) in counters.list.iter().enumerate().filter(|(_, counter)| counter.available) {
            // The same place on every PE, whatever the order there.
            let rank = KNOWN.iter().position(|known| known.name == counter.name).unwrap_or(KNOWN.len());
            let mut put = |around: Around, name: &str, value: u64, calls: Option<u64>| {
                self.put((rank, around, name.to_owned()), CounterSum { calls, value, most: (value, pe.pe), pes: 1 });
            };
            let of = |values: &[u64]| values.get(at).copied().unwrap_or(0);
            let library = counters.regions.iter().map(|region| of(&region.library)).fold(0, u64::saturating_add);
            let calls = counters.routines.iter().map(|routine| routine.calls).fold(0, u64::saturating_add);
            put(Around::Run, "", counter.total, None);
            put(Around::Library, "", library, Some(calls));
            put(Around::Outside, "", counter.total.saturating_sub(library), None);
            for region in counters.regions.iter().filter(|region| region.region > 0) {
                let name = pe.region_name(region.region);
                put(Around::Region, name, of(&region.values), None);
                put(Around::RegionLibrary, name, of(&region.library), None);
            }
            for routine in &counters.routines {
                put(Around::Routine, &routine.routine, of(&routine.values), Some(routine.calls));
            }
        }
    }

    fn put(&mut self, key: CounterKey, other: CounterSum) {
        let sum = self.sums.entry(key).or_insert(CounterSum { most: other.most, ..CounterSum::default() });
        sum.value = sum.value.saturating_add(other.value);
        sum.calls = match (sum.calls, other.calls) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        sum.most = more(sum.most, other.most);
        sum.pes += other.pes;
    }

    pub(super) fn join(&mut self, other: CounterSums) {
        other.sums.into_iter().for_each(|(key, sum)| self.put(key, sum));
        for (key, pes) in other.missing {
            *self.missing.entry(key).or_default() += pes;
        }
        self.is_estimated |= other.is_estimated;
    }
}
