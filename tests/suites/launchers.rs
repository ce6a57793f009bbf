//! Programs under other launchers than ours: Open MPI's `mpirun`, Hydra's `mpiexec`, Slurm's `srun`, as far as they are
//! installed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use harness::compile::Build;
use harness::launchers::{self, Family, Launcher, Verdict, ensure};
use harness::program::{self, Program};
use harness::report::Report;
use harness::run::{Job, Outcome};
use harness::{system, tree};
use libtest_mimic::{Failed, Trial};

fn main() -> ExitCode {
    let with_port = |cluster: &Result<_, _>| {
        let by_port = launchers::hydra().map(|hydra| hydra.with(&["-pmi-port"]));
        launchers::all(cluster).into_iter().chain([("mpiexec.hydra -pmi-port", by_port)])
    };
    launchers::run_suite(2, with_port, add, |_, _| ())
}

fn add(trials: &mut Vec<Trial>, name: &'static str, launcher: &Arc<Launcher>) {
    let mut add = |what: &str, test: fn(&Launcher) -> Verdict| {
        let launcher = launcher.clone();
        trials.push(Trial::test(format!("{name}: {what}"), move || test(&launcher).map_err(Failed::from)));
    };
    add("every PE takes part", every_pe_takes_part);
    add("what is in charge is said", what_is_in_charge_is_said);
    add("the choice can be overridden", the_choice_can_be_overridden);
    add("two jobs at once", two_jobs_at_once);
    add("a static executable", a_static_executable);
    add("endings", endings);
    add("nothing is left", nothing_is_left);
    add("a profile directory", a_profile_directory);
    add("a snapshot", a_snapshot);
    add("a PE that does not come is waited for with a word", a_pe_that_does_not_come_is_waited_for_with_a_word);
    add("a program that a PE starts is no PE", a_program_that_a_pe_starts_is_no_pe);
    add("oshrun below it", oshrun_below_it);
    add("it below oshrun", it_below_oshrun);
    if name != "mpiexec.hydra -pmi-port" {
        match launcher.on_two_hosts(2) {
            Ok(_) => {
                add("two hosts", two_hosts);
                add("profile and trace of two hosts", profile_and_trace_of_two_hosts);
            }
            Err(reason) => println!("not tested: {name}: two hosts: {reason}"),
        }
    }
    // `libpmix` has leaks of its own.
    if launcher.protocol != "PMIx" {
        add("nothing leaks", nothing_leaks);
    }
    if launcher.protocol == "PMIx" {
        add("without libpmix", without_libpmix);
    }
    if matches!(launcher.family, Family::Orte | Family::Prrte) {
        add("this host and another", this_host_and_another);
    }
    if launcher.family == Family::Prrte {
        add("its own libpmix is taken", its_own_libpmix_is_taken);
    }
    // Whatever is in memory is the same everywhere: all of the suite once, a part of it elsewhere.
    for program in
        program::conformance().into_iter().filter(|program| program.runs_alike() && program.missing().is_empty())
    {
        let few = ["9.06-rma/contiguous", "9.07-amo/concurrent", "9.10-collective/barrier", "9.04-team/cycles"];
        if name == "mpiexec.hydra" || few.contains(&program.name.as_str()) {
            let launcher = launcher.clone();
            let title = format!("{name}: {}", program.name);
            trials.push(Trial::test(title, move || conformance(&launcher, &program).map_err(Failed::from)));
        }
    }
}

fn ends_with(outcome: Outcome, code: i32) -> Result<Outcome, String> {
    ensure(outcome.code() == code, &outcome, &format!("expected exit status {code}"))?;
    Ok(outcome)
}

fn says(outcome: &Outcome, text: &str) -> Verdict {
    let said = outcome.stdout.contains(text) || outcome.stderr.contains(text);
    ensure(said, outcome, &format!("the output lacks {text:?}"))
}

