//! Every algorithm of the collectives, forced by `SHMEM_COLLECTIVES`, against the conformance programs of its
//! collective.

use std::process::ExitCode;
use std::sync::Arc;

use harness::compile::Build;
use harness::program::{self, Program};
use harness::run::Job;
use libtest_mimic::{Arguments, Trial};
use pellucid_core::collectives::table::{self, Listed};

/// How the names of collectives between hosts begin.
const BETWEEN_HOSTS: &str = "hosts-";

/// Programs that use a collective.
///
/// # Panics
/// Panics for a collective that has none here: a new one needs its row.
fn programs(collective: &str) -> &'static [&'static str] {
    match collective.strip_prefix(BETWEEN_HOSTS).unwrap_or(collective) {
        "barrier" => &["barrier", "back-to-back", "active-sets"],
        "broadcast" => &["broadcast", "large", "back-to-back"],
        "reduce" => &["reduce-arithmetic", "reduce-order", "reduce-bitwise", "large", "back-to-back"],
        "collect" | "fcollect" => &["collect", "large", "random"],
        "alltoall" => &["alltoall", "large", "random"],
        "scan" => &["scan", "random"],
        other => panic!("no conformance programs are named for {other}"),
    }
}

/// An odd number, and one larger than the cores, for which trees and dissemination take several rounds.
const PES: &[usize] = &[3, 9];
/// Of jobs over the network, where each message has its price.
const BETWEEN: usize = 3;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let conformance: Vec<Arc<Program>> = program::conformance().into_iter().map(Arc::new).collect();
    let mut trials = vec![Trial::test("a wrong name is explained", || wrong_name().map_err(Into::into))];
    for row in table::rows() {
        for name in programs(row.collective) {
            let name = format!("9.10-collective/{name}");
            let program =
                conformance.iter().find(|program| program.name == name).expect("a conformance program").clone();
            let title = format!("{}:{} in {name}", row.collective, row.name);
            trials.push(Trial::test(title, move || forced(&row, &program).map_err(Into::into)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs the program with the algorithm.
fn forced(row: &Listed, program: &Program) -> Result<(), String> {
    let binary = program.build()?;
    let force = format!("SHMEM_COLLECTIVES={}:{}", row.collective, row.name);
    if row.collective.starts_with(BETWEEN_HOSTS) {
        // Every PE counts as a host.
        let job = program.job(&binary, BETWEEN, &["-x", &force]);
        return program.check(&job.env("SHMEM_TRANSPORT", "ofi").env("TEST_HOST_PES", "1").run());
    }
    for &pes in PES {
        program.check(&program.job(&binary, pes, &["-x", &force]).run())?;
    }
    Ok(())
}

fn wrong_name() -> Result<(), String> {
    let binary = Build::program("misuse/plain.c").try_build()?;
    for value in ["reduce:magic", "nothing", "barrier"] {
        let outcome = Job::oshrun(2).env("SHMEM_COLLECTIVES", value).arg(&binary).limit(10).run();
        let named = outcome.stderr.contains("SHMEM_COLLECTIVES") && outcome.stderr.contains(value);
        if outcome.code() <= 0 || !named {
            return Err(format!("SHMEM_COLLECTIVES={value}\n{}", outcome.describe()));
        }
    }
    Ok(())
}
