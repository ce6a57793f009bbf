//! Reports: the same numbers as a table for people and as JSON for programs.

mod balance;
pub mod grid;
mod json;
mod merge;
mod notes;
mod sort;
mod symbols;
mod table;
mod text;
mod units;
mod view;
mod views;

pub use crate::text::visible as shown_text;
pub use balance::{Balance, balance};
pub use json::{SCHEMA_VERSION, json};
pub use merge::hosts;
pub use notes::notes;
pub use sort::SortKey;
pub use symbols::{Frame, NoSymbols, Symbols};
pub use table::set_width;
pub use text::text;
pub use units::{bytes as shown_bytes, count as shown_count, date as shown_date, time as shown_time};
pub(crate) use view::place;
pub use view::{VIEWS, grids};

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
    /// By PE.
    Pe,
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
}

impl View {
    /// Every view with its name on the command line; a second name of one comes after all first ones.
    pub const ALL: [(&'static str, View); 16] = [
        ("routines", View::Routine),
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
        ("routine", View::Routine),
        ("size", View::Size),
        ("pes", View::Pe),
        ("teams", View::Contexts),
    ];

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

/// A view as comma-separated values; several tables are separated by an empty line.
pub fn csv(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> String {
    let tables: Vec<String> = grids(options.view, profile, options, symbols).iter().map(grid::Grid::csv).collect();
    tables.join("\r\n")
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
pub fn finish_merged(profile: Profile, dir: Option<&OutputDir>) -> Finished {
    let write_error = dir.and_then(|dir| file::write(&profile, dir).err());
    let table = text(&Merged::from(&profile), &Options::default(), &NoSymbols);
    Finished { profile, table, write_error }
}

/// Reads the segment of a job that has ended, writes its profile directory where one is asked for, and renders the report.
pub fn finish(segment: &Segment, outcome: &Outcome, dir: Option<&OutputDir>) -> Finished {
    let profile = snapshot::take(segment, outcome);
    let write_error = dir.and_then(|dir| file::write(&profile, dir).err());
    let table = text(&Merged::from(&profile), &Options::default(), &NoSymbols);
    Finished { profile, table, write_error }
}
