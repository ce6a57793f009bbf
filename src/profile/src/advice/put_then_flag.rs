//! A put, a fence and a flag, which one call could send.

use crate::merge::{Cause, Merged};
use crate::model::Routine;
use crate::op::{Class, class_of};
use crate::report::{shown_count, shown_time};
use crate::tables::Peer;

use super::{Case, Finding, WORTH, costliest, run_ns, sum, sum_of};

const MANY: u64 = 1000;
/// Bytes of a flag at most.
const WORD: u64 = 8;

/// A store of one element, as flags are.
fn is_flag(r: &Routine) -> bool {
    (r.class == Class::Put && r.name.ends_with("_p")) || (r.class == Class::Amo && !r.name.contains("fetch"))
}

/// Time in waits that those who ended them did not work for, in nanoseconds: it is what data and flags were under way.
fn under_way_ns(profile: &Merged, wait_ns: f64) -> f64 {
    let is_wait = |row: &&Cause| class_of(row.site.routine) == Some(Class::Wait);
    let worked = |row: &Cause| row.by.as_ref().map_or(0, |by| by.work_ns.min(row.ns));
    let worked = profile.causes.rows.iter().filter(is_wait).map(worked).fold(0, u64::saturating_add);
    (wait_ns - worked as f64).max(0.0)
}

/// Whether most flags are known to go to PEs to which none of so many bytes of data goes: one call sends to one PE.
fn go_elsewhere(profile: &Merged, flags: u64, bytes: f64) -> bool {
    let known = profile.pairs.iter().map(|(_, pair)| pair.put.bytes).fold(0, u64::saturating_add);
    if 2.0 * (known as f64) < bytes {
        return false;
    }
    let words = |calls: u64, bytes: u64| bytes <= WORD.saturating_mul(calls);
    let alone = |pair: &Peer| {
        let of_puts = if words(pair.put.calls, pair.put.bytes) { pair.put.calls } else { 0 };
        of_puts.saturating_add(if pair.put.calls == 0 { pair.amo.calls } else { 0 })
    };
    let alone = profile.pairs.iter().map(|(_, pair)| alone(pair)).fold(0, u64::saturating_add);
    2 * alone >= flags
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (mut flags, mut flag_ns) = sum(profile, is_flag);
    let (mut puts, mut put_ns) = sum(profile, |r| r.class == Class::Put && !is_flag(r));
    let (fences, fence_ns) = sum(profile, |r| r.class == Class::Order);
    let (waits, wait_ns) = sum(profile, |r| r.class == Class::Wait);
    let share = (flag_ns + put_ns + fence_ns) / run_ns(profile);
    let alike = |a: u64, b: u64| (0.5..=2.0).contains(&(a as f64 / b.max(1) as f64));
    let (_, put_bytes) = sum_of(profile, |r| r.class == Class::Put && !is_flag(r), |r| r.all_bytes() as f64);
    let are_words = put_bytes <= WORD.saturating_mul(puts) as f64;
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
    if !are_words && go_elsewhere(profile, flags, put_bytes) {
        return None;
    }
    // The fence and the flag go, the put stays; and so much sooner it is there.
    let goes = flag_ns + fence_ns;
    let part = goes / (goes + put_ns).max(1.0);
    let sooner = (part * under_way_ns(profile, wait_ns)).min(goes * (waits as f64 / flags.max(1) as f64));
    let saved = (goes + sooner) / run_ns(profile);
    Some(Finding {
        what: format!("a put, a fence and a flag each time: {} puts, {} flags", shown_count(puts), shown_count(flags)),
        evidence: format!(
            "{} fences and quiets for {} waits; {} in flags and fences{}",
            shown_count(fences),
            shown_count(waits),
            shown_time(goes),
            costliest(profile, |name| name.contains("fence") || name.contains("quiet"))
        ),
        try_this: "shmem_put_signal sends data and flag together; the receiver waits with shmem_signal_wait_until",
        share: saved.clamp(WORTH, 1.0),
    })
}
