//! The tables by PE, by message size and by distance.

use super::balance::WAITING;
use super::distinct::distinct_names;
use super::table::{self, Table};
use super::{Options, sort, text, units};
use crate::merge::{Merged, PeRow};
use crate::model::Routine;
use crate::op::Class;
use crate::size::{Distance, size_bounds};

pub(super) fn by_pe(profile: &Merged) -> String {
    if profile.pes.is_empty() {
        return "no PE recorded anything\n".to_owned();
    }
    let columns = [
        ("host", 10),
        ("run", 9),
        ("calls", 8),
        ("bytes", 9),
        ("library", 9),
        ("%", 6),
        (WAITING[0].0, 9),
        (WAITING[1].0, 8),
        ("coll.", 8),
    ];
    let mut hosts: Vec<String> = profile.pes.iter().map(|pe| pe.host.to_string()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    // What the terminal is wider than the other columns is theirs.
    let taken: usize = 4 + columns.iter().map(|(_, width)| width).sum::<usize>();
    let short = distinct_names(&hosts, 9 + table::width().saturating_sub(taken), "...");
    let shown = |host: &str| hosts.binary_search_by(|known| (**known).cmp(host)).map_or("", |at| &short[at]);
    let mut table = Table::new("PE", 4, &columns);
    for pe in &profile.pes {
        let time = |pick: fn(&PeRow) -> u64| units::time(pick(pe) as f64);
        table.row(
            &pe.pe.to_string(),
            &[
                shown(&pe.host).to_owned(),
                time(PeRow::main_ns),
                units::count(pe.all_calls()),
                units::bytes(pe.bytes),
                time(PeRow::library_ns),
                text::library_share(pe),
                time(WAITING[0].1),
                time(WAITING[1].1),
                time(WAITING[2].1),
            ],
        );
    }
    queued(&profile.pes).into_iter().for_each(|note| table.line(&note));
    table.finish()
}

/// Share of its run in line for a core from which on a PE is told of.
const QUEUED: f64 = 0.05;

/// Which PEs had to stand in line for a core.
fn queued(pes: &[PeRow]) -> Option<String> {
    let share = |pe: &&PeRow| pe.queued_ns().unwrap_or(0) as f64 / pe.main_ns().max(1) as f64;
    let count = pes.iter().filter(|pe| share(pe) >= QUEUED).count();
    let most = pes.iter().max_by(|a, b| share(a).total_cmp(&share(b))).filter(|_| count > 0)?;
    Some(format!(
        "{count} of {} PEs stood in line for a core for 5 % of their run or more, PE {} most: {}, {} %.",
        pes.len(),
        most.pe,
        units::time(most.queued_ns().unwrap_or(0) as f64),
        units::percent(share(&most), 1.0)
    ))
}

pub(super) fn by_size(profile: &Merged, options: &Options) -> String {
    let mut routines = profile.routines.clone();
    routines.retain(|r| !by_class(r).is_empty());
    if routines.is_empty() {
        return "no call had a payload\n".to_owned();
    }
    let cut = sort::select(&mut routines, options.sort, options.top);
    let columns = [("from", 8), ("below", 8), ("calls", 9), ("% calls", 8), ("bytes", 9), ("% bytes", 8)];
    let longest = routines.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut table = Table::new("routine, message size", longest, &columns);
    for r in &routines {
        let all: (u64, u64) = r.sizes.iter().fold((0, 0), |sum, s| (sum.0 + s.calls, sum.1.saturating_add(s.bytes)));
        let mut name = r.name.as_str();
        for (class, calls, bytes) in by_class(r) {
            let (low, high) = size_bounds(usize::from(class));
            let below = high.checked_add(1).map_or("-".to_owned(), units::bytes);
            table.row(
                name,
                &[
                    units::bytes(low),
                    below,
                    units::count(calls),
                    units::percent(calls as f64, all.0 as f64),
                    units::bytes(bytes),
                    units::percent(bytes as f64, all.1 as f64),
                ],
            );
            name = "";
        }
    }
    if cut > 0 {
        table.line(&format!("... and {cut} more routines"));
    }
    table.finish() + &sums(profile)
}

/// What is said of the numbers of a table.
fn sums(profile: &Merged) -> String {
    super::view::are_sums("Calls and bytes", profile).map(|note| note + "\n").unwrap_or_default()
}

/// Calls and bytes by size class, over all distances. An allocation is no message.
pub(super) fn by_class(r: &Routine) -> Vec<(u8, u64, u64)> {
    let mut classes: Vec<(u8, u64, u64)> = Vec::new();
    if r.class == Class::Memory {
        return classes;
    }
    for s in &r.sizes {
        match classes.last_mut().filter(|last| last.0 == s.class) {
            Some(last) => *last = (s.class, last.1.saturating_add(s.calls), last.2.saturating_add(s.bytes)),
            None => classes.push((s.class, s.calls, s.bytes)),
        }
    }
    classes
}

pub(super) fn by_peer(profile: &Merged, options: &Options) -> String {
    let mut routines = profile.routines.clone();
    let all = routines.len();
    routines.retain(|r| r.calls[Distance::None as usize] < r.all_calls());
    let without = all - routines.len();
    let cut = sort::select(&mut routines, options.sort, options.top);
    let shown = [Distance::Own, Distance::Host, Distance::Remote];
    let columns = [("self", 8), ("bytes", 9), ("host", 8), ("bytes", 9), ("remote", 8), ("bytes", 9)];
    let longest = routines.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut table = Table::new("routine, calls to", longest, &columns);
    for r in &routines {
        let cells: Vec<String> = shown
            .iter()
            .flat_map(|&d| {
                let (calls, bytes) = (r.calls[d as usize], r.bytes[d as usize]);
                let dash = |n: u64, text: String| if n == 0 { "-".to_owned() } else { text };
                [dash(calls, units::count(calls)), dash(bytes, units::bytes(bytes))]
            })
            .collect();
        table.row(&r.name, &cells);
    }
    if cut > 0 {
        table.line(&format!("... and {cut} more routines"));
    }
    if without > 0 {
        table.line(&format!("{without} routines have no single peer (collectives, ordering, local calls): not listed"));
    }
    table.finish() + &sums(profile)
}
