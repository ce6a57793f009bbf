//! Who ended a wait, and why he was late.

use std::collections::HashMap;

use super::row::{Bars, Chart, Tables, View};
use super::{NOT_KNOWN, line, line_cell, region_cell};
use crate::merge::{Because, Cause, Causes, Does, Merged, outside_parts};
use crate::op::{self, Class};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, did_for, units};
use crate::tables::{CodePlace, Releaser};
use crate::text::visible;

pub(crate) static VIEW: View = View {
    name: "causes",
    title: "Causes: who ended waits, and why they ended no sooner",
    help: "who ended which waits, and what that PE did before",
    hint: "For each place that waits for a flag, signal or lock: which PE ended the wait, by which call, and what that \
           PE did while it was waited for.",
    chart: Chart::Bars(Bars { title: "time in waits", label: |of| of("waiting_at"), value: "waited_ns" }),
    tables: Tables::Made(|p, o, s| vec![grid(p, o, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 14] = [
    column("waiting_at", "waiting at", Kind::Text),
    column("pe", "", Kind::Text),
    column("site", "", Kind::Text),
    column("routine", "", Kind::Text),
    column("region", "region", Kind::Text),
    column("waited_ns", "waited", Kind::Time),
    column("released_by", "released by", Kind::Text),
    column("by_pe", "", Kind::Text),
    column("by_routine", "", Kind::Text),
    column("by_site", "", Kind::Text),
    column("by_region", "", Kind::Text),
    column("because", "because", Kind::Text),
    column("waits", "", Kind::Count),
    column("work_ns", "", Kind::Time),
];

/// What is said where there is nothing.
const SHORT: &str = "no wait was long enough to be looked into";
const NOT_KEPT: &str = "waits are looked into in profiles that are kept (oshrun --profile-dir)";

fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let title = "Who ended waits, and why they ended no sooner";
    let mut grid = Grid::new("causes", title, &COLUMNS, if profile.is_detailed() { SHORT } else { NOT_KEPT });
    let causes = &profile.causes;
    let parts = outside_parts(profile);
    let does: HashMap<u32, Does> = profile.pes.iter().map(|pe| (pe.pe, parts(pe).most())).collect();
    for row in &causes.rows {
        let site = line(row.site.file(), symbols);
        let by = row.by.as_ref();
        let short = |routine: &str| routine.strip_prefix("shmem_").unwrap_or(routine).to_owned();
        let nobody = if row.because == Because::NotEnded { NOBODY } else { NOT_KNOWN };
        let released = by.map_or(Cell::Absent(nobody), |by| {
            if by.place.routine.is_empty() {
                return format!("PE {}, whose part came last", by.pe).into();
            }
            format!("PE {} {} at {}", by.pe, short(&by.place.routine), code_line(&by.place, symbols)).into()
        });
        grid.row([
            format!("PE {} {site}", row.pe).into(),
            Cell::Pe(row.pe),
            line_cell(row.site.file(), symbols),
            row.site.routine.into(),
            region_cell(&row.region),
            row.ns.into(),
            released,
            by.map(|by| Cell::Pe(by.pe)).into(),
            by.map(|by| by.place.routine.clone()).into(),
            by.map(|by| code_line(&by.place, symbols)).into(),
            by.map_or(Cell::None, |by| region_cell(&by.region)),
            because(row, causes, &does, symbols).into(),
            row.waits.into(),
            by.map(|by| by.work_ns).into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        notes(causes, &mut grid.notes);
    }
    grid
}

/// What is said below the table.
fn notes(causes: &Causes, notes: &mut Vec<String>) {
    let mut note = |text: &str| notes.push(text.to_owned());
    note(
        "Long waits are each looked into, of shorter ones some, which stand for the others. Barriers and collectives: \
         --view imbalance.",
    );
    let is_part = |row: &Cause| row.by.as_ref().is_some_and(|by| by.place.routine.is_empty());
    let is_lock = |row: &Cause| op::class_of(row.site.routine) == Some(Class::Lock);
    if causes.rows.iter().any(is_part) {
        note(
            "Of an operation with a handle: the PE whose part came last may itself have waited for another, as its own \
             rows say: collectives pass on in several rounds what comes late.",
        );
    }
    if causes.rows.iter().any(is_lock) {
        note(
            "Of a lock: the one that released it held it for so long; what was waited beyond that went to others \
             before it in line, and to handing it over (--view locks). Not known: released from another host, or \
             before it was asked for.",
        );
    }
    if causes.rows.iter().any(|row| row.by.is_none() && row.because != Because::NotEnded && !is_lock(row)) {
        note(
            "Not known: stores from other hosts, as part of larger puts, by other means, and where several threads may \
             have stored last; for them oshrun --trace, then oshprof trace DIR --to waits.",
        );
    }
}

/// What stands for who released a wait that has not ended.
const NOBODY: &str = "(nobody: it had not returned)";

fn code_line(place: &CodePlace, symbols: &dyn Symbols) -> String {
    line((!place.path.is_empty()).then_some((place.path.as_str(), place.address)), symbols)
}

/// Why the other was late, in words; nothing where it is not known.
fn because(row: &Cause, causes: &Causes, does: &HashMap<u32, Does>, symbols: &dyn Symbols) -> Option<String> {
    let by = row.by.as_ref().filter(|by| !by.place.routine.is_empty())?;
    let time = |ns: u64| units::time(ns as f64);
    let between = |by: &Releaser| {
        let to = code_line(&by.place, symbols);
        by.from.as_ref().map_or(format!("before {to}"), |from| format!("between {} and {to}", code_line(from, symbols)))
    };
    let a_time = match row.waits {
        0 | 1 => String::new(),
        waits => format!("{} a time, ", time(by.own_ns / waits)),
    };
    Some(match row.because {
        Because::NotKnown | Because::NotEnded => return None,
        Because::Waited(ns, whom) => {
            let whom = whom.map(|pe| format!(" for PE {pe}")).unwrap_or_default();
            let place = by.from.as_ref().map(|from| format!(" at {}", code_line(from, symbols))).unwrap_or_default();
            format!("PE {} waited itself{place}{whom}, {}", by.pe, time(ns))
        }
        Because::Held(ns) => format!("PE {} held it for {} a time, {}", by.pe, time(ns), between(by)),
        Because::Library(ns) => format!("PE {} was in the library for {}, {a_time}{}", by.pe, time(ns), between(by)),
        Because::Worked(ns) => {
            let does = does.get(&by.pe).copied().unwrap_or(Does::Computes);
            format!("PE {} {}, {a_time}{}", by.pe, did_for(does, ns as f64), between(by))
        }
        Because::More(region, ns) => {
            let name = causes.regions.get(region as usize).map(String::as_str).unwrap_or_default();
            format!("PE {} spent {} more than the mean in region {}", by.pe, time(ns), visible(name))
        }
    })
}
