//! Addresses that short calls go to, over all PEs: an object has the same offset on each.

use std::collections::BTreeMap;

use super::symbol::Symbol;
use crate::model::Pe;
use crate::segment::lines::line_of;
use crate::tables::HotLine;

/// Rows that are kept.
const MOST: usize = 4096;

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

/// Peer, kind of memory, line, routine.
type Key = (u32, u8, u64, String);

/// By line and routine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Addresses(BTreeMap<Key, AddressSum>);

impl Addresses {
    pub(super) fn add(&mut self, pe: &Pe) {
        for line in &pe.tables.lines {
            let HotLine { peer, object, routine, calls, ns } = line.clone();
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
