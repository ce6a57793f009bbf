//! Many small puts to one PE.

use crate::merge::{PeRow, SMALL, is_blocking_put, is_nbi_put};
use crate::model::Routine;
use crate::op::Class;
use crate::report::shown_count;

use super::{Case, Finding, WORTH, core_ns, costliest, shown_sum, sum, usual_sum};

/// Calls a PE makes before they are many.
const MANY: u64 = 10_000;
/// Share of a PE's puts that go to one peer where the PEs are many, and where they are two; else as many times what it
/// would be at random. Of two PEs that is a half; and who has six neighbours sends each a sixth.
const ONE_PEER: (f64, f64) = (0.15, 0.75);
const TIMES_CHANCE: f64 = 2.0;

/// Share of the run that puts which do not block have to take: over a network small ones travel together.
const NBI: f64 = 0.10;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let blocking = puts(profile, is_blocking_put, |pe| pe.small_puts, WORTH);
    blocking.or_else(|| puts(profile, is_nbi_put, |pe| pe.small_nbi_puts, NBI))
}

fn puts(profile: &Case<'_>, is_it: fn(&Routine) -> bool, small: fn(&PeRow) -> u64, least: f64) -> Option<Finding> {
    // Routines that move large blocks as well take their time for those.
    let of = |r: &Routine| is_it(r) && r.traffic_bytes() < SMALL.saturating_mul(r.all_calls());
    let (puts, ns) = usual_sum(profile, of);
    let share = (ns / core_ns(profile)).min(1.0);
    let worst = profile.pes.iter().max_by_key(|pe| (small(pe), std::cmp::Reverse(pe.pe)))?;
    let (calls, (to, most)) = (small(worst), worst.most_puts?);
    // What is sent between two meetings, or before each wait, is a message already.
    let (meetings, _) = sum(profile, |r| matches!(r.class, Class::Wait | Class::Barrier | Class::Collective));
    if 2 * meetings >= puts {
        return None;
    }
    // Scattered small puts are a program's nature; a run of them to one peer can be one message.
    let to_one = (TIMES_CHANCE / profile.pes.len() as f64).clamp(ONE_PEER.0, ONE_PEER.1);
    if share < least || calls < MANY || (most.calls as f64) < to_one * worst.puts as f64 || Some(worst.pe) == to {
        return None;
    }
    let to = to.map_or("others".to_owned(), |pe| format!("PE {pe}"));
    let bytes = most.bytes / most.calls.max(1);
    let (signals, _) = sum(profile, |r| of(r) && r.class == Class::Signal);
    Some(Finding {
        what: format!("many small puts to one PE: PE {} makes {} to {to}", worst.pe, shown_count(most.calls)),
        evidence: format!(
            "{bytes} bytes each on average, {} in puts over all PEs{}",
            shown_sum(profile, of),
            costliest(profile, |name| name.contains("put") || name.ends_with("_p"))
        ),
        try_this: if 2 * signals > puts {
            "collect them in a buffer and send it with one shmem_put_signal, whose signal tells of all of them"
        } else {
            "collect those that go side by side in a buffer and send it with one put, or use shmem_iput for a stride"
        },
        share,
    })
}
