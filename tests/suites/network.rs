//! Runs `tests/conformance` over the network: on one host, with libfabric between all PEs all the same; and on two
//! hosts, with shared memory within each and libfabric between them. A part of it also with other providers and other
//! versions of libfabric.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use harness::compile::Build;
use harness::hosts::Hosts;
use harness::program::{self, Program};
use harness::run::Job;
use harness::wire::Quality;
use harness::{system, wheels};
use libtest_mimic::{Arguments, Trial};

/// The network's own costs are paid per message, so each program runs at few PE counts only: the nearest to these, the
/// second with `./x test --long`.
const ON_ONE: [usize; 2] = [3, 2];
const ON_TWO: usize = 4;

/// What providers and versions can differ in.
const PARTS: [&str; 4] = ["9.05-context/contexts", "9.06-rma/big", "9.10-collective/random", "9.11-p2p/arrays"];

/// The same with many operations, for what is quick.
const MANY: [&str; 5] = [
    "9.04-team/cycles",
    "9.06-rma/contiguous",
    "9.07-amo/concurrent",
    "9.08-signal/put-signal",
    "9.12-ordering/ordering",
];

/// What a bad wire carries in some seconds, as it does not make thousands of round trips.
const PATIENT: [&str; 4] = ["9.05-context/contexts", "9.06-rma/big", "9.08-signal/signal", "examples/example-16"];

/// The same in half a minute each, for `./x test --long`.
const VERY_PATIENT: [&str; 3] = ["9.02-thread/collectives", "9.07-amo/generic", "9.10-collective/large"];

/// Where threads that move things on beside the program have most to do; all programs with `./x test --long`.
const BESIDE: [&str; 4] =
    ["9.07-amo/concurrent", "9.10-collective/random", "extensions/collectives", "extensions/transfers"];

/// What has to be right where the provider makes the atomics.
const NIC: [&str; 3] = ["9.07-amo/arithmetic", "9.07-amo/bitwise", "9.08-signal/signal"];

