//! Waiting by asking again and again.

use std::collections::BTreeMap;

use crate::merge::{ADDRESSES, Merged, PeRow, are_of_many_words, are_of_one_word, is_ask, is_fetch, outside_parts};
use crate::model::Routine;
use crate::op::{self, Class};
use crate::report::{shown_count, shown_time};

use super::naps::naps_ns;
use super::room::{is_transfer, room};
use super::{Case, Finding, by_pe, compare_and_swap, core_ns, costliest, shown_sum, sum};

/// Share of the run time that has to go into asking.
const DOMINATES: f64 = 0.10;
const MANY: u64 = 10_000;
/// Compare-and-swaps for each store that lets one succeed, from which on most of them only ask.
const FAILED: u64 = 10;
/// The same where they are of many words, so that some succeed at once.
const FAILED_OF_MANY: u64 = 4;

/// What PEs compute, compared with what asking takes, from which on they may look now and then, and wait for nothing.
const BETWEEN: f64 = 2.0;

/// Share of what is asked for, as far as it is known whose memory it is, that has to be of one PE for it to be named.
const ONE_PE: f64 = 0.6;

/// Bytes of an element at most.
const ELEMENT: u64 = 16;

/// Whether nearly all calls of a routine are of one word of another PE, as far as samples of them tell.
fn is_of_one_word(profile: &Merged, r: &Routine) -> bool {
    let of = profile.addresses.iter().filter(|row| row.routine == r.name).map(|row| row.calls);
    are_of_one_word(of, r)
}

/// Asking whether something has happened, and no reading of data in many words.
fn asks_again(profile: &Merged, r: &Routine) -> bool {
    is_ask(r) && !fetches_data(profile, r)
}

/// Whether a routine is an atomic fetch that is known to read many words, each of them rarely.
pub(super) fn fetches_data(profile: &Merged, r: &Routine) -> bool {
    is_fetch(r) && is_of_many_words(profile, r)
}

/// Whether a routine's calls are known to be of many words, each of them rarely.
pub(super) fn is_of_many_words(profile: &Merged, r: &Routine) -> bool {
    let of = profile.addresses.iter().filter(|row| row.routine == r.name).map(|row| row.calls);
    // Where there were more words than are kept, those of this routine may be missing. Profiles have had words for
    // longer than rates: where it has rates, a routine without words has many.
    let is_whole = profile.addresses.len() < ADDRESSES;
    let is_known = is_whole && profile.rates.iter().any(|rate| rate.routine == r.name);
    are_of_many_words(of, is_known, r)
}

/// Gets of one element, always the same, which mostly find what they have found before.
fn is_get_of_one_word(profile: &Merged, r: &Routine) -> bool {
    let is_get = r.class == Class::Get && !op::is_nonblocking(&r.name) && r.all_bytes() <= ELEMENT * r.all_calls();
    is_get && r.all_calls() >= MANY && is_of_one_word(profile, r) && !changes_as_often(profile, r)
}

/// Whether the word that most calls of a routine are of is stored to nearly as often: who reads it then finds something
/// new.
fn changes_as_often(profile: &Merged, r: &Routine) -> bool {
    let of_routine = profile.addresses.iter().filter(|row| row.routine == r.name);
    let Some(word) = of_routine.max_by_key(|row| row.calls) else { return false };
    let is_store = |name: &str| stores_a_word(name) || name.contains("_atomic_") && !name.contains("_fetch");
    let stores = profile.addresses.iter().filter(|row| row.is_same_line(word) && is_store(&row.routine));
    2 * stores.map(|row| row.calls).sum::<u64>() >= word.calls
}

fn stores_a_word(name: &str) -> bool {
    ["_atomic_set", "_atomic_swap", "_p"].iter().any(|end| name.ends_with(end))
}

