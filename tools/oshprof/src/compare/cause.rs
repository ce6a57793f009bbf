//! The difference in time, divided up so that the parts add up to it.
//!
//! The run of a PE is the time outside the library, by region, and the time in calls, by site. The difference of that, summed
//! over PEs, is divided up by site; what PEs lost by waiting for one that came late is taken from the barrier or
//! collective where they waited and charged to that PE, there to what it took longer for than the others did.
//!
//! The difference of a site is `count + cost + mix`: calls that were added at the old mean, calls of each size at their new
//! mean less their old one, and the rest, which comes from other shares of the sizes.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_profile::op::Class;
use pellucid_profile::size::size_class;

use super::counts::paired;
use super::run::{Run, SiteKey, class_of};
use super::side::{Side, Site};
use crate::stats::median;

/// Calls of one size and their time.
pub type Sized = (f64, f64);

/// `count`, `cost` and `mix`, which add up to the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// By another number of calls.
    pub count: f64,
    /// By another time of a call.
    pub cost: f64,
    /// By other shares of the sizes.
    pub mix: f64,
}

impl Parts {
    /// The difference.
    pub fn sum(&self) -> f64 {
        self.count + self.cost + self.mix
    }

    fn add(&mut self, other: Parts) {
        self.count += other.count;
        self.cost += other.cost;
        self.mix += other.mix;
    }
}

/// Divides up the difference of a site: calls and nanoseconds by size class, before and now.
pub fn parts(base: &BTreeMap<usize, Sized>, new: &BTreeMap<usize, Sized>) -> Parts {
    let all =
        |table: &BTreeMap<usize, Sized>| table.values().fold((0.0, 0.0), |(n, t), (calls, ns)| (n + calls, t + ns));
    let ((calls, ns), (new_calls, new_ns)) = (all(base), all(new));
    let difference = new_ns - ns;
    if calls <= 0.0 {
        // Calls that were not there have no old mean.
        return Parts { count: difference, ..Parts::default() };
    }
    let count = (new_calls - calls) * (ns / calls);
    let cost_of = |(size, (n, t)): (&usize, &Sized)| {
        base.get(size).filter(|(old, _)| *old > 0.0 && *n > 0.0).map_or(0.0, |(old, time)| t - n * (time / old))
    };
    let cost: f64 = new.iter().map(cost_of).sum();
    Parts { count, cost, mix: difference - count - cost }
}

/// What a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Calls from a site, without what others waited for.
    Call,
    /// Time outside the library in a region.
    Own,
    /// What one PE did, and the time that others waited for it.
    Late,
    /// The time that others waited for a PE which did nothing longer than they did.
    Wait,
}

/// One part of the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// What it is.
    pub what: What,
    /// The routine; empty for time outside the library.
    pub op: String,
    /// Function.
    pub site: String,
    /// Function, file and line.
    pub shown: String,
    /// Region; empty outside of all.
    pub region: String,
    /// The PE that came late.
    pub late_pe: Option<u32>,
    /// How the difference divides up.
    pub parts: Parts,
    /// The part of it that others waited.
    pub waited_ns: f64,
    /// Where they waited most: routine and place.
    pub waited_at: Option<(String, String)>,
    /// The share of pairs in which it has this sign.
    pub agree: f64,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// Largest first.
    pub rows: Vec<Cause>,
    /// The sum of those that are not shown, as their sign differs from pair to pair or they are small.
    pub others_ns: f64,
    /// The difference: nanoseconds of all PEs together.
    pub delta_ns: f64,
    /// The same of the base.
    pub base_ns: f64,
}

/// Rows that are shown at most.
const MOST: usize = 50;
/// What a row must have of the largest difference to be shown.
const LEAST_SHARE: f64 = 0.002;
/// In how many of the pairs the sign has to be the same.
const AGREE: f64 = 0.8;
/// Pairs from which on that is asked for.
const ENOUGH_PAIRS: usize = 5;

