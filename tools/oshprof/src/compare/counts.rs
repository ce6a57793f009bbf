//! The exact layer: what communication changed. No statistics: a count is equal or it is not.

use std::collections::BTreeMap;

use pellucid_profile::op::{Class, class_of};
use pellucid_profile::size::Distance;

mod algorithms;
mod effects;
mod moved;
mod remote;
mod totals;

use super::align::align;
use super::asking::Sample;
use super::carry::KINDS;
use super::side::{Group, Side, Site, group};
use super::{Amount, Range};
pub use effects::set_effects;

/// What a change is to the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// More calls or bytes of its kind of routine.
    Worse,
    /// Fewer.
    Better,
    /// As many in all: another routine of the kind, another size.
    #[default]
    Same,
    /// Of a kind that no other PE takes part in.
    Local,
}

impl Effect {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Worse => "more",
            Effect::Better => "fewer",
            Effect::Same => "same total",
            Effect::Local => "local",
        }
    }
}

/// One difference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// C name of the routine; of pairs `put`, `get` or `amo`.
    pub op: String,
    /// Function that calls it; `None`: the difference is not one of a call site, or is one of all of the routine's.
    pub site: Option<String>,
    /// Number of the call among those of the routine in the function.
    pub ordinal: u32,
    /// Region; empty outside of all.
    pub region: String,
    /// Where it is now, or was.
    pub shown: String,
    /// File and line, where known.
    pub line: Option<(String, u32)>,
    /// Distance, where all calls of the routine have one.
    pub distance: Option<&'static str>,
    /// What it is if not calls and bytes of a call site: `size class`, `pair of PEs`, `errors`, with its name.
    pub detail: Option<String>,
    /// Whether PEs have other counts of it in one run of a side than in another.
    pub is_dealt: bool,
    /// Whether it tells what goes to other hosts, which is more or less also where calls in all are not.
    pub is_remote: bool,
    /// Before.
    pub base: Range,
    /// Now.
    pub new: Range,
    /// What it is to the verdict.
    pub effect: Effect,
    /// The reason for which it is accepted.
    pub accepted: Option<String>,
}

impl Change {
    /// The name by which it can be accepted.
    pub fn key(&self) -> String {
        let place = self.site.as_deref().unwrap_or("*");
        let ordinal = if self.ordinal > 0 { format!("#{}", self.ordinal) } else { String::new() };
        let region = if self.region.is_empty() { String::new() } else { format!("/{}", self.region) };
        format!("{}@{place}{ordinal}{region}", self.op)
    }

    /// Bytes of a call, where there is one size: before and now.
    pub fn bytes_each(&self) -> (Option<u64>, Option<u64>) {
        let each = |range: &Range| {
            let Amount { calls, bytes } = range.max;
            (calls > 0 && bytes > 0 && bytes.is_multiple_of(calls)).then(|| bytes / calls)
        };
        (each(&self.base), each(&self.new))
    }

    /// Calls and bytes that were added; none of what may be as many as before.
    pub fn delta(&self) -> (i64, i64) {
        let (least, most) = self.bounds();
        let less = |a: u64, b: u64| a.wrapping_sub(b) as i64;
        let known = |least: i64, most: i64, added| if least <= 0 && most >= 0 { 0 } else { added };
        (
            known(least.0, most.0, less(self.new.max.calls, self.base.max.calls)),
            known(least.1, most.1, less(self.new.max.bytes, self.base.max.bytes)),
        )
    }

    /// The least and the most calls and bytes that were added, by what the runs of each side have.
    pub fn bounds(&self) -> ((i64, i64), (i64, i64)) {
        let less =
            |a: &Amount, b: &Amount| (a.calls.wrapping_sub(b.calls) as i64, a.bytes.wrapping_sub(b.bytes) as i64);
        (less(&self.new.min, &self.base.max), less(&self.new.max, &self.base.min))
    }

    /// Whether runs of each side agree in it.
    pub fn is_stable(&self) -> bool {
        self.base.is_stable() && self.new.is_stable()
    }
}

/// What became of something that is as often as before.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// From here.
    pub from: Change,
    /// To there.
    pub to: Change,
    /// So many calls
    pub calls: i64,
    /// and bytes.
    pub bytes: i64,
}

