//! What a PE has of symmetric memory, for whoever looks at a job that runs or hangs; and the bytes of allocations,
//! which are counted once there was room for them.

use std::sync::atomic::Ordering::Relaxed;

use super::claim::Place;
use super::hot::bump;
use super::{claim, cold, sites, tls};
use crate::op::Timing;
use crate::segment::layout::{SLOTS, Slot};

/// Where symmetric memory is: (first address, bytes) of the heap and of static objects.
pub fn memory(heap: (usize, usize), data: (usize, usize)) {
    let Some(region) = claim::region() else { return };
    for (to, from) in region.head.memory.iter().zip([heap.0, heap.1, data.0, data.1]) {
        to.store(from as u64, Relaxed);
    }
}

/// How many bytes of the symmetric heap are in use now.
pub fn heap_in_use(bytes: usize) {
    let Some(region) = claim::region_unchecked() else { return };
    let bytes = bytes as u64;
    region.head.heap_used.store(bytes, Relaxed);
    if bytes > region.head.heap_most.load(Relaxed) {
        region.head.heap_most.fetch_max(bytes, Relaxed);
    }
}

/// Counts a call that asks for memory, in its size class.
#[cold]
pub(super) fn count(slot: &Slot, op: u16, peer: i32, bytes: usize) {
    bump(cold::counters(slot, slot.cell(op), peer, bytes, Timing::Timed).0, 1);
}

/// Counts the bytes of a call that has just returned with the memory it asked for. Not before: what is counted never
/// becomes less.
#[cold]
#[inline(never)]
pub fn given(op: u16, bytes: usize) {
    // Allocations have no peer.
    let total = |slot: &'static Slot| cold::counters(slot, slot.cell(op), -1, bytes, Timing::Timed).1;
    if let Some(slot) = tls::slot() {
        bump(total(slot), bytes as u64);
        sites::add_bytes(slot, bytes);
    } else if let Place::Shared(region) = claim::claim() {
        let slot = &region.slots[SLOTS];
        total(slot).fetch_add(bytes as u64, Relaxed);
        sites::add_bytes_shared(slot, op, bytes);
    }
}