/// Swaps of one word, hardly one of which can succeed: so few stores are made that let it. What compare-and-swaps
/// replace was not read before. Of locks of many records, each a word of its own, those stores count that are atomic:
/// who holds such a lock stores to other words as well.
fn is_failing_swap(profile: &Merged, r: &Routine) -> bool {
    let is_compare = compare_and_swap::is_swap(&r.name);
    if !is_compare && !r.name.ends_with("_swap") || r.all_calls() < MANY {
        return false;
    }
    let is_one_word = is_of_one_word(profile, r);
    let lets = |name: &str| if is_one_word { stores_a_word(name) } else { is_compare && releases(name) };
    let (stores, _) = sum(profile, |other| lets(&other.name) && other.name != r.name);
    let failed = if is_one_word { FAILED } else { FAILED_OF_MANY };
    stores > 0 && stores.saturating_mul(failed) <= r.all_calls() && !compare_and_swap::are_fed(profile)
}

/// Whether a routine sets a word that swaps are of.
fn releases(name: &str) -> bool {
    ["_atomic_set", "_atomic_swap"].iter().any(|end| name.ends_with(end))
}

/// Whether most of the gets and atomic operations ask for one word again and again: what is said of others does not
/// help these.
pub(super) fn is_most(profile: &Merged) -> bool {
    let moves = |r: &Routine| matches!(r.class, Class::Get | Class::Amo);
    let (all, _) = sum(profile, moves);
    let (asks, _) = sum(profile, |r| is_get_of_one_word(profile, r) || is_failing_swap(profile, r));
    asks > 0 && 2 * asks >= all
}

/// Whether PEs wait by asking.
pub(super) fn is_waiting(profile: &Merged) -> bool {
    asking(profile).is_some()
}

/// What PEs ask for again and again: the routines, and how much of the run that takes.
struct Asking<'p> {
    routines: Vec<&'p Routine>,
    calls: u64,
    share: f64,
    /// Time of all PEs asleep between two asks, in nanoseconds.
    naps_ns: f64,
    /// Whether they compute for much longer between two asks than these take: then they may only look.
    computes_between: bool,
}

fn asking(profile: &Merged) -> Option<Asking<'_>> {
    let reads = |r: &Routine| asks_again(profile, r) || is_get_of_one_word(profile, r);
    let routines: Vec<&Routine> = profile.routines.iter().filter(|r| reads(r) || is_failing_swap(profile, r)).collect();
    let is_asked = |r: &Routine| routines.iter().any(|asked| asked.name == r.name);
    let (calls, ns) = sum(profile, is_asked);
    let (_, in_library) = sum(profile, |r| r.class.is_library_time());
    // Where PEs share cores, asking takes more of the time on these; what the program does itself it does not take.
    let share = (ns / core_ns(profile)).min(in_library / super::run_ns(profile)).min(1.0);
    let naps_ns = profile.pes.iter().map(naps_ns(profile)).fold(0, u64::saturating_add) as f64;
    let asleep = naps_ns / super::run_ns(profile);
    // Who reads a value to replace it does not wait for another.
    let is_waiting = calls >= MANY && share >= DOMINATES || calls > 0 && asleep >= DOMINATES;
    let is_waiting = is_waiting && !compare_and_swap::is_fed_by(profile, sum(profile, reads).0);
    let share = (share + asleep).min(1.0);
    let computes_between = computed_ns(profile) >= BETWEEN * ns;
    is_waiting.then_some(Asking { routines, calls, share, naps_ns, computes_between })
}

/// What the PEs that ask compute outside of the library, in nanoseconds.
fn computed_ns(profile: &Merged) -> f64 {
    let asks = profile.pes.iter().filter(|pe| pe.asks > 0 || pe.one_word_calls > 0);
    let parts = outside_parts(profile);
    asks.map(|pe| parts(pe).computed_ns).sum()
}

