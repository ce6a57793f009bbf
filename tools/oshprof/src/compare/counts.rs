//! The exact layer: what communication changed. No statistics: a count is equal or it is not.

use std::collections::BTreeMap;

use pellucid_profile::op::Class;
use pellucid_profile::size::Distance;

use super::align::align;
use super::run::class_of;
use super::side::{Group, Side, Site, group};
use super::{Amount, Range};

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
    /// Function that calls it; `None`: the difference is not one of a call site.
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

    /// Calls and bytes that were added.
    pub fn delta(&self) -> (i64, i64) {
        let less = |a: u64, b: u64| a.wrapping_sub(b) as i64;
        (less(self.new.max.calls, self.base.max.calls), less(self.new.max.bytes, self.base.max.bytes))
    }
}

/// What became of something that is as often as before.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// From here.
    pub from: Change,
    /// To there.
    pub to: Change,
}

/// The differences.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// What is the same in all runs of each side and differs between them.
    pub changed: Vec<Change>,
    /// What differs between runs of one side, and whose ranges do not meet.
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
    let mut different = Vec::new();
    for (old, now) in paired(base, new) {
        counts.compared += 1;
        let change = change(base, old, now);
        let known = |site: Option<&Site>, side: &Side, range: &Range| {
            site.is_none_or(|site| side.is_stable(&site.key.op, range))
        };
        let stable = known(old, base, &change.base) && known(now, new, &change.new);
        match stable {
            true if change.base != change.new => different.push(change),
            false if !change.base.overlaps(&change.new) => counts.varying.push(change),
            _ => {}
        }
    }
    take_moved(&mut different, &mut counts.moved);
    different.extend(beyond_sites(base, new, &different, &counts.varying));
    judge(&mut different);
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

fn change(base: &Side, old: Option<&Site>, now: Option<&Site>) -> Change {
    let site = now.or(old).unwrap_or(&base.sites[0]);
    let place = &site.key.place;
    Change {
        op: site.key.op.clone(),
        site: Some(place.function.clone()),
        ordinal: site.ordinal,
        region: site.key.region.clone(),
        shown: place.shown(),
        line: (place.line > 0).then(|| (place.file.clone(), place.line)),
        base: old.map(|site| site.range).unwrap_or_default(),
        new: now.map(|site| site.range).unwrap_or_default(),
        ..Change::default()
    }
}

/// Takes out what is called from elsewhere as often as before: first site by site, then what adds up to the same.
fn take_moved(different: &mut Vec<Change>, moved: &mut Vec<Moved>) {
    let none = Range::default();
    let mut at = 0;
    while at < different.len() {
        let gone = &different[at];
        let is_same = |to: &Change| to.op == gone.op && to.base == none && to.new == gone.base;
        let same_region = different.iter().position(|to| is_same(to) && to.region == gone.region);
        let found = same_region.or_else(|| different.iter().position(is_same));
        match found.filter(|_| gone.new == none && gone.base != none) {
            None => at += 1,
            Some(to) => {
                let to_change = different.remove(to);
                at -= usize::from(to < at);
                let from = different.remove(at);
                moved.push(Moved { from, to: to_change });
            }
        }
    }
    shifts(different, moved);
}

/// Routines of which as many calls and bytes were taken out as were put in: one row for each place that gained.
fn shifts(different: &mut Vec<Change>, moved: &mut Vec<Moved>) {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for change in different.iter() {
        let (calls, bytes) = change.delta();
        let sum = sums.entry(&change.op).or_default();
        *sum = (sum.0 + calls, sum.1 + bytes);
    }
    let even: Vec<String> = sums.iter().filter(|(_, sum)| **sum == (0, 0)).map(|(op, _)| (*op).to_owned()).collect();
    for op in even {
        let (of, others): (Vec<Change>, Vec<Change>) = std::mem::take(different).into_iter().partition(|c| c.op == op);
        *different = others;
        let (gain, lose): (Vec<Change>, Vec<Change>) = of.into_iter().partition(|c| c.delta() > (0, 0));
        match (gain.len(), lose.len()) {
            // Calls here, bytes there: nobody moved.
            (0, _) | (_, 0) => different.extend(gain.into_iter().chain(lose)),
            _ => {
                let from = lose.iter().cycle();
                let rows = gain.len().max(lose.len());
                let pairs = gain.iter().cycle().zip(from).take(rows);
                moved.extend(pairs.map(|(to, from)| Moved { from: from.clone(), to: to.clone() }));
            }
        }
    }
}

