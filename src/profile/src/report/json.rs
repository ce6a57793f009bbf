//! The report for programs. `docs/profile-json.md` is its reference: change both together.

use serde_json::{Map, Value, json};

use super::balance::{WAITING, balance, library_ns};
use super::symbols::Symbols;
use super::{Options, View, merge, notes, sort, view, views};
use crate::model::{End, Pe, Profile, Progress, Routine};
use crate::size::{Distance, size_bounds};

/// `schema_version`: raised when a member changes its meaning or goes away, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// The report as one JSON object. `problems` are what could not be read of the profile.
pub fn json(profile: &Profile, options: &Options, problems: &[String], symbols: &dyn Symbols) -> String {
    let job = &profile.job;
    let mut routines = merge::routines(&profile.pes);
    sort::select(&mut routines, options.sort, options.top);
    let level = profile.pes.iter().map(|pe| pe.level).max().unwrap_or(0);
    let mut object = json!({
        "schema_version": SCHEMA_VERSION,
        "program": job.program,
        "arguments": job.arguments,
        "directory": job.directory,
        "hosts": merge::hosts(profile),
        "pes": job.npes,
        "start_realtime_ns": job.start_realtime_ns,
        "wall_ns": job.wall_ns,
        "exit_status": job.exit_status,
        "level": level,
        "overhead_ns": profile.pes.iter().map(Pe::overhead_ns).fold(0_u64, u64::saturating_add),
        "notes": notes(profile),
        "problems": problems,
        "routines": routine_list(&routines, merge::run_time_ns(&profile.pes)),
        "balance": balance_list(&profile.pes),
    });
    let (name, list): (&str, Vec<Value>) = match options.view {
        View::Routine => return pretty(&object),
        View::Pe => ("per_pe", profile.pes.iter().map(|pe| pe_object(pe, options)).collect()),
        View::Size => ("per_size", routines.iter().flat_map(sizes).collect()),
        View::Peer => ("per_peer", routines.iter().flat_map(distances).collect()),
        View::Matrix => {
            object["matrix"] = matrix_object(profile);
            return pretty(&object);
        }
        _ => {
            for grid in view::grids(options.view, profile, options, symbols) {
                object[grid.name] = grid.json();
            }
            return pretty(&object);
        }
    };
    object[name] = Value::Array(list);
    pretty(&object)
}

/// Rows are origins, columns targets.
fn matrix_object(profile: &Profile) -> Value {
    let m = view::matrix(profile, view::LARGEST);
    json!({
        "by": if m.by_pe { "pe" } else { "group" },
        "labels": m.labels,
        "bytes": m.bytes,
        "calls": m.calls,
        "elsewhere": { "bytes": m.elsewhere.bytes, "calls": m.elsewhere.calls },
    })
}

fn pretty(object: &Value) -> String {
    // Indented output of `Value` cannot fail: its keys are text.
    format!("{object:#}\n")
}

fn routine_list(routines: &[Routine], run_time_ns: f64) -> Vec<Value> {
    routines.iter().map(|r| routine(r, run_time_ns)).collect()
}

fn routine(r: &Routine, run_time_ns: f64) -> Value {
    let share = if run_time_ns > 0.0 { r.spent_ns() as f64 / run_time_ns } else { 0.0 };
    json!({
        "name": r.name,
        "class": r.class.name(),
        "calls": r.all_calls(),
        "bytes": r.all_bytes(),
        "errors": r.errors,
        "time_ns": {
            "total": r.total_ns,
            "mean": r.mean_ns(),
            "p50": r.quantile_ns(0.5),
            "p99": r.quantile_ns(0.99),
            "max": r.max_ns,
            "total_stderr": r.total_stderr_ns(),
        },
        "timed_calls": r.timed_calls,
        "estimated": r.estimated,
        "unfinished_calls": r.unfinished,
        "unfinished_ns": r.unfinished_ns,
        "share": share,
    })
}

fn balance_list(pes: &[Pe]) -> Vec<Value> {
    let item = |b: super::Balance| {
        json!({
            "what": b.what,
            "mean_ns": b.mean_ns,
            "min_ns": b.min.1,
            "min_pe": b.min.0,
            "max_ns": b.max.1,
            "max_pe": b.max.0,
            "imbalance_percent": b.imbalance_percent(),
        })
    };
    balance(pes).into_iter().map(item).collect()
}

fn pe_object(pe: &Pe, options: &Options) -> Value {
    let mut routines = pe.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    let waiting: Map<String, Value> =
        WAITING.iter().map(|(name, pick)| ((*name).to_owned(), json!(pick(pe)))).collect();
    let (exit_status, signal) = match pe.end {
        End::Unknown | End::Stopped => (None, None),
        End::Exited(status) => (Some(status), None),
        End::Killed(signal) => (None, Some(signal)),
    };
    let last = pe.last.as_ref().map(
        |last| json!({ "routine": last.routine, "inside": last.inside, "peer": last.peer, "since_ns": last.since_ns }),
    );
    json!({
        "pe": pe.pe,
        "host": pe.host,
        "pid": pe.pid,
        "wall_ns": pe.wall_ns(),
        "start_ns": pe.start_ns,
        "init_ns": pe.init_ns,
        "finalize_ns": pe.finalize_ns,
        "end_ns": pe.end_ns,
        "initialized": pe.progress != Progress::Attached,
        "finalized": pe.progress == Progress::Finalized,
        "exit_status": exit_status,
        "signal": signal,
        "stopped": pe.end == End::Stopped,
        "last": last,
        "threads": pe.threads,
        "library_ns": library_ns(pe),
        "waiting_ns": waiting,
        "routines": routine_list(&routines, pe.wall_ns() as f64),
    })
}

fn sizes(r: &Routine) -> Vec<Value> {
    let item = |(class, calls, bytes): (u8, u64, u64)| {
        let (low, high) = size_bounds(usize::from(class));
        json!({ "name": r.name, "min_bytes": low, "max_bytes": high, "calls": calls, "bytes": bytes })
    };
    views::by_class(r).into_iter().map(item).collect()
}

fn distances(r: &Routine) -> Vec<Value> {
    let counted = Distance::ALL.into_iter().filter(|&d| r.calls[d as usize] > 0);
    counted
        .map(|d| json!({ "name": r.name, "distance": d.name(), "calls": r.calls[d as usize], "bytes": r.bytes[d as usize] }))
        .collect()
}
