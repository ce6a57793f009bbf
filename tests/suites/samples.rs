//! What the profile keeps a part of only stands for the whole: meetings of loops with several barriers a turn, and
//! samples of short calls, which never come to more than the time that passed.

use std::path::Path;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

const SOURCE: &str = include_str!("../programs/profile/loops.c");
/// More than the 4,096 meetings that a thread keeps, several times over.
const MEETINGS: usize = 40_000;

fn report(directory: &Path, view: &str) -> Value {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory);
    let outcome = job.args(["--view", view, "--json"]).run().expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

fn rows(directory: &Path, view: &str, member: &str) -> Vec<Value> {
    let report = report(directory, view);
    report[member].as_array().cloned().unwrap_or_else(|| panic!("no {member}: {report}"))
}

fn line(barrier: usize) -> usize {
    let mark = format!("/* BARRIER {barrier} */");
    1 + SOURCE.lines().position(|line| line.contains(&mark)).expect("each barrier is marked")
}

#[test]
fn every_barrier_of_a_loop_has_its_share_of_the_meetings() {
    let binary = Build::program("profile/loops.c").options(["-g"]).build();
    for barriers in 1..=8 {
        let directory = tree::fresh("samples/loops").join("profile");
        let turns = MEETINGS / barriers;
        let job = Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary);
        job.args([barriers.to_string(), turns.to_string()]).run().expect_code(0);
        let rows = rows(&directory, "imbalance", "imbalance");
        for barrier in 0..barriers {
            let place = format!("loops.c:{}", line(barrier));
            let row = rows.iter().find(|row| row["site"].as_str().is_some_and(|site| site.contains(&place)));
            let row = row.unwrap_or_else(|| panic!("no {place} with {barriers} barriers a turn: {rows:#?}"));
            // At least 2,048 are kept of all: 256 of each of 8, and the standard deviation is a sixteenth of it.
            let part = row["calls"].as_f64().expect("a number") / turns as f64;
            assert!((0.7..1.3).contains(&part), "{part} of {turns} meetings at {place}, {barriers} a turn: {rows:#?}");
        }
    }
}

#[test]
fn no_pe_spends_more_in_the_library_than_its_run_takes() {
    let binary = Build::program("profile/short.c").options(["-O2"]).build();
    for kind in ["p", "g", "add", "counter", "n_pes", "iput", "mixed"] {
        for pes in [1, 2, 5] {
            let directory = tree::fresh("samples/short").join("profile");
            let job = Job::oshrun(pes).arg("--profile-dir").arg(&directory).arg(&binary);
            job.args([kind, "500000"]).run().expect_code(0);
            let list = rows(&directory, "pe", "per_pe");
            assert_eq!(list.len(), pes);
            for pe in &list {
                let number = |name: &str| pe[name].as_f64().unwrap_or_else(|| panic!("no {name} in {pe}"));
                let (library, run) = (number("library_ns"), number("main_ns"));
                // What was counted since the last sample is at the mean.
                assert!(library <= 1.002 * run, "{kind} at {pes} PEs: {library} ns in a run of {run} ns: {pe}");
                let calls = |row: &Value| row["calls"].as_u64().unwrap_or(0);
                let most = pe["routines"].as_array().into_iter().flatten().map(calls).max();
                // One more where the program asks for the number of PEs.
                assert!(most.is_some_and(|most| (500_000..=500_001).contains(&most)), "{kind}: {pe}");
            }
        }
    }
}

#[test]
fn initialization_has_its_call_site() {
    let binary = Build::program("profile/short.c").options(["-g"]).build();
    let directory = tree::fresh("samples/sites").join("profile");
    Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).args(["p", "10"]).run().expect_code(0);
    let list = rows(&directory, "callsites", "callsites");
    let init: Vec<&Value> = list.iter().filter(|row| row["routine"] == "shmem_init").collect();
    assert!(init.len() == 1 && init[0]["calls"] == 2, "{list:#?}");
}

/// What is said of calls that sites and peers cannot all be told of.
fn is_said(report: &Value) -> bool {
    let notes = report["notes"].as_array().expect("notes");
    notes.iter().filter_map(Value::as_str).any(|note| note.contains("SHMEM_PROFILE_SITES=exact"))
}

#[test]
fn call_sites_that_cost_too_much_are_those_of_samples() {
    let binary = Build::program("profile/short.c").options(["-g", "-O2"]).build();
    // Seconds of nothing but short calls, a quarter of them from one line to the PE itself. Runs of less than a second
    // are not looked at.
    const SECONDS: &str = "2";
    for exact in [false, true] {
        let directory = tree::fresh("samples/limit").join("profile");
        let mut job = Job::oshrun(2).arg("--profile-dir").arg(&directory);
        if exact {
            job = job.args(["--profile", "1,sites=exact"]);
        }
        let done = job.arg(&binary).args(["places", SECONDS]).limit(60).run().expect_code(0);
        let calls: u64 = done.stdout.trim().parse().expect("the number of calls");
        let report = report(&directory, "all");
        let list = |member: &str| report[member].as_array().unwrap_or_else(|| panic!("no {member}"));
        let routine = list("routines").iter().find(|row| row["name"] == "shmem_long_g").expect("a routine");
        assert_eq!((&routine["calls"], &routine["bytes"]), (&calls.into(), &(8 * calls).into()));
        assert_eq!((&routine["sampled_sites"], is_said(&report)), (&(!exact).into(), !exact), "{routine}");
        let sites = list("callsites").iter().filter(|row| row["routine"] == "shmem_long_g");
        let mut by_site: Vec<u64> = sites.filter_map(|row| row["calls"].as_u64()).collect();
        by_site.sort_unstable();
        let cell = |from: usize, to: usize| report["matrix"]["calls"][from][to].as_u64().expect("a number");
        let by_peer = [cell(0, 0) + cell(1, 1), cell(0, 1) + cell(1, 0)];
        for parts in [&by_site[..], &by_peer] {
            assert_eq!((parts.len(), parts.iter().sum::<u64>()), (2, calls), "{parts:?}");
            assert!((0.24..0.26).contains(&(parts[0] as f64 / calls as f64)), "{parts:?}");
        }
    }
}
