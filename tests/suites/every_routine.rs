//! A tool that wraps all 1788 routines, attached in every way at 4 PEs: it sees each call of the program once, and so
//! does the profile.

use std::path::{Path, PathBuf};

use harness::report::Report;
use harness::run::{Job, Outcome};
use harness::wrappers::{self, Style};
use harness::{table, tree};

const PES: usize = 4;

/// What `app.c` calls, in the order of the table: calls a PE.
const CALLS: &[(&str, u64)] = &[
    ("shmem_init", 1),
    ("shmem_my_pe", 1),
    ("shmem_n_pes", 1),
    ("shmem_finalize", 1),
    ("shmem_malloc", 2),
    ("shmem_free", 2),
    ("shmem_long_put", 10),
    ("shmem_putmem", 4),
    ("shmem_long_p", 20),
    ("shmem_longdouble_p", 2),
    ("shmem_longdouble_g", 2),
    ("shmem_ctx_long_ibput", 1),
    ("shmem_long_atomic_add", 5),
    ("shmem_barrier_all", 3),
    ("shmem_long_sum_reduce", 2),
];

fn folder() -> PathBuf {
    tree::scratch("every-routine")
}

fn cc() -> Job {
    let include = tree::prefix().join("include");
    Job::new(PathBuf::from("cc")).args(["-O1", "-Wno-array-parameter", "-I"]).arg(include).limit(240)
}

/// Compiles the tool, position-independent, to an object.
fn object(name: &str, style: Style) -> PathBuf {
    let (source, object) = (folder().join(format!("{name}.c")), folder().join(format!("{name}.o")));
    std::fs::write(&source, wrappers::source(style)).expect("target/tests can be written");
    cc().args(["-fPIC", "-Wall", "-Wextra", "-c"]).arg(&source).arg("-o").arg(&object).run().expect_code(0);
    object
}

fn shared(name: &str, object: &Path) -> PathBuf {
    let library = folder().join(format!("lib{name}.so"));
    cc().arg("-shared").arg(object).arg("-o").arg(&library).run().expect_code(0);
    library
}

fn archive(name: &str, object: &Path) {
    let library = folder().join(format!("lib{name}.a"));
    let _ = std::fs::remove_file(&library);
    Job::new(PathBuf::from("ar")).arg("rcs").arg(&library).arg(object).run().expect_code(0);
}

/// Links the program as a user would by hand.
fn link(name: &str, options: &[&str]) -> PathBuf {
    let (binary, lib) = (folder().join(name), tree::prefix().join("lib"));
    let app = tree::package().join("programs/tools/app.c");
    let mut job = cc().arg(&app).arg("-L").arg(folder()).arg("-L").arg(&lib);
    job = job.args(options).args([
        format!("-Wl,-rpath,{}", lib.display()),
        format!("-Wl,-rpath,{}", folder().display()),
        "-lm".into(),
    ]);
    job.arg("-o").arg(&binary).run().expect_code(0);
    binary
}

/// Runs at 4 PEs; both sides count exactly.
fn check(name: &str, binary: &Path, options: &[&str]) -> Outcome {
    let directory = tree::scratch("profiles").join(format!("every-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let job = Job::oshrun(PES).args(["--profile", "1", "--profile-dir"]).arg(&directory);
    let outcome = job.args(options).arg(binary).run().expect_code(0);
    let report = Report::read(&directory, true);
    let order = |routine: &str| table::functions().iter().position(|function| function.name == routine);
    let mut calls = CALLS.to_vec();
    calls.sort_by_key(|(routine, _)| order(routine));
    for pe in 0..PES {
        let mut line = format!("all on {pe}:");
        calls.iter().for_each(|(routine, calls)| line += &format!(" {routine} {calls},"));
        assert!(outcome.stdout.lines().any(|found| found == line), "{name}: expected {line}\n{}", outcome.describe());
        for (routine, calls) in &calls {
            assert_eq!(report.routine_of(pe, routine).0, *calls, "{name}: calls of {routine} on PE {pe}");
        }
    }
    assert_eq!(report.names().len(), calls.len(), "{name}: {:?}", report.names());
    outcome
}

#[test]
fn name_shifted_in_every_attachment() {
    let object = object("all", Style::Shifted);
    let library = shared("all", &object);
    archive("allstatic", &object);
    let text = object.to_string_lossy().into_owned();
    // Static: the object, the archive, with and without -lpsma; no symbol twice.
    check("object-static", &link("object-static", &["-static", &text, "-lsma"]), &[]);
    check("archive-static", &link("archive-static", &["-static", "-lallstatic", "-lsma"]), &[]);
    check("psma-static", &link("psma-static", &["-static", "-lallstatic", "-lpsma", "-lsma"]), &[]);
    // Dynamic.
    check("object", &link("object", &[&text, "-lsma"]), &[]);
    check("archive", &link("archive", &["-lallstatic", "-lpsma", "-lsma"]), &[]);
    check("shared", &link("shared", &["-lall", "-lsma"]), &[]);
    check("psma", &link("psma", &["-lall", "-lpsma", "-lsma"]), &[]);
    // Into the program as it is.
    let plain = link("plain", &["-lsma"]);
    let path = library.to_string_lossy().into_owned();
    check("preloaded", &plain, &["-x", &format!("LD_PRELOAD={path}")]);
    check("stacked", &plain, &["--tool", &path]);
    // Two of them: a copy, since one file is one tool.
    let second = shared("all-second", &object).to_string_lossy().into_owned();
    let outcome = check("twice", &plain, &["--tool", &path, "--tool", &second]);
    assert_eq!(outcome.stdout.matches("all on").count(), 2 * PES, "{}", outcome.describe());
}

#[test]
fn wrapped_by_the_linker() {
    let object = object("wrapped", Style::Wrapped).to_string_lossy().into_owned();
    let options = folder().join("wrap-options");
    std::fs::write(&options, wrappers::wrap_options()).expect("target/tests can be written");
    let options = format!("@{}", options.display());
    check("wrapped", &link("wrapped", &[&object, &options, "-lsma"]), &[]);
    check("wrapped-static", &link("wrapped-static", &["-static", &object, &options, "-lsma"]), &[]);
}

#[test]
fn interposed_with_dlsym() {
    let library = shared("next", &object("next", Style::Next)).to_string_lossy().into_owned();
    let plain = link("plain-next", &["-lsma"]);
    check("next-preloaded", &plain, &["-x", &format!("LD_PRELOAD={library}")]);
    check("next-stacked", &plain, &["--tool", &library]);
    // Nothing in the program refers to libsma then: some systems' linkers would leave it out.
    check("next-linked", &link("next-linked", &["-lnext", "-Wl,--no-as-needed", "-lsma"]), &[]);
}
