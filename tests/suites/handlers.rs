//! Signal handlers that call the library, threads with small stacks: docs/threads.md.

use std::time::Duration;

use harness::compile::Build;
use harness::report::Report;
use harness::run::{Job, Outcome, is_over_network};
use harness::{system, tree};

fn program() -> std::path::PathBuf {
    Build::program("handlers/handlers.c").build()
}

/// Handlers a PE: thousands with `./x test --long`.
fn handlers() -> String {
    system::repetitions(300, 30_000).to_string()
}

fn number(outcome: &Outcome, name: &str) -> Vec<u64> {
    let after = |line: &str| line.split_once(name).and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    outcome.stdout.lines().filter_map(after).collect()
}

#[test]
fn transfers_through_memory_are_allowed_in_handlers_and_traced() {
    if is_over_network() {
        return;
    }
    for detail in ["auto", "full"] {
        let directory = tree::fresh(&format!("handlers-{detail}"));
        let (trace, profile) = (directory.join("trace"), directory.join("profile"));
        let outcome = Job::oshrun(2)
            .args(["-x", &format!("SHMEM_TRACE_DETAIL={detail}"), "--trace"])
            .arg(&trace)
            .arg("--profile-dir")
            .arg(&profile)
            .arg(program())
            .args(["transfers", &handlers()])
            .limit(90)
            .run()
            .expect_code(0);
        let (turns, handled) = (number(&outcome, "turns "), number(&outcome, "handled "));
        assert_eq!((turns.len(), handled.len()), (2, 2), "{}", outcome.describe());
        // Nothing is lost, whenever the handler came.
        let (turns, handled): (u64, u64) = (turns.iter().sum(), handled.iter().sum());
        let report = Report::read(&profile, false);
        let calls = |name| report.routine(name).0;
        assert_eq!(calls("shmem_long_p"), 50 * turns + handled, "{}", outcome.describe());
        assert_eq!(calls("shmem_long_atomic_add"), 50 * turns);
        assert_eq!(calls("shmem_long_atomic_inc"), handled);
        let events = Job::new(tree::tool("oshprof")).args(["trace", "--to", "csv"]).arg(&trace).limit(60).run();
        let events = events.expect_code(0);
        assert!(events.stdout.lines().count() > 100, "{}", events.describe());
        // About one handler in three comes while an event is being written.
        for said in [&outcome.stderr, &events.stderr] {
            let named = said.contains(" of signal handlers came while their thread was writing another");
            assert!(named && said.contains("SHMEM_TRACE_SIZE") == said.contains("older ones"), "{said}");
        }
    }
}

/// Where each addition is one instruction, as docs/threads.md says.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_handler_between_two_instructions_loses_no_call() {
    if is_over_network() {
        return;
    }
    let profile = tree::fresh("handlers-counts").join("profile");
    for kept in [false, true] {
        let mut job = Job::oshrun(2);
        if kept {
            job = job.arg("--profile-dir").arg(&profile);
        }
        let outcome = job.arg(program()).arg("counts").limit(120).run().expect_code(0);
        let (handled, lost) = (number(&outcome, "handled "), number(&outcome, "lost "));
        assert!(handled.len() == 8 && handled.iter().all(|&signals| signals > 10), "{}", outcome.describe());
        assert_eq!(lost, [0; 8], "{}", outcome.describe());
    }
}

#[test]
fn with_checks_handlers_may_call_wherever_the_program_was_interrupted() {
    if is_over_network() {
        return;
    }
    let cases = [(1, "checked"), (2, "transfers")];
    for (pes, case) in cases {
        let job = Job::oshrun(pes).arg("--check").arg(program()).args([case, &handlers()]).limit(90);
        let outcome = job.run().expect_code(0);
        let enough = number(&outcome, "handled ").iter().all(|handled| handled.to_string().len() >= handlers().len());
        assert!(enough && outcome.stdout.contains("handled "), "{}", outcome.describe());
    }
}

#[test]
fn markers_and_levels_from_a_handler_never_hang() {
    // Thousands of markers take a minute where other programs have the cores.
    let limit = if system::is_long() { 300 } else { 60 };
    let outcome = Job::oshrun(2).arg(program()).args(["markers", &handlers()]).limit(limit).run().expect_code(0);
    assert!(outcome.elapsed < Duration::from_secs(limit - 10), "{}", outcome.describe());
}

