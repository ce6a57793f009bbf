//! Tools that do what real ones do: look routines up when they are loaded, work in exit handlers, fork and sample; and
//! programs that get to routines in unusual ways. However the tool was attached, the profile has each call of the
//! program once.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::report::Report;
use harness::run::{Job, Outcome};
use harness::tree;

const PES: usize = 3;

/// Builds a tool as a vendor would, linked to nothing of ours.
fn tool(name: &str, file: &str) -> PathBuf {
    let library = tree::scratch("attach").join(format!("{name}.so"));
    Job::new(PathBuf::from("cc"))
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-I"])
        .arg(tree::prefix().join("include"))
        .arg(format!("-DNAME=\"{name}\""))
        .arg(tree::package().join("programs/tools").join(file))
        .arg("-o")
        .arg(&library)
        .limit(120)
        .run()
        .expect_code(0);
    library
}

/// `app.c` linked to a tool.
fn linked(tool: &Path, options: &[&str]) -> PathBuf {
    let folder = tree::scratch("attach").to_string_lossy().into_owned();
    let (file, stem) = (tool.file_name().expect("a file"), tool.file_stem().expect("a file"));
    let name = format!("linked-{}{}", stem.to_string_lossy(), options.concat());
    Build::program("tools/app.c")
        .named(&name)
        .options(options)
        .libraries(["-L", &folder, &format!("-l:{}", file.to_string_lossy()), &format!("-Wl,-rpath,{folder}")])
        .build()
}

/// What `app.c` calls on each PE, as far as tools here wrap it or call it themselves.
const APP: &[(&str, u64)] = &[
    ("shmem_init", 1),
    ("shmem_long_put", 10),
    ("shmem_long_p", 20),
    ("shmem_barrier_all", 3),
    ("shmem_malloc", 2),
    ("shmem_my_pe", 1),
    ("shmem_finalize", 1),
];

