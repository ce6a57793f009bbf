//! Runs of versions of `programs/regression/step.c`, and what `oshprof` says of them.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::tree;
use serde_json::Value;

/// PEs of a run: more than there are cores.
pub const PES: usize = 8;

/// The source with versions of itself.
pub fn source() -> PathBuf {
    tree::package().join("programs/regression/step.c")
}

/// A version of the program.
pub fn version(name: &str) -> PathBuf {
    build(name, &source(), name)
}

/// A version of a program from this source.
pub fn build(name: &str, source: &Path, define: &str) -> PathBuf {
    Build::source(&format!("step-{name}"), source).options([format!("-D{define}").as_str(), "-g"]).build()
}

/// Profiles of so many runs.
pub fn profiles(name: &str, binary: &Path, runs: usize, arguments: &[&str]) -> Vec<PathBuf> {
    let root = tree::fresh(&format!("regression/{name}"));
    let directory = |at: usize| root.join(format!("run{at}"));
    for at in 0..runs {
        let job = Job::oshrun(PES).arg("--profile-dir").arg(directory(at)).arg(binary).args(arguments);
        job.run().expect_code(0);
    }
    (0..runs).map(directory).collect()
}

/// `oshprof` with these arguments, in an empty directory.
pub fn oshprof(arguments: &[&str]) -> Job {
    Job::new(tree::tool("oshprof")).args(arguments).directory(&tree::scratch("regression-empty"))
}

/// `oshprof diff --json`.
pub fn diff(base: &[PathBuf], new: &[PathBuf], options: &[&str]) -> (Outcome, Value) {
    let outcome = oshprof(&["diff"]).args(base).arg("--").args(new).arg("--json").args(options).run();
    let value = json(&outcome);
    (outcome, value)
}

/// Standard output as JSON.
pub fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("no JSON: {error}\n{}", outcome.describe()))
}

/// An array of an object.
pub fn rows<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_else(|| panic!("no {name} in {of:#}"))
}
