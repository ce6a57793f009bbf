//! `oshprof export`: profiles in the formats that other people's tools read: a function a format, a row of [`FORMATS`] each.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use serde_json::{Value, json};

use crate::args::Command;
use crate::compare::metric;
use crate::compare::place::Places;
use crate::compare::run::{Cell, Run};
use crate::history::store::{Entry, Store};
use crate::resolve::Resolver;
use crate::stats::median;
use crate::{FAILED, diff, print};

const HELP: &str = "\
usage: oshprof export DIR... --to FORMAT [-o FILE]
       oshprof export --to otava --store S [--suite NAME] [-o FILE]

Writes profiles in a format that another program reads. Several profiles are runs of one program.

  --to FORMAT  benchstat    Go's benchmark format: calls and bytes as exact units
               gab          github-action-benchmark, customSmallerIsBetter
               bmf          Bencher Metric Format
               openmetrics  for GitLab's artifacts:reports:metrics
               hatchet      literal of hatchet.GraphFrame.from_literal, as JSON
               csv          a row a run, call site and PE
               otava        CSV of Apache Otava, from a store of `oshprof history`
  -o FILE      write there instead of standard output
  -h, --help   this text

Exit status: 0 written, 1 something could not be read or written, 2 wrong usage.
";

/// Makes the text from runs of one program.
type Make = fn(&[Run]) -> String;

/// Every format of profiles.
const FORMATS: [(&str, Make); 6] = [
    ("benchstat", benchstat),
    ("gab", gab),
    ("bmf", bmf),
    ("openmetrics", openmetrics),
    ("hatchet", hatchet),
    ("csv", csv),
];

/// `oshprof export`.
#[derive(Debug)]
pub struct Request {
    dirs: Vec<PathBuf>,
    /// `None`: Otava's, from a store.
    make: Option<Make>,
    store: PathBuf,
    suite: Option<String>,
    output: Option<PathBuf>,
}

/// Understands the rest of the command line.
///
/// # Errors
/// A message that names the argument.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let (mut dirs, mut to, mut store, mut suite, mut output) = (Vec::new(), None, None, None, None);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        let name = match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
            Arg::Value(dir) => {
                dirs.push(PathBuf::from(dir));
                continue;
            }
            Arg::Short('o') => "output".to_owned(),
            Arg::Long(name) => name.to_owned(),
            other => return Err(format!("export: {}", other.unexpected())),
        };
        let value = parser.value().map_err(|_| format!("export: --{name} needs a value"))?;
        let value = value.string().map_err(|error| format!("export: --{name}: {error}"))?;
        match name.as_str() {
            "to" => to = Some(value),
            "store" => store = Some(PathBuf::from(value)),
            "suite" => suite = Some(value),
            "output" => output = Some(PathBuf::from(value)),
            _ => return Err(format!("export: invalid option '--{name}'")),
        }
    }
    let names = || FORMATS.map(|(name, _)| name).join(", ");
    let to = to.ok_or_else(|| format!("export: --to is missing; there are: {}, otava", names()))?;
    let make = FORMATS.iter().find(|(name, _)| *name == to).map(|(_, make)| *make);
    match (to.as_str(), make, dirs.is_empty(), &store) {
        ("otava", _, true, Some(_)) | (_, Some(_), false, None) => {}
        ("otava", ..) => return Err("export: otava is made from a store: --store S, and no directory".to_owned()),
        (_, None, ..) => return Err(format!("export: --to `{to}` is unknown; there are: {}, otava", names())),
        _ => return Err("export: the directory of a profile is missing (--store is for otava)".to_owned()),
    }
    Ok(Command::Export(Request { dirs, make, store: store.unwrap_or_default(), suite, output }))
}

