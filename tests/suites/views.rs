//! The views of the profile, from a program in which every cell of the matrix, every call site, region and late arrival
//! is known by construction.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::tree;
use serde_json::Value;

fn fresh(name: &str) -> PathBuf {
    let directory = tree::scratch("views").join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).expect("an old profile can be removed");
    }
    directory
}

fn run(name: &str, pes: usize) -> (PathBuf, Outcome) {
    // Built once: a test that looks for source lines must not find the file half replaced by another one's build.
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let binary = BINARY.get_or_init(|| Build::program("profile/views.c").options(["-g"]).build());
    let directory = fresh(name);
    // The program looks for its snapshot there.
    let outcome = Job::oshrun(pes).arg("--profile-dir").arg(&directory).arg(binary).arg(&directory).run();
    (directory, outcome.expect_code(0))
}

fn view(directory: &Path, name: &str) -> Value {
    let outcome = Job::new(tree::tool("oshprof")).arg("report").arg(directory).args(["--view", name, "--json"]).run();
    let outcome = outcome.expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("no JSON: {error}\n{}", outcome.describe()))
}

fn rows<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_else(|| panic!("no {name} in {of}"))
}

/// The line of the program that is marked with a name.
fn line(mark: &str) -> usize {
    let text = include_str!("../programs/profile/views.c");
    let marked = format!("/* LINE {mark} */");
    1 + text.lines().position(|line| line.contains(&marked)).unwrap_or_else(|| panic!("no {mark}"))
}

#[test]
fn every_cell_of_the_matrix_is_exact() {
    for pes in [1_u64, 2, 3, 4] {
        let (directory, _) = run(&format!("matrix-{pes}"), pes as usize);
        let report = view(&directory, "matrix");
        let matrix = &report["matrix"];
        for from in 0..pes {
            for to in 0..pes {
                let mut calls = from + to + 1 + 2;
                let mut bytes = 16 * (from + to + 1) + 2 * 8;
                if to == 0 {
                    (calls, bytes) = (calls + 1, bytes + 8);
                }
                if to == (from + 1) % pes {
                    // Three puts on a context, one inlined, forty nonblocking ones.
                    (calls, bytes) = (calls + 3 + 1 + 40, bytes + 3 * 8 + 8 + 40 * 4096);
                }
                let cell = |what: &str| matrix[what][from as usize][to as usize].as_u64();
                assert_eq!(cell("calls"), Some(calls), "calls from {from} to {to} of {pes}: {matrix}");
                assert_eq!(cell("bytes"), Some(bytes), "bytes from {from} to {to} of {pes}: {matrix}");
            }
        }
    }
}

#[test]
fn call_sites_have_their_lines_regions_and_counts() {
    let (directory, _) = run("sites", 4);
    let report = view(&directory, "callsites");
    let find = |mark: &str, routine: &str| -> Vec<&Value> {
        let place = format!("views.c:{}", line(mark));
        let of =
            |row: &&Value| row["routine"] == routine && row["site"].as_str().is_some_and(|site| site.contains(&place));
        rows(&report, "callsites").iter().filter(of).collect()
    };
    let sum = |mark: &str, routine: &str, field: &str| {
        find(mark, routine).iter().map(|row| row[field].as_u64().unwrap_or(0)).sum::<u64>()
    };
    let puts: u64 = (0..4).flat_map(|i| (0..4).map(move |j| i + j + 1)).sum();
    assert_eq!(sum("exchange-put", "shmem_long_put", "calls"), puts, "{report}");
    assert_eq!(sum("exchange-put", "shmem_long_put", "bytes"), 16 * puts);
    assert_eq!(sum("exchange-g", "shmem_long_g", "calls"), 32);
    assert_eq!(sum("late-barrier", "shmem_barrier_all", "calls"), 20);
    assert!(find("exchange-put", "shmem_long_put").iter().all(|row| row["region"] == "exchange"));
    assert!(find("late-barrier", "shmem_barrier_all").iter().all(|row| row["region"] == "step"));
    // With the function that it was inlined into.
    let inlined = find("inlined-put", "shmem_long_put");
    assert!(!inlined.is_empty() && inlined[0]["site"].as_str().is_some_and(|site| site.contains("main")), "{report}");
}

