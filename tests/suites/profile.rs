//! The built-in profile, from programs whose traffic is known by construction: counts and bytes are exact, by routine
//! and by PE, also for a PE that is killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::compile::Build;
use harness::report::Report;
use harness::run::{Job, Outcome, is_over_network};
use harness::{system, tree};
use serde_json::Value;

/// Runs a program of `tests/programs/profile` with its profile written to a new directory.
fn profile(name: &str, pes: usize, options: &[&str], binary: &Path) -> (PathBuf, Outcome) {
    let directory = tree::scratch("profiles").join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).expect("an old profile can be removed");
    }
    let outcome =
        Job::oshrun(pes).args(options).arg("--profile-dir").arg(&directory).arg("--profile").arg("1").arg(binary).run();
    (directory, outcome)
}

fn program(name: &str) -> PathBuf {
    Build::program(&format!("profile/{name}.c")).options(["-pthread"]).build()
}

/// Calls that fail are counted by routine, whether their result tells of it or not.
#[test]
fn errors_are_counted_by_routine() {
    let binary = Build::program("profile/errors.c").build();
    let directory = tree::fresh("profile/errors").join("profile");
    Job::oshrun(1).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).arg("--json").run().expect_code(0);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let routines = report["routines"].as_array().expect("routines");
    let errors = |name: &str| {
        let row = routines.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}: {report}"));
        (row["calls"].as_u64().unwrap_or(0), row["errors"].as_u64().unwrap_or(0))
    };
    for name in ["malloc", "long_sum_reduce", "putmem", "long_atomic_add", "int_atomic_fetch"] {
        assert_eq!(errors(&format!("shmem_{name}")), (3, 3), "{name}");
    }
    for name in ["long_p", "long_g"] {
        assert_eq!(errors(&format!("shmem_{name}")), (6, 3), "{name}");
    }
}

/// A number of each PE.
type OfPe<'a> = &'a dyn Fn(u64) -> u64;

/// Compares calls and bytes of a routine, in all and of each PE; no bytes where these are the library's choice.
fn check_routine(report: &Report, pes: usize, name: &str, calls: OfPe<'_>, bytes: Option<OfPe<'_>>) {
    let numbers = 0..pes as u64;
    let (total_calls, total_bytes) = report.routine(name);
    assert_eq!(total_calls, numbers.clone().map(calls).sum::<u64>(), "calls of {name} at {pes} PEs");
    if let Some(bytes) = bytes {
        assert_eq!(total_bytes, numbers.clone().map(bytes).sum::<u64>(), "bytes of {name} at {pes} PEs");
    }
    for pe in numbers {
        let (one_calls, one_bytes) = report.routine_of(pe as usize, name);
        assert_eq!(one_calls, calls(pe), "calls of {name} on PE {pe} of {pes}");
        if let Some(bytes) = bytes {
            assert_eq!(one_bytes, bytes(pe), "bytes of {name} on PE {pe} of {pes}");
        }
    }
}

