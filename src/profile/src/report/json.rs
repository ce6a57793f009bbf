//! The report for programs. `docs/profile-json.md` is its reference: change both together.

use std::io;

use serde_json::{Map, Value, json};

use super::balance::{WAITING, balance};
use super::symbols::Symbols;
use super::view::Json;
use super::{Options, View, merge, notes, sort, view};
use crate::merge::{Merged, PeRow, PeSource};
use crate::model::{End, Pe, Progress, Routine};

/// `schema_version`: raised when a member changes its meaning or goes away, not when one is added.
pub const SCHEMA_VERSION: u32 = 3;

/// The report as one JSON object, written to `out`. `problems` are what could not be read of the profile; `source` is
/// asked for the routines of each PE where the view has them.
///
/// # Errors
/// Those of `out`.
pub fn json(
    (profile, source): (&Merged, &dyn PeSource),
    options: &Options,
    problems: &[String],
    symbols: &dyn Symbols,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let job = &profile.job;
    let known = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    let level = profile.pes.iter().map(|pe| pe.level).max().unwrap_or(0);
    let mut object = json!({
        "schema_version": SCHEMA_VERSION,
        "program": job.program,
        "arguments": job.arguments,
        "directory": job.directory,
        "library": known(&job.library),
        "job_id": known(&job.identity.id),
        "step": known(&job.identity.step),
        "launcher": known(&job.identity.launcher),
        "hosts": merge::hosts(profile),
        "pes": job.npes,
        "start_realtime_ns": job.start_realtime_ns,
        "wall_ns": job.wall_ns,
        "exit_status": job.exit_status,
        "level": level,
        "overhead_ns": profile.pes.iter().map(|pe| pe.overhead_ns).fold(0_u64, u64::saturating_add),
        "notes": notes(profile, symbols),
        "problems": problems,
        "routines": routine_list(&routines, merge::run_time_ns(&profile.pes), Some(profile)),
        "balance": balance_list(&profile.pes),
        "errors_by_code": errors_by_code(profile),
    });
    let is_all = options.view == view::ALL;
    let asked: Vec<&View> = if is_all { view::whole_views().collect() } else { vec![options.view] };
    let mut by_pe = false;
    for view in asked {
        match view.json {
            Json::Nothing => {}
            Json::Pes => by_pe = true,
            Json::Member(name, make) => object[name] = make(profile, &routines),
            Json::Tables => {
                for grid in view::grids(view, profile, options, symbols) {
                    object[grid.name] = grid.json();
                }
            }
        }
    }
    if by_pe { with_pes(object, source, options, out) } else { pretty(&object, out) }
}

fn errors_by_code(profile: &Merged) -> Vec<Value> {
    let item = |&(code, calls): &(u32, u64)| {
        let name = notes::error_name(code);
        json!({ "code": -i64::from(code), "name": name, "calls": calls })
    };
    profile.errors.iter().map(item).collect()
}

/// The PEs one by one, so that there is never more than one in memory.
fn with_pes(mut object: Value, source: &dyn PeSource, options: &Options, out: &mut dyn io::Write) -> io::Result<()> {
    object["per_pe"] = json!([]);
    let text = format!("{object:#}");
    let (begin, end) = text.rsplit_once("[]").unwrap_or((&text, ""));
    write!(out, "{begin}[")?;
    let mut order: Vec<(u32, usize)> =
        (0..source.len()).filter_map(|at| source.head(at).map(|head| (head.pe, at))).collect();
    order.sort_unstable();
    let mut between = "";
    for (_, at) in order {
        if let Some(pe) = source.pe(at) {
            let pe = format!("{:#}", pe_object(&pe, options)).replace('\n', "\n    ");
            write!(out, "{between}\n    {pe}")?;
            between = ",";
        }
    }
    let close = if between.is_empty() { "]" } else { "\n  ]" };
    writeln!(out, "{close}{end}")
}

fn pretty(object: &Value, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{object:#}")
}

fn routine_list(routines: &[Routine], run_time_ns: f64, all: Option<&Merged>) -> Vec<Value> {
    let item = |r: &Routine| {
        let mut object = routine(r, run_time_ns);
        if let Some((ns, pe)) = all.and_then(|profile| profile.most_of(&r.name)) {
            object["max_pe"] = pe.into();
            object["max_pe_ns"] = ns.into();
        }
        let taken = all.map(|profile| taken(profile, &r.name)).unwrap_or_default();
        if !taken.is_empty() {
            object["algorithms"] = taken.into();
        }
        object
    };
    routines.iter().map(item).collect()
}

/// The algorithms that a routine's calls have taken.
fn taken(profile: &Merged, routine: &str) -> Vec<Value> {
    let of_routine = profile.algorithms.iter().filter(|((of, _), _)| of == routine);
    of_routine.map(|((_, name), calls)| json!({ "name": name, "calls": calls })).collect()
}

fn routine(r: &Routine, run_time_ns: f64) -> Value {
    let timed = |value: Value| if r.timed_calls == 0 { Value::Null } else { value };
    let total = if r.timed_calls == 0 && r.unfinished == 0 { Value::Null } else { json!(r.spent_ns()) };
    json!({
        "name": r.name,
        "class": r.class.name(),
        "calls": r.all_calls(),
        "bytes": r.all_bytes(),
        "errors": r.errors,
        "time_ns": {
            "total": total,
            "mean": timed(json!(r.mean_ns())),
            "p50": timed(json!(r.quantile_ns(0.5))),
            "p99": timed(json!(r.quantile_ns(0.99))),
            "max": timed(json!(r.max_ns)),
            "total_stderr": timed(json!(r.total_stderr_ns())),
        },
        "timed_calls": r.timed_calls,
        "estimated": r.estimated,
        "sampled_sites": r.sampled_sites,
        "bounded": r.is_bounded(),
        "unfinished_calls": r.unfinished,
        "unfinished_ns": r.unfinished_ns,
        "share": merge::share(r, run_time_ns),
    })
}

fn balance_list(pes: &[PeRow]) -> Vec<Value> {
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
    let row = PeRow::from(pe);
    let mut routines = pe.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    let waiting: Map<String, Value> =
        WAITING.iter().map(|(name, pick)| ((*name).to_owned(), json!(pick(&row)))).collect();
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
        "main_ns": pe.main_ns(),
        "unrecorded_ns": row.system.unrecorded_ns,
        "run_ns": row.threads_ns(),
        "library_ns": row.library_ns(),
        "waiting_ns": waiting,
        "overhead_ns": row.overhead_ns,
        "on_core_ns": Some(row.on_core_ns()).filter(|ns| *ns > 0),
        "queued_ns": row.queued_ns(),
        "routines": routine_list(&routines, row.main_ns() as f64, None),
    })
}
