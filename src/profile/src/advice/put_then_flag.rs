//! A put, a fence and a flag, which one call could send.

use crate::merge::Merged;
use crate::model::Routine;
use crate::op::Class;
use crate::report::{Symbols, shown_count, shown_time};

use super::{Finding, WORTH, costliest, run_ns, sum};

const MANY: u64 = 1000;

/// A store of one element, as flags are.
fn is_flag(r: &Routine) -> bool {
    (r.class == Class::Put && r.name.ends_with("_p")) || (r.class == Class::Amo && !r.name.contains("fetch"))
}

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let (mut flags, mut flag_ns) = sum(profile, is_flag);
    let (mut puts, mut put_ns) = sum(profile, |r| r.class == Class::Put && !is_flag(r));
    let (fences, fence_ns) = sum(profile, |r| r.class == Class::Order);
    let (waits, wait_ns) = sum(profile, |r| r.class == Class::Wait);
    let share = (flag_ns + put_ns + fence_ns) / run_ns(profile);
    let alike = |a: u64, b: u64| (0.5..=2.0).contains(&(a as f64 / b.max(1) as f64));
    // Data of one element is sent as a flag is: then there are two such stores for each fence, and one wait. Flags for
    // two others are waited for twice.
    let is_two_each = (1.5..=2.5).contains(&(flags as f64 / fences.max(1) as f64));
    if puts < fences / 2 && is_two_each && 2 * waits <= 3 * fences {
        (puts, put_ns) = (puts + flags / 2, put_ns + flag_ns / 2.0);
        (flags, flag_ns) = (flags / 2, flag_ns / 2.0);
    }
    if fences < MANY || waits < MANY || share < WORTH || !alike(flags, fences) || !alike(puts, fences) {
        return None;
    }
    // The fence and the flag go, the put stays; and so much sooner it is there.
    let goes = flag_ns + fence_ns;
    let saved = goes * (1.0 + wait_ns / (goes + put_ns).max(1.0)) / run_ns(profile);
    Some(Finding {
        what: format!("a put, a fence and a flag each time: {} puts, {} flags", shown_count(puts), shown_count(flags)),
        evidence: format!(
            "{} fences and quiets for {} waits; {} in flags and fences{}",
            shown_count(fences),
            shown_count(waits),
            shown_time(goes),
            costliest(profile, symbols, |name| name.contains("fence") || name.contains("quiet"))
        ),
        try_this: "shmem_put_signal sends data and flag together; the receiver waits with shmem_signal_wait_until",
        share: saved.clamp(WORTH, 1.0),
    })
}
