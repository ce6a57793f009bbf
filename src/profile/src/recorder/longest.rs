//! The longest of the meetings that are thinned out, and those after the longest phases. A few that take a hundred
//! times as long as the others may be most of what a program loses or does, and a sample of one in many seldom has
//! them.
//!
//! Of a meeting counts how long this thread was in the call. The PE that the others waited for was not in it for long,
//! and is not among those that keep it: that is how it is known. Of a phase counts how long it took until the meeting;
//! where the meeting before it had no stamp, that is not known.

use std::sync::atomic::Ordering::Relaxed;

use super::meetings::Record;
use crate::clock;
use crate::segment::layout::Slot;
use crate::segment::meetings::{LEFT_UNKNOWN, LONGEST, Longest, NO_NUMBER, Sync};

/// Shorter ones, in nanoseconds, are not looked for: keeping one may take some 200.
const LEAST_NS: u64 = 10_000;

/// Whether a meeting may be among them, after the present phase.
#[inline(always)]
pub(super) fn may_be(slot: &Slot, arrived: u64, left: u64) -> bool {
    let (longest, phases, phase) = (&slot.tables.longest, &slot.tables.longest_phases, &slot.tables.phase);
    left.saturating_sub(arrived) > longest.beyond.load(Relaxed)
        || (arrived.saturating_sub(phase.left.load(Relaxed)) > phases.beyond.load(Relaxed) && phase.passed().is_none())
}

/// A meeting that is not kept otherwise.
#[cold]
#[inline(never)]
pub(super) fn offer(slot: &Slot, record: &Record) {
    let mult = slot.head.clock_mult.load(Relaxed);
    keep(&slot.tables.longest, record, record.left.saturating_sub(record.arrived), took, mult);
    if record.from_left > LEFT_UNKNOWN {
        let phase = record.arrived.saturating_sub(record.from_left);
        keep(&slot.tables.longest_phases, record, phase, phase_before, mult);
    }
}

/// Keeps a meeting that is `long`, as `length` has it of others, if it is among the longest.
fn keep(longest: &Longest, record: &Record, long: u64, length: fn(&Sync) -> u64, mult: u64) {
    if longest.beyond.load(Relaxed) == 0 {
        let ns_per_tick = clock::scale_ns(1 << 20, mult).max(1);
        longest.beyond.store((LEAST_NS << 20) / ns_per_tick, Relaxed);
    }
    if long <= longest.beyond.load(Relaxed) {
        return;
    }
    let used = longest.used.load(Relaxed) as usize;
    let at = if used < LONGEST { used } else { shortest(longest, length).0 };
    let sync = &longest.syncs[at];
    sync.number.store(NO_NUMBER, Relaxed);
    record.write(sync);
    longest.used.store((used + 1).min(LONGEST) as u64, Relaxed);
    if used + 1 >= LONGEST {
        longest.beyond.store(shortest(longest, length).1, Relaxed);
    }
}

/// How long a thread was in a meeting.
fn took(sync: &Sync) -> u64 {
    sync.left.load(Relaxed).saturating_sub(sync.arrived.load(Relaxed))
}

/// How long the phase before it took.
fn phase_before(sync: &Sync) -> u64 {
    sync.arrived.load(Relaxed).saturating_sub(sync.from_left.load(Relaxed))
}

/// The shortest of them: where it is, and its length.
fn shortest(longest: &Longest, length: fn(&Sync) -> u64) -> (usize, u64) {
    longest.syncs.iter().map(length).enumerate().min_by_key(|(_, length)| *length).unwrap_or_default()
}
