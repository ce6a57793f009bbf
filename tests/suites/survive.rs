//! `oshrun --survive`: a job goes on without the PEs that are killed, and what needs them fails instead of hanging.

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{system, tree};

fn job(program: &str, pes: usize, arguments: &[&str]) -> Job {
    let binary = Build::program(program).build();
    Job::oshrun(pes).arg("--survive").arg(binary).args(arguments).limit(60)
}

/// The PEs that came to their end, of those that were not killed.
fn through(outcome: &Outcome) -> usize {
    outcome.stdout.lines().filter(|line| line.ends_with("is through")).count()
}

#[test]
fn what_needs_a_pe_that_is_lost_fails_and_all_else_goes_on() {
    for (pes, victim, how, reason) in
        [(4, "1", "kill", "signal 9 (kill)"), (3, "2", "segv", "signal 11"), (5, "0", "abort", "signal 6 (abort)")]
    {
        let outcome = job("survive/operations.c", pes, &[victim, how]).run().expect_code(0);
        let lost = [format!("1 of {pes} PEs were lost:"), format!("PE {victim} of {pes}")];
        let outcome = outcome.expect_text(&[&lost[0], &lost[1], reason, "the job goes on without it (--survive)"]);
        assert_eq!(through(&outcome), pes - 1, "{}", outcome.describe());
    }
}

#[test]
fn whoever_is_inside_of_a_call_with_a_pe_that_is_killed_leaves_it() {
    let collectives = ["barrier", "sync", "broadcast", "reduce", "fcollect", "alltoall", "malloc", "set", "split"];
    let waits = ["handle", "wait", "wait_all", "wait_any", "signal", "lock"];
    for what in collectives.into_iter().chain(waits) {
        let outcome = job("survive/inside.c", 4, &[what]).run().expect_code(0);
        assert_eq!(through(&outcome), 3, "{what}: {}", outcome.describe());
    }
}

#[test]
fn those_who_are_left_agree_and_make_a_team() {
    for pes in [2, 3, 5, 8] {
        let outcome = job("survive/team.c", pes, &[]).run().expect_code(0);
        assert_eq!(through(&outcome), pes - pes.div_ceil(3), "{}", outcome.describe());
    }
}

/// Without a loss, a job is as any other: a finalize that is not the last ends nothing.
#[test]
fn a_finalize_that_is_not_the_last_is_a_barrier() {
    for program in ["9.02-thread/finalize.c", "extensions/nested.c"] {
        let (tests, name) = (tree::workspace().join("tests"), program.replace(['/', '.'], "-"));
        let include = format!("-I{}", tests.join("include").display());
        let source = tests.join("conformance").join(program);
        let binary = Build::source(&format!("survive-{name}"), &source).options([include]).build();
        for pes in [2, 3] {
            Job::oshrun(pes).arg("--survive").arg(&binary).limit(60).run().expect_code(0);
        }
    }
}

/// Each run kills 3 of 8 PEs, at any time.
#[test]
fn a_stencil_gives_the_right_result_whichever_pes_are_killed_and_when() {
    let source = tree::workspace().join("examples/rescue/rescue.c");
    let binary = Build::source("survive-rescue", &source).options(["-O2"]).build();
    for seed in 1..=system::repetitions(3, 167) {
        let seed = seed.to_string();
        let outcome = Job::oshrun(8).arg("--survive").arg(&binary).args(["-k", "3", "-s", &seed]).limit(60).run();
        let outcome = outcome.expect_code(0);
        let right = outcome.stdout.lines().filter(|line| line.starts_with("rescue: OK")).count();
        assert!(right >= 5, "{}", outcome.describe());
    }
}

/// Each run kills one PE in the middle of messages.
#[test]
fn a_pe_that_is_killed_while_it_sends_keeps_nobody_from_going_on() {
    for run in 1..=system::repetitions(6, 500) {
        let (pes, after) = (3 + run % 3, 1 + run * 997 % 4000);
        let (victim, after) = ((run % pes).to_string(), after.to_string());
        let outcome = job("survive/flood.c", pes, &[&victim, &after]).run().expect_code(0);
        assert_eq!(through(&outcome), pes - 1, "{}", outcome.describe());
    }
}

#[test]
fn what_else_ends_a_job_ends_it_still() {
    let outcome = job("survive/ends.c", 3, &["exit"]).run().expect_code(3);
    outcome.expect_text(&["PE 1 of 3", "exited with status 3"]);
    job("survive/ends.c", 3, &["global-exit"]).run().expect_code(4);
    job("survive/ends.c", 3, &["init"]).run().expect_code(137);
    // Without a handler.
    job("survive/ends.c", 3, &["fatal"])
        .run()
        .expect_code(1)
        .expect_text(&["PE 1 is lost (killed by signal 9 (kill))"]);
    job("survive/ends.c", 3, &["all"]).run().expect_code(137).expect_text(&["3 of 3 PEs were lost"]);
}

#[test]
fn the_profile_of_a_pe_that_is_lost_is_kept() {
    let directory = tree::fresh("survive-profile");
    let binary = Build::program("survive/operations.c").build();
    let job = Job::oshrun(3).args(["--survive", "--profile", "--profile-dir"]).arg(&directory).arg(&binary);
    job.args(["1", "kill"]).limit(60).run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).args(["report", "--view", "pe"]).arg(&directory).run();
    report.expect_code(0).expect_text(&["PE 1: killed by SIGKILL (signal 9)"]);
}