/// Writes it.
pub fn run(request: &Request) -> ExitCode {
    let text = match request.make {
        Some(make) => {
            let symbols = Resolver::default();
            let places = Places::new(&symbols);
            let Some(runs) = diff::read(&request.dirs, &places) else { return ExitCode::from(FAILED) };
            Ok(make(&runs))
        }
        None => otava(request),
    };
    let written = text.and_then(|text| match &request.output {
        None => Ok(print(&text)),
        Some(path) => {
            std::fs::write(path, text).map(|()| ExitCode::SUCCESS).map_err(|e| format!("{}: {e}", path.display()))
        }
    });
    written.unwrap_or_else(|message| {
        eprintln!("oshprof: {message}");
        ExitCode::from(FAILED)
    })
}

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

/// Text without what a format takes for a separator.
fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:-#~<>".contains(c);
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn benchstat(runs: &[Run]) -> String {
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
fn medians(runs: &[Run]) -> Vec<(String, f64, f64, f64)> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, ns) in runs.iter().flat_map(metric::values) {
        values.entry(name).or_default().push(ns);
    }
    let row = |(name, list): (String, Vec<f64>)| {
        let least = list.iter().copied().fold(f64::INFINITY, f64::min);
        let most = list.iter().copied().fold(0.0, f64::max);
        (name, median(&list), least, most)
    };
    values.into_iter().map(row).collect()
}

/// Calls and bytes of the first run, over all sites.
fn totals(runs: &[Run]) -> [(&'static str, u64); 2] {
    let mut all = crate::compare::Amount::default();
    runs.iter().take(1).flat_map(|run| run.sites.values()).for_each(|amount| all.add(*amount));
    [("calls", all.calls), ("bytes", all.bytes)]
}

fn gab(runs: &[Run]) -> String {
    let program =
        runs.first().map(|run| run.job.program.rsplit('/').next().unwrap_or_default().to_owned()).unwrap_or_default();
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

fn bmf(runs: &[Run]) -> String {
    let mut object = serde_json::Map::new();
    for (name, value, least, most) in medians(runs) {
        object.insert(name, json!({ "latency": { "value": value, "lower_value": least, "upper_value": most } }));
    }
    for (name, value) in totals(runs) {
        object.insert(name.to_owned(), json!({ name: { "value": value } }));
    }
    format!("{:#}\n", Value::Object(object))
}

fn openmetrics(runs: &[Run]) -> String {
    let mut out = String::new();
    for (name, value, _, _) in medians(runs) {
        out.push_str(&format!("shmem_time_seconds{{of=\"{}\"}} {}\n", plain(&name), value / 1e9));
    }
    for (name, value) in totals(runs) {
        out.push_str(&format!("shmem_{name} {value}\n"));
    }
    out + "# EOF\n"
}

/// Program, region, function, routine; time is the mean of the runs, over all PEs.
fn hatchet(runs: &[Run]) -> String {
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
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn csv(runs: &[Run]) -> String {
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

/// A line a run: time, commit, metrics in nanoseconds.
fn otava(request: &Request) -> Result<String, String> {
    let mut entries: Vec<Entry> = Store::open(&request.store)?.all()?;
    let suite = request.suite.clone().or_else(|| entries.first().map(|entry| entry.suite.clone()));
    entries.retain(|entry| Some(&entry.suite) == suite.as_ref());
    if entries.is_empty() {
        return Err(format!("{}: no run of this series", request.store.display()));
    }
    let mut names: Vec<String> = entries.iter().flat_map(|entry| entry.metrics.keys().cloned()).collect();
    names.sort();
    names.dedup();
    let mut out = format!(
        "time,commit,branch,{}\n",
        names.iter().map(|name| quoted(&name.replace(':', "_"))).collect::<Vec<_>>().join(",")
    );
    for entry in &entries {
        let date = pellucid_profile::report::shown_date(entry.time.saturating_mul(1_000_000_000));
        let time = date.trim_end_matches(" UTC").replace(' ', "T");
        let values = names.iter().map(|name| entry.metrics.get(name).map_or(String::new(), f64::to_string));
        let values: Vec<String> = values.collect();
        out.push_str(&format!(
            "{time}+00:00,{},{},{}\n",
            quoted(&entry.commit),
            quoted(&entry.branch),
            values.join(",")
        ));
    }
    Ok(out)
}
