//! PEs that wait for a flag, signal or variable that one PE sets late.

use std::collections::BTreeMap;

use crate::merge::{Because, Cause, Merged};
use crate::op::{self, Class};
use crate::report::grid::Kind;
use crate::report::{Options, Symbols, View, grids, shown_time};

use super::{Finding, run_ns};

/// Share of the run that waiting for one PE has to take.
const DOMINATES: f64 = 0.20;
/// Share of all such waiting that has to be for one PE: with an even exchange each waits for each.
const ONE_PE: f64 = 0.6;
/// PEs of a chain that are named.
const LONGEST: usize = 4;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let is_wait =
        |row: &&Cause| op::lookup(row.site.routine).and_then(op::get).is_some_and(|op| op.class == Class::Wait);
    let rows: Vec<&Cause> = profile.causes.rows.iter().filter(is_wait).collect();
    let all: u64 = rows.iter().map(|row| row.ns).fold(0, u64::saturating_add);
    // Whoever waits himself is late because of another: the time is that other's.
    let mut of: BTreeMap<u32, u64> = BTreeMap::new();
    for row in &rows {
        if let Some(by) = &row.by {
            let last = *chain(&rows, row.pe, by.pe).last().unwrap_or(&by.pe);
            let sum = of.entry(last).or_default();
            *sum = sum.saturating_add(explained_ns(row));
        }
    }
    let (&late, &lost) = of.iter().max_by_key(|(pe, ns)| (**ns, std::cmp::Reverse(**pe)))?;
    let share = lost as f64 / run_ns(profile);
    let works = |row: &&&Cause| {
        let is_it = row.by.as_ref().is_some_and(|by| by.pe == late);
        is_it && matches!(row.because, Because::Worked(_) | Because::More(..) | Because::Library(_))
    };
    let row = *rows.iter().filter(works).max_by_key(|row| row.ns)?;
    if share < DOMINATES || (lost as f64) < ONE_PE * all as f64 {
        return None;
    }
    let (place, because) = shown(profile, symbols, row)?;
    let longest = rows.iter().filter_map(|row| Some(chain(&rows, row.pe, row.by.as_ref()?.pe)));
    let longest = longest.filter(|chain| chain.last() == Some(&late)).max_by_key(Vec::len).unwrap_or_default();
    let others: Vec<String> = longest.iter().rev().take(LONGEST).map(|pe| format!("PE {pe}")).collect();
    let line = if others.len() > 2 { format!("; in line: {}", others.join(" before ")) } else { String::new() };
    Some(Finding {
        what: format!("{} of waiting is for PE {late}, most at {place}", shown_time(lost as f64)),
        evidence: format!("{because}{line}"),
        try_this: "send what others wait for before other work, or in parts as they are ready; give that PE less \
                   to do; let the others work on what they have",
        share,
    })
}

/// How much of a wait what is known of its end explains: what the other did meanwhile can be less.
fn explained_ns(row: &Cause) -> u64 {
    match row.because {
        Because::Worked(ns) | Because::Library(ns) | Because::Held(ns) => row.ns.min(ns),
        Because::NotKnown | Because::Waited(..) | Because::More(..) => row.ns,
    }
}

/// Who is waited for, by one who waits for `first`: the PEs, the first in line last.
fn chain(rows: &[&Cause], waits: u32, first: u32) -> Vec<u32> {
    let mut chain = vec![waits, first];
    while let Some(&last) = chain.last() {
        let by = |row: &&&Cause| row.by.as_ref().is_some_and(|by| by.pe == last);
        let cause = rows.iter().filter(by).find(|row| chain[chain.len() - 2] == row.pe);
        let next = match cause.map(|row| row.because) {
            Some(Because::Waited(_, Some(whom))) if !chain.contains(&whom) => whom,
            _ => break,
        };
        chain.push(next);
    }
    chain
}

/// Where a row of the view is waited, and because of what, in its words.
fn shown(profile: &Merged, symbols: &dyn Symbols, row: &Cause) -> Option<(String, String)> {
    let at = profile.causes.rows.iter().position(|other| std::ptr::eq(other, row))?;
    let tables = grids(View::Causes, profile, &Options::default(), symbols);
    let table = tables.first()?;
    let cell = |name: &str| {
        let column = table.columns.iter().position(|column| column.name == name)?;
        Some(table.rows.get(at)?.get(column)?.shown(Kind::Text))
    };
    Some((cell("site")?, cell("because")?))
}
