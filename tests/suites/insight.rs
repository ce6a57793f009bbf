//! Views that lead from a symptom to its cause: what they say of programs whose cause is known.

use std::path::{Path, PathBuf};

use harness::cgroup::Limit;
use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

const LOOPS: &str = include_str!("../programs/profile/loops.c");

fn report(directory: &Path, view: &str) -> Value {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory);
    let outcome = job.args(["--view", view, "--json"]).run().expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

fn rows(directory: &Path, view: &str) -> Vec<Value> {
    let report = report(directory, view);
    report[view].as_array().cloned().unwrap_or_else(|| panic!("no {view}: {report}"))
}

/// Runs a program with its profile in a directory of this name.
fn profile(name: &str, pes: usize, binary: &Path, args: &[String]) -> PathBuf {
    let directory = tree::fresh(&format!("insight/{name}")).join("profile");
    Job::oshrun(pes).arg("--profile-dir").arg(&directory).arg(binary).args(args).run().expect_code(0);
    directory
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {of}"))
}

fn line(barrier: usize) -> String {
    let mark = format!("/* BARRIER {barrier} */");
    let at = LOOPS.lines().position(|line| line.contains(&mark)).expect("each barrier is marked");
    format!("loops.c:{}", at + 1)
}

/// The program has no regions; the view names the two lines all the same.
#[test]
fn phases_name_the_lines_between_which_the_time_goes() {
    let binary = Build::program("profile/loops.c").options(["-g", "-O1"]).build();
    for barriers in [1, 2, 4, 5, 8] {
        let busy = barriers / 2;
        // More meetings than a thread keeps one by one.
        let turns = 10_000 / barriers;
        let args = [barriers, turns, busy].map(|n| n.to_string());
        let names = (line((busy + barriers - 1) % barriers), line(busy));
        let is_named =
            |rows: &[Value]| (&rows[0]["from"], &rows[0]["to"]) == (&names.0.as_str().into(), &names.1.as_str().into());
        // Three quarters: the others work half as long.
        let is_balanced = |row: &Value| number(row, "balance") >= 0.95;
        // Where others take the processor for longer than a turn works, that is where the time goes: not in each run.
        let mut attempts = 0;
        let rows = loop {
            let directory = profile(&format!("phases-{barriers}"), 2, &binary, &args);
            let rows = rows(&directory, "phases");
            attempts += 1;
            if is_named(&rows) && rows[0]["max_pe"] == 0 && !is_balanced(&rows[0]) || attempts == 5 {
                break rows;
            }
        };
        assert!(is_named(&rows), "{barriers}: {names:?}: {rows:#?}");
        let top = &rows[0];
        assert_eq!(top["max_pe"], 0, "{barriers}: {rows:#?}");
        assert!(!is_balanced(top), "{barriers}: {top}");
        let times = number(top, "times") / turns as f64;
        assert!((0.7..1.3).contains(&times), "{times} of {turns} times, {barriers} a turn: {top}");
        for row in &rows {
            assert!((0.0..=1.0).contains(&number(row, "balance")), "{row}");
            assert!(number(row, "work_mean_ns") <= number(row, "work_max_ns"), "{row}");
        }
        let all: f64 = rows.iter().map(|row| number(row, "share")).sum();
        assert!(all < 1.3, "phases take {all} of the run: {rows:#?}");
    }
}

