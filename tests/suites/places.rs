//! What messages say of where a PE was: the line that crashed, the call with the wrong argument, what a PE waits for,
//! and how one has left; once for all PEs of which it is true.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{launchers, system, tree};

fn program(options: &[&str]) -> PathBuf {
    let name = format!("where{}", options.concat());
    Build::program("endings/where.c").named(&name).options(options).build()
}

fn run(pes: usize, binary: &Path, way: &str) -> Outcome {
    Job::oshrun(pes).arg(binary).arg(way).limit(60).run()
}

/// `where.c:17`, of the line with this mark.
fn line(mark: &str) -> String {
    let text = std::fs::read_to_string(tree::package().join("programs/endings/where.c")).expect("the program is there");
    let mark = format!("/* {mark} */");
    let at = text.lines().position(|line| line.contains(&mark)).expect("the mark is there");
    format!("where.c:{}", at + 1)
}

#[test]
fn a_crash_names_its_line_and_its_callers() {
    for options in [&["-g", "-O0"][..], &["-g", "-O0", "-static"]] {
        let outcome = run(2, &program(options), "crash").expect_code(128 + 11);
        outcome.expect_text(&[
            &format!(
                "signal 11 (segmentation fault) in inner at {}, address 0x0, called from outer at ",
                line("crash")
            ),
            &format!("called from outer at {}", line("calls inner")),
            ", called from main at where.c:",
        ]);
    }
    // With inlined functions.
    let outcome = run(2, &program(&["-g", "-O2"]), "crash").expect_code(128 + 11);
    outcome.expect_text(&[&format!("in inner at {}, inlined in ", line("crash")), "address 0x0"]);
    // Without lines there is advice.
    let outcome = run(2, &program(&["-g0", "-O0"]), "crash").expect_code(128 + 11);
    outcome.expect_text(&["in inner+0x", ", called from outer+0x", "(compile with -g to see lines)"]);
}

#[test]
fn a_crash_in_a_routine_or_in_the_system_names_the_call() {
    let binary = program(&["-g", "-O0"]);
    let outcome = run(2, &binary, "copy").expect_code(128 + 11);
    outcome.expect_text(&["in shmem_putmem", ", address 0x40", &format!(", called from main at {}", line("copy"))]);
    let outcome = run(2, &binary, "abort").expect_code(128 + 6);
    outcome.expect_text(&["signal 6 (abort) in ", &format!(", called from main at {}", line("abort"))]);
}

/// Short calls leave no note that the PE is inside of them, and have the C library copy.
#[test]
fn a_crash_in_a_copy_of_any_size_names_the_routine() {
    for options in [&["-g", "-O0"][..], &["-g", "-O0", "-static"], &["-g0", "-O0"], &["-g0", "-O0", "-static"]] {
        let binary = program(options);
        for (way, routine) in [("copy", "shmem_putmem"), ("fetch", "shmem_getmem")] {
            for bytes in ["8", "17", "32", "100", "700", "1000", "4096", "100000"] {
                let job = Job::oshrun(2).arg(&binary).args([way, bytes]).limit(60);
                let outcome = job.run().expect_code(128 + 11);
                let text = outcome.stderr.lines().find(|line| line.contains("signal 11")).unwrap_or_default();
                // What is between, and what called main, is nobody's news.
                let line = if options[0] == "-g" { format!("main at {}", line(way)) } else { "main+0x".to_owned() };
                let is_named = text.contains(&format!("(segmentation fault) in {routine}"))
                    && text.contains(", address 0x")
                    && text.contains(&format!(", called from {line}"))
                    && text.matches("called from").count() == 1
                    && text.matches(" in ").count() == 1;
                assert!(is_named, "{options:?} {bytes}: {}", outcome.describe());
            }
        }
    }
}

/// What the program has called of the system after a short call, and what the system calls of the program.
#[test]
fn a_crash_after_a_short_call_does_not_name_the_routine() {
    for options in [&["-g", "-O0"][..], &["-g", "-O0", "-static"]] {
        let outcome = run(2, &program(options), "aside").expect_code(128 + 11);
        let callers = format!(
            ", address 0x8, called from aside at {}, called from main at {}",
            line("aside"),
            line("calls aside")
        );
        let outcome = outcome.expect_text(&["signal 11 (segmentation fault) in ", &callers]);
        assert!(!outcome.stderr.contains("shmem_long_p"), "{}", outcome.describe());
        let outcome = run(2, &program(options), "sort").expect_code(128 + 11);
        let compares = format!("(segmentation fault) in compares at {}, address 0x8", line("compares"));
        let outcome = outcome.expect_text(&[&compares]);
        assert!(!outcome.stderr.contains("shmem_long_p"), "{}", outcome.describe());
    }
}