fn hello() -> PathBuf {
    Build::source("hello", &tree::workspace().join("examples/hello/hello.c")).build()
}

fn every_pe_takes_part(launcher: &Launcher) -> Verdict {
    for pes in [1, 2, 3, 8] {
        let outcome = ends_with(launcher.job(pes).arg(hello()).run(), 0)?;
        says(&outcome, &format!("OK, all {pes} PEs signed"))?;
        for pe in 0..pes {
            says(&outcome, &format!("hello from PE {pe} of {pes} "))?;
        }
        ensure(outcome.stdout.matches("OK, all").count() == 1, &outcome, "one job")?;
    }
    Ok(())
}

fn nothing_leaks(launcher: &Launcher) -> Verdict {
    let source = tree::workspace().join("examples/hello/hello.c");
    let Ok(hello) = Build::source("hello-leaks", &source).options(["-fsanitize=address"]).try_build() else {
        return launchers::skip("no address sanitizer");
    };
    let outcome = ends_with(launcher.job(3).arg(hello).env("ASAN_OPTIONS", "detect_leaks=1").run(), 0)?;
    says(&outcome, "OK, all 3 PEs signed")?;
    let found = outcome.stdout.contains("Sanitizer") || outcome.stderr.contains("Sanitizer");
    ensure(!found, &outcome, "it reports nothing")
}

fn what_is_in_charge_is_said(launcher: &Launcher) -> Verdict {
    for variable in ["SHMEM_INFO"] {
        let outcome = ends_with(launcher.job(3).arg(hello()).env(variable, "1").run(), 0)?;
        let line = outcome
            .stdout
            .lines()
            .chain(outcome.stderr.lines())
            .find(|line| line.to_lowercase().contains("started by"));
        let line = line.ok_or(format!("{variable}: no line says it\n{}", outcome.describe()))?;
        let host = Job::new("hostname").run().stdout;
        for part in [launcher.protocol, "PE 0 of 3", "PEs 0 to 2 on host", host.trim()] {
            ensure(line.contains(part), &outcome, &format!("{line:?} lacks {part:?}"))?;
        }
    }
    Ok(())
}

fn the_choice_can_be_overridden(launcher: &Launcher) -> Verdict {
    let run = |value: &str| launcher.job(2).arg(hello()).env("SHMEM_BOOTSTRAP", value).run();
    let outcome = ends_with(run("none"), 0)?;
    ensure(outcome.stdout.matches("OK, all 1 PEs").count() == 2, &outcome, "each is a job of its own")?;
    let (same, other) = match launcher.protocol {
        "PMIx" => ("pmix", None),
        "PMI-2" => ("pmi2", Some("pmi1")),
        _ => ("pmi1", Some("pmi2").filter(|_| launcher.family == Family::Hydra)),
    };
    says(&ends_with(run(same), 0)?, "OK, all 2 PEs")?;
    // Hydra and Slurm answer to both versions, on a descriptor.
    if let Some(other) = other {
        let outcome = run(other);
        if !outcome.stderr.contains("the launcher has not set PMI_FD") {
            says(&ends_with(outcome, 0)?, "OK, all 2 PEs")?;
        }
    }
    for (value, message) in [
        ("oshrun", "SHMEM_BOOTSTRAP=oshrun: the launcher has not set PELLUCID_JOB_FD"),
        ("mpi", "SHMEM_BOOTSTRAP=\"mpi\": expected auto, oshrun, pmix, pmi2, pmi1 or none"),
    ] {
        let outcome = run(value);
        ensure(outcome.code() > 0, &outcome, "expected a failure")?;
        says(&outcome, message)?;
    }
    Ok(())
}

fn two_jobs_at_once(launcher: &Launcher) -> Verdict {
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..2).map(|_| scope.spawn(|| launcher.job(3).arg(hello()).run())).collect();
        jobs.into_iter().map(|job| job.join().expect("a thread that runs a job")).collect()
    });
    outcomes.into_iter().try_for_each(|outcome| says(&ends_with(outcome, 0)?, "OK, all 3 PEs signed"))
}

