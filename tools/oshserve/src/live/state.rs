//! The numbers of the moment: what each PE does and has spent its time on, counters by routine, who sends to whom, who
//! waits for whom, who is late. Counters are sums since the start: whoever reads them twice has the rates.

use pellucid_profile::live::{For, PeNow, Waits, activity};
use pellucid_profile::merge::{LARGEST_CHART, Merged, PeRow};
use pellucid_profile::op::Class;
use pellucid_profile::text::visible;
use serde_json::{Value, json};

use crate::metrics::collect::{Identity, program};

/// PEs that have a row each; of more, ranges have.
const ROWS: usize = 64;
/// PEs in the graph of who waits for whom.
const NODES: usize = 64;
/// What a PE spends its time on, beside computing, and what was not recorded.
const PARTS: [(&str, &[Class]); 6] = [
    ("transfers", &[Class::Put, Class::Get, Class::Amo, Class::Signal, Class::Message]),
    ("fence and quiet", &[Class::Order]),
    ("barriers", &[Class::Barrier]),
    ("collectives", &[Class::Collective]),
    ("waits and locks", &[Class::Wait, Class::Test, Class::Lock]),
    (
        "other routines",
        &[Class::Setup, Class::Memory, Class::Team, Class::Context, Class::Query, Class::Control, Class::Io],
    ),
];

/// A job at one moment.
#[derive(Debug)]
pub struct Moment<'a> {
    /// Who.
    pub identity: &'a Identity,
    /// How it stands.
    pub state: &'static str,
    /// Sums over its PEs.
    pub merged: &'a Merged,
    /// Its PEs.
    pub pes: &'a [PeNow],
    /// Seconds since its start.
    pub seconds: f64,
}

/// All of it.
pub fn of(moment: &Moment<'_>) -> Value {
    let (merged, job) = (moment.merged, &moment.merged.job);
    let matrix = merged.matrix(LARGEST_CHART);
    let [used, size] =
        moment.pes.iter().fold([0_u64; 2], |[used, size], pe| [used.max(pe.heap.0), size.max(pe.memory[1])]);
    json!({
        "job": moment.identity.job_id,
        "program": visible(program(job)),
        "arguments": visible(&job.arguments),
        "host": visible(&job.host),
        "npes": job.npes,
        "state": moment.state,
        "seconds": moment.seconds,
        "parts": PARTS.map(|(name, _)| name),
        "pes": rows(moment),
        "routines": routines(merged),
        "matrix": { "labels": matrix.labels, "bytes": matrix.bytes },
        "waits": waits(moment),
        "late": late(merged),
        "heap": { "used": used, "size": size },
    })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A row for each PE, or for each range of them.
fn rows(moment: &Moment<'_>) -> Vec<Value> {
    let step = moment.pes.len().div_ceil(ROWS).max(1);
    let of = |pe: u32| moment.merged.pes.iter().find(|row| row.pe == pe);
    let row = |pes: &[PeNow]| {
        let known: Vec<&PeRow> = pes.iter().filter_map(|pe| of(pe.pe)).collect();
        let time = |classes: &[Class]| {
            known.iter().map(|row| row.time_ns(|class| classes.contains(&class))).fold(0_u64, u64::saturating_add)
        };
        let parts: Vec<f64> = PARTS.iter().map(|(_, classes)| seconds(time(classes))).collect();
        let sum = |of: fn(&PeRow) -> u64| known.iter().map(|row| of(row)).fold(0_u64, u64::saturating_add);
        let (wall, unrecorded) = (sum(PeRow::wall_ns), sum(|row| row.system.unrecorded_ns));
        let (main, library) = (sum(PeRow::main_ns), sum(PeRow::library_ns));
        let first = pes[0].pe;
        let label = match pes {
            [_] => first.to_string(),
            [.., last] => format!("{first}-{}", last.pe),
            [] => String::new(),
        };
        json!({
            "label": label, "parts": parts, "wall": seconds(wall), "unrecorded": seconds(unrecorded),
            "main": seconds(main), "library": seconds(library), "doing": doing(pes),
        })
    };
    moment.pes.chunks(step).map(row).collect()
}

/// What a PE does; of several, the state of each.
fn doing(pes: &[PeNow]) -> String {
    if let [one] = pes {
        return visible(&activity(one));
    }
    let mut states: Vec<(String, usize)> = Vec::new();
    for pe in pes {
        let name = format!("{:?}", pe.state).to_lowercase();
        match states.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => states.push((name, 1)),
        }
    }
    states.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

fn routines(merged: &Merged) -> Vec<Value> {
    let one = |routine: &pellucid_profile::model::Routine| {
        json!({
            "name": routine.name, "calls": routine.all_calls(), "bytes": routine.traffic_bytes(),
            "seconds": seconds(routine.measured_ns()),
        })
    };
    merged.routines.iter().map(one).collect()
}

fn waits(moment: &Moment<'_>) -> Value {
    let found = Waits::find(moment.pes);
    let on = |what: &For| match what {
        For::Members { missing, .. } => missing.clone(),
        For::Lock(Some(holder)) => vec![*holder],
        For::Answer(peer) | For::Reply { peer, .. } | For::Handler { peer, .. } => vec![*peer],
        For::Part { peer, perhaps: false } => vec![*peer],
        For::Request { peer, .. } => peer.iter().copied().collect(),
        For::Lock(None) | For::Store | For::Message { .. } | For::Part { .. } => Vec::new(),
    };
    let nodes = moment.pes.len().min(NODES);
    let is_node = |pe: u32| moment.pes[..nodes].iter().any(|known| known.pe == pe);
    let arrows: Vec<Value> = found
        .waits
        .iter()
        .flat_map(|wait| on(&wait.what).into_iter().map(move |to| (wait.pe, to)))
        .filter(|(from, to)| is_node(*from) && is_node(*to))
        .map(|(from, to)| json!([from, to]))
        .collect();
    let nodes: Vec<u32> = moment.pes[..nodes].iter().map(|pe| pe.pe).collect();
    json!({ "nodes": nodes, "arrows": arrows, "cycles": found.cycles, "text": found.text() })
}

/// By PE: what the others lost by its coming last, and in which routine most.
fn late(merged: &Merged) -> Vec<Value> {
    let mut by_pe: std::collections::BTreeMap<u32, (u64, u64, &str, u64)> = std::collections::BTreeMap::new();
    for row in &merged.late {
        for (pe, (times, lost)) in &row.by_pe {
            let sum = by_pe.entry(*pe).or_default();
            (sum.0, sum.1) = (sum.0.saturating_add(*times), sum.1.saturating_add(*lost));
            if *lost >= sum.3 {
                (sum.2, sum.3) = (&row.routine, *lost);
            }
        }
    }
    let mut all: Vec<_> = by_pe.into_iter().collect();
    all.sort_by_key(|(pe, (_, lost, ..))| (std::cmp::Reverse(*lost), *pe));
    let first = all.into_iter().take(16);
    let rows = first.map(|(pe, (times, lost, routine, _))| {
        json!({ "pe": pe, "times": times, "seconds": seconds(lost), "routine": routine })
    });
    rows.collect()
}
