//! Who ended a wait, and why he was late: what the view says of programs whose causes are known.

use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::Job;
use harness::tree;
use serde_json::Value;

const WAITS: &str = include_str!("../programs/profile/waits.c");
/// Each is at least 7 ms of waiting.
const TURNS: &str = "20";

fn line(mark: &str) -> Value {
    let mark = format!("/* {mark} */");
    let at = WAITS.lines().position(|line| line.contains(&mark)).unwrap_or_else(|| panic!("no {mark}"));
    format!("waits.c:{}", at + 1).into()
}

fn report(directory: &Path, options: &[&str]) -> String {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory);
    job.args(["--view", "causes"]).args(options).run().expect_code(0).stdout
}

/// The profile of the program doing `what`, in a folder named after the test.
fn profile(test: &str, what: &str, pes: usize) -> PathBuf {
    let binary = Build::program("profile/waits.c").options(["-g", "-O1", "-fno-inline"]).build();
    let directory = tree::fresh(&format!("causes/{test}")).join("profile");
    Job::oshrun(pes).arg("--profile-dir").arg(&directory).arg(&binary).args([what, TURNS]).run().expect_code(0);
    directory
}

fn causes(directory: &Path) -> Vec<Value> {
    let report: Value = serde_json::from_str(&report(directory, &["--json"])).expect("JSON");
    report["causes"].as_array().cloned().unwrap_or_else(|| panic!("no causes: {report}"))
}

/// The row of a PE and a line of waiting with most time.
fn longest<'a>(rows: &'a [Value], pe: usize, wait: &str) -> &'a Value {
    let site = line(wait);
    let is_it = |row: &&Value| row["pe"] == pe && row["site"] == site;
    rows.iter().find(is_it).unwrap_or_else(|| panic!("PE {pe} does not wait at {site}: {rows:#?}"))
}

fn because(row: &Value) -> &str {
    row["because"].as_str().unwrap_or_else(|| panic!("no reason: {row}"))
}

/// 20 turns of 7 ms: a third of it at the least, however the machine is loaded.
fn took_long(row: &Value) {
    let waited = row["waited_ns"].as_f64().unwrap_or_default();
    assert!(waited > 45e6, "{row}");
}

#[test]
fn a_wavefront_of_flags() {
    let rows = causes(&profile("wavefront", "flags", 3));
    let first = longest(&rows, 1, "WAIT flags");
    took_long(first);
    assert_eq!((&first["by_pe"], &first["by_routine"]), (&0.into(), &"shmem_long_p".into()), "{first}");
    assert_eq!(first["by_site"], line("STORE flags"), "{first}");
    assert!(because(first).contains("more than the mean in region prep"), "{first}");
    // The one behind waits for a PE that waits itself.
    let second = longest(&rows, 2, "WAIT flags");
    took_long(second);
    assert_eq!((&second["by_pe"], &second["by_site"]), (&1.into(), &line("STORE flags")), "{second}");
    let site = line("WAIT flags");
    let expected = format!("PE 1 waited itself at {} for PE 0", site.as_str().unwrap_or_default());
    assert!(because(second).starts_with(&expected), "{second}");
}

#[test]
fn a_halo_exchange_of_puts_with_signal() {
    let rows = causes(&profile("signals", "signals", 3));
    // The neighbours of the slow PE wait for what it sends to each.
    for (pe, wait, store) in [(2, "WAIT left", "STORE right"), (0, "WAIT right", "STORE left")] {
        let row = longest(&rows, pe, wait);
        took_long(row);
        let routine = &"shmem_putmem_signal".into();
        assert_eq!((&row["by_pe"], &row["by_routine"], &row["by_site"]), (&1.into(), routine, &line(store)), "{row}");
        assert!(because(row).starts_with("PE 1 was outside of the library for"), "{row}");
    }
}

