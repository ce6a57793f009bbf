//! Python programs: the package shmem4py, built from its sources against this library, and the examples.

use std::path::PathBuf;

use harness::run::Job;
use harness::{tree, wheels};

/// The Python that has shmem4py; `None`, and a line that says so, where it is not there.
fn python() -> Option<PathBuf> {
    wheels::shmem4py().inspect_err(|why| println!("not tested: {why}")).ok()
}

#[test]
fn the_packages_own_tests() {
    let Some(folder) = python() else { return };
    let sources = std::fs::read_dir(folder.join("source")).expect("its sources").flatten();
    let package = sources.map(|entry| entry.path()).find(|path| path.is_dir()).expect("its folder");
    for pes in [1, 2, 3] {
        let outcome = Job::oshrun(pes)
            .arg(folder.join("bin/python3"))
            .args(["-m", "unittest", "discover", "-s", "test"])
            .directory(&package)
            .limit(300)
            .run()
            .expect_code(0);
        let passed = outcome.stderr.lines().filter(|line| *line == "OK").count();
        assert_eq!(passed, pes, "{}", outcome.stderr);
    }
}

#[test]
fn the_examples() {
    let Some(folder) = python() else { return };
    let (scratch, examples) = (tree::fresh("python"), tree::workspace().join("examples/python"));
    let heat = |pes: usize| {
        let job = Job::oshrun(pes).arg("--profile-dir").arg(scratch.join(format!("profile-{pes}")));
        job.arg(folder.join("bin/python3")).arg(examples.join("heat.py")).directory(&scratch)
    };
    for pes in [1, 2, 4] {
        let line = format!("heat.py: OK, 48 x 40 points, 50 steps on {pes} PEs");
        heat(pes).args(["48", "40", "50", "--plot", "heat.png"]).run().expect_code(0).expect_text(&[&line]);
    }
    heat(5).args(["48", "40", "50"]).run().expect_code(1).expect_text(&["48 rows cannot be divided among 5 PEs"]);
    let path = format!("{}:{}", tree::prefix().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    Job::new(folder.join("bin/python3"))
        .arg(examples.join("shares.py"))
        .arg(scratch.join("profile-4"))
        .arg("shares.png")
        .env("PATH", &path)
        .directory(&scratch)
        .run()
        .expect_code(0)
        .expect_text(&["shares.py: OK, 4 PEs in shares.png"]);
    for picture in ["heat.png", "shares.png"] {
        let bytes = std::fs::read(scratch.join(picture)).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{picture}: {} bytes", bytes.len());
    }
}

/// A profile is named after the script, and shows its calls.
#[test]
fn a_profile_of_a_script() {
    let Some(folder) = python() else { return };
    let scratch = tree::fresh("python-profile");
    let script = tree::workspace().join("examples/python/heat.py");
    let job = Job::oshrun(2).arg("--profile").arg(folder.join("bin/python3")).arg(&script).args(["16", "16", "10"]);
    job.directory(&scratch).run().expect_code(0).expect_text(&["shmem_double_put", "pellucid-heat.py.prof"]);
    assert!(scratch.join("pellucid-heat.py.prof").is_dir());
}
