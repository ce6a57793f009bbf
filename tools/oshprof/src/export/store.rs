//! Histories for other programs: a function a format.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Choice;
use super::profiles::{label, quoted};
use crate::history::store::{Entry, Store};
use crate::history::{check, of_branch};
use pellucid_profile::text::visible;

/// The entries that were chosen.
fn chosen(store: &Store, path: &Path, choice: &Choice) -> Result<Vec<Entry>, String> {
    let mut entries = store.all(choice.branch.as_deref())?;
    if let Some(suite) = &choice.suite {
        entries.retain(|entry| entry.suite == *suite);
        if entries.is_empty() {
            return Err(format!("{}: no run of `{suite}`", path.display()));
        }
    }
    Ok(entries)
}

/// A line a run: time, commit, branch, metrics in nanoseconds. It is one series.
pub fn otava(store: &Path, choice: &Choice) -> Result<String, String> {
    let mut entries = chosen(&Store::open(store)?, store, choice)?;
    if let Some(others) = others(&entries) {
        pellucid_profile::say!("oshprof: {}: {others}", store.display());
    }
    let series = |entry: &Entry| (entry.suite.clone(), entry.branch.clone());
    let first = entries.first().map(series).ok_or_else(|| format!("{}: no run", store.display()))?;
    entries.retain(|entry| series(entry) == first);
    let mut names: Vec<String> = entries.iter().flat_map(|entry| entry.metrics.keys().cloned()).collect();
    names.sort();
    names.dedup();
    let mut out = format!(
        "time,commit,branch,{}\n",
        names.iter().map(|name| quoted(&name.replace(':', "_"))).collect::<Vec<_>>().join(",")
    );
    for entry in &entries {
        let date = pellucid_profile::report::shown_date(entry.time.saturating_mul(1_000_000_000));
        let time = date.trim_end_matches(" UTC").replace(' ', "T");
        let values = names.iter().map(|name| entry.metrics.get(name).map_or(String::new(), f64::to_string));
        let values: Vec<String> = values.collect();
        out.push_str(&format!(
            "{time}+00:00,{},{},{}\n",
            quoted(&entry.commit),
            quoted(&entry.branch),
            values.join(",")
        ));
    }
    Ok(out)
}

/// That there are several series, of which the first is written; `None` where there is one.
fn others(entries: &[Entry]) -> Option<String> {
    let name = |entry: &Entry| format!("`{}`{}", entry.suite, of_branch(&entry.branch));
    let first = name(entries.first()?);
    let others: BTreeSet<String> = entries.iter().map(name).filter(|other| *other != first).collect();
    let names = others.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let options = if entries.iter().all(|entry| entry.branch == entries[0].branch) {
        "--suite NAME picks"
    } else {
        "--suite NAME and --branch NAME pick"
    };
    (!others.is_empty()).then(|| visible(&format!("only the series {first} is written; {options} another: {names}")))
}

/// What a sample is of: the branch only where it is known.
fn labels(suite: &str, branch: &str) -> String {
    let branch = if branch.is_empty() { String::new() } else { format!(",branch=\"{}\"", label(branch)) };
    format!("suite=\"{}\"{branch}", label(suite))
}

/// For Prometheus: how many commits changed something, by series, and what its last run took.
///
/// # Errors
/// What could not be read.
pub fn openmetrics(path: &Path, choice: &Choice) -> Result<String, String> {
    let store = Store::open(path)?;
    let entries = chosen(&store, path, choice)?;
    let mut points: BTreeMap<(String, &str, bool), u64> = BTreeMap::new();
    for entry in &entries {
        // What has not happened yet is 0: a change from nothing would not be seen.
        for kind in ["counts", "time"] {
            for is_worse in [false, true] {
                points.entry((labels(&entry.suite, &entry.branch), kind, is_worse)).or_default();
            }
        }
    }
    for finding in check::all(&store, &entries)?.findings.into_iter().filter(|finding| !finding.is_suspected) {
        let kind = if finding.times.is_empty() { "counts" } else { "time" };
        for suite in std::iter::once(&finding.suite).chain(&finding.also) {
            *points.entry((labels(suite, &finding.branch), kind, finding.is_worse)).or_default() += 1;
        }
    }
    let mut out = String::from(
        "# HELP shmem_perf_change_points Commits that changed what a program communicates or how long it takes.\n\
         # TYPE shmem_perf_change_points gauge\n",
    );
    for ((labels, kind, is_worse), number) in points {
        out.push_str(&format!(
            "shmem_perf_change_points{{{labels},kind=\"{kind}\",regression=\"{is_worse}\"}} {number}\n"
        ));
    }
    out.push_str(
        "# HELP shmem_perf_last_seconds What the last run of the history took.\n# TYPE shmem_perf_last_seconds gauge\n",
    );
    let last: BTreeMap<String, &Entry> =
        entries.iter().map(|entry| (labels(&entry.suite, &entry.branch), entry)).collect();
    for (labels, entry) in last {
        for (name, ns) in &entry.metrics {
            out.push_str(&format!("shmem_perf_last_seconds{{{labels},of=\"{}\"}} {}\n", label(name), ns / 1e9));
        }
    }
    Ok(out + "# EOF\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_a_store_is_told() {
        let entry = |suite: &str| Entry { suite: suite.into(), ..Entry::default() };
        assert_eq!(others(&[]), None);
        assert_eq!(others(&[entry("a np 2"), entry("a np 2")]), None);
        let said = "only the series `a np 2` is written; --suite NAME picks another: `b np 4`";
        assert_eq!(others(&[entry("a np 2"), entry("b np 4"), entry("b np 4")]).as_deref(), Some(said));
        let of_main = Entry { branch: "main".into(), ..entry("a np 2") };
        let said = "only the series `a np 2` is written; --suite NAME and --branch NAME pick another: `a np 2` \
                    of branch main";
        assert_eq!(others(&[entry("a np 2"), of_main]).as_deref(), Some(said));
    }

    #[test]
    fn samples_of_branches_are_apart() {
        assert_eq!(labels("a \"b", ""), "suite=\"a \\\"b\"");
        assert_eq!(labels("a", "main"), "suite=\"a\",branch=\"main\"");
    }

    #[test]
    fn what_is_not_there_is_no_empty_page() {
        let scratch = std::env::temp_dir().join(format!("oshprof-export-{}", std::process::id()));
        let store = Store::make(&scratch);
        let choice = Choice { suite: Some("typo".into()), branch: None };
        let (metrics, otava) = (openmetrics(&scratch, &choice), otava(&scratch, &choice));
        std::fs::remove_dir_all(&scratch).unwrap();
        store.unwrap();
        assert!(metrics.unwrap_err().contains("no run of `typo`") && otava.is_err());
    }
}
