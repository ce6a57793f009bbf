//! What the threads of a PE do outside of the library, where it has several: while one waits there, another may work,
//! and one that waits for others to end is outside as well, and does nothing.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::{Flows, Unfinished, for_each_called, read_cell};
use crate::op;
use crate::segment::Segment;
use crate::segment::layout::{OWNER_NONE, SLOTS, Slot};
use crate::tables::{Outside, System};

/// Sums over the threads that call the library.
#[derive(Default)]
pub(super) struct Threads {
    count: usize,
    outside: Outside,
    /// How long they were on cores at least, in the library or not.
    on_core_ns: u64,
}

impl Threads {
    /// Adds the owners of a slot, which lived so long, and were in the library for so much of it.
    pub(super) fn add(&mut self, slot: &Slot, life_ns: u64, library_ns: u64) {
        let get = |word: &AtomicU64| word.load(Relaxed);
        let lives = &slot.tables.lives;
        let off_core = get(&slot.tables.slow_wait.off_core_ns);
        let (on_core, in_library) = (get(&lives.on_core), library_ns.saturating_sub(off_core));
        let queued = get(&lives.queued).saturating_sub(off_core);
        let work = on_core.saturating_sub(in_library).saturating_add(queued).min(life_ns.saturating_sub(library_ns));
        self.count += 1;
        self.outside.work_ns = self.outside.work_ns.saturating_add(work);
        self.outside.queued_ns = self.outside.queued_ns.saturating_add(queued);
        // One that nobody has looked at for long was on cores for what it did in the library.
        self.on_core_ns = self.on_core_ns.saturating_add(on_core.max(in_library));
    }

    /// Notes the sums, with what other threads of the process work, of which none is in the library.
    pub(super) fn note(mut self, system: &mut System) {
        let all = system.usage.user_ns.saturating_add(system.usage.system_ns);
        system.helpers_ns = all.saturating_sub(self.on_core_ns);
        self.outside.work_ns = self.outside.work_ns.saturating_add(system.helpers_ns);
        system.outside = (self.count > 1).then_some(self.outside);
    }
}

/// The threads of a PE that call the library, by their ids, and how long each has been in it so far, in nanoseconds. Of
/// threads that found no slot of their own nothing is known.
pub fn in_library(segment: &Segment, pe: u32) -> Vec<(u32, u64)> {
    let Some(region) = segment.region(pe) else { return Vec::new() };
    let (overhead_ns, now) = (super::sample_overhead_ns(segment, region), segment.now_ns());
    let used = (region.head.slots_used.load(Acquire) as usize).min(SLOTS);
    let one = |slot: &Slot| {
        let (owner, flows) = (slot.head.owner.load(Relaxed), Flows::of_thread(slot));
        let mut ns = 0_u64;
        for_each_called(slot, |number, cell| {
            if op::get(number).is_some_and(|row| row.class.is_library_time()) {
                ns = ns.saturating_add(read_cell(&flows, number, cell, overhead_ns).map_or(0, |r| r.spent_ns()));
            }
        });
        let is_time = |open: &Unfinished| op::get(open.op).is_some_and(|row| row.class.is_library_time());
        let open = Unfinished::of(segment, slot, now).filter(is_time);
        ns = ns.saturating_add(open.map_or(0, |open| open.ns));
        (owner != OWNER_NONE).then_some((owner, ns))
    };
    region.slots[..used].iter().filter_map(one).collect()
}
