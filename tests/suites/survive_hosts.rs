//! `oshrun --survive` over the network: on one host, on several, and where a whole host is lost.

use harness::compile::Build;
use harness::hosts::Hosts;
use harness::run::{Job, Outcome};
use harness::{system, tree, wheels};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// PEs of one host that reach each other by the network.
fn by_network(pes: usize) -> Job {
    let job = Job::oshrun(pes).arg("--survive").env("SHMEM_TRANSPORT", "ofi").limit(60);
    wheels::quick_libfabric().into_iter().fold(job, |job, (name, value)| job.env(name, &value))
}

/// So many PEs on each host.
fn on_hosts(net: &Hosts, pes: usize) -> Job {
    net.oshrun_with(&["--survive", "--hosts", &net.list(pes)]).limit(60)
}

fn program(name: &str) -> PathBuf {
    Build::program(&format!("survive/{name}.c")).build()
}

fn rescue(name: &str) -> PathBuf {
    Build::source(name, &tree::workspace().join("examples/rescue/rescue.c")).options(["-O2"]).build()
}

/// All PEs but some came to their end.
fn through(outcome: Outcome, pes: usize) -> Outcome {
    let outcome = outcome.expect_code(0);
    let through = outcome.stdout.lines().filter(|line| line.ends_with("is through")).count();
    assert_eq!(through, pes, "{}", outcome.describe());
    outcome
}

#[test]
fn what_needs_a_pe_that_is_lost_fails_and_all_else_goes_on() {
    let binary = program("operations");
    for (victim, how, reason) in [("1", "kill", "signal 9"), ("0", "segv", "signal 11"), ("3", "abort", "signal 6")] {
        let outcome = through(by_network(4).arg(&binary).args([victim, how]).run(), 3);
        outcome.expect_text(&["1 of 4 PEs were lost:", reason, "the job goes on without it (--survive)"]);
    }
    let Some(net) = Hosts::new(2) else { return };
    for (victim, how, host) in [("1", "kill", "a"), ("2", "segv", "b"), ("0", "abort", "a")] {
        let outcome = through(on_hosts(&net, 2).arg(&binary).args([victim, how]).run(), 3);
        outcome.expect_text(&["1 of 4 PEs were lost:", &format!("PE {victim} of 4 on host {host} (pid ")]);
    }
}

#[test]
fn whoever_is_inside_of_a_call_with_a_pe_that_is_killed_leaves_it() {
    let collectives = ["barrier", "sync", "broadcast", "reduce", "fcollect", "alltoall", "malloc", "set", "split"];
    let waits = ["handle", "wait", "wait_all", "wait_any", "signal", "lock"];
    let (binary, net) = (program("inside"), Hosts::new(2));
    for what in collectives.into_iter().chain(waits) {
        through(by_network(4).arg(&binary).arg(what).run(), 3);
        if let Some(net) = &net {
            through(on_hosts(net, 2).arg(&binary).arg(what).run(), 3);
        }
    }
}

#[test]
fn what_is_under_way_to_a_pe_that_is_killed_ends_with_it() {
    let (binary, net) = (program("under_way"), Hosts::new(2));
    for run in 1..=system::repetitions(3, 60) {
        let after = (run * 1999 % 60_000 + 1).to_string();
        through(by_network(4).arg(&binary).arg(&after).run(), 3);
        if let Some(net) = &net {
            through(on_hosts(net, 2).arg(&binary).arg(&after).run(), 3);
        }
    }
}

#[test]
fn those_who_are_left_agree_and_make_a_team() {
    let binary = program("team");
    for pes in [2, 5] {
        through(by_network(pes).arg(&binary).run(), pes - pes.div_ceil(3));
    }
    let Some(net) = Hosts::new(3) else { return };
    for each in [1, 2, 3] {
        through(on_hosts(&net, each).arg(&binary).run(), 3 * each - each);
    }
}

#[test]
fn a_pe_that_is_killed_while_it_sends_keeps_nobody_from_going_on() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = program("flood");
    for run in 1..=system::repetitions(4, 200) {
        let (victim, after) = ((run % 4).to_string(), (1 + run * 997 % 4000).to_string());
        through(on_hosts(&net, 2).arg(&binary).args([&victim, &after]).run(), 3);
    }
}

#[test]
fn what_else_ends_a_job_ends_it_still() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = program("ends");
    let run = |what: &str| on_hosts(&net, 2).arg(&binary).arg(what).run();
    run("exit").expect_code(3).expect_text(&["PE 1 of 4 on host a", "exited with status 3"]);
    run("global-exit").expect_code(4);
    run("init").expect_code(137);
    run("fatal").expect_code(1).expect_text(&["PE 1 is lost (killed by signal 9 (kill))"]);
    run("all").expect_code(137).expect_text(&["4 of 4 PEs were lost"]);
}

