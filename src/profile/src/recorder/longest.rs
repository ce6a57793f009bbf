//! The longest of the meetings that are thinned out. A few that take a hundred times as long as the others may be most
//! of what a program loses, and a sample of one in many seldom has them.
//!
//! What counts is how long this thread was in the call. The PE that the others waited for was not in it for long, and
//! is not among those that keep it: that is how it is known.

use std::sync::atomic::Ordering::Relaxed;

use super::meetings::Record;
use crate::clock;
use crate::segment::layout::Slot;
use crate::segment::meetings::{LONGEST, Longest, NO_NUMBER, Sync};

/// Shorter ones, in nanoseconds, are not looked for: keeping one may take some 200.
const LEAST_NS: u64 = 10_000;

/// A meeting that is not kept otherwise.
#[cold]
#[inline(never)]
pub(super) fn offer(slot: &Slot, record: &Record) {
    let longest = &slot.tables.longest;
    let took = record.left.saturating_sub(record.arrived);
    if longest.beyond.load(Relaxed) == 0 {
        let ns_per_tick = clock::scale_ns(1 << 20, slot.head.clock_mult.load(Relaxed)).max(1);
        longest.beyond.store((LEAST_NS << 20) / ns_per_tick, Relaxed);
    }
    if took <= longest.beyond.load(Relaxed) {
        return;
    }
    let used = longest.used.load(Relaxed) as usize;
    let at = if used < LONGEST { used } else { shortest(longest).0 };
    let sync = &longest.syncs[at];
    sync.number.store(NO_NUMBER, Relaxed);
    record.write(sync);
    longest.used.store((used + 1).min(LONGEST) as u64, Relaxed);
    if used + 1 >= LONGEST {
        longest.beyond.store(shortest(longest).1, Relaxed);
    }
}

/// The shortest of them: where it is, and how long it took.
fn shortest(longest: &Longest) -> (usize, u64) {
    let took = |sync: &Sync| sync.left.load(Relaxed).saturating_sub(sync.arrived.load(Relaxed));
    let all = longest.syncs.iter().map(took).enumerate();
    all.min_by_key(|(_, took)| *took).unwrap_or_default()
}
