//! Which CPUs this process may use, and how it waits on one.
#![allow(unsafe_code)]

/// CPUs of an affinity mask that is shared between PEs.
pub const MASK_WORDS: usize = 16;

/// The affinity mask of this thread, first 1024 CPUs.
pub fn affinity() -> [u64; MASK_WORDS] {
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: the mask is writable for the size given.
    let rc = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    if rc != 0 {
        mask[0] = 1;
    }
    mask
}

/// CPUs in a mask.
pub fn count(mask: &[u64; MASK_WORDS]) -> u32 {
    mask.iter().map(|w| w.count_ones()).sum()
}

/// Gives the core to another runnable thread.
pub fn yield_now() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}
