//! The views: each a file that makes tables from a profile, and a row of [`VIEWS`].

mod addresses;
mod callsites;
mod causes;
mod contexts;
mod counters;
mod efficiency;
mod imbalance;
mod locks;
mod matrix;
mod nbi;
mod network;
mod pes;
mod phases;
mod rates;
mod regions;
mod routines;
mod sizes;
mod timeline;

pub(crate) use callsites::Regions;
pub(super) use callsites::lines;
pub(crate) use imbalance::{LateLine, late_by_line};
pub(crate) use matrix::text as matrix_text;
pub(crate) use rates::is_strided;
pub(crate) use timeline::text as timeline_text;

use super::grid::{Cell, Grid};
use super::symbols::Symbols;
use super::{Options, View};
use crate::merge::{Merged, Symbol};

/// Makes the tables of a view.
type Make = fn(&Merged, &Options, &dyn Symbols) -> Vec<Grid>;

/// One view.
pub struct Row {
    /// Which one.
    pub view: View,
    /// What it shows, for help and headings.
    pub title: &'static str,
    /// Makes its tables.
    pub make: Make,
}

/// Every view.
pub const VIEWS: &[Row] = &[
    Row { view: View::Routine, title: "Routines: calls, bytes, times", make: |p, o, _| vec![routines::grid(p, o)] },
    Row {
        view: View::Efficiency,
        title: "Efficiency: what is lost to imbalance, data and waiting",
        make: |p, _, s| vec![efficiency::grid(p, s)],
    },
    Row {
        view: View::Phases,
        title: "Phases: what happens between barriers and collectives",
        make: |p, o, s| vec![phases::grid(p, o, s)],
    },
    Row {
        view: View::Causes,
        title: "Causes: who ended waits, and why they ended no sooner",
        make: |p, o, s| vec![causes::grid(p, o, s)],
    },
    Row {
        view: View::Locks,
        title: "Locks: who stands in line, and for how long each is held",
        make: |p, o, s| vec![locks::grid(p, o, s)],
    },
    Row {
        view: View::Addresses,
        title: "Addresses: which words short calls go to most",
        make: |p, o, s| vec![addresses::grid(p, o, s)],
    },
    Row {
        view: View::Rates,
        title: "Rates: against what the machine does",
        make: |p, o, s| vec![rates::grid(p, o, s)],
    },
    Row { view: View::Timeline, title: "Timeline: what each PE did", make: |p, _, _| vec![timeline::grid(p)] },
    Row { view: View::Size, title: "Message sizes", make: |p, o, _| vec![sizes::grid(p, o)] },
    Row { view: View::Matrix, title: "Matrix: who sends to whom", make: |p, _, _| matrix::grids(p) },
    Row { view: View::Callsites, title: "Call sites", make: |p, o, s| vec![callsites::grid(p, o, s)] },
    Row { view: View::Imbalance, title: "Imbalance: who came late, and what it cost", make: imbalance::grids },
    Row { view: View::Nbi, title: "Nonblocking operations: issue to completion", make: |p, _, _| nbi::grids(p) },
    Row { view: View::Regions, title: "Regions", make: |p, o, _| regions::grids(p, o) },
    Row {
        view: View::Contexts,
        title: "Contexts, teams, and algorithms of collectives",
        make: |p, _, _| contexts::grids(p),
    },
    Row { view: View::Counters, title: "Counters: hardware and software", make: |p, o, _| counters::grids(p, o) },
    Row { view: View::Network, title: "Network: what goes to other hosts", make: |p, _, _| network::grids(p) },
    Row { view: View::Pe, title: "PEs", make: |p, _, _| vec![pes::grid(p)] },
    Row { view: View::Peer, title: "Near and far", make: |p, o, _| vec![sizes::distances(p, o)] },
];

