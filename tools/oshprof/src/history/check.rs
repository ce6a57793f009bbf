//! Which commit changed what. Counts are a list of steps: equal or not. Times need statistics: change points that a
//! permutation test confirms, and what the last two runs suggest.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::short;
use super::store::{Entry, Store};
use crate::compare::counts::{self, Change, Effect};
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
    /// The series.
    pub suite: String,
    /// The first commit with it.
    pub commit: String,
    /// The commit of the run before.
    pub before: String,
    /// Runs of the series after it.
    pub age: usize,
    /// Whether it got worse.
    pub is_worse: bool,
    /// Whether too few runs stand for it: it may go away.
    pub is_suspected: bool,
    /// Changed counts.
    pub changes: Vec<Change>,
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
        let (commit, before) = (short(&self.commit), short(&self.before));
        format!("{what} since {commit} (before: {before}) in `{}`: {}", self.suite, parts.join("; "))
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
            "suite": self.suite, "commit": self.commit, "before": self.before, "age": self.age,
            "regression": self.is_worse, "suspected": self.is_suspected, "text": self.text(),
            "counts": self.changes.iter().map(change).collect::<Vec<_>>(),
            "metrics": self.times.iter().map(time).collect::<Vec<_>>(),
        })
    }
}

/// All findings of a store, series by series, oldest first.
///
/// # Errors
/// What could not be read.
pub fn all(store: &Store) -> Result<Vec<Finding>, String> {
    let mut suites: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in store.all()? {
        suites.entry(entry.suite.clone()).or_default().push(entry);
    }
    let mut findings = Vec::new();
    for entries in suites.values() {
        findings.extend(steps(store, entries)?);
        let mut machines: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        entries.iter().for_each(|entry| machines.entry(&entry.machine).or_default().push(entry));
        machines.values().for_each(|entries| findings.extend(times(entries)));
    }
    Ok(findings)
}

/// Where counts changed.
fn steps(store: &Store, entries: &[Entry]) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for (at, pair) in entries.windows(2).enumerate() {
        if pair[0].counts == pair[1].counts || pair[0].shape != pair[1].shape {
            continue;
        }
        let found = counts::compare(&store.side(&pair[0])?, &store.side(&pair[1])?);
        if found.changed.is_empty() {
            continue;
        }
        findings.push(Finding {
            suite: pair[1].suite.clone(),
            commit: pair[1].commit.clone(),
            before: pair[0].commit.clone(),
            age: entries.len() - at - 2,
            is_worse: found.changed.iter().any(|change| change.effect == Effect::Worse),
            is_suspected: false,
            changes: found.changed,
            times: Vec::new(),
        });
    }
    Ok(findings)
}

/// Where times changed: metrics that change at the same run are one finding.
pub fn times(entries: &[&Entry]) -> Vec<Finding> {
    let mut names: Vec<&String> = entries.iter().flat_map(|entry| entry.metrics.keys()).collect();
    names.sort();
    names.dedup();
    let mut found: BTreeMap<(usize, bool), Vec<(String, f64)>> = BTreeMap::new();
    for name in names {
        let known: Vec<(usize, f64)> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((at, entry.metrics.get(name).filter(|ns| **ns >= 1.0)?.ln())))
            .collect();
        let series: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        for (point, suspected) in points(&series) {
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
            commit: entries[at].commit.clone(),
            before: entries[at.saturating_sub(1)].commit.clone(),
            age: entries.len() - at - 1,
            is_worse: times.iter().any(|(_, effect)| *effect > 0.0),
            is_suspected,
            changes: Vec::new(),
            times,
        }
    };
    found.into_iter().map(finding).collect()
}

/// Change points, and the last runs where they are far off.
fn points(series: &[f64]) -> Vec<(ChangePoint, bool)> {
    let matters = MIN_EFFECT.ln_1p();
    let confirmed = change_points(series, matters);
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
mod tests {
    use super::*;

    fn normal(random: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
    }

    fn history(length: usize, seed: u64, level: impl Fn(usize) -> f64) -> Vec<Entry> {
        let mut random = fastrand::Rng::with_seed(seed);
        let one = |at: usize, noise: f64| Entry {
            commit: format!("c{at}"),
            metrics: BTreeMap::from([("run".to_owned(), 1e9 * (level(at) + 0.02 * noise).exp())]),
            ..Entry::default()
        };
        (0..length).map(|at| one(at, normal(&mut random))).collect()
    }

    fn check(entries: &[Entry]) -> Vec<Finding> {
        times(&entries.iter().collect::<Vec<_>>())
    }

    #[test]
    fn planted_changes_name_their_commits() {
        let entries = history(200, 4, |at| match at {
            0..70 => 0.0,
            70..130 => 0.1,
            130..170 => 0.04,
            _ => 0.2,
        });
        let found = check(&entries);
        assert_eq!(found.len(), 3, "{found:?}");
        for (finding, planted) in found.iter().zip([70_usize, 130, 170]) {
            let commit: usize = finding.commit[1..].parse().unwrap();
            assert!(commit.abs_diff(planted) <= 2, "{} for {planted}", finding.commit);
        }
        assert_eq!(found.iter().map(|f| f.is_worse).collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn a_large_change_is_told_after_two_runs_and_confirmed_after_five() {
        let of = |after: usize| check(&history(40 + after, 8, |at| if at < 40 { 0.0 } else { 0.3 }));
        assert!(of(1).is_empty(), "one run may be a spike");
        let two = of(2);
        assert!(two.len() == 1 && two[0].is_suspected && two[0].commit == "c40", "{two:?}");
        let five = of(5);
        assert!(five.len() == 1 && !five[0].is_suspected && five[0].commit == "c40", "{five:?}");
    }

    #[test]
    fn what_went_away_is_forgotten() {
        let found = check(&history(60, 8, |at| if (40..42).contains(&at) { 0.3 } else { 0.0 }));
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn unchanged_histories_have_no_findings() {
        let histories = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 1000 } else { 100 };
        let wrong = (0..histories).filter(|seed| !check(&history(40, 1000 + seed, |_| 0.0)).is_empty()).count();
        assert!(wrong as u64 * 1000 <= histories * 15 + 1000, "{wrong} of {histories}");
    }
}
