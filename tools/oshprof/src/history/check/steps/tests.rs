//! Which commits are named, of stores that hold what runs left.

use std::process::ExitCode;

use super::*;
use crate::FAILED;
use crate::compare::Amount;
use crate::compare::place::Place;
use crate::compare::run::{Run, SiteKey};
use crate::compare::verdict::REGRESSION;
use crate::history::check::{Checked, all};
use crate::history::check_all;
use crate::history::store::RunMetadata;

/// A store of a suite, removed in the end.
struct Suite {
    path: std::path::PathBuf,
    store: Store,
    added: u64,
}

impl Suite {
    fn new(name: &str) -> Suite {
        let path = std::env::temp_dir().join(format!("oshprof-steps-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Suite { store: Store::make(&path).unwrap(), path, added: 0 }
    }

    /// Adds runs on so many PEs, with so many barriers.
    fn barriers(&mut self, commit: &str, npes: u32, calls: &[u64]) {
        let runs: Vec<[(&str, &str, u64); 1]> =
            calls.iter().map(|calls| [("shmem_barrier_all", "step", *calls)]).collect();
        self.add("heat", commit, npes, &runs.iter().map(|run| &run[..]).collect::<Vec<_>>());
    }

    /// Adds runs of a program, each as `routine` at `function` so often.
    fn add(&mut self, program: &str, commit: &str, npes: u32, runs: &[&[(&str, &str, u64)]]) {
        self.added += 1;
        let key = |op: &str, function: &str| SiteKey {
            op: op.to_owned(),
            place: Place { function: function.to_owned(), ..Place::default() },
            region: String::new(),
        };
        let run = |(at, sites): (usize, &&[(&str, &str, u64)])| {
            let amount = |calls| Amount { calls, bytes: 0 };
            let sites = sites.iter().map(|(op, function, calls)| (key(op, function), amount(*calls))).collect();
            let mut run = Run { sites, ..Run::default() };
            (run.job.npes, run.job.program) = (npes, format!("./{program}"));
            run.job.start_realtime_ns = 100 * self.added + at as u64;
            (run.shape.npes, run.shape.hosts) = (npes, vec![npes]);
            run
        };
        let runs: Vec<Run> = runs.iter().enumerate().map(run).collect();
        let facts = RunMetadata {
            commit: commit.to_owned(),
            suite: Some("nightly".to_owned()),
            time: Some(self.added),
            ..RunMetadata::default()
        };
        self.store.add(&runs.iter().collect::<Vec<_>>(), &facts).unwrap();
    }

    fn check(&self) -> Checked {
        all(&self.store, &self.store.all(None).unwrap()).unwrap()
    }

    /// What is told, up to the counts.
    fn told(&self) -> Vec<String> {
        let text = |finding: &Finding| {
            let text = finding.text();
            let fails = if finding.fails() { "! " } else { "" };
            format!("{fails}{}", text.split(" in `").next().unwrap_or_default())
        };
        self.check().findings.iter().map(text).collect()
    }
}

impl Drop for Suite {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[test]
fn jobs_of_two_sizes_are_two_series_of_counts() {
    let mut suite = Suite::new("sizes");
    for (commit, calls) in [("m1", 200), ("m2", 220)] {
        suite.barriers(commit, 2, &[calls, calls]);
        suite.barriers(commit, 4, &[2 * calls, 2 * calls]);
    }
    let found = suite.check().findings;
    let on: Vec<(&str, u32, bool)> = found.iter().map(|f| (f.on.as_str(), f.npes, f.fails())).collect();
    assert_eq!(on, [(" on 2 PEs", 2, true), (" on 4 PEs", 4, true)]);
    assert!(found[1].text().starts_with("regression since m2 (before: m1) in `nightly` on 4 PEs: "), "{found:?}");
    // They are as old as commits came after them, however many sizes each is run with.
    suite.barriers("m3", 8, &[9]);
    suite.barriers("m3", 2, &[220, 220]);
    assert_eq!(suite.check().findings.iter().map(|finding| finding.age).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_run_that_varies_hides_no_change() {
    let mut suite = Suite::new("varies");
    suite.barriers("m1", 2, &[200, 200]);
    suite.barriers("m2", 2, &[200, 220]);
    assert_eq!(suite.told(), [""; 0]);
    let note = "in `nightly` calls of shmem_barrier_all vary from run to run since m2: later ones are held against \
                those of m1, and are suspected only where they are near what was seen since";
    assert_eq!(suite.check().notes, [note]);
    suite.barriers("m3", 2, &[400, 400]);
    let told = ["! regression since m3 (before: m1; it varied from run to run from m2 on)"];
    assert_eq!(suite.told(), told);
    assert!(suite.check().notes.is_empty());
    // Nor does one that varies at first.
    let mut suite = Suite::new("varies-first");
    suite.barriers("m1", 2, &[200, 220]);
    suite.barriers("m2", 2, &[200, 200]);
    suite.barriers("m3", 2, &[400, 400]);
    assert_eq!(suite.told(), ["! regression since m3 (before: m2)"]);
}

/// A program whose flushes depend on who takes which work: in two runs of some commits they agree by chance.
#[test]
fn a_count_that_varies_is_no_regression_where_runs_agree_by_chance() {
    let mut suite = Suite::new("chance");
    let runs = [[10, 10], [9, 11], [11, 11], [10, 10], [11, 12], [12, 12], [9, 9], [8, 8], [13, 13]];
    for (at, calls) in runs.iter().enumerate() {
        suite.add(
            "conv",
            &format!("c{at}"),
            2,
            &calls.map(|calls| [("shmem_long_put", "flush", calls)]).each_ref().map(|run| &run[..]),
        );
        assert!(suite.check().findings.iter().all(|found| !found.fails()), "c{at}: {:?}", suite.told());
    }
    assert_eq!(suite.told()[0], "suspected since c2 (before: c0; it varied from run to run from c1 on)");
    // Twice as many are.
    suite.add("conv", "twice", 2, &[&[("shmem_long_put", "flush", 33)][..]; 2]);
    assert!(suite.told().last().unwrap().starts_with("! regression since twice "), "{:?}", suite.told());
    // And a barrier that was not there.
    let more = [("shmem_long_put", "flush", 33), ("shmem_barrier_all", "step", 2)];
    suite.add("conv", "barrier", 2, &[&more[..]; 2]);
    assert!(suite.told().last().unwrap().starts_with("! regression since barrier "), "{:?}", suite.told());
}

#[test]
fn what_agrees_in_five_runs_does_not_vary_any_more() {
    let mut suite = Suite::new("settled");
    suite.barriers("m1", 2, &[200, 200]);
    suite.barriers("m2", 2, &[200, 220]);
    for commit in ["m3", "m4", "m5"] {
        suite.barriers(commit, 2, &[220, 220]);
    }
    let suspected = "suspected since m3 (before: m1; it varied from run to run from m2 on)";
    assert_eq!(suite.told(), [suspected]);
    suite.barriers("m6", 2, &[230, 230]);
    assert_eq!(suite.told()[1], "! regression since m6 (before: m5)");
}

#[test]
fn what_varies_elsewhere_hides_no_change_either() {
    let run = |barriers, puts| [("shmem_barrier_all", "step", barriers), ("shmem_long_put", "deal", puts)];
    let mut suite = Suite::new("elsewhere");
    suite.add("heat", "m1", 2, &[&run(200, 7), &run(200, 7)]);
    suite.add("heat", "m2", 2, &[&run(200, 5), &run(200, 7)]);
    suite.add("heat", "m3", 2, &[&run(210, 5), &run(210, 9)]);
    suite.add("heat", "m4", 2, &[&run(210, 8), &run(210, 9)]);
    assert_eq!(suite.told(), ["! regression since m3 (before: m2)"]);
    suite.add("heat", "m5", 2, &[&run(210, 30), &run(210, 30)]);
    let last = "! regression since m5 (before: m1; it varied from run to run from m2 on)";
    assert_eq!(suite.told()[1], last);
}

#[test]
fn a_regression_that_was_taken_back_is_none() {
    let mut suite = Suite::new("back");
    for (commit, calls) in [("k1", 200), ("k2", 220)] {
        suite.barriers(commit, 2, &[calls, calls]);
    }
    assert_eq!(suite.told(), ["! regression since k2 (before: k1)"]);
    suite.barriers("k3", 2, &[210, 210]);
    assert_eq!(suite.told(), ["! regression since k2 (before: k1)", "change since k3 (before: k2)"]);
    suite.barriers("k4", 2, &[200, 200]);
    assert_eq!(suite.told(), ["regression from k2 to k4 (before: k1)", "change since k3 (before: k2)"]);
    // What comes again is a regression again.
    suite.barriers("k5", 2, &[220, 220]);
    assert_eq!(suite.told()[2], "! regression since k5 (before: k4)");
    suite.barriers("k6", 2, &[190, 190]);
    assert_eq!(suite.told()[2..], ["regression from k5 to k6 (before: k4)", "change since k6 (before: k5)"]);
}

#[test]
fn runs_of_a_commit_that_differ_vary() {
    let mut suite = Suite::new("again");
    suite.barriers("abc123", 2, &[200, 200]);
    suite.barriers("abc123", 2, &[220, 220]);
    suite.barriers("def456", 2, &[220, 220]);
    assert_eq!(suite.told(), [""; 0]);
    suite.barriers("789abc", 2, &[300, 300]);
    assert_eq!(suite.told(), ["! regression since 789abc (before: def456)"]);
}

#[test]
fn another_program_in_a_suite_is_told() {
    let mut suite = Suite::new("programs");
    suite.barriers("m1", 2, &[200, 200]);
    suite.add("isx", "m2", 2, &[&[("shmem_barrier_all", "step", 200)][..]; 2]);
    suite.barriers("m3", 2, &[200, 200]);
    suite.add("isx", "m4", 2, &[&[("shmem_barrier_all", "step", 200)][..]; 2]);
    let (one, other) = ("m1 runs heat, m2 runs isx", "m2 runs isx, m3 runs heat");
    assert_eq!(suite.check().notes, [one, other].map(|two| format!("in `nightly`: two programs: {two}")));
}

/// Puts that vary in every commit.
#[test]
fn a_count_that_was_never_stable_is_told_where_it_lies_far_apart() {
    let mut suite = Suite::new("never-stable");
    let mut add = |commit: &str, runs: [u64; 5]| {
        let runs = runs.map(|calls| [("shmem_long_put", "deal", calls)]);
        suite.add("vary", commit, 2, &runs.each_ref().map(|run| &run[..]));
        suite.told()
    };
    assert_eq!(add("c1", [200, 202, 201, 204, 203]), [""; 0]);
    assert_eq!(add("c2", [203, 205, 201, 204, 203]), [""; 0]);
    assert_eq!(add("c3", [4200, 4202, 4201, 4204, 4203]), ["! regression since c3 (before: c2)"]);
    assert_eq!(add("c4", [4203, 4201, 4200, 4204, 4202]), ["! regression since c3 (before: c2)"]);
    let back = ["regression from c3 to c5 (before: c2)"];
    assert_eq!(add("c5", [202, 200, 201, 203, 204]), back);
}

/// Which would be a regression, if they could be read.
#[test]
fn counts_that_cannot_be_read_are_no_good_news() {
    let mut suite = Suite::new("damaged");
    let status = |suite: &Suite| check_all(&suite.store, &suite.store.all(None).unwrap(), 10, false).unwrap();
    let (bad, unknown) = (ExitCode::from(REGRESSION), ExitCode::from(FAILED));
    suite.barriers("m1", 2, &[200, 200]);
    suite.barriers("m2", 2, &[220, 220]);
    let counts = suite.store.all(None).unwrap().remove(0).counts;
    let file = suite.path.join(format!("counts/{counts}.json"));
    assert_eq!(status(&suite), bad);
    std::fs::write(&file, "{\"a\":").unwrap();
    assert_eq!(status(&suite), unknown);
    let shown = file.display();
    let why = format!("({shown}: is not what was written there: its hash is another)");
    let found = suite.check().findings.remove(0);
    assert!(found.text().contains("counts of barrier") && found.text().ends_with(&why), "{}", found.text());
    std::fs::remove_file(&file).unwrap();
    assert_eq!(status(&suite), unknown);
    // What stands is a regression all the same.
    suite.barriers("m3", 2, &[330, 330]);
    assert_eq!(status(&suite), bad);
    // Runs that are added once more bring the counts back.
    suite.added = 0;
    suite.barriers("m1", 2, &[200, 200]);
    assert_eq!(suite.told(), ["! regression since m2 (before: m1)", "! regression since m3 (before: m2)"]);
}

#[test]
fn only_hashes_are_cut() {
    let hash = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!((short(hash), short(&hash[..16])), ("0123456789ab", "0123456789abcdef"));
    for name in ["release-2026.11-rc1", "release-2026.11-rc2", "ein-commit-aus-dem-süden", ""] {
        assert_eq!(short(name), name);
    }
}
