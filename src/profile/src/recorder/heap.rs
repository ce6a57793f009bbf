//! What a PE has of symmetric memory. For whoever looks at a job that runs or hangs.

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
