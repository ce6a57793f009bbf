//! How long PEs have made no call: most calls are too short to be noted with a time, so somebody has to look again.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use super::PeNow;
use crate::segment::Segment;
use crate::segment::layout::{SLOTS, Slot};

/// What is the same as long as a PE makes no call.
type Mark = Vec<(u64, u64, u32, u64)>;

/// What was seen of the PEs of a segment, and when that was new.
#[derive(Debug, Default)]
pub struct Inactivity(BTreeMap<u32, (Mark, Since)>);

/// When it was first seen like this, and whether that was the first look.
type Since = (u64, bool);

impl Inactivity {
    /// Looks at all PEs: a few words a thread.
    pub fn look(&mut self, segment: &Segment) {
        let now = segment.now_ns();
        for pe in segment.pes() {
            let mark = mark(segment, pe);
            match self.0.get_mut(&pe) {
                Some((known, _)) if *known == mark => {}
                Some(known) => *known = (mark, (now, false)),
                None => _ = self.0.insert(pe, (mark, (now, true))),
            }
        }
    }

    /// Says how long the PE has made no call, if it still has not.
    pub fn note(&self, segment: &Segment, pe: &mut PeNow) {
        let Some((known, (since, is_first))) = self.0.get(&pe.pe) else { return };
        let is_same = !known.is_empty() && *known == mark(segment, pe.pe);
        pe.quiet_ns = is_same.then(|| segment.now_ns().saturating_sub(*since));
        pe.at_least = *is_first;
    }
}

fn mark(segment: &Segment, pe: u32) -> Mark {
    let Some(region) = segment.region(pe) else { return Mark::new() };
    let used = region.head.slots_used.load(Relaxed) as usize;
    region.slots[..SLOTS].iter().take(used).map(mark_of).collect()
}

/// The last call, when it began where that is noted, and how many of its kind there were.
fn mark_of(slot: &Slot) -> (u64, u64, u32, u64) {
    let current = &slot.head.current;
    let word = current.word.load(Relaxed);
    let cell = slot.cell(word as u16);
    let calls = cell.calls.iter().map(|calls| calls.load(Relaxed)).fold(0, u64::wrapping_add);
    (word, current.start.load(Relaxed), cell.countdown.load(Relaxed), calls)
}