#[test]
fn counts_and_bytes_are_exact() {
    let binary = program("traffic");
    for pes in [1, 2, 4] {
        let (directory, outcome) = profile(&format!("traffic-{pes}"), pes, &[], &binary);
        let outcome = outcome.expect_code(0);
        let report = Report::read(&directory, true);
        let mut names: Vec<String> = Vec::new();
        let mut expect = |name: &str, calls: OfPe<'_>, bytes: Option<OfPe<'_>>| {
            names.push(name.to_string());
            check_routine(&report, pes, name, calls, bytes);
        };
        let once: OfPe<'_> = &|_| 1;
        let hundred: OfPe<'_> = &|pe| 100 * (pe + 1);
        let eight: OfPe<'_> = &|pe| 800 * (pe + 1);
        let ten: OfPe<'_> = &|pe| 10 * (pe + 1);
        let three: OfPe<'_> = &|pe| 3 * (pe + 1);
        expect("shmem_finalize", once, None);
        expect("shmem_my_pe", once, None);
        expect("shmem_n_pes", once, None);
        expect("shmem_long_p", hundred, Some(eight));
        expect("shmem_long_g", hundred, Some(eight));
        expect("shmem_long_atomic_inc", hundred, None);
        expect("shmem_long_atomic_fetch_add", hundred, None);
        expect("shmem_long_put", ten, Some(&|pe| 8 * (0..10 * (pe + 1)).sum::<u64>()));
        expect("shmem_long_get", ten, Some(&|pe| 8 * 7 * 10 * (pe + 1)));
        expect("shmem_putmem", ten, Some(&|pe| 4096 * 10 * (pe + 1)));
        expect("shmem_getmem_nbi", ten, Some(&|pe| 100 * 10 * (pe + 1)));
        expect("shmem_double_iput", ten, Some(&|pe| 8 * 5 * 10 * (pe + 1)));
        expect("shmem_quiet", ten, None);
        expect("shmem_fence", ten, None);
        expect("shmem_ctx_int_p", ten, Some(&|pe| 4 * 10 * (pe + 1)));
        expect("shmem_long_put_signal", three, Some(&|pe| 8 * 16 * 3 * (pe + 1)));
        expect("shmem_signal_wait_until", once, None);
        expect("shmem_sync_all", &|_| 5, None);
        expect("shmem_long_sum_reduce", &|_| 5, None);
        expect("shmem_long_broadcast", &|_| 5, None);
        // One of the three finds no room.
        expect("shmem_malloc", &|_| 3, Some(&|_| 8 * 1024 + 100));
        expect("shmem_realloc", once, Some(&|_| 10_000));
        expect("shmem_free", once, None);
        // Three of the program; none of those that malloc, free and finalize imply.
        expect("shmem_barrier_all", &|_| 3, None);
        expect("shmem_init", once, None);
        let mut listed: Vec<String> = report.names().iter().map(|name| name.to_string()).collect();
        listed.sort();
        names.sort();
        assert_eq!(listed, names, "routines at {pes} PEs");
        let errors = report.field("shmem_malloc", "errors").and_then(|errors| errors.as_u64());
        assert_eq!(errors, Some(pes as u64), "a malloc that returns NULL is an error");
        // The table at the end has the same numbers.
        for part in ["shmem_long_p", "shmem_putmem", "calls", "mean", "p99"] {
            assert!(outcome.stderr.contains(part), "the table lacks {part}\n{}", outcome.describe());
        }
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn the_json_has_its_promised_shape() {
    let (directory, outcome) = profile("shape", 2, &[], &program("traffic"));
    outcome.expect_code(0);
    let report = Report::read(&directory, false);
    let json = report.json();
    assert!(json["schema_version"].is_u64() && json["pes"] == 2 && json["wall_ns"].as_u64().is_some_and(|ns| ns > 0));
    for routine in json["routines"].as_array().expect("routines is an array") {
        assert!(routine["name"].is_string(), "{routine}");
        let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("no number in {routine}"));
        for field in ["calls", "bytes", "errors", "timed_calls"] {
            number(&routine[field]);
        }
        let time = &routine["time_ns"];
        let [total, mean, p50, p99, max] =
            ["total", "mean", "p50", "p99", "max"].map(|field| time[field].as_f64().unwrap_or(0.0));
        assert!(mean <= max && p50 <= p99 && p99 <= max * 1.2 + 1.0, "{routine}");
        assert!(total >= mean * 0.5, "{routine}");
        assert!(number(&routine["timed_calls"]) <= number(&routine["calls"]), "{routine}");
    }
    // Views for people.
    for view in ["pe", "size", "peer"] {
        let outcome = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--by", view]).run();
        assert!(!outcome.expect_code(0).stdout.is_empty());
    }
    Job::new(tree::tool("oshprof"))
        .args(["report", "/no/such/profile"])
        .run()
        .expect_failure()
        .expect_text(&["/no/such/profile"]);
}

#[test]
fn a_limit_on_file_sizes_costs_the_profile_and_not_the_job() {
    let binary = program("levels");
    // Room for the job's own memory, none for the profile's.
    let script = "ulimit -f 262144; exec \"$0\" -n 2 --heap 1m --profile-dir \"$1\" \"$2\"";
    let directory = tree::scratch("profiles").join("limited");
    let outcome = Job::new("/bin/sh").args(["-c", script]).arg(tree::tool("oshrun")).arg(&directory).arg(&binary).run();
    let text = outcome.expect_code(0).describe();
    assert_eq!(text.matches("no profile: ").count(), 1, "{text}");
    assert!(text.contains("above the limit on file size (ulimit -f: 131072 KiB)"), "{text}");
}

#[test]
fn a_limit_that_the_job_does_not_fit_is_named() {
    let binary = program("levels");
    let cases: [(&str, &[&str]); 2] = [
        ("ulimit -f 1000;", &["job's memory file of ", "above the limit on file size (ulimit -f: 500 KiB)"]),
        ("ulimit -v 1500000;", &["job's memory file", "SHMEM_SYMMETRIC_SIZE", "ulimit -v"]),
    ];
    for (limit, words) in cases {
        let script = format!("{limit} exec \"$0\" -n 2 --profile off --heap 4g \"$1\"");
        let outcome = Job::new("/bin/sh").args(["-c", &script]).arg(tree::tool("oshrun")).arg(&binary).run();
        outcome.expect_code(1).expect_text(words);
    }
}

#[test]
fn a_killed_pe_leaves_its_numbers() {
    for round in 0..3 {
        let (directory, outcome) = profile(&format!("killed-{round}"), 3, &[], &program("killed"));
        outcome.expect_code(128 + 9).expect_text(&["PE 1 of 3", "signal 9"]);
        let report = Report::read(&directory, true);
        assert_eq!(report.routine_of(1, "shmem_long_p"), (1000, 8000));
        assert_eq!(report.routine_of(1, "shmem_long_atomic_add").0, 500);
        assert_eq!(report.routine_of(1, "shmem_barrier_all").0, 1);
        let notes = &report.json()["notes"];
        assert!(notes[0].as_str().is_some_and(|note| note.starts_with("PE 1: killed by SIGKILL")), "{notes}");
        assert!(notes[1].as_str().is_some_and(|note| note.starts_with("PEs 0, 2: ended by the launcher")), "{notes}");
        // The others were waiting when the end came.
        for pe in [0, 2] {
            assert_eq!(report.routine_of(pe, "shmem_long_p"), (10, 80));
            assert_eq!(report.routine_of(pe, "shmem_barrier_all").0, 2);
        }
    }
}

/// 9.1.13: a program that begins with `start_pes` has no call for its end, which is one all the same.
#[test]
fn the_end_that_a_program_leaves_open_is_a_finalize() {
    let (directory, outcome) = profile("left-open", 2, &[], &program("left_open"));
    outcome.expect_code(0);
    let report = Report::read(&directory, true);
    assert_eq!(report.routine("shmem_finalize").0, 2);
    let waited = report.field("shmem_finalize", "time_ns").and_then(|time| time["total"].as_u64()).unwrap_or(0);
    assert!(waited > 200_000_000, "{}", report.json());
    let text = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).run().expect_code(0);
    assert!(!text.stdout.contains("without finalizing"), "{}", text.describe());
    // One that has a call for it and does not make it is told so, and waits for the others all the same.
    let binary = Build::program("profile/left_open.c").named("profile-left-undone").options(["-DINIT"]).build();
    let (directory, outcome) = profile("left-undone", 2, &[], &binary);
    outcome.expect_code(0);
    assert_eq!(Report::read(&directory, true).routine("shmem_finalize").0, 2);
    let report =
        |more: &[&str]| Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(more).run().expect_code(0);
    report(&[]).expect_text(&[
        "PEs 0-1: exited with status 0 without finalizing\n",
        "waits in shmem_finalize for PE 0; see --view efficiency",
    ]);
    // It has no line, the line of the last call least of all.
    report(&["--view", "callsites"]).expect_text(&["(at exit)\n  routine shmem_finalize, calls 2"]);
}

