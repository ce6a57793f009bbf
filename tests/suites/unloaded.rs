//! Calls from libraries that are unloaded before the end, and from others that are loaded at their addresses.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

const SOURCE: &str = include_str!("../programs/profile/unloaded.c");

fn line_of(site: &str) -> usize {
    let mark = format!("/* SITE {site} */");
    SOURCE.lines().position(|line| line.contains(&mark)).expect("each site is marked") + 1
}

/// The program and its two libraries.
fn build() -> [PathBuf; 3] {
    let options = ["-g", "-O1", "-fno-optimize-sibling-calls"];
    let library = |name: &str, more: &[&str]| {
        let build = Build::program("profile/unloaded.c").named(name).options(options);
        build.options(["-DLIBRARY", "-fPIC", "-shared"]).options(more.iter().copied()).build()
    };
    let program = Build::program("profile/unloaded.c").options(options).libraries(["-ldl"]).build();
    [program, library("unloaded-a.so", &[]), library("unloaded-b.so", &["-DSECOND"])]
}

/// Calls of both PEs by function and line, and how many of them may be those of the other library: the first from an
/// address that both call from, each time another one is loaded.
const CALLS: [(&str, &str, u64, u64); 4] = [
    ("step_of_a", "put", 2 * 1500, 2),
    ("step_of_a", "complete", 2 * 1500, 0),
    ("step_of_b", "put", 2 * 300, 2),
    ("step_of_b", "complete", 2 * 300, 0),
];

fn check(number_of: impl Fn(&str, usize) -> u64) {
    for (function, site, calls, others) in CALLS {
        let found = number_of(function, line_of(site));
        assert!(found.abs_diff(calls) <= others, "{function}, {site}: {found} of {calls}");
    }
}

#[test]
fn call_sites_stay_those_of_the_library_that_had_them() {
    let [program, first, second] = build();
    let directory = tree::fresh("unloaded-profile").join("profile");
    let job = Job::oshrun(2).args(["--profile", "1", "--profile-dir"]).arg(&directory).arg(&program);
    let outcome = job.arg(&first).arg(&second).run().expect_code(0);
    assert_eq!(outcome.stdout, "same\n", "the libraries are loaded at the same addresses");
    let report = || Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
    let json: serde_json::Value = serde_json::from_str(&report().arg("--json").run().stdout).expect("JSON");
    let rows = json["callsites"].as_array().expect("call sites");
    assert!(rows.iter().all(|row| row["file"].is_string() && row["address"].is_string()), "{rows:#?}");
    check(|function, line| {
        let place = format!("{function} at unloaded.c:{line}");
        let of = rows.iter().filter(|row| row["site"] == place.as_str());
        of.map(|row| row["calls"].as_u64().expect("calls")).sum()
    });
    // Which of them calls from the same address were of is not known: it says so.
    let text = report().run().expect_code(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("was unloaded, and another library loaded at its addresses"), "{text}");
}

#[test]
fn events_stay_those_of_the_library_that_had_them() {
    let [program, first, second] = build();
    let folder = tree::fresh("unloaded-trace");
    std::fs::create_dir_all(&folder).expect("a folder");
    let job = Job::oshrun(2).args(["--profile", "1,trace-detail=full", "--trace", "trace"]).arg(&program);
    job.arg(&first).arg(&second).directory(&folder).run().expect_code(0);
    let job = Job::new(tree::tool("oshprof")).args(["trace", "trace", "--to", "csv"]).directory(&folder);
    let csv = job.run().expect_code(0).stdout;
    check(|function, line| {
        let end = format!("{function} at unloaded.c:{line}");
        csv.lines().filter(|row| row.ends_with(&end)).count() as u64
    });
}
