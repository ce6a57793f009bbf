//! Profiles for other programs: a function a format.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use pellucid_profile::op::{self, Class};

use crate::compare::run::{Cell, Run};
use crate::compare::{Amount, metric};
use crate::stats::median;

/// A call site for a tool: routine, function, number among its calls of the routine, region.
fn names(run: &Run) -> Vec<(String, String, u32, String)> {
    let mut last: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    let mut ordinal: BTreeMap<&crate::compare::run::SiteKey, u32> = BTreeMap::new();
    for key in run.sites.keys() {
        let number = last.entry((&key.op, &key.place.function, &key.region)).or_default();
        *number += 1;
        ordinal.insert(key, *number);
    }
    run.keys.iter().map(|key| (key.op.clone(), key.place.function.clone(), ordinal[key], key.region.clone())).collect()
}

/// Sums over PEs by the place of a site in `keys`.
fn sums(run: &Run) -> Vec<Cell> {
    let mut sums = vec![Cell::default(); run.keys.len()];
    for ((site, _), cell) in &run.cells {
        sums[*site].amount.add(cell.amount);
        sums[*site].ns = sums[*site].ns.saturating_add(cell.ns);
    }
    sums
}

/// Text without what a format takes for a separator: as in addresses of the web, so that no two names become one.
fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_.:-#~<>".contains(c);
    let mut out = String::new();
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        }
    }
    out
}

/// Text as the value of a label of OpenMetrics.
pub fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Go's benchmark format: calls and bytes as exact units.
pub fn benchstat(runs: &[&Run]) -> String {
    let mut out = String::from("Unit calls/run assume=exact\nUnit bytes/run assume=exact\n");
    for run in runs {
        for ((op, function, number, region), cell) in names(run).into_iter().zip(sums(run)) {
            let region = if region.is_empty() { String::new() } else { format!("/region={}", plain(&region)) };
            let name = format!("Shmem/op={}/site={}#{number}{region}", plain(&op), plain(&function));
            let each = cell.ns as f64 / cell.amount.calls.max(1) as f64;
            let (calls, bytes) = (cell.amount.calls, cell.amount.bytes);
            out.push_str(&format!("Benchmark{name} {calls} {each} ns/op {calls} calls/run {bytes} bytes/run\n"));
        }
        for (name, ns) in metric::values(run) {
            out.push_str(&format!("BenchmarkTime/of={} 1 {ns} ns/op\n", plain(&name)));
        }
    }
    out
}

/// Median, least and greatest of each metric.
fn medians(runs: &[&Run]) -> Vec<(String, f64, f64, f64)> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, ns) in runs.iter().flat_map(|run| metric::values(run)) {
        values.entry(name).or_default().push(ns);
    }
    let row = |(name, list): (String, Vec<f64>)| {
        let least = list.iter().copied().fold(f64::INFINITY, f64::min);
        let most = list.iter().copied().fold(0.0, f64::max);
        (name, median(&list), least, most)
    };
    values.into_iter().map(row).collect()
}

