//! Reading what threads did over time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::unfinished::interrupted_ns;
use crate::segment::Segment;
use crate::segment::layout::{OWNER_NONE, RegionHead, STATE_INSIDE, Slot, state_of};
use crate::segment::timeline::SLICES;
use crate::tables::Timeline;
use crate::timeline::{KINDS, Slices, UNRECORDED, distribute, evenly, kind_of, totals};

fn get(word: &AtomicU64) -> u64 {
    word.load(Relaxed)
}

/// A thread's slices, with what was recorded since it looked after them last.
struct Line {
    origin: u64,
    shift: u32,
    slices: Vec<[u64; KINDS]>,
}

impl Slices for Line {
    fn origin(&self) -> u64 {
        self.origin
    }

    fn shift(&self) -> u32 {
        self.shift
    }

    fn add(&mut self, at: usize, kind: usize, ns: u64) {
        if let Some(slice) = self.slices.get_mut(at) {
            slice[kind] = slice[kind].saturating_add(ns);
        }
    }
}

impl Line {
    /// The slices of a slot until `end`, in ticks. `None` where there are none.
    fn read(segment: &Segment, slot: &Slot, end: u64, overhead_ns: f64) -> Option<Line> {
        let of = &slot.tables.timeline;
        let (origin, shift) = (get(&of.origin), (get(&of.shift) & 63) as u32);
        if origin == 0 {
            return None;
        }
        let slices = of.slices.iter().map(|slice| slice.each_ref().map(get)).collect();
        let mut line = Line { origin, shift, slices };
        line.widen_until(end);
        let mut added = [0; KINDS];
        for (kind, (sum, before)) in totals(slot, overhead_ns).into_iter().zip(&of.before).enumerate() {
            added[kind] = sum.saturating_sub(get(before));
        }
        let word = slot.head.current.word.load(Relaxed);
        let mut call = (0, end);
        if state_of(word) == STATE_INSIDE && slot.head.owner.load(Relaxed) != OWNER_NONE {
            // The call that has not returned.
            let start = Some(get(&slot.head.current.start)).filter(|start| *start != 0);
            call = (kind_of(word as u16), start.unwrap_or(end).min(end));
            added[call.0] += segment.scale().ns(end - call.1).saturating_sub(interrupted_ns(slot));
        }
        // Calls within this one may have come to the ends of slices: these lack its time.
        distribute(&mut line, (get(&of.settled).min(call.1), end), call, added, |ticks| segment.scale().ns(ticks));
        Some(line)
    }

    /// Makes slices so wide that they reach a moment.
    fn widen_until(&mut self, end: u64) {
        while (end.saturating_sub(self.origin) >> self.shift) as usize >= SLICES && self.shift < 63 {
            self.double();
        }
    }

    fn double(&mut self) {
        let pairs = self.slices.chunks(2).map(|pair| {
            let mut sum = [0_u64; KINDS];
            pair.iter().for_each(|slice| sum.iter_mut().zip(slice).for_each(|(sum, ns)| *sum += ns));
            sum
        });
        self.slices = pairs.collect();
        self.slices.resize(SLICES, [0; KINDS]);
        self.shift += 1;
    }
}

/// What the threads of a PE did until `end_ns`, in slices of the widest of them.
pub(crate) fn take<'a>(
    segment: &Segment,
    pe: &RegionHead,
    slots: impl Iterator<Item = &'a Slot>,
    end_ns: u64,
    overhead_ns: f64,
) -> Timeline {
    let end = segment.ticks_at(end_ns);
    let mut sum: Option<Line> = None;
    for mut line in slots.filter_map(|slot| Line::read(segment, slot, end, overhead_ns)) {
        let Some(sum) = &mut sum else {
            sum = Some(line);
            continue;
        };
        while line.shift < sum.shift {
            line.double();
        }
        while sum.shift < line.shift {
            sum.double();
        }
        for (to, from) in sum.slices.iter_mut().zip(&line.slices) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }
    let Some(mut line) = sum else { return Timeline::default() };
    // The level is 0 since then.
    let off_since = get(&pe.off_since);
    if (1..end).contains(&off_since) {
        evenly(&mut line, (off_since, end), UNRECORDED, segment.scale().ns(end - off_since));
    }
    line.slices.truncate((end.saturating_sub(line.origin) >> line.shift) as usize + 1);
    let width_ns = segment.scale().ns(1 << line.shift);
    Timeline { begin_ns: segment.since_start(line.origin), width_ns, slices: line.slices }
}
