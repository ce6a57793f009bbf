//! What the examples communicate, against a baseline in the repository (`examples/counts`, a store of `oshprof
//! history` with counts only): a change of the library or of an example that sends more is seen here, on any machine.
//!
//! Where a change is wanted, `PELLUCID_BLESS=1 ./x test regression -- baseline` writes the baseline anew.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

use crate::runs::{json, rows};

/// Program, PEs, arguments: short runs whose counts depend on nothing but these.
const RUNS: [(&str, &str, &str); 4] =
    [("hello", "4", ""), ("isort", "4", "-k 5000"), ("gups", "4", "-t 10"), ("heat2d", "4", "-r 64 -c 48 -s 60")];

fn store() -> PathBuf {
    tree::workspace().join("examples/counts")
}

/// A folder with the programs by their plain names, which series are named after.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(compile)
}

fn compile() -> PathBuf {
    let folder = tree::scratch("regression/baseline");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, ..) in RUNS {
        let source = tree::workspace().join("examples").join(name).join(format!("{name}.c"));
        let built = Build::source(&format!("counts-{name}"), &source).options(["-O1", "-g"]).libraries(["-lm"]).build();
        let here = folder.join(name);
        let partial = folder.join(format!("{name}.{}", std::process::id()));
        std::fs::copy(built, &partial).unwrap();
        std::fs::rename(partial, here).unwrap();
    }
    // Before any test reads it.
    if std::env::var_os("PELLUCID_BLESS").is_some() {
        bless(&folder);
    }
    folder
}

fn oshprof(folder: &Path, arguments: &[&str]) -> Job {
    Job::new(tree::tool("oshprof")).args(arguments).directory(folder)
}

fn bless(folder: &Path) {
    let _ = std::fs::remove_dir_all(store());
    for (name, pes, arguments) in RUNS {
        let mut add = oshprof(folder, &["history", "add", "--no-times", "--commit", "baseline", "--time", "0"]);
        for at in 0..2 {
            let profile = tree::fresh(&format!("regression/baseline-{name}{at}")).join("p");
            let job = Job::oshrun(pes.parse().unwrap()).arg("--profile-dir").arg(&profile).arg(format!("./{name}"));
            job.args(arguments.split_whitespace()).directory(folder).run().expect_code(0);
            add = add.arg(profile);
        }
        add.arg("--store").arg(store()).run().expect_code(0);
    }
}

#[test]
fn examples_communicate_what_they_did() {
    let folder = programs();
    for (name, pes, arguments) in RUNS {
        let line = format!("{} -n {pes} ./{name} {arguments}", tree::tool("oshrun").display());
        let store = store();
        let outcome = oshprof(folder, &["gate", "--json", "--baseline", store.to_str().unwrap(), &line]).run();
        let found: Value = json(&outcome);
        let changed = rows(&found["counts"], "changed");
        assert!(
            changed.is_empty() && found["verdict"] == "ok",
            "{name} communicates something else than examples/counts says. Is that wanted? PELLUCID_BLESS=1\n{found:#}"
        );
        assert!(found["counts"]["compared"].as_u64().is_some_and(|sites| sites >= 3), "{found:#}");
        assert!(rows(&found, "metrics").is_empty(), "times of some machine are no baseline");
    }
}

/// The comparison would see something: a put less, told by the same command.
#[test]
fn an_example_that_changed_is_seen() {
    let folder = programs();
    let source = std::fs::read_to_string(tree::workspace().join("examples/hello/hello.c")).unwrap();
    let other = folder.join("changed");
    std::fs::create_dir_all(&other).unwrap();
    let (begin, end) = source.split_once("shmem_barrier_all();").expect("hello has a barrier");
    std::fs::write(other.join("hello.c"), format!("{begin}shmem_barrier_all(); shmem_barrier_all();{end}")).unwrap();
    let built = Build::source("counts-hello-changed", &other.join("hello.c")).options(["-O1", "-g"]).build();
    std::fs::copy(built, other.join("hello")).unwrap();
    let line = format!("{} -n 4 ./hello", tree::tool("oshrun").display());
    let outcome = oshprof(&other, &["gate", "--json", "--baseline", store().to_str().unwrap(), &line]).run();
    let found = json(&outcome.expect_code(3));
    assert_eq!(rows(&found["counts"], "changed")[0]["op"], "shmem_barrier_all", "{found:#}");
}
