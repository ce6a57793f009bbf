//! Runs `tests/conformance`: one folder a chapter of the specification, one C program a case.
//!
//! Every function of the API table that the built header declares must be called by one of the programs; what the
//! build does not have yet is left out and listed in one line.

use std::collections::HashSet;
use std::process::ExitCode;

use harness::{declared, program, table};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Two at a time: the programs are parallel themselves.
    arguments.test_threads.get_or_insert(2);
    let programs = program::conformance();

    let texts: Vec<String> = programs.iter().map(|program| program.text.clone()).collect();
    let mut trials =
        vec![Trial::test("every declared function is called", move || covered(&texts).map_err(Into::into))];
    let mut skipped = Vec::new();
    for program in programs {
        let missing = program.missing();
        if missing.is_empty() {
            trials.push(Trial::test(program.name.clone(), move || program.run().map_err(Into::into)));
        } else {
            skipped.push(format!("{} ({})", program.name, missing.join(" ")));
        }
    }
    let listing = arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !listing {
        if !skipped.is_empty() {
            println!("skipped, for want of a routine: {}", skipped.join(", "));
        }
        let missing = declared::missing();
        if !missing.is_empty() {
            println!("{missing}");
        }
    }
    conclusion.exit_code()
}

/// Fails where a declared function of the table is called by no program.
fn covered(texts: &[String]) -> Result<(), String> {
    let called: HashSet<&str> = texts.iter().flat_map(|text| declared::called(text)).collect();
    let functions = table::functions().iter().filter(|function| declared::functions().contains(&function.name));
    let left: Vec<&str> =
        functions.map(|function| function.name.as_str()).filter(|name| !called.contains(name)).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("called by no program: {}", left.join(" "))) }
}
