//! Runs `tests/conformance` over the network: on one host, with libfabric between all PEs all the same; and on two hosts, with
//! shared memory within each and libfabric between them.

use std::process::ExitCode;
use std::sync::Arc;

use harness::hosts::Hosts;
use harness::program::{self, Program};
use libtest_mimic::{Arguments, Trial};

/// The network's own costs are paid per message, so each program runs at few PE counts only: the nearest to these.
const ON_ONE: [usize; 2] = [2, 3];
const ON_TWO: usize = 4;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let hosts = if arguments.list { None } else { Hosts::new(2).map(Arc::new) };
    let mut trials = Vec::new();
    let wanted = |program: &Program| program.missing().is_empty() && !program.needs_one_host();
    for program in program::conformance().into_iter().filter(wanted) {
        let program = Arc::new(program);
        let one = program.clone();
        trials.push(Trial::test(format!("one host/{}", one.name), move || on_one(&one).map_err(Into::into)));
        if let Some(hosts) = hosts.clone() {
            let name = format!("two hosts/{}", program.name);
            trials.push(Trial::test(name, move || on_two(&program, &hosts).map_err(Into::into)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn on_one(program: &Program) -> Result<(), String> {
    let binary = program.build()?;
    let mut counts = ON_ONE.map(|pes| program.pes_near(pes)).to_vec();
    counts.dedup();
    let run = |pes: usize| {
        let job = program.job(&binary, pes, &[]).env("SHMEM_TRANSPORT", "ofi").env("TEST_HOST_PES", "1");
        program.judge(&job.run()).map_err(|message| format!("at {pes} PEs:\n{message}"))
    };
    counts.into_iter().try_for_each(run)
}

fn on_two(program: &Program, hosts: &Hosts) -> Result<(), String> {
    let pes = program.pes_near(ON_TWO);
    // The first host is full, the second may not be.
    let each = pes.div_ceil(2);
    let told = format!("TEST_HOST_PES={each}");
    let options = ["-n", &pes.to_string(), "--hosts", &hosts.list(each), "-x", &told].map(String::from);
    let oshrun = hosts.oshrun_with(&options.each_ref().map(String::as_str));
    let outcome = program.job_of(oshrun, &program.build()?).run();
    program.judge(&outcome).map_err(|message| format!("at {pes} PEs:\n{message}"))
}