/// How long each PE waits for others by asking, in nanoseconds: in the calls, and in line for a core or asleep between
/// them.
pub(super) fn waited_ns(profile: &Merged) -> impl Fn(&PeRow) -> (u64, u64) {
    let asking = asking(profile);
    let are_asked = asking.is_some();
    let naps = naps_ns(profile);
    let is_by_word = asking.is_some_and(|asking| asking.routines.iter().any(|r| !is_ask(r)));
    move |pe| {
        if !are_asked {
            return (0, 0);
        }
        let asks = pe.asks_ns.saturating_add(if is_by_word { pe.one_word_ns } else { 0 });
        let queued = pe.queued_outside_ns().unwrap_or(0);
        let works = pe.outside_ns().saturating_sub(queued);
        // In line it stands between the calls as well as in them.
        let part = asks as f64 / asks.saturating_add(works).max(1) as f64;
        let between = pe.outside_ns() as f64 / pe.outside_ns().saturating_add(asks).max(1) as f64;
        (asks, ((queued as f64 * part * between) as u64).saturating_add(naps(pe)))
    }
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let Asking { routines, calls, share, naps_ns, computes_between } = asking(profile)?;
    // While one PE hardly asks or waits, the run takes what that one does.
    let share = share.min(room(profile, |class| is_transfer(class) || class == Class::Lock));
    if share < DOMINATES {
        return None;
    }
    let names: Vec<&str> = routines.iter().map(|r| &*r.name).collect();
    let most = by_pe(profile, |pe| pe.asks).into_iter().max_by_key(|&(pe, calls)| (calls, std::cmp::Reverse(pe)));
    let most = most.filter(|(_, of_pe)| 2 * of_pe >= calls / profile.pes.len() as u64);
    let whose = most.map_or(String::new(), |(pe, of_pe)| format!(", most on PE {pe} ({})", shown_count(of_pe)));
    let asleep = match naps_ns {
        0.0 => String::new(),
        ns => format!(", {} asleep between them", shown_time(ns)),
    };
    // What is in the memory of the PE itself it can only ask whether something has come.
    let looks = computes_between && !routines.iter().any(|r| r.class == Class::Test);
    let what = if looks { "asking again and again" } else { "waiting by asking" };
    Some(Finding {
        what: format!("{what}: {} tests, fetches and the like", shown_count(calls)),
        evidence: format!(
            "{} in them{asleep}{whose}{}{}",
            shown_sum(profile, |r| names.contains(&&*r.name)),
            asked_of(profile, &names),
            costliest(profile, |name| names.contains(&name))
        ),
        try_this: try_this(looks, naps_ns > 0.0),
        share,
    })
}

/// Whose memory most of what is asked for is in: of tests, which are of the PE's own, that is not known.
fn asked_of(profile: &Merged, names: &[&str]) -> String {
    let mut pes: BTreeMap<u32, u64> = BTreeMap::new();
    for row in profile.addresses.iter().filter(|row| names.contains(&&*row.routine)) {
        *pes.entry(row.peer).or_default() += row.calls;
    }
    let all = pes.values().sum::<u64>() as f64;
    let most = pes.into_iter().max_by_key(|&(pe, calls)| (calls, std::cmp::Reverse(pe)));
    let most = most.filter(|(_, calls)| *calls as f64 >= ONE_PE * all && profile.pes.len() > 2);
    most.map_or_else(String::new, |(pe, _)| format!(", most of memory of PE {pe}"))
}

fn try_this(looks: bool, sleeps: bool) -> &'static str {
    match (looks, sleeps) {
        (true, _) => {
            "PEs that compute between two looks, and need the value now and then: a copy in the memory of each, which \
             the PE that changes the value puts there. Those that wait for it: shmem_wait_until; for a lock: \
             shmem_set_lock"
        }
        (_, true) => {
            "shmem_wait_until or its _some and _any forms, on a variable of the waiting PE: they return as soon as it \
             is set, where a PE that sleeps comes back later; --view causes then says which PE they wait for"
        }
        _ => {
            "shmem_wait_until or its _some and _any forms, on a variable of the waiting PE, which leave the core to \
             others, and --view causes then says which PE they wait for; shmem_set_lock for a lock"
        }
    }
}
