//! How jobs end before their time under other launchers than ours: the library itself notices, says it and ends the
//! job, whatever the launcher does; and no PE outlives its launcher.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::cgroup::Limit;
use harness::compile::Build;
use harness::launchers::{self, Family, Launcher, Verdict, ensure, skip};
use harness::run::Job;
use harness::slurm::Cluster;
use harness::{system, tree};
use libtest_mimic::{Failed, Trial};

/// How soon a job is over after something went wrong: 2 s, and what a busy machine adds to that.
const SOON: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    // They wait, most of the time.
    launchers::run_suite(3, launchers::all, add, add_allocations)
}

fn add(trials: &mut Vec<Trial>, name: &'static str, launcher: &Arc<Launcher>) {
    for end in ENDS {
        let launcher = launcher.clone();
        let title = format!("{name}: one PE ends: {}", end.0);
        trials.push(Trial::test(title, move || one_pe_ends(&launcher, end).map_err(Failed::from)));
    }
    let (alone, title) = (launcher.clone(), format!("{name}: one PE a host ends: _exit-0"));
    trials.push(Trial::test(title, move || one_pe_a_host_ends(&alone).map_err(Failed::from)));
    let (unseen, title) = (launcher.clone(), format!("{name}: one PE ends where none sees the others' processes"));
    trials.push(Trial::test(title, move || one_unseen_pe_ends(&unseen).map_err(Failed::from)));
    let (last, title) = (launcher.clone(), format!("{name}: main ends its thread before the others"));
    trials.push(Trial::test(title, move || main_ends_its_thread(&last).map_err(Failed::from)));
    let (closed, title) = (launcher.clone(), format!("{name}: a PE that has closed all descriptors crashes"));
    trials.push(Trial::test(title, move || a_pe_without_descriptors_crashes(&closed).map_err(Failed::from)));
    let (hungry, title) = (launcher.clone(), format!("{name}: killed for want of memory"));
    trials.push(Trial::test(title, move || memory_is_named(&hungry).map_err(Failed::from)));
    // `srun` asks the user what is meant.
    if launcher.family != Family::Slurm {
        let launcher = launcher.clone();
        let title = format!("{name}: Ctrl-C ends a Python program");
        trials.push(Trial::test(title, move || an_interrupt_ends_python(&launcher).map_err(Failed::from)));
    }
    for victim in [Victim::Launcher, Victim::Parent] {
        let launcher = launcher.clone();
        let title = format!("{name}: killed: {victim:?}");
        trials.push(Trial::test(title, move || a_launcher_is_killed(&launcher, victim).map_err(Failed::from)));
    }
    // Hydra and mpirun see the end of a host's PEs by themselves.
    if launcher.family == Family::Slurm {
        let launcher = launcher.clone();
        let title = format!("{name}: all PEs of a host are killed");
        trials.push(Trial::test(title, move || a_host_is_killed(&launcher).map_err(Failed::from)));
    }
    if launcher.family == Family::Slurm {
        let launcher = launcher.clone();
        let title = format!("{name}: the PE of a host is killed in shmem_init");
        trials.push(Trial::test(title, move || killed_in_init(&launcher).map_err(Failed::from)));
    }
    if launcher.protocol == "PMI-2" {
        let launcher = launcher.clone();
        trials.push(Trial::test("srun without PMI", move || without_pmi(&launcher).map_err(Failed::from)));
    }
}

fn nobody_is_left(binary: &Path, what: &str) -> Verdict {
    let left = system::wait_for_no_process(binary, SOON);
    left.iter().for_each(|pid| _ = system::signal(*pid, libc::SIGKILL));
    if left.is_empty() { Ok(()) } else { Err(format!("{what}: processes are left: {left:?}")) }
}

/// How PE 1 ends, the status that says so, what is said, and whether it is said whatever the launcher does at the same
/// time.
type End = (&'static str, i32, &'static str, bool);

