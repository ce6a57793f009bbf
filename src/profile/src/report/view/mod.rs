//! The views: each a file that says what it shows and makes its tables, and a row of [`VIEWS`]. Nothing else names one:
//! command line, help, renderers and the page in a browser go by the rows.

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
mod place;
mod rates;
mod regions;
mod routines;
mod row;
mod sizes;
mod timeline;

pub(crate) use callsites::{Regions, VIEW as CALL_SITES};
pub(super) use callsites::{SiteLine, lines};
pub(crate) use causes::VIEW as CAUSES;
pub(crate) use contexts::team_name;
pub(crate) use imbalance::{LateLine, late_by_line};
pub(crate) use phases::{LinePhase, phases_by_line};
pub(crate) use place::{are_sums, located};
pub use place::{line, place};
pub(crate) use rates::is_strided;
pub(super) use row::Json;
pub use row::{Bars, Chart, View};

use place::{NOT_KNOWN, line_cell, object, place_cell, region_cell};

use super::Options;
use super::grid::Grid;
use super::symbols::Symbols;
use crate::merge::Merged;

/// Every view, in the order in which all of them are shown. Those that are tables of another one come last.
pub static VIEWS: &[&View] = &[
    &routines::VIEW,
    &efficiency::VIEW,
    &phases::VIEW,
    &causes::VIEW,
    &locks::VIEW,
    &addresses::VIEW,
    &rates::VIEW,
    &timeline::VIEW,
    &sizes::VIEW,
    &matrix::VIEW,
    &callsites::VIEW,
    &imbalance::VIEW,
    &nbi::VIEW,
    &regions::VIEW,
    &contexts::VIEW,
    &counters::VIEW,
    &network::VIEW,
    &pes::VIEW,
    &sizes::PEER,
    &imbalance::WAITS_VIEW,
    &regions::MARKERS_VIEW,
    &regions::MARKER_SUMS_VIEW,
    &contexts::TEAMS_VIEW,
    &contexts::ALGORITHMS_VIEW,
    &network::DISTANCES_VIEW,
    &nbi::HANDLES_VIEW,
    &counters::UNAVAILABLE_VIEW,
];

/// The view of a report that is not asked for another one.
pub(super) static USUAL: &View = &routines::VIEW;

/// Every view after the other.
pub static ALL: &View = &View { name: "all", help: "every view", ..View::BASE };

/// Those that are not tables of other ones.
pub fn whole_views() -> impl Iterator<Item = &'static View> {
    VIEWS.iter().copied().filter(|view| view.is_whole())
}

/// Every view as the help of the command line lists them: a table of a view comes after that.
pub fn listed_views() -> impl Iterator<Item = &'static View> {
    let tables = |of: &'static View| VIEWS.iter().copied().filter(move |view| view.is_in(of));
    whole_views().flat_map(move |view| std::iter::once(view).chain(tables(view))).chain([ALL])
}

/// The tables of a view that have something to say.
pub fn grids(view: &View, profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<Grid> {
    let mut grids = every_grid(view, profile, options, symbols);
    grids.retain(|grid| !grid.rows.is_empty() || !grid.empty.is_empty() || !view.is_whole());
    grids
}

/// The tables of a view, or the one that it is.
pub(super) fn every_grid(view: &View, profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<Grid> {
    let Some((make, only)) = view.made() else { return Vec::new() };
    let mut grids = make(profile, options, symbols);
    grids.retain(|grid| only.is_none_or(|only| grid.name == only));
    for grid in grids.iter_mut().filter(|grid| !grid.rows.is_empty()) {
        let sums = grid.sums.and_then(|what| are_sums(what, profile));
        grid.notes.extend(sums);
    }
    grids
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report::NoSymbols;

    /// What a name is of, as often as it is there.
    fn distinct<'a>(of: impl Iterator<Item = &'a str>) -> (usize, BTreeSet<&'a str>) {
        let all: Vec<&str> = of.collect();
        (all.len(), all.into_iter().collect())
    }

    #[test]
    fn each_view_says_what_it_is() {
        let named = listed_views().flat_map(|view| std::iter::once(&view.name).chain(view.aliases));
        let (count, names) = distinct(named.copied());
        assert_eq!(count, names.len(), "two views have a name");
        for (what, of) in [
            ("titles", (|view| view.title) as fn(&'static View) -> &'static str),
            ("hints", |view| view.hint),
            ("help", |view| view.help),
        ] {
            let (count, texts) = distinct(whole_views().map(of));
            assert!(texts.len() == count && !texts.contains(""), "{what}: {texts:?}");
        }
        let (count, listed) = distinct(listed_views().map(|view| view.name));
        assert!(listed.len() == count && count == VIEWS.len() + 1, "{listed:?}");
    }

    #[test]
    fn a_view_that_is_a_table_of_another_one_is_there() {
        let profile = Merged::default();
        for view in VIEWS {
            let grids = every_grid(view, &profile, &Options::default(), &NoSymbols);
            assert!(!grids.is_empty() && (view.is_whole() || grids.len() == 1), "{view:?}");
        }
    }

    #[test]
    fn charts_are_of_columns_that_are_there() {
        let profile = Merged::default();
        let mut seen = 0;
        for view in whole_views() {
            let Chart::Bars(bars) = &view.chart else { continue };
            let grids = every_grid(view, &profile, &Options::default(), &NoSymbols);
            let has = |name: &str| grids[0].at(name).unwrap_or_else(|| panic!("{view:?} has no column {name}"));
            has(bars.value);
            (bars.label)(&|name| has(name).to_string());
            seen += 1;
        }
        assert!(seen > 5, "{seen} charts of bars");
    }
}
