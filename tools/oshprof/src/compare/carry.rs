//! Counts of a program over several commits: what later ones are held against.

use std::collections::{BTreeMap, BTreeSet};

use super::Range;
use super::asking::Sample;
use super::counts::paired;
use super::run::Run;
use super::side::{Group, Side, Site, group};

/// Names of the kinds of [`Run::pairs`], as changes of pairs of PEs have them.
pub const KINDS: [&str; Run::KINDS] = ["put", "get", "amo"];

/// Runs of one commit that were stored one by one, as one side: what differs between them varies.
pub fn join(one: &Side, other: &Side) -> Side {
    let mut joined = Builder::new(one, other);
    for (a, b) in paired(one, other) {
        joined.site(a, b, range(a).or(&range(b)));
    }
    joined.tables(one, other, |_, a, b| a.or(b));
    let totals = both_known(one, other).map(|op| (op.clone(), total(one, &op).or(&total(other, &op))));
    joined.side.totals = totals.collect();
    joined.side.runs = one.runs + other.runs;
    joined.side
}

/// What comes after these sides: of each count what it was when it last was the same in all runs, and the routines of
/// which that is the earlier side. Of the routines in `told` it is the later one in any case.
pub fn carry(old: &Side, now: &Side, told: &BTreeSet<String>) -> (Side, BTreeSet<String>) {
    let mut kept = BTreeSet::new();
    let mut carried = Builder::new(old, now);
    let mut newer = |op: &str, before: &Range, after: &Range| {
        if told.contains(op) || before == after || now.is_stable(op, after) {
            *after
        } else if old.is_stable(op, before) {
            kept.insert(op.to_owned());
            *before
        } else {
            before.or(after)
        }
    };
    for (a, b) in paired(old, now) {
        let value = newer(b.or(a).map_or("", op), &range(a), &range(b));
        carried.site(a, b, value);
    }
    carried.tables(old, now, &mut newer);
    let known: Vec<String> = both_known(old, now).collect();
    let mut totals = now.totals.clone();
    for op in known {
        let value = newer(&op, &total(old, &op), &total(now, &op));
        totals.insert(op, value);
    }
    carried.side.totals = totals;
    // What is kept was the same in as many runs as there were then.
    carried.side.runs = if kept.is_empty() { now.runs } else { now.runs.max(old.runs) };
    (carried.side, kept)
}

/// All that counts of routines that vary were since they did not: what later ones are held against, so that no value
/// between others is told.
pub fn widen(
    seen: &Side,
    now: &Side,
    told: &BTreeSet<String>,
    varies: impl Fn(&str) -> bool,
) -> (Side, BTreeSet<String>) {
    let sample = Sample::of(seen, now);
    let dealt: BTreeSet<&str> =
        [seen, now].into_iter().flat_map(|side| &side.sites).filter(|site| site.is_dealt).map(op).collect();
    let mut varying = BTreeSet::new();
    let mut wider = |op: &str, before: &Range, after: &Range| {
        let is_settled = now.is_stable(op, after) && !varies(op) && !dealt.contains(op);
        if told.contains(op) || before == after || is_settled {
            return *after;
        }
        varying.insert(op.to_owned());
        if sample.is_distinct(before, after) { *before } else { before.or(after) }
    };
    let mut widened = Builder::new(seen, now);
    for (a, b) in paired(seen, now) {
        let value = wider(b.or(a).map_or("", op), &range(a), &range(b));
        widened.site(a, b, value);
    }
    widened.tables(seen, now, &mut wider);
    let mut totals = now.totals.clone();
    for op in both_known(seen, now) {
        let value = wider(&op, &total(seen, &op), &total(now, &op));
        totals.insert(op, value);
    }
    widened.side.totals = totals;
    widened.side.runs = seen.runs.max(now.runs);
    (widened.side, varying)
}

fn op(site: &Site) -> &str {
    &site.key.op
}

fn range(site: Option<&Site>) -> Range {
    site.map(|site| site.range).unwrap_or_default()
}

fn total(side: &Side, op: &str) -> Range {
    side.totals.get(op).copied().unwrap_or_default()
}

/// Routines of which both sides know the calls in all.
fn both_known<'s>(one: &'s Side, other: &'s Side) -> impl Iterator<Item = String> + use<'s> {
    let all: BTreeSet<&String> = one.totals.keys().chain(other.totals.keys()).collect();
    all.into_iter().filter(|op| one.knows_total(op) && other.knows_total(op)).cloned()
}

/// A side that is made of two.
struct Builder {
    side: Side,
    last: BTreeMap<Group, u32>,
}

impl Builder {
    fn new(old: &Side, now: &Side) -> Builder {
        let shape = if now.shape.npes > 0 { &now.shape } else { &old.shape };
        let side = Side { shape: shape.clone(), algorithms: now.algorithms.clone(), ..Side::default() };
        Builder { side, last: BTreeMap::new() }
    }

    /// A site of both; one without calls is none.
    fn site(&mut self, old: Option<&Site>, now: Option<&Site>, range: Range) {
        let Some(site) = now.or(old).filter(|_| range != Range::default()) else { return };
        let ordinal = self.last.entry(group(&site.key)).or_default();
        *ordinal += 1;
        let is_dealt = [old, now].into_iter().flatten().any(|site| site.is_dealt);
        self.side.sites.push(Site { key: site.key.clone(), ordinal: *ordinal, range, is_dealt });
    }

    /// What no site tells.
    fn tables(&mut self, old: &Side, now: &Side, mut of: impl FnMut(&str, &Range, &Range) -> Range) {
        self.side.sizes = zipped(&old.sizes, &now.sizes, |key, a, b| of(&key.0, a, b));
        self.side.errors = zipped(&old.errors, &now.errors, |op, a, b| of(op, a, b));
        self.side.pairs = zipped(&old.pairs, &now.pairs, |key, a, b| {
            of(KINDS.get(usize::from(key.0)).copied().unwrap_or_default(), a, b)
        });
    }
}

/// A table of the keys of both.
fn zipped<K: Ord + Clone>(
    old: &BTreeMap<K, Range>,
    now: &BTreeMap<K, Range>,
    mut of: impl FnMut(&K, &Range, &Range) -> Range,
) -> BTreeMap<K, Range> {
    let none = Range::default();
    let keys: BTreeSet<&K> = old.keys().chain(now.keys()).collect();
    let row = |key: &K| (key.clone(), of(key, old.get(key).unwrap_or(&none), now.get(key).unwrap_or(&none)));
    keys.into_iter().map(row).filter(|(_, range)| *range != none).collect()
}
