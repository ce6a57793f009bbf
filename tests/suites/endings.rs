//! How jobs end before their time: `shmem_global_exit`, a PE that leaves, dies or is killed, in every state of the
//! others. The whole job is gone within seconds and the status says why.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use harness::cgroup::Limit;
use harness::compile::Build;
use harness::run::{Job, Outcome, at_once};
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
fn core_files_have_what_is_the_pes_own() {
    let binary = Build::program("endings/dumped.c").build();
    let outcome = Job::oshrun(3).args(["--heap", "64m"]).arg(&binary).run().expect_code(0);
    assert_eq!(outcome.stdout.matches("its own\n").count(), 3, "{}", outcome.describe());
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

/// `oshprof line` finds it for whoever has the file and its debug information elsewhere.
#[test]
fn a_crash_inside_a_routine_is_told_with_the_line_of_the_call() {
    let source = tree::package().join("programs/endings/ending.c");
    let text = std::fs::read_to_string(source).expect("the program's source");
    let line = text.lines().position(|line| line.contains("called from here")).expect("the call") + 1;
    let place = format!("called from main at ending.c:{line}");
    let build = |name: &str, options: &[&str]| {
        Build::program("endings/ending.c").named(name).options(["-pthread"]).options(options.iter().copied()).build()
    };
    let run =
        |binary: &Path| Job::oshrun(3).arg(binary).args(["segv-wait", "1", "compute"]).limit(20).run().expect_code(139);
    let (known, stripped) = (build("ending-line", &["-g"]), build("ending-stripped", &["-s"]));
    let outcome = run(&known);
    outcome.expect_text(&["PE 1 of 3", "signal 11 (segmentation fault) in shmem_long_wait_until", &place]);
    let name = stripped.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unknown = format!("called from {name}+0x");
    let outcome = run(&stripped).expect_text(&[&unknown]);
    let (_, address) = outcome.stderr.split_once(&unknown).expect("a place");
    let address = address.split_whitespace().next().unwrap_or_default();
    let found = |file: &Path| {
        let place = format!("{}+0x{address}", file.display());
        Job::new(tree::tool("oshprof")).args(["line", &place]).run()
    };
    found(&stripped).expect_code(1).expect_text(&[&name]);
    // The same code, with debug information.
    found(&known).expect_code(0).expect_text(&["main at ending.c:"]);
    Job::new(tree::tool("oshprof")).args(["line", "a.out"]).run().expect_code(2);
}

#[test]
fn an_exception_that_nobody_catches_is_told_with_the_line_that_throws_it() {
    let binary = Build::program("endings/uncaught.cpp").options(["-g"]).build();
    let outcome = Job::oshrun(2).arg(&binary).limit(20).run().expect_code(134);
    outcome.expect_text(&["PE 1 of 2", "called from thrower at uncaught.cpp:7, called from main at uncaught.cpp:14"]);
}

#[test]
fn a_stack_without_room_is_told_with_the_line() {
    let binary = Build::program("endings/overflow.c").options(["-g", "-O0", "-w", "-pthread"]).build();
    for (what, function) in
        [("calls", "deeper"), ("array", "large"), ("thread", "deeper"), ("thread-array", "less_large")]
    {
        let script = "ulimit -s 8192; exec \"$@\"";
        let job = Job::new("bash").args(["-c", script, "bash"]).arg(tree::tool("oshrun")).args(["-n", "2"]);
        let outcome = job.arg(&binary).arg(what).limit(20).run().expect_code(139);
        let place = format!("in {function} at overflow.c:");
        let of_thread = "beyond the end of the thread's stack (OMP_STACKSIZE, ";
        let stack = if what.starts_with("thread") { of_thread } else { "beyond the end of the stack (ulimit -s)" };
        outcome.expect_text(&["PE 1 of 2", "signal 11", &place, stack]);
    }
}

/// A small stack for signals that the program has set up has no room for a handler that looks for callers.
#[test]
fn a_crash_on_a_small_stack_for_signals_is_what_it_is() {
    let binary = Build::program("endings/signal-stack.c").options(["-g"]).build();
    for bytes in ["4096", "8192", "65536"] {
        let outcome = Job::oshrun(2).arg(&binary).arg(bytes).limit(20).run().expect_code(134);
        outcome.expect_text(&["PE 0 of 2", "signal 6 (abort) in ", "called from main at signal-stack.c:"]);
    }
}

#[test]
fn a_call_to_where_no_code_is_is_told_with_the_line() {
    let binary = Build::program("endings/wild.c").options(["-g", "-w"]).build();
    for (what, address) in [("null", "0x0"), ("unmapped", "0x1000"), ("data", "0x")] {
        let outcome = Job::oshrun(2).arg(&binary).arg(what).limit(20).run().expect_code(139);
        let called = format!("which called address {address}");
        outcome.expect_text(&["PE 1 of 2", "signal 11", "in main at wild.c:12", &called, "where no code is"]);
    }
}

fn abort(name: &str, pes: usize, arguments: &[&str]) -> Outcome {
    let binary = Build::program("endings/abort.c").named(name).options(["-g", "-pthread"]).build();
    let outcome = Job::oshrun(pes).arg(&binary).args(arguments).limit(20).run();
    let left = system::wait_for_no_process(&binary, Duration::from_secs(3));
    assert!(left.is_empty(), "processes are left: {left:?}\n{}", outcome.describe());
    assert!(!outcome.stdout.contains("an exit handler ran"), "{}", outcome.describe());
    outcome
}

/// The line of the program of [`abort`] that has this comment.
fn line_of(comment: &str) -> String {
    let text = std::fs::read_to_string(tree::package().join("programs/endings/abort.c")).expect("the program's source");
    let line = text.lines().position(|line| line.contains(comment)).expect("the call") + 1;
    format!("called in abort_now at abort.c:{line}")
}

#[test]
fn abort_ends_the_job_with_status_reason_and_place() {
    for others in ["barrier", "wait", "finalize", "sleep", "compute"] {
        let outcome = abort("abort", 3, &["plain", "1", others]).expect_code(134);
        outcome.expect_text(&[
            "PE 1: shmemx_abort ends the job with status 134",
            &line_of("plain call"),
            "written before",
        ]);
        let outcome = abort("abort", 4, &["because", "3", others]).expect_code(7);
        outcome.expect_text(&["PE 3: shmemx_abort_because ends", "the mesh is broken", &line_of("with a reason")]);
    }
    abort("abort", 1, &["because"]).expect_code(7);
    abort("abort", 2, &["zero", "1", "barrier"]).expect_code(134).expect_text(&["nothing at all"]);
    abort("abort", 2, &["large", "0", "barrier"]).expect_code(5);
}

#[test]
fn abort_from_odd_places() {
    for (place, others) in [("thread", "finalize"), ("handler", "wait"), ("after-finalize", "finalize")] {
        let outcome = abort("abort", 3, &["because", "1", others, place]).expect_code(7);
        outcome.expect_text(&["PE 1: shmemx_abort_because", "the mesh is broken", &line_of("with a reason")]);
    }
    abort("abort", 2, &["because", "1", "barrier", "before-init"]).expect_code(7).expect_text(&["the mesh is broken"]);
    let binary = Build::program("endings/abort.c").named("abort").options(["-g", "-pthread"]).build();
    let alone = Job::new(&binary).args(["because", "0"]).limit(20).run().expect_code(7);
    alone.expect_text(&["PE 0: shmemx_abort_because", "the mesh is broken"]);
    let off =
        Job::oshrun(2).arg(&binary).args(["because", "1"]).env("SHMEM_PROFILE", "0").limit(20).run().expect_code(7);
    off.expect_text(&[&line_of("with a reason")]);
}

/// It holds the lock of the stream for as long as it reads, and whoever flushes all streams waits for it.
#[test]
fn a_thread_that_reads_keeps_no_job_from_its_end() {
    let binary = Build::program("endings/reading.c").options(["-pthread"]).build();
    for stream in ["stdin", "pipe"] {
        for (how, code, text) in [
            ("fault", 1, "PE 0: shmem_long_p: pe = 999 is not a PE"),
            ("abort", 7, "PE 0: shmemx_abort_because ends the job"),
            ("global-exit", 7, "an exit handler ran"),
        ] {
            let outcome = Job::oshrun(2).arg(&binary).args([how, stream]).limit(20).run().expect_code(code);
            outcome.expect_text(&["last words", text]);
        }
    }
}

#[test]
fn what_was_written_to_files_is_kept_where_no_thread_reads() {
    let binary = Build::program("endings/reading.c").options(["-pthread"]).build();
    for (how, code) in [("fault", 1), ("abort", 7), ("global-exit", 7)] {
        let file = tree::fresh("kept").join(how);
        let outcome = Job::oshrun(2).arg(&binary).args([how, "none"]).arg(&file).limit(20).run().expect_code(code);
        outcome.expect_text(&["last words"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), "kept", "{how}");
    }
}

#[test]
fn abort_keeps_the_profile() {
    let folder = tree::fresh("abort-profile");
    let binary = Build::program("endings/abort.c").named("abort").options(["-g", "-pthread"]).build();
    let profile = folder.join("profile");
    let mut option = std::ffi::OsString::from("--profile=");
    option.push(&profile);
    Job::oshrun(3).arg(option).arg(&binary).args(["because", "1", "wait"]).limit(20).run().expect_code(7);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&profile).run().expect_code(0);
    report.expect_text(&["shmemx_abort_because", "shmem_long_wait_until"]);
}