#[test]
fn pcontrol_switches_counting() {
    let (directory, outcome) = profile("levels", 2, &[], &program("levels"));
    outcome.expect_code(0);
    let report = Report::read(&directory, true);
    for pe in 0..2 {
        assert_eq!(report.routine_of(pe, "shmem_long_p").0, 100 + 7 + 3, "PE {pe}");
        assert_eq!(report.routine_of(pe, "shmem_quiet").0, 0, "PE {pe}");
    }
}

/// Regions nest while the profile is off. Barriers that some PEs have not recorded are not compared.
#[test]
fn what_is_off_on_some_pes_or_in_parts_of_a_region_is_told() {
    let (directory, outcome) = profile("off", 2, &[], &program("off"));
    outcome.expect_code(0);
    let report = Report::read(&directory, true);
    let note = "the members of 1 team have recorded different numbers of barriers and collectives";
    assert!(report.json()["notes"].as_array().unwrap().iter().any(|text| text.as_str().unwrap().contains(note)));
    let view = |name: &str| {
        let output = Job::new(tree::tool("oshprof")).args(["report", "--view", name, "--json"]).arg(&directory).run();
        serde_json::from_str::<serde_json::Value>(&output.expect_code(0).stdout).expect("JSON")
    };
    let regions = view("regions");
    let regions = regions["regions"].as_array().expect("regions");
    for (name, calls) in [("outer", 400), ("io", 200), ("later", 800)] {
        let row = regions.iter().find(|row| row["region"] == name).unwrap_or_else(|| panic!("{name}: {regions:?}"));
        // 8 bytes each.
        assert_eq!(
            (&row["entries"], &row["bytes"], &row["open"]),
            (&200.into(), &(8 * calls).into(), &0.into()),
            "{row}"
        );
    }
    assert_eq!(view("imbalance")["imbalance"], serde_json::json!([]));
}

