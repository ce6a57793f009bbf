//! Programs that use the routines the way the examples of the specification do: plainly, with the checks of `--check`,
//! and under the compiler's sanitizers.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

/// Every program, with the exit status it asks for.
fn programs() -> Vec<(PathBuf, i32)> {
    let folder = tree::package().join("programs/spec");
    let mut programs: Vec<(PathBuf, i32)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a program can be read");
            let status = text.lines().find_map(|line| line.trim().strip_prefix("* status: ")?.trim().parse().ok());
            (path, status.unwrap_or(0))
        })
        .collect();
    programs.sort();
    assert!(programs.len() >= 9, "{programs:?}");
    programs
}

fn build(source: &Path, kind: &str, options: &[&str]) -> PathBuf {
    let name = format!("spec-{}{kind}", source.file_stem().unwrap_or_default().to_string_lossy());
    Build::source(&name, source).options(["-std=c11", "-Werror", "-pthread"]).options(options).build()
}

#[test]
fn at_several_numbers_of_pes() {
    for (source, status) in programs() {
        let binary = build(&source, "", &[]);
        for pes in [1, 2, 3, 4, 7] {
            Job::oshrun(pes).arg(&binary).run().expect_code(status);
        }
    }
}

#[test]
fn the_checks_find_nothing_in_them() {
    for (source, status) in programs() {
        let binary = build(&source, "", &[]);
        for pes in [2, 3, 5] {
            let outcome = Job::oshrun(pes).arg("--check").arg(&binary).run().expect_code(status);
            let is_finding = |line: &str| line.starts_with("pellucid: PE");
            assert!(!outcome.stderr.lines().any(is_finding), "{}", outcome.describe());
        }
    }
}

#[test]
fn the_sanitizers_find_nothing_in_them() {
    let probe = tree::scratch("spec").join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").expect("target/tests can be written");
    for (kind, options) in [
        ("-asan", ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"].as_slice()),
        // The run time of the sanitizer inside the executable, whose static objects are shared.
        ("-asan-static", &["-fsanitize=address", "-static-libasan", "-no-pie", "-fno-pie", "-g"]),
    ] {
        let links = Job::new(PathBuf::from("cc")).args(options).arg(&probe).arg("-o").arg(probe.with_extension("out"));
        if links.run().code() != 0 {
            println!("not tested: cc does not take {options:?} here");
            continue;
        }
        for (source, status) in programs() {
            let binary = build(&source, kind, options);
            let outcome = Job::oshrun(2)
                .env("ASAN_OPTIONS", "detect_leaks=1")
                .env("UBSAN_OPTIONS", "halt_on_error=1")
                .arg(&binary)
                .run()
                .expect_code(status);
            let clean = !outcome.stderr.contains("Sanitizer") && !outcome.stderr.contains("runtime error");
            assert!(clean, "{}", outcome.describe());
        }
    }
}

#[test]
fn many_objects_teams_and_contexts_leave_nothing_behind() {
    // 100000 live objects, 10000 teams one after the other, 10000 live contexts; then more of them without growth.
    let binary = Build::program("scale/many.c").options(["-std=c11", "-D_GNU_SOURCE", "-Werror"]).build();
    let outcome = Job::oshrun(2).arg(&binary).arg("100000").limit(120).run().expect_code(0);
    print!("{}", outcome.stdout);
    outcome.expect_text(&["objects: 100000", "teams: 10000", "contexts: 10000", "grown by"]);
}

#[test]
fn destructors_may_call() {
    let binary = Build::program("spec/late.cpp").options(["-std=c++17", "-pthread"]).build();
    for pes in [1, 2, 3] {
        for check in [&[][..], &["--check"]] {
            let outcome = Job::oshrun(pes).args(check).arg(&binary).run().expect_code(0);
            assert_eq!(outcome.stdout.matches("after main").count(), pes, "{}", outcome.describe());
        }
    }
}

#[test]
fn the_sanitizer_can_fail() {
    let folder = tree::scratch("spec");
    let source = folder.join("past-the-end.c");
    let text = "#include <shmem.h>\nstatic volatile long last[4];\nint main(void) {\n    shmem_init();\n    volatile \
        int at = 4;\n    last[at] = 1;\n    shmem_finalize();\n    return 0;\n}\n";
    std::fs::write(&source, text).expect("target/tests can be written");
    let Ok(binary) = Build::source("spec-past-the-end", &source).options(["-fsanitize=address"]).try_build() else {
        println!("not tested: no address sanitizer here");
        return;
    };
    let outcome = Job::oshrun(2).env("ASAN_OPTIONS", "detect_leaks=1").arg(&binary).run().expect_failure();
    outcome.expect_text(&["global-buffer-overflow"]);
}