/// Shares are of what was recorded, and so is all that is outside of the library.
#[test]
fn time_without_a_profile_is_no_part_of_the_run() {
    let directory = profile("part", 2, &Build::program("profile/part.c").build(), &[]);
    let report = report(&directory, "pe");
    let pes = report["per_pe"].as_array().expect("PEs");
    assert_eq!(pes.len(), 2);
    for pe in pes {
        let (main, unrecorded) = (number(pe, "main_ns"), number(pe, "unrecorded_ns"));
        assert!(unrecorded >= 500e6, "{pe}");
        let (init, finalize) = (number(pe, "init_ns"), number(pe, "finalize_ns"));
        assert!((main + unrecorded - (finalize - init)).abs() < 1.0, "{pe}");
        assert!(number(pe, "run_ns") <= main + 1e3, "{pe}");
    }
    let notes = report["notes"].as_array().expect("notes");
    let is_told = |note: &Value| note.as_str().is_some_and(|note| note.contains("% of the run was not recorded"));
    assert!(notes.iter().any(is_told), "{notes:?}");
    let phases = rows(&directory, "phases");
    let longest = phases.iter().map(|row| number(row, "work_max_ns")).fold(0.0, f64::max);
    let main = pes.iter().map(|pe| number(pe, "main_ns")).fold(0.0, f64::max);
    assert!(longest <= main, "{phases:#?}");
    let advised = Job::new(tree::tool("oshprof")).arg("advise").arg(&directory).run().expect_code(0).stdout;
    assert!(advised.contains("of the run was not recorded: what is said here is of the rest"), "{advised}");
}

/// A call of the trace.
struct Call {
    name: String,
    pe: usize,
    start: f64,
    end: f64,
}

/// The calls of a trace, as its table has them.
fn calls(trace: &Path) -> Vec<Call> {
    let table =
        Job::new(tree::tool("oshprof")).arg("trace").arg(trace).args(["--to", "csv"]).run().expect_code(0).stdout;
    let call = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap_or_else(|_| panic!("no number: {line}"));
        let (name, pe, start) = (cells[1].to_owned(), number(3) as usize, number(6));
        (cells[0] == "call").then(|| Call { name, pe, start, end: start + number(7) })
    };
    table.lines().skip(1).filter_map(call).collect()
}

/// Elapsed, useful and waiting time of each PE, from the calls of the trace one by one.
fn parts(calls: &[Call], pes: usize) -> Vec<[f64; 3]> {
    let meets = |call: &&Call| call.name.contains("barrier") || call.name.contains("reduce");
    let of = |pe: usize| calls.iter().filter(move |call| call.pe == pe);
    let meetings: Vec<Vec<&Call>> = (0..pes).map(|pe| of(pe).filter(meets).collect()).collect();
    let last: Vec<f64> =
        (0..meetings[0].len()).map(|at| meetings.iter().map(|own| own[at].start).fold(0.0, f64::max)).collect();
    (0..pes)
        .map(|pe| {
            let find = |name: &str| of(pe).find(|call| call.name == name).unwrap_or_else(|| panic!("no {name}"));
            let elapsed = find("shmem_finalize").start - find("shmem_init").end;
            let setup = |call: &&Call| call.name != "shmem_init" && call.name != "shmem_finalize";
            let library: f64 = of(pe).filter(setup).map(|call| call.end - call.start).sum();
            let for_last = meetings[pe].iter().zip(&last).map(|(call, last)| last.min(call.end) - call.start);
            let waits = of(pe).filter(|call| call.name.contains("wait")).map(|call| call.end - call.start);
            [elapsed, elapsed - library, for_last.sum::<f64>() + waits.sum::<f64>()]
        })
        .collect()
}

