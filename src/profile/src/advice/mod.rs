//! What slows a program down, with the evidence, and what to try. Each rule is a file and a row of [`RULES`]; a rule
//! that is not sure says nothing.

mod algorithm;
mod barrier_late;
mod barriers_per_byte;
mod case;
mod compare_and_swap;
mod contended_atomics;
mod contexts_and_teams;
mod covered;
mod first_touch;
mod get_and_wait;
mod heap;
mod heap_full;
mod hot_pe;
mod larger_team;
mod library_time;
mod locks;
mod naps;
mod network_full;
mod network_small;
mod never_returned;
mod outside;
mod oversubscribed;
mod own_memory;
mod placement;
mod polling;
mod put_then_flag;
mod queries;
mod quiet_often;
mod room;
mod serial_pe;
mod serial_phase;
mod serialized;
mod slow_host;
mod small_gets;
mod small_puts;
mod start_and_end;
mod strided;
#[cfg(test)]
mod tests;
mod uneven_steps;
mod uneven_work;
mod waits_for;

use std::collections::BTreeMap;

pub(crate) use self::barrier_late::waits_itself;
pub use self::case::Case;
pub(crate) use self::naps::naps_ns;
pub(crate) use self::start_and_end::{END, late as late_end, lost_at_end};
use crate::merge::{Merged, PeRow};
use crate::model::Routine;
use crate::op::{self, Class};
use crate::report::{Symbols, located, run_time_ns, shown_time};

/// What a rule found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong, in one line.
    pub what: String,
    /// The numbers that show it.
    pub evidence: String,
    /// What to try.
    pub try_this: &'static str,
    /// What it costs at most, as a share of the run time of all PEs.
    pub share: f64,
}

/// One rule.
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// Looks at a profile.
    pub find: fn(&Case<'_>) -> Option<Finding>,
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule { name: "small-puts", find: small_puts::find },
    Rule { name: "quiet-often", find: quiet_often::find },
    Rule { name: "barrier-late", find: barrier_late::find },
    Rule { name: "get-and-wait", find: get_and_wait::find },
    Rule { name: "polling", find: polling::find },
    Rule { name: "heap", find: heap::find },
    Rule { name: "contexts-and-teams", find: contexts_and_teams::find },
    Rule { name: "serial-pe", find: serial_pe::find },
    Rule { name: "barriers-per-byte", find: barriers_per_byte::find },
    Rule { name: "oversubscribed", find: oversubscribed::find },
    Rule { name: "queries", find: queries::find },
    Rule { name: "put-then-flag", find: put_then_flag::find },
    Rule { name: "small-gets", find: small_gets::find },
    Rule { name: "own-memory", find: own_memory::find },
    Rule { name: "strided", find: strided::find },
    Rule { name: "contended-atomics", find: contended_atomics::find },
    Rule { name: "compare-and-swap", find: compare_and_swap::find },
    Rule { name: "locks", find: locks::find },
    Rule { name: "hot-pe", find: hot_pe::find },
    Rule { name: "heap-full", find: heap_full::find },
    Rule { name: "waits-for", find: waits_for::find },
    Rule { name: "larger-team", find: larger_team::find },
    Rule { name: "placement", find: placement::find },
    Rule { name: "network-small", find: network_small::find },
    Rule { name: "network-full", find: network_full::find },
    Rule { name: "first-touch", find: first_touch::find },
    Rule { name: "algorithm", find: algorithm::find },
    Rule { name: "start-and-end", find: start_and_end::find },
    Rule { name: "slow-host", find: slow_host::find },
    Rule { name: "serialized", find: serialized::find },
    Rule { name: "uneven-work", find: uneven_work::find },
    Rule { name: "uneven-steps", find: uneven_steps::find },
];

/// Where the time goes, for programs that no rule explains.
const OTHERWISE: Rule = Rule { name: "library-time", find: library_time::find };

/// Why a job was given up: what else its PEs did says nothing beside it.
const GIVEN_UP: Rule = Rule { name: "never-returned", find: never_returned::find };

/// Whether a rule says why a job did not come to its end.
pub(crate) fn is_of_end(rule: &str) -> bool {
    rule == GIVEN_UP.name
}