#[test]
fn other_launchers_name_the_line_of_a_crash() {
    let Ok(hydra) = launchers::hydra() else { return println!("skipped: no Hydra") };
    let outcome = hydra.job(2).arg(program(&["-g", "-O0"])).arg("crash").limit(60).run();
    assert!(outcome.code() != 0, "{}", outcome.describe());
    outcome.expect_text(&[
        &format!("was killed by signal 11 (segmentation fault) in inner at {}, address 0x0", line("crash")),
        ", called from main at where.c:",
    ]);
}

/// The first of them ends the process, once it is told.
#[test]
fn threads_that_crash_together_are_told_of_under_other_launchers() {
    let Ok(hydra) = launchers::hydra() else { return println!("skipped: no Hydra") };
    let binary = Build::program("endings/crash-together.c").options(["-g", "-O0", "-pthread"]).build();
    for threads in ["2", "3", "8", "2", "3"] {
        let outcome = hydra.job(1).arg(&binary).arg(threads).limit(60).run();
        assert!(outcome.code() != 0, "{}", outcome.describe());
        outcome.expect_text(&["signal 11 (segmentation fault) in stores at crash-together.c:10, address 0x0"]);
    }
}

/// All PEs fail in the same call: some may come too late to be heard.
#[test]
fn a_wrong_argument_names_its_call_once() {
    let said = |outcome: Outcome, call: &str| {
        let lines: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("shmem_long_p: pe = 99")).collect();
        assert_eq!(lines.len(), 1, "{}", outcome.describe());
        assert!(lines[0].contains(call), "{}", outcome.describe());
        lines[0].to_owned()
    };
    let call = format!("valid are 0 to 7, called from main at {}", line("argument"));
    let text = said(run(8, &program(&["-g", "-O0"]), "argument").expect_code(1), &call);
    assert!(text.starts_with("pellucid: PE"), "{text}");
    said(run(8, &program(&["-g", "-O0", "-static"]), "argument").expect_code(1), &call);
    said(run(8, &program(&["-g0", "-O0"]), "argument").expect_code(1), "called from main+0x");
    if let Ok(hydra) = launchers::hydra() {
        said(hydra.job(8).arg(program(&["-g", "-O0"])).arg("argument").limit(60).run(), &call);
    }
    // Before there is a job to speak of, too.
    let outcome =
        Job::oshrun(8).env("SHMEM_ATOMICS", "gpu").arg(program(&["-g0", "-O0"])).limit(60).run().expect_code(1);
    assert_eq!(outcome.stderr.matches("SHMEM_ATOMICS=\"gpu\"").count(), 1, "{}", outcome.describe());
    assert!(!outcome.stderr.contains("before shmem_init"), "{}", outcome.describe());
}

/// Names that functions of this library and of what it is made of have are not theirs alone.
#[test]
fn a_wrong_argument_names_its_call_in_a_function_of_any_name() {
    let line = |text: &str, mark: &str| 1 + text.lines().position(|line| line.ends_with(mark)).expect("the mark");
    let (c, cxx) = (include_str!("../programs/endings/names.c"), include_str!("../programs/endings/names.cpp"));
    for options in [&["-g", "-O0"][..], &["-g", "-O2"], &["-g", "-O0", "-static"]] {
        let build = |file: &str| {
            let name = format!("{}{}", file.replace('.', "-"), options.concat());
            Build::program(&format!("endings/{file}")).named(&name).options(options).build()
        };
        let call = format!("called from shmem_halo_exchange at names.c:{}", line(c, "/* call */"));
        run(2, &build("names.c"), "").expect_code(1).expect_text(&["shmem_long_p: pe = 99", &call]);
        let binary = build("names.cpp");
        let call = format!("called from core::Solver::step(int) at names.cpp:{}", line(cxx, "// namespace"));
        run(2, &binary, "namespace").expect_code(1).expect_text(&["shmem_long_p: pe = 99", &call]);
        let call = format!("called from main at names.cpp:{}", line(cxx, "// wrong overload"));
        run(2, &binary, "overload").expect_code(1).expect_text(&["shmem_long_p: pe = 99", &call]);
    }
}

