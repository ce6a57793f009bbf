//! Time slices: how times of calls are put into them, by whoever records and by whoever reads.

use std::sync::atomic::Ordering::Relaxed;

use crate::op::{self, Class};
use crate::segment::layout::Slot;
use crate::segment::tables::ops_in;

/// Kinds of time in slices: in the library moving data and all else, waits and locks, barriers and collectives; and
/// what was not recorded.
pub const KINDS: usize = 4;
/// Data moves.
pub const DATA: usize = 0;
/// Waits and locks.
pub const WAITS: usize = 1;
/// Barriers, syncs and collectives.
pub const MEETINGS: usize = 2;
/// The level of the profile was 0: nobody knows what the PE did.
pub const UNRECORDED: usize = 3;

/// Of a PE's time line, beside these: initialization and finalization, which are known by their moments and recorded as
/// [`DATA`].
pub const SETUP: usize = KINDS;

/// The kind that an operation's time is of.
pub fn kind_of(op: u16) -> usize {
    match op::get(op).map(|row| row.class) {
        Some(Class::Wait | Class::Lock) => WAITS,
        Some(Class::Barrier | Class::Collective) => MEETINGS,
        _ => DATA,
    }
}

/// Time of a thread's calls so far by kind, in nanoseconds: of timed ones, and what samples stand for.
pub(crate) fn totals(slot: &Slot, overhead_ns: f64) -> [u64; KINDS] {
    let mut sums = [0_u64; KINDS];
    let counts = |op: &u16| op::get(*op).is_none_or(|row| row.class != Class::Handler);
    for op in ops_in(&slot.tables.used).filter(counts) {
        let cell = slot.cell(op);
        let (weight, sampled) = (cell.sample_weight.load(Relaxed), cell.sample_ns.load(Relaxed));
        let claimed = (sampled as f64 - weight as f64 * overhead_ns).max(0.0) as u64;
        let sum = &mut sums[kind_of(op)];
        *sum = sum.saturating_add(cell.exact_ns.load(Relaxed)).saturating_add(claimed);
    }
    sums
}

/// Slices of equal width, from an origin on.
pub(crate) trait Slices {
    /// Begin of the first, in ticks.
    fn origin(&self) -> u64;
    /// Width of each in ticks, as a power of two.
    fn shift(&self) -> u32;
    /// Adds to one.
    fn add(&mut self, at: usize, kind: usize, ns: u64);
}

/// Puts `added` nanoseconds by kind, of calls between the moments `from` and `until` in ticks, into the slices. The
/// last of these calls is of a `kind` and began at `start`: its time goes where it was, the others' evenly before it.
pub(crate) fn distribute(
    slices: &mut impl Slices,
    (from, until): (u64, u64),
    (kind, start): (usize, u64),
    mut added: [u64; KINDS],
    scale: impl Fn(u64) -> u64,
) {
    let from = from.max(slices.origin());
    let start = start.clamp(from.min(until), until);
    let last = added[kind].min(scale(until - start));
    added[kind] -= last;
    evenly(slices, (start, until), kind, last);
    for (kind, ns) in added.into_iter().enumerate() {
        // Where the call at hand takes all of the time, the others have been before what is known.
        let end = if start > from { start } else { until };
        evenly(slices, (from, end), kind, ns);
    }
}

/// `ns` nanoseconds over a range of time in ticks.
pub(crate) fn evenly(slices: &mut impl Slices, (from, until): (u64, u64), kind: usize, ns: u64) {
    if ns == 0 {
        return;
    }
    let (origin, shift) = (slices.origin(), slices.shift());
    let at = |ticks: u64| (ticks.saturating_sub(origin) >> shift) as usize;
    let whole = until.saturating_sub(from);
    if whole == 0 || at(from) == at(until) {
        return slices.add(at(until.max(from)), kind, ns);
    }
    let mut given = 0;
    for slice in at(from)..=at(until) {
        let begin = (origin + ((slice as u64) << shift)).max(from);
        let end = (origin + ((slice as u64 + 1) << shift)).min(until);
        let part = (u128::from(ns) * u128::from(end.saturating_sub(begin)) / u128::from(whole)) as u64;
        slices.add(slice, kind, part);
        given += part;
    }
    // What rounding has left.
    slices.add(at(until), kind, ns.saturating_sub(given));
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain {
        slices: Vec<[u64; KINDS]>,
    }

    impl Slices for Plain {
        fn origin(&self) -> u64 {
            1000
        }

        fn shift(&self) -> u32 {
            6
        }

        fn add(&mut self, at: usize, kind: usize, ns: u64) {
            self.slices[at][kind] += ns;
        }
    }

    #[test]
    fn the_last_call_goes_where_it_was_and_the_rest_before_it() {
        let mut of = Plain { slices: vec![[0; KINDS]; 8] };
        // 128 ticks with 64 ns of puts, then a barrier of 192 ticks.
        distribute(&mut of, (1000, 1320), (MEETINGS, 1128), [64, 0, 192, 0], |ticks| ticks);
        let kind = |kind: usize| of.slices.iter().map(|slice| slice[kind]).collect::<Vec<_>>();
        assert_eq!(kind(DATA), [32, 32, 0, 0, 0, 0, 0, 0]);
        assert_eq!(kind(MEETINGS), [0, 0, 64, 64, 64, 0, 0, 0]);
        // Nothing is lost, whatever the times are.
        let mut random = 7_u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        for _ in 0..2000 {
            let mut of = Plain { slices: vec![[0; KINDS]; 64] };
            let (from, until) = (next(3000), 1000 + next(2000));
            let added = [next(99), next(999), next(9999), 0];
            distribute(&mut of, (from.min(until), until), (next(3) as usize, next(4000)), added, |ticks| ticks / 2);
            for (kind, ns) in added.into_iter().enumerate() {
                assert_eq!(of.slices.iter().map(|slice| slice[kind]).sum::<u64>(), ns);
            }
        }
    }
}
