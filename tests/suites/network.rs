//! Runs `tests/conformance` over the network: all PEs on one host, and yet everything between them goes through libfabric.

use std::process::ExitCode;

use harness::program::{self, Program};
use libtest_mimic::{Arguments, Trial};

/// The network's own costs are paid per message, so each program runs at few PE counts only: the nearest to these.
const PES: [usize; 2] = [2, 4];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let wanted = |program: &Program| program.missing().is_empty() && !program.needs_one_host();
    let programs = program::conformance().into_iter().filter(wanted);
    let trials =
        programs.map(|program| Trial::test(program.name.clone(), move || over_network(&program).map_err(Into::into)));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn over_network(program: &Program) -> Result<(), String> {
    let binary = program.build()?;
    let mut counts = PES.map(|pes| program.pes_near(pes)).to_vec();
    counts.dedup();
    let run = |pes: usize| {
        let outcome = program.job(&binary, pes, &[]).env("SHMEM_TRANSPORT", "ofi").env("TEST_HOST_PES", "1").run();
        program.judge(&outcome).map_err(|message| format!("at {pes} PEs:\n{message}"))
    };
    counts.into_iter().try_for_each(run)
}
