//! By message size, and by distance.

use super::row::{Chart, Json, Tables, View};
use serde_json::{Value, json};

use super::are_sums;
use crate::merge::Merged;
use crate::model::Routine;
use crate::op::Class;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::table::Table;
use crate::report::{Options, sort, units};
use crate::size::{Distance, size_bounds};

pub(super) static VIEW: View = View {
    name: "sizes",
    aliases: &["size"],
    title: "Message sizes",
    help: "calls and bytes by message size",
    hint: "How large the messages are. Bytes in large messages are moved at the speed of memory or network; calls in \
           small ones cost latency each.",
    chart: Chart::Sizes,
    tables: Tables::Made(|p, o, _| vec![grid(p, o)]),
    text: Some(|p, o| vec![by_size(p, o)]),
    json: Json::Member("per_size", |_, routines| routines.iter().flat_map(sizes).collect()),
};

pub(super) static PEER: View = View {
    name: "peer",
    title: "Calls by distance",
    help: "calls and bytes to the PE itself, its host, other hosts",
    hint: "Calls and bytes to the PE itself, to its host, to other hosts.",
    tables: Tables::Made(|p, o, _| vec![distances(p, o)]),
    text: Some(|p, o| vec![by_peer(p, o)]),
    json: Json::Member("per_peer", |_, routines| routines.iter().flat_map(peers).collect()),
    ..View::BASE
};

const COLUMNS: [Column; 5] = [
    column("routine", "routine", Kind::Text),
    column("min_bytes", "from", Kind::Bytes),
    column("max_bytes", "to", Kind::Below),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
];

const DISTANCES: [Column; 4] = [
    column("routine", "routine", Kind::Text),
    column("distance", "distance", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
];

fn grid(profile: &Merged, options: &Options) -> Grid {
    let mut grid = Grid::new("sizes", "Message sizes", &COLUMNS, "no call had a payload").of_sums("Calls and bytes");
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    for r in &routines {
        for (class, calls, bytes) in by_class(r) {
            let (low, high) = size_bounds(usize::from(class));
            let high = if high == u64::MAX { Cell::Absent("any") } else { high.into() };
            grid.row([r.name.as_str().into(), low.into(), high, calls.into(), bytes.into()]);
        }
    }
    grid
}

fn distances(profile: &Merged, options: &Options) -> Grid {
    let mut grid =
        Grid::new("distances", "Calls by distance", &DISTANCES, "no call was recorded").of_sums("Calls and bytes");
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    for r in &routines {
        for d in Distance::ALL.into_iter().filter(|&d| r.calls[d as usize] > 0) {
            let (calls, bytes) = (r.calls[d as usize], r.bytes[d as usize]);
            grid.row([r.name.as_str().into(), d.name().into(), calls.into(), bytes.into()]);
        }
    }
    grid
}

/// Message sizes as text.
fn by_size(profile: &Merged, options: &Options) -> String {
    let mut routines = profile.routines.clone();
    routines.retain(|r| !by_class(r).is_empty());
    if routines.is_empty() {
        return "no call had a payload\n".to_owned();
    }
    let cut = sort::select(&mut routines, options.sort, options.top);
    let columns = [("from", 8), ("below", 8), ("calls", 9), ("% calls", 8), ("bytes", 9), ("% bytes", 8)];
    let longest = routines.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut table = Table::new("routine, message size", longest, &columns);
    for r in &routines {
        let all: (u64, u64) = r.sizes.iter().fold((0, 0), |sum, s| (sum.0 + s.calls, sum.1.saturating_add(s.bytes)));
        let mut name = r.name.as_str();
        for (class, calls, bytes) in by_class(r) {
            let (low, high) = size_bounds(usize::from(class));
            let below = high.checked_add(1).map_or("-".to_owned(), units::bytes);
            table.row(
                name,
                &[
                    units::bytes(low),
                    below,
                    units::count(calls),
                    units::percent(calls as f64, all.0 as f64),
                    units::bytes(bytes),
                    units::percent(bytes as f64, all.1 as f64),
                ],
            );
            name = "";
        }
    }
    if cut > 0 {
        table.line(&format!("... and {cut} more routines"));
    }
    table.finish() + &sums(profile)
}

/// What is said of the numbers of a table.
fn sums(profile: &Merged) -> String {
    are_sums("Calls and bytes", profile).map(|note| note + "\n").unwrap_or_default()
}

/// Calls and bytes by size class, over all distances. An allocation is no message.
fn by_class(r: &Routine) -> Vec<(u8, u64, u64)> {
    let mut classes: Vec<(u8, u64, u64)> = Vec::new();
    if r.class == Class::Memory {
        return classes;
    }
    for s in &r.sizes {
        match classes.last_mut().filter(|last| last.0 == s.class) {
            Some(last) => *last = (s.class, last.1.saturating_add(s.calls), last.2.saturating_add(s.bytes)),
            None => classes.push((s.class, s.calls, s.bytes)),
        }
    }
    classes
}

/// Distances as text.
fn by_peer(profile: &Merged, options: &Options) -> String {
    let mut routines = profile.routines.clone();
    let all = routines.len();
    routines.retain(|r| r.calls[Distance::None as usize] < r.all_calls());
    let without = all - routines.len();
    let cut = sort::select(&mut routines, options.sort, options.top);
    let shown = [Distance::Own, Distance::Host, Distance::Remote];
    let columns = [("self", 8), ("bytes", 9), ("host", 8), ("bytes", 9), ("remote", 8), ("bytes", 9)];
    let longest = routines.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut table = Table::new("routine, calls to", longest, &columns);
    for r in &routines {
        let cells: Vec<String> = shown
            .iter()
            .flat_map(|&d| {
                let (calls, bytes) = (r.calls[d as usize], r.bytes[d as usize]);
                let dash = |n: u64, text: String| if n == 0 { "-".to_owned() } else { text };
                [dash(calls, units::count(calls)), dash(bytes, units::bytes(bytes))]
            })
            .collect();
        table.row(&r.name, &cells);
    }
    if cut > 0 {
        table.line(&format!("... and {cut} more routines"));
    }
    if without > 0 {
        table.line(&format!("{without} routines have no single peer (collectives, ordering, local calls): not listed"));
    }
    table.finish() + &sums(profile)
}

/// For programs: what a routine has of each size.
fn sizes(r: &Routine) -> Vec<Value> {
    let item = |(class, calls, bytes): (u8, u64, u64)| {
        let (low, high) = size_bounds(usize::from(class));
        json!({ "name": r.name, "min_bytes": low, "max_bytes": high, "calls": calls, "bytes": bytes })
    };
    by_class(r).into_iter().map(item).collect()
}

/// For programs: what a routine has of each distance.
fn peers(r: &Routine) -> Vec<Value> {
    let counted = Distance::ALL.into_iter().filter(|&d| r.calls[d as usize] > 0);
    let row = |d: Distance| {
        let (calls, bytes) = (r.calls[d as usize], r.bytes[d as usize]);
        json!({ "name": r.name, "distance": d.name(), "calls": calls, "bytes": bytes })
    };
    counted.map(row).collect()
}
