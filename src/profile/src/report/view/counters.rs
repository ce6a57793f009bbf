//! Hardware and software counters.

use super::row::{Tables, View};
use crate::counters::KNOWN;
use crate::merge::Merged;
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

pub(super) static VIEW: View = View {
    name: "counters",
    title: "Counters: hardware and software",
    help: "hardware and software counters (oshrun --counters)",
    hint: "What processor and kernel counted, as a whole and in timed calls. Around a routine that waits, instructions \
           are those of waiting.",
    tables: Tables::Made(|p, o, _| grids(p, o)),
    ..View::BASE
};

pub(super) static UNAVAILABLE_VIEW: View = View {
    name: "unavailable",
    help: "counters that the system does not have",
    tables: Tables::OneOf(&VIEW, "counters_unavailable"),
    ..View::BASE
};

const COLUMNS: [Column; 10] = [
    column("of", "counter, of", Kind::Text),
    column("counter", "", Kind::Text),
    column("around", "", Kind::Text),
    column("name", "", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("value", "value", Kind::Count),
    column("per_call", "a call", Kind::Number),
    column("max_pe", "most: PE", Kind::Text),
    column("max_value", "its value", Kind::Count),
    column("pes", "PEs", Kind::Count),
];

const MISSING: [Column; 3] =
    [column("counter", "counter", Kind::Text), column("pes", "PEs", Kind::Count), column("reason", "why", Kind::Text)];

fn grids(profile: &Merged, options: &Options) -> Vec<Grid> {
    let mut grid = Grid::new(
        "counters",
        "Counters",
        &COLUMNS,
        "no counter was recorded: oshrun --counters cycles,page-faults (or SHMEM_COUNTERS) asks for them",
    );
    let mut block = "";
    for ((rank, around, name), sum) in &profile.counters.sums {
        let counter = KNOWN.get(*rank).map_or("(other)", |known| known.name);
        let of = if name.is_empty() { around.name().to_owned() } else { format!("{} {name}", around.name()) };
        // A counter's name stands above its block.
        let of = if counter == block { format!("  {of}") } else { format!("{counter}{}, {of}", unit(counter)) };
        block = counter;
        grid.row([
            Cell::Text(of),
            counter.into(),
            around.name().into(),
            Cell::from(Some(name.as_str()).filter(|name| !name.is_empty())),
            sum.calls.into(),
            sum.value.into(),
            sum.calls.filter(|&calls| calls > 0).map(|calls| sum.value as f64 / calls as f64).into(),
            Cell::Pe(sum.most.1),
            sum.most.0.into(),
            sum.pes.into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "run: all threads from initialization on. library: in timed calls; short calls are not read for, and count \
             as outside. Regions are without inner ones, of threads that call the library. Sums over the PEs."
                .to_owned(),
        );
        let mut counted: Vec<usize> = profile.counters.sums.keys().map(|(rank, ..)| *rank).collect();
        counted.dedup();
        let known = counted.into_iter().filter_map(|rank| KNOWN.get(rank));
        grid.notes.extend(known.map(|known| format!("{}{}: {}.", known.name, unit(known.name), known.what)));
    }
    if profile.counters.is_estimated {
        grid.notes.push("The processor had no room for all at once: their values are estimates.".to_owned());
    }
    let mut missing = Grid::new("counters_unavailable", "Not available", &MISSING, "");
    for ((_, name, remark), pes) in &profile.counters.missing {
        missing.row([name.as_str().into(), (*pes).into(), remark.as_str().into()]);
    }
    vec![grid, missing]
}

/// What follows the name of a counter that does not count events.
fn unit(counter: &str) -> &'static str {
    if counter == "task-clock" { " (ns)" } else { "" }
}