/// Below this share of the run time nothing is worth a word.
const WORTH: f64 = 0.02;

/// Findings with the names of their rules, the most expensive first.
pub fn findings(profile: &Merged, symbols: &dyn Symbols) -> Vec<(&'static str, Finding)> {
    // Of PEs whose files are damaged nobody knows what they did.
    if profile.pes.iter().any(|pe| pe.incomplete) {
        let mut whole = profile.clone();
        whole.pes.retain(|pe| !pe.incomplete);
        return findings(&whole, symbols);
    }
    let profile = &Case::new(profile, symbols);
    if let Some(finding) = (GIVEN_UP.find)(profile) {
        return vec![(GIVEN_UP.name, finding)];
    }
    let mut found: Vec<_> =
        RULES.iter().filter_map(|rule| (rule.find)(profile).map(|finding| (rule.name, finding))).collect();
    // Threads that lose time together do not lose more than there is.
    found.iter_mut().for_each(|(_, finding)| finding.share = finding.share.min(1.0));
    // What is found has to explain some of it: a heap that is full does not, and cores that are taken have to explain
    // half of what the PEs do in the library. Where one PE stands in line, others may wait for it meanwhile.
    let in_library =
        profile.pes.iter().map(|pe| pe.library_ns().min(pe.main_ns()) as f64).sum::<f64>() / run_ns(profile);
    let in_line = |pe: &PeRow| pe.queued_ns().unwrap_or(0).min(pe.main_ns());
    let in_line = profile.pes.iter().map(in_line).max().unwrap_or(0) as f64 / profile.longest_ns() as f64;
    let explains = |(name, finding): &(&str, Finding)| {
        finding.share > WORTH && (*name != "oversubscribed" || 2.0 * finding.share.max(in_line) >= in_library)
    };
    let names: Vec<&str> = found.iter().filter(|finding| explains(finding)).map(|(name, _)| *name).collect();
    let otherwise = match names.is_empty() {
        true => (OTHERWISE.find)(profile),
        false => library_time::beside(profile, |class| names.iter().any(|name| covered::is_by(name, class))),
    };
    found.extend(otherwise.map(|finding| (OTHERWISE.name, finding)));
    found.sort_by(|a, b| b.1.share.total_cmp(&a.1.share).then_with(|| a.0.cmp(b.0)));
    found
}

/// Time of all PEs between initialization and finalization.
pub(crate) fn run_ns(profile: &Merged) -> f64 {
    run_time_ns(&profile.pes).max(1.0)
}

/// Time of all PEs in which they had a core, as far as there are any for them: what calls that do not wait are a share
/// of. Where PEs outnumber cores, most of their run they stand in line.
fn core_ns(profile: &Merged) -> f64 {
    // Over a network they wait as well.
    if !profile.network.is_empty() {
        return run_ns(profile);
    }
    // By host: PEs, cores, and the time of the PEs.
    let mut hosts: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
    for pe in &profile.pes {
        let host = hosts.entry(&*pe.host).or_default();
        *host = (host.0 + 1.0, host.1.max(f64::from(pe.system.cores)), host.2 + pe.main_ns() as f64);
    }
    let without =
        |(pes, cores, ns): (f64, f64, f64)| if cores == 0.0 { 0.0 } else { ns * (1.0 - cores / pes).max(0.0) };
    let without = hosts.into_values().map(without).sum::<f64>();
    // Other programs may have had the cores, too.
    let in_line = |pe: &PeRow| pe.queued_ns().unwrap_or(0).min(pe.main_ns()) as f64;
    let in_line = profile.pes.iter().map(in_line).sum::<f64>();
    (run_ns(profile) - without.max(in_line)).max(1.0)
}

/// Calls and time of the routines that `of` picks, over all PEs.
fn sum(profile: &Merged, of: impl Fn(&Routine) -> bool) -> (u64, f64) {
    sum_of(profile, of, |r| r.spent_ns() as f64)
}

fn sum_of(profile: &Merged, of: impl Fn(&Routine) -> bool, time: impl Fn(&Routine) -> f64) -> (u64, f64) {
    let picked = profile.routines.iter().filter(|r| of(r));
    picked.fold((0, 0.0), |(calls, ns), r| (calls.saturating_add(r.all_calls()), ns + time(r)))
}