/// Both on this machine, each with memory of its own.
fn two_hosts(launcher: &Launcher) -> Verdict {
    let launcher = launcher.on_two_hosts(2)?;
    let outcome = ends_with(launcher.job(4).arg(hello()).env("SHMEM_INFO", "1").run(), 0)?;
    says(&outcome, "OK, all 4 PEs signed")?;
    says(&outcome, "PE 0 of 4, PEs 0 to 1 on host")?;
    says(&outcome, "network between 2 hosts")?;
    let ending = Build::program("endings/ending.c").build();
    let outcome = launcher.job(4).arg(&ending).args(["global-exit", "1", "wait"]).limit(30).run();
    ensure(outcome.code() == if launcher.protocol == "PMI-2" { 137 } else { 9 }, &outcome, "shmem_global_exit(9)")
}

/// Its daemon on this machine tells PEs which of them are here, the one elsewhere does not, or the other way round.
fn this_host_and_another(launcher: &Launcher) -> Verdict {
    for this_first in [true, false] {
        let launcher = launcher.with_this_host(2, this_first)?;
        let outcome = ends_with(launcher.job(4).arg(hello()).env("SHMEM_INFO", "1").run(), 0)?;
        says(&outcome, "OK, all 4 PEs signed")?;
        says(&outcome, "PE 0 of 4, PEs 0 to 1 on host")?;
    }
    Ok(())
}

/// Another's would be of another version, and have the launcher print errors.
fn its_own_libpmix_is_taken(launcher: &Launcher) -> Verdict {
    let outcome = ends_with(launcher.job(2).arg(hello()).env("SHMEM_INFO", "1").run(), 0)?;
    ensure(!outcome.stderr.contains("PMIX ERROR"), &outcome, "no errors of the launcher's")?;
    let started = outcome.stdout.lines().find(|line| line.starts_with("Started by"));
    let from = started.and_then(|line| line.split_once(" at ")?.1.split_once(')')).map(|(path, _)| PathBuf::from(path));
    let from = from.ok_or_else(|| format!("it is not said which libpmix is taken\n{}", outcome.describe()))?;
    let place = launcher.prefix();
    ensure(from.starts_with(&place), &outcome, &format!("{} is not below {}", from.display(), place.display()))
}

/// PMI needs no library; PMIx does, and a static executable cannot load one.
fn a_static_executable(launcher: &Launcher) -> Verdict {
    let source = tree::workspace().join("examples/hello/hello.c");
    let binary = Build::source("hello-static", &source).options(["-static"]).try_build()?;
    let outcome = launcher.job(2).arg(binary).run();
    if launcher.protocol == "PMIx" {
        ensure(outcome.code() > 0, &outcome, "expected a failure")?;
        return says(&outcome, "this program is linked statically and cannot load libraries");
    }
    says(&ends_with(outcome, 0)?, "OK, all 2 PEs signed")
}

/// Each end of one PE ends the job, with the PE's status where the launcher passes that on.
fn endings(launcher: &Launcher) -> Verdict {
    let ending = Build::program("endings/ending.c").build();
    // Where Slurm ends a job for PMI-2, it kills the other PEs, and their status is the highest.
    let killed = (launcher.protocol == "PMI-2").then_some(137);
    for (how, others, status) in [
        ("global-exit", "compute", killed.unwrap_or(9)),
        ("thread", "wait", killed.unwrap_or(5)),
        ("return", "barrier", killed.unwrap_or(4)),
        ("exit", "sleep", killed.unwrap_or(6)),
        ("return-0", "finalize", 0),
    ] {
        let outcome = launcher.job(3).arg(&ending).args([how, "1", others]).limit(30).run();
        ends_with(outcome, status).map_err(|message| format!("{how}, {others}: {message}"))?;
    }
    let outcome = launcher.job(2).arg(Build::program("endings/handlers.c").build()).limit(30).run();
    ensure(outcome.code() == killed.unwrap_or(3), &outcome, "shmem_global_exit(3)")?;
    says(&outcome, "handler ran")?;
    // A fault is said, and ends the job.
    let outcome = launcher.job(2).arg(hello()).env("SHMEM_SYMMETRIC_SIZE", "nonsense").run();
    ensure(outcome.code() > 0, &outcome, "expected a failure")?;
    says(&outcome, "SHMEM_SYMMETRIC_SIZE")?;
    let outcome = launcher.job(3).arg(&ending).args(["kill", "1", "barrier"]).limit(30).run();
    ensure(outcome.code() > 0, &outcome, "a PE was killed")
}

