//! What `oshprof advise` says of programs that do what its rules are for, and of the same programs as the rules advise.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

/// Rules with a program, and PEs that it takes for them to be seen. Atomics are contended where both PEs have a core at
/// the same time, which a busy machine does not give them: that program is for `./x proof` alone. What is gained is
/// measured by `./x proof`.
const RULES: [(&str, usize); 23] = [
    ("small-puts", 2),
    ("quiet-often", 2),
    ("barrier-late", 2),
    ("get-and-wait", 2),
    ("polling", 2),
    ("heap", 2),
    ("contexts-and-teams", 2),
    ("serial-pe", 2),
    ("barriers-per-byte", 2),
    ("queries", 2),
    ("put-then-flag", 2),
    ("small-gets", 2),
    ("own-memory", 2),
    ("strided", 2),
    ("compare-and-swap", 2),
    ("locks", 2),
    ("hot-pe", 4),
    ("waits-for", 2),
    ("larger-team", 4),
    ("first-touch", 2),
    ("serialized", 2),
    ("uneven-work", 4),
    ("uneven-steps", 4),
];

/// One test at a time: what takes the cores changes what is found.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn profile(binary: &Path, rule: &str, how: &str, pes: usize) -> PathBuf {
    let directory = tree::fresh(&format!("advice/{rule}-{how}")).join("profile");
    let job = Job::oshrun(pes).args(["--heap", "300m", "--profile-dir"]).arg(&directory).arg(binary);
    job.args([rule, how]).run().expect_code(0);
    directory
}

fn findings(directory: &Path) -> Vec<Value> {
    let job = Job::new(tree::tool("oshprof")).args(["advise", "--json"]).arg(directory);
    let found: Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
    found["findings"].as_array().cloned().unwrap_or_default()
}

/// Rules about PEs that are late: where another program has one of the cores, the PE there is, whatever it has to do.
const LATE: [&str; 3] = ["barrier-late", "serial-pe", "waits-for"];

/// Where others take the cores, waits for them are longer than what a program does wrong: not in each run.
const RUNS: usize = 5;

