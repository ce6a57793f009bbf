//! A command against the latest entry of a store: communication exactly, times as a remark, and only from the same
//! kind of machine.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use pellucid_profile::text::visible_path;

use super::command::{self, Failure, Folder};
use super::{Request, machine};
use crate::compare::metric::{self, Metric};
use crate::compare::place::Places;
use crate::compare::run::{Run, Shape};
use crate::compare::same;
use crate::compare::side::Side;
use crate::compare::verdict::{self, Comparison, Rules, SideSummary};
use crate::emit;
use crate::history::store::{Entry, Store, suite_of};
use crate::resolve::Resolver;

/// Runs: two, so that what varies is known.
const RUNS: usize = 2;

pub(super) fn run(request: &Request, baseline: &OsStr) -> Result<ExitCode, Failure> {
    let line = request.new_command().unwrap_or_default();
    let (folder, branch) = parts(baseline);
    let branch = branch.as_deref();
    let store = Store::open(folder).map_err(Failure::Other)?;
    let [_, mut program] = command::pair(line, line, Folder::new(request.keep.as_deref())?, request.limit)?;
    let symbols = Resolver::default();
    let places = Places::new(&symbols);
    let runs: Vec<Run> = (0..RUNS).map(|_| program.run(&places)).collect::<Result<_, _>>()?;
    let runs: Vec<&Run> = runs.iter().collect();
    let suite = request.suite.clone().unwrap_or_else(|| suite_of(runs[0]));
    let entries = store.entries(&suite).map_err(Failure::Other)?;
    let rules = &request.options.rules;
    let Some(entry) = latest(&entries, branch, &runs[0].shape, rules) else {
        let of = branch.map_or(String::new(), |branch| format!(" of branch {branch}"));
        let folder = visible_path(folder);
        return Err(Failure::Other(format!("{folder}: nothing of `{suite}`{of} to compare with: oshprof history add")));
    };
    let mut base = store.side(entry).map_err(Failure::Other)?;
    let mut new = Side::of(&runs);
    let facts = machine::facts();
    let mut found =
        Comparison { sides: [about_entry(entry, &base), about(line, runs[0], &new)], ..Comparison::default() };
    found.sides[1].facts = facts.clone();
    found.notes.extend(same::two_programs(("base", &entry.program), ("new", runs[0].program())));
    found.reasons.extend(verdict::of_one_side(&runs, rules));
    for (side, known) in [("base", entry.metrics.keys().cloned().collect()), ("new", metric::names(&runs))] {
        found.reasons.extend(metric::missing(side, &known, &rules.primary));
    }
    verdict::exact(&mut found, &mut base, &mut new, rules);
    if !found.reasons.is_empty() {
        // Nothing is compared.
    } else if entry.metrics.is_empty() {
        found.notes.push("times are not compared: the baseline has counts only".to_owned());
    } else if entry.machine == machine::class(&facts) {
        found.metrics = times(entry, &runs, &rules.primary);
    } else {
        found
            .notes
            .push(format!("times are not compared: the baseline is of another kind of machine ({})", entry.machine));
    }
    found.decide(rules, false);
    Ok(emit::all(&found, &[], &runs, &request.options.output))
}

/// The latest entry that such a run can be compared with, if there is any: a suite may have jobs of several sizes. Else
/// the latest one, of which is said why it is none to compare with.
fn latest<'e>(entries: &'e [Entry], branch: Option<&str>, shape: &Shape, rules: &Rules) -> Option<&'e Entry> {
    let of_branch = || entries.iter().rev().filter(|entry| branch.is_none_or(|branch| entry.branch == branch));
    of_branch().find(|entry| verdict::differs(&entry.shape, shape, rules).is_none()).or_else(|| of_branch().next())
}

/// `STORE[:BRANCH]`. A folder may have a colon in its name.
fn parts(baseline: &OsStr) -> (&Path, Option<String>) {
    let bytes = baseline.as_bytes();
    match bytes.iter().rposition(|byte| *byte == b':') {
        Some(colon) if !Path::new(baseline).exists() => {
            let branch = String::from_utf8_lossy(&bytes[colon + 1..]).into_owned();
            (Path::new(OsStr::from_bytes(&bytes[..colon])), Some(branch))
        }
        _ => (Path::new(baseline), None),
    }
}

fn about_entry(entry: &Entry, side: &Side) -> SideSummary {
    SideSummary {
        name: format!("commit {}", entry.commit),
        program: entry.program.clone(),
        shape: side.shape.clone(),
        runs: side.runs,
        facts: vec![("class".to_owned(), entry.machine.clone())],
    }
}

fn about(line: &str, run: &Run, side: &Side) -> SideSummary {
    let program = run.job.program.clone();
    SideSummary { name: line.to_owned(), program, shape: side.shape.clone(), runs: side.runs, facts: Vec::new() }
}

fn times(entry: &Entry, runs: &[&Run], primary: &[String]) -> Vec<Metric> {
    let mut metrics = metric::of_runs([runs, runs], primary);
    metrics.retain(|metric| entry.metrics.contains_key(&metric.name));
    // Of the base there is the median of its runs.
    metrics.iter_mut().for_each(|metric| metric.sides[0] = vec![entry.metrics[&metric.name]]);
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_compared_with_the_latest_of_its_size() {
        let entry = |(commit, npes, branch): (&str, u32, &str)| Entry {
            commit: commit.to_owned(),
            branch: branch.to_owned(),
            shape: Shape { npes, hosts: vec![npes], ..Shape::default() },
            ..Entry::default()
        };
        let entries = [("m1", 2, "main"), ("m2", 2, "main"), ("m2", 4, "main"), ("x", 2, "other")].map(entry);
        let of = |npes: u32, branch| {
            let shape = Shape { npes, hosts: vec![npes], ..Shape::default() };
            latest(&entries, branch, &shape, &Rules::default()).map(|entry| (entry.commit.as_str(), entry.shape.npes))
        };
        assert_eq!(of(2, Some("main")), Some(("m2", 2)));
        assert_eq!(of(4, Some("main")), Some(("m2", 4)));
        assert_eq!(of(2, None), Some(("x", 2)));
        assert_eq!(of(8, Some("main")), Some(("m2", 4)), "not comparable, and said why");
        assert_eq!(of(2, Some("gone")), None);
    }
}