fn nothing_is_left(launcher: &Launcher) -> Verdict {
    let ending = Build::program("endings/ending.c").named("ending-left").build();
    let before = system::shared_names();
    for how in ["global-exit", "return-0"] {
        launcher
            .job(3)
            .arg(&ending)
            .args([how, "0", if how == "return-0" { "finalize" } else { "sleep" }])
            .limit(30)
            .run();
    }
    let left = system::wait_for_no_process(&ending, std::time::Duration::from_secs(10));
    if !left.is_empty() {
        return Err(format!("processes are left: {left:?}"));
    }
    let ours: Vec<String> =
        system::shared_names().difference(&before).filter(|name| name.contains("pellucid")).cloned().collect();
    if ours.is_empty() { Ok(()) } else { Err(format!("names are left in /dev/shm: {ours:?}")) }
}

/// A folder for one launcher.
fn folder(launcher: &Launcher, name: &str) -> PathBuf {
    tree::fresh(&format!("launchers-{name}-{:?}-{}", launcher.family, launcher.protocol)).join("prof")
}

/// Each PE of `record.c` puts 32 bytes once more than the one before it.
fn check_profile(directory: &Path, pes: u32) -> Verdict {
    let loaded = pellucid_profile::file::read(directory).map_err(|error| error.to_string())?;
    if !loaded.problems.is_empty() {
        return Err(format!("problems: {:?}", loaded.problems));
    }
    let (job, of) = (&loaded.profile.job, &loaded.profile.pes);
    if (job.npes, job.exit_status, of.len()) != (pes, Some(0), pes as usize) {
        return Err(format!("{pes} PEs that end well: {job:?}"));
    }
    let report = Report::read(directory, true);
    for pe in of {
        let calls = u64::from(pe.pe) + 1;
        let found = report.routine_of(pe.pe as usize, "shmem_long_put");
        // On one time line: all of them meet in the initialization and in the finalization.
        let meet = of.iter().all(|other| other.init_ns <= pe.finalize_ns && pe.finalize_ns <= job.wall_ns);
        if found != (calls, calls * 32) || !meet {
            return Err(format!("PE {}: {found:?} puts and bytes, {pe:?} of {job:?}", pe.pe));
        }
    }
    Ok(())
}

