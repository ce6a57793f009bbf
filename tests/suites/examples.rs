//! The programs of `examples/`: they compile without warnings, do their work and find it right, at any number of PEs.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

/// Compiles an example, as the README does, with all warnings as errors.
fn example(name: &str) -> PathBuf {
    let source = tree::workspace().join("examples").join(name).join(format!("{name}.c"));
    Build::source(&format!("example-{name}"), &source).options(["-O2", "-Werror"]).libraries(["-lm"]).build()
}

fn check(name: &str, arguments: &[&[&str]]) {
    let binary = example(name);
    for pes in [1, 2, 3, 7] {
        for arguments in arguments {
            Job::oshrun(pes).arg(&binary).args(*arguments).run().expect_code(0).expect_text(&[&format!("{name}: OK")]);
        }
    }
}

#[test]
fn hello() {
    check("hello", &[&[]]);
}

#[test]
fn isort() {
    check("isort", &[&["-k", "100000"], &["-k", "3001", "-d", "low"], &["-k", "5000", "-d", "same"], &["-k", "1"]]);
}

#[test]
fn gups() {
    check("gups", &[&["-t", "10"], &["-t", "8", "-o", "add"]]);
}

#[test]
fn heat2d() {
    check("heat2d", &[&["-r", "64", "-c", "48", "-s", "60"], &["-r", "33", "-c", "7", "-s", "20"]]);
}
