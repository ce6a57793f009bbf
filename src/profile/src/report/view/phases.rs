//! What happens between two barriers, syncs or collectives.

use std::collections::BTreeMap;

use super::line;
use super::row::{Bars, Chart, Tables, View};
use crate::merge::{Late, Merged, PhaseSum, Place};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;

pub(super) static VIEW: View = View {
    name: "phases",
    title: "Phases: what happens between barriers and collectives",
    help: "what happens between barriers and collectives: where time goes outside of the library",
    hint: "Where time goes that no routine shows: the program itself, from one barrier or collective to the next. One \
           PE with far more work than the mean: the others wait for it at the end of the phase.",
    chart: Chart::Bars(Bars {
        title: "mean work of a PE by phase",
        label: |of| format!("{} to {}", of("from"), of("to")),
        value: "work_mean_ns",
    }),
    tables: Tables::Made(|p, o, s| vec![grid(p, o, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 14] = [
    column("from", "from", Kind::Text),
    column("to", "to", Kind::Text),
    column("times", "times", Kind::Count),
    column("work_mean_ns", "work: mean", Kind::Time),
    column("work_max_ns", "most", Kind::Time),
    column("max_pe", "PE", Kind::Text),
    column("balance", "balance", Kind::Share),
    column("library_mean_ns", "", Kind::Time),
    column("waits_mean_ns", "", Kind::Time),
    column("lost_ns", "waited", Kind::Time),
    column("pes", "PEs", Kind::Count),
    column("share", "", Kind::Share),
    column("from_routine", "", Kind::Text),
    column("to_routine", "", Kind::Text),
];

/// What happens between two lines of the program: where the compiler made several places of one, all of them.
pub(crate) struct LinePhase {
    /// A line, or [`START`].
    pub from: String,
    /// A line, or [`END`].
    pub to: String,
    from_routine: Option<&'static str>,
    to_routine: Option<&'static str>,
    pub sum: PhaseSum,
}

const START: &str = "(start)";
const END: &str = "(end)";

impl LinePhase {
    /// Where it is, for people.
    pub fn name(&self) -> String {
        let place = |of: &str| match of {
            START => "the start".to_owned(),
            END => "the end".to_owned(),
            line => line.to_owned(),
        };
        format!("between {} and {}", place(&self.from), place(&self.to))
    }

    /// Whether the meetings of a line end it.
    pub fn ends_at(&self, late: &Late, line: Option<&str>) -> bool {
        self.to_routine == Some(&*late.routine) && line.is_none_or(|line| line == self.to)
    }
}

/// By lines, most work first.
pub(crate) fn phases_by_line(profile: &Merged, symbols: &dyn Symbols) -> Vec<LinePhase> {
    let name = |place: Option<&Place>, otherwise: &str| {
        let line = place.map_or_else(|| otherwise.to_owned(), |place| line(place.file(), symbols));
        (line, place.map(|place| place.routine))
    };
    let mut sums: BTreeMap<_, PhaseSum> = BTreeMap::new();
    for ((from, to), sum) in &profile.phases {
        sums.entry((name(from.as_ref(), START), name(to.as_ref(), END))).or_default().add(sum);
    }
    let phase = |(((from, from_routine), (to, to_routine)), sum)| LinePhase { from, to, from_routine, to_routine, sum };
    let mut phases: Vec<LinePhase> = sums.into_iter().map(phase).collect();
    phases.sort_by_cached_key(|phase| std::cmp::Reverse(phase.sum.work_ns()));
    phases
}

fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let empty = "nothing is known of what PEs did between barriers and collectives";
    let mut grid = Grid::new("phases", "Between barriers and collectives", &COLUMNS, empty);
    let run = crate::report::merge::run_time_ns(&profile.pes);
    for LinePhase { from, to, from_routine, to_routine, sum } in phases_by_line(profile, symbols) {
        let pes = sum.pes().max(1);
        let (mean, most) = (sum.work_ns() as f64 / pes as f64, sum.most());
        let about = |cell: Cell| if sum.is_estimated() { cell.about() } else { cell };
        grid.row([
            from.into(),
            to.into(),
            sum.times().div_ceil(pes).into(),
            about(mean.into()),
            about(most.0.into()),
            Cell::Pe(most.1),
            Cell::Real(if most.0 > 0 { mean / most.0 as f64 } else { 1.0 }),
            about((sum.library_ns() as f64 / pes as f64).into()),
            about((sum.waits_ns() as f64 / pes as f64).into()),
            about(sum.waited_ns().into()),
            sum.pes().into(),
            // Those of several threads may be at a time.
            Cell::Real(if run > 0.0 { (sum.spent_ns() as f64 / run).min(1.0) } else { 0.0 }),
            from_routine.into(),
            to_routine.into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "work: time of a PE outside of the library, from leaving one place to arriving at the next, over all \
             times. waited: there for the last PE, summed over the PEs that went this way."
                .to_owned(),
        );
    }
    if profile.every > 1 {
        grid.notes.push(format!(
            "~ estimated: one in {} was kept and stands for the others, so that all together take what the PE took.",
            profile.every
        ));
    }
    grid
}
