//! Nonblocking operations, from issue to completion.

use super::row::{Tables, View};
use crate::merge::Merged;
use crate::op;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::size::Distance;

pub(super) static VIEW: View = View {
    name: "nbi",
    title: "Nonblocking operations: issue to completion",
    help: "nonblocking operations from issue to completion",
    hint: "What nonblocking operations leave to the program. An overlap near 100 %: it works while data moves; near 0: \
           it waits for them at once.",
    tables: Tables::Made(|p, _, _| grids(p)),
    ..View::BASE
};

pub(super) static HANDLES_VIEW: View = View {
    name: "handles",
    help: "those with handles alone, by routine",
    tables: Tables::OneOf(&VIEW, "handles"),
    ..View::BASE
};

const COLUMNS: [Column; 14] = [
    column("pe", "PE", Kind::Text),
    column("issued", "issued", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("gb_per_s", "rate", Kind::Rate),
    column("batches", "batches", Kind::Count),
    column("completed", "", Kind::Count),
    column("open_ns", "open", Kind::Time),
    column("mean_batch_ns", "a batch", Kind::Time),
    column("max_batch_ns", "longest", Kind::Time),
    column("issuing_ns", "issuing", Kind::Time),
    column("blocked_ns", "", Kind::Time),
    column("completing_ns", "completing", Kind::Time),
    column("waiting_ns", "waiting", Kind::Time),
    column("overlap", "overlap", Kind::Share),
];

fn grids(profile: &Merged) -> Vec<Grid> {
    vec![grid(profile), handles(profile)]
}

fn grid(profile: &Merged) -> Grid {
    let mut grid = Grid::new("nbi", "Nonblocking operations", &COLUMNS, "no nonblocking operation was issued");
    for pe in profile.pes.iter().filter(|pe| pe.nbi.issued > 0) {
        let n = &pe.nbi;
        let mean = (n.batches > 0).then(|| n.ns as f64 / n.batches as f64);
        let overlap = (n.ns > 0).then(|| pe.overlapped_ns() as f64 / n.ns as f64);
        let about = |cell: Cell| if pe.is_issuing_estimated { cell.about() } else { cell };
        grid.row([
            Cell::Pe(pe.pe),
            n.issued.into(),
            n.bytes.into(),
            (n.ns > 0).then(|| n.bytes as f64 / n.ns as f64).into(),
            n.batches.into(),
            n.completed.into(),
            n.ns.into(),
            mean.into(),
            n.max_ns.into(),
            about(pe.issuing_ns.into()),
            n.blocked_ns.into(),
            n.blocked_ns.saturating_sub(pe.nbi_waiting_ns).into(),
            pe.nbi_waiting_ns.into(),
            about(overlap.into()),
        ]);
    }
    let remote = profile.routines.iter().filter(|routine| op::has(&routine.name, op::NONBLOCKING));
    if remote.map(|routine| routine.calls[Distance::Remote as usize]).sum::<u64>() == 0 && !grid.rows.is_empty() {
        grid.notes.push(
            "Within a host nonblocking operations are done when they are issued: nothing is left to overlap."
                .to_owned(),
        );
    }
    if !grid.rows.is_empty() {
        grid.notes.push(
            "Rate: bytes over the time in which something was open. A batch lasts from its first issue to the return \
             of the quiet or \
             barrier that completes it; completing is the time in that call, without waiting for PEs that come late to \
             the barrier, \
             issuing that in the calls that issue, overlap the share of the batches that the program had for itself."
                .to_owned(),
        );
    }
    grid
}

const HANDLES: [Column; 6] = [
    column("routine", "with a handle", Kind::Text),
    column("requests", "requests", Kind::Count),
    column("open_ns", "open", Kind::Time),
    column("mean_open_ns", "a request", Kind::Time),
    column("waited_ns", "waited", Kind::Time),
    column("overlap", "overlap", Kind::Share),
];

/// Operations with handles, by the routine that begins them.
fn handles(profile: &Merged) -> Grid {
    let mut grid = Grid::new("handles", "Operations with handles", &HANDLES, "").of_sums("Operations and times");
    for of in &profile.requests {
        let share = (of.open_ns > 0).then(|| 1.0 - (of.waited_ns as f64 / of.open_ns as f64).min(1.0));
        let routine = if of.routine.is_empty() { "(others)" } else { &of.routine };
        grid.row([
            Cell::Text(routine.to_owned()),
            of.ended.into(),
            of.open_ns.into(),
            Cell::Real(of.open_ns as f64 / of.ended.max(1) as f64),
            of.waited_ns.into(),
            share.into(),
        ]);
    }
    if !grid.rows.is_empty() {
        grid.notes.push(
            "From the begin of an operation until the library has seen that it is complete; waited: the part of it in \
             which the program waited for its request. Operations that were complete when they returned are not in \
             it. Who was the last in them: --view causes."
                .to_owned(),
        );
    }
    grid
}
