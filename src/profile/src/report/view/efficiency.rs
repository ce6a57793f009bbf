//! The factors of parallel efficiency, of the run and of its regions.

use super::phases::{LinePhase, phases_by_line};
use super::row::{Bars, Chart, Tables, View};
use crate::advice::naps_ns;
use crate::merge::{Merged, Times};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::head::whole_pes;
use crate::report::symbols::Symbols;
use crate::report::units;

pub(super) static VIEW: View = View {
    name: "efficiency",
    title: "Efficiency: what is lost to imbalance, data and waiting",
    help: "how much is lost to uneven work, to moving data and to waiting, in the run and in its regions",
    hint: "How much of the PEs' time is the program's own, and what the rest is lost to: uneven work, moving data, \
           waiting for others. The factors multiply up.",
    chart: Chart::Bars(Bars { title: "time of PEs that is lost", label: |of| of("of"), value: "lost_ns" }),
    tables: Tables::Made(|p, _, s| vec![grid(p, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 8] = [
    column("of", "of", Kind::Text),
    column("kind", "", Kind::Text),
    column("parallel", "parallel", Kind::Share),
    column("balance", "= balance", Kind::Share),
    column("communication", "x comm.", Kind::Share),
    column("transfer", "= transfer", Kind::Share),
    column("serialisation", "x serial.", Kind::Share),
    column("lost_ns", "lost", Kind::Time),
];

fn grid(profile: &Merged, symbols: &dyn Symbols) -> Grid {
    let mut grid = Grid::new("efficiency", "Efficiency", &COLUMNS, "no PE got as far as the end of its initialization");
    let all = &profile.efficiencies;
    row(&mut grid, profile, ("run", "run"), &all.run);
    let mut regions: Vec<(&str, &Times)> = all.regions.iter().map(|(name, times)| (name.as_str(), times)).collect();
    regions.sort_by_key(|(name, times)| (std::cmp::Reverse(lost(profile, times)), *name));
    for (name, times) in regions.into_iter().filter(|_| all.has_regions()) {
        row(&mut grid, profile, if name.is_empty() { ("(outside)", "outside") } else { (name, "region") }, times);
    }
    let mut is_estimated = false;
    for LinePhase { from, to, sum, .. } in phases_by_line(profile, symbols) {
        row(&mut grid, profile, (&format!("{from} to {to}"), "phase"), &sum.parts());
        is_estimated |= sum.is_estimated();
    }
    if !grid.rows.is_empty() {
        grid.notes.extend([
            "balance: mean of the time outside of the library over the most. communication: that most over the longest \
             time. transfer: without time in which data moves; serialisation: without waiting for others. lost: summed \
             over the PEs."
                .to_owned(),
        ]);
    }
    let naps = profile.pes.iter().map(naps_ns(profile)).fold(0, u64::saturating_add);
    if naps > 0 {
        grid.notes.push(format!(
            "PEs slept for {} between tests, outside of the library: that is waiting, and counts here as their own time. \
             What is lost is more.",
            units::time(naps as f64)
        ));
    }
    if is_estimated {
        grid.notes
            .push(format!("Of what is between two calls one in {} was kept: its rows are estimates.", profile.every));
    }
    grid
}

fn lost(profile: &Merged, times: &Times) -> u64 {
    times.lost_ns(whole_pes(profile))
}

fn row(grid: &mut Grid, profile: &Merged, (of, kind): (&str, &str), times: &Times) {
    let Some(f) = times.factors(whole_pes(profile)) else { return };
    let factors = [f.parallel, f.balance, f.communication, f.transfer, f.serialisation];
    let mut cells: Vec<Cell> = vec![of.into(), kind.into()];
    cells.extend(factors.map(Cell::Real));
    cells.push(lost(profile, times).into());
    grid.row(cells);
}