/// Runs the program at 3 PEs and checks that the profile has these calls of each PE, and each of the lines of the
/// tools.
fn run(name: &str, options: &[String], program: &[&Path], calls: &[(&str, u64)], lines: &[&str]) -> Outcome {
    let directory = tree::scratch("profiles").join(format!("attach-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let mut job = Job::oshrun(PES).args(["--profile", "1", "--profile-dir"]).arg(&directory).args(options);
    for word in program {
        job = job.arg(word);
    }
    let outcome = job.run().expect_code(0);
    let report = Report::read(&directory, true);
    for pe in 0..PES {
        for (routine, count) in calls {
            assert_eq!(report.routine_of(pe, routine).0, *count, "{name}: calls of {routine} on PE {pe}");
        }
        for line in lines {
            let line = line.replace("PE", &pe.to_string());
            assert!(outcome.stdout.lines().any(|found| found == line), "{name}: no {line}\n{}", outcome.describe());
        }
    }
    outcome
}

/// The options that attach tools.
fn attach(preloaded: &[&Path], stacked: &[&Path]) -> Vec<String> {
    let mut options = Vec::new();
    if !preloaded.is_empty() {
        let list: Vec<_> = preloaded.iter().map(|tool| tool.to_string_lossy()).collect();
        options.extend(["-x".to_owned(), format!("LD_PRELOAD={}", list.join(":"))]);
    }
    for tool in stacked {
        options.extend(["--tool".to_owned(), tool.to_string_lossy().into_owned()]);
    }
    options
}

#[test]
fn a_tool_that_evaluates_in_an_exit_handler() {
    let app = Build::program("tools/app.c").named("attach-app").build();
    let measure = tool("measure", "measure.c");
    let few = tool("few-behind", "few.c");
    let line = "measure on PE: puts 10 barriers 3 finalizes 1 of all 30 agreed";
    for (name, preloaded, stacked) in [
        ("measure-stacked", &[][..], &[&*measure][..]),
        ("measure-preloaded", &[&*measure], &[]),
        ("measure-preloaded-row", &[&*measure], &[&*few]),
        ("measure-row", &[], &[&*measure, &*few]),
    ] {
        for check in [false, true] {
            let mut options = attach(preloaded, stacked);
            options.extend(check.then(|| "--check".to_owned()));
            run(name, &options, &[&app], APP, &[line]);
        }
    }
    for (name, options) in [("measure-linked", &[][..]), ("measure-linked-fixed", &["-no-pie", "-fno-pie"])] {
        run(name, &[], &[&linked(&measure, options)], APP, &[line]);
    }
    // It keeps the program's call of finalize for itself: its own comes from the exit handler.
    let seen: Vec<_> = APP.iter().copied().filter(|(routine, _)| *routine != "shmem_finalize").collect();
    for (name, options) in
        [("measure-compiled", &[][..]), ("measure-static", &["-static"]), ("measure-jumps", &["-O2"])]
    {
        let source = tree::package().join("programs/tools/measure.c");
        let binary = Build::program("tools/app.c").named(name).with(&source).options(options).build();
        run(name, &[], &[&binary], &seen, &[line]);
    }
}

#[test]
fn a_tool_that_settles_everything_when_it_is_loaded() {
    let app = Build::program("tools/app.c").named("attach-app").build();
    let (early, second) = (tool("early", "early.c"), tool("early-second", "early.c"));
    let few = tool("few-early", "few.c");
    let ours = "early on PE: put 10 p 20 barrier 3";
    let others = "early-second on PE: put 10 p 20 barrier 3";
    let few_line = "few-early on PE: put 10 p 20 mem 4 barrier 3 reduce 2 ibput 1";
    for (name, preloaded, stacked, lines) in [
        ("early-alone", &[][..], &[&*early][..], &[ours][..]),
        ("early-first", &[], &[&*early, &*few], &[ours, few_line]),
        // The barrier that the other makes of its own goes on to the next.
        ("early-last", &[], &[&*few, &*early], &["early on PE: put 10 p 20 barrier 4", few_line]),
        ("early-twice", &[], &[&*early, &*second], &[ours, others]),
        ("early-preloaded", &[&*early], &[], &[ours]),
        ("early-behind-preloaded", &[&*few], &[&*early], &["early on PE: put 10 p 20 barrier 4", few_line]),
    ] {
        run(name, &attach(preloaded, stacked), &[&app], APP, lines);
    }
    run("early-linked", &[], &[&linked(&early, &[])], APP, &[ours]);
}

#[test]
fn a_program_that_gets_to_routines_in_other_ways() {
    let plug = tool("plug", "plug.c");
    let (early, few) = (tool("early-ways", "early.c"), tool("few-ways", "few.c"));
    let calls = &[("shmem_barrier_all", 4), ("shmem_long_p", 1), ("shmem_finalize", 1)];
    let early_line = "early-ways on PE: put 0 p 1 barrier 4";
    let few_line = "few-ways on PE: put 0 p 1 mem 0 barrier 4 reduce 0 ibput 0";
    for (build, options) in [("plain", &[][..]), ("fixed", &["-no-pie", "-fno-pie"]), ("no-plt", &["-fno-plt"])] {
        let binary = Build::program("tools/ways.c").named(&format!("ways-{build}")).options(options).build();
        for (name, preloaded, stacked, lines) in [
            ("alone", &[][..], &[][..], vec![]),
            ("stacked", &[], &[&*early, &*few], vec![early_line, few_line]),
            ("preloaded", &[&*few], &[], vec![few_line]),
            ("preloaded-row", &[&*few], &[&*early], vec!["early-ways on PE: put 0 p 1 barrier 5", few_line]),
        ] {
            let name = format!("ways-{build}-{name}");
            run(&name, &attach(preloaded, stacked), &[&binary, &plug], calls, &lines);
        }
    }
}
