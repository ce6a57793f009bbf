//! Which CPUs this process may use, and how it waits on one.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// CPUs of an affinity mask that is shared between PEs.
pub const MASK_WORDS: usize = 16;

/// The affinity mask of this thread, first 1024 CPUs.
pub fn affinity() -> [u64; MASK_WORDS] {
    // The kernel wants room for all CPUs that it could have.
    let mut mask = [0u64; 16 * MASK_WORDS];
    // SAFETY: the mask is writable for the size given.
    let rc = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    let mut first = *mask.first_chunk().expect("it is longer");
    if rc != 0 || count(&first) == 0 {
        first[0] = 1;
    }
    first
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

/// Yields of a thread from one nap to the next. With 1024 others waited for 6 s once more, with 64 for 50 ms at most.
const YIELDS_TO_A_NAP: u32 = 64;

static NAPS: AtomicBool = AtomicBool::new(false);

thread_local! {
    static YIELDS: Cell<u32> = const { Cell::new(0) };
}

/// Has whoever yields sleep now and then, for as short a time as the system can.
///
/// The clock of a run queue runs away from threads that yield to each other, until one of them sleeps: Linux 6.18 then
/// has others wait for up to 20 s, among them its own threads that take packets from one interface to another; a change
/// of April 2026 to `zero_vruntime` puts it right. A job that needs the network has to do without.
pub fn nap_between_yields() {
    NAPS.store(true, Ordering::Relaxed);
}

/// Gives the core to another runnable thread.
pub fn yield_now() {
    if NAPS.load(Ordering::Relaxed) {
        let yields = YIELDS.get() + 1;
        if yields == YIELDS_TO_A_NAP {
            YIELDS.set(0);
            return std::thread::sleep(Duration::from_nanos(1));
        }
        YIELDS.set(yields);
    }
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

/// Bytes of memory of this host; 0 where that is not known.
pub fn memory_bytes() -> usize {
    // SAFETY: no pointers.
    let (pages, bytes) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(bytes).unwrap_or(0))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How often this thread has slept.
    fn sleeps() -> i64 {
        // SAFETY: plain numbers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: writes to the value given.
        assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) }, 0);
        usage.ru_nvcsw
    }

    #[test]
    fn a_thread_that_yields_sleeps_now_and_then_where_it_should() {
        let yields = || {
            let before = sleeps();
            (0..10 * YIELDS_TO_A_NAP).for_each(|_| yield_now());
            sleeps() - before
        };
        assert_eq!(yields(), 0, "before it is asked for");
        nap_between_yields();
        assert_eq!(yields(), 10);
    }
}
