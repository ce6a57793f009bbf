//! Programs in the style of other people's test suites and kernels (SOS, OSHMPI, ISx, the Parallel Research Kernels),
//! where they use much of something: threads, contexts, teams, PEs. Each checks its own results.

use harness::compile::Build;
use harness::run::Job;

fn check(program: &str, options: &[&str], pes: &[usize]) {
    let binary = Build::program(&format!("kernels/{program}.c")).options(["-pthread"]).build();
    for &pes in pes {
        let outcome = Job::oshrun(pes).args(options).arg(&binary).limit(120).run().expect_code(0);
        assert_eq!(outcome.stdout.matches("OK\n").count(), pes, "{}", outcome.describe());
    }
}

#[test]
fn threads_with_private_contexts() {
    check("threads", &[], &[1, 4]);
    check("threads", &["--check"], &[2]);
}

#[test]
fn threads_that_make_teams_at_the_same_time() {
    check("thread_teams", &[], &[1, 2, 3, 5]);
    check("thread_teams", &["--check"], &[3]);
}

#[test]
fn a_bucket_sort_on_more_pes_than_cores() {
    check("buckets", &[], &[1, 3, 16]);
    check("buckets", &["--check"], &[5]);
}

#[test]
fn a_pipeline_of_flags() {
    check("pipeline", &[], &[1, 2, 7]);
}

#[test]
fn programs_written_for_older_libraries() {
    check("old", &[], &[1, 2, 5]);
    for version in ["c++11", "c++17"] {
        let version = format!("-std={version}");
        let flags = [version.as_str(), "-Wall", "-Wextra", "-pedantic", "-Werror"];
        let binary = Build::program("kernels/complex.cpp").options(flags).build();
        for pes in [1, 3] {
            Job::oshrun(pes).arg(&binary).run().expect_code(0);
        }
    }
}

#[test]
fn a_thousand_teams_and_the_whole_heap() {
    check("teams", &["--heap", "16m"], &[1, 3]);
}
