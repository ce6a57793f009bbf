//! `oshrun --profile-cost`: a job with its profile, then without.

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

#[test]
fn a_job_runs_twice_and_the_difference_is_told() {
    let binary = Build::program("profile/words.c").options(["-O1"]).build();
    let directory = tree::fresh("profile-cost/twice").join("profile");
    let job = Job::oshrun(2).arg("--profile-cost").arg("--profile-dir").arg(&directory).arg(&binary).arg("1000");
    let outcome = job.run().expect_code(0);
    let told: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("profiling cost ")).collect();
    assert_eq!(told.len(), 1, "{}", outcome.stderr);
    // Both times, in milliseconds.
    let times: Vec<f64> = told[0]
        .split(' ')
        .zip(told[0].split(' ').skip(1))
        .filter(|(_, unit)| unit.starts_with("ms"))
        .filter_map(|(number, _)| number.parse().ok())
        .collect();
    let (cost, [with, without]) = (times[0], [times[times.len() - 2], times[times.len() - 1]]);
    assert!(with > 0.0 && without > 0.0 && ((with - without).abs() - cost).abs() < 0.11, "{}", told[0]);
    assert!(outcome.stderr.contains("runs again, without its profile"), "{}", outcome.stderr);
    // The first has left its profile, the second none.
    assert!(directory.join("job.json").exists());
    assert_eq!(outcome.stderr.matches("profile of ").count(), 1, "{}", outcome.stderr);
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