#[test]
fn a_wait_for_several_flags_names_the_last() {
    let rows = causes(&profile("several", "several", 4));
    let row = longest(&rows, 0, "WAIT several");
    took_long(row);
    assert_eq!((&row["by_pe"], &row["by_site"]), (&3.into(), &line("STORE several")), "{row}");
}

/// What the waits of PE 0 that this PE has ended stand for, in nanoseconds; `null`: where it is not known.
fn waited_for(rows: &[Value], by: &Value) -> f64 {
    let is_it = |row: &&Value| row["pe"] == 0 && row["site"] == line("WAIT vain") && row["by_pe"] == *by;
    rows.iter().filter(is_it).filter_map(|row| row["waited_ns"].as_f64()).sum()
}

/// PE 1 stores to the variable as well, in each turn: too early, and not what PE 0 waits for.
#[test]
fn a_store_that_did_not_end_the_wait_is_not_blamed() {
    let rows = causes(&profile("vain", "vain", 3));
    let (known, unknown) = (waited_for(&rows, &1.into()), waited_for(&rows, &Value::Null));
    assert!(unknown > 45e6 && known < unknown / 4.0, "{known} ns of {unknown}: {rows:#?}");
    let rows = causes(&profile("both", "both", 3));
    let (wrong, right) = (waited_for(&rows, &1.into()), waited_for(&rows, &2.into()));
    assert!(right > 45e6 && wrong < right / 4.0, "{wrong} ns beside {right}: {rows:#?}");
    let row = rows.iter().find(|row| row["pe"] == 0 && row["by_pe"] == 2);
    assert_eq!(row.map(|row| &row["by_site"]), Some(&line("STORE both")), "{rows:#?}");
}

/// What a PE has worked before it waited for a bit is work, too.
#[test]
fn who_works_between_waits_has_not_waited_itself() {
    let rows = causes(&profile("between", "between", 3));
    let row = longest(&rows, 2, "WAIT between");
    took_long(row);
    assert_eq!((&row["by_pe"], &row["by_site"]), (&0.into(), &line("STORE between")), "{row}");
    assert!(because(row).starts_with("PE 0 was outside of the library for"), "{row}");
}

#[test]
fn a_lock_convoy() {
    let directory = profile("convoy", "locks", 3);
    let rows = causes(&directory);
    for pe in 0..3 {
        let row = longest(&rows, pe, "WAIT lock");
        assert_eq!((&row["by_routine"], &row["by_site"]), (&"shmem_clear_lock".into(), &line("STORE lock")), "{row}");
        assert_ne!(row["by_pe"], pe, "{row}");
        let (held, places) = (because(row), [line("WAIT lock"), line("STORE lock")]);
        let places: Vec<&str> = places.iter().filter_map(Value::as_str).collect();
        assert!(held.contains(" held it for ") && places.iter().all(|place| held.contains(place)), "{row}");
    }
}

#[test]
fn a_lock_is_named_and_its_times_add_up() {
    let directory = profile("lock", "locks", 3);
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory);
    let text = job.args(["--view", "locks"]).run().expect_code(0).stdout;
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory);
    let json: Value =
        serde_json::from_str(&job.args(["--view", "locks", "--json"]).run().expect_code(0).stdout).expect("JSON");
    let rows = json["locks"].as_array().cloned().unwrap_or_default();
    assert_eq!(rows.len(), 1, "{json}");
    let (row, number) = (&rows[0], |name: &str| rows[0][name].as_f64().unwrap_or_else(|| panic!("no {name}: {json}")));
    // The third of an array of longs.
    assert_eq!(row["lock"], "table_lock+0x10 on PE 0", "{row}");
    let turns: f64 = TURNS.parse().expect("a number");
    assert_eq!((number("taken"), number("pes")), (3.0 * turns, 3.0), "{row}");
    assert!(number("held_ns") >= 3.0 * turns * 300e3 && number("mean_held_ns") >= 300e3, "{row}");
    assert!(number("max_held_ns") >= number("mean_held_ns"), "{row}");
    // While one holds it the two others wait, but for the first and the last turns.
    assert!(number("contended") > 0.5 && number("contended") <= 1.0, "{row}");
    assert!(number("waited_ns") > number("held_ns"), "{row}");
    assert!(number("busy") > 0.3 && number("busy") <= 1.0, "{row}");
    let handover = number("handover_ns");
    assert!(handover > 0.0 && handover < number("waited_ns") / number("taken"), "{row}");
    assert!(text.contains("table_lock+0x10 on PE 0") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // What the routine table has for the calls that wait.
    let set = json["routines"].as_array().into_iter().flatten().find(|row| row["name"] == "shmem_set_lock");
    let spent = set.and_then(|row| row.pointer("/time_ns/total")?.as_f64()).unwrap_or_default();
    assert!((number("waited_ns") / spent - 1.0).abs() < 0.05, "{row}: {spent} ns in shmem_set_lock");
}

