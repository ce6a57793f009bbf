//! Several runs of one program: what is the same in all of them, and what varies.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_profile::op::{Class, class_of};

use super::run::{Run, Shape, SiteKey};
use super::{Amount, Range, asking};

/// A call site over the runs of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Which one.
    pub key: SiteKey,
    /// Its place among the sites of the same routine, function and region, from 1 on.
    pub ordinal: u32,
    /// Calls and bytes.
    pub range: Range,
    /// Whether two runs differ in the calls of a PE: work that is dealt out as the program runs, whatever all PEs
    /// together come to.
    pub is_dealt: bool,
}

/// The exact counts of a side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// How many runs.
    pub runs: usize,
    /// Their shape.
    pub shape: Shape,
    /// Call sites by routine, function, region and line.
    pub sites: Vec<Site>,
    /// By routine, distance and size class.
    pub sizes: BTreeMap<(String, u8, u8), Range>,
    /// Calls that failed.
    pub errors: BTreeMap<String, Range>,
    /// By kind and pair of PEs.
    pub pairs: BTreeMap<(u8, u32, u32), Range>,
    /// By routine and algorithm; empty where a run does not know them.
    pub algorithms: BTreeMap<(String, String), Range>,
    /// By routine, wherever it is called. Those of a side that an earlier version has stored are not all known.
    pub totals: BTreeMap<String, Range>,
}

/// What a group of sites has in common: routine, function, region.
pub type Group = (String, String, String);

impl Side {
    /// Puts runs together.
    pub fn of(runs: &[&Run]) -> Side {
        let sites = ranges(runs, |run| run.sites.iter().map(|(key, amount)| (key.clone(), *amount)).collect());
        let mut side = Side {
            runs: runs.len(),
            shape: runs.first().map(|run| run.shape.clone()).unwrap_or_default(),
            sites: Vec::new(),
            sizes: ranges(runs, |run| run.sizes.clone()),
            errors: ranges(runs, |run| {
                run.errors.iter().map(|(op, &calls)| (op.clone(), Amount { calls, bytes: 0 })).collect()
            }),
            pairs: ranges(runs, |run| run.pairs.clone()),
            algorithms: ranges(runs, |run| run.algorithms.clone()),
            totals: ranges(runs, totals),
        };
        if runs.iter().any(|run| run.algorithms.is_empty()) {
            side.algorithms.clear();
        }
        let dealt = dealt(runs);
        // Of two calls of one buffer's way one may agree by PE by chance.
        let functions: BTreeSet<(&str, &str)> = dealt.iter().map(function).collect();
        let mut last: BTreeMap<Group, u32> = BTreeMap::new();
        for (key, range) in sites {
            let ordinal = last.entry(group(&key)).or_default();
            *ordinal += 1;
            let is_dealt = is_transfer(&key.op) && functions.contains(&function(&key)) || dealt.contains(&key);
            side.sites.push(Site { key, ordinal: *ordinal, range, is_dealt });
        }
        side
    }

    /// Whether its values are the same in all runs. Of one run nobody knows; what asks whether something has happened,
    /// or may, is taken to vary then.
    pub fn is_stable(&self, op: &str, range: &Range) -> bool {
        range.is_stable() && (self.runs > 1 || !(asking::asks(op) || asking::may_ask(op, range)))
    }

    /// Whether calls of a routine are dealt out among the PEs as the program runs.
    pub fn is_dealt(&self, op: &str) -> bool {
        self.sites.iter().any(|site| site.is_dealt && site.key.op == op)
    }

    /// Whether the calls of a routine in all are known; there may be none.
    pub fn knows_total(&self, op: &str) -> bool {
        self.totals.contains_key(op) || !self.sites.iter().any(|site| site.key.op == op)
    }
}

/// The function that a site is in, and the region.
fn function(key: &SiteKey) -> (&str, &str) {
    (&key.place.function, &key.region)
}

/// Whether a call has one PE as its partner: those of all PEs of a team are not dealt out.
fn is_transfer(op: &str) -> bool {
    class_of(op).is_some_and(|class| matches!(class, Class::Put | Class::Get | Class::Amo | Class::Signal))
}

/// Sites at which PEs have other amounts in one run than in another. A site that a run does not have may have another
/// name there, where lines are lost.
fn dealt(runs: &[&Run]) -> BTreeSet<SiteKey> {
    let by_pe = |run: &Run| -> BTreeMap<(SiteKey, u32), Amount> {
        let cells = run.cells.iter().map(|((at, pe), cell)| ((run.keys[*at].clone(), *pe), cell.amount));
        cells.filter(|(_, amount)| *amount != Amount::default()).collect()
    };
    let Some((first, others)) = runs.split_first() else { return BTreeSet::new() };
    let of_first = by_pe(first);
    let mut dealt = BTreeSet::new();
    for other in others {
        let of_other = by_pe(other);
        let differ = |key: &&(SiteKey, u32)| of_first.get(*key) != of_other.get(*key);
        let differing = of_first.keys().chain(of_other.keys()).filter(differ).map(|(key, _)| key);
        let in_both = |key: &&SiteKey| first.sites.contains_key(*key) && other.sites.contains_key(*key);
        dealt.extend(differing.filter(in_both).cloned());
    }
    dealt
}

/// Calls and bytes of each routine.
fn totals(run: &Run) -> BTreeMap<String, Amount> {
    let mut totals: BTreeMap<String, Amount> = BTreeMap::new();
    for (key, amount) in &run.sites {
        totals.entry(key.op.clone()).or_default().add(*amount);
    }
    totals
}

/// The same of routines whose sites do not vary, from these alone.
pub fn stable_totals(sites: &[Site]) -> BTreeMap<String, Range> {
    let mut totals: BTreeMap<String, Range> = BTreeMap::new();
    for site in sites {
        let total = totals.entry(site.key.op.clone()).or_default();
        total.min.add(site.range.min);
        total.max.add(site.range.max);
    }
    totals.retain(|op, _| sites.iter().filter(|site| site.key.op == *op).all(|site| site.range.is_stable()));
    totals
}

/// What a site is grouped by.
pub fn group(key: &SiteKey) -> Group {
    (key.op.clone(), key.place.function.clone(), key.region.clone())
}

/// The range of every key over all runs; a run that lacks a key has 0 of it.
fn ranges<K: Ord + Clone>(runs: &[&Run], of: impl Fn(&Run) -> BTreeMap<K, Amount>) -> BTreeMap<K, Range> {
    let tables: Vec<BTreeMap<K, Amount>> = runs.iter().map(|run| of(run)).collect();
    let keys: BTreeSet<&K> = tables.iter().flat_map(BTreeMap::keys).collect();
    let range = |key: &K| Range::of(tables.iter().map(|table| table.get(key).copied().unwrap_or_default()));
    keys.into_iter().map(|key| (key.clone(), range(key))).collect()
}

impl Side {
    /// All counts so many times: as if more PEs did the same.
    pub fn scale(&mut self, times: u32) {
        let by = |amount: &mut Amount| {
            amount.calls = amount.calls.saturating_mul(times.into());
            amount.bytes = amount.bytes.saturating_mul(times.into());
        };
        let all = self.sites.iter_mut().map(|site| &mut site.range);
        let tables = self.sizes.values_mut().chain(self.errors.values_mut()).chain(self.totals.values_mut());
        for range in all.chain(tables) {
            by(&mut range.min);
            by(&mut range.max);
        }
        // Who talks to whom, and which algorithm is best, has no meaning among other PEs.
        self.pairs.clear();
        self.algorithms.clear();
    }
}
