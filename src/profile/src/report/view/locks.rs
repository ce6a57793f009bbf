//! Distributed locks: who stands in line, and for how long each is held.

use super::object;
use crate::merge::{LockKey, LockSum, Merged};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;

const COLUMNS: [Column; 10] = [
    column("lock", "lock", Kind::Text),
    column("taken", "taken", Kind::Count),
    column("contended", "contended", Kind::Share),
    column("waited_ns", "waited", Kind::Time),
    column("held_ns", "held", Kind::Time),
    column("mean_held_ns", "a hold", Kind::Time),
    column("busy", "busy", Kind::Share),
    column("handover_ns", "handover", Kind::Time),
    column("max_held_ns", "", Kind::Time),
    column("pes", "", Kind::Count),
];

/// Share of the run from which on a lock is held so much that more PEs cannot help.
const BUSY: f64 = 0.75;

pub(super) fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let empty = "no lock was taken; locks are in profiles that are kept (oshrun --profile-dir)";
    let mut grid = Grid::new("locks", "Distributed locks", &COLUMNS, empty);
    let main: u64 = profile.pes.iter().map(|pe| pe.main_ns()).max().unwrap_or(0);
    let mut busiest: Option<(f64, String)> = None;
    for (key, sum) in &profile.locks {
        let (all, name) = (&sum.all, name(*key, sum, symbols));
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        let busy = share(all.held_ns, main).min(1.0);
        if key.is_some() && busiest.as_ref().is_none_or(|(most, _)| busy > *most) {
            busiest = Some((busy, name.clone()));
        }
        grid.row([
            name.into(),
            all.taken.into(),
            Cell::Real(share(all.contended, all.taken)),
            all.waited_ns.into(),
            all.held_ns.into(),
            Cell::Real(share(all.held_ns, all.taken)),
            if key.is_some() { Cell::Real(busy) } else { Cell::None },
            (all.handovers > 0).then(|| share(all.handover_ns, all.handovers)).into(),
            all.max_held_ns.into(),
            sum.pes.into(),
        ]);
    }
    grid.cut(options.top);
    if let Some((busy, name)) = busiest.filter(|(busy, _)| *busy >= BUSY) {
        grid.notes.push(format!(
            "{name}: busy {:.0} % of the run: shorten what is done under it or split it; more PEs cannot help.",
            100.0 * busy
        ));
    }
    if !grid.rows.is_empty() {
        grid.notes.push(
            "Times are summed over the PEs; busy: time held over the run; handover: from a release on this host to \
             having it, a time."
                .to_owned(),
        );
    }
    grid
}

/// `table_lock on PE 0`, `locks+0x18 on PE 0`, `heap+0x40 on PE 0`: locks are PE 0's.
fn name(key: LockKey, sum: &LockSum, symbols: &dyn Symbols) -> String {
    key.map_or("(others)".to_owned(), |lock| format!("{} on PE 0", object(lock, sum.symbol.as_ref(), symbols)))
}
