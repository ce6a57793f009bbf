//! Distributed locks over all PEs: a lock is the same object on each.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::symbol::Symbol;
use crate::model::Pe;
use crate::tables::Lock;

/// A lock: (0 heap, 1 static; offset); `None` stands for those that found no room.
pub type LockKey = Option<(u8, u64)>;

/// A lock over all PEs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockSum {
    /// Sums; [`Lock::max_held_ns`] is the longest of all.
    pub all: Lock,
    /// PEs that took it.
    pub pes: u64,
    /// Where its name is found, as the first such PE has it.
    pub symbol: Option<Symbol>,
}

impl LockSum {
    fn of(pe: &Pe, lock: &Lock) -> LockSum {
        let symbol = lock.object.and_then(|object| Symbol::of(pe, object));
        LockSum { all: *lock, pes: 1, symbol }
    }

    fn add(&mut self, other: LockSum) {
        let (all, more) = (&mut self.all, &other.all);
        all.taken = all.taken.saturating_add(more.taken);
        all.contended = all.contended.saturating_add(more.contended);
        all.waited_ns = all.waited_ns.saturating_add(more.waited_ns);
        all.held_ns = all.held_ns.saturating_add(more.held_ns);
        all.max_held_ns = all.max_held_ns.max(more.max_held_ns);
        all.handovers = all.handovers.saturating_add(more.handovers);
        all.handover_ns = all.handover_ns.saturating_add(more.handover_ns);
        self.pes += other.pes;
        let first = |symbol: &Option<Symbol>| symbol.as_ref().map_or(u32::MAX, |symbol| symbol.pe);
        if first(&other.symbol) < first(&self.symbol) {
            self.symbol = other.symbol;
        }
    }
}

/// By lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Locks(BTreeMap<LockKey, LockSum>);

impl Locks {
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        pe.tables.locks.iter().for_each(|lock| self.put(plan, lock.object, LockSum::of(pe, lock)));
    }

    /// Beyond the limit, the locks with the highest addresses are one row.
    fn put(&mut self, plan: &Plan, key: LockKey, sum: LockSum) {
        match self.0.get_mut(&key) {
            Some(known) => known.add(sum),
            None => drop(self.0.insert(key, sum)),
        }
        while self.0.len() > plan.limits.groups
            && let Some((_, last)) = self.0.pop_last()
        {
            let rest = self.0.entry(None).or_default();
            rest.add(LockSum { symbol: None, ..last });
        }
    }

    pub(super) fn join(&mut self, plan: &Plan, other: Locks) {
        other.0.into_iter().for_each(|(key, sum)| self.put(plan, key, sum));
    }

    /// Those that were waited for longest first.
    pub(super) fn finish(self) -> Vec<(LockKey, LockSum)> {
        let mut list: Vec<(LockKey, LockSum)> = self.0.into_iter().collect();
        list.sort_by(|a, b| b.1.all.waited_ns.cmp(&a.1.all.waited_ns).then_with(|| a.0.cmp(&b.0)));
        list
    }
}
