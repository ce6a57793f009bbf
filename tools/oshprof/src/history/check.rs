//! Which commit changed what. Counts are a list of steps: equal or not. Times need statistics: change points that a
//! permutation test confirms, and what the last two runs suggest.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::store::{Entry, Store};
use super::{of_branch, short, together};
use crate::compare::counts::Change;
use crate::compare::metric;
use crate::compare::run::Jobs;
use crate::outline::{amounts, percent, place};
use crate::stats::divisive::{ChangePoint, SHORTEST, change_points};
use crate::stats::{NORMAL, median};

mod steps;

/// The least change of a time that is told: 2 %.
const MIN_EFFECT: f64 = 0.02;
/// How many standard deviations off the last runs have to be to be told before there are enough for a test.
const WILD: f64 = 5.0;

/// What a commit did.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// The series: what the runs are compared with,
    pub suite: String,
    /// and their branch, which may be empty.
    pub branch: String,
    /// The jobs of the series that it is of, as ` on 4 PEs`; empty where all are alike.
    pub on: String,
    /// PEs of a job.
    pub npes: u32,
    /// The first commit with it.
    pub commit: String,
    /// The commit of the run before.
    pub before: String,
    /// From which commit on counts varied from run to run, where they did between the two.
    pub varied_since: Option<String>,
    /// The first commit without it again.
    pub until: Option<String>,
    /// Commits of the series after it, on whatever machine.
    pub age: usize,
    /// Whether it got worse.
    pub is_worse: bool,
    /// Whether too few runs stand for it: it may go away.
    pub is_suspected: bool,
    /// Changed counts.
    pub changes: Vec<Change>,
    /// Parts of the counts that changed, where the counts themselves cannot be read: nobody knows whether it got worse.
    pub groups: Vec<String>,
    /// Why they cannot be.
    pub unread: Option<String>,
    /// Other series that changed with this one.
    pub also: Vec<String>,
    /// Changed times: name, effect as a logarithm.
    pub times: Vec<(String, f64)>,
}

impl Finding {
    /// Whether it is a regression that still stands.
    pub fn fails(&self) -> bool {
        self.is_worse && !self.is_suspected && self.until.is_none()
    }

    /// Whether nobody knows if it is one.
    pub fn is_unknown(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Makes it one of another series, too, or of other jobs of its own.
    pub fn join(&mut self, suite: String, on: String) {
        if suite != self.suite {
            self.also.extend(Some(suite).filter(|suite| !self.also.contains(suite)));
        } else if !self.on.ends_with(&on) {
            self.on.push_str(&on);
        }
    }

    /// Whether it is of these jobs of its series.
    pub fn is_on(&self, on: &str) -> bool {
        self.on.contains(on)
    }

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
            let why = self.unread.as_deref().unwrap_or("their tables cannot be read");
            parts.push(format!("counts of {} ({why})", self.groups.join(", ")));
        }
        let (commit, before) = (short(&self.commit), short(&self.before));
        let when = match &self.until {
            Some(until) => format!("from {commit} to {}", short(until)),
            None => format!("since {commit}"),
        };
        let varied =
            self.varied_since.as_ref().map(|from| format!("; it varied from run to run from {} on", short(from)));
        let also: String = self.also.iter().map(|suite| format!(", `{suite}`")).collect();
        let series = format!("`{}`{}{also}{}", self.suite, self.on, of_branch(&self.branch));
        format!("{what} {when} (before: {before}{}) in {series}: {}", varied.unwrap_or_default(), parts.join("; "))
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
            "suite": self.suite, "branch": self.branch, "pes": self.npes, "also": self.also, "groups": self.groups,
            "commit": self.commit, "before": self.before, "varied_since": self.varied_since, "until": self.until,
            "age": self.age, "regression": self.is_worse, "suspected": self.is_suspected, "fails": self.fails(),
            "text": self.text(),
            "counts": self.changes.iter().map(change).collect::<Vec<_>>(),
            "metrics": self.times.iter().map(time).collect::<Vec<_>>(),
        })
    }
}

/// What a store tells.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Series by series, oldest first.
    pub findings: Vec<Finding>,
    /// What to know before trusting them.
    pub notes: Vec<String>,
}

/// All that these entries of a store tell. Commits of two branches are no sequence: each branch has series of its own.
///
/// # Errors
/// What could not be read.
pub fn all(store: &Store, entries: &[Entry]) -> Result<Checked, String> {
    let mut all: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    entries.iter().for_each(|entry| all.entry((&entry.suite, &entry.branch)).or_default().push(entry));
    let (mut checked, mut of_times) = (Checked::default(), Vec::new());
    for series in all.values() {
        let ages = ages(series);
        let age = |finding: &Finding| ages.get(finding.commit.as_str()).copied().unwrap_or(0);
        for (on, entries) in by_jobs(series) {
            let Checked { findings, notes } = steps::find(store, &entries, &on)?;
            checked.findings.extend(findings.into_iter().map(|found| Finding { age: age(&found), ..found }));
            checked.notes.extend(notes);
            let mut machines: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
            entries.into_iter().for_each(|entry| machines.entry(&entry.machine).or_default().push(entry));
            for entries in machines.values() {
                for found in times(entries) {
                    let found = Finding { age: age(&found), on: on.clone(), ..found };
                    of_times.push(together::Seen::new(found, entries));
                }
            }
        }
    }
    checked.findings.extend(together::merge(of_times));
    Ok(checked)
}