#[test]
fn global_exit_with_0_is_a_success() {
    for others in ["compute", "barrier", "wait"] {
        end("zero", 3, &["global-exit-0", "1", others]).expect_code(0).expect_text(&["flushed by exit"]);
    }
}

/// Over the network, what fails because the job ends is nobody's news, however many threads it fails in.
#[test]
fn the_first_end_is_told_and_not_what_comes_of_it() {
    if system::library("libfabric.so.1").is_none() {
        println!("not tested: no libfabric");
        return;
    }
    let binary = Build::program("endings/threads.c").options(["-pthread"]).build();
    let run = |what: &str| Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi").arg(&binary).arg(what).limit(30).run();
    for _ in 0..system::repetitions(2, 50) {
        let outcomes = [
            run("abort").expect_code(134).expect_text(&["PE 0 of 3", "signal 6"]),
            run("exit").expect_code(6).expect_text(&["PE 0 of 3", "status 6"]),
            run("global-exit-0").expect_code(0),
        ];
        for outcome in outcomes {
            assert!(!outcome.stderr.contains("provider"), "{}", outcome.describe());
        }
    }
    let left = system::wait_for_no_process(&binary, Duration::from_secs(3));
    assert!(left.is_empty(), "processes are left: {left:?}");
}

#[test]
fn global_exit_from_a_thread() {
    for others in ["compute", "barrier"] {
        end("thread", 3, &["thread", "2", others]).expect_code(5);
    }
}

