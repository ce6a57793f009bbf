//! Jobs under other launchers on machines that are short of something or odd: it works, or a message says what is
//! missing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use harness::compile::Build;
use harness::launchers::{self, Family, Launcher, Verdict, ensure, skip};
use harness::run::{Job, Outcome};
use harness::{system, tree};
use libtest_mimic::{Failed, Trial};

/// How soon a job is over after something went wrong: 2 s, and what a busy machine adds to that.
const SOON: Duration = Duration::from_secs(10);
/// The longest name that a host can have.
const LONG_NAME: &str = "a-host-whose-name-has-as-many-characters-as-the-system-lets-it-h";

fn main() -> ExitCode {
    launchers::run_suite(3, launchers::all, add, |_, _| ())
}

type Case = fn(&Launcher) -> Verdict;

fn add(trials: &mut Vec<Trial>, name: &str, launcher: &Arc<Launcher>) {
    let cases: [(&str, Case); 6] = [
        ("what does not fit is named", what_does_not_fit_is_named),
        ("few files, little stack, no home", with_little),
        ("an odd machine", on_an_odd_machine),
        ("the launcher stands still", a_launcher_stands_still),
        ("a full disk", on_a_full_disk),
        ("hosts of unequal size", on_unequal_hosts),
    ];
    for (title, case) in cases {
        let launcher = launcher.clone();
        trials.push(Trial::test(format!("{name}: {title}"), move || case(&launcher).map_err(Failed::from)));
    }
}

/// Whether somebody says it: launchers send what PEs write to either stream.
fn says(outcome: &Outcome, part: &str) -> bool {
    outcome.stderr.contains(part) || outcome.stdout.contains(part)
}