#[test]
fn each_rule_speaks_of_its_program_and_not_when_it_is_followed() {
    let _alone = alone();
    let binary = Build::program("advice/advice.c").options(["-O2", "-g"]).build();
    let mut wrong = Vec::new();
    for (rule, pes) in RULES {
        for (how, is_wanted) in [("as-is", true), ("advised", false)] {
            if !is_wanted && LATE.contains(&rule) {
                continue;
            }
            let mut last = Vec::new();
            let is_as_wanted = (0..RUNS).any(|_| {
                last = findings(&profile(&binary, rule, how, pes));
                last.iter().any(|finding| finding["rule"] == rule) == is_wanted
            });
            if !is_as_wanted {
                let seen = if is_wanted { "is not seen" } else { "is seen where it is followed" };
                wrong.push(format!("{rule} {seen}: {last:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_slow_algorithm_is_seen_where_this_machine_was_measured() {
    let _alone = alone();
    let binary = Build::program("advice/advice.c").options(["-O2", "-g"]).build();
    let cache = tree::fresh("advice/cache");
    let cached = |job: Job| job.env("XDG_CACHE_HOME", &cache.to_string_lossy());
    let said = |directory: &Path| {
        let job = cached(Job::new(tree::tool("oshprof"))).args(["advise", "--json"]).arg(directory);
        let found: Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
        let all = found["findings"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|finding| finding["rule"] == "algorithm")
    };
    let directory = profile(&binary, "algorithm", "as-is", 4);
    assert_eq!(said(&directory), None, "nothing was measured");
    // The library's own choice is one for cores that nobody shares, which may not be the best one here either. What is
    // the best one may change with what else runs here: then it is measured anew.
    let follow = |found: &Value| {
        let what = found["what"].as_str().unwrap_or_default();
        let faster = what.strip_prefix("shmem_long_sum_reduce takes the algorithm reduce:whole, which ");
        let faster = faster.and_then(|rest| rest.split(' ').next()).unwrap_or_default().to_owned();
        assert!(faster.starts_with("reduce:"), "{found}");
        let directory = tree::fresh("advice/algorithm-advised").join("profile");
        let job = Job::oshrun(4).env("SHMEM_COLLECTIVES", &faster).args(["--heap", "300m", "--profile-dir"]);
        job.arg(&directory).arg(&binary).args(["algorithm", "advised"]).run().expect_code(0);
        said(&directory)
    };
    let (mut told, mut found, mut left) = (String::new(), None, None);
    for _ in 0..RUNS {
        let job = cached(Job::new(tree::tool("oshrun"))).args(["--calibrate", "-n", "4", "--heap", "300m"]);
        told = job.run().expect_code(0).stdout;
        found = said(&directory);
        left = found.as_ref().and_then(follow);
        if found.is_some() && left.is_none() {
            break;
        }
    }
    for collective in ["barrier", "broadcast", "reduce", "scan", "fcollect"] {
        assert!(told.lines().any(|line| line.trim_start().starts_with(collective)), "{told}");
    }
    let of_collectives = told.lines().skip_while(|line| !line.starts_with("collectives of 4 PEs on "));
    let rows: Vec<&str> = of_collectives.filter(|line| line.starts_with("  ")).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.len() <= 80), "{told}");
    assert!(found.is_some(), "not seen: {told}");
    assert_eq!(left, None, "it is seen where it is followed: {told}");
}

#[test]
fn small_messages_over_the_network_are_seen() {
    let _alone = alone();
    let binary = Build::program("advice/advice.c").options(["-O2", "-g"]).build();
    for (how, seen) in [("as-is", true), ("advised", false)] {
        let directory = tree::fresh(&format!("advice/network-{how}")).join("profile");
        let job = Job::oshrun(2).env("SHMEM_TRANSPORT", "ofi").arg("--profile-dir").arg(&directory).arg(&binary);
        job.args(["network-small", how]).run().expect_code(0);
        let found = findings(&directory);
        assert_eq!(found.iter().any(|finding| finding["rule"] == "network-small"), seen, "{how}: {found:#?}");
        let report =
            Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "network", "--json"]);
        let report: Value = serde_json::from_str(&report.run().expect_code(0).stdout).expect("JSON");
        let numbers = report["network"].as_array().cloned().unwrap_or_default();
        let unexplained: Vec<&Value> = numbers.iter().filter(|row| row["what"].is_null()).collect();
        assert!(!numbers.is_empty() && unexplained.is_empty(), "{unexplained:#?}");
    }
}

#[test]
fn no_rule_fires_on_the_examples() {
    let _alone = alone();
    for (name, options) in [
        ("hello", &[][..]),
        ("isort", &["-k", "300000"]),
        ("gups", &["-t", "16"]),
        ("heat2d", &["-r", "200", "-c", "200", "-s", "200"]),
    ] {
        let source = tree::workspace().join(format!("examples/{name}/{name}.c"));
        let binary = Build::source(&format!("advice-{name}"), &source).options(["-O2"]).libraries(["-lm"]).build();
        let advised = || {
            let directory = tree::fresh(&format!("advice/clean-{name}")).join("profile");
            Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).args(options).run().expect_code(0);
            findings(&directory)
        };
        let speaks = |advice: &[Value], rule: &str| advice.iter().any(|finding| finding["rule"] == rule);
        // Where other programs take the cores, PEs are late for each other for no reason of theirs.
        let quiet = (0..RUNS).map(|_| advised()).find(|advice| !speaks(advice, "oversubscribed"));
        let Some(advice) = quiet else {
            println!("skipped: {name}: other programs took the cores in each of {RUNS} runs");
            continue;
        };
        // That much of the time is in the library is no pattern.
        let patterns: Vec<&Value> = advice.iter().filter(|finding| finding["rule"] != "library-time").collect();
        assert!(patterns.is_empty(), "{name}: {patterns:#?}");
    }
}

/// A PE that sleeps has not too much work, and one that sleeps between two tests waits as one that spins does.
#[test]
fn who_sleeps_is_told_from_who_computes() {
    let _alone = alone();
    let binary = Build::program("advice/asleep.c").options(["-O2", "-g"]).build();
    // What is said of PEs that sleep; where others take the cores, not in each run.
    let said = |how: &str, rules: &[&str], words: &str| {
        let mut last = Vec::new();
        let is_said = (0..RUNS).any(|_| {
            let directory = tree::fresh(&format!("advice/asleep-{how}")).join("profile");
            Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).arg(how).run().expect_code(0);
            last = findings(&directory);
            let has = |finding: &Value, key: &str| finding[key].as_str().is_some_and(|text| text.contains(words));
            last.iter().any(|finding| {
                rules.iter().any(|rule| finding["rule"] == *rule) && (has(finding, "try") || has(finding, "evidence"))
            })
        });
        assert!(is_said, "{how}: {last:#?}");
    };
    said("barriers", &["barrier-late"], "it is on no core there");
    said("tests", &["serial-pe", "polling"], "asleep between");
}