/// A process ends with the last thread of the program (POSIX, `pthread_exit`), whatever threads the library has.
#[test]
fn main_may_end_its_thread_before_the_others() {
    let binary = Build::program("endings/main-thread.c").options(["-pthread"]).build();
    let ways: &[&str] = if system::library("libfabric.so.1").is_some() { &["auto", "ofi"] } else { &["auto"] };
    for (what, words) in [("alone", 0), ("worker", 3), ("waiter", 3), ("end", 0)] {
        for transport in ways {
            let job = Job::oshrun(3).env("SHMEM_TRANSPORT", transport).env("SHMEM_PROGRESS", "thread");
            let outcome = job.arg(&binary).arg(what).limit(20).run().expect_code(0);
            let [told, worked] = ["told", "worked"].map(|word| outcome.stdout.matches(word).count());
            assert_eq!((told, worked), (3, words), "{what}, {transport}: {}", outcome.describe());
        }
    }
}

/// Where the library's threads begin after it, too.
#[test]
fn main_may_end_its_thread_before_those_of_the_library_begin() {
    let binary = Build::program("endings/main-thread.c").options(["-pthread"]).build();
    let late = tree::scratch("endings").join("late-threads.so");
    let source = tree::workspace().join("tests/programs/endings/late-threads.c");
    let compile = Job::new("cc").args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&late).arg(source);
    compile.arg("-ldl").run().expect_code(0);
    for what in ["alone", "worker"] {
        let job = Job::oshrun(2).args(["-x", &format!("LD_PRELOAD={}", late.display())]);
        let job = job.env("SHMEM_PROGRESS", "thread").arg(&binary).arg(what);
        let outcome = job.limit(20).run().expect_code(0);
        assert_eq!(outcome.stdout.matches("told").count(), 2, "{what}: {}", outcome.describe());
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
fn a_pe_that_leaves_with_0_is_named_at_once_by_those_who_wait() {
    let outcome = end("lost", 3, &["return-0", "1", "barrier"]).expect_code(1);
    outcome.expect_text(&["shmem_barrier_all: PE 1 takes no part in it: its main has returned"]);
    // Where all leave so, the job is over.
    end("lost", 2, &["return-0", "0", "none"]).expect_code(0);
}

/// What PE 1 leaves out the others do not complete with its `shmem_finalize`.
#[test]
fn a_finalize_is_no_part_of_another_collective() {
    let binary = Build::program("endings/mixed.c").build();
    let check = |job: Job, what: &str| {
        let outcome = job.arg(&binary).arg(what).limit(15).run().expect_code(1);
        let named = outcome.stderr.contains("PE 1") && outcome.stderr.contains("shmem_finalize");
        assert!(named && !outcome.stdout.contains("went on"), "{what}: {}", outcome.describe());
        // The launcher's own look at PEs that do not go on comes later.
        assert!(outcome.elapsed < Duration::from_secs(5), "{what}: {}", outcome.describe());
    };
    for what in ["barrier", "sync", "sum", "team", "malloc", "return", "again", "nested"] {
        check(Job::oshrun(3), what);
        check(Job::oshrun(2).env("SHMEM_COLLECTIVES", "barrier:dissemination"), what);
    }
    for what in ["part", "part-sum", "set", "set-sum"] {
        check(Job::oshrun(4), what);
    }
    for what in ["file", "file-read", "file-nb", "sum-nb"] {
        check(Job::oshrun(3), what);
    }
    check(Job::oshrun(16), "barrier");
    check(Job::oshrun(3).arg("--check"), "barrier");
    for what in ["barrier", "sum", "malloc", "return", "team", "part", "part-sum", "set", "set-sum", "nested"] {
        check(Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi"), what);
    }
    for what in ["file", "file-read", "file-nb", "sum-nb"] {
        check(Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi"), what);
    }
}

/// A program that a PE is replaced by is no PE: one of the library's own says so, another is missed by those who wait.
#[test]
fn a_pe_that_replaces_its_program_is_named() {
    let binary = Build::program("endings/replaced.c").build();
    let run = |job: Job, arguments: [&str; 2]| job.arg(&binary).args(arguments).limit(20).run();
    let refused = "this process was a PE already when it replaced its program (exec)";
    for pes in [2, 3] {
        for transport in ["auto", "ofi"] {
            let job = || Job::oshrun(pes).env("SHMEM_TRANSPORT", transport);
            run(job(), ["after", "self"]).expect_code(1).expect_text(&[refused, "PE 1 of"]);
            let outcome = run(job(), ["after", "/bin/true"]).expect_code(1);
            outcome.expect_text(&["PE 1 of", "ended", "s later others", "shmem_barrier_all"]);
            let outcome = run(job(), ["before", "/bin/true"]).expect_code(1);
            outcome.expect_text(&["PE 1 of", "ended before shmem_init; ", "s later others", "in shmem_init"]);
            run(job(), ["end", "self"]).expect_code(1).expect_text(&[refused]);
        }
        // What a PE may do: become one late, and something else when it is none any more.
        assert_eq!(run(Job::oshrun(pes), ["before", "self"]).expect_code(0).stdout.matches("went on").count(), pes);
        run(Job::oshrun(pes), ["end", "/bin/true"]).expect_code(0);
    }
}

/// A plugin with a library of its own is not taken for a program that took the PE's place.
#[test]
fn a_second_copy_of_the_library_is_named() {
    let folder = tree::fresh("endings-copies");
    let plugin = "#include <shmem.h>\nvoid begin(void);\nvoid begin(void) { shmem_init(); }\n";
    let program = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <shmem.h>\n\
                   int main(void) {\n    shmem_init();\n    \
                   void *plugin = dlmopen(LM_ID_NEWLM, PLUGIN, RTLD_NOW);\n    \
                   if (plugin == NULL) return puts(dlerror()), 3;\n    \
                   ((void (*)(void))dlsym(plugin, \"begin\"))();\n    return 0;\n}\n";
    std::fs::write(folder.join("plugin.c"), plugin).expect("target/tests can be written");
    std::fs::write(folder.join("program.c"), program).expect("target/tests can be written");
    let path = folder.join("plugin.so");
    let oshcc = || Job::new(tree::tool("oshcc")).directory(&folder);
    oshcc().args(["-shared", "-fPIC", "plugin.c", "-o", "plugin.so"]).run().expect_code(0);
    let define = format!("-DPLUGIN=\"{}\"", path.display());
    oshcc().arg(&define).args(["program.c", "-ldl", "-o", "program"]).run().expect_code(0);
    let outcome = Job::oshrun(2).arg(folder.join("program")).limit(20).run().expect_code(1);
    let outcome = outcome.expect_text(&["another copy of the library in this process has made it a PE already"]);
    assert!(!outcome.stderr.contains("exec"), "{}", outcome.describe());
}

/// Who waits for answers does so for two seconds and more, beside what it takes to start: 0.1 to 0.2 s of a core a PE.
fn soon(pes: usize) -> Duration {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    Duration::from_millis(1800) + Duration::from_millis(140) * pes as u32 / cores as u32
}

/// Over the network nobody waits for an answer of those that have ended; in a long test, often.
#[test]
fn a_job_over_the_network_ends_at_once() {
    if system::library("libfabric.so.1").is_none() {
        println!("not tested: no libfabric");
        return;
    }
    let binary = Build::program("endings/empty.c").build();
    let runs = system::repetitions(4, 200);
    for pes in [2, 4, 8, 16] {
        for _ in 0..if pes == 4 { runs.max(6) } else { runs / 4 } {
            let job = || Job::oshrun(pes).env("SHMEM_TRANSPORT", "ofi").arg(&binary);
            at_once(soon(pes), job);
        }
    }
}

/// PE 0 has ended for long when PE 1 is through with its `shmem_finalize`.
#[test]
fn a_pe_that_is_slow_in_finalize_is_not_lost() {
    let tool = tree::scratch("endings").join("slow-end.so");
    let source = tree::package().join("programs/tools/slow-end.c");
    let compiler = Job::new("cc").args(["-shared", "-fPIC", "-I"]).arg(tree::prefix().join("include"));
    compiler.arg(source).arg("-o").arg(&tool).run().expect_code(0);
    let binary = Build::program("endings/empty.c").build();
    let outcome = Job::oshrun(2).arg("--tool").arg(&tool).arg(&binary).limit(20).run().expect_code(0);
    assert!(outcome.stderr.is_empty() && outcome.elapsed > Duration::from_secs(5), "{}", outcome.describe());
}

#[test]
fn a_pe_that_is_gone_after_finalize_is_reported_while_others_wait_in_an_exit_handler() {
    let binary = Build::program("endings/late.c").build();
    let outcome = Job::oshrun(3).arg(&binary).limit(20).run().expect_code(3);
    outcome.expect_text(&["PE 0 of 3", "status 3", "shmem_barrier_all"]);
    let left = system::wait_for_no_process(&binary, Duration::from_secs(3));
    assert!(left.is_empty(), "processes are left: {left:?}");
}

#[test]
fn a_kill_by_the_memory_limit_is_named() {
    let group = match Limit::memory("endings", 96 << 20) {
        Ok(group) => group,
        Err(reason) => return println!("not tested: no control group with a limit of memory can be made: {reason}"),
    };
    let binary = Build::program("endings/hungry.c").build();
    let oshrun = tree::tool("oshrun");
    let job = Job::new("sh").args(["-c", &group.script(), "sh"]).arg(&oshrun).args(["-n", "3"]).arg(&binary).limit(60);
    let outcome = job.env("SHMEM_SYMMETRIC_SIZE", "1m").run().expect_code(128 + 9);
    outcome.expect_text(&["PE 1 of 3", "signal 9 (kill), out of memory: the limit of its cgroup is 96 MiB, "]);
}

/// libfabric's destructors would take away what the other thread works with.
#[test]
fn main_returns_while_another_thread_is_in_libfabric() {
    let folder = tree::fresh("main-leaves");
    let program = |name: &str| tree::package().join("programs/network").join(name);
    let compile = Job::new("cc").args(["-shared", "-fPIC", "-Wall", "-Werror", "-o", "libslow.so"]);
    let exports = format!("-Wl,--version-script={}", program("slow.map").display());
    compile.arg(program("slow.c")).arg(&exports).directory(&folder).run().expect_code(0);
    let binary = Build::program("network/main-leaves.c").options(["-pthread"]).build();
    let job = Job::oshrun(2).arg(&binary).env("SHMEM_TRANSPORT", "ofi").env("SLOW_MARK", "mark").directory(&folder);
    let job = job.env("SHMEM_OFI_LIBRARY", &folder.join("libslow.so").to_string_lossy());
    let outcome = job.limit(30).run().expect_code(0);
    assert_eq!(outcome.stderr.matches("slow: nobody is inside").count(), 2, "{}", outcome.describe());
}

/// What a PE cannot write itself, `oshrun` says.
#[test]
fn a_mistake_is_told_though_standard_error_is_closed_or_full() {
    let binary = Build::program("endings/quiet.c").options(["-g"]).build();
    for full in [None, Some("/dev/full")] {
        for pes in [2, 3] {
            let outcome = Job::oshrun(pes).arg(&binary).args(full).limit(20).run().expect_code(1);
            let outcome = outcome.expect_text(&["oshrun: PE 1: shmem_long_put: ", "called from main at quiet.c:"]);
            assert_eq!(outcome.stderr.matches("shmem_long_put").count(), 1, "{}", outcome.describe());
        }
    }
}

/// The limit of a container or of a batch system is not that of the user.
#[test]
fn a_limit_of_processes_is_named() {
    let group = match Limit::processes("endings-pids", 9) {
        Ok(group) => group,
        Err(reason) => return println!("skipped: no control group with a limit of processes can be made: {reason}"),
    };
    let job = Job::new("sh").args(["-c", &group.script(), "sh"]).arg(tree::tool("oshrun")).args(["-n", "16"]);
    let outcome = job.args(["sleep", "5"]).limit(20).run().expect_failure();
    outcome.expect_text(&["the limit of processes of its cgroup is 9 (pids.max)"]);
}

/// A script that does not wait for what it starts, and a program that leaves another one behind: the PE is what calls
/// the library.
#[test]
fn a_pe_in_the_background_is_waited_for() {
    let binary = Build::program("endings/slow.c").build();
    let program = binary.display();
    let scripts = [
        format!("{program} {{}} & sleep 0.3"),
        format!("({program} {{}}; exit $?) & sleep 0.3"),
        format!("exec setsid {program} {{}}"),
        format!("setsid {program} {{}} & :"),
    ];
    for script in scripts {
        for status in [0, 3] {
            let script = script.replace("{}", &status.to_string());
            let outcome = Job::oshrun(2).args(["sh", "-c", &script]).limit(30).run();
            let through = outcome.stdout.matches("is through").count();
            assert_eq!(through, 2, "{script}: {}", outcome.describe());
            // Whose end only a shell has seen, nobody knows.
            let is_seen = !script.starts_with('(');
            assert!(!is_seen || outcome.code() == status, "{script}: {}", outcome.describe());
        }
    }
}

/// What options of a job have set is not for a job within it: a port would be taken.
#[test]
fn a_job_within_a_pe_has_options_of_its_own() {
    let outer = Build::program("endings/inner.c").build();
    let oshrun = tree::tool("oshrun");
    let folder = tree::fresh("endings-inner");
    let job = |options: &[&str], command: &str| {
        Job::oshrun(2).args(options).arg(&outer).arg(command).directory(&folder).limit(60).run()
    };
    for command in [format!("{} -n 2 {}", oshrun.display(), outer.display()), outer.display().to_string()] {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
        job(&[&format!("--metrics={free}"), "--trace=t"], &command).expect_code(0);
        // Whoever serves the last numbers ends once they have been fetched.
        let mut reader = TcpStream::connect(free).expect("the metrics are served");
        reader.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("a request");
        assert!(reader.read_to_end(&mut Vec::new()).expect("an answer") > 0);
        assert!(std::fs::remove_dir_all(folder.join("t")).is_ok() && !folder.join("t.2").exists());
    }
    let variables = "env | grep -c '^SHMEM_\\(TRACE\\|METRICS\\|DEBUG\\|SYMMETRIC_SIZE\\)='";
    let command = format!("{} -n 1 sh -c \"{variables}; :\"", oshrun.display());
    let outcome = job(&["--check", "--heap=4m", "--metrics-file=m.prom", "--trace=t"], &command).expect_code(0);
    assert!(outcome.stdout.lines().any(|line| line == "0"), "{}", outcome.describe());
    // What the program sets itself is for what it starts.
    let own = format!("SHMEM_SYMMETRIC_SIZE=5m {} -n 1 sh -c 'echo $SHMEM_SYMMETRIC_SIZE'", oshrun.display());
    job(&["--heap=4m"], &own).expect_code(0).expect_text(&["5m"]);
}
