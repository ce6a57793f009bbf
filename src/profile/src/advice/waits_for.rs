//! PEs that wait for a flag, signal or variable that one PE sets late.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::merge::{Because, Cause, Merged, PeRow, WaitLines};
use crate::op::{self, Class};
use crate::report::grid::Kind;
use crate::report::{CAUSES, Options, grids, located, shown_time, try_otherwise};

use super::{Case, Finding, outside, run_ns, uneven_work};

/// Share of the run that waiting for one PE has to take.
const DOMINATES: f64 = 0.20;
/// Share of all such waiting that has to be for one PE: with an even exchange each waits for each.
const ONE_PE: f64 = 0.6;
/// How long a PE waits itself at most, compared with each of those who wait for it.
const AS_LONG: f64 = 0.75;
/// PEs of a chain that are named.
const LONGEST: usize = 4;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let is_wait = |row: &&Cause| op::class_of(row.site.routine) == Some(Class::Wait);
    let rows: Vec<&Cause> = profile.causes.rows.iter().filter(is_wait).collect();
    let all: u64 = rows.iter().map(|row| row.ns).fold(0, u64::saturating_add);
    // Whoever waits himself is late because of another: the time is that other's.
    let (lines, whom) = (WaitLines::of(rows.iter().copied()), waited_for(&rows));
    let mut of: BTreeMap<u32, Late> = BTreeMap::new();
    for row in &rows {
        // Where PEs wait for each other in turn, none of them is the one.
        if let Some(by) = &row.by
            && let Some(line) = lines.from(row.pe, by.pe)
        {
            let last = *line.last().unwrap_or(&by.pe);
            let late = of.entry(last).or_default();
            late.ns = late.ns.saturating_add(explained_ns(row));
            late.waiting.insert(row.pe);
            if line.len() >= late.longest.len() {
                late.longest = line;
            }
            // What its own work does not explain is for the one that it waits for itself, before it works.
            let rest = row.ns - explained_ns(row);
            if let Some(before) = whom.get(&last).copied().filter(|pe| rest > 0 && *pe != row.pe) {
                let before = of.entry(before).or_default();
                before.ns = before.ns.saturating_add(rest);
                before.waiting.insert(row.pe);
            }
        }
    }
    no_longer_than_busy(profile, &mut of);
    let most = of.iter().max_by_key(|(pe, late)| (late.ns, std::cmp::Reverse(**pe)));
    let (&late, &Late { ns: lost, ref longest, .. }) = most?;
    let share = lost as f64 / run_ns(profile);
    let works = |row: &&Cause| {
        let is_it = row.by.as_ref().is_some_and(|by| by.pe == late);
        is_it && matches!(row.because, Because::Worked(_) | Because::More(..) | Because::Library(_))
    };
    // Who waits about as long as those who wait for it passes on what others do.
    let own = profile.pes.iter().find(|row| row.pe == late).map_or(0, |row| row.time_ns(Class::is_for_others));
    let passes_on = own as f64 * of[&late].waiting.len() as f64 >= AS_LONG * lost as f64;
    let is_one = lost as f64 >= ONE_PE * all as f64 && !passes_on && !uneven_work::is_one_of_several(profile, late);
    if share < DOMINATES || !is_one {
        return None;
    }
    let its: Vec<&Cause> = rows.iter().copied().filter(works).collect();
    let (place, because) = costliest(profile, &its)?;
    let others: Vec<String> = longest.iter().rev().take(LONGEST).map(|pe| format!("PE {pe}")).collect();
    let does = outside::most_of(profile, late);
    let line = if others.len() > 2 { format!("; in line: {}", others.join(" before ")) } else { String::new() };
    Some(Finding {
        what: format!("{} of waiting is for PE {late}, most {}", shown_time(lost as f64), located(&place)),
        evidence: format!("{because}{line}"),
        try_this: try_otherwise(does).unwrap_or(
            "send what others wait for before other work, or in parts as they are ready; give that PE less to do; let \
             the others work on what they have",
        ),
        share,
    })
}

/// Whoever was not busy for as long was not waited for as long.
fn no_longer_than_busy(profile: &Merged, of: &mut BTreeMap<u32, Late>) {
    for (pe, late) in of {
        late.ns = late.ns.min(busy_ns(profile, *pe).saturating_mul(late.waiting.len() as u64));
    }
}

/// The one that each PE waits for longest.
fn waited_for(rows: &[&Cause]) -> HashMap<u32, u32> {
    let mut of: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (row, by) in rows.iter().filter_map(|row| Some((row, row.by.as_ref()?))) {
        *of.entry((row.pe, by.pe)).or_default() += row.ns;
    }
    let mut most: HashMap<u32, (u64, u32)> = HashMap::new();
    for ((pe, by), ns) in of {
        let known = most.entry(pe).or_insert((0, by));
        if ns > known.0 {
            *known = (ns, by);
        }
    }
    most.into_iter().map(|(pe, (_, by))| (pe, by)).collect()
}

/// How much of a wait what is known of its end explains: what the other did meanwhile can be less.
fn explained_ns(row: &Cause) -> u64 {
    match row.because {
        Because::Worked(ns) | Because::Library(ns) | Because::Held(ns) => row.ns.min(ns),
        Because::NotKnown | Because::NotEnded | Because::Waited(..) | Because::More(..) => row.ns,
    }
}

/// What a PE did that others can have waited for: all but waiting itself, and standing in line for a core otherwise.
fn busy_ns(profile: &Merged, pe: u32) -> u64 {
    let busy = |row: &PeRow| {
        row.main_ns().saturating_sub(row.time_ns(Class::waits)).saturating_sub(row.queued_outside_ns().unwrap_or(0))
    };
    profile.pes.iter().find(|row| row.pe == pe).map_or(u64::MAX, busy)
}

/// The time that others wait for a PE, who they are, and the longest line of them, the PE itself last.
#[derive(Default)]
struct Late {
    ns: u64,
    waiting: HashSet<u32>,
    longest: Vec<u32>,
}

/// The line at which most of these is waited, and because of what the longest of them there is, in the view's words.
fn costliest(profile: &Case<'_>, its: &[&Cause]) -> Option<(String, String)> {
    let tables = grids(&CAUSES, profile, &Options::default(), profile.symbols);
    let table = tables.first()?;
    let column = |name: &str| table.columns.iter().position(|column| column.name == name);
    let (site, because, pe) = (column("site")?, column("because")?, column("pe")?);
    let mut lines: BTreeMap<String, (u64, u64, String)> = BTreeMap::new();
    for (row, cells) in profile.causes.rows.iter().zip(&table.rows) {
        if !its.iter().any(|other| std::ptr::eq(*other, row)) {
            continue;
        }
        let shown = |at: usize| cells[at].shown(Kind::Text);
        let line = lines.entry(shown(site)).or_default();
        line.0 = line.0.saturating_add(row.ns);
        if row.ns > line.1 {
            let whose = format!(
                "{} of it PE {} waits at {}: {}",
                shown_time(row.ns as f64),
                shown(pe),
                shown(site),
                shown(because)
            );
            (line.1, line.2) = (row.ns, whose);
        }
    }
    let (site, (_, _, because)) = lines.into_iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(&a.0)))?;
    Some((site, because))
}