/// How many commits of a series came after each, whatever they ran on: a kind of job or of machine that is gone has no
/// later ones.
fn ages<'e>(series: &[&'e Entry]) -> BTreeMap<&'e str, usize> {
    let mut commits: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    commits.extend(series.iter().map(|entry| entry.commit.as_str()).filter(|commit| seen.insert(*commit)));
    commits.into_iter().rev().enumerate().map(|(age, commit)| (commit, age)).collect()
}

/// The runs of a series by what jobs they are of, with what names these: others have other counts, and other times.
pub fn by_jobs<'e>(series: &[&'e Entry]) -> Vec<(String, Vec<&'e Entry>)> {
    let mut all: BTreeMap<Jobs<'e>, Vec<&Entry>> = BTreeMap::new();
    series.iter().for_each(|entry| all.entry(entry.shape.jobs()).or_default().push(entry));
    let names: Vec<String> = all.keys().map(|jobs| on(jobs, all.keys())).collect();
    names.into_iter().zip(all.into_values()).collect()
}

/// What tells these jobs from the others of their series.
fn on<'j>(job: &Jobs<'_>, all: impl Iterator<Item = &'j Jobs<'j>> + Clone) -> String {
    let (npes, hosts, level) = job;
    if all.clone().count() == 1 {
        return String::new();
    }
    let plural = if *npes == 1 { "" } else { "s" };
    let mut text = format!(" on {npes} PE{plural}");
    if all.clone().any(|other| other.0 == *npes && other.1 != *hosts) {
        text.push_str(&format!(" by host {hosts:?}"));
    }
    if all.clone().any(|other| other.0 == *npes && other.2 != *level) {
        text.push_str(&format!(" at level {level}"));
    }
    text
}

/// Runs of a series in which changes of times are looked for, the newest: the work grows with their square.
const LONGEST: usize = 200;

/// Where times changed: metrics that change at the same run are one finding.
pub fn times(entries: &[&Entry]) -> Vec<Finding> {
    let entries = &entries[entries.len().saturating_sub(LONGEST)..];
    let mut names: Vec<&String> = entries.iter().flat_map(|entry| entry.metrics.keys()).collect();
    names.sort();
    names.dedup();
    let mut found: BTreeMap<(usize, bool), Vec<Changed>> = BTreeMap::new();
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
        let points = points(&series, together);
        for (number, &(point, suspected)) in points.iter().enumerate() {
            let (at, until) = (known[point.at].0, taken_back(&points[number..]).map(|point| known[point].0));
            // One commit moves several metrics, and noise may put one of them a run off.
            let at = [at, at.wrapping_sub(1), at + 1]
                .into_iter()
                .find(|near| found.contains_key(&(*near, suspected)))
                .unwrap_or(at);
            let effect = point.after - point.before;
            found.entry((at, suspected)).or_default().push(Changed { name: name.clone(), effect, until });
        }
    }
    let finding = |((at, is_suspected), mut times): ((usize, bool), Vec<Changed>)| {
        times.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
        let telling = telling(&times);
        Finding {
            suite: entries[at].suite.clone(),
            branch: entries[at].branch.clone(),
            npes: entries[at].shape.npes,
            commit: entries[at].commit.clone(),
            before: entries[at.saturating_sub(1)].commit.clone(),
            is_worse: telling.is_some_and(|time| time.effect > 0.0),
            until: telling.and_then(|time| time.until).map(|until| entries[until].commit.clone()),
            is_suspected,
            times: times.into_iter().map(|time| (time.name, time.effect)).collect(),
            ..Finding::default()
        }
    };
    found.into_iter().map(finding).collect()
}

/// What a metric is in the middle of these runs.
fn middle(entries: &[&Entry], name: &str) -> Option<f64> {
    let known: Vec<f64> = entries.iter().filter_map(|entry| entry.metrics.get(name).copied()).collect();
    (!known.is_empty()).then(|| median(&known))
}

/// A time that changed at a run: by how much, as a logarithm, and at which run it was what it had been before.
struct Changed {
    name: String,
    effect: f64,
    until: Option<usize>,
}

/// Of times that changed together, the largest change first: the run decides where it is among them.
fn telling(times: &[Changed]) -> Option<&Changed> {
    times.iter().find(|time| time.name == "run").or(times.first())
}

/// Where a later change took back the first of these, which made something longer: the value after which it is no
/// longer than before.
fn taken_back(points: &[(ChangePoint, bool)]) -> Option<usize> {
    let ((first, _), later) = points.split_first()?;
    let is_back = |(point, suspected): &&(ChangePoint, bool)| {
        !suspected && first.after > first.before && point.after <= first.before + MIN_EFFECT.ln_1p()
    };
    later.iter().find(is_back).map(|(point, _)| point.at)
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
        let spread = NORMAL * median(&before.iter().map(|value| (value - center).abs()).collect::<Vec<_>>());
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
