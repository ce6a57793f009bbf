//! Which words of which PE short calls go to most: contended atomics, polled flags.

use super::object;
use super::row::{Bars, Chart, Tables, View};
use crate::merge::Merged;
use crate::op::Class;
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;

pub(super) static VIEW: View = View {
    name: "addresses",
    title: "Addresses: which words short calls go to most",
    help: "words that short calls go to most (atomics, flags)",
    hint: "Words that short calls go to again and again, of which PE, by how many PEs: a counter that all add to, a \
           flag that many poll.",
    // A bar a word, of which each PE has one of the same name.
    chart: Chart::Bars(Bars {
        title: "time by address",
        label: |of| format!("{} on PE {}", of("address"), of("peer")),
        value: "ns",
    }),
    tables: Tables::Made(|p, o, s| vec![grid(p, o, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 7] = [
    column("address", "address", Kind::Text),
    column("peer", "of PE", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("ns", "time", Kind::Time),
    column("share", "share", Kind::Share),
    column("pes", "by PEs", Kind::Count),
];

/// Part of the time in puts, gets and atomics that an address has to take to be shown.
const WORTH: f64 = 0.01;

fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let empty = "no word takes 1 % of the time in puts, gets, atomics and signals";
    let mut grid = Grid::new("addresses", "Addresses", &COLUMNS, empty);
    let transfers = profile
        .routines
        .iter()
        .filter(|routine| matches!(routine.class, Class::Put | Class::Get | Class::Amo | Class::Signal));
    let all = transfers.map(|routine| routine.total_ns).fold(0, u64::saturating_add).max(1) as f64;
    for sum in &profile.addresses {
        // Samples that were denied some of their time may see more than there is.
        let share = (sum.ns as f64 / all).min(1.0);
        if share < WORTH {
            continue;
        }
        grid.row([
            object(sum.object, sum.symbol.as_ref(), symbols).into(),
            Cell::Pe(sum.peer),
            sum.routine.as_str().into(),
            sum.calls.into(),
            sum.ns.into(),
            Cell::Real(share),
            sum.pes.into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "By cache line of 64 bytes, from samples; calls and time are estimates, summed over the PEs. share: of the \
             time in puts, gets, atomics and signals."
                .to_owned(),
        );
    }
    grid
}
