//! By context, by team, and the algorithms of collectives.

use super::row::{Tables, View};
use crate::merge::Merged;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::tables::TeamKey;

pub(super) static VIEW: View = View {
    name: "contexts",
    title: "Contexts, teams, and algorithms of collectives",
    help: "by context and by team, and the algorithms of collectives",
    hint: "Traffic by context, collectives by team: who uses which; which algorithms collectives took.",
    tables: Tables::Made(|p, _, _| grids(p)),
    ..View::BASE
};

pub(super) static TEAMS_VIEW: View =
    View { name: "teams", help: "by team alone", tables: Tables::OneOf(&VIEW, "teams"), ..View::BASE };

pub(super) static ALGORITHMS_VIEW: View = View {
    name: "algorithms",
    help: "the algorithms of collectives alone",
    tables: Tables::OneOf(&VIEW, "algorithms"),
    ..View::BASE
};

const CONTEXTS: [Column; 10] = [
    column("context", "context", Kind::Text),
    column("team", "team", Kind::Text),
    column("pes", "PEs", Kind::Count),
    column("put_calls", "puts", Kind::Count),
    column("put_bytes", "put bytes", Kind::Bytes),
    column("get_calls", "gets", Kind::Count),
    column("get_bytes", "get bytes", Kind::Bytes),
    column("amo_calls", "atomics", Kind::Count),
    column("amo_bytes", "their bytes", Kind::Bytes),
    column("orders", "fence, quiet", Kind::Count),
];

const TEAMS: [Column; 8] = [
    column("team", "team", Kind::Text),
    column("start", "first PE", Kind::Count),
    column("stride", "stride", Kind::Count),
    column("size", "members", Kind::Count),
    column("pes", "seen on", Kind::Count),
    column("calls", "collectives", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("ns", "time", Kind::Time),
];

const ALGORITHMS: [Column; 3] = [
    column("routine", "routine", Kind::Text),
    column("algorithm", "algorithm", Kind::Text),
    column("calls", "calls", Kind::Count),
];

/// Above this, ids are those of active sets.
const ACTIVE_SET: u32 = 1 << 30;

fn grids(profile: &Merged) -> Vec<Grid> {
    vec![contexts(profile), teams(profile), algorithms(profile)]
}

fn contexts(profile: &Merged) -> Grid {
    let mut grid = Grid::new("contexts", "Contexts", &CONTEXTS, "no context but the default one was used")
        .of_sums("Calls and bytes");
    for ((handle, team), (pes, c)) in &profile.contexts {
        grid.row([
            Cell::Text(if *handle == 0 { "(others)".to_owned() } else { format!("{handle:#x}") }),
            Cell::from(team.map(|team| team_name(team, profile.job.npes))),
            (*pes).into(),
            c.put.calls.into(),
            c.put.bytes.into(),
            c.get.calls.into(),
            c.get.bytes.into(),
            c.amo.calls.into(),
            c.amo.bytes.into(),
            c.orders.into(),
        ]);
    }
    if !grid.rows.is_empty() {
        grid.notes.push("A context is known by its handle, which another one can have after its end.".to_owned());
    }
    grid
}

/// What a team is called, in a job of so many PEs.
pub(crate) fn team_name((id, _, _, size): TeamKey, npes: u32) -> String {
    match id {
        0 if size as u32 == npes => "world".to_owned(),
        1 => "shared".to_owned(),
        ACTIVE_SET.. => "active set".to_owned(),
        _ if size == 0 => "(others)".to_owned(),
        _ => format!("team {id}"),
    }
}

fn teams(profile: &Merged) -> Grid {
    let mut grid =
        Grid::new("teams", "Teams", &TEAMS, "no collective was called").of_sums("Collectives, bytes and times");
    for &((id, start, stride, size), sum) in &profile.teams {
        let name = team_name((id, start, stride, size), profile.job.npes);
        let number = |n: i32| Cell::Whole(u64::try_from(n).unwrap_or(0));
        grid.row([
            name.into(),
            number(start),
            number(stride),
            number(size),
            sum.pes.into(),
            sum.calls.into(),
            sum.bytes.into(),
            sum.ns.into(),
        ]);
    }
    grid
}

/// What the calls of each routine took, in the names of `SHMEM_COLLECTIVES`.
fn algorithms(profile: &Merged) -> Grid {
    let mut grid = Grid::new("algorithms", "Algorithms of collectives", &ALGORITHMS, "").of_sums("Calls");
    for ((routine, name), calls) in &profile.algorithms {
        let shown = |text: &str| if text.is_empty() { "(others)".to_owned() } else { text.to_owned() };
        grid.row([Cell::Text(shown(routine)), Cell::Text(shown(name)), (*calls).into()]);
    }
    if !grid.rows.is_empty() {
        grid.notes.push("A call may take several: of its parts, and within a host and between hosts.".to_owned());
    }
    grid
}
