//! `oshrun --profile-cost`: a job with its profile, then without.

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::tree;
use serde_json::Value;

#[test]
fn a_job_runs_twice_and_the_difference_is_told() {
    let binary = Build::program("profile/words.c").options(["-O1"]).build();
    let directory = tree::fresh("profile-cost/twice").join("profile");
    let job = Job::oshrun(2).arg("--profile-cost").arg("--profile-dir").arg(&directory).arg(&binary).arg("1000");
    let outcome = job.run().expect_code(0);
    let (told, times) = times(&outcome);
    let (cost, [with, without]) = (times[0], [times[times.len() - 2], times[times.len() - 1]]);
    assert!(with > 0.0 && without > 0.0 && ((with - without).abs() - cost).abs() < 0.11, "{told}");
    assert!(outcome.stderr.contains("runs again, without its profile"), "{}", outcome.stderr);
    // The first has left its profile, the second none.
    assert!(directory.join("job.json").exists());
    assert_eq!(outcome.stderr.matches("profile of ").count(), 1, "{}", outcome.stderr);
}

/// What is told of the cost, and the numbers in it that are milliseconds.
fn times(outcome: &Outcome) -> (&str, Vec<f64>) {
    let told: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("profiling cost ")).collect();
    assert_eq!(told.len(), 1, "{}", outcome.stderr);
    let words = told[0].split(' ').zip(told[0].split(' ').skip(1));
    let times = words.filter(|(_, unit)| unit.starts_with("ms")).filter_map(|(number, _)| number.parse().ok());
    (told[0], times.collect())
}

/// Making the report is none of it: the job is timed as the report times it.
#[test]
fn the_report_costs_the_job_nothing() {
    let binary = Build::program("profile/words.c").options(["-O1"]).build();
    let directory = tree::fresh("profile-cost/report").join("profile");
    let job = Job::oshrun(2).arg("--profile-cost").arg("--profile-dir").arg(&directory).arg(&binary).arg("1000");
    let outcome = job.run().expect_code(0);
    let (told, times) = times(&outcome);
    let with = times[times.len() - 2];
    let job = std::fs::read(directory.join("job.json")).expect("a profile");
    let job: Value = serde_json::from_slice(&job).expect("JSON");
    let wall = job["wall_ns"].as_f64().expect("a time") / 1e6;
    // The profile's begins a moment earlier, and ends a moment later. One digit is told.
    assert!(with <= wall + 0.1, "{told}: the profile says {wall} ms");
}

#[test]
fn both_runs_read_the_same() {
    let folder = tree::fresh("profile-cost/input");
    let (text, file) = (b"a line\n".repeat(20_000), folder.join("input"));
    std::fs::write(&file, &text).expect("target/tests can be written");
    let script = format!("\"$0\" -n 1 --profile-cost --profile-dir {} cat", folder.join("profile").display());
    for input in [format!("{script} < {}", file.display()), format!("cat {} | {script}", file.display())] {
        let job = Job::new("sh").args(["-c", &input]).arg(tree::tool("oshrun"));
        let outcome = job.run().expect_code(0);
        assert!(outcome.stdout.into_bytes() == text.repeat(2), "{input}");
        let _ = std::fs::remove_dir_all(folder.join("profile"));
    }
}

/// As that of batch systems may: nothing comes, and it has no end.
#[test]
fn input_that_stays_open_holds_up_no_job() {
    let directory = tree::fresh("profile-cost/open").join("profile");
    let (reader, open) = std::io::pipe().expect("a pipe");
    let mut command = std::process::Command::new(tree::tool("oshrun"));
    command.args(["-n", "1", "--profile-cost", "--profile-dir"]).arg(&directory).args(["echo", "here"]);
    let outcome = command.stdin(reader).output().expect("oshrun starts");
    drop(open);
    assert!(outcome.status.success() && outcome.stdout == b"here\nhere\n", "{outcome:?}");
}

#[test]
fn a_job_that_fails_does_not_run_again() {
    let directory = tree::fresh("profile-cost/failed").join("profile");
    let job = Job::oshrun(1).arg("--profile-cost").arg("--profile-dir").arg(&directory);
    let outcome = job.args(["sh", "-c", "echo once; exit 3"]).run().expect_code(3);
    assert_eq!(outcome.stdout, "once\n", "{}", outcome.describe());
    assert!(outcome.stderr.contains("exit status 3: the job is not run again"), "{}", outcome.stderr);
}

#[test]
fn no_profile_has_no_cost() {
    let outcome = Job::oshrun(1).args(["--profile", "off", "--profile-cost", "true"]).run().expect_code(2);
    outcome.expect_text(&["--profile off and --profile-cost exclude each other"]);
}