/// One side's means over its runs, by row and PE.
#[derive(Default)]
struct Times {
    /// Calls, bytes and nanoseconds.
    cells: BTreeMap<(usize, u32), (f64, f64, f64)>,
    own: BTreeMap<(String, u32), f64>,
    late: BTreeMap<(usize, u32), f64>,
}

/// Which row a site of each side belongs to.
struct Rows<'s> {
    pairs: Vec<(Option<&'s Site>, Option<&'s Site>)>,
    of: [BTreeMap<&'s SiteKey, usize>; 2],
}

impl<'s> Rows<'s> {
    fn new(base: &'s Side, new: &'s Side) -> Rows<'s> {
        let pairs = paired(base, new);
        let mut of = [BTreeMap::new(), BTreeMap::new()];
        for (at, (old, now)) in pairs.iter().enumerate() {
            for (side, site) in of.iter_mut().zip([old, now]) {
                site.map(|site| side.insert(&site.key, at));
            }
        }
        Rows { pairs, of }
    }

    fn site(&self, row: usize) -> Option<&SiteKey> {
        let (old, now) = self.pairs.get(row)?;
        now.or(*old).map(|site| &site.key)
    }

    fn class(&self, row: usize) -> Option<Class> {
        self.site(row).and_then(|key| class_of(&key.op))
    }

    /// Means over the runs of a side.
    fn times(&self, side: usize, runs: &[&Run]) -> Times {
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
            for ((key, pe), (_, lost)) in &run.late {
                let Some(&row) = self.of[side].get(key) else { continue };
                *times.late.entry((row, *pe)).or_default() += share * *lost as f64;
            }
        }
        times
    }
}

/// Something a PE does: calls from a site, or time outside the library in a region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Row(usize),
    Own(String),
}

/// Finds the causes of the difference between the runs of two sides; those with the same place are pairs.
pub fn find(base_runs: &[&Run], new_runs: &[&Run], base: &Side, new: &Side) -> Causes {
    let rows = Rows::new(base, new);
    let (old, now) = (rows.times(0, base_runs), rows.times(1, new_runs));
    let pes: BTreeSet<u32> = old.own.keys().chain(now.own.keys()).map(|(_, pe)| *pe).collect();
    let mut found = divide(&rows, &old, &now, &pes);
    let pairs: Vec<(Times, Times)> =
        base_runs.iter().zip(new_runs).map(|(base, new)| (rows.times(0, &[*base]), rows.times(1, &[*new]))).collect();
    let sum = |times: &Times| -> f64 {
        times.cells.values().map(|cell| cell.2).sum::<f64>() + times.own.values().sum::<f64>()
    };
    for (deed, cause) in &mut found {
        let signs = pairs.iter().map(|(old, now)| deed_difference(deed, cause, &rows, old, now, &pes));
        let same = signs.filter(|d| d.signum() == cause.parts.sum().signum()).count();
        cause.agree = same as f64 / pairs.len().max(1) as f64;
    }
    let delta_ns = sum(&now) - sum(&old);
    let largest = found.iter().map(|(_, cause)| cause.parts.sum().abs()).fold(0.0, f64::max);
    let mut causes: Vec<Cause> = found.into_iter().map(|(_, cause)| cause).collect();
    causes.sort_by(|a, b| b.parts.sum().abs().total_cmp(&a.parts.sum().abs()));
    causes.retain(|cause| {
        cause.parts.sum().abs() > LEAST_SHARE * largest && (pairs.len() < ENOUGH_PAIRS || cause.agree >= AGREE)
    });
    causes.truncate(MOST);
    let shown: f64 = causes.iter().map(|cause| cause.parts.sum()).sum();
    Causes { rows: causes, others_ns: delta_ns - shown, delta_ns, base_ns: sum(&old) }
}

