//! What samples may claim for the calls that they stand for: never more than the time that has passed.
//!
//! Calls that overlap in the processor take longer alone, which is how a sample is timed, than apart. Samples of random
//! updates taken for all of them come to more than the run. So a sample may claim the time since the operation's last
//! sample, when the calls were made that it stands for, less what others have claimed of it. Calls are not all alike:
//! what one sample leaves over is kept for later ones, since a long call among short ones would else be cut and nothing
//! be added to the short ones. The program's own work between two bursts of calls is no room for those: of the time
//! since the last sample counts what so many calls mostly take, with what is between them, and half as much again.

use std::sync::atomic::Ordering::Relaxed;

use crate::clock;
use crate::segment::layout::{ROW_OVERFLOW, Slot};

/// Samples like the present one for which time is kept.
const KEPT: u64 = 64;
/// A pace is in nanoseconds times this.
const PARTS: u64 = 256;

/// What a sample may claim.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// In nanoseconds.
    pub(super) ns: u64,
    /// What of it is of the time since the operation's last sample.
    since: u64,
}

impl Room {
    /// All that it wants.
    pub(super) const ALL: Self = Self { ns: u64::MAX, since: 0 };
}

/// The room of a sample of the operation with this row that stands for `weight` calls, at `now` (in ticks). To be
/// followed by [`note`].
pub(super) fn room(slot: &Slot, row: u32, weight: u64, now: u64) -> Room {
    if row == ROW_OVERFLOW {
        return Room::ALL;
    }
    let row = slot.row(row);
    let last = row.sampled_at.load(Relaxed);
    row.sampled_at.store(now, Relaxed);
    if last == 0 {
        // The first stands for itself.
        return Room::ALL;
    }
    let passed = clock::scale_ns(now.saturating_sub(last), slot.head.clock_mult.load(Relaxed));
    let own = passed.saturating_sub(slot.head.claimed_ns.load(Relaxed).saturating_sub(row.claimed_at.load(Relaxed)));
    let per_call = own.saturating_mul(PARTS) / weight;
    let pace = next_pace(row.pace.load(Relaxed), per_call);
    row.pace.store(pace, Relaxed);
    let mostly = (pace + pace / 2).saturating_mul(weight) / PARTS;
    let since = own.min(mostly);
    Room { ns: since.saturating_add(row.kept_ns.load(Relaxed)), since }
}

/// A median that moves with what it is of: a step up or down for each value.
fn next_pace(pace: u64, value: u64) -> u64 {
    match pace {
        0 => value,
        _ if value > pace => pace + pace / 8 + 1,
        _ => pace - pace / 8,
    }
}

/// A sample of the operation with this row has claimed so much of its room.
pub(super) fn note(slot: &Slot, row: u32, room: Room, claimed: u64) {
    let row = slot.row(row);
    row.claimed_at.store(slot.head.claimed_ns.load(Relaxed), Relaxed);
    row.kept_ns.store(room.ns.saturating_sub(claimed).min(room.since.saturating_mul(KEPT)), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What samples of an operation come to: each of so many calls, in so much time since the last, and what it wants.
    fn claims(samples: impl Iterator<Item = (u64, u64, u64)>) -> u64 {
        let (mut pace, mut kept, mut sum) = (0, 0_u64, 0);
        for (weight, own, wanted) in samples {
            pace = next_pace(pace, own * PARTS / weight);
            let since = own.min((pace + pace / 2) * weight / PARTS);
            let claim = wanted.min(since + kept);
            kept = (since + kept - claim).min(since * KEPT);
            sum += claim;
        }
        sum
    }

    #[test]
    fn work_between_bursts_is_no_room_for_them() {
        // 1000 bursts of 5 samples, each of 1000 calls that take 5 ns, and 11 alone; 100 us of work after each burst.
        let burst = |i: u64| (1000, if i.is_multiple_of(5) { 105_000 } else { 5000 }, 11_000);
        let sum = claims((0..5000).map(burst));
        assert!((25_000_000..29_000_000).contains(&sum), "{sum}");
    }

    #[test]
    fn calls_that_are_not_alike_come_to_what_they_took() {
        // 100 calls of 10 ns and one of 1000 a turn: what they take is what passes.
        let mixed = |i: u64| (1000, 20_000, if i % 100 == 7 { 1_000_000 } else { 10_000 });
        let sum = claims((0..10_000).map(mixed));
        assert!((190_000_000..=200_000_000).contains(&sum), "{sum}");
        // Whatever is between calls, where each has as much.
        let apart = |_| (1000, 1_000_000, 10_000);
        assert_eq!(claims((0..1000).map(apart)), 10_000_000);
    }
}
