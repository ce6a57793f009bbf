//! Addresses that short calls go to, over all PEs: an object has the same offset on each.

use std::collections::BTreeMap;

use super::symbol::Symbol;
use crate::model::Pe;
use crate::segment::lines::line_of;
use crate::tables::HotLine;

/// Rows that are kept.
pub(crate) const MOST: usize = 4096;

/// Calls of one routine to one line of a PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressSum {
    /// World number of the PE that has it.
    pub peer: u32,
    /// The object, with the lowest offset in the line that was seen: (0 heap, 1 static; offset).
    pub object: (u8, u64),
    /// C name.
    pub routine: String,
    /// Calls, as far as samples see them.
    pub calls: u64,
    /// Their time in nanoseconds.
    pub ns: u64,
    /// PEs that made them.
    pub pes: u64,
    /// Where the object's name is found.
    pub symbol: Option<Symbol>,
}

impl AddressSum {
    /// Whether these are calls to the same line of the same PE.
    pub fn is_same_line(&self, other: &AddressSum) -> bool {
        line_of(self.peer, self.object) == line_of(other.peer, other.object)
    }
}

/// What of the time of its samples a routine has in its total: a total has no more than what calls take one after
/// another, which samples of calls that overlap exceed.
fn part_of(pe: &Pe, routine: &str) -> f64 {
    let Some(whole) = pe.routines.iter().find(|r| r.name == routine) else { return 1.0 };
    let lines = pe.tables.lines.iter().filter(|line| line.routine == routine).map(|line| line.ns);
    let rates = pe.tables.rates.iter().filter(|rate| rate.routine == routine).map(|rate| rate.ns);
    // Samples of all its words where these are known, and of those that are kept else.
    let samples = lines.fold(0, u64::saturating_add).max(rates.fold(0, u64::saturating_add));
    (whole.total_ns as f64 / samples.max(1) as f64).min(1.0)
}

/// Peer, kind of memory, line, routine.
type Key = (u32, u8, u64, String);

/// By line and routine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Addresses(BTreeMap<Key, AddressSum>);

impl Addresses {
    pub(super) fn add(&mut self, pe: &Pe) {
        // Many lines are of few routines.
        let mut parts: BTreeMap<&str, f64> = BTreeMap::new();
        for line in &pe.tables.lines {
            let part = *parts.entry(&line.routine).or_insert_with(|| part_of(pe, &line.routine));
            let HotLine { peer, object, routine, calls, ns } = line.clone();
            let ns = (ns as f64 * part) as u64;
            self.put(AddressSum { peer, object, routine, calls, ns, pes: 1, symbol: Symbol::of(pe, object) });
        }
    }

    fn put(&mut self, sum: AddressSum) {
        let (peer, kind, line) = line_of(sum.peer, sum.object);
        let key = (peer, kind, line, sum.routine.clone());
        let Some(known) = self.0.get_mut(&key) else {
            self.0.insert(key, sum);
            return;
        };
        known.calls = known.calls.saturating_add(sum.calls);
        known.ns = known.ns.saturating_add(sum.ns);
        known.pes += sum.pes;
        // The lowest offset, and of that the first PE's name.
        let first = |sum: &AddressSum| (sum.object.1, sum.symbol.as_ref().map_or(u32::MAX, |symbol| symbol.pe));
        if first(&sum) < first(known) {
            (known.object, known.symbol) = (sum.object, sum.symbol);
        }
    }

    pub(super) fn join(&mut self, other: Addresses) {
        other.0.into_values().for_each(|sum| self.put(sum));
    }

    /// Those that take most first.
    pub(super) fn finish(self) -> Vec<AddressSum> {
        let mut list: Vec<(Key, AddressSum)> = self.0.into_iter().collect();
        list.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then_with(|| a.0.cmp(&b.0)));
        list.truncate(MOST);
        list.into_iter().map(|(_, sum)| sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Routine;
    use crate::op::Class;
    use crate::tables::Rate;

    #[test]
    fn words_have_no_more_time_than_their_routine() {
        let mut put = Routine::new("shmem_long_put", Class::Put);
        (put.calls[1], put.timed_calls, put.total_ns) = (200, 20, 1380);
        let mut pe = Pe { routines: vec![put], ..Pe::default() };
        let line =
            |address, ns| HotLine { peer: 0, object: (1, address), routine: "shmem_long_put".into(), calls: 100, ns };
        pe.tables.lines = vec![line(0, 820), line(64, 820)];
        let times = |pe: &Pe| {
            let mut addresses = Addresses::default();
            addresses.add(pe);
            addresses.finish().iter().map(|sum| sum.ns).collect::<Vec<_>>()
        };
        assert_eq!(times(&pe), [690, 690]);
        // Where the samples of other words are known, these have their part.
        pe.tables.lines.truncate(1);
        assert_eq!(times(&pe), [820]);
        pe.tables.rates = vec![Rate { routine: "shmem_long_put".into(), ns: 1640, ..Rate::default() }];
        assert_eq!(times(&pe), [690]);
        // What samples do not exceed stays.
        pe.routines[0].total_ns = 2000;
        assert_eq!(times(&pe), [820]);
    }
}