/// Calls and bytes of the first run, over all sites; an allocation moves none.
fn totals(runs: &[&Run]) -> [(&'static str, u64); 2] {
    let allocates = |op: &str| op::class_of(op) == Some(Class::Memory);
    let mut all = crate::compare::Amount::default();
    for (site, amount) in runs.iter().take(1).flat_map(|run| &run.sites) {
        all.add(Amount { bytes: if allocates(&site.op) { 0 } else { amount.bytes }, ..*amount });
    }
    [("calls", all.calls), ("bytes", all.bytes)]
}

/// github-action-benchmark, `customSmallerIsBetter`.
pub fn gab(runs: &[&Run]) -> String {
    let program = runs.first().map(|run| run.program()).unwrap_or_default();
    let mut list: Vec<Value> = medians(runs)
        .into_iter()
        .map(|(name, value, least, most)| {
            let name = format!("{program} {name}");
            json!({ "name": name, "unit": "ns", "value": value, "range": format!("± {}", (most - least) / 2.0) })
        })
        .collect();
    list.extend(
        totals(runs).map(|(name, value)| json!({ "name": format!("{program} {name}"), "unit": name, "value": value })),
    );
    format!("{:#}\n", Value::Array(list))
}

/// Bencher Metric Format.
pub fn bmf(runs: &[&Run]) -> String {
    let mut object = serde_json::Map::new();
    for (name, value, least, most) in medians(runs) {
        object.insert(name, json!({ "latency": { "value": value, "lower_value": least, "upper_value": most } }));
    }
    for (name, value) in totals(runs) {
        object.insert(name.to_owned(), json!({ name: { "value": value } }));
    }
    format!("{:#}\n", Value::Object(object))
}

/// For GitLab's `artifacts:reports:metrics`.
pub fn openmetrics(runs: &[&Run]) -> String {
    let mut out = String::new();
    for (name, value, _, _) in medians(runs) {
        out.push_str(&format!("shmem_time_seconds{{of=\"{}\"}} {}\n", label(&name), value / 1e9));
    }
    for (name, value) in totals(runs) {
        out.push_str(&format!("shmem_{name} {value}\n"));
    }
    out + "# EOF\n"
}

/// Program, region, function, routine; time is the mean of the runs, over all PEs.
pub fn hatchet(runs: &[&Run]) -> String {
    type Leaf = (f64, f64, f64);
    let mut tree: BTreeMap<String, BTreeMap<String, BTreeMap<String, Leaf>>> = BTreeMap::new();
    let mut own: BTreeMap<String, f64> = BTreeMap::new();
    let share = 1.0 / runs.len().max(1) as f64;
    for run in runs {
        for ((op, function, _, region), cell) in names(run).into_iter().zip(sums(run)) {
            let leaf = tree.entry(region).or_default().entry(function).or_default().entry(op).or_default();
            leaf.0 += share * cell.ns as f64 / 1e9;
            leaf.1 += share * cell.amount.calls as f64;
            leaf.2 += share * cell.amount.bytes as f64;
        }
        for ((region, _), ns) in &run.own {
            *own.entry(region.clone()).or_default() += share * (*ns).max(0) as f64 / 1e9;
            tree.entry(region.clone()).or_default();
        }
    }
    let node = |name: &str, kind: &str, (time, calls, bytes): Leaf, children: Vec<Value>| -> Value {
        let inner: f64 = children.iter().filter_map(|child| child["metrics"]["time (inc)"].as_f64()).sum();
        json!({
            "frame": { "name": name, "type": kind },
            "metrics": { "time": time, "time (inc)": time + inner, "calls": calls, "bytes": bytes },
            "children": children,
        })
    };
    let regions = tree.into_iter().map(|(region, functions)| {
        let functions = functions.into_iter().map(|(function, routines)| {
            let routines = routines.into_iter().map(|(op, leaf)| node(&op, "routine", leaf, Vec::new())).collect();
            node(&function, "function", Leaf::default(), routines)
        });
        let time = own.get(&region).copied().unwrap_or(0.0);
        let name = if region.is_empty() { "(outside of regions)" } else { &region };
        node(name, "region", (time, 0.0, 0.0), functions.collect())
    });
    let program = runs.first().map(|run| run.job.program.clone()).unwrap_or_default();
    format!("{:#}\n", json!([node(&program, "program", Leaf::default(), regions.collect())]))
}

/// A cell of CSV, as RFC 4180 has it.
pub fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// A row a run, call site and PE.
pub fn csv(runs: &[&Run]) -> String {
    let mut out = String::from("run,op,site,ordinal,region,pe,calls,bytes,total_ns\r\n");
    for (at, run) in runs.iter().enumerate() {
        let names = names(run);
        for ((site, pe), cell) in &run.cells {
            let (op, function, number, region) = &names[*site];
            let (op, function, region) = (quoted(op), quoted(function), quoted(region));
            let (calls, bytes, ns) = (cell.amount.calls, cell.amount.bytes, cell.ns);
            out.push_str(&format!("{at},{op},{function},{number},{region},{pe},{calls},{bytes},{ns}\r\n"));
        }
    }
    out
}
