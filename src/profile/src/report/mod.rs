//! Reports: the same numbers as a table for people and as JSON for programs.

mod balance;
#[cfg(feature = "lines")]
pub mod build_id;
mod closing;
mod distinct;
mod ends;
mod extremes;
pub mod grid;
mod head;
mod json;
#[cfg(feature = "lines")]
pub mod lines;
mod merge;
mod notes;
mod outside;
mod sort;
#[cfg(feature = "lines")]
pub mod stored;
mod symbols;
mod table;
mod text;
mod units;
mod view;
mod views;

pub use crate::text::visible as shown_text;
pub use balance::{Balance, balance};
pub use distinct::distinct_names;
pub use ends::{broke_off, ends};
pub use extremes::{WHICH, shown_pes};
pub use json::{SCHEMA_VERSION, json};
pub use merge::hosts;
pub(crate) use merge::run_time_ns;
pub use notes::{notes, other_notes};
pub(crate) use outside::{did_for, try_otherwise};
pub use sort::SortKey;
pub use symbols::{Frame, NoSymbols, Symbols, script_line};
pub use table::{filled as shown_filled, set_wide, set_width};
pub use text::text;
pub use units::{
    bytes as shown_bytes, cores as shown_cores, count as shown_count, date as shown_date, time as shown_time,
};
pub(crate) use view::is_strided;
pub(crate) use view::located;
pub(crate) use view::{LateLine, Regions, late_by_line};
pub use view::{VIEWS, grids, line, place};

use crate::file;
use crate::merge::Merged;
use crate::model::Profile;
use crate::output::{self, OutputDir};
use crate::segment::Segment;
use crate::snapshot::{self, Outcome};

/// What a report breaks the numbers down by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// By routine, summed over PEs.
    #[default]
    Routine,
    /// The factors of parallel efficiency.
    Efficiency,
    /// By PE.
    Pe,
    /// What happens between barriers and collectives.
    Phases,
    /// Who ended waits, and why he was late.
    Causes,
    /// Distributed locks.
    Locks,
    /// Words that short calls go to most.
    Addresses,
    /// How fast puts, gets and atomics were.
    Rates,
    /// What each PE did over time.
    Timeline,
    /// By message size.
    Size,
    /// By distance of the peer.
    Peer,
    /// From PE to PE.
    Matrix,
    /// By place in the program.
    Callsites,
    /// Who came late to what.
    Imbalance,
    /// Nonblocking operations.
    Nbi,
    /// By region of the program.
    Regions,
    /// By context and team.
    Contexts,
    /// Hardware and software counters.
    Counters,
    /// Other hosts, and the network's own numbers.
    Network,
    /// Waits and locks: a table of `Imbalance`.
    Waits,
    /// What the program has marked, by PE: a table of `Regions`.
    Markers,
    /// The same over all PEs: a table of `Regions`.
    MarkerSums,
    /// A table of `Contexts`.
    Teams,
    /// Counters that are not there: a table of `Counters`.
    Unavailable,
    /// Calls and bytes by how far they go: a table of `Network`.
    Distances,
    /// Which algorithms collectives took: a table of `Contexts`.
    Algorithms,
    /// Operations with handles, by routine: a table of `Nbi`.
    Handles,
    /// Every view.
    All,
}

