//! Contexts and teams over all PEs, and the numbers of the network.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::sites::more;
use crate::model::Pe;
use crate::tables::{Context, TeamKey};

/// Teams that have no row of their own: before all others.
const OTHER_TEAMS: TeamKey = (0, i32::MIN, 0, 0);

/// Collectives of a team, over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TeamSum {
    /// PEs that called them.
    pub pes: u64,
    /// Barriers, syncs and collectives.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Time in them in nanoseconds.
    pub ns: u64,
}

/// A number of the network, over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkSum {
    /// Sum.
    pub total: u64,
    /// Largest value, and the first PE that has it.
    pub most: (u64, u32),
    /// PEs.
    pub pes: u64,
}

/// A context: handle and team.
pub type ContextKey = (u64, Option<TeamKey>);

/// Routine, and the algorithm that its calls have taken.
pub type AlgorithmKey = (String, String);

#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) contexts: BTreeMap<ContextKey, (u64, Context)>,
    pub(super) teams: BTreeMap<TeamKey, TeamSum>,
    pub(super) network: BTreeMap<String, NetworkSum>,
    pub(super) algorithms: BTreeMap<AlgorithmKey, u64>,
}

impl Groups {
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        for context in &pe.tables.contexts {
            self.context((context.handle, context.team), 1, context);
        }
        for team in &pe.tables.teams {
            self.team(team.key(), TeamSum { pes: 1, calls: team.calls, bytes: team.bytes, ns: team.ns });
        }
        for (name, value) in &pe.tables.network {
            self.number(name, NetworkSum { total: *value, most: (*value, pe.pe), pes: 1 });
        }
        for taken in &pe.tables.algorithms {
            self.algorithm((taken.routine.clone(), taken.name.clone()), taken.calls);
        }
        self.cut(plan.limits.groups);
    }

    pub(super) fn join(&mut self, plan: &Plan, other: Groups) {
        other.contexts.iter().for_each(|(key, (pes, context))| self.context(*key, *pes, context));
        other.teams.iter().for_each(|(key, sum)| self.team(*key, *sum));
        other.network.iter().for_each(|(name, sum)| self.number(name, *sum));
        other.algorithms.into_iter().for_each(|(key, calls)| self.algorithm(key, calls));
        self.cut(plan.limits.groups);
    }

    /// Keeps the first ones; the rows of contexts and teams that found no room in a PE's tables take what is left out.
    fn cut(&mut self, most: usize) {
        while self.contexts.len() > most {
            let Some((_, (pes, context))) = self.contexts.pop_last() else { break };
            self.context((0, None), pes, &context);
        }
        while self.teams.len() > most {
            let Some((_, sum)) = self.teams.pop_last() else { break };
            self.team(OTHER_TEAMS, sum);
        }
    }

    fn context(&mut self, key: ContextKey, pes: u64, context: &Context) {
        let sum = self.contexts.entry(key).or_default();
        sum.0 += pes;
        sum.1.put.add(context.put);
        sum.1.get.add(context.get);
        sum.1.amo.add(context.amo);
        sum.1.orders = sum.1.orders.saturating_add(context.orders);
    }

    fn team(&mut self, key: TeamKey, other: TeamSum) {
        let sum = self.teams.entry(key).or_default();
        sum.pes += other.pes;
        sum.calls = sum.calls.saturating_add(other.calls);
        sum.bytes = sum.bytes.saturating_add(other.bytes);
        sum.ns = sum.ns.saturating_add(other.ns);
    }

    fn algorithm(&mut self, key: AlgorithmKey, calls: u64) {
        let sum = self.algorithms.entry(key).or_default();
        *sum = sum.saturating_add(calls);
    }

    fn number(&mut self, name: &str, other: NetworkSum) {
        let Some(sum) = self.network.get_mut(name) else {
            self.network.insert(name.to_owned(), other);
            return;
        };
        sum.total = sum.total.saturating_add(other.total);
        sum.most = more(sum.most, other.most);
        sum.pes += other.pes;
    }
}