#[test]
fn regions_and_markers_are_counted() {
    let (directory, _) = run("regions", 3);
    let report = view(&directory, "regions");
    let region = |name: &str| {
        rows(&report, "regions")
            .iter()
            .find(|row| row["region"] == name)
            .unwrap_or_else(|| panic!("no {name}: {report}"))
    };
    assert_eq!(region("exchange")["entries"], 3);
    assert_eq!((&region("step")["entries"], &region("inner")["entries"]), (&Value::from(15), &Value::from(15)));
    let ns = |name: &str, field: &str| region(name)[field].as_u64().unwrap_or(0);
    assert!(ns("step", "total_ns") >= ns("step", "own_ns") + ns("inner", "total_ns"), "{report}");
    // One PE sleeps five times 20 ms in it.
    assert!(ns("inner", "total_ns") >= 100_000_000, "{report}");
    let markers = rows(&report, "markers");
    assert_eq!(markers.len(), 3);
    for (pe, marker) in markers.iter().enumerate() {
        assert_eq!((&marker["marker"], marker["last"].as_f64()), (&Value::from("size"), Some(pe as f64 + 0.5)));
    }
}

#[test]
fn the_late_pe_is_named_and_times_agree_with_a_clock_outside() {
    let (directory, outcome) = run("late", 4);
    let report = view(&directory, "imbalance");
    let late = rows(&report, "imbalance")
        .iter()
        .find(|row| row["region"] == "step")
        .unwrap_or_else(|| panic!("no barrier of region step: {report}"));
    assert_eq!((&late["late_pe"], &late["calls"]), (&Value::from(3), &Value::from(5)), "{report}");
    // Three PEs wait 20 ms, five times.
    assert!(late["lost_ns"].as_u64().is_some_and(|ns| ns >= 250_000_000), "{report}");
    let outside: f64 = outcome
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("outside ")?.split(' ').nth(1)?.parse::<f64>().ok())
        .sum();
    let sites = view(&directory, "callsites");
    let place = format!("views.c:{}", line("late-barrier"));
    let of = |row: &&Value| row["site"].as_str().is_some_and(|site| site.contains(&place));
    let inside: f64 = rows(&sites, "callsites").iter().filter(of).filter_map(|row| row["total_ns"].as_f64()).sum();
    assert!((inside - outside).abs() <= 0.02 * outside, "{inside} ns in the profile, {outside} ns outside");
}

/// Memory is allocated, teams and spaces are made and ended by all of their PEs: these wait for the last of them.
#[test]
fn who_comes_late_to_allocations_and_teams_is_named() {
    let binary = Build::program("profile/allocations.c").options(["-g"]).build();
    let directory = fresh("allocations");
    Job::oshrun(3).arg("--profile-dir").arg(&directory).arg(binary).run().expect_code(0);
    let report = view(&directory, "imbalance");
    let find = |routine: &str| rows(&report, "imbalance").iter().find(|row| row["routine"] == routine);
    // By routine, how many others wait for PE 1.
    let waited: [(&str, u64); 7] = [
        ("shmem_malloc", 2),
        ("shmem_realloc", 2),
        ("shmem_free", 2),
        ("shmem_team_split_strided", 2),
        ("shmemx_space_create", 1),
        ("shmemx_space_malloc", 1),
        ("shmem_team_destroy", 1),
    ];
    for (routine, others) in waited {
        let row = find(routine).unwrap_or_else(|| panic!("no {routine}: {report}"));
        assert_eq!((&row["late_pe"], &row["calls"]), (&Value::from(1), &Value::from(6)), "{row}");
        // Others may come later than PE 1 lets them wait once they have to share a core.
        assert!(row["lost_ns"].as_u64().is_some_and(|ns| ns >= others * 6 * 5_000_000), "{row}");
        let lines = rows(&report, "imbalance").iter().filter(|row| row["routine"] == routine).count();
        assert_eq!(lines, 1, "calls that wait for nobody are no meetings: {report}");
    }
    let contexts = view(&directory, "contexts");
    let teams = rows(&contexts, "teams");
    let calls = |team: &str| teams.iter().filter(|row| row["team"] == team).map(|row| row["calls"].as_u64()).next();
    // Four a turn, and a barrier.
    assert_eq!(calls("world"), Some(Some(3 * (4 * 6 + 1))), "{contexts}");
    assert_eq!(calls("(others)"), None, "{contexts}");
    assert!(teams.iter().all(|row| row["bytes"] == 0), "memory that is asked for is not moved: {contexts}");
}