const ENDS: [End; 7] = [
    ("exit", 6, "exited with status 6 without shmem_finalize", true),
    ("segv", 139, "was killed by signal 11 (segmentation fault)", true),
    ("segv-wait", 139, "called from main at ending.c:", true),
    ("abort", 134, "was killed by signal 6 (abort)", true),
    ("kill", 137, "PE 1 of 3", false),
    ("_exit", 8, "PE 1 of 3", false),
    ("_exit-0", 1, "PE 1 of 3", false),
];

fn one_pe_ends(launcher: &Launcher, end: End) -> Verdict {
    let (how, _, said, always) = end;
    let name = format!("end{how}-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    let ending = Build::program("endings/ending.c").named(&name).options(["-pthread", "-g"]).build();
    // Those that only Slurm's PMI-2 lets live on are named by the library for sure.
    let always = always || launcher.protocol == "PMI-2";
    // Hydra takes the status of a PE at the moment at which its connection closes, which is a matter of luck.
    let few = if how == "_exit-0" && launcher.family == Family::Hydra { 5 } else { 1 };
    // A job that does not begin fails as well.
    let outcome = launcher.job(3).arg(&ending).args(["none", "1", "finalize"]).limit(30).run();
    ensure(outcome.code() == 0, &outcome, "a job without such an end")?;
    let kind = format!("{:?}, {}: {how}", launcher.family, launcher.protocol);
    in_rounds(&kind, system::repetitions(few, 1000), |round| {
        let others = ["wait", "compute", "barrier", "sleep"][round % 4];
        let outcome = launcher.job(3).arg(&ending).args([how, "1", others]).limit(30).run();
        let what = format!("round {round}, {how}, {others}");
        ensure(outcome.code() > 0, &outcome, &format!("{what}: a failure is expected"))?;
        nobody_is_left(&ending, &what)?;
        if always {
            let routine = match how {
                "segv-wait" => "shmem_long_wait_until",
                // In the program itself: its line.
                "segv" | "abort" => "main at ending.c:",
                _ => "shmem_barrier_all",
            };
            for part in ["pellucid: PE 1 of 3 on host ", said, routine] {
                let found = outcome.stderr.contains(part) || outcome.stdout.contains(part);
                ensure(found, &outcome, &format!("{what}: it is not said: {part}"))?;
            }
        }
        Ok((outcome.elapsed, outcome.code()))
    })
}

/// What the program has opened in place of what the library had open is left alone, also while it crashes.
fn a_pe_without_descriptors_crashes(launcher: &Launcher) -> Verdict {
    let name = format!("closes-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    let closes = Build::program("files/closes.c").named(&name).build();
    let folder = tree::fresh(&name);
    let outcome = launcher.job(2).arg(&closes).arg("crash").directory(&folder).limit(60).run();
    ensure(outcome.code() > 0, &outcome, "a failure is expected")?;
    nobody_is_left(&closes, &name)?;
    // A library of PMIx wakes its own threads by descriptors that it does not look at again.
    if launcher.protocol == "PMIx" {
        return Ok(());
    }
    // Hydra ends a job whose PE closes its connection, be it while that writes its files.
    let files = system::entries(&folder).into_iter().filter(|name| name.starts_with("own."));
    let contents = files.map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
    let is_own = |bytes: Vec<u8>| bytes.len() <= 300_000 && bytes.iter().all(|byte| *byte == b'x');
    ensure(contents.into_iter().all(is_own), &outcome, "files of the program have what it has not written")
}

/// Makes all rounds, whatever comes of one: how many fail is told, and what the first ones say. A round gives how long
/// it took and its exit status.
fn in_rounds(what: &str, rounds: usize, round: impl Fn(usize) -> Result<(Duration, i32), String>) -> Verdict {
    let (mut times, mut statuses, mut failures) = (Vec::new(), BTreeMap::new(), Vec::new());
    for number in 0..rounds {
        match round(number) {
            Ok((time, status)) => {
                times.push(time);
                *statuses.entry(status).or_insert(0_usize) += 1;
            }
            Err(failure) => failures.push(failure),
        }
    }
    tell(what, times);
    if rounds > 10 {
        println!("{what}: exit statuses and how often: {statuses:?}");
    }
    if failures.is_empty() {
        return Ok(());
    }
    let count = failures.len();
    failures.truncate(3);
    Err(format!("{what}: {count} of {rounds} rounds failed\n{}", failures.join("\n")))
}

/// Says how long something took, in a test with many rounds.
fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort();
    if let (Some(median), Some(most)) = (times.get(times.len() / 2), times.last())
        && times.len() > 10
    {
        println!("{what}: {} times as expected: median {median:.2?}, most {most:.2?}", times.len());
    }
}

/// Nobody else of its host is there to see it, or to hold its connection to the launcher.
fn one_pe_a_host_ends(launcher: &Launcher) -> Verdict {
    let launcher = match launcher.on_two_hosts(1) {
        Ok(launcher) => launcher,
        Err(reason) => return skip(&reason),
    };
    let name = format!("alone-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    let ending = Build::program("endings/ending.c").named(&name).options(["-pthread", "-g"]).build();
    let kind = format!("{:?}, {}: one PE a host: _exit-0", launcher.family, launcher.protocol);
    in_rounds(&kind, system::repetitions(5, 1000), |round| {
        let others = ["wait", "compute", "barrier", "sleep"][round % 4];
        let outcome = launcher.job(2).arg(&ending).args(["_exit-0", "1", others]).limit(30).run();
        let what = format!("round {round}, {others}");
        ensure(outcome.code() > 0, &outcome, &format!("{what}: a failure is expected"))?;
        nobody_is_left(&ending, &what)?;
        Ok((outcome.elapsed, outcome.code()))
    })
}

/// Each PE has process ids of its own, as in a container.
fn one_unseen_pe_ends(launcher: &Launcher) -> Verdict {
    let apart = ["unshare", "--pid", "--fork"];
    if Job::new(apart[0]).args(&apart[1..]).arg("true").run().code() != 0 {
        return skip("no namespaces of process ids can be made");
    }
    let name = format!("unseen-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    let ending = Build::program("endings/ending.c").named(&name).options(["-pthread", "-g"]).build();
    let run = |arguments: [&str; 3]| launcher.job(3).args(apart).arg(&ending).args(arguments).limit(30).run();
    let outcome = run(["none", "1", "finalize"]);
    ensure(outcome.code() == 0, &outcome, "a job without such an end")?;
    for (how, others) in [("_exit-0", "barrier"), ("_exit-0", "compute"), ("exec", "wait"), ("exit", "sleep")] {
        let (outcome, what) = (run([how, "1", others]), format!("{how}, {others}"));
        ensure(outcome.code() > 0, &outcome, &format!("{what}: a failure is expected"))?;
        nobody_is_left(&ending, &what)?;
    }
    Ok(())
}

/// Starts a program that waits for ever at so many PEs; gives its file.
fn waiting(launcher: &Launcher, name: &str) -> (PathBuf, PathBuf) {
    let name = format!("{name}-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    let binary = Build::program("launchers/waits.c").named(&name).build();
    (binary, tree::fresh(&name).join("ready"))
}

/// A process ends with the last thread of the program, whatever threads the library and that of the launcher have.
fn main_ends_its_thread(launcher: &Launcher) -> Verdict {
    let binary = Build::program("endings/main-thread.c").options(["-pthread"]).build();
    for (what, words) in [("alone", 0), ("worker", 2)] {
        let outcome = launcher.job(2).arg(&binary).arg(what).limit(60).run();
        let [told, worked] = ["told", "worked"].map(|word| outcome.stdout.matches(word).count());
        ensure(outcome.code() == 0 && (told, worked) == (2, words), &outcome, what)?;
    }
    Ok(())
}

/// Whatever the launcher makes of it, and however soon it ends the others.
fn memory_is_named(launcher: &Launcher) -> Verdict {
    let name = format!("hungry-{:?}-{}-{}", launcher.family, launcher.protocol, launcher.version());
    let limit = match Limit::memory(&name, 96 << 20) {
        Ok(limit) => limit,
        Err(reason) => return skip(&format!("no control group with a limit of memory can be made: {reason}")),
    };
    let binary = Build::program("endings/hungry.c").named(&name).build();
    let rounds = system::repetitions(3, 300);
    // Hydra's proxy and the PE next to it hear of the kill within microseconds of each other, and the one kills the
    // other.
    let mut misses = if launcher.family == Family::Hydra { rounds.div_ceil(10) } else { 0 };
    for round in 0..rounds {
        let job = launcher.job(3).args(["sh", "-c", &limit.script(), "sh"]).arg(&binary).limit(60);
        let outcome = job.env("SHMEM_SYMMETRIC_SIZE", "1m").run();
        ensure(outcome.code() > 0, &outcome, &format!("round {round}: a failure is expected"))?;
        nobody_is_left(&binary, &format!("round {round}"))?;
        // The kernel takes the one that has most, which need not be the one that asked for more.
        let parts = [" of 3 on host ", ", out of memory: the limit of its cgroup is 96 MiB, "];
        let is_said = |text: &str| text.lines().any(|line| parts.iter().all(|part| line.contains(part)));
        if !is_said(&outcome.stderr) && !is_said(&outcome.stdout) {
            ensure(misses > 0, &outcome, &format!("round {round}: it is not said: {parts:?}"))?;
            misses -= 1;
        }
    }
    Ok(())
}

/// Python's handler takes a note only, which comes to something when a call returns.
fn an_interrupt_ends_python(launcher: &Launcher) -> Verdict {
    let Some(python) = system::find(&["python3"]) else { return skip("no python3") };
    let script = tree::package().join("programs/launcher/interrupt.py");
    for what in ["sleeps", "waits"] {
        let folder = tree::fresh(&format!("interrupt-{:?}-{}-{what}", launcher.family, launcher.version()));
        let job = launcher.job(3).arg(&python).arg(&script).arg(tree::library("libsma.so")).arg(what).arg(&folder);
        let running = job.limit(40).start();
        let ready = system::wait_until(Duration::from_secs(20), || system::entries(&folder).len() == 3);
        std::thread::sleep(Duration::from_millis(300));
        let before = Instant::now();
        system::signal(running.pid(), libc::SIGINT);
        let outcome = running.wait();
        ensure(ready, &outcome, "three PEs start")?;
        ensure(before.elapsed() < SOON, &outcome, &format!("{what}: it takes {:?}", before.elapsed()))?;
        ensure(outcome.code() > 0, &outcome, &format!("{what}: a failure is expected"))?;
        let blames = outcome.stderr.contains("takes no part") || outcome.stdout.contains("takes no part");
        ensure(!blames, &outcome, &format!("{what}: nobody is to blame"))?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Victim {
    /// What the user has started.
    Launcher,
    /// Its daemon on the host: what has started the PEs.
    Parent,
}

fn a_launcher_is_killed(launcher: &Launcher, which: Victim) -> Verdict {
    let mut times = Vec::new();
    for (round, what) in ["compute", "until"].into_iter().cycle().take(system::repetitions(2, 100)).enumerate() {
        let (binary, ready) = waiting(launcher, &format!("orphans-{which:?}"));
        let running = launcher.job(3).arg(&binary).arg(what).arg(&ready).limit(30).start();
        if !system::wait_until(Duration::from_secs(20), || ready.exists()) {
            return Err(format!("3 PEs start\n{}", running.wait().describe()));
        }
        let victim = match which {
            Victim::Launcher => Some(running.pid()),
            Victim::Parent => system::processes(&binary).first().and_then(|pid| system::parent(*pid)),
        };
        let victim = victim.ok_or("no PE has a parent")?;
        let killed = Instant::now();
        system::signal(victim, libc::SIGKILL);
        nobody_is_left(&binary, &format!("round {round}, {what}"))?;
        times.push(killed.elapsed());
        system::signal(running.pid(), libc::SIGKILL);
        running.wait();
    }
    tell(&format!("{:?}, {}: PEs after a kill of the {which:?}", launcher.family, launcher.protocol), times);
    Ok(())
}

/// Nobody on that host is left to say it, and those elsewhere compute.
fn a_host_is_killed(launcher: &Launcher) -> Verdict {
    let (binary, ready) = waiting(launcher, "host");
    let running = launcher.on_two_hosts(2)?.job(4).arg(&binary).arg("compute").arg(&ready).limit(40).start();
    if !system::wait_until(Duration::from_secs(20), || ready.exists()) {
        return Err(format!("4 PEs start\n{}", running.wait().describe()));
    }
    // The hosts meet by their watch threads, while PEs compute already.
    std::thread::sleep(Duration::from_millis(500));
    let rank = |pid: &u32| system::variable(*pid, "SLURM_PROCID").and_then(|rank| rank.parse::<u32>().ok());
    let there = system::processes(&binary).into_iter().filter(|pid| rank(pid).is_some_and(|rank| rank >= 2));
    there.for_each(|pid| _ = system::signal(pid, libc::SIGKILL));
    nobody_is_left(&binary, "the other host")?;
    let outcome = running.wait();
    ensure(outcome.code() > 0, &outcome, "a failure is expected")?;
    let said = "PEs 2 to 3 of 4 on host ";
    ensure(outcome.stderr.contains(said) || outcome.stdout.contains(said), &outcome, "the host is named")
}

/// The others wait for it to come to the second meeting, for which Slurm has no limit.
fn killed_in_init(launcher: &Launcher) -> Verdict {
    let name = format!("dies-in-init-{}", launcher.protocol);
    let binary = Build::program("launchers/dies-in-init.c").named(&name).build();
    let object = Build::program("launchers/dies-in-init.c").named(&format!("{name}.so"));
    let object = object.options(["-DOBJECT", "-fPIC", "-shared"]).build();
    for victim in ["1", "0"] {
        let job = launcher.on_two_hosts(1)?.job(2).arg(&binary).arg(victim).arg(&object);
        let outcome = job.limit(40).run();
        let what = format!("PE {victim}");
        ensure(outcome.code() > 0, &outcome, &format!("{what}: a failure is expected"))?;
        nobody_is_left(&binary, &what)?;
        let said = format!("PE {victim} of 2 on host ");
        let found = outcome.stderr.contains(&said) || outcome.stdout.contains(&said);
        ensure(found, &outcome, &format!("{what}: it is named"))?;
        ensure(!outcome.stderr.contains("has waited 10 s"), &outcome, &format!("{what}: it is seen at once"))?;
    }
    Ok(())
}

/// N jobs of one PE would do everything N times, and end well.
fn without_pmi(launcher: &Launcher) -> Verdict {
    let hello = Build::source("hello", &tree::workspace().join("examples/hello/hello.c")).build();
    let launcher = launcher.clone().with(&["--mpi=none"]);
    let outcome = launcher.job(3).arg(&hello).run();
    ensure(outcome.code() > 0, &outcome, "a failure is expected")?;
    for part in ["3 processes", "--mpi=pmi2", "--mpi=pmix", "SHMEM_SINGLETON=1"] {
        ensure(outcome.stderr.contains(part), &outcome, &format!("it is not said: {part}"))?;
    }
    let outcome = launcher.job(3).arg(&hello).env("SHMEM_SINGLETON", "1").run();
    let alone = outcome.stdout.matches("OK, all 1 PEs").count() == 3;
    ensure(outcome.code() == 0 && alone, &outcome, "three jobs of one PE are permitted")?;
    // One task is a job of one PE.
    let outcome = launcher.job(1).arg(&hello).run();
    ensure(outcome.code() == 0 && outcome.stdout.contains("OK, all 1 PEs"), &outcome, "one task")
}

/// `oshrun` inside of an allocation.
fn add_allocations(trials: &mut Vec<Trial>, cluster: &Cluster) {
    let found = |name: &str| (cluster.tool(name), cluster.environment());
    let (salloc, sbatch) = (found("salloc"), found("sbatch"));
    trials.push(Trial::test("salloc: oshrun takes hosts and counts", move || {
        in_salloc(&salloc.0, &salloc.1).map_err(Failed::from)
    }));
    trials.push(Trial::test("sbatch: oshrun takes hosts and counts", move || {
        in_sbatch(&sbatch.0, &sbatch.1).map_err(Failed::from)
    }));
}

fn hello() -> PathBuf {
    Build::source("hello", &tree::workspace().join("examples/hello/hello.c")).build()
}

fn in_salloc(salloc: &Path, (name, value): &(String, String)) -> Verdict {
    let run = |options: &[&str]| {
        let job = Job::new(salloc).args(["--quiet", "-N", "2", "-n", "3"]).arg(tree::tool("oshrun"));
        job.args(options).env(name, value).limit(40).run()
    };
    let hello = hello().display().to_string();
    let outcome = run(&["--info"]);
    for part in ["Slurm job ", ": node1:", ", node2:", "srun --overlap", "--nodelist=node2"] {
        ensure(outcome.code() == 0 && outcome.stdout.contains(part), &outcome, &format!("--info lacks {part}"))?;
    }
    if system::library("libfabric.so.1").is_some() {
        for options in [&[hello.as_str()][..], &["-n", "3", &hello]] {
            let outcome = run(&[&["-x", "SHMEM_INFO=1"], options].concat());
            let text = "OK, all 3 PEs signed";
            ensure(outcome.code() == 0 && outcome.stdout.contains(text), &outcome, "a PE a task")?;
            ensure(outcome.stderr.contains("network between 2 hosts"), &outcome, "on two hosts")?;
            ensure(!outcome.stderr.contains("srun:"), &outcome, "srun has nothing to say")?;
        }
    }
    let outcome = run(&["-n", "4", &hello]);
    ensure(outcome.code() == 2 && outcome.stderr.contains("slots for 3"), &outcome, "no more than was given")?;
    let outcome = run(&["--dashboard", &hello]);
    ensure(outcome.code() == 2 && outcome.stderr.contains("is to be on node"), &outcome, "a page of this host only")?;
    let outcome = run(&["--hosts", "localhost:4", &hello]);
    let text = "OK, all 4 PEs signed";
    ensure(outcome.code() == 0 && outcome.stdout.contains(text), &outcome, "--hosts comes first")
}

fn in_sbatch(sbatch: &Path, (name, value): &(String, String)) -> Verdict {
    let folder = tree::fresh("launchers-sbatch");
    let script = folder.join("job.sh");
    let text = format!("#!/bin/sh\n{} --label {}\n", tree::tool("oshrun").display(), hello().display());
    std::fs::write(&script, text).map_err(|error| error.to_string())?;
    let out = folder.join("out");
    let job = Job::new(sbatch).args(["--quiet", "--wait", "-N", "1", "-n", "3", "-o"]).arg(&out).arg(&script);
    let outcome = job.env(name, value).limit(60).run();
    let said = std::fs::read_to_string(&out).unwrap_or_default();
    ensure(outcome.code() == 0 && said.contains("OK, all 3 PEs signed"), &outcome, &format!("the script says {said}"))
}
