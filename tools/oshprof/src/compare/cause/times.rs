//! What PEs do and how long it takes them, before and now.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_profile::op::{Class, class_of, meets};

use crate::compare::counts::paired;
use crate::compare::run::{Run, SiteKey};
use crate::compare::side::{Side, Site};

/// One side's means over its runs, by row and PE.
#[derive(Default)]
pub struct Times {
    /// Calls, bytes and nanoseconds, by row and PE.
    pub cells: BTreeMap<(usize, u32), (f64, f64, f64)>,
    /// Nanoseconds outside the library, by region and PE.
    pub own: BTreeMap<(String, u32), f64>,
    /// What others lost in a row's meetings because this PE came last.
    pub late: BTreeMap<(usize, u32), f64>,
    /// Who stores to whom: pairs of PEs.
    pub writes: BTreeSet<(u32, u32)>,
}

/// Which row a site of each side belongs to.
pub struct Rows<'s> {
    /// Sites that correspond, before and now.
    pub pairs: Vec<(Option<&'s Site>, Option<&'s Site>)>,
    of: [BTreeMap<&'s SiteKey, usize>; 2],
}

impl<'s> Rows<'s> {
    /// All sites of both sides.
    pub fn new(base: &'s Side, new: &'s Side) -> Rows<'s> {
        let pairs = with_moved(paired(base, new));
        let mut of = [BTreeMap::new(), BTreeMap::new()];
        for (at, (old, now)) in pairs.iter().enumerate() {
            for (side, site) in of.iter_mut().zip([old, now]) {
                site.map(|site| side.insert(&site.key, at));
            }
        }
        Rows { pairs, of }
    }

    /// The site of a row.
    pub fn site(&self, row: usize) -> Option<&SiteKey> {
        let (old, now) = self.pairs.get(row)?;
        now.or(*old).map(|site| &site.key)
    }

    /// What its routine is.
    pub fn class(&self, row: usize) -> Option<Class> {
        self.site(row).and_then(|key| class_of(&key.op))
    }

    /// Whether all PEs of a team meet there.
    pub fn is_meeting(&self, row: usize) -> bool {
        self.site(row).is_some_and(|key| meets(&key.op))
    }

    /// Whether a PE waits there for what another stores.
    pub fn is_wait(&self, row: usize) -> bool {
        self.class(row) == Some(Class::Wait)
    }

    /// Means over the runs of a side.
    pub fn times(&self, side: usize, runs: &[&Run]) -> Times {
        let (mut times, share) = (Times::default(), 1.0 / runs.len().max(1) as f64);
        for run in runs {
            for ((number, pe), cell) in &run.cells {
                let Some(&row) = self.of[side].get(&run.keys[*number]) else { continue };
                let sum = times.cells.entry((row, *pe)).or_default();
                let amount = cell.amount;
                sum.0 += share * amount.calls as f64;
                sum.1 += share * amount.bytes as f64;
                sum.2 += share * cell.ns as f64;
            }
            for (key, ns) in &run.own {
                *times.own.entry(key.clone()).or_default() += share * *ns as f64;
            }
            let stores = run.pairs.keys().filter(|(kind, _, to)| *kind != Run::GETS && *to != u32::MAX);
            times.writes.extend(stores.map(|(_, from, to)| (*from, *to)));
            for ((key, pe), (_, lost)) in &run.late {
                let Some(&row) = self.of[side].get(key) else { continue };
                *times.late.entry((row, *pe)).or_default() += share * *lost as f64;
            }
        }
        times
    }
}

/// Two sites, of which one may be missing.
type Pair<'s> = (Option<&'s Site>, Option<&'s Site>);

/// Puts together a site that is gone and one that is new where the same is called from there: a function that has
/// another name takes no time away, and brings none.
fn with_moved<'s>(pairs: Vec<Pair<'s>>) -> Vec<Pair<'s>> {
    let (whole, parts): (Vec<Pair<'s>>, Vec<Pair<'s>>) =
        pairs.into_iter().partition(|(old, now)| old.is_some() && now.is_some());
    let gone: Vec<&Site> = parts.iter().filter_map(|(old, _)| *old).collect();
    let mut come: Vec<&Site> = parts.iter().filter_map(|(_, now)| *now).collect();
    let mut joined = whole;
    for old in gone {
        let is_same = |now: &&Site| now.key.op == old.key.op && now.range.overlaps(&old.range);
        let in_region = come.iter().position(|now| is_same(now) && now.key.region == old.key.region);
        let found = in_region.or_else(|| come.iter().position(is_same));
        joined.push((Some(old), found.map(|at| come.remove(at))));
    }
    joined.extend(come.into_iter().map(|now| (None, Some(now))));
    joined
}

/// Something a PE does: calls from a site, or time outside the library in a region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// Calls from the site of this row.
    Row(usize),
    /// Time outside the library in this region.
    Own(String),
}

/// What a PE takes longer for a deed than before.
pub fn difference(deed: &Deed, old: &Times, now: &Times, pe: u32) -> f64 {
    let of = |times: &Times| match deed {
        Deed::Row(row) => times.cells.get(&(*row, pe)).map_or(0.0, |cell| cell.2),
        Deed::Own(region) => times.own.get(&(region.clone(), pe)).copied().unwrap_or(0.0),
    };
    of(now) - of(old)
}
