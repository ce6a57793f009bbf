//! Waiting by asking again and again.

use crate::merge::{Merged, is_ask};
use crate::model::Routine;
use crate::report::{Symbols, shown_count};

use super::{Finding, by_pe, compare_and_swap, core_ns, costliest, shown_sum, sum};

/// Share of the run time that has to go into asking.
const DOMINATES: f64 = 0.10;
const MANY: u64 = 10_000;
/// Share of a routine's calls that have to be of one word for it to be asked for.
const ONE_WORD: f64 = 0.9;
/// Compare-and-swaps for each store that lets one succeed, from which on most of them only ask.
const FAILED: u64 = 10;

/// Whether nearly all calls of a routine are of one word of another PE, as far as samples of them tell.
fn is_of_one_word(profile: &Merged, r: &Routine) -> bool {
    let of = profile.addresses.iter().filter(|row| row.routine == r.name).map(|row| row.calls);
    let (most, all) = of.fold((0, 0_u64), |(most, all), calls| (most.max(calls), all.saturating_add(calls)));
    // Rows are kept of words that are asked for often: of a scan over many words, few are left.
    all >= r.all_calls() / 2 && all > 0 && most as f64 >= ONE_WORD * all as f64
}

/// Gets of one element, always the same, which mostly find what they have found before.
fn is_get_of_one_word(profile: &Merged, r: &Routine) -> bool {
    r.name.ends_with("_g") && r.all_calls() >= MANY && is_of_one_word(profile, r) && !changes_as_often(profile, r)
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

/// Compare-and-swaps of one word, hardly one of which can succeed: so few stores are made that let it. What they
/// replace was not read before.
fn is_failing_swap(profile: &Merged, r: &Routine) -> bool {
    if !compare_and_swap::is_swap(&r.name) || r.all_calls() < MANY || !is_of_one_word(profile, r) {
        return false;
    }
    let (stores, _) = sum(profile, |r| stores_a_word(&r.name));
    stores > 0 && stores.saturating_mul(FAILED) <= r.all_calls() && !compare_and_swap::are_fed(profile)
}

/// Whether most of the gets and atomic operations ask for one word again and again: what is said of others does not
/// help these.
pub(super) fn is_most(profile: &Merged) -> bool {
    let moves = |r: &Routine| matches!(r.class, crate::op::Class::Get | crate::op::Class::Amo);
    let (all, _) = sum(profile, moves);
    let (asks, _) = sum(profile, |r| is_get_of_one_word(profile, r) || is_failing_swap(profile, r));
    asks > 0 && 2 * asks >= all
}

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let reads = |r: &Routine| is_ask(r) || is_get_of_one_word(profile, r);
    let asks = |r: &Routine| reads(r) || is_failing_swap(profile, r);
    let (calls, ns) = sum(profile, asks);
    let (_, in_library) = sum(profile, |r| r.class.is_library_time());
    let run = super::run_ns(profile);
    // Where PEs share cores, asking takes more of the time on these; what the program does itself it does not take.
    let share = (ns / core_ns(profile)).min(in_library / run).min(1.0);
    // Who reads a value to replace it does not wait for another.
    if calls < MANY || share < DOMINATES || compare_and_swap::is_fed_by(profile, sum(profile, reads).0) {
        return None;
    }
    let most = by_pe(profile, |pe| pe.asks).into_iter().max_by_key(|&(pe, calls)| (calls, std::cmp::Reverse(pe)));
    let most = most.filter(|(_, of_pe)| 2 * of_pe >= calls / profile.pes.len() as u64);
    let whose = most.map_or(String::new(), |(pe, of_pe)| format!(", most on PE {pe} ({})", shown_count(of_pe)));
    let names: Vec<&str> = profile.routines.iter().filter(|r| asks(r)).map(|r| &*r.name).collect();
    Some(Finding {
        what: format!("waiting by asking: {} tests, fetches and the like", shown_count(calls)),
        evidence: format!(
            "{} in them{whose}{}",
            shown_sum(profile, asks),
            costliest(profile, symbols, |name| names.contains(&name))
        ),
        try_this: "shmem_wait_until or its _some and _any forms, on a variable of the waiting PE, which leave the core \
                   to others; shmem_set_lock for a lock",
        share,
    })
}
