//! The environment variables of section 8, and those of this library.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::Job;
use harness::{launchers, system, table, tree};

fn heap() -> PathBuf {
    Build::program("environment/heap.c").build()
}

fn plain() -> PathBuf {
    Build::program("misuse/plain.c").build()
}

#[test]
fn version_is_printed_once() {
    for name in ["SHMEM_VERSION", "SMA_VERSION"] {
        let outcome = Job::oshrun(3).env(name, "1").arg(plain()).run().expect_code(0);
        let text = outcome.stdout.clone() + &outcome.stderr;
        assert_eq!(text.matches("OpenSHMEM 1.6").count(), 1, "{name}\n{}", outcome.describe());
    }
}

#[test]
fn info_lists_every_variable_with_its_value() {
    let outcome = Job::oshrun(3)
        .env("SHMEM_INFO", "yes")
        .env("SHMEM_SYMMETRIC_SIZE", "12345678")
        .arg(plain())
        .run()
        .expect_code(0);
    let text = outcome.stdout.clone() + &outcome.stderr;
    for constant in table::constants().iter().filter(|constant| constant.kind == "environment") {
        // The deprecated names are the same variables: it is enough to say so.
        if constant.name.starts_with("SHMEM_") {
            assert_eq!(
                text.matches(&format!("{} ", constant.name)).count(),
                1,
                "{}\n{}",
                constant.name,
                outcome.describe()
            );
        }
    }
    assert!(text.contains("SMA_"), "{}", outcome.describe());
    assert!(text.contains("12345678"), "the value in force\n{}", outcome.describe());
    Job::oshrun(1).env("SMA_INFO", "1").arg(plain()).run().expect_code(0).expect_text(&["SHMEM_SYMMETRIC_SIZE"]);
}

#[test]
fn debug_is_accepted() {
    for name in ["SHMEM_DEBUG", "SMA_DEBUG"] {
        Job::oshrun(2).env(name, "1").arg(heap()).run().expect_code(0);
    }
}

