//! Which commit changed what. Counts are a list of steps: equal or not. Times need statistics: change points that a
//! permutation test confirms, and what the last two runs suggest.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::store::{Entry, Store};
use super::{of_branch, short, together};
use crate::compare::counts::{self, Change, Effect};
use crate::compare::metric;
use crate::outline::{amounts, percent, place};
use crate::stats::divisive::{ChangePoint, SHORTEST, change_points};
use crate::stats::median;

/// The least change of a time that is told: 2 %.
const MIN_EFFECT: f64 = 0.02;
/// How many standard deviations off the last runs have to be to be told before there are enough for a test.
const WILD: f64 = 5.0;

/// What a commit did.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The series: what the runs are compared with,
    pub suite: String,
    /// and their branch, which may be empty.
    pub branch: String,
    /// The first commit with it.
    pub commit: String,
    /// The commit of the run before.
    pub before: String,
    /// Runs of the series after it, on whatever machine.
    pub age: usize,
    /// Whether it got worse.
    pub is_worse: bool,
    /// Whether too few runs stand for it: it may go away.
    pub is_suspected: bool,
    /// Changed counts.
    pub changes: Vec<Change>,
    /// Parts of the counts that changed, where the counts themselves are gone.
    pub groups: Vec<String>,
    /// Other series that changed with this one.
    pub also: Vec<String>,
    /// Changed times: name, effect as a logarithm.
    pub times: Vec<(String, f64)>,
}

impl Finding {
    /// For people.
    pub fn text(&self) -> String {
        let what = match (self.is_suspected, self.is_worse) {
            (true, _) => "suspected",
            (_, true) => "regression",
            _ => "change",
        };
        let mut parts: Vec<String> =
            self.times.iter().map(|(name, effect)| format!("{name} {}", percent(*effect))).collect();
        parts.extend(self.changes.iter().map(|c| format!("{} at {}: {}", c.op, place(c), amounts(c))));
        if !self.groups.is_empty() {
            parts.push(format!("counts of {} (their tables are gone from the store)", self.groups.join(", ")));
        }
        let (commit, before) = (short(&self.commit), short(&self.before));
        let also: String = self.also.iter().map(|suite| format!(", `{suite}`")).collect();
        let of = of_branch(&self.branch);
        format!("{what} since {commit} (before: {before}) in `{}`{also}{of}: {}", self.suite, parts.join("; "))
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let change = |c: &Change| {
            json!({
                "key": c.key(), "op": c.op, "site": c.site, "region": c.region, "effect": c.effect.name(),
                "base": { "calls": c.base.max.calls, "bytes": c.base.max.bytes },
                "new": { "calls": c.new.max.calls, "bytes": c.new.max.bytes },
            })
        };
        let time = |(name, effect): &(String, f64)| json!({ "name": name, "ratio": effect.exp() });
        json!({
            "suite": self.suite, "branch": self.branch, "also": self.also, "groups": self.groups,
            "commit": self.commit, "before": self.before, "age": self.age,
            "regression": self.is_worse, "suspected": self.is_suspected, "text": self.text(),
            "counts": self.changes.iter().map(change).collect::<Vec<_>>(),
            "metrics": self.times.iter().map(time).collect::<Vec<_>>(),
        })
    }
}

/// All findings of these entries of a store, series by series, oldest first. Commits of two branches are no sequence:
/// each branch has series of its own.
///
/// # Errors
/// What could not be read.
pub fn all(store: &Store, entries: &[Entry]) -> Result<Vec<Finding>, String> {
    let mut all: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    entries.iter().for_each(|entry| all.entry((&entry.suite, &entry.branch)).or_default().push(entry));
    let (mut findings, mut of_times) = (Vec::new(), Vec::new());
    for series in all.values() {
        findings.extend(steps(store, series)?);
        let mut machines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        series.iter().enumerate().for_each(|(at, entry)| machines.entry(&entry.machine).or_default().push(at));
        for places in machines.values() {
            let of_machine: Vec<&Entry> = places.iter().map(|&at| series[at]).collect();
            for mut finding in times(&of_machine) {
                // How old it is depends on all runs: a kind of machine that is gone has no later ones.
                finding.age = series.len() - 1 - places[places.len() - 1 - finding.age];
                of_times.push(together::Seen::new(finding, &of_machine));
            }
        }
    }
    findings.extend(together::merge(of_times));
    Ok(findings)
}