/// What a PE, or all of them, took longer for a deed.
fn deed_difference(deed: &Deed, cause: &Cause, rows: &Rows<'_>, old: &Times, now: &Times, pes: &BTreeSet<u32>) -> f64 {
    let of = |pe: u32| match (cause.what, deed) {
        (What::Wait, Deed::Row(row)) => late(now, *row, pe) - late(old, *row, pe),
        (_, deed) => difference(deed, old, now, pe),
    };
    let meeting = |deed: &Deed| match deed {
        Deed::Row(row) if is_meeting(rows, *row) => {
            pes.iter().map(|&pe| late(now, *row, pe) - late(old, *row, pe)).sum::<f64>()
        }
        _ => 0.0,
    };
    match cause.late_pe {
        Some(pe) => of(pe),
        None => pes.iter().map(|&pe| of(pe)).sum::<f64>() - meeting(deed),
    }
}

fn late(times: &Times, row: usize, pe: u32) -> f64 {
    times.late.get(&(row, pe)).copied().unwrap_or(0.0)
}

fn difference(deed: &Deed, old: &Times, now: &Times, pe: u32) -> f64 {
    let of = |times: &Times| match deed {
        Deed::Row(row) => times.cells.get(&(*row, pe)).map_or(0.0, |cell| cell.2),
        Deed::Own(region) => times.own.get(&(region.clone(), pe)).copied().unwrap_or(0.0),
    };
    of(now) - of(old)
}

fn is_meeting(rows: &Rows<'_>, row: usize) -> bool {
    matches!(rows.class(row), Some(Class::Barrier | Class::Collective))
}

/// Divides up the whole difference; the parts add up to it.
fn divide(rows: &Rows<'_>, old: &Times, now: &Times, pes: &BTreeSet<u32>) -> Vec<(Deed, Cause)> {
    let regions: BTreeSet<&String> = old.own.keys().chain(now.own.keys()).map(|(region, _)| region).collect();
    let mut deeds: Vec<Deed> = (0..rows.pairs.len()).map(Deed::Row).collect();
    deeds.extend(regions.into_iter().map(|region| Deed::Own(region.clone())));
    let mut charges: BTreeMap<(Deed, u32), f64> = BTreeMap::new();
    let mut waits = Vec::new();
    for &pe in pes {
        let at: Vec<(usize, f64)> = (0..rows.pairs.len())
            .map(|row| (row, late(now, row, pe) - late(old, row, pe)))
            .filter(|(_, lost)| *lost != 0.0)
            .collect();
        let lost: f64 = at.iter().map(|(_, lost)| lost).sum();
        // Whoever takes so much longer makes each of the others wait as long at most.
        let others = pes.len().saturating_sub(1) as f64;
        let shares = charged(rows, &deeds, old, now, pes, pe, lost.signum());
        let whole: f64 = shares.iter().map(|(_, excess)| excess).sum();
        let explained = (lost.abs().min(whole.abs() * others)).copysign(lost);
        for (deed, excess) in shares {
            *charges.entry((deed, pe)).or_default() += explained * excess / whole;
        }
        let left = if lost == 0.0 { 1.0 } else { 1.0 - explained / lost };
        waits.extend(at.into_iter().map(|(row, lost)| (row, pe, lost * left)).filter(|(_, _, lost)| *lost != 0.0));
    }
    let mut found = Vec::new();
    for deed in &deeds {
        let alone: Vec<u32> = pes.iter().copied().filter(|&pe| charges.contains_key(&(deed.clone(), pe))).collect();
        let rest: Vec<u32> = pes.iter().copied().filter(|pe| !alone.contains(pe)).collect();
        for pe in alone {
            let waited = charges[&(deed.clone(), pe)];
            found.push((deed.clone(), late_cause(rows, deed, old, now, pe, waited)));
        }
        let mut cause = cause(rows, deed, parts_of(deed, old, now, &rest));
        if let Deed::Row(row) = deed
            && is_meeting(rows, *row)
        {
            // What was lost there is charged elsewhere.
            cause.parts.cost -= pes.iter().map(|&pe| late(now, *row, pe) - late(old, *row, pe)).sum::<f64>();
        }
        found.push((deed.clone(), cause));
    }
    for (row, pe, lost) in waits {
        let deed = Deed::Row(row);
        let cause = cause(rows, &deed, Parts { cost: lost, ..Parts::default() });
        found.push((deed, Cause { what: What::Wait, late_pe: Some(pe), waited_ns: lost, ..cause }));
    }
    found
}