#[test]
fn a_name_that_is_nearly_right_gets_a_warning() {
    for (wrong, right) in [
        ("SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"),
        ("SHMEM_VERSOIN", "SHMEM_VERSION"),
        ("SHMEM_DEBGU", "SHMEM_DEBUG"),
    ] {
        let outcome = Job::oshrun(3).env(wrong, "1m").arg(plain()).run().expect_code(0);
        let named = outcome.stderr.contains(wrong) && outcome.stderr.contains(right);
        assert!(named, "{wrong}\n{}", outcome.describe());
        assert_eq!(outcome.stderr.matches(wrong).count(), 1, "one PE warns\n{}", outcome.describe());
    }
    let outcome = Job::oshrun(3).env("XT_SYMMETRIC_HEAP_SIZE", "1g").arg(plain()).run().expect_code(0);
    let line = "XT_SYMMETRIC_HEAP_SIZE is not known; in this library it is SHMEM_SYMMETRIC_SIZE";
    assert_eq!(outcome.stderr.matches(line).count(), 1, "{}", outcome.describe());
    // Other names are nobody's business.
    let outcome = Job::oshrun(2).env("SHMEMORY", "1").env("MY_SHMEM_SIZE", "1").arg(plain()).run().expect_code(0);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn an_empty_value_is_none() {
    let names = ["TRANSPORT", "SYMMETRIC_SIZE", "PROFILE", "ABORT", "COLLECTIVES", "TRACE_SIZE", "ATOMICS"];
    let set = |job: Job, name: &&str| job.env(&format!("SHMEM_{name}"), "");
    let outcome = names.iter().fold(Job::oshrun(2).arg(plain()), set).run().expect_code(0);
    assert_eq!(outcome.stderr, "");
    // Of those whose value does not matter it is one.
    let outcome = Job::oshrun(1).env("SHMEM_VERSION", "").arg(plain()).run().expect_code(0);
    assert!((outcome.stdout + &outcome.stderr).contains("Pellucid"), "the version is printed");
}

#[test]
fn a_name_that_is_not_known_is_told_once_a_job() {
    let names = ["SHMEM_ZEBRA_STRIPES", "SMA_TRACE_FILE"];
    let tell = |job: Job| {
        let outcome = names.iter().fold(job, |job, name| job.env(name, "1")).limit(30).run().expect_code(0);
        for name in names {
            let line = format!("environment variable {name} is not known; SHMEM_INFO=1 lists those that are");
            assert_eq!(outcome.stderr.matches(&line).count(), 1, "{}", outcome.describe());
        }
    };
    tell(Job::oshrun(3).arg(plain()));
    match system::find(&["mpiexec.hydra"]) {
        Some(hydra) => tell(Job::new(hydra).args(["-n", "3"]).arg(plain())),
        None => println!("skipped: no mpiexec.hydra"),
    }
}

#[test]
fn a_fault_ends_as_shmem_abort_says() {
    let binary = Build::program("misuse/misuse.c").build();
    let fault = |how: &str| Job::oshrun(2).env("SHMEM_ABORT", how).arg(&binary).arg("pe-p").limit(20).run();
    let outcome = fault("exit").expect_code(1);
    assert!(!outcome.stderr.contains("stack of this thread"), "{}", outcome.describe());
    let outcome = fault("trace").expect_code(1);
    let outcome = outcome.expect_text(&["shmem_long_p: pe = ", "stack of this thread", "main at misuse.c:"]);
    // Of the C library, too, there are lines where its debug information is installed.
    let unknown = ["libc.so.6 0x", "addr2line"].map(|part| outcome.stderr.contains(part));
    let known = outcome.stderr.contains("__libc_start_main");
    assert!(unknown == [!known; 2], "{}", outcome.describe());
    let outcome = fault("abort").expect_code(128 + 6);
    outcome.expect_text(&["shmem_long_p: pe = ", "signal 6"]);
}

#[test]
fn a_fault_in_python_shows_its_stack() {
    let Some(python) = system::find(&["python3"]) else { return println!("skipped: no python3") };
    let script = tree::fresh("abort").join("wrong.py");
    let text = "import ctypes, sys\n\
        shmem = ctypes.CDLL(sys.argv[1])\n\
        def transfer():\n    shmem.shmem_long_p(ctypes.c_void_p(64), ctypes.c_long(1), 0)\n\
        shmem.shmem_init()\ntransfer()\n";
    std::fs::write(&script, text).expect("target/tests can be written");
    let job = Job::oshrun(1).env("SHMEM_ABORT", "trace").arg(python).arg(&script);
    let outcome = job.arg(tree::library("libsma.so")).limit(20).run().expect_code(1);
    outcome.expect_text(&["not a symmetric address", "stack of this thread", "wrong.py\", line 4 in transfer"]);
}

/// What is opened next has the number of a stream that is closed: that must be nothing of the library's.
#[test]
fn streams_that_are_closed_are_nothing_else() {
    let binary = Build::program("environment/closed.c").build();
    for (closed, how) in [("1", ">&-"), ("01", "<&- >&-"), ("012", "<&- >&- 2>&-"), ("2", "2>&-")] {
        let script = format!("exec \"$0\" {closed} {how}");
        Job::new("sh").args(["-c", &script]).arg(&binary).env("SHMEM_SYMMETRIC_SIZE", "2M").run().expect_code(0);
        Job::oshrun(2).args(["sh", "-c", &script]).arg(&binary).env("SHMEM_SYMMETRIC_SIZE", "2M").run().expect_code(0);
        match launchers::hydra() {
            Ok(hydra) => {
                hydra.job(2).args(["sh", "-c", &script]).arg(&binary).limit(60).run().expect_code(0);
            }
            Err(why) => println!("skipped: {why}"),
        }
    }
}

#[test]
fn heaps_of_all_sizes() {
    for size in ["0", "1", "4095", "64k", "1m", "2.5M", "700m", "4g"] {
        Job::oshrun(2).env("SHMEM_SYMMETRIC_SIZE", size).arg(heap()).limit(20).run().expect_code(0);
        Job::oshrun(2).env("SMA_SYMMETRIC_SIZE", size).arg(heap()).limit(20).run().expect_code(0);
    }
}

#[test]
fn static_objects_can_be_left_private() {
    let off = "SHMEM_STATIC_SEGMENT=off";
    Job::oshrun(2).args(["-x", off]).arg(heap()).run().expect_code(0).expect_text(&["allocated"]);
    let outcome = Job::oshrun(2).args(["-x", off]).arg(heap()).arg("static").limit(10).run();
    assert!(outcome.code() > 0 && outcome.code() < 128, "{}", outcome.describe());
    outcome.expect_text(&["shmem_long_p", "dest = 0x"]);
}

/// The rows of `docs/environment.md`: name, and whether it names a part of the system.
fn rows() -> Vec<(String, bool)> {
    let page = std::fs::read_to_string(tree::workspace().join("docs/environment.md")).expect("the page is there");
    let table = page.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|l| l.starts_with('|'));
    let cell = |line: &str| line.split('|').nth(1).expect("a cell").trim().to_owned();
    let name = |cell: &str| cell.split('`').nth(1).expect("a name").to_owned();
    table.map(cell).map(|cell| (name(&cell), cell.ends_with('*'))).collect()
}