/// Overloads are no place of the program's, as little as the macros of C.
#[test]
fn a_profile_names_the_line_that_calls_an_overload() {
    let text = include_str!("../programs/endings/names.cpp");
    let line = 1 + text.lines().position(|line| line.ends_with("// overload")).expect("the mark");
    for option in ["-O0", "-O2"] {
        let name = format!("overloads{option}");
        let binary = Build::program("endings/names.cpp").named(&name).options(["-g", option]).build();
        let profile = tree::fresh(&format!("places-{name}"));
        Job::oshrun(2).arg("--profile-dir").arg(&profile).arg(&binary).arg("").limit(60).run().expect_code(0);
        let report = Job::new(tree::tool("oshprof")).arg("report").arg(&profile).args(["--view", "callsites"]).run();
        let outcome = report.expect_code(0).expect_text(&[&format!("main at names.cpp:{line}\n")]);
        assert!(!outcome.stdout.contains("shmem.h"), "{}", outcome.describe());
    }
}

#[test]
fn who_leaves_without_finalize_is_told_from_who_calls_it() {
    let binary = program(&["-g", "-O0"]);
    let outcome = run(3, &binary, "return").expect_code(1);
    outcome.expect_text(&[
        "PE 1 takes no part in it: its main has returned, or it has called exit, without shmem_finalize",
    ]);
    let outcome = run(3, &binary, "finalize").expect_code(1);
    outcome.expect_text(&["shmem_barrier_all: PE 1 takes no part in it: it is in shmem_finalize; all PEs"]);
}

fn hang(pid: u32) -> String {
    let output = Command::new(tree::tool("oshprof")).args(["hang", &pid.to_string()]).output().expect("oshprof starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What `oshprof hang` says of a job once it says all of these.
fn says(pid: u32, parts: &[&str]) -> String {
    let mut text = String::new();
    let said = system::wait_until(Duration::from_secs(30), || {
        text = hang(pid);
        parts.iter().all(|part| text.contains(part))
    });
    assert!(said, "{parts:?} not in\n{text}");
    text
}

#[test]
fn a_report_says_what_is_waited_for_and_who_computes() {
    let binary = program(&["-g", "-O0"]);
    let parts = [
        "PE 1 waits in shmem_int_wait_until for ready == 7, is 0: a store by any PE",
        "PE 2 waits in shmem_long_wait_until_all for counts > 0, is 0, all of 8: a store by any PE",
        "in shmem_int_wait_until (ready) for ",
        &format!(", called from main at {}", line("wait for all")),
        "computing for ",
        " s, since shmem_my_pe, in spin at where.c:",
    ];
    let job = Job::oshrun(4).args(["--timeout", "4"]).arg(&binary).arg("wait").limit(60).start();
    says(job.pid(), &parts[..4]);
    let outcome = job.wait();
    assert_eq!(outcome.code(), 124, "{}", outcome.describe());
    outcome.expect_text(&parts);
}

/// PEs that do the same have one line.
#[test]
fn a_report_names_pes_that_do_the_same_together() {
    let job = Job::oshrun(6).args(["--timeout", "3"]).arg(program(&["-g", "-O0"])).arg("wait").limit(60).start();
    let outcome = job.wait();
    let text = outcome.stderr.lines().find(|line| line.contains("in shmem_barrier_all for")).unwrap_or_default();
    assert!(text.contains("PEs 0, 4, 5 of 6 (pids "), "{}", outcome.describe());
}

/// Jobs of other launchers are found by the segment that their PEs hold.
#[test]
fn jobs_of_other_launchers_are_found() {
    for launcher in [launchers::hydra(), launchers::open_mpi()] {
        let Ok(launcher) = launcher else { continue };
        let job = launcher.job(4).arg(program(&["-g", "-O0"])).arg("wait").limit(60).start();
        // By the number of the launcher.
        let text = says(job.pid(), &["PE 1 waits in shmem_int_wait_until for ready == 7, is 0", "4 PEs on "]);
        let title = text.lines().next().unwrap_or_default();
        assert!(title.contains("where") && title.contains(" wait, 4 PEs"), "{text}");
        // By that of a PE.
        let pid = text.lines().find_map(|line| line.strip_prefix("PE 1 (pid ")?.split(')').next()?.parse().ok());
        says(pid.expect("PE 1 has a line"), &["PE 1 waits in shmem_int_wait_until for ready == 7, is 0"]);
        let top = ["top", "--once", "--interval", "0.2", &job.pid().to_string()];
        let top = Command::new(tree::tool("oshprof")).args(top).output().expect("oshprof starts");
        assert!(String::from_utf8_lossy(&top.stdout).contains("shmem_int_wait_until"), "{top:?}");
        system::signal(job.pid(), libc::SIGTERM);
        job.wait();
    }
}