/// Nobody but the PEs can write it.
fn a_profile_directory(launcher: &Launcher) -> Verdict {
    let record = Build::program("launchers/record.c").build();
    let directory = folder(launcher, "profile");
    let in_it = |job: Job| job.env("SHMEM_PROFILE_DIR", &directory.display().to_string());
    let outcome = ends_with(in_it(launcher.job(3)).arg(&record).run(), 0)?;
    check_profile(&directory, 3)?;
    says(&outcome, &format!("pellucid: profile kept, to see it again: oshprof report {}\n", directory.display()))?;
    // What a job has done that ends before its time is kept as well, beside what is there.
    let ending = Build::program("endings/ending.c").build();
    let outcome = in_it(launcher.job(3)).arg(&ending).args(["global-exit", "1", "sleep"]).limit(30).run();
    check_profile(&directory, 3)?;
    let second = directory.with_added_extension("2");
    let loaded = pellucid_profile::file::read(&second).map_err(|error| error.to_string())?;
    let ended = (loaded.profile.job.exit_status, loaded.profile.pes.len(), loaded.problems.len());
    ensure(ended == (Some(9), 3, 0), &outcome, &format!("the profile of a job that a PE ends: {ended:?}"))?;
    // Where it cannot be, the job does not begin.
    let outcome = launcher.job(2).env("SHMEM_PROFILE_DIR", "/proc/zz").arg(hello()).limit(30).run();
    ensure(outcome.code() != 0 && !outcome.stdout.contains("OK"), &outcome, "a place that cannot be is refused")?;
    says(&outcome, "SHMEM_PROFILE_DIR: cannot make /proc/zz")?;
    let outcome = launcher.job(2).env("SHMEM_METRICS", "file=/proc/zz/m").arg(hello()).limit(30).run();
    ensure(outcome.code() != 0 && !outcome.stdout.contains("OK"), &outcome, "a file that cannot be is refused")?;
    says(&outcome, "SHMEM_METRICS: cannot write /proc/zz/m")
}

/// What PEs have recorded when they ask for a snapshot is there although they are killed.
fn a_snapshot(launcher: &Launcher) -> Verdict {
    let program = Build::program("launchers/snapshot.c").build();
    let directory = folder(launcher, "snapshot");
    let (profile, metrics) = (directory.with_added_extension("profile"), directory.with_added_extension("prom"));
    let job = launcher.job(3).env("SHMEM_PROFILE_DIR", &profile.display().to_string());
    let job = job.env("SHMEM_METRICS", &format!("file={}", metrics.display())).arg(&program);
    let outcome = job.arg(profile.join("job.json")).arg(&metrics).limit(60).run();
    for file in [profile.join("job.json"), metrics] {
        says(&outcome, &format!("{} is there\n", file.display()))?;
    }
    ensure(outcome.code() != 0, &outcome, "PEs are killed")?;
    let report = Report::read(&profile, true);
    for pe in 0..3 {
        let found = report.routine_of(pe, "shmem_long_put");
        ensure(found == (pe as u64 + 1, (pe as u64 + 1) * 32), &outcome, &format!("PE {pe}: {found:?}"))?;
    }
    Ok(())
}

fn profile_and_trace_of_two_hosts(launcher: &Launcher) -> Verdict {
    let record = Build::program("launchers/record.c").build();
    let directory = folder(launcher, "two");
    let trace = directory.with_file_name("trace");
    std::fs::create_dir_all(&trace).map_err(|error| error.to_string())?;
    let job = launcher.on_two_hosts(2)?.job(4).arg(&record);
    let job = job.env("SHMEM_PROFILE_DIR", &directory.display().to_string());
    ends_with(job.env("SHMEM_TRACE", &trace.display().to_string()).run(), 0)?;
    check_profile(&directory, 4)?;
    let outcome = Job::new(tree::tool("oshprof")).arg("trace").arg(&trace).args(["--to", "csv"]).run();
    let outcome = ends_with(outcome, 0)?;
    let puts = outcome.stdout.lines().filter(|line| line.contains("shmem_long_put")).count();
    ensure(puts == 10 && outcome.stderr.is_empty(), &outcome, "the trace has all puts of all PEs")?;
    // Once more: nothing is written over.
    let before = std::fs::read_dir(&trace).map_or(0, Iterator::count);
    let job = launcher.on_two_hosts(2)?.job(4).arg(&record);
    let job = job.env("SHMEM_PROFILE_DIR", &directory.display().to_string());
    ends_with(job.env("SHMEM_TRACE", &trace.display().to_string()).run(), 0)?;
    check_profile(&directory.with_added_extension("2"), 4)?;
    let counts =
        [&trace, &trace.with_added_extension("2")].map(|dir| std::fs::read_dir(dir).map_or(0, Iterator::count));
    ensure(counts == [before; 2], &outcome, &format!("files of two traces: {counts:?}, of the first {before}"))
}

