//! Small gets and atomic fetches of data one after another, each of which waits for its answer.

use crate::model::Routine;
use crate::op::{self, Class};
use crate::report::{shown_bytes, shown_count};

use super::room::room;
use super::{Case, Finding, WORTH, compare_and_swap, core_ns, costliest, own_memory, polling, shown_sum, sum};

/// Calls of a PE before they are many.
const MANY: u64 = 10_000;
/// Mean size below which a get costs its latency.
const SMALL: u64 = 256;

/// Share of the run that they have to take, and that gets which do not block have to.
const DOMINATES: f64 = 5.0 * WORTH;
const NBI: f64 = 0.20;

fn is_contiguous(r: &Routine) -> bool {
    r.class == Class::Get && !r.name.contains("iget") && !r.name.contains("ibget") && !own_memory::is_of_own(r)
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let blocking = gets(profile, false);
    // Over a network they are under way together, and take their time in the quiet.
    blocking.or_else(|| if profile.network.is_empty() { gets(profile, true) } else { None })
}

fn gets(profile: &Case<'_>, nbi: bool) -> Option<Finding> {
    // Fetches that ask for a flag are another rule's.
    let is_fetch = |r: &Routine| !nbi && polling::fetches_data(profile, r);
    let of = |r: &Routine| is_contiguous(r) && op::is_nonblocking(&r.name) == nbi || is_fetch(r);
    let (calls, ns) = sum(profile, of);
    let bytes = profile.routines.iter().filter(|r| of(r)).map(|r| r.all_bytes()).fold(0, u64::saturating_add);
    // While one PE hardly fetches or waits, the run takes what that one does.
    let (fetches, _) = sum(profile, is_fetch);
    let is_saved = |class| class == Class::Get || fetches > 0 && class == Class::Amo;
    let share = (ns / core_ns(profile)).min(room(profile, is_saved));
    let (a_pe, each) = (calls / (profile.pes.len() as u64).max(1), bytes / calls.max(1));
    // On one PE there is nothing to wait for.
    if profile.pes.len() < 2 || a_pe < MANY || each >= SMALL || share < if nbi { NBI } else { DOMINATES } {
        return None;
    }
    // What each compare-and-swap needs cannot be fetched with others, nor what one waits for.
    if compare_and_swap::is_fed_by(profile, calls) || polling::is_most(profile) {
        return None;
    }
    let how = if nbi { "each by itself" } else { "one after another" };
    let names: Vec<&str> = profile.routines.iter().filter(|r| of(r)).map(|r| &*r.name).collect();
    let kind = match fetches {
        0 => "small gets",
        all if all == calls => "atomic fetches",
        _ => "small gets and atomic fetches",
    };
    Some(Finding {
        what: format!("{} {kind} a PE, {how}", shown_count(a_pe)),
        evidence: format!(
            "{} each, {} over all PEs{}",
            shown_bytes(each),
            shown_sum(profile, of),
            costliest(profile, |name| names.contains(&name))
        ),
        try_this: try_this(2 * fetches >= calls, profile.network.is_empty()),
        share,
    })
}

/// On one host a get has its answer when it returns, and many under way at once are no faster.
fn try_this(are_fetches: bool, is_one_host: bool) -> &'static str {
    match (are_fetches, is_one_host) {
        (false, true) => {
            "fetch a block with one get, or a stride with shmem_iget; words here and there: read them through \
             shmem_ptr, or collect what is asked of a PE and have it send the answers in one put"
        }
        (false, false) => {
            "fetch a block with one get, or a stride with shmem_iget; shmem_get_nbi for many at once, then one quiet"
        }
        (true, true) => {
            "between barriers, where nobody changes what is read, fetch a block with one get, or read words through \
             shmem_ptr"
        }
        (true, false) => {
            "between barriers, where nobody changes what is read, fetch a block with one get, or values with \
             shmem_get; shmem_atomic_fetch_nbi for many at once, then one quiet"
        }
    }
}