/// What a PE took longer for (or less long) than the others, by how much: the deeds that make it late.
fn charged(
    rows: &Rows<'_>,
    deeds: &[Deed],
    old: &Times,
    now: &Times,
    pes: &BTreeSet<u32>,
    pe: u32,
    sign: f64,
) -> Vec<(Deed, f64)> {
    let mut list: Vec<(Deed, f64)> = Vec::new();
    for deed in deeds {
        if matches!(deed, Deed::Row(row) if is_meeting(rows, *row)) {
            continue;
        }
        let own = difference(deed, old, now, pe);
        let others: Vec<f64> = pes.iter().filter(|&&o| o != pe).map(|&o| difference(deed, old, now, o)).collect();
        let excess = own - median(&others);
        if excess * sign > 0.0 && own * sign > 0.0 {
            list.push((deed.clone(), excess));
        }
    }
    let most = list.iter().map(|(_, excess)| excess.abs()).fold(0.0, f64::max);
    list.retain(|(_, excess)| excess.abs() >= 0.1 * most);
    list
}

/// The parts of a deed over some PEs.
fn parts_of(deed: &Deed, old: &Times, now: &Times, pes: &[u32]) -> Parts {
    let Deed::Row(row) = deed else {
        let cost = pes.iter().map(|&pe| difference(deed, old, now, pe)).sum();
        return Parts { cost, ..Parts::default() };
    };
    let by_size = |times: &Times| {
        let mut sizes: BTreeMap<usize, Sized> = BTreeMap::new();
        for (calls, bytes, ns) in pes.iter().filter_map(|&pe| times.cells.get(&(*row, pe))) {
            let each = if *calls > 0.0 { (bytes / calls).round() as usize } else { 0 };
            let sum = sizes.entry(size_class(each)).or_default();
            *sum = (sum.0 + calls, sum.1 + ns);
        }
        sizes
    };
    parts(&by_size(old), &by_size(now))
}

fn late_cause(rows: &Rows<'_>, deed: &Deed, old: &Times, now: &Times, pe: u32, waited: f64) -> Cause {
    let mut parts = parts_of(deed, old, now, &[pe]);
    // Others waited for the same reason for which it took longer.
    let charge = if parts.count.abs() > parts.cost.abs() {
        Parts { count: waited, ..Parts::default() }
    } else {
        Parts { cost: waited, ..Parts::default() }
    };
    parts.add(charge);
    let lost = |row: usize| (late(now, row, pe) - late(old, row, pe)) * waited.signum();
    let place = (0..rows.pairs.len()).max_by(|&a, &b| lost(a).total_cmp(&lost(b))).and_then(|row| rows.site(row));
    let waited_at = place.map(|key| (key.op.clone(), key.place.shown()));
    Cause { what: What::Late, late_pe: Some(pe), waited_ns: waited, waited_at, ..cause(rows, deed, parts) }
}

fn cause(rows: &Rows<'_>, deed: &Deed, parts: Parts) -> Cause {
    let mut cause = Cause {
        what: What::Call,
        op: String::new(),
        site: String::new(),
        shown: String::new(),
        region: String::new(),
        late_pe: None,
        parts,
        waited_ns: 0.0,
        waited_at: None,
        agree: 1.0,
    };
    match deed {
        Deed::Own(region) => (cause.what, cause.region) = (What::Own, region.clone()),
        Deed::Row(row) => {
            if let Some(key) = rows.site(*row) {
                cause.op = key.op.clone();
                cause.site = key.place.function.clone();
                cause.shown = key.place.shown();
                cause.region = key.region.clone();
            }
        }
    }
    cause
}

#[cfg(test)]
mod tests;