/// Here it comes in the end. What is said of those that never do depends on the launcher.
fn a_pe_that_does_not_come_is_waited_for_with_a_word(launcher: &Launcher) -> Verdict {
    let late = "if [ \"${PMI_RANK-${PMIX_RANK-$PMI_ID}}\" = 1 ]; then sleep 13; fi; exec \"$0\"";
    let outcome = ends_with(launcher.job(2).args(["sh", "-c", late]).arg(hello()).run(), 0)?;
    let advice = match launcher.family {
        Family::Slurm => "(srun --kill-on-bad-exit=1 ends a job where one fails)",
        Family::Orte | Family::Prrte => "(mpirun ends a job where one fails, and not where one ends with status 0)",
        Family::Hydra => "(mpiexec of Hydra does not end a job where one does, whatever its status)",
    };
    says(&outcome, "pellucid: PE 0: shmem_init has waited 10 s for PE 1: ")?;
    says(&outcome, advice)
}

/// It inherits all variables. Only its own launcher, or none, makes it a job.
fn a_program_that_a_pe_starts_is_no_pe(launcher: &Launcher) -> Verdict {
    let starts = Build::program("launchers/starts.c").build();
    let hello = hello().display().to_string();
    let outcome = ends_with(launcher.job(2).arg(&starts).arg(&hello).run(), 0)?;
    says(&outcome, "the program ended with 1")?;
    says(&outcome, "SHMEM_BOOTSTRAP=none")?;
    let outcome = ends_with(launcher.job(2).arg(&starts).arg(format!("SHMEM_BOOTSTRAP=none {hello}")).run(), 0)?;
    says(&outcome, "OK, all 1 PEs signed")?;
    says(&outcome, "the program ended with 0")?;
    let below = format!("{} -n 3 {hello}", tree::tool("oshrun").display());
    let outcome = ends_with(launcher.job(2).arg(&starts).arg(below).run(), 0)?;
    says(&outcome, "OK, all 3 PEs signed")
}

fn oshrun_below_it(launcher: &Launcher) -> Verdict {
    let below = |program: &Path| launcher.job(1).arg(tree::tool("oshrun")).args(["-n", "3"]).arg(program);
    says(&ends_with(below(&hello()).run(), 0)?, "OK, all 3 PEs signed")?;
    // What an oshrun PE starts is neither a PE of that job nor of the outer one.
    let starts = Build::program("launchers/starts.c").build();
    let outcome = ends_with(below(&starts).arg(hello().display().to_string()).run(), 0)?;
    says(&outcome, "OK, all 1 PEs signed")
}

/// It may leave the descriptors of `oshrun` open to its processes.
fn it_below_oshrun(launcher: &Launcher) -> Verdict {
    let oshrun = tree::tool("oshrun").display().to_string();
    let outcome = ends_with(launcher.behind(&[&oshrun, "-n", "1"]).job(3).arg(hello()).run(), 0)?;
    says(&outcome, "OK, all 3 PEs signed")
}

fn without_libpmix(launcher: &Launcher) -> Verdict {
    let outcome = launcher.job(2).arg(hello()).env("SHMEM_PMIX_LIBRARY", "/nowhere/libpmix.so.2").limit(30).run();
    ensure(outcome.code() > 0, &outcome, "expected a failure")?;
    for part in ["/nowhere/libpmix.so.2: cannot open", "Debian: libpmix2", "SHMEM_PMIX_LIBRARY"] {
        says(&outcome, part)?;
    }
    Ok(())
}

fn conformance(launcher: &Launcher, program: &Program) -> Verdict {
    let binary = program.build()?;
    let pes = program.pes_near(2);
    let outcome = program.job_of(launcher.job(pes), &binary).run();
    program.check(&outcome).map_err(|message| format!("at {pes} PEs:\n{message}"))
}