/// What was waited for is told of no more than once, in all forms.
#[test]
fn every_form_of_the_view() {
    let directory = profile("forms", "flags", 2);
    let text = report(&directory, &[]);
    assert!(text.contains("PE 1 ") && text.contains("PE 0 long_p at waits.c:"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let csv = report(&directory, &["--csv"]);
    let head = csv.lines().next().unwrap_or_default();
    for name in ["pe", "site", "region", "waited_ns", "by_pe", "by_routine", "by_site", "because"] {
        assert!(head.split(',').any(|column| column == name), "no {name} in {head}");
    }
    // No more than the waits took, as the routine table has them.
    let all: Value = serde_json::from_str(&report(&directory, &["--json"])).expect("JSON");
    let waits = all["routines"].as_array().into_iter().flatten().filter(|row| row["class"] == "wait");
    let spent: f64 = waits.filter_map(|row| row.pointer("/time_ns/total")?.as_f64()).sum();
    let told: f64 = causes(&directory).iter().filter_map(|row| row["waited_ns"].as_f64()).sum();
    assert!(told > 0.5 * spent && told <= 1.01 * spent, "{told} ns of {spent}");
}

#[test]
fn a_request_has_who_was_the_last_in_it_and_what_it_overlapped() {
    let binary = Build::program("profile/requests.c").build();
    let directory = tree::fresh("causes/requests").join("profile");
    Job::oshrun(2).arg("--profile-dir").arg(&directory).arg(&binary).run().expect_code(0);
    let rows = causes(&directory);
    let waits = |row: &&Value| row["pe"] == 0 && row["routine"] == "shmemx_req_wait";
    let row = rows.iter().find(waits).unwrap_or_else(|| panic!("PE 0 does not wait: {rows:#?}"));
    assert_eq!((&row["by_pe"], &row["released_by"]), (&1.into(), &"PE 1, whose part came last".into()), "{row}");
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "nbi", "--json"]);
    let report: Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
    let handles = report["handles"].as_array().cloned().unwrap_or_default();
    let [row] = &handles[..] else { panic!("{handles:#?}") };
    let number = |name: &str| row[name].as_f64().unwrap_or(-1.0);
    // Those of the PE that comes late may be complete at once: then there is no request.
    assert!(row["routine"] == "shmemx_long_sum_reduce_nb" && (20.0..=40.0).contains(&number("requests")), "{row}");
    let (open, waited) = (number("open_ns"), number("waited_ns"));
    assert!(waited > 30e6 && waited <= open, "{row}");
    assert!((number("overlap") - (1.0 - waited / open)).abs() < 1e-3, "{row}");
    let errors = serde_json::json!([{ "code": -7, "name": "SHMEMX_ERROR_PE", "calls": 6 }]);
    assert_eq!(report["errors_by_code"], errors);
    let notes = report["notes"].to_string();
    assert!(notes.contains("calls that came to an error: 6 SHMEMX_ERROR_PE"), "{notes}");
}
