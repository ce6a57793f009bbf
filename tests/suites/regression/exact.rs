//! The exact layer: from two runs of a side, with more PEs than cores, it says what was changed and nothing else.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::runs::{PES, build, diff, json, oshprof, profiles, rows, source, version};
use harness::run::Job;
use harness::tree;

const STEPS: u64 = 5;

fn base() -> &'static [PathBuf] {
    static BASE: OnceLock<Vec<PathBuf>> = OnceLock::new();
    BASE.get_or_init(|| profiles("base", &version("BASE"), 2, &[]))
}

/// A profile to change.
fn copy_of_base(name: &str) -> PathBuf {
    let copy = tree::fresh(&format!("regression/{name}")).join("p");
    std::fs::create_dir_all(&copy).unwrap();
    for entry in std::fs::read_dir(&base()[0]).unwrap().flatten() {
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    copy
}

fn against_base(name: &str) -> (i32, Value) {
    let (outcome, found) = diff(base(), &profiles(name, &version(name), 2, &[]), &[]);
    (outcome.code(), found)
}

/// The only change that is found.
fn only_change(found: &Value) -> &Value {
    let changed = rows(&found["counts"], "changed");
    assert_eq!(changed.len(), 1, "{:#}", found["counts"]);
    assert!(rows(&found["counts"], "varying").is_empty() && rows(&found["counts"], "moved").is_empty(), "{found:#}");
    assert_eq!(changed[0]["certain"], true);
    &changed[0]
}

#[test]
fn one_more_barrier() {
    let (code, found) = against_base("EXTRA_BARRIER");
    let change = only_change(&found);
    assert_eq!((code, &found["verdict"], &found["schema_version"]), (3, &json!("regression"), &json!(1)));
    assert_eq!((&change["op"], &change["site"]), (&json!("shmem_barrier_all"), &json!("step")));
    let calls = STEPS * PES as u64;
    assert_eq!((&change["base"]["calls"], &change["new"]["calls"]), (&json!(0), &json!(calls)));
    assert_eq!(change["region"], "");
}

#[test]
fn a_quiet_after_each_put() {
    let (code, found) = against_base("QUIET_EACH");
    let change = only_change(&found);
    assert_eq!((code, &change["op"], &change["site"]), (3, &json!("shmem_quiet"), &json!("exchange")));
}

#[test]
fn a_put_in_64_parts() {
    let (code, found) = against_base("SPLIT");
    let change = only_change(&found);
    assert_eq!((code, &change["op"], &change["site"]), (3, &json!("shmem_long_put"), &json!("exchange")));
    let calls = STEPS * PES as u64;
    assert_eq!(change["base"], json!({ "calls": calls, "bytes": calls * 512 }));
    assert_eq!(change["new"], json!({ "calls": calls * 64, "bytes": calls * 512 }));
    assert_eq!(change["size"], json!({ "base": 512, "new": 8 }));
    // The other way round it is less.
    let (outcome, found) = diff(&profiles("split-base", &version("SPLIT"), 2, &[]), base(), &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (0, &json!("improvement")));
}

/// The library makes another choice: the program is the same, and nothing is worse.
#[test]
fn another_algorithm_is_named() {
    let binary = version("BASE");
    let forced = |name: &str| -> Vec<PathBuf> {
        let root = tree::fresh(&format!("regression/algorithm-{name}"));
        let directories = [root.join("run0"), root.join("run1")];
        for directory in &directories {
            let job = Job::oshrun(PES).arg("--profile-dir").arg(directory).arg(&binary);
            job.env("SHMEM_COLLECTIVES", &format!("barrier:{name}")).run().expect_code(0);
        }
        directories.into()
    };
    let (counter, dissemination) = (forced("counter"), forced("dissemination"));
    let report = oshprof(&["report", "--json"]).arg(&counter[0]).run();
    let report = json(&report);
    let barrier = rows(&report, "routines").iter().find(|routine| routine["name"] == "shmem_barrier_all").unwrap();
    let calls = STEPS * PES as u64;
    assert_eq!(barrier["calls"], calls);
    assert_eq!(barrier["algorithms"], json!([{ "name": "barrier:counter", "calls": calls }]));
    let view = oshprof(&["report", "--view", "algorithms"]).arg(&counter[0]).run();
    assert!(view.stdout.contains("barrier:counter") && !view.stdout.contains("Contexts"), "{}", view.describe());

    let (outcome, found) = diff(&counter, &dissemination, &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (0, &json!("ok")), "{found:#}");
    let of_barrier = |change: &&Value| change["op"] == "shmem_barrier_all";
    let changed: Vec<&Value> = rows(&found["counts"], "changed").iter().filter(of_barrier).collect();
    let told =
        |change: &Value| (change["detail"].clone(), change["base"]["calls"].clone(), change["new"]["calls"].clone());
    let mut told: Vec<_> = changed.iter().map(|change| told(change)).collect();
    told.sort_by_key(|(detail, _, _)| detail.to_string());
    let wanted = [("algorithm barrier:counter", calls, 0), ("algorithm barrier:dissemination", 0, calls)];
    assert_eq!(told, wanted.map(|(detail, base, new)| (json!(detail), json!(base), json!(new))));
    assert!(changed.iter().all(|change| change["effect"] == "same total" && change["certain"] == true), "{found:#}");
    let text = oshprof(&["diff"]).args(&counter).arg("--").args(&dissemination).run();
    assert!(
        text.stdout.contains("shmem_barrier_all, algorithm barrier:dissemination: 0 -> 40 calls"),
        "{}",
        text.describe()
    );
}

#[test]
fn moved_functions_other_lines_and_another_file_are_no_change() {
    let (code, found) = against_base("MOVED");
    assert_eq!((code, &found["verdict"]), (0, &json!("ok")), "{found:#}");
    assert!(rows(&found["counts"], "changed").is_empty() && rows(&found["counts"], "moved").is_empty());

    let other = tree::scratch("regression-file").join("other_name.c");
    let text = std::fs::read_to_string(source()).unwrap();
    std::fs::write(&other, format!("/* A line more. */\n\n{text}")).unwrap();
    let (outcome, found) = diff(base(), &profiles("file", &build("FILE", &other, "FILE"), 2, &[]), &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (0, &json!("ok")), "{found:#}");
    assert!(rows(&found["counts"], "changed").is_empty() && rows(&found["counts"], "moved").is_empty());
}

#[test]
fn a_renamed_function_has_moved() {
    let (code, found) = against_base("RENAMED");
    assert_eq!((code, &found["verdict"]), (0, &json!("ok")), "{found:#}");
    assert!(rows(&found["counts"], "changed").is_empty());
    let moved = rows(&found["counts"], "moved");
    assert_eq!(moved.len(), 3, "put, p, quiet: {found:#}");
    assert!(moved.iter().all(|row| row["from"]["site"] == "exchange" && row["to"]["site"] == "swap_blocks"));
}

#[test]
fn other_shapes_are_not_comparable() {
    let more = profiles("arguments", &version("BASE"), 1, &["6"]);
    let (outcome, found) = diff(base(), &more, &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (4, &json!("not comparable")));
    assert!(found["reasons"][0].as_str().is_some_and(|why| why.contains("arguments `` against `6`")), "{found:#}");
    let (outcome, _) = diff(base(), &more, &["--any-arguments"]);
    assert_eq!(outcome.code(), 3, "a step more is more of everything");
}

/// What differs within a side would be taken for what varies from run to run.
#[test]
fn runs_of_two_programs_are_no_side() {
    let other = profiles("two-programs", &version("EXTRA_BARRIER"), 1, &[]);
    let mixed = [base()[0].clone(), other[0].clone()];
    let (outcome, found) = diff(&mixed, &mixed, &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (4, &json!("not comparable")), "{found:#}");
    assert!(found["reasons"].to_string().contains("runs of one side with different programs"), "{found:#}");
    let store = tree::fresh("regression/two-programs-store").join("store");
    let add = oshprof(&["history", "add", "--commit", "c", "--store", store.to_str().unwrap()]).args(&mixed);
    for job in [add, oshprof(&["export", "--to", "csv"]).args(&mixed)] {
        job.run().expect_code(1).expect_text(&["not runs of one program: different programs"]);
    }
}

/// A copy of the library whose build id is another.
fn other_library() -> PathBuf {
    let folder = tree::scratch("regression-library");
    let mut bytes = std::fs::read(tree::library("libsma.so.1")).unwrap();
    let name = b"\x03\0\0\0GNU\0";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("a build id") + name.len();
    bytes[at] ^= 0xff;
    std::fs::write(folder.join("libsma.so.1"), bytes).unwrap();
    folder
}

#[test]
fn another_library_is_told() {
    let (folder, root) = (other_library(), tree::fresh("regression/library"));
    let new: Vec<PathBuf> = (0..2).map(|at| root.join(format!("run{at}"))).collect();
    for directory in &new {
        let job = harness::run::Job::oshrun(PES).env("LD_LIBRARY_PATH", folder.to_str().unwrap());
        job.arg("--profile-dir").arg(directory).arg(version("BASE")).run().expect_code(0);
    }
    let (outcome, found) = diff(base(), &new, &[]);
    assert_eq!(outcome.code(), 0, "the library may be what changed: {found:#}");
    assert!(found["notes"].to_string().contains("the library differs as well: libsma build"), "{found:#}");
    let machine = |side: &str| found["environment"][side]["machine"]["libsma"].as_str().map(str::len);
    assert_eq!((machine("base"), machine("new")), (Some(40), Some(40)));
    // Two of them on one side are not two runs of the same.
    let mixed = [base()[0].clone(), new[0].clone()];
    let (outcome, found) = diff(base(), &mixed, &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (4, &json!("not comparable")));
    assert!(found["reasons"].to_string().contains("runs of one side with different libraries"), "{found:#}");
}

#[test]
fn modes_and_exceptions() {
    let new = profiles("modes", &version("EXTRA_BARRIER"), 2, &[]);
    for (mode, code, changes) in [("fail", 3, 1), ("warn", 0, 1), ("off", 0, 0)] {
        let (outcome, found) = diff(base(), &new, &["--counts", mode]);
        assert_eq!((outcome.code(), rows(&found["counts"], "changed").len()), (code, changes), "{mode}");
    }
    let accept = tree::scratch("regression-accept").join("accept.toml");
    let file = accept.to_str().unwrap();
    for (until, code) in [("2999-12-31", 0), ("2020-01-01", 3)] {
        let entry = format!("[[accept]]\nkey = \"shmem_barrier_all@step*\"\nreason = \"wanted\"\nuntil = {until}\n");
        std::fs::write(&accept, entry).unwrap();
        let (outcome, found) = diff(base(), &new, &["--accept", file]);
        assert_eq!(outcome.code(), code, "{until}: {found:#}");
        assert_eq!(found["notes"].to_string().contains("ended on"), code == 3, "{found:#}");
    }
    std::fs::write(&accept, "[[accept]]\nkey = \"a\"\nreason = \"b\"\n").unwrap();
    oshprof(&["diff"])
        .args(base())
        .arg("--")
        .args(&new)
        .args(["--accept", file])
        .run()
        .expect_code(2)
        .expect_text(&["`until` is missing"]);
}

#[test]
fn what_is_wrong_is_named() {
    let dir = base()[0].to_str().unwrap();
    for (arguments, code, text) in [
        (&["diff", dir][..], 2, "profiles of both sides are needed"),
        (&["diff", dir, "--", dir, "--nope"], 2, "--nope"),
        (&["diff", dir, "--", dir, "--counts", "maybe"], 2, "invalid value 'maybe' for '--counts <HOW>'"),
        (&["diff", dir, "--", dir, "--min-effect", "5x"], 2, "'5x' for '--min-effect <P>': expected a share"),
        (&["diff", dir, "--", dir, "--metric", "speed"], 2, "'speed' for '--metric <M>': there are: run"),
        (&["diff", dir, dir, "--", dir, "--pair"], 2, "as many profiles of each side"),
        (&["diff", dir, "--", dir, "--metric", "region:nope"], 4, "no run of base has the metric \"region:nope\""),
        (&["diff", dir, "--", "/no/such/profile"], 1, "/no/such/profile"),
        (&["diff", dir, "--", dir, "--html", "/no/such/folder/f.html"], 1, "/no/such/folder/f.html"),
    ] {
        oshprof(arguments).run().expect_code(code).expect_text(&[text]);
    }
    // A profile of which a file is damaged is no basis.
    let damaged = copy_of_base("damaged");
    let file = damaged.join("pe-00003.prof");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    oshprof(&["diff", dir, "--", damaged.to_str().unwrap()]).run().expect_code(1).expect_text(&["pe-00003.prof"]);
}

/// Of a run whose lines are lost the sites have other names than those of the other runs.
#[test]
fn what_became_more_is_found_where_the_lines_of_a_run_are_lost() {
    let root = tree::fresh("regression/lost-lines");
    // The program is gone when the profiles are read: another machine, or a build that was cleaned up.
    let program = root.join("step");
    std::fs::copy(version("BASE"), &program).unwrap();
    let of = |name: &str, steps: &str| profiles(&format!("lost-lines-{name}"), &program, 2, &[steps]);
    let (base, more) = (of("base", "5"), of("more", "6"));
    std::fs::remove_file(&program).unwrap();
    let lines = more[1].join("lines.json");
    let whole = std::fs::read(&lines).unwrap();
    let compare = |base: &[PathBuf], new: &[PathBuf]| {
        let (outcome, found) = diff(base, new, &["--any-arguments"]);
        (outcome.code(), found)
    };
    assert_eq!(compare(&base, &more).0, 3);
    std::fs::write(&lines, &whole[..whole.len() / 2]).unwrap();
    let (code, found) = compare(&base, &more);
    assert_eq!((code, &found["verdict"]), (3, &json!("regression")), "{found:#}");
    let note = format!("{}: lines.json cannot be read: ", more[1].display());
    assert!(found["notes"].to_string().contains(&note), "{found:#}");
    let put = rows(&found["counts"], "changed").iter().find(|change| change["op"] == "shmem_long_put").unwrap();
    let pes = PES as u64;
    assert_eq!((&put["base"]["calls"], &put["new"]["calls"]), (&json!(5 * pes), &json!(6 * pes)), "{found:#}");
    assert_eq!((&put["site"], &put["key"]), (&Value::Null, &json!("shmem_long_put@*")));
    let is_barrier = |change: &Value| change["key"] == "shmem_barrier_all@*" && change["effect"] == "more";
    assert!(rows(&found["counts"], "changed").iter().any(is_barrier), "{found:#}");
    oshprof(&["report"]).arg(&more[1]).run().expect_code(0).expect_text(&["note: lines.json cannot be read: "]);
    // Nor is it hidden on the other side, or where the file is missing.
    assert_eq!(compare(&more, &base).1["verdict"], "improvement");
    std::fs::remove_file(&lines).unwrap();
    assert_eq!(compare(&base, &more).0, 3);
    assert_eq!(compare(&more, &more).0, 0);
    // A history of such runs finds it as well.
    let store = root.join("store");
    for (commit, dirs) in [("1111", &base), ("2222", &more)] {
        let add = oshprof(&["history", "add", "--commit", commit, "--suite", "step"]).args(dirs.iter());
        add.arg("--store").arg(&store).run().expect_code(0);
    }
    let check = oshprof(&["history", "check", "--store"]).arg(&store).run();
    check.expect_code(3).expect_text(&["regression since 2222", "shmem_long_put at all places: 40 -> 48 calls"]);
}

/// It did less, which is no improvement.
#[test]
fn a_run_that_failed_is_not_compared() {
    let failed = copy_of_base("failed");
    let job = std::fs::read_to_string(failed.join("job.json")).unwrap();
    let changed = job.replace("\"exit_status\": 0", "\"exit_status\": 134");
    assert_ne!(job, changed);
    std::fs::write(failed.join("job.json"), changed).unwrap();
    let (outcome, found) = diff(base(), std::slice::from_ref(&failed), &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (4, &json!("not comparable")), "{found:#}");
    outcome.expect_text(&["the job ended with status 134"]);
    let store = failed.with_file_name("store");
    let add = ["history", "add", failed.to_str().unwrap(), "--commit", "c", "--store", store.to_str().unwrap()];
    oshprof(&add).run().expect_code(1).expect_text(&["the job ended with status 134"]);
    assert!(!store.exists());
}

#[test]
fn jobs_of_other_sizes_compare_by_pe() {
    let binary = version("BASE");
    let root = tree::fresh("regression/scale").join("p");
    harness::run::Job::oshrun(4).arg("--profile-dir").arg(&root).arg(&binary).run().expect_code(0);
    let (outcome, found) = diff(base(), std::slice::from_ref(&root), &[]);
    assert_eq!((outcome.code(), &found["verdict"]), (4, &json!("not comparable")));
    let (outcome, found) = diff(base(), std::slice::from_ref(&root), &["--scale"]);
    assert_eq!((outcome.code(), &found["verdict"]), (0, &json!("ok")), "{found:#}");
    // The runs of a side have as many PEs as each other.
    let (outcome, found) = diff(&[base()[0].clone(), root], base(), &["--scale"]);
    assert_eq!((outcome.code(), &found["verdict"]), (4, &json!("not comparable")), "{found:#}");
    assert!(found["reasons"].to_string().contains("different numbers of PEs: 8 in"), "{found:#}");
}

#[test]
fn the_text_is_for_people() {
    let new = profiles("text", &version("EXTRA_BARRIER"), 2, &[]);
    let outcome = oshprof(&["diff"]).args(base()).arg("--").args(&new).run().expect_code(3);
    let outcome = outcome.expect_text(&[
        "+ shmem_barrier_all at step at step.c:",
        "0 -> 40 calls",
        "regression: more communication in 1 place",
    ]);
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 220), "{}", outcome.stdout);
    let outcome =
        oshprof(&["diff"]).args(base()).arg("--").args(&new).args(["--markdown", "--id", "np8"]).run().expect_code(3);
    assert!(outcome.stdout.starts_with("<!-- pellucid-perf:np8 -->\n### ❌ regression"), "{}", outcome.stdout);
    let summary = tree::fresh("regression/summary").join("summary.md");
    let job = oshprof(&["diff"]).args(base()).arg("--").args(&new).arg("--json");
    let outcome = job.env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()).run().expect_code(3);
    assert!(std::fs::read_to_string(&summary).unwrap().contains("shmem\\_barrier\\_all"));
    assert!(outcome.stderr.contains("::error file=") && outcome.stderr.contains("line="), "{}", outcome.stderr);
    assert_eq!(json(&outcome)["verdict"], "regression", "what GitHub reads does not disturb the JSON");
    let job = oshprof(&["diff", "--counts", "warn"]).args(base()).arg("--").args(&new);
    let outcome = job.env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()).run().expect_code(0);
    assert!(outcome.stderr.contains("::warning file=") && !outcome.stderr.contains("::error"), "{}", outcome.stderr);
}
