//! Exports, read by the programs they are made for, which `./x test` installs from Python packages. Those that cannot
//! be had that way are held to what their documentation and their published schemas ask for.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use harness::run::{Job, Outcome};
use harness::{tree, wheels};
use serde_json::Value;

use crate::runs::{PES, oshprof, profiles, version};

const STEPS: u64 = 3;

fn runs() -> &'static [PathBuf] {
    static RUNS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    RUNS.get_or_init(|| profiles("readers", &version("BASE"), 2, &[&STEPS.to_string()]))
}

/// Exports both runs to a file.
fn export(format: &str) -> PathBuf {
    let file = tree::scratch("regression/readers").join(format!("export.{format}"));
    oshprof(&["export", "--to", format, "-o", file.to_str().unwrap()]).args(runs()).run().expect_code(0);
    file
}

fn json(format: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(export(format)).unwrap()).unwrap()
}

/// Runs a Python program with the packages; `None`, with a line, where they could not be installed.
fn python(arguments: &[&str]) -> Option<Outcome> {
    match wheels::readers() {
        Ok(bin) => Some(Job::new(bin.join("python3")).args(arguments).env("MPLBACKEND", "agg").limit(300).run()),
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

#[test]
fn pandas_reads_the_table() {
    let program = "
import sys, pandas
rows = pandas.read_csv(sys.argv[1], keep_default_na=False)
puts = rows[rows.op == 'shmem_long_put'].groupby('run')[['calls', 'bytes']].sum()
print(puts.to_dict('list'), rows.pe.nunique(), rows.total_ns.min() >= 0, rows.site.unique().tolist())
";
    let Some(outcome) = python(&["-c", program, export("csv").to_str().unwrap()]) else { return };
    let calls = STEPS * PES as u64;
    let sums = format!("{{'calls': [{calls}, {calls}], 'bytes': [{0}, {0}]}} {PES} True", calls * 512);
    outcome.expect_code(0).expect_text(&[&sums, "'exchange'", "'halo_exchange'"]);
}

#[test]
fn hatchet_reads_the_tree() {
    let example = tree::workspace().join("examples/hatchet/tree.py");
    let file = export("hatchet");
    let (example, file) = (example.to_str().unwrap(), file.to_str().unwrap());
    let Some(outcome) = python(&[example, file]) else { return };
    outcome.expect_code(0).expect_text(&["(outside of regions)", "exchange", "shmem_long_put", "calls"]);
    let Some(outcome) = python(&[example, file, file]) else { return };
    outcome.expect_code(0).expect_text(&["0.000", "slower (+) and faster (-)"]);
    let program = "
import sys, json, hatchet
frame = hatchet.GraphFrame.from_literal(json.load(open(sys.argv[1])))
inclusive = frame.dataframe['time (inc)'].copy()
frame.update_inclusive_columns()
assert (frame.dataframe['time (inc)'] - inclusive).abs().max() < 1e-6, frame.dataframe
puts = frame.filter(lambda row: row['name'] == 'shmem_long_put')
print('puts', puts.dataframe['calls'].sum())
";
    let Some(outcome) = python(&["-c", program, file]) else { return };
    outcome.expect_code(0).expect_text(&[&format!("puts {}.0", STEPS * PES as u64)]);
}

#[test]
fn otava_finds_the_commit_in_a_history() {
    let folder = tree::fresh("regression/otava");
    let store = folder.join("store");
    std::fs::create_dir_all(store.join("counts")).unwrap();
    // A history of 40 runs, of which the last 15 take half as long again.
    let mut lines = String::new();
    for at in 0..40_u64 {
        let run = (1_000_000_000 + at * 7_919 % 13 * 1_000_000) * if at < 25 { 2 } else { 3 };
        let entry = serde_json::json!({
            "v": 1, "suite": "s", "commit": format!("c{at}"), "parent": "", "branch": "main",
            "time": 1_700_000_000 + 3600 * at, "machine": "m", "program": "p", "pes": 8, "hosts": [8], "arguments": "",
            "level": 1, "runs": 2, "counts": "0123456789abcdef", "id": at.to_string(),
            "metrics": { "run": run, "region:a b": run },
        });
        lines.push_str(&format!("{entry}\n"));
    }
    std::fs::write(store.join("s-000000.jsonl"), lines).unwrap();
    let csv = folder.join("history.csv");
    oshprof(&["export", "--to", "otava", "--store", store.to_str().unwrap(), "-o", csv.to_str().unwrap()])
        .run()
        .expect_code(0);
    let header = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(header.lines().next(), Some("time,commit,branch,region_a b,run"));
    let config = folder.join("otava.yaml");
    let text = format!(
        "tests:\n  solver:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [commit, branch]\n    \
         metrics:\n      \
         run:\n        scale: 1.0e-9\n        direction: -1\n    csv_options:\n      delimiter: ','\n",
        csv.display()
    );
    std::fs::write(&config, text).unwrap();
    let otava = match wheels::readers() {
        Ok(bin) => bin.join("otava"),
        Err(why) => {
            println!("skipped: {why}");
            return;
        }
    };
    let job = Job::new(otava).args(["analyze", "solver", "--since", "2023-01-01"]).limit(300).directory(&folder);
    let outcome = job.env("OTAVA_CONFIG", config.to_str().unwrap()).run().expect_code(0);
    // The row after the line that it draws is the first commit with the new time.
    let rows: Vec<&str> = outcome.stdout.lines().collect();
    let cut = rows.iter().rposition(|row| row.contains("···")).unwrap_or_else(|| panic!("{}", outcome.describe()));
    assert!(rows[cut + 1].contains("c25") && outcome.stdout.contains("+5"), "{}", outcome.describe());
}

/// Two commits of which the second changed counts, for Prometheus.
#[test]
fn prometheus_knows_what_commits_changed() {
    let store = tree::fresh("regression/counter").join("store");
    let store = store.to_str().unwrap();
    let worse = profiles("counter-worse", &version("QUIET_EACH"), 2, &[&STEPS.to_string()]);
    for (runs, commit) in [(runs(), "1111"), (&worse[..], "2222")] {
        let job = oshprof(&["history", "add", "--commit", commit, "--store", store, "--suite", "a \"b\\"]);
        job.args(runs).run().expect_code(0);
    }
    let outcome = oshprof(&["export", "--store", store, "--to", "openmetrics"]).run().expect_code(0);
    let gauge = |kind: &str, is_worse: bool, number: u64| {
        let labels = format!("suite=\"a \\\"b\\\\\",kind=\"{kind}\",regression=\"{is_worse}\"");
        format!("shmem_perf_change_points{{{labels}}} {number}\n")
    };
    let outcome =
        outcome.expect_text(&[&gauge("counts", true, 1), &gauge("time", true, 0), &gauge("counts", false, 0)]);
    let file = tree::scratch("regression/counter").join("export");
    std::fs::write(&file, &outcome.stdout).unwrap();
    let program = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(open(sys.argv[1]).read()))
print({f.name: (f.type, sum(s.value for s in f.samples if f.name.endswith('points'))) for f in families})
";
    let Some(outcome) = python(&["-c", program, file.to_str().unwrap()]) else { return };
    outcome
        .expect_code(0)
        .expect_text(&["'shmem_perf_change_points': ('gauge', 1)", "'shmem_perf_last_seconds': ('gauge'"]);
}

#[test]
fn junit_and_openmetrics_are_read() {
    let junit = tree::scratch("regression/readers").join("junit.xml");
    let worse = profiles("readers-worse", &version("EXTRA_BARRIER"), 2, &[&STEPS.to_string()]);
    let file = junit.to_str().unwrap();
    oshprof(&["diff"]).args(runs()).arg("--").args(&worse).args(["--junit", file]).run().expect_code(3);
    check_junit(&junit);
    let program = "
import sys
from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
suites = list(JUnitXml.fromfile(sys.argv[1]))
print('tests', sum(s.tests for s in suites), 'failures', sum(s.failures for s in suites),
      'results', sorted(r.message for s in suites for c in s for r in c.result))
families = list(text_string_to_metric_families(open(sys.argv[2]).read()))
print({f.name: len(f.samples) for f in families})
";
    let Some(outcome) = python(&["-c", program, file, export("openmetrics").to_str().unwrap()]) else { return };
    outcome.expect_code(0).expect_text(&["failures 1", "0 -> 24 calls", "'shmem_time_seconds': ", "'shmem_calls': 1"]);
}

/// What readers of JUnit's form rely on: counts in the suite that are those of its cases.
fn check_junit(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let number = |name: &str| {
        let after = text.split_once(&format!("{name}=\"")).map_or("", |(_, rest)| rest);
        after.split('"').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or_else(|| panic!("no {name}: {text}"))
    };
    assert!(text.starts_with("<?xml version=\"1.0\""), "{text}");
    assert_eq!(number("tests"), text.matches("<testcase ").count(), "{text}");
    assert_eq!(number("failures"), text.matches("<failure ").count(), "{text}");
    assert_eq!(number("skipped"), text.matches("<skipped ").count(), "{text}");
}

/// `name` and `unit` are texts, `value` is a number, `range` a text that begins as its parser wants it, nothing occurs
/// twice.
#[test]
fn github_action_benchmark_takes_the_list() {
    let found = json("gab");
    let mut names = std::collections::BTreeSet::new();
    for row in found.as_array().expect("a list") {
        let keys: Vec<&str> = row.as_object().expect("an object").keys().map(String::as_str).collect();
        assert!(keys.iter().all(|key| ["name", "unit", "value", "range", "extra"].contains(key)), "{row}");
        assert!(row["value"].as_f64().is_some_and(f64::is_finite) && row["unit"].is_string(), "{row}");
        assert!(row["range"].is_null() || row["range"].as_str().is_some_and(|range| range.starts_with("± ")), "{row}");
        assert!(names.insert(row["name"].as_str().expect("a name").to_owned()), "twice: {row}");
    }
    assert!(names.len() >= 5, "{names:?}");
}

/// Its schema: objects of objects with numbers `value`, which is required, `lower_value` and `upper_value`. A name has
/// at most 1,024 characters, that of a measure 64.
#[test]
fn bencher_takes_the_object() {
    for (benchmark, measures) in json("bmf").as_object().expect("an object") {
        assert!((1..=1024).contains(&benchmark.chars().count()), "{benchmark}");
        for (measure, values) in measures.as_object().expect("an object of measures") {
            assert!((1..=64).contains(&measure.chars().count()), "{measure}");
            let values = values.as_object().expect("an object of values");
            assert!(values.contains_key("value") && values.values().all(Value::is_number), "{values:?}");
            let of = |name: &str| values.get(name).and_then(Value::as_f64);
            let between =
                of("lower_value") <= of("value") && of("upper_value").is_none_or(|most| Some(most) >= of("value"));
            assert!(between, "{values:?}");
        }
    }
}

/// Go's benchmark format: `Unit` lines, then `BenchmarkName N value unit...`; read by the real benchstat where that is
/// on the path.
#[test]
fn benchstat_takes_the_lines() {
    let file = export("benchstat");
    let text = std::fs::read_to_string(&file).unwrap();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] == "Unit" {
            assert!(words.len() == 3 && words[2] == "assume=exact", "{line}");
            continue;
        }
        let name = words[0].strip_prefix("Benchmark").unwrap_or_else(|| panic!("{line}"));
        assert!(
            name.starts_with(|c: char| !c.is_lowercase()) && words.len() >= 4 && words.len().is_multiple_of(2),
            "{line}"
        );
        assert!(words[1].parse::<u64>().is_ok_and(|n| n > 0), "{line}");
        assert!(words[2..].chunks(2).all(|pair| pair[0].parse::<f64>().is_ok()), "{line}");
    }
    let there = std::process::Command::new("benchstat").arg("-h").output().is_ok();
    if !there {
        println!("skipped: benchstat is not installed");
        return;
    }
    Job::new("benchstat").arg(&file).run().expect_code(0).expect_text(&["calls/run", "shmem_long_put"]);
}
