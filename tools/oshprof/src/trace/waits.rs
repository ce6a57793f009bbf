//! Who ended waits: a table of which PE's update released which PE.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use pellucid_profile::file::ReadError;
use pellucid_profile::op::Op;
use pellucid_profile::report::grid::{Cell, Column, Grid, Kind, column};
use pellucid_profile::trace::read::{Trace, What};

use super::flows::{At, Flows};
use super::rows;

const COLUMNS: [Column; 7] = [
    column("waiting_pe", "waiting PE", Kind::Text),
    column("routine", "in", Kind::Text),
    column("ended_by_pe", "ended by PE", Kind::Text),
    column("ended_by", "with", Kind::Text),
    column("waits", "waits", Kind::Count),
    column("waited_ns", "waited", Kind::Time),
    column("mean_ns", "mean", Kind::Time),
];

/// Who waited in what, and who ended that with what.
type Key = (u32, &'static str, Option<(u32, &'static str)>);

/// The table; most waited first.
pub(super) fn table(trace: &Trace, problems: &mut Vec<ReadError>) -> Grid {
    let flows = Flows::find(trace, problems);
    let mut updates: HashMap<At, (u32, &'static str)> = HashMap::new();
    visit(trace, problems, |pe, at, op, _| {
        if flows.from.contains_key(&at) {
            updates.insert(at, (pe, op.name()));
        }
    });
    let mut sums: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
    visit(trace, problems, |pe, at, op, ns| {
        if rows::is_wait(op) {
            let by = flows.to.get(&at).and_then(|(_, from)| updates.get(from)).copied();
            let sum = sums.entry((pe, op.name(), by)).or_default();
            *sum = (sum.0 + 1, sum.1.saturating_add(ns));
        }
    });
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.1.cmp(&a.1.1).then_with(|| a.0.cmp(&b.0)));
    let mut grid = Grid::new("waits", "Who ended waits", &COLUMNS, "no wait is in the trace");
    for ((pe, name, by), (waits, ns)) in rows {
        grid.row([
            Cell::Pe(pe),
            name.into(),
            Cell::from(by.map(|(pe, _)| Cell::Pe(pe))),
            Cell::from(by.map(|(_, name)| name)),
            waits.into(),
            ns.into(),
            Cell::Real(ns as f64 / waits as f64),
        ]);
    }
    if !grid.rows.is_empty() {
        grid.notes
            .push("-: the condition held before, or several updates ran at the same time, or they were folded".into());
        grid.notes.push("(SHMEM_TRACE_DETAIL=full), or it was a wait for several variables, or for a lock.".into());
    }
    grid
}

/// Calls `each` with PE, place, routine and time of every call that has an event.
fn visit(trace: &Trace, problems: &mut Vec<ReadError>, mut each: impl FnMut(u32, At, &'static Op, u64)) {
    for (number, file) in trace.files.iter().enumerate() {
        let mut event_number = 0;
        file.for_each(problems, |event| {
            let at = (number, event_number);
            event_number += 1;
            if let What::Call(call) = &event.what {
                each(file.facts.pe, at, rows::routine(call), event.end_ns - event.start_ns);
            }
        });
    }
}

/// Writes the table for people, or as JSON.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, json: bool, out: &mut dyn Write) -> io::Result<()> {
    let grid = table(trace, problems);
    if json {
        writeln!(out, "{:#}", serde_json::json!({ "waits": grid.json() }))
    } else {
        out.write_all(grid.text().as_bytes())
    }
}
