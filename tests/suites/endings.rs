//! How jobs end before their time: `shmem_global_exit`, a PE that leaves, dies or is killed, in every state of the
//! others. The whole job is gone within seconds and the status says why.

use std::time::Duration;

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{system, tree};

const STATES: &[&str] = &["compute", "barrier", "wait", "sleep", "lock", "malloc", "finalize", "traffic"];

fn end(name: &str, pes: usize, arguments: &[&str]) -> Outcome {
    let binary = Build::program("endings/ending.c").named(&format!("ending-{name}")).options(["-pthread"]).build();
    let outcome = Job::oshrun(pes).arg(&binary).args(arguments).limit(20).run();
    assert!(outcome.elapsed < Duration::from_secs(5), "{}", outcome.describe());
    let left = system::wait_for_no_process(&binary, Duration::from_secs(3));
    assert!(left.is_empty(), "processes are left: {left:?}\n{}", outcome.describe());
    outcome
}

#[test]
fn global_exit_from_any_pe_in_any_state_of_the_others() {
    for (index, others) in STATES.iter().enumerate() {
        for pes in [2, 4] {
            let one = (index % pes).to_string();
            end("global", pes, &["global-exit", &one, others]).expect_code(9).expect_text(&["flushed by exit"]);
        }
    }
    end("global", 1, &["global-exit"]).expect_code(9);
    end("global", 16, &["global-exit", "7", "compute"]).expect_code(9);
}

#[test]
fn global_exit_in_odd_states() {
    let binary = Build::program("endings/odd.c").build();
    for case in [
        "before-init",
        "others-before-init",
        "init-late",
        "after-finalize",
        "exit-handler",
        "signal-handler",
        "signal-in-barrier",
        "big",
        "negative",
        "stopped",
        "child",
        "nested",
    ] {
        let outcome = Job::oshrun(3).arg(&binary).arg(case).limit(15).run();
        assert_eq!(outcome.code(), 7, "{case}: {}", outcome.describe());
        let left = system::wait_for_no_process(&binary, Duration::from_secs(3));
        assert!(left.is_empty(), "{case}: processes are left: {left:?}");
    }
}

#[test]
fn global_exit_with_0_is_a_success() {
    for others in ["compute", "barrier", "wait"] {
        end("zero", 3, &["global-exit-0", "1", others]).expect_code(0).expect_text(&["flushed by exit"]);
    }
}

#[test]
fn global_exit_from_a_thread() {
    for others in ["compute", "barrier"] {
        end("thread", 3, &["thread", "2", others]).expect_code(5);
    }
}

#[test]
fn global_exit_of_all_gives_one_of_the_statuses() {
    let binary = Build::program("endings/all-exit.c").build();
    for pes in [1, 2, 4, 16] {
        for _ in 0..3 {
            let outcome = Job::oshrun(pes).arg(&binary).limit(15).run();
            assert!((20..20 + pes as i32).contains(&outcome.code()), "{}", outcome.describe());
        }
    }
}

#[test]
fn global_exit_runs_handlers_and_flushes_files() {
    let binary = Build::program("endings/handlers.c").build();
    let file = tree::scratch("endings").join("kept");
    let _ = std::fs::remove_file(&file);
    Job::oshrun(2).arg(&binary).arg(&file).limit(15).run().expect_code(3).expect_text(&["handler ran"]);
    assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some("kept in a buffer"));
}

#[test]
fn a_pe_that_leaves_takes_the_job_along() {
    for others in ["compute", "barrier", "wait"] {
        end("leave", 3, &["return", "1", others]).expect_code(4).expect_text(&["PE 1 of 3", "status 4"]);
        end("leave", 3, &["exit", "2", others]).expect_code(6).expect_text(&["PE 2 of 3", "status 6"]);
        end("leave", 2, &["_exit", "0", others]).expect_code(8).expect_text(&["PE 0 of 2", "status 8"]);
    }
}

#[test]
fn a_pe_that_dies_takes_the_job_along_and_is_named() {
    for others in STATES {
        let outcome = end("die", 3, &["kill", "1", others]).expect_code(128 + 9);
        // Where it was last: it had synchronized with the others.
        outcome.expect_text(&["PE 1 of 3", "signal 9", "shmem_barrier_all"]);
    }
    end("die", 2, &["abort", "0", "barrier"]).expect_code(128 + 6).expect_text(&["PE 0 of 2", "signal 6"]);
}

#[test]
fn a_pe_that_leaves_with_0_is_reported_while_others_wait() {
    let binary = Build::program("endings/ending.c").named("ending-lost").options(["-pthread"]).build();
    let outcome =
        Job::oshrun(3).args(["--timeout", "6"]).arg(&binary).args(["return-0", "1", "barrier"]).limit(20).run();
    assert!(outcome.code() > 0, "{}", outcome.describe());
    outcome.expect_text(&["PE 1 of 3", "shmem_finalize"]);
    // Where all leave so, the job is over.
    Job::oshrun(2).arg(&binary).args(["return-0", "0", "none"]).limit(20).run().expect_code(0);
}

#[test]
fn a_pe_that_is_gone_after_finalize_is_reported_while_others_wait_in_an_exit_handler() {
    let binary = Build::program("endings/late.c").build();
    let outcome = Job::oshrun(3).arg(&binary).limit(20).run().expect_code(3);
    outcome.expect_text(&["PE 0 of 3", "status 3", "shmem_barrier_all"]);
    let left = system::wait_for_no_process(&binary, Duration::from_secs(3));
    assert!(left.is_empty(), "processes are left: {left:?}");
}