#[test]
fn the_profile_of_a_pe_that_is_lost_is_kept() {
    let Some(net) = Hosts::new(2) else { return };
    let directory = tree::fresh("survive-hosts-profile");
    let options = ["--survive", "--hosts", &net.list(2), "--profile", "--profile-dir"];
    let job = net.oshrun_with(&options).arg(&directory).arg(program("operations")).args(["1", "kill"]);
    through(job.limit(60).run(), 3);
    let report = Job::new(tree::tool("oshprof")).args(["report", "--view", "pe"]).arg(&directory).run();
    report.expect_code(0).expect_text(&["PE 1: killed by SIGKILL (signal 9)"]);
}

/// Each run kills some PEs, at any time.
#[test]
fn a_stencil_gives_the_right_result_whichever_pes_are_killed_and_when() {
    let binary = rescue("survive-rescue-hosts");
    for hosts in [2, 4] {
        let Some(net) = Hosts::new(hosts) else { return };
        for seed in 1..=system::repetitions(2, 100) {
            let seed = seed.to_string();
            // Neighbours, and no more than one host has: a copy is left.
            let outcome = on_hosts(&net, 2).arg(&binary).args(["-k", "2", "-l", "400", "-s", &seed]).run();
            is_right(outcome, 2 * hosts - 2);
        }
    }
}

/// At least so many PEs have found the rod right.
fn is_right(outcome: Outcome, pes: usize) -> Outcome {
    let outcome = outcome.expect_code(0);
    let right = outcome.stdout.lines().filter(|line| line.starts_with("rescue: OK")).count();
    assert!(right >= pes, "{}", outcome.describe());
    outcome
}

/// A stencil runs on these hosts, two PEs on each, while something is done to one of them.
fn rescued(net: &Hosts, binary: &Path, what: impl FnOnce()) -> Outcome {
    // Too long to end before; beside others it takes several times as long as alone.
    let job = on_hosts(net, 2).limit(180).arg(binary).args(["-c", "20", "-t", "80000", "-k", "0"]);
    let running = job.start();
    let pes = 2 * net.names().len();
    let up = system::wait_until(Duration::from_secs(20), || system::processes(binary).len() == pes);
    assert!(up, "{pes} PEs start");
    // They are out of shmem_init by then, or the job ends, which the caller sees.
    std::thread::sleep(Duration::from_millis(1500));
    what();
    running.wait()
}

#[test]
fn a_job_goes_on_without_a_host_that_is_cut_off() {
    let Some(net) = Hosts::new(3) else { return };
    let binary = rescue("survive-rescue-cut");
    let outcome = rescued(&net, &binary, || net.cut("b")).expect_code(0);
    let outcome = outcome.expect_text(&["lost host b (PEs 2 to 3): nothing was heard of it for 7 s"]);
    outcome.expect_text(&["rescue: OK", "4 of 6 PEs were left", "2 of 6 PEs were lost:"]);
    assert_eq!(system::wait_for_no_process(&binary, Duration::from_secs(15)), Vec::<u32>::new());
}

/// Both are heard of by the launcher: it ends the one that the other is first to tell of.
#[test]
fn a_job_goes_on_where_two_hosts_do_not_reach_each_other() {
    let Some(net) = Hosts::new(3) else { return };
    let binary = rescue("survive-rescue-between");
    let outcome = rescued(&net, &binary, || net.forbid("b", &net.address(2))).expect_code(0);
    let lost = [("b (PEs 2 to 3)", "c (PEs 4 to 5)"), ("c (PEs 4 to 5)", "b (PEs 2 to 3)")];
    let says = |(lost, by): (&str, &str)| format!("lost host {lost}: host {by} has not reached it for long: ");
    let told = lost.map(says).iter().filter(|text| outcome.stderr.contains(*text)).count();
    assert_eq!(told, 1, "{}", outcome.describe());
    outcome.expect_text(&["rescue: OK", "4 of 6 PEs were left", "2 of 6 PEs were lost:"]);
    assert_eq!(system::wait_for_no_process(&binary, Duration::from_secs(15)), Vec::<u32>::new());
}

#[test]
fn a_job_goes_on_without_a_host_whose_part_of_the_launcher_is_killed() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = rescue("survive-rescue-part");
    let outcome = rescued(&net, &binary, || assert!(system::signal(net.part("b"), 9))).expect_code(0);
    outcome.expect_text(&["lost host b (PEs 2 to 3): ", "rescue: OK", "2 of 4 PEs were left", "2 of 4 PEs were lost:"]);
}

#[test]
fn a_job_goes_on_without_a_host_that_is_told_to_end() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = rescue("survive-rescue-term");
    let outcome = rescued(&net, &binary, || assert!(system::signal(net.part("b"), 15))).expect_code(0);
    let lost =
        "lost host b (PEs 2 to 3): its oshrun got signal 15 (termination); the job goes on without it (--survive)";
    outcome.expect_text(&[lost, "rescue: OK", "2 of 4 PEs were left", "2 of 4 PEs were lost:"]);
}
