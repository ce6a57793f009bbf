//! PSHMEM tools: one linked statically, one from a library, one from an archive, one preloaded. Each sees every call of
//! the application once, and so does the built-in profile beneath it.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::report::Report;
use harness::run::Job;
use harness::tree;

fn source(name: &str) -> PathBuf {
    tree::package().join("programs/interpose").join(name)
}

/// Runs the program at 1 and 3 PEs and compares what the tool and the profile saw.
fn check(name: &str, binary: &Path, options: &[&str]) {
    for pes in [1, 3] {
        let directory = tree::scratch("profiles").join(format!("interpose-{name}-{pes}"));
        if directory.exists() {
            std::fs::remove_dir_all(&directory).expect("an old profile can be removed");
        }
        let outcome = Job::oshrun(pes)
            .args(options)
            .args(["--profile", "1", "--profile-dir"])
            .arg(&directory)
            .arg(binary)
            .run()
            .expect_code(0);
        for pe in 0..pes {
            let line = format!("tool on PE {pe}: put 10, p 20, add 5, barrier 3");
            assert!(outcome.stdout.contains(&line), "expected \"{line}\"\n{}", outcome.describe());
        }
        let report = Report::read(&directory, true);
        for pe in 0..pes {
            assert_eq!(report.routine_of(pe, "shmem_long_put").1, 640, "{name}: bytes of shmem_long_put");
            // What the tool asks for itself through pshmem_my_pe is not a call of the application, which made one.
            assert_eq!(report.routine_of(pe, "shmem_my_pe").0, 1, "{name}: calls of shmem_my_pe");
            for (routine, calls) in [
                ("shmem_long_put", 10),
                ("shmem_long_p", 20),
                ("shmem_long_atomic_add", 5),
                ("shmem_barrier_all", 3),
                ("shmem_malloc", 2),
                ("shmem_free", 2),
                ("shmem_finalize", 1),
                ("shmem_init", 1),
            ] {
                assert_eq!(report.routine_of(pe, routine).0, calls, "{name}: calls of {routine} on PE {pe} of {pes}");
            }
        }
    }
}

#[test]
fn compiled_into_the_program() {
    let build = Build::source("interposed", &source("program.c")).with(&source("tool.c"));
    check("compiled", &build.build(), &[]);
    check("compiled-static", &build.clone().named("interposed-static").options(["-static"]).build(), &[]);
}

#[test]
fn from_an_archive_before_the_library() {
    let folder = tree::scratch("interpose");
    let object = folder.join("tool.o");
    Job::new(tree::tool("oshcc")).args(["-O1", "-c"]).arg(source("tool.c")).arg("-o").arg(&object).run().expect_code(0);
    let archive = folder.join("libmyprof.a");
    let _ = std::fs::remove_file(&archive);
    Job::new(PathBuf::from("ar")).arg("rcs").arg(&archive).arg(&object).run().expect_code(0);
    // As the specification shows it: -lmyprof -lpsma -lsma.
    let build = Build::source("archived", &source("program.c")).libraries([
        "-L",
        &folder.to_string_lossy(),
        "-lmyprof",
        "-lpsma",
        "-lsma",
    ]);
    check("archive", &build.build(), &[]);
    check("archive-static", &build.clone().named("archived-static").options(["-static"]).build(), &[]);
}

#[test]
fn from_a_shared_object_before_the_library() {
    let library = shared_tool("liblinked.so");
    let folder = library.parent().expect("in a folder").to_string_lossy().into_owned();
    let build = Build::source("linked", &source("program.c")).libraries([
        "-L",
        &folder,
        "-llinked",
        &format!("-Wl,-rpath,{folder}"),
    ]);
    check("shared", &build.build(), &[]);
}

#[test]
fn preloaded() {
    let library = shared_tool("libpreloaded.so");
    let binary = Build::source("plain", &source("program.c")).build();
    check("preloaded", &binary, &["-x", &format!("LD_PRELOAD={}", library.display())]);
}

