//! Histories for other programs: a function a format.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::profiles::{label, quoted};
use crate::history::check;
use crate::history::store::{Entry, Store};
use pellucid_profile::text::visible;

/// A line a run: time, commit, metrics in nanoseconds.
pub fn otava(store: &Path, suite: Option<&String>) -> Result<String, String> {
    let mut entries: Vec<Entry> = Store::open(store)?.all()?;
    if let Some(others) = others(&entries).filter(|_| suite.is_none()) {
        pellucid_profile::say!("oshprof: {}: {others}", store.display());
    }
    let suite = suite.cloned().or_else(|| entries.first().map(|entry| entry.suite.clone()));
    entries.retain(|entry| Some(&entry.suite) == suite.as_ref());
    if entries.is_empty() {
        return Err(format!("{}: no run of this series", store.display()));
    }
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

/// That a store has several series, of which the first is written; `None` where it has one.
fn others(entries: &[Entry]) -> Option<String> {
    let first = &entries.first()?.suite;
    let others: BTreeSet<&String> = entries.iter().map(|entry| &entry.suite).filter(|suite| *suite != first).collect();
    let names = others.iter().map(|suite| format!("`{suite}`")).collect::<Vec<_>>().join(", ");
    (!others.is_empty())
        .then(|| visible(&format!("only the series `{first}` is written; --suite NAME picks another: {names}")))
}

/// For Prometheus: how many commits changed something, by series, and what its last run took.
///
/// # Errors
/// What could not be read.
pub fn openmetrics(store: &Path, suite: Option<&String>) -> Result<String, String> {
    let store = Store::open(store)?;
    let is_wanted = |name: &String| suite.is_none_or(|suite| suite == name);
    let mut points: BTreeMap<(String, &str, bool), u64> = BTreeMap::new();
    let entries: Vec<Entry> = store.all()?.into_iter().filter(|entry| is_wanted(&entry.suite)).collect();
    for entry in &entries {
        // What has not happened yet is 0: a change from nothing would not be seen.
        for kind in ["counts", "time"] {
            for is_worse in [false, true] {
                points.entry((entry.suite.clone(), kind, is_worse)).or_default();
            }
        }
    }
    for finding in check::all(&store)?.into_iter().filter(|finding| !finding.is_suspected) {
        let kind = if finding.times.is_empty() { "counts" } else { "time" };
        for suite in std::iter::once(&finding.suite).chain(&finding.also).filter(|name| is_wanted(name)) {
            *points.entry((suite.clone(), kind, finding.is_worse)).or_default() += 1;
        }
    }
    let mut out = String::from(
        "# HELP shmem_perf_change_points Commits that changed what a program communicates or how long it takes.\n\
         # TYPE shmem_perf_change_points gauge\n",
    );
    for ((suite, kind, is_worse), number) in points {
        let suite = label(&suite);
        out.push_str(&format!(
            "shmem_perf_change_points{{suite=\"{suite}\",kind=\"{kind}\",regression=\"{is_worse}\"}} {number}\n"
        ));
    }
    out.push_str(
        "# HELP shmem_perf_last_seconds What the last run of the history took.\n# TYPE shmem_perf_last_seconds gauge\n",
    );
    let last: BTreeMap<&String, &Entry> = entries.iter().map(|entry| (&entry.suite, entry)).collect();
    for (suite, entry) in last {
        for (name, ns) in &entry.metrics {
            let (suite, name) = (label(suite), label(name));
            out.push_str(&format!("shmem_perf_last_seconds{{suite=\"{suite}\",of=\"{name}\"}} {}\n", ns / 1e9));
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
    }
}
