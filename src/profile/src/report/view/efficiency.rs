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

/// What is said of regions that not all PEs were in.
const IDLE: &str = "PEs that were not in a region count as idle there. Phases are of the PEs that went through them.";

const UNEVENLY_RECORDED: &str =
    "PEs were at level 0 for different times: what they did in the rest cannot be compared.";

fn grid(profile: &Merged, symbols: &dyn Symbols) -> Grid {
    let mut grid = Grid::new("efficiency", "Efficiency", &COLUMNS, "no PE got as far as the end of its initialization");
    let all = &profile.efficiencies;
    let whole = whole_pes(profile);
    if !profile.is_recorded_evenly() {
        return Grid { empty: UNEVENLY_RECORDED, ..grid };
    }
    row(&mut grid, whole, ("run", "run"), &all.run);
    let mut regions: Vec<(&str, &Times)> = all.regions.iter().map(|(name, times)| (name.as_str(), times)).collect();
    regions.retain(|_| all.has_regions());
    regions.sort_by_key(|(name, times)| (std::cmp::Reverse(times.lost_ns(whole)), *name));
    let are_some_idle = regions.iter().any(|(_, times)| times.pes < whole);
    for (name, times) in regions {
        row(&mut grid, whole, if name.is_empty() { ("(outside)", "outside") } else { (name, "region") }, times);
    }
    let mut is_estimated = false;
    for LinePhase { from, to, sum, .. } in phases_by_line(profile, symbols) {
        // PEs that go another way work there meanwhile.
        row(&mut grid, sum.pes(), (&format!("{from} to {to}"), "phase"), &sum.parts());
        is_estimated |= sum.is_estimated();
    }
    if are_some_idle {
        grid.notes.push(IDLE.to_owned());
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
            "PEs slept for {} between tests, outside of the library: that is waiting, and counts here as their own \
             time. What is lost is more.",
            units::time(naps as f64)
        ));
    }
    if is_estimated {
        grid.notes
            .push(format!("Of what is between two calls one in {} was kept: its rows are estimates.", profile.every));
    }
    grid
}

/// A row of what so many PEs share.
fn row(grid: &mut Grid, pes: u64, (of, kind): (&str, &str), times: &Times) {
    let Some(f) = times.factors(pes) else { return };
    let factors = [f.parallel, f.balance, f.communication, f.transfer, f.serialisation];
    let mut cells: Vec<Cell> = vec![of.into(), kind.into()];
    cells.extend(factors.map(Cell::Real));
    cells.push(times.lost_ns(pes).into());
    grid.row(cells);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Profile, Progress};
    use crate::op::find;
    use crate::report::NoSymbols;
    use crate::tables::{Module, Phase, Region, Sync, Team};

    const MS: u64 = 1_000_000;

    /// Four PEs of two teams, each of which meets ten times at a line of its own after 50 ms of work each time.
    fn teams() -> Profile {
        let op = find("shmem_team_sync").unwrap();
        let pe = |pe: u32| {
            let start = (pe % 2) as i32;
            let address = 1 + u64::from(pe % 2);
            let sync = |number: u64| {
                let begin_ns = 1 + number * 50 * MS;
                let from = (number > 0).then_some((address, op));
                let phase = Phase { from, begin_ns, ..Phase::default() };
                let arrived_ns = begin_ns + 50 * MS;
                let left_ns = arrived_ns;
                Sync { op, address, number, arrived_ns, left_ns, phase, ..Sync::default() }
            };
            let mut row = Pe { pe, progress: Progress::Initialized, end_ns: 501 * MS, ..Pe::default() };
            row.tables.teams = vec![Team { id: 3, start, stride: 2, size: 2, calls: 10, ..Team::default() }];
            row.tables.sync_every = 1;
            row.tables.syncs = (0..10).map(sync).collect();
            row.tables.modules = vec![Module { start: 0, end: 100, path: "/bin/x".into(), ..Module::default() }];
            row
        };
        Profile { pes: (0..4).map(pe).collect(), ..Profile::default() }
    }

    /// Each is perfectly balanced, whatever the other team does meanwhile.
    #[test]
    fn a_phase_is_of_the_pes_that_go_through_it() {
        let merged = Merged::from(&teams());
        let made = grid(&merged, &NoSymbols);
        let phases: Vec<_> = made.rows.iter().filter(|row| row[1].shown(Kind::Text) == "phase").collect();
        assert!(phases.len() >= 2, "{:?}", made.rows);
        for row in phases {
            assert_eq!((row[2].number(), row[3].number(), row[7].number()), (1.0, 1.0, 0.0), "{row:?}");
        }
        let is_noted = |grid: &Grid| grid.notes.iter().any(|note| note.contains("count as idle there"));
        assert!(!is_noted(&made));
        // Regions are of the whole job.
        let mut regions = teams();
        let region = |name: &str, own_ns| Region { name: name.into(), own_ns, ..Region::default() };
        regions.pes.iter_mut().for_each(|pe| pe.tables.regions = vec![region("", 400 * MS)]);
        regions.pes[2].tables.regions.push(region("io", 100 * MS));
        assert!(is_noted(&grid(&Merged::from(&regions), &NoSymbols)));
    }
}
