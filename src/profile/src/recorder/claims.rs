//! What samples may claim for the calls that they stand for: never more than the time that has passed.
//!
//! Calls that overlap in the processor take longer alone, which is how a sample is timed, than apart. Samples of random
//! updates taken for all of them come to more than the run. So a sample may claim the time since the operation's last
//! sample, when the calls were made that it stands for, less what others have claimed of it. Calls are not all alike:
//! what one sample leaves over is kept for later ones, since a long call among short ones would else be cut and nothing
//! be added to the short ones.
//!
//! The program's own work between two bursts of calls is no room for those: of the time since the last sample counts
//! what so many calls mostly take, with what is between them, and half as much again. The rest is for samples of calls
//! that take much longer than that: these are what took so long.

use std::sync::atomic::Ordering::Relaxed;

use crate::clock;
use crate::segment::layout::{ROW_OVERFLOW, Row, Slot};

/// Calls for which time is kept, as they mostly follow each other.
const KEPT: u64 = 256 << 10;
/// A pace is in nanoseconds times this.
const PARTS: u64 = 256;
/// A call that takes so many times as long as calls are apart is not like most.
const LONG: u64 = 8;

/// What a sample may claim, and the time of which that is a part; all in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// What it may claim.
    pub(super) ns: u64,
    /// The part that is for samples like most.
    alike: u64,
    /// The rest.
    other: u64,
    /// What of `alike` may be left over for later samples.
    keeps: u64,
}

impl Room {
    /// All that it wants.
    pub(super) const ALL: Self = Self { ns: u64::MAX, alike: 0, other: 0, keeps: 0 };

    /// Of a sample of a call of `ns` that stands for `weight` calls, which were made within `own`.
    fn new(row: &Row, (ns, weight): (u64, u64), own: u64) -> Self {
        let pace = next_pace(row.pace.load(Relaxed), own.saturating_mul(PARTS) / weight);
        row.pace.store(pace, Relaxed);
        let mostly = (pace + pace / 2).saturating_mul(weight) / PARTS;
        let now = own.min(mostly);
        let alike = now.saturating_add(row.kept_ns.load(Relaxed));
        let other = (own - now).saturating_add(row.other_ns.load(Relaxed));
        let is_long = ns.saturating_mul(PARTS) > pace.saturating_mul(LONG);
        let ns = if is_long { alike.saturating_add(other) } else { alike };
        Self { ns, alike, other, keeps: pace.saturating_mul(KEPT) / PARTS }
    }

    /// So much of it was claimed.
    fn take(self, row: &Row, claimed: u64) {
        let of_other = claimed.saturating_sub(self.alike);
        row.kept_ns.store(self.alike.saturating_sub(claimed).min(self.keeps), Relaxed);
        row.other_ns.store(self.other.saturating_sub(of_other), Relaxed);
    }
}

/// The room of a sample of the operation with this row, at `now` (in ticks): of a call of `ns`, which stands for
/// `weight` calls. To be followed by [`note`].
pub(super) fn room(slot: &Slot, row: u32, (ns, weight): (u64, u64), now: u64) -> Room {
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
    Room::new(row, (ns, weight), own)
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
    room.take(row, claimed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What samples of an operation come to: each of a call of so many nanoseconds, which stands for so many, made
    /// within so long.
    #[allow(unsafe_code)]
    fn claims(samples: impl Iterator<Item = ((u64, u64), u64)>) -> u64 {
        // SAFETY: zeroes are a valid row.
        let row: Box<Row> = unsafe { Box::new_zeroed().assume_init() };
        let claim = |((ns, weight), own): ((u64, u64), u64)| {
            let room = Room::new(&row, (ns, weight), own);
            let claim = (ns * weight).min(room.ns);
            room.take(&row, claim);
            claim
        };
        samples.map(claim).sum()
    }

    #[test]
    fn work_between_bursts_is_no_room_for_them() {
        // 1000 bursts of 5 samples, each of 1000 calls that take 5 ns, and 11 alone; 100 us of work after each burst.
        let burst = |i: u64| ((11, 1000), if i.is_multiple_of(5) { 105_000 } else { 5000 });
        let sum = claims((0..5000).map(burst));
        assert!((25_000_000..29_000_000).contains(&sum), "{sum}");
    }

    #[test]
    fn calls_that_are_not_alike_come_to_what_they_took() {
        // 100 calls of 10 ns and one of 1000 a turn: what they take is what passes.
        let mixed = |i: u64| ((if i % 100 == 7 { 1000 } else { 10 }, 1000), 20_000);
        let sum = claims((0..10_000).map(mixed));
        assert!((190_000_000..=200_000_000).contains(&sum), "{sum}");
        // One of 600 ns in 51, and samples that stand for ever other numbers of calls.
        let uneven = |i: u64| {
            let weight = 1 + i * 7919 % 2000;
            ((if i % 51 == 7 { 600 } else { 4 }, weight), 16 * weight)
        };
        let (sum, passed) = (claims((0..10_000).map(uneven)), (0..10_000).map(|i| uneven(i).1).sum::<u64>());
        assert!((passed * 9 / 10..=passed).contains(&sum), "{sum} of {passed}");
        // Whatever is between calls, where each has as much.
        let apart = |_| ((10, 1000), 1_000_000);
        assert_eq!(claims((0..1000).map(apart)), 10_000_000);
    }

    #[test]
    fn rare_long_calls_are_what_took_so_long() {
        // One of 5000 calls takes 50 us, the others 5 ns; one of 5000 samples is of such a call.
        let rare = |i: u64| {
            let is_long = i % 5000 == 4999;
            ((if is_long { 50_000 } else { 5 }, 1000), if i % 5 == 4 { 55_000 } else { 5000 })
        };
        let (sum, passed) = (claims((0..50_000).map(rare)), (0..50_000).map(|i| rare(i).1).sum::<u64>());
        assert!((passed * 9 / 10..=passed).contains(&sum), "{sum} of {passed}");
    }
}