/// What no call site shows: other sizes in as many bytes, other partners, failures.
fn beyond_sites(base: &Side, new: &Side, changed: &[Change], varying: &[Change]) -> Vec<Change> {
    let is_told = |op: &str| changed.iter().chain(varying).any(|change| change.op == op);
    let row = |op: &str, detail: String, base: Range, new: Range| Change {
        op: op.to_owned(),
        shown: detail.clone(),
        detail: Some(detail),
        base,
        new,
        ..Change::default()
    };
    let mut rows = Vec::new();
    for (key, old, now) in both(&base.sizes, &new.sizes) {
        if is_told(&key.0) || !base.is_stable(&key.0, &old) || !new.is_stable(&key.0, &now) {
            continue;
        }
        let (low, high) = pellucid_profile::size::size_bounds(usize::from(key.2));
        let distance = Distance::ALL.get(usize::from(key.1)).map_or("", |distance| distance.name());
        rows.push(row(&key.0, format!("{low} to {high} bytes, to {distance}"), old, now));
    }
    for (op, old, now) in both(&base.errors, &new.errors) {
        if old.is_stable() && now.is_stable() {
            rows.push(row(&op, "calls that failed".to_owned(), old, now));
        }
    }
    // Where no site tells of puts, whom they go to does.
    const KINDS: [(&str, [Class; 2]); 3] =
        [("put", [Class::Put, Class::Signal]), ("get", [Class::Get; 2]), ("amo", [Class::Amo; 2])];
    let is_of = |change: &Change, classes: &[Class]| class_of(&change.op).is_some_and(|class| classes.contains(&class));
    for (key, old, now) in both(&base.pairs, &new.pairs) {
        let (name, classes) = KINDS[usize::from(key.0)];
        let told = changed.iter().chain(varying).chain(&rows).any(|change| is_of(change, &classes));
        if !told && old.is_stable() && now.is_stable() {
            rows.push(row(name, format!("from PE {} to PE {}", key.1, key.2), old, now));
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

/// Kinds of routines whose calls stand for each other.
fn kind(op: &str) -> Option<u8> {
    match class_of(op) {
        Some(Class::Setup | Class::Query | Class::Control | Class::Test) => None,
        Some(Class::Signal) => Some(Class::Put as u8),
        Some(class) => Some(class as u8),
        // Pairs of PEs, and calls that found no room.
        None => Some(u8::MAX),
    }
}

/// By kind of routine: more calls or more bytes in all are worse, whichever routine of the kind they are of.
pub fn judge(changed: &mut [Change]) {
    let mut sums: BTreeMap<u8, (i64, i64)> = BTreeMap::new();
    let is_counted = |change: &&mut Change| change.detail.is_none() && change.accepted.is_none();
    for change in changed.iter_mut().filter(is_counted) {
        let (calls, bytes) = change.delta();
        if let Some(kind) = kind(&change.op) {
            let sum = sums.entry(kind).or_default();
            *sum = (sum.0 + calls, sum.1 + bytes);
        }
    }
    for change in changed.iter_mut() {
        change.effect = match kind(&change.op) {
            None => Effect::Local,
            Some(_) if change.detail.as_deref() == Some("calls that failed") => {
                if change.delta().0 > 0 {
                    Effect::Worse
                } else {
                    Effect::Better
                }
            }
            Some(_) if change.detail.is_some() => Effect::Same,
            Some(kind) => match sums.get(&kind).copied().unwrap_or_default() {
                (0, 0) => Effect::Same,
                (calls, bytes) if calls > 0 || bytes > 0 => Effect::Worse,
                _ => Effect::Better,
            },
        };
    }
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
