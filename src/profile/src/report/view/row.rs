//! What a view is: all that command line, help, text, JSON, CSV and the page in a browser have to know of one.

use std::fmt;

use super::super::Options;
use super::super::grid::Grid;
use super::super::symbols::Symbols;
use crate::merge::Merged;
use crate::model::Routine;

/// Makes the tables of a view.
pub(in crate::report) type Make = fn(&Merged, &Options, &dyn Symbols) -> Vec<Grid>;

/// One view: what a report breaks the numbers down by.
pub struct View {
    /// Its name on the command line, and that of its file of comma-separated values.
    pub name: &'static str,
    /// Older names of it.
    pub aliases: &'static [&'static str],
    /// What it shows, for headings. Empty where it is shown in another view.
    pub title: &'static str,
    /// What it shows, for the help of the command line.
    pub help: &'static str,
    /// How to read it, in a sentence or two.
    pub hint: &'static str,
    /// What is drawn of it.
    pub chart: Chart,
    /// Where its tables come from.
    pub(in crate::report) tables: Tables,
    /// Its text, where that is not the one of its tables.
    pub(in crate::report) text: Option<fn(&Merged, &Options) -> Vec<String>>,
    /// What of it is in the report for programs.
    pub(in crate::report) json: Json,
}

/// Where the tables of a view come from.
pub(in crate::report) enum Tables {
    /// From this function.
    Made(Make),
    /// It is one of those of another view: the one with this name.
    OneOf(&'static View, &'static str),
    /// It is all views.
    All,
}

/// What of a view is in the report for programs.
pub(in crate::report) enum Json {
    /// Its tables, each under its name.
    Tables,
    /// Nothing but what every report has.
    Nothing,
    /// A member of this name, made of the routines that are shown.
    Member(&'static str, fn(&Merged, &[Routine]) -> serde_json::Value),
    /// The PEs one by one.
    Pes,
}

/// What is drawn of a view.
pub enum Chart {
    /// Nothing: a table says it better.
    None,
    /// A bar a row of its first table.
    Bars(Bars),
    /// Bars of the routines, and where each PE spends its time.
    Routines,
    /// A strip a PE, over time.
    Strips,
    /// Bars of the message sizes.
    Sizes,
    /// A square of who sends how much to whom.
    Matrix,
    /// What each PE made the others lose.
    LatePes,
}

/// The cells of a row as text, by the names of their columns.
pub type Cells<'a> = dyn Fn(&str) -> String + 'a;

/// A bar a row of a table.
pub struct Bars {
    /// What they show.
    pub title: &'static str,
    /// What a bar is of: from the row's cells.
    pub label: fn(&Cells<'_>) -> String,
    /// The column that says how long it is.
    pub value: &'static str,
}

impl View {
    /// A view of which nothing is known yet.
    pub(super) const BASE: View = View {
        name: "",
        aliases: &[],
        title: "",
        help: "",
        hint: "",
        chart: Chart::None,
        tables: Tables::All,
        text: None,
        json: Json::Tables,
    };

    /// Whether it is shown among all views: it is none of another one's tables.
    pub fn is_whole(&self) -> bool {
        matches!(self.tables, Tables::Made(_))
    }

    /// The function that makes its tables, and the name of the one that it is, where it is one of them.
    pub(super) fn made(&self) -> Option<(Make, Option<&'static str>)> {
        match self.tables {
            Tables::Made(make) => Some((make, None)),
            Tables::OneOf(view, table) => view.made().map(|(make, _)| (make, Some(table))),
            Tables::All => None,
        }
    }

    /// Whether it is one of the tables of another view.
    pub(super) fn is_in(&self, other: &View) -> bool {
        matches!(self.tables, Tables::OneOf(view, _) if view == other)
    }
}

impl PartialEq for View {
    fn eq(&self, other: &View) -> bool {
        self.name == other.name
    }
}

impl Eq for View {}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Default for &'static View {
    fn default() -> &'static View {
        super::USUAL
    }
}
