//! Source lines that stay with a profile when its program is built anew, or gone.

use std::fs;
use std::path::{Path, PathBuf};

use harness::run::{Job, Outcome};
use harness::tree;

const SOURCE: &str = include_str!("../programs/profile/stored.c");

fn folder(name: &str) -> PathBuf {
    let folder = tree::scratch("stored-lines").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// The program, with so many lines more at its begin.
fn build(folder: &Path, more: usize) -> PathBuf {
    build_behind(folder, &"\n".repeat(more))
}

fn build_behind(folder: &Path, begin: &str) -> PathBuf {
    let program = folder.join("halo");
    fs::write(folder.join("halo.c"), format!("{begin}{SOURCE}")).unwrap();
    let oshcc = Job::new(tree::tool("oshcc")).args(["-g", "-O1", "-o", "halo", "halo.c"]).directory(folder);
    oshcc.run().expect_code(0);
    program
}

fn report(folder: &Path, view: &str) -> Outcome {
    Job::new(tree::tool("oshprof")).args(["report", "p", "--view", view]).directory(folder).run().expect_code(0)
}

/// How the report names the place of a mark.
fn place(mark: &str, more: usize) -> String {
    let line = SOURCE.lines().position(|line| line.contains(&format!("LINE {mark}"))).unwrap();
    format!("main at halo.c:{}", line + 1 + more)
}

fn says(outcome: &Outcome, parts: &[&str], not: &[&str]) {
    for part in parts {
        assert!(outcome.stdout.contains(part), "{part} is not in {}", outcome.describe());
    }
    for part in not {
        assert!(!outcome.stdout.contains(part), "{part} is in {}", outcome.describe());
    }
}

/// Lines that are put before the program: more than it has.
const MORE: usize = 50;

const REBUILT: &str = "note: ./halo was rebuilt since this run; lines are those stored then\n";

#[test]
fn a_program_that_was_rebuilt_or_is_gone_does_not_change_its_profile() {
    let folder = folder("rebuilt");
    let program = build(&folder, 0);
    Job::oshrun(2).args(["--profile", "--profile-dir", "p", "./halo"]).directory(&folder).run().expect_code(0);
    assert!(folder.join("p/lines.json").exists(), "they are stored when the job ends");
    let lines = [place("add", 0), place("barrier", 0)];
    let lines = [lines[0].as_str(), lines[1].as_str()];
    says(&report(&folder, "callsites"), &lines, &["note:"]);
    says(&report(&folder, "addresses"), &["counters"], &["static+"]);

    build(&folder, MORE);
    let (add, barrier) = (place("add", MORE), place("barrier", MORE));
    for view in ["callsites", "imbalance", "all"] {
        says(&report(&folder, view), &[REBUILT, lines[1]], &[&add, &barrier]);
    }
    says(&report(&folder, "addresses"), &["counters"], &["static+"]);
    let json = Job::new(tree::tool("oshprof")).args(["report", "p", "--json"]).directory(&folder).run();
    says(&json.expect_code(0), &["./halo was rebuilt since this run"], &[]);

    fs::remove_file(&program).unwrap();
    says(&report(&folder, "callsites"), &["note: ./halo is gone; lines are those stored then\n", lines[0]], &[]);

    // Nothing is kept, and nothing is invented.
    build(&folder, MORE);
    fs::remove_file(folder.join("p/lines.json")).unwrap();
    let note = "note: ./halo was rebuilt since this run, and its lines were not stored\n";
    says(&report(&folder, "callsites"), &[note, "halo+0x"], &[lines[0], &add]);
    // Those of other files are, where there are some.
    let stored = fs::read_to_string(folder.join("p/lines.json")).unwrap_or_default();
    assert!(!stored.contains("halo.c"), "what another build says is not stored: {stored}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Names as the program has them, where only the symbol table says them.
#[test]
fn functions_and_objects_of_cpp_have_their_names_without_debug_information() {
    let folder = folder("cpp");
    fs::write(folder.join("halo.cpp"), include_str!("../programs/profile/stored.cpp")).unwrap();
    let compiler = Job::new(tree::tool("oshc++")).args(["-O1", "-o", "halo", "halo.cpp"]).directory(&folder);
    compiler.run().expect_code(0);
    Job::oshrun(2).args(["--profile", "--profile-dir", "p", "./halo"]).directory(&folder).run().expect_code(0);
    says(&report(&folder, "callsites"), &["halo::Grid::exchange(int)"], &["_ZN"]);
    says(&report(&folder, "addresses"), &["halo::counters"], &["_ZN"]);
    fs::remove_dir_all(&folder).unwrap();
}

/// Debug information in a file of its own, as distributions ship it.
#[test]
fn lines_are_found_in_the_file_that_a_debuglink_names() {
    let folder = folder("debuglink");
    build(&folder, 0);
    let run = |line: &str| _ = Job::new("sh").args(["-ec", line]).directory(&folder).run().expect_code(0);
    run("objcopy --only-keep-debug halo halo.debug; strip halo; objcopy --add-gnu-debuglink=halo.debug halo");
    Job::oshrun(2).args(["--profile", "--profile-dir", "p", "./halo"]).directory(&folder).run().expect_code(0);
    let lines = [place("add", 0), place("barrier", 0)];
    let lines = [lines[0].as_str(), lines[1].as_str()];
    for line in ["true", "mkdir .debug; mv halo.debug .debug"] {
        run(&format!("rm -f p/lines.json; {line}"));
        says(&report(&folder, "callsites"), &lines, &[]);
    }
    // That of another build has other lines.
    run("rm p/lines.json; cp halo .debug/halo.debug");
    says(&report(&folder, "callsites"), &["halo+0x"], &lines);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_job_that_was_killed_has_its_lines() {
    let folder = folder("killed");
    build(&folder, 0);
    let job = Job::oshrun(2).args(["--profile", "--profile-dir", "p", "./halo", "die"]).directory(&folder);
    job.run().expect_failure();
    build(&folder, MORE);
    says(&report(&folder, "callsites"), &[REBUILT, &place("add", 0)], &[&place("add", MORE)]);
    fs::remove_dir_all(&folder).unwrap();
}

/// Under other launchers nobody waits for the last PE.
#[test]
fn the_first_report_stores_what_nobody_has() {
    let folder = folder("first");
    let program = build(&folder, 0);
    Job::new(&program).env("SHMEM_PROFILE_DIR", "p").directory(&folder).run().expect_code(0);
    assert!(!folder.join("p/lines.json").exists());
    says(&report(&folder, "routines"), &["shmem_long_atomic_add"], &[]);
    let stored = fs::read_to_string(folder.join("p/lines.json")).expect("the first report stores them");
    assert!(stored.contains("\"build_id\":\"") && stored.contains("halo.c"), "{stored}");
    build(&folder, MORE);
    says(&report(&folder, "callsites"), &[REBUILT, &place("add", 0)], &[&place("add", MORE)]);
    // A damaged file is as none, and is named.
    fs::write(folder.join("p/lines.json"), "{").unwrap();
    let notes = ["note: lines.json cannot be read: EOF", "its lines were not stored\n", "halo+0x"];
    says(&report(&folder, "callsites"), &notes, &[&place("add", MORE)]);
    fs::remove_dir_all(&folder).unwrap();
}

/// Two versions of one file, whose functions are elsewhere: each has lines of its own.
#[test]
fn a_comparison_has_the_lines_of_each_side() {
    const BEFORE: &str = "int other(int n);\n__attribute__((noinline, used)) int other(int n)\n{\n    volatile int sum \
                          = 0;\n    for (int i = 0; i < n; i++)\n        sum += i * 7;\n    return sum;\n}\n";
    let folder = folder("compared");
    for (dir, begin) in [("old", String::new()), ("new", BEFORE.to_owned())] {
        build_behind(&folder, &begin);
        Job::oshrun(2).args(["--profile", "--profile-dir", dir, "./halo"]).directory(&folder).run().expect_code(0);
    }
    let diff = Job::new(tree::tool("oshprof")).args(["diff", "old", "--", "new", "--json"]).directory(&folder);
    let outcome = diff.run();
    // In the new file, the addresses of the old one are in `other`, or nowhere.
    says(&outcome, &["\"main\""], &["\"other\"", "(halo)"]);
    fs::remove_dir_all(&folder).unwrap();
}