/// Another libfabric or provider.
struct Way {
    name: &'static str,
    library: PathBuf,
    provider: &'static str,
    /// Whether it runs [`MANY`], too.
    many: bool,
    /// Whether it reaches other hosts.
    far: bool,
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let hosts = if arguments.list { None } else { Hosts::new(2).map(Arc::new) };
    let mut trials = Vec::new();
    let wanted = |program: &Program| program.missing().is_empty() && !program.needs_one_host();
    for program in program::conformance().into_iter().filter(wanted) {
        let program = Arc::new(program);
        if system::is_long() || BESIDE.contains(&program.name.as_str()) {
            let same = program.clone();
            let run = move || on_one(&same, &[("SHMEM_PROGRESS", "thread".to_owned())]).map_err(Into::into);
            trials.push(Trial::test(format!("SHMEM_PROGRESS=thread/{}", program.name), run));
        }
        let one = program.clone();
        trials.push(Trial::test(format!("one host/{}", one.name), move || on_one(&one, &[]).map_err(Into::into)));
        if let Some(hosts) = hosts.clone() {
            let name = format!("two hosts/{}", program.name);
            trials.push(Trial::test(name, move || on_two(&program, &hosts).map_err(Into::into)));
        }
    }
    for provider in ["tcp;ofi_rxm", "sockets"] {
        let wanted = |program: &Program| NIC.contains(&program.name.as_str());
        for program in program::conformance().into_iter().filter(wanted) {
            let title = format!("atomics of {provider}/{}", program.name);
            trials.push(Trial::test(title, move || provider_atomics(&program, provider).map_err(Into::into)));
        }
    }
    trials.push(Trial::test("signals are the program's", || signals().map_err(Into::into)));
    trials.push(Trial::test("a fence between atomics of the provider and stores", || fence().map_err(Into::into)));
    for way in ["finalize", "return", "exit", "global_exit"] {
        let run = move || no_file_is_left(way).map_err(Into::into);
        trials.push(Trial::test(format!("shm leaves no file/{way}"), run));
    }
    for call in ["fetch", "g"] {
        let run = move || given_up(call).map_err(Into::into);
        trials.push(Trial::test(format!("a call that fails gives its memory back/{call}"), run));
    }
    let bad = if arguments.list { None } else { bad_wire().map(Arc::new) };
    if let Some(bad) = bad {
        let wanted = |name: &str| PATIENT.contains(&name) || system::is_long() && VERY_PATIENT.contains(&name);
        for program in program::conformance().into_iter().filter(|program| wanted(&program.name)) {
            let (title, hosts) = (format!("a bad wire/{}", program.name), bad.clone());
            trials.push(Trial::test(title, move || on_two(&program, &hosts).map_err(Into::into)));
        }
    }
    for way in ways().into_iter().map(Arc::new) {
        let parts = |name: &str| PARTS.contains(&name) || way.many && MANY.contains(&name);
        for program in program::conformance().into_iter().filter(|program| parts(&program.name)) {
            let (program, one) = (Arc::new(program), way.clone());
            let title = |where_: &str| format!("{}, {where_}/{}", way.name, program.name);
            let same = program.clone();
            trials.push(Trial::test(title("one host"), move || one.on_one(&same).map_err(Into::into)));
            if let Some(hosts) = hosts.clone().filter(|_| way.far) {
                let (title, way) = (title("two hosts"), way.clone());
                trials.push(Trial::test(title, move || way.on_two(&program, &hosts).map_err(Into::into)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// libfabric and what it brings along have other ideas.
fn signals() -> Result<(), String> {
    let binary = Build::program("network/signals.c").options(["-D_GNU_SOURCE"]).try_build()?;
    let outcome = Job::oshrun(2).arg(binary).env("SHMEM_TRANSPORT", "ofi").run();
    if outcome.code() == 0 { Ok(()) } else { Err(outcome.describe()) }
}

/// Atomic operations that the provider makes: they are right, or it has none.
fn provider_atomics(program: &Program, provider: &str) -> Result<(), String> {
    let environment = [
        ("SHMEM_TRANSPORT", "ofi"),
        ("SHMEM_ATOMICS", "nic"),
        ("SHMEM_OFI_PROVIDER", provider),
        ("TEST_HOST_PES", "1"),
    ];
    let job = program.job(&program.build()?, program.pes_near(2), &[]);
    let outcome = environment.iter().fold(job, |job, (name, value)| job.env(name, value)).run();
    if ["has no atomic", "is not there"].iter().any(|words| outcome.stderr.contains(words)) {
        println!("skipped: there is no provider {provider} with atomics");
        return Ok(());
    }
    program.check(&outcome)
}

fn fence() -> Result<(), String> {
    let binary = Build::program("network/fence.c").try_build()?;
    let job = Job::oshrun(2).arg(binary).env("SHMEM_TRANSPORT", "ofi").env("SHMEM_ATOMICS", "nic");
    let outcome = job.limit(60).run();
    if outcome.stderr.contains("has no atomic") {
        println!("skipped: the provider has no atomics");
        return Ok(());
    }
    if outcome.code() == 0 { Ok(()) } else { Err(outcome.describe()) }
}

/// The provider `shm` has a file for each PE, by whose process it is named; in whatever way the job ends, it goes.
fn no_file_is_left(way: &str) -> Result<(), String> {
    let binary = Build::program("network/leaves.c").try_build()?;
    let environment = [("SHMEM_TRANSPORT", "ofi"), ("SHMEM_OFI_PROVIDER", "shm")];
    let job = environment.iter().fold(Job::oshrun(2).arg(binary).arg(way), |job, (name, value)| job.env(name, value));
    let outcome = job.limit(60).run();
    if outcome.stderr.contains("provider shm (SHMEM_OFI_PROVIDER) is not there") {
        println!("skipped: libfabric has no provider shm");
        return Ok(());
    }
    let names = system::shared_names();
    let pids: Vec<String> = outcome.stdout.lines().map(|pid| format!("{pid}:")).collect();
    let left: Vec<&String> = names.iter().filter(|name| pids.iter().any(|pid| name.starts_with(pid))).collect();
    let status = if way == "global_exit" || way == "exit" { 3 } else { 0 };
    if pids.len() == 2 && left.is_empty() && outcome.code() == status {
        return Ok(());
    }
    Err(format!("left in /dev/shm: {left:?}\n{}", outcome.describe()))
}

/// What another PE answers later does not come to where the result was to be.
fn given_up(call: &str) -> Result<(), String> {
    let binary = Build::program("network/given_up.c").options(["-D_GNU_SOURCE"]).try_build()?;
    let outcome = Job::oshrun(3).arg(binary).arg(call).env("SHMEM_TRANSPORT", "ofi").limit(60).run();
    if outcome.code() == 0 { Ok(()) } else { Err(outcome.describe()) }
}

/// Two hosts with 20 ms between them, one way, and 5 % loss.
fn bad_wire() -> Option<Hosts> {
    let hosts = Hosts::new(2)?;
    hosts.disturb("b", Quality { delay: Duration::from_millis(20), loss: 5 }).then_some(hosts)
}

/// What there is beside the default. The rest is said to be missing.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    let library = PathBuf::from("libfabric.so.1");
    if system::library("libfabric.so.1").is_some() {
        let way = |name, provider, far, many| Way { name, library: library.clone(), provider, far, many };
        ways.push(way("the system's libfabric", "tcp;ofi_rxm", true, true));
        for (provider, far) in [("net", true), ("sockets", false), ("udp;ofi_rxd", false), ("shm", false)] {
            ways.push(way(provider, provider, far, false));
        }
    }
    match wheels::libfabric() {
        Ok(library) => {
            for (name, provider) in [("libfabric 2 tcp", "tcp"), ("libfabric 2 tcp;ofi_rxm", "tcp;ofi_rxm")] {
                ways.push(Way { name, library: library.clone(), provider, far: true, many: true });
            }
        }
        Err(reason) => println!("not tested: libfabric 2: {reason}"),
    }
    ways
}

impl Way {
    fn environment(&self) -> Vec<(&'static str, String)> {
        let library = self.library.display().to_string();
        vec![("SHMEM_OFI_LIBRARY", library), ("SHMEM_OFI_PROVIDER", self.provider.to_owned())]
    }

    fn on_one(&self, program: &Program) -> Result<(), String> {
        run_on_one(program, &[program.pes_near(2)], &self.environment())
    }

    fn on_two(&self, program: &Program, hosts: &Hosts) -> Result<(), String> {
        run_on_two(program, hosts, &self.environment())
    }
}

fn on_one(program: &Program, environment: &[(&'static str, String)]) -> Result<(), String> {
    let mut counts: Vec<usize> =
        ON_ONE.into_iter().take(system::repetitions(1, 2)).map(|pes| program.pes_near(pes)).collect();
    counts.dedup();
    run_on_one(program, &counts, &[&wheels::quick_libfabric(), environment].concat())
}

fn run_on_one(program: &Program, counts: &[usize], environment: &[(&str, String)]) -> Result<(), String> {
    let binary = program.build()?;
    counts.iter().try_for_each(|&pes| {
        let job = program.job(&binary, pes, &[]).env("SHMEM_TRANSPORT", "ofi").env("TEST_HOST_PES", "1");
        let job = environment.iter().fold(job, |job, (name, value)| job.env(name, value));
        program.check(&job.run()).map_err(|message| format!("at {pes} PEs:\n{message}"))
    })
}

fn on_two(program: &Program, hosts: &Hosts) -> Result<(), String> {
    run_on_two(program, hosts, &[])
}

fn run_on_two(program: &Program, hosts: &Hosts, environment: &[(&str, String)]) -> Result<(), String> {
    let pes = program.pes_near(ON_TWO);
    // The first host is full, the second may not be.
    let each = pes.div_ceil(2);
    let told = format!("TEST_HOST_PES={each}");
    let options = ["-n", &pes.to_string(), "--hosts", &hosts.list(each), "-x", &told].map(String::from);
    let oshrun = hosts.oshrun_with(&options.each_ref().map(String::as_str));
    let job = environment.iter().fold(oshrun, |job, (name, value)| job.env(name, value));
    let outcome = program.job_of(job, &program.build()?).run();
    program.check(&outcome).map_err(|message| format!("at {pes} PEs:\n{message}"))
}