#[test]
fn factors_agree_with_those_of_a_trace_of_the_same_run() {
    let binary = Build::program("profile/factors.c").options(["-O1"]).build();
    for pes in [1, 2, 4] {
        let directory = tree::fresh(&format!("insight/factors-{pes}"));
        let (kept, trace) = (directory.join("profile"), directory.join("trace"));
        let job = Job::oshrun(pes).args(["--profile", "1,trace-detail=full"]).arg("--profile-dir").arg(&kept);
        job.arg(format!("--trace={}", trace.display())).arg(&binary).run().expect_code(0);
        let parts = parts(&calls(&trace), pes);
        let most = |of: &dyn Fn(&[f64; 3]) -> f64| parts.iter().map(of).fold(0.0, f64::max);
        let (elapsed, useful, still) = (most(&|p| p[0]), most(&|p| p[1]), most(&|p| p[1] + p[2]));
        let mean = parts.iter().map(|p| p[1]).sum::<f64>() / pes as f64;
        let rows = rows(&kept, "efficiency");
        for row in &rows {
            // Of a phase, the two last factors are not told apart as of a region.
            let factor = |name: &str| number(row, name);
            assert!((factor("parallel") - factor("balance") * factor("communication")).abs() < 1e-9, "{row}");
            assert!((factor("communication") - factor("transfer") * factor("serialisation")).abs() < 1e-9, "{row}");
            for name in ["parallel", "balance", "communication", "transfer", "serialisation"] {
                assert!((0.0..=1.0).contains(&factor(name)), "{row}");
            }
        }
        let run = rows.iter().find(|row| row["of"] == "run").unwrap_or_else(|| panic!("no run: {rows:#?}"));
        for (name, traced) in [
            ("parallel", mean / elapsed),
            ("balance", mean / useful),
            ("communication", useful / elapsed),
            ("transfer", still / elapsed),
            ("serialisation", useful / still),
        ] {
            let recorded = number(run, name);
            assert!((recorded - traced).abs() <= 0.03, "{name} of {pes} PEs: {recorded}, {traced} by the trace: {run}");
        }
        let kinds = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
        assert_eq!((kinds("region"), kinds("run")), (2, 1), "{rows:#?}");
        assert!(kinds("phase") >= 3, "{rows:#?}");
    }
}

#[test]
fn the_head_has_the_factors_and_the_end_the_line_that_matters() {
    let binary = Build::program("profile/factors.c").options(["-g", "-O1"]).build();
    let directory = profile("head", 4, &binary, &[]);
    let text = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).run().expect_code(0).stdout;
    let head = text.split("routine ").next().unwrap_or_default();
    for part in ["parallel efficiency", " = load balance", " x communication", "   = transfer", "   x serialisation"] {
        assert!(head.contains(part), "no {part} in {head}");
    }
    assert!(head.contains("solve") && head.contains("exchange"), "{head}");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(cores >= 4 || head.contains("waits include time without a core"), "{head}");
    let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default().replace('\n', " ");
    assert!(last.contains("% of PE time") && last.contains("see --view "), "{last}");
    // What begins and ends the program is no part of the shares.
    let of =
        |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {text}"));
    assert!(of("shmem_init").ends_with('-') && of("shmem_finalize").ends_with('-'), "{text}");
}

/// As of a container that may take the time of some cores of a large host.
#[test]
fn a_quota_of_cpu_time_is_named() {
    let group = match Limit::cores("insight", 1) {
        Ok(group) => group,
        Err(reason) => return println!("not tested: no control group with a quota can be made: {reason}"),
    };
    let binary = Build::program("profile/factors.c").options(["-g", "-O1"]).build();
    let directory = tree::fresh("insight/quota").join("profile");
    let oshrun = tree::tool("oshrun");
    let job = Job::new("sh").args(["-c", &group.script(), "sh"]).arg(&oshrun).args(["-n", "2", "--profile-dir"]);
    job.arg(&directory).arg(&binary).limit(60).run().expect_code(0);
    let report = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).run().expect_code(0);
    report.expect_text(&["2 PEs on ", ", a quota of 1 core, ", ": waits include time without a core"]);
    let advice = Job::new(tree::tool("oshprof")).args(["advise", "--json"]).arg(&directory).run().expect_code(0);
    advice.expect_text(&["2 PEs share the time of 1 core", ", which is their quota"]);
}

