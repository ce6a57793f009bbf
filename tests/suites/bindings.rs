//! The examples in other languages than C: Fortran through `iso_c_binding`, Rust through a safe interface.

use std::path::PathBuf;

use harness::run::Job;
use harness::tree;

#[test]
fn fortran() {
    if Job::new(PathBuf::from("sh")).args(["-c", "command -v gfortran"]).run().code() != 0 {
        println!("not tested: no gfortran here");
        return;
    }
    let folder = tree::scratch("fortran");
    let examples = tree::workspace().join("examples/fortran");
    let lib = tree::prefix().join("lib");
    let binary = folder.join("smooth");
    Job::new(PathBuf::from("gfortran"))
        .args(["-std=f2003", "-O2", "-Wall", "-Werror", "-J"])
        .arg(&folder)
        .arg(examples.join("shmem.f90"))
        .arg(examples.join("smooth.f90"))
        .args([format!("-L{}", lib.display()), format!("-Wl,-rpath,{}", lib.display())])
        .args(["-lsma", "-o"])
        .arg(&binary)
        .run()
        .expect_code(0);
    // The rod grows with the PEs, but most of it stays cold.
    for (pes, heat) in [(1, "7.7759"), (2, "10.6061"), (3, "10.7906"), (4, "10.7943")] {
        let line = format!("heat in the rod on {pes} PEs:");
        Job::oshrun(pes).arg(&binary).run().expect_code(0).expect_text(&[&line, heat]);
    }
}

#[test]
fn rust() {
    // Built apart: the workspace has to build where there is no libsma yet.
    let target = tree::scratch("rust-heap");
    Job::new(PathBuf::from(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())))
        .args(["build", "--quiet", "--locked", "--package", "rust-heap", "--features", "libsma", "--target-dir"])
        .arg(&target)
        .env("PELLUCID_PREFIX", &tree::prefix().to_string_lossy())
        .directory(tree::workspace())
        .limit(300)
        .run()
        .expect_code(0);
    let binary = target.join("debug/rust-heap");
    for pes in [1, 2, 3, 5] {
        for check in [&[][..], &["--check"]] {
            let line = format!("320000 numbers in {} bins on {pes} PEs", 8 * pes);
            Job::oshrun(pes).args(check).arg(&binary).run().expect_code(0).expect_text(&[&line]);
        }
    }
}
