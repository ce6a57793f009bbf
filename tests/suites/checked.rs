//! The conformance programs once more with `oshrun --check`: they do nothing wrong, so the checks must find nothing.

use std::process::ExitCode;

use harness::program;
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let trials = program::conformance()
        .into_iter()
        .filter(|program| program.missing().is_empty())
        .map(|program| {
            Trial::test(format!("{} with checks", program.name), move || {
                let binary = program.build()?;
                let pes = program.pes_near(3);
                program.check(&program.job(&binary, pes, &["--check"]).run())?;
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