/// As [`sum`], with no more time than what half of a routine's calls take at most, as often as they are called: others
/// take longer by chance, as where another program has the core meanwhile.
fn usual_sum(profile: &Merged, of: impl Fn(&Routine) -> bool) -> (u64, f64) {
    sum_of(profile, of, |r| match r.quantile_ns(0.5) {
        0 => r.spent_ns() as f64,
        half => (r.all_calls() as f64 * half as f64).min(r.spent_ns() as f64),
    })
}

/// The time of [`sum`], for people: an upper bound where that of one of the routines is.
fn shown_sum(profile: &Merged, of: impl Fn(&Routine) -> bool) -> String {
    let is_bound = profile.routines.iter().any(|r| of(r) && r.is_bounded());
    let time = shown_time(sum(profile, of).1);
    if is_bound { format!("at most {time}") } else { time }
}

/// Whether PEs have asked for addresses of other PEs' memory: what they read and write there, and whose, is not known.
fn have_pointers(profile: &Merged) -> bool {
    let gives_one = |r: &Routine| matches!(&*r.name, "shmem_ptr" | "shmem_team_ptr");
    profile.routines.iter().any(|r| gives_one(r) && r.all_calls() > 0)
}

fn is_quiet(r: &Routine) -> bool {
    r.class == Class::Order && op::has(&r.name, op::COMPLETES)
}

/// Share of the time at all lines that a line takes to be named after the first.
const NEXT: f64 = 0.10;

/// The call site at which the routines that `of` picks take most of their time, for people; and who calls there, where
/// several functions do: it is of a layer of the program.
fn costliest(profile: &Case<'_>, of: impl Fn(&Routine) -> bool) -> String {
    costliest_of(profile, 1, of)
}

/// As [`costliest`], and the next lines, so many in all, that take a tenth of their time or more.
fn costliest_of(profile: &Case<'_>, lines: usize, of: impl Fn(&Routine) -> bool) -> String {
    let cell = |row: &[crate::report::grid::Cell], at: usize| row[at].shown(crate::report::grid::Kind::Text);
    let Some(grid) = profile.call_sites() else { return String::new() };
    let named = |name: String| profile.routines.iter().find(|routine| routine.name == name);
    let rows: Vec<_> = grid.rows.iter().filter(|row| named(cell(row, 1)).is_some_and(&of)).collect();
    let Some(row) = rows.first() else { return String::new() };
    let column = |name: &str| grid.columns.iter().position(|column| column.name == name);
    let callers = column("callers").map(|at| cell(row, at));
    // Shares are told where there are several.
    let callers = callers.filter(|callers| callers.contains(" %)") || callers.contains(" % of the calls seen)"));
    let called = callers.map_or(String::new(), |callers| format!(", called by {callers}"));
    let total = |row: &[crate::report::grid::Cell]| column("total_ns").map_or(0.0, |at| row[at].number());
    let worth = NEXT * rows.iter().map(|row| total(row)).sum::<f64>();
    let mut places = vec![cell(row, 0)];
    for row in rows.iter().filter(|row| total(row) >= worth && total(row) > 0.0) {
        let place = cell(row, 0);
        if places.len() < lines && !places.contains(&place) {
            places.push(place);
        }
    }
    let next: Vec<String> = places[1..].iter().map(|place| located(place)).collect();
    let next = if next.is_empty() { String::new() } else { format!(", then {}", next.join(" and ")) };
    format!("; most {}{called}{next}", located(&places[0]))
}

/// The share of the run that the PE which waits least spends otherwise: however little the others wait, the run takes
/// as long.
fn busiest_share(profile: &Merged) -> f64 {
    let busy = profile.pes.iter().map(|pe| pe.main_ns().saturating_sub(pe.time_ns(Class::waits)));
    busy.max().unwrap_or(0) as f64 / profile.longest_ns() as f64
}

/// PEs by what `of` gives, and their sum.
fn by_pe(profile: &Merged, of: impl Fn(&PeRow) -> u64) -> Vec<(u32, u64)> {
    profile.pes.iter().map(|pe| (pe.pe, of(pe))).collect()
}