/// The differences.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// What is the same in all runs of each side and differs between them, and what varies but lies far apart.
    pub changed: Vec<Change>,
    /// What differs between runs of one side, or may, and whose ranges do not meet, but are near each other.
    pub varying: Vec<Change>,
    /// What is called from elsewhere, as often as before.
    pub moved: Vec<Moved>,
    /// Whether each side has two runs.
    pub certain: bool,
    /// Sites that were compared.
    pub compared: usize,
}

/// Compares two sides.
pub fn compare(base: &Side, new: &Side) -> Counts {
    let mut counts = Counts { certain: base.runs > 1 && new.runs > 1, ..Counts::default() };
    let (mut different, sample) = (Vec::new(), Sample::of(base, new));
    for (old, now) in paired(base, new) {
        counts.compared += 1;
        let change = change(old, now);
        let known = |site: Option<&Site>, side: &Side, range: &Range| {
            site.is_none_or(|site| side.is_stable(&site.key.op, range))
        };
        let stable = known(old, base, &change.base)
            && known(now, new, &change.new)
            && !sample.is_chance(&change.op, &change.base, &change.new, change.is_dealt);
        match stable {
            true if change.base != change.new => different.push(change),
            false if sample.has_changed(&change.op, &change.base, &change.new, change.is_dealt) => {
                different.push(change)
            }
            false if !change.base.overlaps(&change.new) => counts.varying.push(change),
            _ => {}
        }
    }
    let in_all = totals::take(base, new, &mut different, &mut counts.varying);
    moved::take(&mut different, &mut counts.moved);
    different.extend(in_all);
    let mut others = outside_sites(base, new, &different, &counts.varying);
    others.extend(remote::rows(base, new, &different, &others));
    different.extend(others);
    set_effects(&mut different);
    counts.changed = different;
    counts
        .changed
        .iter_mut()
        .chain(&mut counts.varying)
        .for_each(|change| change.distance = distance(base, new, change));
    counts.changed.sort_by_key(rank);
    counts.varying.sort_by_key(rank);
    counts
}

/// Sites of both sides that correspond.
pub fn paired<'s>(base: &'s Side, new: &'s Side) -> Vec<(Option<&'s Site>, Option<&'s Site>)> {
    type Lists<'s> = (Vec<&'s Site>, Vec<&'s Site>);
    let mut groups: BTreeMap<Group, Lists<'s>> = BTreeMap::new();
    base.sites.iter().for_each(|site| groups.entry(group(&site.key)).or_default().0.push(site));
    new.sites.iter().for_each(|site| groups.entry(group(&site.key)).or_default().1.push(site));
    let mut pairs = Vec::new();
    for (old, now) in groups.into_values() {
        let same = |i: usize, j: usize| {
            let (a, b) = (&old[i].range, &now[j].range);
            a == b || (!(a.is_stable() && b.is_stable()) && a.overlaps(b))
        };
        let found = align(old.len(), now.len(), same);
        pairs.extend(found.into_iter().map(|(i, j)| (i.map(|i| old[i]), j.map(|j| now[j]))));
    }
    pairs
}

fn change(old: Option<&Site>, now: Option<&Site>) -> Change {
    let Some(site) = now.or(old) else { return Change::default() };
    let place = &site.key.place;
    Change {
        op: site.key.op.clone(),
        site: place.one_function().map(str::to_owned),
        ordinal: place.one_function().map_or(0, |_| site.ordinal),
        region: site.key.region.clone(),
        shown: place.shown(),
        line: (place.line > 0).then(|| (place.file.clone(), place.line)),
        is_dealt: [old, now].into_iter().flatten().any(|site| site.is_dealt),
        base: old.map(|site| site.range).unwrap_or_default(),
        new: now.map(|site| site.range).unwrap_or_default(),
        ..Change::default()
    }
}