/// Threads that wait at the same time spend more in the library together than the PE runs: shares are of the PE's own
/// time and say so, in every view and form; what could be saved is no more than that.
#[test]
fn threads_are_in_the_library_for_no_longer_than_they_run() {
    let binary = Build::program("profile/threads_wait.c").options(["-g", "-O1"]).libraries(["-lpthread"]).build();
    let directory = profile("threads", 2, &binary, &[]);
    let pes = report(&directory, "all")["per_pe"].as_array().cloned().expect("PEs");
    let is_share_of = |what: &str, pes: &[Value], rows: &[Value]| {
        let of = |name: &str| pes.iter().map(|pe| number(pe, name)).sum::<f64>();
        let shares: f64 = rows.iter().filter_map(|row| row["share"].as_f64()).sum();
        assert!((shares / (of("library_ns") / of("main_ns")) - 1.0).abs() < 0.01, "{what}: {shares}");
    };
    for view in ["routines", "callsites"] {
        is_share_of(view, &pes, &rows(&directory, view));
    }
    for pe in &pes {
        let (library, run) = (number(pe, "library_ns"), number(pe, "run_ns"));
        assert!(library <= run && run >= number(pe, "main_ns"), "{pe}");
        is_share_of("per_pe", std::slice::from_ref(pe), pe["routines"].as_array().expect("routines"));
    }
    // Four waits of 50 ms each in hardly more: what this test is about.
    assert!(number(&pes[0], "library_ns") > 2.0 * number(&pes[0], "main_ns"), "{}", pes[0]);
    for region in rows(&directory, "regions") {
        assert!(number(&region, "library_ns") <= number(&region, "own_ns"), "{region}");
    }
    for row in rows(&directory, "efficiency") {
        for factor in ["parallel", "balance", "communication", "transfer", "serialisation"] {
            assert!((0.0..=1.0).contains(&number(&row, factor)), "{row}");
        }
    }
    let oshprof = |args: &[&str]| {
        let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(args);
        job.run().expect_code(0).stdout
    };
    let text = oshprof(&[]);
    assert!(text.contains("threads a PE: their times add up"), "{text}");
    let advice =
        Job::new(tree::tool("oshprof")).arg("advise").arg("--json").arg(&directory).run().expect_code(0).stdout;
    let advice: Value = serde_json::from_str(&advice).expect("JSON");
    for finding in advice["findings"].as_array().expect("findings") {
        assert!(number(finding, "share") <= 1.0, "{finding}");
    }
    let csv = oshprof(&["--view", "pes", "--csv"]);
    let column = |name: &str| csv.lines().next().and_then(|titles| titles.split(',').position(|title| title == name));
    let (library, run) = (column("library_ns").expect("a column"), column("run_ns").expect("a column"));
    for line in csv.lines().skip(1) {
        let cell = |at: usize| line.split(',').nth(at).and_then(|cell| cell.parse::<f64>().ok()).expect("a number");
        assert!(cell(library) <= cell(run), "{csv}");
    }
    let page = directory.with_extension("html");
    Job::new(tree::tool("oshprof")).arg("report").arg(&directory).arg("--html").arg(&page).run().expect_code(0);
    let html = std::fs::read_to_string(&page).expect("the page");
    // `<span>in the library</span><b>66.1 %</b>`, and what the bars of PEs say: `waits 50 ms (98.1 %)`.
    let cards = html.split("in the library</span><b>").nth(1).and_then(|rest| rest.split(" %").next());
    let bars = html.split("<title>PE 0: ").skip(1).filter_map(|rest| rest.split(" %)").next()?.split('(').next_back());
    let shown: Vec<f64> = cards.into_iter().chain(bars).filter_map(|text| text.parse().ok()).collect();
    assert!(shown.len() > 1 && shown.iter().all(|percent| *percent <= 100.0), "{shown:?}");
}

const UNFINISHED: &str = include_str!("../programs/profile/unfinished.c");

fn unfinished_line(mark: &str) -> String {
    let mark = format!("/* {mark} */");
    let at = UNFINISHED.lines().position(|line| line.contains(&mark)).expect("each line is marked");
    format!("unfinished.c:{}", at + 1)
}

