//! Distributed locks over all PEs: a lock is the same object on each.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::rings::{Rings, may_have_held, open_wait};
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
    /// PEs that had asked for it and not got it when they ended.
    pub waiting: u64,
    /// PEs that may have had it then, and the first of them.
    pub(super) holders: (u64, u32),
    /// Where its name is found, as the first such PE has it.
    pub symbol: Option<Symbol>,
}

impl LockSum {
    fn of(pe: &Pe, lock: &Lock) -> LockSum {
        let symbol = lock.object.and_then(|object| Symbol::of(pe, object));
        let is_held = u64::from(may_have_held(pe, lock));
        let is_waited_for = lock.object.is_some() && open_wait(pe) == lock.object;
        LockSum {
            all: *lock,
            pes: u64::from(lock.taken > 0),
            waiting: is_waited_for.into(),
            holders: (is_held, if is_held > 0 { pe.pe } else { u32::MAX }),
            symbol,
        }
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
        self.waiting += other.waiting;
        self.holders = (self.holders.0 + other.holders.0, self.holders.1.min(other.holders.1));
        let first = |symbol: &Option<Symbol>| symbol.as_ref().map_or(u32::MAX, |symbol| symbol.pe);
        if first(&other.symbol) < first(&self.symbol) {
            self.symbol = other.symbol;
        }
    }
}

/// By lock; and which lock PEs were waiting for when they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Locks(BTreeMap<LockKey, LockSum>, BTreeMap<u32, LockKey>);

impl Locks {
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        pe.tables.locks.iter().for_each(|lock| self.put(plan, lock.object, LockSum::of(pe, lock)));
        self.1.extend(open_wait(pe).map(|lock| (pe.pe, Some(lock))));
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
        self.1.extend(other.1);
    }

    /// Those that were waited for longest first; and who waits for whom in a ring.
    pub(super) fn finish(self) -> (Vec<(LockKey, LockSum)>, Rings) {
        let holder = |lock: &LockKey| {
            // Where several may have it, nobody knows which.
            self.0.get(lock).map(|sum| sum.holders).filter(|(count, _)| *count == 1).map(|(_, pe)| pe)
        };
        let rings = Rings::find(self.1.iter().filter_map(|(pe, lock)| Some((*pe, holder(lock)?))).collect());
        let mut list: Vec<(LockKey, LockSum)> = self.0.into_iter().collect();
        list.sort_by(|a, b| b.1.all.waited_ns.cmp(&a.1.all.waited_ns).then_with(|| a.0.cmp(&b.0)));
        (list, rings)
    }
}