/// What no call site shows: other sizes in as many bytes, other partners, failures.
fn outside_sites(base: &Side, new: &Side, changed: &[Change], varying: &[Change]) -> Vec<Change> {
    let is_told = |op: &str| changed.iter().chain(varying).any(|change| change.op == op);
    let row = |op: &str, detail: String, base: Range, new: Range| Change {
        op: op.to_owned(),
        shown: detail.clone(),
        detail: Some(detail),
        base,
        new,
        ..Change::default()
    };
    // Who does what is dealt out has no other partners by what the program is.
    let sample = Sample::of(base, new);
    let is_dealt = |op: &str| sample.are_few() && (base.is_dealt(op) || new.is_dealt(op));
    let differ = |op: &str, old: &Range, now: &Range| {
        base.is_stable(op, old) && new.is_stable(op, now) || sample.has_changed(op, old, now, false)
    };
    let mut rows = Vec::new();
    for (key, old, now) in both(&base.sizes, &new.sizes) {
        if is_told(&key.0) || is_dealt(&key.0) || !differ(&key.0, &old, &now) {
            continue;
        }
        let (low, high) = pellucid_profile::size::size_bounds(usize::from(key.2));
        let distance = Distance::ALL.get(usize::from(key.1)).map_or("", |distance| distance.name());
        let row = row(&key.0, format!("{low} to {high} bytes, to {distance}"), old, now);
        let is_remote = remote::is_judged(base, new, key.1, &row);
        rows.push(Change { is_remote, ..row });
    }
    for (op, old, now) in both(&base.errors, &new.errors) {
        if old.is_stable() && now.is_stable() || differ(&op, &old, &now) {
            rows.push(row(&op, "calls that failed".to_owned(), old, now));
        }
    }
    let taken = algorithms::changed(&base.algorithms, &new.algorithms);
    rows.extend(taken.into_iter().map(|((op, name), old, now)| row(&op, format!("algorithm {name}"), old, now)));
    // Where no site tells of puts, whom they go to does.
    const CLASSES: [[Class; 2]; KINDS.len()] = [[Class::Put, Class::Signal], [Class::Get; 2], [Class::Amo; 2]];
    let is_of = |change: &Change, classes: &[Class]| class_of(&change.op).is_some_and(|class| classes.contains(&class));
    let ops: std::collections::BTreeSet<&str> =
        base.sites.iter().chain(&new.sites).map(|site| site.key.op.as_str()).filter(|op| is_dealt(op)).collect();
    for (key, old, now) in both(&base.pairs, &new.pairs) {
        let (name, classes) = (KINDS[usize::from(key.0)], CLASSES[usize::from(key.0)]);
        let told = changed.iter().chain(varying).chain(&rows).any(|change| is_of(change, &classes));
        let dealt = ops.iter().any(|op| class_of(op).is_some_and(|class| classes.contains(&class)));
        if !told && !dealt && old.is_stable() && now.is_stable() {
            let to = if key.2 == u32::MAX { "others".to_owned() } else { format!("PE {}", key.2) };
            rows.push(row(name, format!("from PE {} to {to}", key.1), old, now));
        }
    }
    rows
}

/// Keys whose values differ, with both values.
fn both<K: Ord + Clone>(base: &BTreeMap<K, Range>, new: &BTreeMap<K, Range>) -> Vec<(K, Range, Range)> {
    let value = |table: &BTreeMap<K, Range>, key: &K| table.get(key).copied().unwrap_or_default();
    let keys: std::collections::BTreeSet<&K> = base.keys().chain(new.keys()).collect();
    let rows = keys.into_iter().map(|key| (key.clone(), value(base, key), value(new, key)));
    rows.filter(|(_, old, now)| old != now).collect()
}

/// The distance of all calls of a routine, where it is one.
fn distance(base: &Side, new: &Side, change: &Change) -> Option<&'static str> {
    let of = |side: &Side| -> Vec<u8> {
        side.sizes.keys().filter(|(op, _, _)| *op == change.op).map(|(_, distance, _)| *distance).collect()
    };
    let mut all: Vec<u8> = of(base).into_iter().chain(of(new)).collect();
    all.sort_unstable();
    all.dedup();
    match all[..] {
        [] if class_of(&change.op).is_some() => Some(Distance::None.name()),
        [one] => Distance::ALL.get(usize::from(one)).map(|distance| distance.name()),
        _ => None,
    }
}

/// Order: bytes to other hosts, collectives, orders, the rest; the largest first.
fn rank(change: &Change) -> impl Ord + use<> {
    let class = class_of(&change.op);
    let group = match class {
        _ if change.distance == Some(Distance::Remote.name()) => 0,
        Some(Class::Barrier | Class::Collective) => 1,
        Some(Class::Order) => 2,
        Some(Class::Query | Class::Control | Class::Test | Class::Setup) => 4,
        _ => 3,
    };
    let (calls, bytes) = change.delta();
    (
        change.accepted.is_some(),
        group,
        std::cmp::Reverse((bytes.unsigned_abs(), calls.unsigned_abs())),
        change.op.clone(),
    )
}