/// What a thread is in, it is in after a call in a signal handler as before it: to whoever looks why the job hangs.
#[test]
fn a_wait_that_a_handler_has_interrupted_is_still_seen() {
    let binary = Build::program("handlers/waits.c").build();
    // A collective of its own says by itself that its team is in another one.
    let ways = [("wait", "shmem_long_wait_until"), ("lock", "shmem_set_lock"), ("reduce", "shmem_long_sum_reduce")];
    let calls: &[&str] = if is_over_network() { &["query", "level"] } else { &["put", "query", "level"] };
    for (way, routine) in ways {
        for call in calls {
            let outcome = Job::oshrun(2).args(["--timeout", "2"]).arg(&binary).args([way, call]).limit(60).run();
            let text = &outcome.stderr;
            let shows = |pe: usize, routine: &str| {
                let line = text.lines().find(|line| line.contains(&format!("PE {pe} of 2 (pid ")));
                line.is_some_and(|line| line.contains(&format!("): in {routine}")))
            };
            assert!(shows(0, "shmem_barrier_all") && shows(1, routine), "{way} {call}: {}", outcome.describe());
        }
    }
}

#[test]
fn over_the_network_a_handler_that_interrupts_a_call_is_refused() {
    if system::library("libfabric.so.1").is_none() {
        println!("skipped: there is no libfabric");
        return;
    }
    for options in [&[][..], &["--profile", "off"]] {
        let job = Job::oshrun(2).args(options).env("SHMEM_TRANSPORT", "ofi").arg(program()).arg("network");
        let outcome = job.limit(30).run().expect_code(1);
        let line = outcome.stderr.lines().find(|line| line.contains("called in a signal handler"));
        let line = line.unwrap_or_else(|| panic!("{}", outcome.describe()));
        let words =
            ["shmem_long_p: called in a signal handler that interrupted ", "over the network", "docs/threads.md"];
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
        // Which routine that was, the profile knows.
        assert!(!options.is_empty() || line.contains("interrupted shmem_"), "{line}");
    }
}

#[test]
fn a_handler_that_may_wait_in_a_call_that_waits_is_refused() {
    let outcome = Job::oshrun(2).arg(program()).arg("barrier").limit(20).run().expect_code(1);
    let words =
        ["PE 0: shmem_barrier_all: called in a signal handler that interrupted shmem_barrier_all in the same thread"];
    assert!(outcome.elapsed < Duration::from_secs(8), "{}", outcome.describe());
    outcome.expect_text(&words);
}

#[test]
fn a_jump_out_of_a_wait_leaves_it() {
    if is_over_network() {
        return;
    }
    for options in [&[][..], &["--profile", "off"]] {
        let outcome = Job::oshrun(3).args(options).arg(program()).arg("jump").limit(20).run();
        assert_eq!(outcome.expect_code(0).stdout.matches("jumped").count(), 3);
    }
}

/// The bytes that docs/threads.md says the groups of `stack.c` need, in their order.
fn documented(column: usize) -> Vec<(String, u64)> {
    let page = std::fs::read_to_string(tree::workspace().join("docs/threads.md")).expect("docs/threads.md");
    let (_, rows) = page.split_once("## Stacks").expect("a chapter on stacks");
    let cells = rows.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let bytes = |cell: &str| cell.strip_suffix(" KiB")?.parse::<u64>().ok().map(|kib| kib << 10);
    cells.filter_map(|row| Some((row.get(1)?.to_string(), bytes(row.get(column)?)?))).collect()
}

#[test]
fn calls_need_no_more_stack_than_the_page_says() {
    let binary = Build::program("handlers/stack.c").options(["-pthread"]).build();
    let mut passes = vec![("auto", documented(2))];
    if system::library("libfabric.so.1").is_some() {
        passes.push(("ofi", documented(3)));
    }
    for (transport, rows) in passes {
        assert_eq!(rows.len(), 6, "{rows:?}");
        let bounds: Vec<String> = rows.iter().map(|(_, bytes)| bytes.to_string()).collect();
        let job = Job::oshrun(2).env("SHMEM_TRANSPORT", transport).arg(&binary).args(&bounds).limit(60);
        let outcome = job.run().expect_code(0);
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        outcome.expect_text(&names);
    }
}

/// It would overwrite what lies below, or crash without a word.
#[test]
fn a_stack_too_small_for_the_network_is_named() {
    let binary = Build::program("handlers/small_stack.c").options(["-pthread"]).build();
    let run = |transport: &str, kind: &str, kib: &str| {
        Job::oshrun(2).env("SHMEM_TRANSPORT", transport).arg(&binary).args([kind, kib]).limit(30).run()
    };
    let has_it = ["PE 0 has it", "PE 1 has it"];
    if !is_over_network() {
        for kind in ["thread", "signal"] {
            run("auto", kind, "16").expect_code(0).expect_text(&has_it);
        }
    }
    if system::library("libfabric.so.1").is_none() {
        return println!("skipped: there is no libfabric");
    }
    for kind in ["thread", "signal"] {
        let words = ["shmem_long_p: ", " KiB of the stack are left here", "needs 20", "docs/threads.md"];
        run("ofi", kind, "16").expect_code(1).expect_text(&words);
        run("ofi", kind, "36").expect_code(0).expect_text(&has_it);
    }
}
