//! Reports: the same numbers as a table for people and as JSON for programs.

mod balance;
#[cfg(feature = "lines")]
pub mod build_id;
mod closing;
#[cfg(feature = "lines")]
mod debug_file;
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

pub use crate::text::visible as shown_text;
pub use balance::{Balance, balance};
pub use distinct::distinct_names;
pub use ends::{broke_off, ends};
pub use extremes::{WHICH, shown_pes};
pub use json::{SCHEMA_VERSION, json};
pub use merge::hosts;
pub(crate) use merge::run_time_ns;
pub use notes::{notes, other_notes, unrecorded, unrecorded_share};
pub(crate) use outside::{did_for, try_otherwise};
pub use sort::SortKey;
pub use symbols::{Frame, NoSymbols, Symbols, script_line};
pub use table::{below as shown_below, filled as shown_filled, set_wide, set_width};
pub use text::text;
pub use units::{
    bytes as shown_bytes, cores as shown_cores, count as shown_count, date as shown_date, time as shown_time,
};
pub use view::{ALL, Bars, Chart, VIEWS, View, grids, line, listed_views, place, whole_views};
pub(crate) use view::{
    CALL_SITES, CAUSES, LateLine, LinePhase, Regions, is_strided, late_by_line, located, phases_by_line, team_name,
};

use crate::file;
use crate::merge::Merged;
use crate::model::Profile;
use crate::output::{self, OutputDir};
use crate::segment::Segment;
use crate::snapshot::{self, Outcome};

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Breakdown.
    pub view: &'static View,
    /// Order of routines.
    pub sort: SortKey,
    /// Show only the first so many routines.
    pub top: Option<usize>,
}

/// The table of a view as comma-separated values. What is shown beside it has a view of its own. [`ALL`] is no table.
pub fn csv(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> String {
    let tables = view::every_grid(options.view, profile, options, symbols);
    let table = tables.iter().find(|grid| grid.name == options.view.name).or(tables.first());
    table.map(grid::Grid::csv).unwrap_or_default()
}

/// Every table as comma-separated values, with a name for its file: that of its view.
pub fn csv_files(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<(&'static str, String)> {
    VIEWS.iter().map(|view| (view.name, csv(profile, &Options { view, ..*options }, symbols))).collect()
}

/// Has every source line looked up that any report on the profile asks for.
#[cfg(feature = "lines")]
fn ask_all(profile: &Merged, symbols: &dyn Symbols) {
    let options = Options { view: ALL, ..Options::default() };
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
