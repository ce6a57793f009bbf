//! `oshprof metrics DIR` against `oshprof report DIR --json` of the same profile.
#![cfg(feature = "metrics")]

mod cases;
mod scratch;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use pellucid_profile::file;
use pellucid_profile::output::OutputDir;
use scratch::Scratch;
use serde_json::Value;

fn oshprof(arguments: &[&str], dir: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_oshprof")).args(arguments).arg(dir).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Sum over the series of a metric, from text.
fn sum(text: &str, name: &str) -> f64 {
    let lines = text.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[test]
fn counters_are_those_of_the_report() {
    for (case, profile) in cases::all() {
        let dir = Scratch::new(&format!("metrics-{case}"));
        file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
        let report: Value = serde_json::from_str(&oshprof(&["report", "--json"], dir.path())).unwrap();
        let routines = report["routines"].as_array().unwrap();
        let total = |of: &dyn Fn(&Value) -> u64| routines.iter().map(of).sum::<u64>() as f64;
        for format in ["prometheus", "openmetrics"] {
            let text = oshprof(&["metrics", "--format", format], dir.path());
            assert_eq!(sum(&text, "shmem_calls_total"), total(&|r| r["calls"].as_u64().unwrap()), "{case}");
            assert_eq!(sum(&text, "shmem_call_errors_total"), total(&|r| r["errors"].as_u64().unwrap()), "{case}");
            assert_eq!(sum(&text, "shmem_call_bytes_total"), total(&|r| r["bytes"].as_u64().unwrap()), "{case}");
            let time = |r: &Value| r["time_ns"]["total"].as_u64().unwrap_or(0);
            assert!((sum(&text, "shmem_call_seconds_total") * 1e9 - total(&time)).abs() < 2.0, "{case}");
            // Durations are of calls that have returned.
            let returned = total(&|r| time(r) - r["unfinished_ns"].as_u64().unwrap());
            assert!((sum(&text, "shmem_call_duration_seconds_sum") * 1e9 - returned).abs() < 2.0, "{case}");
            assert_eq!(text.ends_with("# EOF\n"), format == "openmetrics");
        }
    }
}

/// Each series has a name and labels of its own, which the format demands.
#[test]
fn no_series_is_there_twice() {
    for (case, profile) in cases::all() {
        let dir = Scratch::new(&format!("metrics-once-{case}"));
        file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
        let text = oshprof(&["metrics"], dir.path());
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            *seen.entry(line.rsplit_once(' ').unwrap().0).or_default() += 1;
        }
        assert!(seen.len() > 100 && seen.len() < 1000, "{case}: {}", seen.len());
        assert!(seen.values().all(|&times| times == 1), "{case}");
    }
}

#[test]
fn otlp_json_is_an_export_request() {
    let (case, profile) = cases::all().swap_remove(0);
    let dir = Scratch::new(&format!("metrics-otlp-{case}"));
    file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let text = oshprof(&["metrics", "--job-id", "71.0", "--format", "otlp-json"], dir.path());
    let request: Value = serde_json::from_str(&text).unwrap();
    let metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let calls = metrics.iter().find(|metric| metric["name"] == "shmem.calls").unwrap();
    assert_eq!((&calls["unit"], &calls["sum"]["isMonotonic"]), (&"{call}".into(), &true.into()));
    assert_eq!(calls["sum"]["aggregationTemporality"], 2, "cumulative");
    let point = &calls["sum"]["dataPoints"][0];
    assert!(point["asInt"].is_string() && point["timeUnixNano"].is_string(), "64-bit numbers are strings: {point}");
    let duration = metrics.iter().find(|metric| metric["name"] == "shmem.call.duration").unwrap();
    let points = duration["exponentialHistogram"]["dataPoints"].as_array().unwrap();
    assert!(points.iter().any(|point| point["scale"] == 3 && point["count"] != "0"), "{duration}");
}

/// What Prometheus' own linter finds. Without promtool there is nobody to ask.
#[test]
fn promtool_has_nothing_to_say() {
    if Command::new("promtool").arg("--version").output().is_err() {
        eprintln!("promtool is not installed: not checked");
        return;
    }
    let (case, profile) = cases::all().swap_remove(0);
    let dir = Scratch::new(&format!("metrics-lint-{case}"));
    file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
    let text = oshprof(&["metrics"], dir.path());
    let file = dir.path().join("page.prom");
    std::fs::write(&file, text).unwrap();
    let output = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::from(std::fs::File::open(&file).unwrap()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim().is_empty(), "{said}");
}