#[test]
fn nonblocking_operations_contexts_and_teams() {
    let (directory, _) = run("nbi", 2);
    let report = view(&directory, "nbi");
    for row in rows(&report, "nbi") {
        let number = |field: &str| row[field].as_u64().unwrap_or(0);
        assert_eq!((number("issued"), number("bytes"), number("batches"), number("completed")), (40, 40 * 4096, 4, 40));
        // Each batch sleeps a millisecond before its quiet.
        assert!(number("open_ns") >= 4_000_000 && row["overlap"].as_f64().is_some_and(|share| share > 0.5), "{row}");
    }
    let report = view(&directory, "contexts");
    let contexts = rows(&report, "contexts");
    assert_eq!(contexts.iter().map(|row| row["put_calls"].as_u64().unwrap_or(0)).sum::<u64>(), 6);
    assert_eq!(contexts.iter().map(|row| row["orders"].as_u64().unwrap_or(0)).sum::<u64>(), 2);
    let teams = rows(&report, "teams");
    assert!(teams.len() == 1 && teams[0]["team"] == "world" && teams[0]["calls"] == 14, "{report}");
}

#[test]
fn counters_are_there_or_say_why_not() {
    let binary = Build::source("views-counters", &tree::workspace().join("tests/programs/profile/views.c")).build();
    let directory = fresh("counters");
    let counters = ["--counters", "cycles,page-faults,task-clock"];
    Job::oshrun(2).args(counters).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
    let report = view(&directory, "counters");
    let counted = rows(&report, "counters");
    let missing = report["counters_unavailable"].as_array().cloned().unwrap_or_default();
    for name in ["cycles", "page-faults", "task-clock"] {
        let why = missing.iter().find(|row| row["counter"] == name);
        let of = |around: &str| counted.iter().find(|row| row["counter"] == name && row["around"] == around);
        let Some(run) = of("run") else {
            assert!(
                why.is_some_and(|row| row["reason"].as_str().is_some_and(|why| !why.is_empty())),
                "{name}: {report}"
            );
            continue;
        };
        let value = |row: &Value| row["value"].as_u64().unwrap_or(0);
        let (library, outside) = (of("library").expect("library"), of("outside").expect("outside"));
        assert_eq!(value(run), value(library) + value(outside), "{name}: {report}");
        assert_eq!((&run["pes"], &library["calls"]), (&2.into(), &library["calls"]));
        let region = counted.iter().find(|row| row["counter"] == name && row["name"] == "step");
        assert!(region.is_some() && value(run) > 0, "{name}: {report}");
    }
    Job::oshrun(2).args(["--counters", "bogus"]).arg(&binary).run().expect_code(2).expect_text(&["unknown counter"]);
    let refused = Job::oshrun(2).args(["-x", "SHMEM_COUNTERS=bogus"]).arg(&binary).run();
    refused.expect_failure().expect_text(&["SHMEM_COUNTERS", "unknown counter"]);
}

#[test]
fn every_view_has_every_form() {
    let (directory, _) = run("forms", 2);
    let oshprof = || Job::new(tree::tool("oshprof")).arg("report").arg(&directory);
    let views = [
        "routines",
        "efficiency",
        "phases",
        "causes",
        "locks",
        "addresses",
        "timeline",
        "sizes",
        "matrix",
        "callsites",
        "imbalance",
        "nbi",
        "regions",
        "contexts",
        "counters",
        "network",
        "pe",
    ];
    for name in views {
        assert!(!oshprof().args(["--view", name]).run().expect_code(0).stdout.is_empty(), "{name}");
        let csv = oshprof().args(["--view", name, "--csv"]).run().expect_code(0).stdout;
        assert!(csv.lines().next().is_some_and(|line| line.contains(',')), "{name}: {csv}");
        assert!(view(&directory, name)["schema_version"].is_u64(), "{name}");
    }
    let page = directory.with_extension("html");
    oshprof().arg("--html").arg(&page).run().expect_code(0);
    let text = std::fs::read_to_string(&page).expect("the page is there");
    assert!(text.contains("shmem_putmem_nbi") && text.contains("<svg") && text.ends_with("</html>\n"));
}