/// Calls of the measurement system's own, of routines that it wraps, are not the program's; sites are the program's
/// lines.
#[test]
fn a_measurement_system_in_the_executable() {
    let calls = [
        ("shmem_int_g", 0),
        ("shmem_long_put", 10),
        ("shmem_long_p", 20),
        ("shmem_long_atomic_add", 4),
        ("shmem_barrier_all", 6),
        ("shmem_init", 1),
        ("shmem_finalize", 1),
    ];
    let sites = [
        ("shmem_long_put", "seven", 7),
        ("shmem_long_put", "three", 3),
        ("shmem_long_p", "twenty", 20),
        ("shmem_long_atomic_add", "four", 4),
        ("shmem_barrier_all", "six", 6),
    ];
    for (name, options) in [
        ("system", &["-O1"][..]),
        ("system-jumps", &["-O2"]),
        ("system-static", &["-O2", "-static"]),
        ("system-fixed", &["-O2", "-no-pie", "-fno-pie", "-fcf-protection=none"]),
        ("system-frames", &["-O2", "-fno-plt", "-fno-omit-frame-pointer"]),
        ("system-static-frames", &["-O0", "-static-pie"]),
    ] {
        let build = Build::source(name, &source("system_program.c")).with(&source("system.c"));
        let directory = run_system(name, &build.options(options).build(), &[]);
        let report = Report::read(&directory, true);
        for (pe, (routine, expected)) in (0..2).flat_map(|pe| calls.map(|row| (pe, row))) {
            assert_eq!(report.routine_of(pe, routine).0, expected, "{name}: calls of {routine} on PE {pe}");
        }
        let view =
            Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites", "--json"]);
        let view: serde_json::Value = serde_json::from_str(&view.run().expect_code(0).stdout).expect("JSON");
        for (routine, mark, expected) in sites {
            let place = format!("system_program.c:{}", line_of("system_program.c", mark));
            let is_it = |row: &&serde_json::Value| {
                row["routine"] == routine && row["site"].as_str().is_some_and(|site| site.contains(&place))
            };
            let rows = view["callsites"].as_array().expect("rows").iter().filter(is_it);
            let found: u64 = rows.filter_map(|row| row["calls"].as_u64()).sum();
            assert_eq!(found, 2 * expected, "{name}: calls of {routine} at {place}\n{view}");
        }
    }
}

/// A tool of which the compiler says nothing is one all the same. Where there is no function of it, the profile says
/// what it does not have.
#[test]
fn a_tool_that_is_hard_to_see() {
    let program = source("bare_program.c");
    let place = format!("bare_program.c:{}", line_of("bare_program.c", "put"));
    let left_out = "100 calls of pshmem_ routines came from the program itself and are not in the profile";
    for (name, of_program, of_tool, is_seen) in [
        ("bare", &["-O1", "-g"][..], &["-O1", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"][..], true),
        ("bare-wrap", &["-O1", "-Wl,--wrap=shmem_putmem"], &["-O1", "-DWRAP"], false),
        ("bare-lto", &["-O2", "-flto"], &["-O2", "-flto"], false),
    ] {
        let object = tree::scratch("interpose").join(format!("{name}.o"));
        let compiler = Job::new(tree::tool("oshcc")).args(of_tool).arg("-c").arg(source("bare.c"));
        compiler.arg("-o").arg(&object).run().expect_code(0);
        let binary = Build::source(name, &program).with(&object).options(of_program).build();
        let directory = run_system(name, &binary, &[]);
        let report = Report::read(&directory, true);
        let view = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites"]);
        let text = view.run().expect_code(0).stdout.replace('\n', " ");
        let all = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).run().expect_code(0).stdout;
        let says = all.split_whitespace().collect::<Vec<_>>().join(" ").contains(left_out);
        let calls = report.routine("shmem_putmem").0;
        assert_eq!((calls, says), if is_seen { (200, false) } else { (0, true) }, "{name}: {all}");
        assert!(!is_seen || text.contains(&place), "{name}: {text}");
    }
}

/// With callbacks and tools about, and without a profile, everything goes on as before.
#[test]
fn a_measurement_system_beside_a_tool_in_a_row() {
    let build = Build::source("system-row", &source("system_program.c")).with(&source("system.c")).options(["-O2"]);
    let tool = shared_tool("libsystem-row.so").to_string_lossy().into_owned();
    let report = Report::read(&run_system("system-row", &build.build(), &["--tool", &tool]), true);
    for (routine, calls) in [("shmem_int_g", 0), ("shmem_long_put", 10), ("shmem_barrier_all", 6)] {
        assert_eq!(report.routine_of(1, routine).0, calls, "calls of {routine}");
    }
    Job::oshrun(2).args(["--profile", "off"]).arg(build.build()).run().expect_code(0);
}

/// Runs a program at 2 PEs; gives the directory of its profile.
fn run_system(name: &str, binary: &Path, options: &[&str]) -> PathBuf {
    let directory = tree::scratch("profiles").join(format!("interpose-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    Job::oshrun(2).args(options).arg("--profile-dir").arg(&directory).arg(binary).run().expect_code(0);
    directory
}

/// The line of a program that is marked with a name.
fn line_of(program: &str, mark: &str) -> usize {
    let text = std::fs::read_to_string(source(program)).expect("the program");
    let marked = format!("/* LINE {mark} */");
    1 + text.lines().position(|line| line.contains(&marked)).unwrap_or_else(|| panic!("no {mark}"))
}

fn shared_tool(name: &str) -> PathBuf {
    let library = tree::scratch("interpose").join(name);
    Job::new(tree::tool("oshcc"))
        .args(["-O1", "-shared", "-fPIC"])
        .arg(source("tool.c"))
        .arg("-o")
        .arg(&library)
        .run()
        .expect_code(0);
    library
}