#[test]
fn threads_lose_no_call() {
    let (directory, outcome) = profile("threads", 2, &[], &program("threads"));
    outcome.expect_code(0);
    let report = Report::read(&directory, true);
    for pe in 0..2 {
        assert_eq!(report.routine_of(pe, "shmem_long_atomic_inc").0, 160_000, "PE {pe}");
    }
}

/// A thread that is ready to compute and stands in line for a core is no thread that waits for others, whatever other
/// threads of its PE do.
#[test]
fn a_thread_in_line_for_a_core_does_not_wait_for_others() {
    let binary = program("threads_line");
    let pes = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    let (directory, outcome) = profile("threads-line", pes, &[], &binary);
    outcome.expect_code(0);
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "all", "--json"]);
    let report: Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
    let run = &report["efficiency"][0];
    assert!(run["parallel"].as_f64() > Some(0.6), "{run}");
    // What the processes took before they were initialized is no part of it.
    for pe in report["per_pe"].as_array().expect("PEs") {
        let [on_core, main] = ["on_core_ns", "main_ns"].map(|name| pe[name].as_f64().expect("a number"));
        assert!((0.1e9..0.3e9).contains(&on_core) || on_core < main, "{pe}");
    }
}

#[test]
fn waiting_is_seen_where_it_happens() {
    let (directory, outcome) = profile("waiting", 2, &[], &program("waiting"));
    outcome.expect_code(0);
    let report = Report::read(&directory, true);
    let total = |name: &str| {
        report
            .field(name, "time_ns")
            .and_then(|time| time["total"].as_f64())
            .unwrap_or_else(|| panic!("{name} has no time"))
    };
    // 300 ms of one PE in each; the machine may be busy and add to it.
    for name in ["shmem_barrier_all", "shmem_long_wait_until"] {
        assert!((0.25e9..30e9).contains(&total(name)), "{name}: {} ns", total(name));
    }
}