/// The profile of three PEs, of which two never return from this call.
fn unfinished(what: &str) -> PathBuf {
    let binary = Build::program("profile/unfinished.c").options(["-g", "-O1"]).build();
    let directory = tree::fresh(&format!("insight/unfinished-{what}")).join("profile");
    Job::oshrun(3).arg("--profile-dir").arg(&directory).arg(&binary).arg(what).run().expect_code(3);
    directory
}

/// The time of calls that never return, which is nearly all there is, is told of where they are.
fn is_told_at(directory: &Path, mark: &str) {
    let sites = rows(directory, "callsites");
    let (line, first) = (unfinished_line(mark), &sites[0]);
    assert!(first["site"].as_str().is_some_and(|site| site.ends_with(&line)), "{line}: {sites:#?}");
    assert_eq!((&first["calls"], &first["unfinished_calls"]), (&2.into(), &2.into()), "{first}");
    let time = number(first, "unfinished_ns");
    assert!(time > 0.0 && number(first, "total_ns") == time && first["mean_ns"].is_null(), "{first}");
    // Neither of those PEs has done anything in the meantime.
    let phases = rows(directory, "phases");
    assert!(phases.iter().all(|row| row["max_pe"] == 1 || number(row, "work_max_ns") < time / 2.0), "{phases:#?}");
    let text = Job::new(tree::tool("oshprof")).arg("report").arg(directory).run().expect_code(0).stdout;
    let end = text.trim_end().rsplit("\n\n").next().unwrap_or_default().replace('\n', " ");
    assert!(end.contains("of PE time waits in") && end.contains(&line), "{text}");
}

#[test]
fn a_barrier_that_never_ends_is_waiting_for_the_pe_that_does_not_come() {
    let directory = unfinished("barrier");
    is_told_at(&directory, "BARRIER");
    let barrier = unfinished_line("BARRIER");
    let late = rows(&directory, "imbalance");
    let first = &late[0];
    assert!(first["site"].as_str().is_some_and(|site| site.ends_with(&barrier)), "{late:#?}");
    assert_eq!((&first["calls"], &first["late_pe"]), (&1.into(), &1.into()), "{first}");
    let phases = rows(&directory, "phases");
    let before = unfinished_line("BEFORE");
    let row = phases.iter().find(|row| row["from"] == *before && row["to"] == *barrier);
    let row = row.unwrap_or_else(|| panic!("no phase ends at {barrier}: {phases:#?}"));
    assert_eq!((&row["pes"], number(row, "lost_ns")), (&2.into(), number(first, "lost_ns")), "{row}");
}

#[test]
fn a_wait_that_never_ends_is_waiting_that_nobody_ended() {
    let directory = unfinished("wait");
    is_told_at(&directory, "WAIT");
    let causes = rows(&directory, "causes");
    let wait = unfinished_line("WAIT");
    let of = |pe: u32| causes.iter().find(|row| row["pe"] == pe && row["site"] == *wait);
    for pe in [0, 2] {
        let row = of(pe).unwrap_or_else(|| panic!("PE {pe} does not wait: {causes:#?}"));
        assert!(row["by_pe"].is_null() && number(row, "waited_ns") > 0.0, "{row}");
    }
}

/// Whoever is late for a call on a file or for a team without lost PEs is named as for a barrier.
#[test]
fn members_are_late_for_calls_of_extensions_too() {
    let binary = Build::program("profile/late_in_extensions.c").options(["-g", "-O1"]).build();
    let file = tree::fresh("insight/late-file").join("file").display().to_string();
    let directory = profile("late-in-extensions", 3, &binary, &[file]);
    let late = rows(&directory, "imbalance");
    for routine in ["shmemx_file_write_at_all", "shmemx_team_shrink"] {
        let row = late.iter().find(|row| row["routine"] == routine);
        let row = row.unwrap_or_else(|| panic!("no {routine}: {late:#?}"));
        assert_eq!((&row["calls"], &row["late_pe"]), (&3.into(), &1.into()), "{row}");
        // Two PEs wait three times.
        assert!(number(row, "lost_ns") > 200e6, "{row}");
    }
}