/// Every variable of the page with a value that makes no sense: it ends the job and is named, or every value makes
/// sense.
#[test]
fn nonsense_in_any_variable_of_the_page_is_refused() {
    const ANY: [&str; 5] = ["SHMEM_VERSION", "SHMEM_INFO", "SHMEM_DEBUG", "PELLUCID_SERVE", "PELLUCID_JOB_ID"];
    let rows = rows();
    assert!(rows.len() > 25, "{rows:?}");
    let has_fabric = system::library("libfabric.so.1").is_some();
    for (name, of_system) in rows {
        let value = "/proc/nonsense";
        let job = |job: Job| job.env(&name, value).arg(plain()).limit(20);
        let refused = |job: Job| {
            let outcome = job.run();
            assert!(outcome.code() > 0 && outcome.code() < 128, "{name}\n{}", outcome.describe());
            // The places have options of oshrun by the same name.
            let option = match name.as_str() {
                "SHMEM_PROFILE_DIR" => "--profile-dir",
                "SHMEM_TRACE" => "--trace",
                _ => &name,
            };
            let named = outcome.stderr.contains(&name) || outcome.stderr.contains(option);
            assert!(named && outcome.stderr.contains(value), "{name}\n{}", outcome.describe());
        };
        if ANY.contains(&name.as_str()) {
            job(Job::oshrun(2)).run().expect_code(0);
        } else if name.starts_with("SHMEM_OFI_") && has_fabric {
            refused(job(Job::oshrun(2)).env("SHMEM_TRANSPORT", "ofi"));
        } else if !of_system {
            refused(job(Job::oshrun(2)));
            // Without a launcher, too.
            refused(job(Job::new("/usr/bin/env")));
        }
    }
}

/// What is asked for by the name of another launcher's job.
#[test]
fn a_library_for_pmix_that_is_not_there_is_named() {
    let Some(mpirun) = system::find(&["mpirun.openmpi", "mpirun"]) else { return println!("skipped: no mpirun") };
    let job = Job::new(mpirun).args(["--allow-run-as-root", "--oversubscribe", "-n", "2"]);
    let outcome = job.env("SHMEM_PMIX_LIBRARY", "/proc/nonsense").arg(plain()).limit(60).run().expect_failure();
    outcome.expect_text(&["SHMEM_PMIX_LIBRARY", "/proc/nonsense"]);
}

#[test]
fn values_that_cannot_be_used_are_named() {
    for (name, value) in [
        ("SHMEM_PROFILE", "banana"),
        ("SHMEM_PROFILE", "99"),
        ("SHMEM_PROFILE", "2"),
        ("SHMEM_STATIC_SEGMENT", "perhaps"),
        // Whether or not this job has what they are about.
        ("SHMEM_TOOLS_OPTIONAL", "zz"),
        ("SHMEM_TRACE_SIZE", "12"),
        ("SHMEM_TRACE_START", "zz"),
        ("SHMEM_TRACE_DETAIL", "zz"),
        ("SHMEM_PROFILE_SAMPLING", "0"),
        ("SHMEM_PROFILE_LONG", "zz"),
        ("SHMEM_PROFILE_SITES", "zz"),
        ("SHMEM_COUNTERS", "zz"),
        ("SHMEM_ATOMICS", "gpu"),
        ("SHMEM_SINGLETON", "zz"),
        ("SHMEM_TRANSPORT", "zz"),
        ("SHMEM_PROGRESS", "zz"),
        ("SHMEM_COLLECTIVES", "barrier:zz"),
        ("SHMEM_ABORT", "zz"),
        ("SHMEM_BOOTSTRAP", "zz"),
    ] {
        let outcome = Job::oshrun(2).args(["-x", &format!("{name}={value}")]).arg(plain()).limit(10).run();
        assert!(outcome.code() > 0 && outcome.code() < 128, "{name}={value}\n{}", outcome.describe());
        outcome.expect_text(&[name, value]);
    }
}