/// The tables of a view that have something to say.
pub fn grids(view: View, profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<Grid> {
    let mut grids = every_grid(view, profile, options, symbols);
    grids.retain(|grid| !grid.rows.is_empty() || !grid.empty.is_empty() || view.table().1.is_some());
    grids
}

/// The tables of a view, or the one that it is.
pub(super) fn every_grid(view: View, profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<Grid> {
    let (shown_in, only) = view.table();
    let row = VIEWS.iter().find(|row| row.view == shown_in);
    let mut grids = row.map(|row| (row.make)(profile, options, symbols)).unwrap_or_default();
    grids.retain(|grid| only.is_none_or(|only| grid.name == only));
    for grid in grids.iter_mut().filter(|grid| !grid.rows.is_empty()) {
        let sums = SUMS.iter().find(|(name, _)| *name == grid.name);
        grid.notes.extend(sums.and_then(|(_, what)| are_sums(what, profile)));
    }
    grids
}

/// What is summed over PEs in tables that have nothing else to explain.
const SUMS: [(&str, &str); 10] = [
    ("algorithms", "Calls"),
    ("by_distance", "Calls and bytes"),
    ("callsites", "Calls, bytes and totals"),
    ("contexts", "Calls and bytes"),
    ("distances", "Calls and bytes"),
    ("handles", "Operations and times"),
    ("network", "Totals"),
    ("sizes", "Calls and bytes"),
    ("teams", "Collectives, bytes and times"),
    ("waits", "Calls and waited times"),
];

/// `Calls and bytes are sums over 4 PEs.` Nothing where there is one PE.
pub(crate) fn are_sums(what: &str, profile: &Merged) -> Option<String> {
    let npes = profile.pes.len();
    (npes > 1).then(|| format!("{what} are sums over {npes} PEs."))
}

/// A region: what is outside of all has no name.
fn region_cell(name: &str) -> Cell {
    if name.is_empty() { Cell::None } else { name.into() }
}

/// As [`place`], in a table.
fn place_cell(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> Cell {
    file.map_or(Cell::Absent(NOT_KNOWN), |_| place(file, symbols).into())
}

/// As [`line()`], in a table.
fn line_cell(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> Cell {
    file.map_or(Cell::Absent(NOT_KNOWN), |_| line(file, symbols).into())
}

/// What stands for a place that is not known.
const NOT_KNOWN: &str = "(not known)";

/// A symmetric object, (0 heap, 1 static; offset), for people: `table`, `table+0x18`, `heap+0x40`.
fn object((kind, offset): (u8, u64), symbol: Option<&Symbol>, symbols: &dyn Symbols) -> String {
    match symbol.and_then(|symbol| symbols.object(&symbol.path, symbol.address)) {
        Some((name, 0)) => name,
        Some((name, within)) => format!("{name}+{within:#x}"),
        None if kind == 0 => format!("heap+{offset:#x}"),
        None => format!("static+{offset:#x}"),
    }
}

/// As [`place`], lines alone: `isx.c:477`; of a function that is inlined, where it ends up as well.
pub fn line(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> String {
    let Some((path, address)) = file else { return NOT_KNOWN.to_owned() };
    let frames = symbols.frames(path, address.saturating_sub(1));
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let shown = |frame: &super::Frame| format!("{}:{}", name(&frame.file), frame.line);
    let mut known = frames.iter().filter(|frame| !frame.file.is_empty());
    match (known.next(), known.next_back()) {
        (None, _) => format!("{}+{address:#x}", name(path)),
        (Some(frame), None) => shown(frame),
        (Some(inner), Some(outer)) => format!("{} (inlined at {})", shown(inner), shown(outer)),
    }
}

/// Where something is, as words after it: `in main at isx.c:477`, `at isx+0x1234`.
pub(crate) fn located(place: &str) -> String {
    if place.contains(" at ") { format!("in {place}") } else { format!("at {place}") }
}

/// A call site for people. A return address is behind its call: the line is that of the byte before.
pub fn place(file: Option<(&str, u64)>, symbols: &dyn Symbols) -> String {
    let Some((path, address)) = file else { return NOT_KNOWN.to_owned() };
    let frames = symbols.frames(path, address.saturating_sub(1));
    let shown: Vec<String> = frames.iter().map(super::Frame::shown).filter(|text| !text.is_empty()).collect();
    if shown.is_empty() {
        let name = path.rsplit('/').next().unwrap_or(path);
        return format!("{name}+{address:#x}");
    }
    shown.join(", inlined in ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Frame, NoSymbols};

    /// As many frames as the address says, an inlined one before the one that it is in.
    struct Inlined;

    impl Symbols for Inlined {
        fn frames(&self, _: &str, address: u64) -> Vec<Frame> {
            let frame = |line| Frame { function: format!("f{line}"), file: "/src/a.cc".to_owned(), line };
            (0..=address as u32).map(frame).collect()
        }
    }

    #[test]
    fn lines_of_inlined_functions_say_where_these_are() {
        assert_eq!(line(Some(("/bin/a", 1)), &Inlined), "a.cc:0");
        assert_eq!(line(Some(("/bin/a", 2)), &Inlined), "a.cc:0 (inlined at a.cc:1)");
        assert_eq!(line(Some(("/bin/a", 3)), &Inlined), "a.cc:0 (inlined at a.cc:2)");
        assert_eq!(line(Some(("/bin/a", 3)), &NoSymbols), "a+0x3");
        assert_eq!(line(None, &Inlined), NOT_KNOWN);
    }
}
