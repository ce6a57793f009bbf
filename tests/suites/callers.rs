//! Call sites in functions that others call: whose calls they are.

use std::path::PathBuf;

use harness::compile::Build;
use harness::report::Report;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

const TURNS: u64 = 200_000;

#[test]
fn a_wrapper_does_not_hide_its_callers() {
    let binary = Build::program("profile/wrapped.c").options(["-O2", "-g"]).build();
    let directory = tree::fresh("callers").join("profile");
    let job = Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).arg(TURNS.to_string());
    job.run().expect_code(0);
    let report = || Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
    let json: Value = serde_json::from_str(&report().arg("--json").run().expect_code(0).stdout).expect("JSON");
    let rows = json["callsites"].as_array().cloned().unwrap_or_default();
    let adds: Vec<&Value> = rows.iter().filter(|row| row["routine"] == "shmem_long_atomic_add").collect();
    let [add] = adds.as_slice() else { panic!("one line calls it: {json:#}") };
    assert_eq!(add["calls"], 2 * 4 * TURNS, "{add}");
    assert!(add["site"].as_str().is_some_and(|site| site.starts_with("lgp_atomic_add at wrapped.c:")), "{add}");
    let callers = add["callers"].as_str().unwrap_or_else(|| panic!("no callers: {add}"));
    let share = |name: &str| -> f64 {
        let part = callers.split(", ").find(|part| part.starts_with(name)).unwrap_or_else(|| panic!("{callers}"));
        let percent = part.split('(').nth(1).and_then(|text| text.split(' ').next());
        percent.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{callers}"))
    };
    // Some hundred looks a PE: not exact, but who calls more often is seen.
    let (histo, scan) = (share("histo at wrapped.c:"), share("scan at wrapped.c:"));
    assert!((histo + scan - 100.0).abs() <= 1.0 && histo > scan, "{callers}");
    // What main calls itself has no caller that tells anything.
    let barrier = rows.iter().find(|row| row["routine"] == "shmem_barrier_all").expect("a barrier");
    assert_eq!(barrier["callers"], Value::Null, "{barrier}");
    let text = report().run().expect_code(0).stdout.replace('\n', " ");
    assert!(text.contains("is called by histo at wrapped.c:"), "{text}");
}

/// Nothing is read on the word of code that nobody vouches for.
#[test]
fn calls_from_code_that_is_not_as_its_notes_say_are_recorded() {
    for (name, options) in [("astray", &["-O1"][..]), ("astray-static", &["-O1", "-static"])] {
        let binary = Build::program("profile/astray.c").named(name).options(options).build();
        let directory = tree::fresh("callers-astray").join("profile");
        let outcome = Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
        assert_eq!(outcome.stdout.matches("fine").count(), 2, "{}", outcome.describe());
        let report = Report::read(&directory, false);
        assert_eq!((report.routine("shmem_barrier_all").0, report.routine("shmem_quiet").0), (12, 6));
    }
}

#[test]
fn each_call_site_has_its_callers() {
    let binary = Build::program("profile/wrappers.c").options(["-O2", "-g"]).build();
    let directory = tree::fresh("callers-each").join("profile");
    Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
    let callsites = |options: &[&str]| {
        let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
        let text = report.args(options).run().expect_code(0).stdout.replace('\n', " ");
        let line = |part: &str| Some(part.rsplit_once(" layer_")?.1.split_once(" at wrappers.c:")?.0.to_owned());
        let mut parts: Vec<&str> = text.split(" is called by ").collect();
        let last = parts.pop().unwrap_or_default();
        assert!(parts.iter().skip(1).chain([&last]).all(|part| part.contains(" at wrappers.c:")), "{text}");
        parts.into_iter().map(|part| line(part).unwrap_or_else(|| panic!("{text}"))).collect::<Vec<String>>()
    };
    let mut named = callsites(&[]);
    // What begins and ends a program is called once, by whoever it is.
    let mut setup = named.split_off(named.len().saturating_sub(2));
    setup.sort();
    assert_eq!(setup, ["finalize", "init"]);
    named.sort();
    assert_eq!(named, ["add", "barrier", "fence", "fetch", "g", "get", "p", "put", "quiet"]);
    assert!(callsites(&["--top", "4"]).len() <= 4);
}

#[test]
fn without_debug_information_that_is_said() {
    let binary = Build::program("profile/wrapped.c").options(["-O2", "-g0"]).build();
    let directory = tree::fresh("callers-g0").join("profile");
    Job::oshrun(1).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
    let text = report.run().expect_code(0).stdout;
    assert_eq!(text.matches("has no source lines: compile it with -g.").count(), 1, "{text}");
    // Where it is gone, that is the reason.
    std::fs::remove_file(&binary).unwrap();
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
    let text = report.run().expect_code(0).stdout;
    assert!(text.contains(" is gone") && !text.contains("compile it with -g"), "{text}");
}

/// As bundles of programs with their libraries do: what the kernel calls the executable is the loader then.
#[test]
fn a_program_that_is_an_argument_of_the_loader_has_lines() {
    let binary = Build::program("profile/wrapped.c").options(["-O2", "-g"]).build();
    let headers = Job::new(PathBuf::from("readelf")).args(["-l", "-W"]).arg(&binary).run().expect_code(0).stdout;
    let loader = headers.split("interpreter: ").nth(1).and_then(|rest| rest.split(']').next()).expect("a loader");
    let directory = tree::fresh("callers-loader").join("profile");
    let job = Job::oshrun(1).arg("--profile-dir").arg(&directory).arg(loader).arg(&binary).arg("1000");
    job.run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
    report.run().expect_code(0).expect_text(&["lgp_atomic_add at wrapped.c:"]);
}
