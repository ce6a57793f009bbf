//! `./x bench --gate REVISION`, in a repository of its own whose `./x install` copies the tree under test.

use std::path::{Path, PathBuf};

use harness::run::{Job, Outcome};
use harness::tree;

/// A repository with the script, one example, and a build that takes no time.
fn repository() -> PathBuf {
    let root = tree::fresh("regression/bench");
    for folder in ["tools/oshbench", "examples/gups", "target", "tmp"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let script = std::fs::read_to_string(tree::workspace().join("tools/oshbench/gate.sh")).unwrap();
    // The same with less to do.
    let script = script.replace("-t 16 -u 3000000", "-t 10 -u 1000");
    std::fs::write(root.join("tools/oshbench/gate.sh"), script).unwrap();
    std::fs::copy(tree::workspace().join("examples/gups/gups.c"), root.join("examples/gups/gups.c")).unwrap();
    let prefix = tree::prefix();
    let install = format!("#!/bin/sh\nmkdir -p \"$3\" && cp -a '{}/.' \"$3\"\n", prefix.display());
    std::fs::write(root.join("x"), install).unwrap();
    std::fs::write(root.join(".gitignore"), "target\ntmp\n").unwrap();
    std::os::unix::fs::symlink(prefix, root.join("target/pellucid")).unwrap();
    Job::new("chmod").arg("+x").arg(root.join("x")).run().expect_code(0);
    for line in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        Job::new("git").args(identity).args(line).directory(&root).run().expect_code(0);
    }
    root
}

fn gate(root: &Path, arguments: &[&str]) -> Outcome {
    let job = Job::new("bash").arg(root.join("tools/oshbench/gate.sh")).args(arguments).limit(300);
    let outcome = job.env("TMPDIR", root.join("tmp").to_str().unwrap()).run();
    assert_eq!(std::fs::read_dir(root.join("tmp")).unwrap().count(), 0, "its clone is removed: {}", outcome.describe());
    outcome
}

#[test]
fn this_tree_is_compared_with_another_revision() {
    let root = repository();
    gate(&root, &[]).expect_code(2).expect_text(&["which revision?"]);
    gate(&root, &["no-such-branch"]).expect_code(2).expect_text(&["'no-such-branch' is no revision"]);
    gate(&root, &["HEAD", "nothing"]).expect_code(2).expect_text(&["there are: gups isort heat2d"]);

    let source = root.join("examples/gups/gups.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let more = text.replacen("shmem_barrier_all();", "shmem_barrier_all(); shmem_barrier_all();", 1);
    assert_ne!(text, more);
    std::fs::write(&source, more).unwrap();
    let outcome = gate(&root, &["HEAD", "gups", "--", "--pairs", "10..10", "--metric", "run"]).expect_code(3);
    outcome.expect_text(&["building ", "+ shmem_barrier_all at ", "regression"]);
    // What was built is there for the next time, and a program that does not compile is named.
    std::fs::write(&source, "int main(void) { return nothing; }\n").unwrap();
    let outcome = gate(&root, &["HEAD", "gups"]).expect_code(1).expect_text(&["gups does not compile", "this"]);
    assert!(!outcome.stderr.contains("building"), "{}", outcome.stderr);
    assert_eq!(Job::new("git").args(["worktree", "list"]).directory(&root).run().stdout.lines().count(), 1);
}