impl View {
    /// Every view with its name on the command line; a second name of one comes after all first ones.
    pub const ALL: [(&'static str, View); 31] = [
        ("routines", View::Routine),
        ("efficiency", View::Efficiency),
        ("phases", View::Phases),
        ("causes", View::Causes),
        ("locks", View::Locks),
        ("addresses", View::Addresses),
        ("rates", View::Rates),
        ("timeline", View::Timeline),
        ("sizes", View::Size),
        ("matrix", View::Matrix),
        ("callsites", View::Callsites),
        ("imbalance", View::Imbalance),
        ("nbi", View::Nbi),
        ("regions", View::Regions),
        ("contexts", View::Contexts),
        ("counters", View::Counters),
        ("network", View::Network),
        ("pe", View::Pe),
        ("peer", View::Peer),
        ("waits", View::Waits),
        ("markers", View::Markers),
        ("marker-sums", View::MarkerSums),
        ("teams", View::Teams),
        ("algorithms", View::Algorithms),
        ("distances", View::Distances),
        ("handles", View::Handles),
        ("unavailable", View::Unavailable),
        ("all", View::All),
        ("routine", View::Routine),
        ("size", View::Size),
        ("pes", View::Pe),
    ];

    /// The view that a table is shown in, and the table's name, where it is a view of its own too.
    fn table(self) -> (View, Option<&'static str>) {
        match self {
            View::Waits => (View::Imbalance, Some("waits")),
            View::Markers => (View::Regions, Some("markers")),
            View::MarkerSums => (View::Regions, Some("marker_sums")),
            View::Teams => (View::Contexts, Some("teams")),
            View::Algorithms => (View::Contexts, Some("algorithms")),
            View::Unavailable => (View::Counters, Some("counters_unavailable")),
            View::Handles => (View::Nbi, Some("handles")),
            View::Distances => (View::Network, Some("by_distance")),
            view => (view, None),
        }
    }

    /// The view with this name.
    pub fn from_name(name: &str) -> Option<View> {
        View::ALL.iter().find(|(n, _)| *n == name).map(|&(_, view)| view)
    }
}

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Breakdown.
    pub view: View,
    /// Order of routines.
    pub sort: SortKey,
    /// Show only the first so many routines.
    pub top: Option<usize>,
}

/// The table of a view as comma-separated values. What is shown beside it has a view of its own. `View::All` is no
/// table.
pub fn csv(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> String {
    let of_view = View::ALL.iter().find(|(_, view)| *view == options.view).map_or("", |(name, _)| name);
    let tables = view::every_grid(options.view, profile, options, symbols);
    let table = tables.iter().find(|grid| grid.name == of_view).or(tables.first());
    table.map(grid::Grid::csv).unwrap_or_default()
}

/// Every table as comma-separated values, with a name for its file: that of its view.
pub fn csv_files(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<(&'static str, String)> {
    let names = View::ALL.iter().take(View::ALL.len() - SECOND_NAMES).filter(|(_, view)| *view != View::All);
    names.map(|&(name, view)| (name, csv(profile, &Options { view, ..*options }, symbols))).collect()
}

/// How many names at the end of [`View::ALL`] are second ones.
const SECOND_NAMES: usize = 3;

/// Has every source line looked up that any report on the profile asks for.
#[cfg(feature = "lines")]
fn ask_all(profile: &Merged, symbols: &dyn Symbols) {
    let options = Options { view: View::All, ..Options::default() };
    text(profile, &options, symbols);
}

/// What a launcher does with the profile of a job that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The numbers.
    pub profile: Profile,
    /// The report by routine.
    pub table: String,
    /// What could not be written, and why.
    pub write_error: Option<output::Error>,
}

/// Writes what a job has recorded so far. Gives what could not be written, and why.
pub fn snapshot(segment: &Segment, dir: &OutputDir) -> Option<output::Error> {
    file::write(&snapshot::take(segment, &Outcome::default()), dir).err()
}

/// As [`finish`], for a profile that was put together from several hosts.
pub fn finish_merged(profile: Profile, dir: Option<&OutputDir>, symbols: &dyn Symbols) -> Finished {
    let write_error = dir.and_then(|dir| file::write(&profile, dir).err());
    let table = text(&Merged::from(&profile), &Options::default(), symbols);
    Finished { profile, table, write_error }
}

/// Reads the segment of a job that has ended, writes its profile directory where one is asked for, and renders the
/// report.
pub fn finish(segment: &Segment, outcome: &Outcome, dir: Option<&OutputDir>, symbols: &dyn Symbols) -> Finished {
    finish_merged(snapshot::take(segment, outcome), dir, symbols)
}
