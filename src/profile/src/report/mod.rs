//! Reports: the same numbers as a table for people and as JSON for programs.

mod balance;
mod json;
mod merge;
mod notes;
mod sort;
mod table;
mod text;
mod units;
mod views;

use std::io;
use std::path::{Path, PathBuf};

pub use balance::{Balance, balance};
pub use json::{SCHEMA_VERSION, json};
pub use merge::{hosts, routines};
pub use notes::notes;
pub use sort::SortKey;
pub use text::text;

use crate::file;
use crate::model::Profile;
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
}

impl View {
    /// Every view with its name on the command line.
    pub const ALL: [(&'static str, View); 4] =
        [("routine", View::Routine), ("pe", View::Pe), ("size", View::Size), ("peer", View::Peer)];

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

/// What a launcher does with the profile of a job that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The numbers.
    pub profile: Profile,
    /// The report by routine.
    pub table: String,
    /// The file of the profile directory that could not be written, and why.
    pub write_error: Option<(PathBuf, io::Error)>,
}

/// Writes what a job has recorded so far. Gives the file that could not be written, and why.
pub fn snapshot(segment: &Segment, dir: &Path) -> Option<(PathBuf, io::Error)> {
    file::write(&snapshot::take(segment, &Outcome::default()), dir).err()
}

/// Reads the segment of a job that has ended, writes its profile directory where one is asked for, and renders the report.
pub fn finish(segment: &Segment, outcome: &Outcome, dir: Option<&Path>) -> Finished {
    let profile = snapshot::take(segment, outcome);
    let write_error = dir.and_then(|dir| file::write(&profile, dir).err());
    let table = text(&profile, &Options::default());
    Finished { profile, table, write_error }
}
