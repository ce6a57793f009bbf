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

/// Has the calling thread run on the CPUs of a mask only.
pub fn bind(mask: &[u64; MASK_WORDS]) {
    // SAFETY: the mask is readable for the size given. Where the system does not want it, the thread stays.
    unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) };
}

/// The CPU that the calling thread is on.
pub fn current() -> u32 {
    // SAFETY: no arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
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

/// Asks for the cache line at an address, which is about to be written: a hint.
#[inline(always)]
pub fn prefetch_for_writing(at: *const u8) {
    // SAFETY: a hint for the processor, which does nothing where the address is not mapped, or it knows no such hint.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("prefetchw [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("prfm pstl1keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
    }
}

/// As [`prefetch_for_writing`], of a line that is about to be read.
#[inline(always)]
pub fn prefetch(at: *const u8) {
    // SAFETY: as above.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("prefetcht0 [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
    }
}
