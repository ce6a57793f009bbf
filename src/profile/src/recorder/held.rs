//! What a PE has: symmetric memory, and locks. For whoever looks at a job that runs or hangs.

use std::sync::atomic::Ordering::Relaxed;

use super::claim;

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

/// This PE now holds the distributed lock at `addr`. Beyond [`crate::segment::layout::LOCKS`] they are not noted.
pub fn lock_taken(addr: usize) {
    replace(0, addr as u64);
}

/// This PE no longer holds the lock at `addr`.
pub fn lock_released(addr: usize) {
    replace(addr as u64, 0);
}

fn replace(from: u64, to: u64) {
    let Some(region) = claim::region_unchecked() else { return };
    for place in &region.head.locks {
        if place.load(Relaxed) == from && place.compare_exchange(from, to, Relaxed, Relaxed).is_ok() {
            return;
        }
    }
}