/// A program by a name of its own for each launcher, by which its processes are found.
fn program(launcher: &Launcher, file: &str, name: &str) -> PathBuf {
    let name = format!("{name}-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    Build::program(file).named(&name).options(["-pthread", "-g"]).build()
}

/// Two PEs, each behind a line of the shell.
fn behind(launcher: &Launcher, line: &str, binary: &Path) -> Job {
    launcher.job(2).args(["sh", "-c", &format!("{line} exec \"$0\" \"$@\"")]).arg(binary).limit(40)
}

fn what_does_not_fit_is_named(launcher: &Launcher) -> Verdict {
    let binary = program(launcher, "endings/ending.c", "limits");
    for line in ["ulimit -v 1500000;", "SHMEM_SYMMETRIC_SIZE=100t; export SHMEM_SYMMETRIC_SIZE;"] {
        let outcome = behind(launcher, line, &binary).args(["none", "1", "finalize"]).run();
        ensure(outcome.code() > 0, &outcome, &format!("{line} a failure is expected"))?;
        for part in ["mmap of the job's memory file", "SHMEM_SYMMETRIC_SIZE", "ulimit -v", "ending.c:"] {
            ensure(says(&outcome, part), &outcome, &format!("{line} it is not said: {part}"))?;
        }
        // What goes to the launcher with an abort is in its protocol.
        ensure(!says(&outcome, "no value for key"), &outcome, &format!("{line} Slurm misreads the message"))?;
    }
    Ok(())
}

fn with_little(launcher: &Launcher) -> Verdict {
    let binary = program(launcher, "endings/ending.c", "little");
    for line in ["ulimit -n 64;", "ulimit -s 64;", "unset HOME; TMPDIR=/no/such/place; export TMPDIR;"] {
        let outcome = behind(launcher, line, &binary).args(["none", "1", "finalize"]).run();
        ensure(outcome.code() == 0, &outcome, line)?;
    }
    Ok(())
}

/// `/dev/shm` cannot be written, `/proc/sys` is empty, the host's name fills its place.
fn on_an_odd_machine(launcher: &Launcher) -> Verdict {
    let name = format!("printf %s {LONG_NAME} > /proc/sys/kernel/hostname &&");
    let hide = "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /proc/sys &&";
    let tried = Job::new("unshare").args(["--mount", "--uts", "sh", "-c", &format!("{name} {hide} true")]).run();
    if tried.code() != 0 {
        return skip("no namespaces can be made");
    }
    let binary = program(launcher, "endings/ending.c", "odd");
    let run = |arguments: &[&str]| {
        let line = format!("{name} {hide} exec \"$0\" \"$@\"");
        launcher.job(2).args(["unshare", "--mount", "--uts", "sh", "-c", &line]).arg(&binary).args(arguments).run()
    };
    let outcome = run(&["none", "1", "finalize"]);
    ensure(outcome.code() == 0, &outcome, "it works")?;
    let outcome = run(&["exit", "1", "barrier"]);
    let part = format!("PE 1 of 2 on host {LONG_NAME}");
    ensure(outcome.code() > 0 && says(&outcome, &part), &outcome, "the host is named")
}

/// Whoever stops it may forget it: PEs end without its help.
fn a_launcher_stands_still(launcher: &Launcher) -> Verdict {
    let binary = program(launcher, "launchers/waits.c", "still");
    let name = binary.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ready = tree::fresh(&name).join("ready");
    let running = launcher.job(3).arg(&binary).arg("compute").arg(&ready).limit(40).start();
    if !system::wait_until(Duration::from_secs(20), || ready.exists()) {
        return Err(format!("3 PEs start\n{}", running.wait().describe()));
    }
    system::signal(running.pid(), libc::SIGSTOP);
    let pes = system::processes(&binary);
    pes.first().map(|pid| system::signal(*pid, libc::SIGKILL));
    let left = system::wait_for_no_process(&binary, SOON);
    system::signal(running.pid(), libc::SIGCONT);
    let outcome = running.wait();
    left.iter().for_each(|pid| _ = system::signal(*pid, libc::SIGKILL));
    ensure(pes.len() == 3 && left.is_empty(), &outcome, &format!("of {pes:?} there are left: {left:?}"))?;
    ensure(outcome.code() > 0, &outcome, "a failure is expected")
}

/// The job runs to its end, and nobody says that there is a profile.
fn on_a_full_disk(launcher: &Launcher) -> Verdict {
    if launcher.family == Family::Slurm {
        return skip("tasks of Slurm do not see what is mounted for srun");
    }
    let binary = program(launcher, "launchers/record.c", "full");
    let name = binary.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (disk, script) = (tree::fresh(&name), "mount -t tmpfs -o size=4k none \"$0\" && exec \"$@\"");
    let disk = disk.display().to_string();
    let line = ["unshare", "--mount", "sh", "-c", script, &disk];
    if Job::new(line[0]).args(&line[1..]).arg("true").run().code() != 0 {
        return skip("no file system can be mounted");
    }
    let job = launcher.behind(&line).job(2).arg(&binary);
    let outcome = job.env("SHMEM_PROFILE_DIR", &format!("{disk}/profile")).run();
    ensure(outcome.code() == 0, &outcome, "the program succeeds")?;
    for part in ["pellucid: the profile is not kept: cannot write ", "the disk is full"] {
        ensure(says(&outcome, part), &outcome, &format!("it is not said: {part}"))?;
    }
    ensure(!says(&outcome, "profile kept"), &outcome, "there is no profile")
}

/// Servers of different hosts then come to a fence at different times, and those of Slurm's PMIx would answer from what
/// they had before, in one job of three.
fn on_unequal_hosts(launcher: &Launcher) -> Verdict {
    if launcher.family != Family::Slurm {
        return skip("other launchers are told how many PEs each host has");
    }
    let hello = Build::source("hello", &tree::workspace().join("examples/hello/hello.c")).build();
    let launcher = launcher.clone().with(&["-N", "2", "--distribution=block"]);
    for round in 0..system::repetitions(8, 100) {
        let outcome = launcher.job(6).arg(&hello).limit(60).run();
        let done = outcome.code() == 0 && says(&outcome, "OK, all 6 PEs signed");
        ensure(done, &outcome, &format!("round {round}"))?;
    }
    Ok(())
}