#[test]
fn a_region_that_begins_before_the_profile_may_end_in_it() {
    for (name, options, is_wrong) in [("early-region", &[][..], false), ("early-region-wrong", &["-DWRONG"], true)] {
        let binary = Build::program("profile/early_region.c").named(name).options(options).build();
        let directory = fresh(name);
        let outcome = Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
        assert_eq!(outcome.stderr.contains("is ignored"), is_wrong, "{}", outcome.describe());
        let report = view(&directory, "regions");
        assert_eq!(report["notes"].to_string().contains("could not be kept"), is_wrong, "{}", report["notes"]);
        let names: Vec<&str> = rows(&report, "regions").iter().filter_map(|row| row["region"].as_str()).collect();
        assert!(names.contains(&"step") && !names.contains(&"outer") && !names.contains(&"setup"), "{names:?}");
    }
}

#[test]
fn odd_names_harm_no_report() {
    let directory = fresh("names");
    let traces = fresh("names.trace");
    let binary = Build::program("profile/names.c").build();
    let job = Job::oshrun(2).args(["--profile", "--profile-dir"]).arg(&directory);
    job.arg(format!("--trace={}", traces.display())).arg(&binary).run().expect_code(0);
    for name in ["regions", "callsites", "imbalance"] {
        let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", name]).run();
        let text = &report.expect_code(0).stdout;
        let wild = text.chars().find(|c| c.is_control() && *c != '\n');
        assert!(wild.is_none(), "{name}: {wild:?}\n{text}");
        assert!(name != "regions" || text.contains("line\\nbreak\\ttab\\rreturn"), "{text}");
        assert!(text.contains("begins and ends of regions or markers could not be kept"), "{text}");
    }
    let report = view(&directory, "regions");
    let of = |name: &str| rows(&report, "regions").iter().find(|row| row["region"] == name || row["name"] == name);
    for name in
        ["with \"quotes\" and 'single'", "line\nbreak\ttab\rreturn", "naïve 東京", "\u{1b}[31mred\u{7}", "__proto__"]
    {
        let row = of(name).unwrap_or_else(|| panic!("no {name:?} in {report}"));
        assert_eq!(row["entries"], 2, "{row}");
    }
    let notes = report["notes"].to_string();
    assert!(notes.contains("could not be kept"), "{notes}");
    let page = directory.join("page.html");
    Job::new(tree::tool("oshprof")).arg("report").arg(&directory).arg("--html").arg(&page).run().expect_code(0);
    let page = std::fs::read_to_string(page).expect("the page is there");
    assert!(!page.contains("<script>alert"), "a name of a region is a program");
    for format in ["perfetto", "chrome", "csv", "otlp", "waits"] {
        let to = traces.join(format);
        let job = Job::new(tree::tool("oshprof")).arg("trace").arg(&traces).args(["--to", format, "-o"]).arg(&to);
        job.run().expect_code(0);
        let text = std::fs::read(&to).expect("it is there");
        if format == "chrome" {
            let trace: Value = serde_json::from_slice(&text).expect("JSON");
            assert!(trace.to_string().contains("line\\nbreak"), "no region in the trace");
        }
    }
}

/// A region that is used wrongly is told with its PE and source line, whether the profile is kept or not.
#[test]
fn a_region_that_cannot_be_kept_names_pe_and_line() {
    let program = Build::program("profile/regions.c").options(["-g"]).build();
    let text = include_str!("../programs/profile/regions.c");
    let line = 1 + text.lines().position(|line| line.contains("/* LINE wrong */")).unwrap();
    let place = format!("main at regions.c:{line}");
    let directory = fresh("regions");
    let kept = Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&program).run().expect_code(0);
    let counts_only = Job::oshrun(2).arg(&program).run().expect_code(0);
    let message = format!(
        "pellucid: PE 1: shmem_pcontrol: the end of region \"other\" is ignored: it is not the innermost open one \
         (called from {place})\n"
    );
    for outcome in [kept, counts_only] {
        assert!(outcome.stderr.contains(&message), "{}", outcome.describe());
    }
    let report = view(&directory, "regions");
    let note = rows(&report, "notes")[0].as_str().unwrap();
    assert!(note.starts_with("PE 1: 1 begin or end of a region or marker could not be kept"), "{note}");
    assert!(note.ends_with(&format!(", the first in {place}")), "{note}");
}
