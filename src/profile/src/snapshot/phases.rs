//! Reading what threads did between barriers, syncs and collectives.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::unfinished::Unfinished;
use crate::op::{self, COUNT, Class, FINALIZES, FOR_OTHERS, INITIALIZES, traits};
use crate::segment::Segment;
use crate::segment::layout::{OWNER_NONE, RegionHead, Slot};
use crate::segment::meetings::{FROM_BEGIN, Sync, split_library};
use crate::segment::sites::{SITE_OVERFLOW, split_key};
use crate::tables::{LastPhase, Phase};

/// The phases of one thread.
#[derive(Clone, Copy)]
pub(crate) struct Phases<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) head: &'a RegionHead,
    pub(crate) slot: &'a Slot,
}

fn get(word: &AtomicU64) -> u64 {
    word.load(Relaxed)
}

impl Phases<'_> {
    /// The phase that ends with a meeting.
    pub(crate) fn before(&self, sync: &Sync) -> Phase {
        let call_ns = self.segment.scale().ns(get(&sync.left).saturating_sub(get(&sync.arrived)));
        let (library_ns, waits_ns) = split_library(get(&sync.library));
        let library_ns = library_ns.saturating_sub(call_ns);
        match (get(&sync.from_key), get(&sync.from_left)) {
            (FROM_BEGIN, began) => self.first(began, (library_ns, waits_ns)),
            (key, left) => self.phase(key, left, (library_ns, waits_ns)),
        }
    }

    /// The phase after the last meeting, of a thread that was there when finalization began or the PE ended. What has
    /// passed of a call that has not returned is the library's.
    pub(crate) fn last(&self, end_ns: u64) -> Option<LastPhase> {
        let begin = &self.slot.tables.phase;
        let finalize = get(&self.head.finalize_ticks);
        let is_main = self.ns_of(INITIALIZES) > 0;
        if get(&self.head.init_ticks) == 0 || self.slot.head.owner.load(Relaxed) == OWNER_NONE {
            return None;
        }
        if get(&begin.left) == 0 && !is_main {
            return None;
        }
        let phase = self.now();
        if finalize != 0 {
            return Some(LastPhase { phase, end_ns: self.segment.since_start(finalize).max(phase.begin_ns) });
        }
        let inside = Unfinished::of(self.segment, self.slot, end_ns).filter(|call| !is_setup(call.op));
        let library_ns = phase.library_ns.saturating_add(inside.map_or(0, |call| call.ns));
        let waits = inside.filter(|call| traits(call.op) & FOR_OTHERS != 0);
        let waits_ns = phase.waits_ns.saturating_add(waits.map_or(0, |call| call.ns));
        Some(LastPhase { phase: Phase { library_ns, waits_ns, ..phase }, end_ns: end_ns.max(phase.begin_ns) })
    }

    /// What the thread has done since its last meeting, by calls that have returned.
    pub(super) fn now(&self) -> Phase {
        let begin = &self.slot.tables.phase;
        let claimed = get(&self.slot.head.claimed_ns).saturating_sub(get(&begin.claimed_ns));
        let library_ns = claimed.saturating_sub(self.ns_of(FINALIZES));
        let site = begin.passed().unwrap_or_else(|| get(&begin.site)) as usize;
        let site = &self.slot.tables.sites[site.min(SITE_OVERFLOW)];
        self.phase(get(&site.key), get(&begin.left), (library_ns, get(&begin.waits_ns)))
    }

    /// The first phase of a thread that began then, in ticks.
    fn first(&self, began: u64, (library_ns, waits_ns): (u64, u64)) -> Phase {
        let library_ns = library_ns.saturating_sub(self.ns_of(INITIALIZES));
        Phase { from: None, begin_ns: self.segment.since_start(began), library_ns, waits_ns }
    }

    /// `from_left`: 0 where there was no meeting before.
    fn phase(&self, from_key: u64, from_left: u64, (library_ns, waits_ns): (u64, u64)) -> Phase {
        if from_left == 0 {
            let began = get(&self.head.init_ticks).max(get(&self.slot.tables.lives.since));
            return self.first(began, (library_ns, waits_ns));
        }
        let (address, op, _) = split_key(from_key);
        Phase { from: Some((address, op)), begin_ns: self.segment.since_start(from_left), library_ns, waits_ns }
    }

    /// Time of the thread in routines that have one of these traits, in nanoseconds.
    fn ns_of(&self, of: u32) -> u64 {
        let ops = (0..COUNT).filter(|&op| traits(op as u16) & of != 0);
        ops.map(|op| get(&self.slot.cells[op].exact_ns)).sum()
    }
}

/// Whether a routine begins or ends the program.
fn is_setup(op: u16) -> bool {
    op::get(op).is_some_and(|row| row.class == Class::Setup)
}