/// Where counts changed.
fn steps(store: &Store, entries: &[&Entry]) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for (at, pair) in entries.windows(2).enumerate() {
        if pair[0].counts == pair[1].counts || !pair[0].shape.is_like(&pair[1].shape) {
            continue;
        }
        let (mut changes, mut groups) = (Vec::new(), Vec::new());
        match store.side(pair[0]).and_then(|old| Ok((old, store.side(pair[1])?))) {
            Ok((old, now)) => changes = counts::compare(&old, &now).changed,
            Err(_) if pair.iter().all(|entry| !entry.groups.is_empty()) => groups = other_groups(pair[0], pair[1]),
            Err(why) => return Err(why),
        }
        if changes.is_empty() && groups.is_empty() {
            continue;
        }
        findings.push(Finding {
            suite: pair[1].suite.clone(),
            branch: pair[1].branch.clone(),
            commit: pair[1].commit.clone(),
            before: pair[0].commit.clone(),
            age: entries.len() - at - 2,
            is_worse: changes.iter().any(|change| change.effect == Effect::Worse),
            is_suspected: false,
            changes,
            groups,
            also: Vec::new(),
            times: Vec::new(),
        });
    }
    Ok(findings)
}

/// Parts of the counts whose hashes differ.
fn other_groups(old: &Entry, now: &Entry) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = old.groups.keys().chain(now.groups.keys()).collect();
    names.into_iter().filter(|name| old.groups.get(*name) != now.groups.get(*name)).cloned().collect()
}

/// Runs of a series in which changes of times are looked for, the newest: the work grows with their square.
const LONGEST: usize = 200;

/// Where times changed: metrics that change at the same run are one finding, as old as there are runs after it here.
pub fn times(entries: &[&Entry]) -> Vec<Finding> {
    let entries = &entries[entries.len().saturating_sub(LONGEST)..];
    let mut names: Vec<&String> = entries.iter().flat_map(|entry| entry.metrics.keys()).collect();
    names.sort();
    names.dedup();
    let mut found: BTreeMap<(usize, bool), Vec<(String, f64)>> = BTreeMap::new();
    let together = names.len();
    let run = middle(entries, "run");
    for name in names {
        // A part of the run is in relation to it: a wait that doubles may mean nothing.
        let part_of = run.zip(middle(entries, name)).filter(|_| metric::is_of_run(name));
        let value = |ns: f64| match part_of {
            Some((run, usual)) => Some(metric::added(usual, ns, run)),
            None => (ns >= 1.0).then(|| ns.ln()),
        };
        let known: Vec<(usize, f64)> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((at, value(*entry.metrics.get(name)?)?)))
            .collect();
        let series: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        for (point, suspected) in points(&series, together) {
            let at = known[point.at].0;
            // One commit moves several metrics, and noise may put one of them a run off.
            let at = [at, at.wrapping_sub(1), at + 1]
                .into_iter()
                .find(|near| found.contains_key(&(*near, suspected)))
                .unwrap_or(at);
            found.entry((at, suspected)).or_default().push((name.clone(), point.after - point.before));
        }
    }
    let finding = |((at, is_suspected), mut times): ((usize, bool), Vec<(String, f64)>)| {
        times.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        Finding {
            suite: entries[at].suite.clone(),
            branch: entries[at].branch.clone(),
            commit: entries[at].commit.clone(),
            before: entries[at.saturating_sub(1)].commit.clone(),
            age: entries.len() - at - 1,
            is_worse: is_worse(&times),
            is_suspected,
            changes: Vec::new(),
            groups: Vec::new(),
            also: Vec::new(),
            times,
        }
    };
    found.into_iter().map(finding).collect()
}

/// What a metric is in the middle of these runs.
fn middle(entries: &[&Entry], name: &str) -> Option<f64> {
    let known: Vec<f64> = entries.iter().filter_map(|entry| entry.metrics.get(name).copied()).collect();
    (!known.is_empty()).then(|| median(&known))
}

/// Of times that changed together, the largest change first: the run decides where it is among them.
fn is_worse(times: &[(String, f64)]) -> bool {
    let run = times.iter().find(|(name, _)| name == "run");
    run.or(times.first()).is_some_and(|(_, effect)| *effect > 0.0)
}

/// Change points, and the last runs where they are far off.
fn points(series: &[f64], together: usize) -> Vec<(ChangePoint, bool)> {
    let matters = MIN_EFFECT.ln_1p();
    let confirmed = change_points(series, matters, together);
    let begin = confirmed.last().map_or(0, |point| point.at);
    let mut all: Vec<(ChangePoint, bool)> = confirmed.into_iter().map(|point| (point, false)).collect();
    let segment = &series[begin..];
    // The longest end that is off altogether; what is longer the test decides.
    for length in (2..SHORTEST).rev() {
        let Some(cut) = segment.len().checked_sub(length).filter(|cut| *cut >= 2 * SHORTEST) else { continue };
        let (before, after) = segment.split_at(cut);
        let center = median(before);
        let spread = 1.4826 * median(&before.iter().map(|value| (value - center).abs()).collect::<Vec<_>>());
        let limit = (WILD * spread).max(matters);
        let up = after.iter().all(|value| value - center > limit);
        let down = after.iter().all(|value| center - value > limit);
        if up || down {
            let point = ChangePoint { at: begin + cut, before: center, after: median(after), p: 1.0 };
            all.push((point, true));
            break;
        }
    }
    all
}

#[cfg(test)]
mod tests;
