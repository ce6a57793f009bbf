//! By PE.

use super::row::{Json, Tables, View};
use crate::merge::{Merged, PeRow};
use crate::report::balance::WAITING;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::table::{self, Table};
use crate::report::{distinct_names, text, units};

pub(super) static VIEW: View = View {
    name: "pe",
    aliases: &["pes"],
    title: "PEs",
    help: "one line a PE",
    hint: "A row a PE. The one that waits least is the one that the others wait for.",
    tables: Tables::Made(|p, _, _| vec![grid(p)]),
    text: Some(|p, _| vec![by_pe(p), text::balance_of(&p.pes)]),
    json: Json::Pes,
    ..View::BASE
};

const COLUMNS: [Column; 15] = [
    column("pe", "PE", Kind::Text),
    column("host", "host", Kind::Text),
    column("wall_ns", "", Kind::Time),
    column("main_ns", "run time", Kind::Time),
    column("run_ns", "", Kind::Time),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("library_ns", "library", Kind::Time),
    column("barriers_ns", "barriers", Kind::Time),
    column("waits_ns", "waits", Kind::Time),
    column("collectives_ns", "collectives", Kind::Time),
    column("locks_ns", "locks", Kind::Time),
    column("overhead_ns", "profiling", Kind::Time),
    column("on_core_ns", "", Kind::Time),
    column("queued_ns", "", Kind::Time),
];

fn grid(profile: &Merged) -> Grid {
    let mut grid = Grid::new("pes", "PEs", &COLUMNS, "no PE recorded anything");
    for pe in &profile.pes {
        let waiting = WAITING.iter().map(|(_, pick)| Cell::Whole(pick(pe)));
        let mut row: Vec<Cell> = vec![
            Cell::Pe(pe.pe),
            (&*pe.host).into(),
            pe.wall_ns().into(),
            pe.main_ns().into(),
            pe.threads_ns().into(),
            pe.all_calls().into(),
            pe.bytes.into(),
            pe.library_ns().into(),
        ];
        row.extend(waiting);
        row.push(Cell::Whole(pe.overhead_ns));
        row.push(Some(pe.on_core_ns()).filter(|ns| *ns > 0).into());
        row.push(pe.queued_ns().into());
        grid.row(row);
    }
    grid
}

/// The table as text has it, with hosts beside PEs.
fn by_pe(profile: &Merged) -> String {
    if profile.pes.is_empty() {
        return "no PE recorded anything\n".to_owned();
    }
    let columns = [
        ("host", 10),
        ("run", 9),
        ("calls", 8),
        ("bytes", 9),
        ("library", 9),
        ("%", 6),
        (WAITING[0].0, 9),
        (WAITING[1].0, 8),
        ("coll.", 8),
    ];
    let mut hosts: Vec<String> = profile.pes.iter().map(|pe| pe.host.to_string()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    // What the terminal is wider than the other columns is theirs.
    let taken: usize = 4 + columns.iter().map(|(_, width)| width).sum::<usize>();
    let short = distinct_names(&hosts, 9 + table::width().saturating_sub(taken), "...");
    let shown = |host: &str| hosts.binary_search_by(|known| (**known).cmp(host)).map_or("", |at| &short[at]);
    let mut table = Table::new("PE", 4, &columns);
    for pe in &profile.pes {
        let time = |pick: fn(&PeRow) -> u64| units::time(pick(pe) as f64);
        table.row(
            &pe.pe.to_string(),
            &[
                shown(&pe.host).to_owned(),
                time(PeRow::main_ns),
                units::count(pe.all_calls()),
                units::bytes(pe.bytes),
                time(PeRow::library_ns),
                text::library_share(pe),
                time(WAITING[0].1),
                time(WAITING[1].1),
                time(WAITING[2].1),
            ],
        );
    }
    queued(&profile.pes).into_iter().for_each(|note| table.line(&note));
    table.finish()
}

/// Share of its run in line for a core from which on a PE is told of.
const QUEUED: f64 = 0.05;

/// Which PEs had to stand in line for a core.
fn queued(pes: &[PeRow]) -> Option<String> {
    let share = |pe: &&PeRow| pe.queued_ns().unwrap_or(0) as f64 / pe.main_ns().max(1) as f64;
    let count = pes.iter().filter(|pe| share(pe) >= QUEUED).count();
    let most = pes.iter().max_by(|a, b| share(a).total_cmp(&share(b))).filter(|_| count > 0)?;
    Some(format!(
        "{count} of {} PEs stood in line for a core for 5 % of their run or more, PE {} most: {}, {} %.",
        pes.len(),
        most.pe,
        units::time(most.queued_ns().unwrap_or(0) as f64),
        units::percent(share(&most), 1.0)
    ))
}
