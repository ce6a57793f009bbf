//! What goes to other hosts, and what the network says of itself.

use super::row::{Tables, View};
use crate::merge::Merged;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::size::Distance;

pub(super) static VIEW: View = View {
    name: "network",
    title: "Network: what goes to other hosts",
    help: "calls and bytes to this host and to others, and the network's own numbers",
    hint: "How much stays on the host and how much leaves it; then what the network counts itself.",
    tables: Tables::Made(|p, _, _| grids(p)),
    ..View::BASE
};

pub(super) static DISTANCES_VIEW: View = View {
    name: "distances",
    help: "calls and bytes to this host and to others, alone",
    tables: Tables::OneOf(&VIEW, "by_distance"),
    ..View::BASE
};

const COLUMNS: [Column; 8] = [
    column("of", "number", Kind::Text),
    column("number", "", Kind::Text),
    column("what", "", Kind::Text),
    column("total", "total", Kind::Count),
    column("mean", "mean", Kind::Number),
    column("max_pe", "most: PE", Kind::Text),
    column("max_value", "its value", Kind::Count),
    column("pes", "PEs", Kind::Count),
];

/// Numbers of the network and what they count.
const NUMBERS: [(&str, &str); 20] = [
    ("writes", "puts that the network carries out"),
    ("reads", "gets that the network carries out"),
    ("nic_atomics", "atomics of the adapter"),
    ("requests", "messages with puts, atomics, signals"),
    ("request_entries", "operations in these"),
    ("replies", "answers to such messages"),
    ("messages", "messages of collectives"),
    ("active_sent", "active messages sent"),
    ("active_received", "active messages received"),
    ("received", "messages of all kinds received"),
    ("strangers", "messages of others, dropped"),
    ("served", "operations of others done here"),
    ("injects", "operations whose data was copied"),
    ("retries", "no room: posted again"),
    ("bytes_out", "bytes sent"),
    ("bytes_in", "bytes received"),
    ("polls", "looks at the completion queue"),
    ("naps", "sleeps of the progress thread"),
    ("peers", "PEs whose address was looked up"),
    ("lost", "sends that failed unheeded"),
];

const DISTANCES: [Column; 4] = [
    column("distance", "to", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("share", "of bytes", Kind::Share),
];

fn grids(profile: &Merged) -> Vec<Grid> {
    vec![distances(profile), numbers(profile)]
}

/// Calls with a peer, by how far it is.
fn distances(profile: &Merged) -> Grid {
    let mut grid =
        Grid::new("by_distance", "Calls by distance", &DISTANCES, "no call went to a PE").of_sums("Calls and bytes");
    let mut sums = [(0_u64, 0_u64); crate::size::DISTANCES];
    for routine in &profile.routines {
        for (sum, (calls, bytes)) in sums.iter_mut().zip(routine.calls.iter().zip(&routine.bytes)) {
            *sum = (sum.0.saturating_add(*calls), sum.1.saturating_add(*bytes));
        }
    }
    let peers = [Distance::Own, Distance::Host, Distance::Remote];
    let all = peers.iter().map(|&d| sums[d as usize].1).fold(0, u64::saturating_add);
    for distance in peers {
        let (calls, bytes) = sums[distance as usize];
        if calls > 0 {
            let share = Cell::Real(if all > 0 { bytes as f64 / all as f64 } else { 0.0 });
            grid.row([distance.name().into(), calls.into(), bytes.into(), share]);
        }
    }
    grid
}

fn numbers(profile: &Merged) -> Grid {
    let mut grid = Grid::new("network", "The network", &COLUMNS, "no network was used").of_sums("Totals");
    for (name, sum) in &profile.network {
        let what = NUMBERS.iter().find(|(known, _)| known == name).map(|(_, what)| *what);
        grid.row([
            what.map_or_else(|| name.clone(), |what| format!("{name}: {what}")).into(),
            name.as_str().into(),
            what.into(),
            sum.total.into(),
            Cell::Real(sum.total as f64 / sum.pes as f64),
            Cell::Pe(sum.most.1),
            sum.most.0.into(),
            sum.pes.into(),
        ]);
    }
    grid
}