#[test]
fn without_profile_nothing_is_written() {
    let folder = tree::fresh("no-profile");
    let binary = program("levels");
    let outcome = Job::oshrun(2).arg(&binary).directory(&folder).run().expect_code(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let outcome = Job::oshrun(2).args(["--profile", "off"]).arg(&binary).directory(&folder).run().expect_code(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    assert_eq!(std::fs::read_dir(&folder).expect("the folder is there").count(), 0, "files were written");
    // With it, and no directory given, it goes to the current one.
    Job::oshrun(2).arg("--profile").arg(&binary).directory(&folder).run().expect_code(0).expect_text(&["shmem_long_p"]);
    assert_eq!(std::fs::read_dir(&folder).expect("the folder is there").count(), 1, "one profile directory");
}

#[test]
fn a_kill_at_any_moment_loses_no_call() {
    let binary = program("counter");
    for round in 0..5 {
        let file = tree::scratch("profiles").join(format!("counter-{round}"));
        std::fs::write(&file, [0u8; 4096]).expect("target/tests can be written");
        let number = |at: usize| {
            let bytes = std::fs::read(&file).expect("the file is there");
            i64::from_ne_bytes(bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
        };
        let directory = tree::scratch("profiles").join(format!("counted-{round}"));
        if directory.exists() {
            std::fs::remove_dir_all(&directory).expect("an old profile can be removed");
        }
        let job =
            Job::oshrun(2).args(["--profile", "1", "--profile-dir"]).arg(&directory).arg(&binary).arg(&file).start();
        assert!(system::wait_until(Duration::from_secs(10), || number(1) != 0), "the PEs start");
        std::thread::sleep(Duration::from_millis(20 + 13 * round));
        assert!(system::signal(number(1) as u32, libc::SIGKILL));
        job.wait().expect_code(128 + 9);
        // It was killed within a call, or between one and the program's own count of it.
        let (own, recorded) = (number(0) as u64, Report::read(&directory, true).routine_of(1, "shmem_long_p").0);
        assert!(recorded == own || recorded == own + 1, "the program made {own} calls, the profile has {recorded}");
        assert!(own > 1000 || is_over_network(), "{own} calls are too few to tell");
    }
}

#[test]
fn a_profile_directory_is_not_overwritten() {
    let binary = program("levels");
    let (directory, outcome) = profile("first", 1, &[], &binary);
    outcome.expect_code(0);
    let before = Report::read(&directory, false).json()["start_realtime_ns"].clone();
    let outcome = Job::oshrun(1).args(["--profile", "1", "--profile-dir"]).arg(&directory).arg(&binary).run();
    assert_eq!(Report::read(&directory, false).json()["start_realtime_ns"], before, "{}", outcome.describe());
    assert!(
        outcome.stderr.contains("kept"),
        "it says where the profile is, or why there is none\n{}",
        outcome.describe()
    );
}

/// The call sites of a profile: place, routine, calls.
fn call_sites(directory: &Path) -> Vec<(String, String, u64)> {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory).args(["--view", "callsites", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
    let text = |row: &serde_json::Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let rows = json["callsites"].as_array().expect("call sites").iter();
    rows.map(|row| (text(row, "site"), text(row, "routine"), row["calls"].as_u64().expect("calls"))).collect()
}

#[test]
fn calls_of_any_number_of_loaded_objects_have_their_place() {
    let folder = tree::fresh("profile-objects");
    let first = folder.join("object-0.so");
    let source = tree::package().join("programs/profile/object.c");
    let compiler = Job::new(tree::tool("oshcc")).args(["-g", "-shared", "-fPIC"]).arg(source);
    compiler.arg("-o").arg(&first).run().expect_code(0);
    let mut objects = vec![first.clone()];
    for number in 1..200 {
        let copy = folder.join(format!("object-{number}.so"));
        std::fs::copy(&first, &copy).expect("target/tests can be written");
        objects.push(copy);
    }
    let binary = Build::program("profile/objects.c").options(["-g"]).libraries(["-ldl"]).build();
    let directory = folder.join("profile");
    let job = Job::oshrun(2).args(["--profile", "1", "--profile-dir"]).arg(&directory).arg(&binary);
    objects.iter().fold(job, |job, object| job.arg(object)).run().expect_code(0);
    let sites = call_sites(&directory);
    let calls_of = |place: &str, routine: &str| {
        let of = |row: &&(String, String, u64)| row.0.starts_with(place) && row.1 == routine;
        sites.iter().filter(of).map(|row| row.2).sum::<u64>()
    };
    assert_eq!(calls_of("call_it at object.c:4", "shmem_long_p"), 2 * 3 * 200, "{sites:?}");
    assert_eq!(calls_of("main at objects.c:", "shmem_init"), 2, "{sites:?}");
    assert_eq!(calls_of("main at objects.c:", "shmem_finalize"), 2, "{sites:?}");
    assert_eq!(sites.len(), 3, "{sites:?}");
}

#[test]
fn calls_have_their_place_however_they_come_to_the_probe() {
    let binary = Build::program("profile/placed.c").options(["-g"]).build();
    let (directory, outcome) = profile("placed", 2, &[], &binary);
    outcome.expect_code(0);
    let sites = call_sites(&directory);
    let elsewhere: Vec<_> = sites.iter().filter(|(place, ..)| !place.contains("placed.c:")).collect();
    assert!(sites.len() > 15 && elsewhere.is_empty(), "{elsewhere:?} of {sites:?}");
    let calls =
        |name: &str| sites.iter().filter(|(_, routine, _)| routine == name).map(|(.., calls)| calls).sum::<u64>();
    for name in ["shmem_long_p", "shmem_long_put_signal", "shmem_ctx_long_iput", "shmem_long_ibget"] {
        assert_eq!(calls(name), 2000, "{name}: {sites:?}");
    }
    assert_eq!(calls("shmem_n_pes"), 2 * 20_001, "{sites:?}");
}

#[test]
fn call_sites_beyond_the_room_of_a_thread_are_counted_and_told() {
    let folder = tree::fresh("profile-sites");
    let source = folder.join("sites.c");
    let calls: String = (0..6000).map(|value| format!("    shmem_long_p(&cell, {value}, 0);\n")).collect();
    let program = format!(
        "#include <shmem.h>\nstatic long cell;\nint main(void) {{\n    shmem_init();\n{calls}    \
         shmem_finalize();\n    return 0;\n}}\n"
    );
    std::fs::write(&source, program).expect("target/tests can be written");
    let binary = Build::source("sites", &source).options(["-g"]).build();
    let (directory, outcome) = profile("sites", 1, &[], &binary);
    let outcome = outcome.expect_code(0);
    assert_eq!(Report::read(&directory, false).routine("shmem_long_p"), (6000, 48_000));
    let sites = call_sites(&directory);
    assert_eq!(sites.iter().map(|row| row.2).sum::<u64>(), 6002, "with those of begin and end");
    let lost = sites.iter().find(|row| row.0.is_empty()).expect("a row of those without room").2;
    assert!((1..3000).contains(&lost), "{lost}");
    let note = format!("{lost} calls came from more call sites than a thread has room for (4096)");
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).run().expect_code(0);
    assert!(report.stdout.contains(&note), "{}\n{}", report.describe(), outcome.describe());
}

#[test]
fn arguments_travel_as_without_a_profile() {
    let binary = program("calls");
    for level in ["off", "0", "1"] {
        let job = Job::oshrun(1).args(["--profile", level]).arg(&binary).directory(&tree::scratch("profiles"));
        let outcome = job.run().expect_code(0);
        assert_eq!(outcome.stdout, "done\n", "level {level}: {}", outcome.describe());
    }
}
