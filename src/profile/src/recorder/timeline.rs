//! What a thread did over time, in slices that double their width when they have come to their end.
//!
//! Recording a call adds nothing to a slice. When the first timed call after the end of a slice returns, the times of
//! all operations so far are summed up by kind, and what has been added since the last such sum goes into the slices
//! that have passed: the call at hand to where it was, the rest evenly. So a slice costs some hundred nanoseconds, and
//! a call nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{claim, modules, system};
use crate::clock;
use crate::segment::layout::{RegionHead, Slot};
use crate::segment::timeline::{SLICES, Timeline};
use crate::timeline::{KINDS, Slices, UNRECORDED, evenly, kind_of, totals};

/// Width of the first slices in nanoseconds, to the next power of two of ticks.
const FIRST_NS: u64 = 1_000_000;

fn get(word: &AtomicU64) -> u64 {
    word.load(Relaxed)
}

/// A thread has taken the slot: its time line begins with the PE's.
pub(super) fn begin(slot: &Slot, pe: &RegionHead) {
    let (head, line) = (&slot.head, &slot.tables.timeline);
    let now = super::hot::ticks(head);
    let origin = get(&pe.attach_ticks).clamp(1, now);
    if get(&line.origin) == 0 {
        let ticks = (u128::from(FIRST_NS) << 32) / u128::from(get(&head.clock_mult).max(1));
        line.shift.store(ticks.max(2).ilog2().into(), Relaxed);
        line.origin.store(origin, Relaxed);
    }
    line.settled.store(now, Relaxed);
    look_again_after(slot, now);
}

/// The call that is about to be recorded began at `start`, before there was a slot: what is in the slices until now is
/// nothing but that call.
pub(super) fn began_before(slot: &Slot, start: u64) {
    let line = &slot.tables.timeline;
    let since = start.max(get(&line.origin));
    if since < get(&line.settled) {
        line.settled.store(since, Relaxed);
    }
}

/// The owner of the slot ends.
pub(super) fn end(slot: &Slot) {
    settle_until(slot, super::hot::ticks(&slot.head));
}

/// What is recorded from now on was not before: as of finalization, which would be spread over what came before it.
pub(super) fn settle_until(slot: &Slot, now: u64) {
    settle(slot, 0, now, now);
}

/// Nothing was recorded between these moments: by this thread, which has the slot, at least.
pub(super) fn not_recorded(slot: &Slot, (since, now): (u64, u64)) {
    let (head, line) = (&slot.head, &slot.tables.timeline);
    let origin = get(&line.origin);
    if origin == 0 {
        return;
    }
    let has_ended = now >= get(&line.slice_end);
    if has_ended {
        // What was recorded before is not to be spread over it.
        settle_until(slot, since);
        Slots(line).widen_until(now);
        line.settled.store(now, Relaxed);
    }
    evenly(
        &mut Slots(line),
        (since, now),
        UNRECORDED,
        clock::scale_ns(now.saturating_sub(since), get(&head.clock_mult)),
    );
    if has_ended {
        look_again_after(slot, now);
    }
}

/// The next look at the slices is when the one of this moment ends.
fn look_again_after(slot: &Slot, now: u64) {
    let line = &slot.tables.timeline;
    let (origin, shift) = (get(&line.origin), get(&line.shift) & 63);
    let end = origin + ((((now.saturating_sub(origin)) >> shift) + 1) << shift);
    line.slice_end.store(end, Relaxed);
    let end = end.min(modules::look_if_due(&slot.head, now));
    slot.head.slice_end.store(if super::hot::uses_counter(&slot.head) { end } else { 0 }, Relaxed);
}

/// Does what is due from time to time, after a call of `op` from `start` to `end`: where a slice has ended, if
/// only for a call within this one, it is settled; and what is loaded is looked at. For the slot's owner.
#[inline(always)]
pub(super) fn tend(slot: &Slot, op: u16, start: u64, end: u64) {
    let line = &slot.tables.timeline;
    if end >= get(&line.slice_end) || start < get(&line.settled) {
        settle(slot, op, start, end);
    } else if end >= modules::due() || has_passed(&slot.head.slice_end, end) {
        look_again_after(slot, end);
    }
}

/// Whether a moment is before `now`; 0 is none.
#[inline(always)]
fn has_passed(moment: &AtomicU64, now: u64) -> bool {
    (1..=now).contains(&get(moment))
}

/// The call that began at `start` goes on after others within it: where these have come to the end of a slice, it is
/// looked after the slices once it is over.
#[inline]
pub(super) fn within(slot: &Slot, start: u64) {
    let end = &slot.head.slice_end;
    if (1..get(&slot.tables.timeline.settled)).contains(&start) && get(end) != 0 {
        end.store(1, Relaxed);
    }
}

/// Puts what was recorded until `end` into the slices; a call of `op` has just been, from `start` on. For the slot's
/// owner.
#[cold]
#[inline(never)]
pub(super) fn settle(slot: &Slot, op: u16, start: u64, end: u64) {
    let (head, line) = (&slot.head, &slot.tables.timeline);
    let origin = get(&line.origin);
    if origin == 0 {
        return;
    }
    let mult = get(&head.clock_mult);
    // Ticks times 256, in nanoseconds.
    let overhead_ns = clock::scale_ns(claim::sample_overhead(), mult) as f64 / 256.0;
    let mut slices = Slots(line);
    slices.widen_until(end);
    let sums = totals(slot, overhead_ns);
    let mut added = [0; KINDS];
    for (kind, (sum, before)) in sums.into_iter().zip(&line.before).enumerate() {
        added[kind] = sum.saturating_sub(get(before));
        before.store(sum, Relaxed);
    }
    let scale = |ticks: u64| clock::scale_ns(ticks, mult);
    // Calls within this one may have come to the ends of slices: these lack its time.
    let since = if start == 0 { get(&line.settled) } else { get(&line.settled).min(start) };
    crate::timeline::distribute(&mut slices, (since, end), (kind_of(op), start), added, scale);
    line.settled.store(end, Relaxed);
    look_again_after(slot, end);
    if let Some(region) = claim::region_unchecked().filter(|_| !claim::is_finalizing()) {
        system::note_usage(region);
        system::note_queue_if_due(slot, end);
    }
}

/// The slices in the segment.
struct Slots<'a>(&'a Timeline);

impl Slots<'_> {
    /// Makes slices so wide that they reach a moment.
    fn widen_until(&mut self, end: u64) {
        while (end.saturating_sub(self.origin()) >> self.shift()) as usize >= SLICES {
            self.double();
        }
    }

    /// Two become one.
    fn double(&mut self) {
        let line = self.0;
        for at in 0..SLICES {
            for kind in 0..KINDS {
                let of = |at: usize| line.slices.get(at).map_or(0, |slice| get(&slice[kind]));
                line.slices[at][kind].store(of(2 * at) + of(2 * at + 1), Relaxed);
            }
        }
        line.shift.store(get(&line.shift) + 1, Relaxed);
    }
}

impl Slices for Slots<'_> {
    fn origin(&self) -> u64 {
        get(&self.0.origin)
    }

    fn shift(&self) -> u32 {
        (get(&self.0.shift) & 63) as u32
    }

    fn add(&mut self, at: usize, kind: usize, ns: u64) {
        if let Some(slice) = self.0.slices.get(at) {
            slice[kind].store(get(&slice[kind]).saturating_add(ns), Relaxed);
        }
    }
}
