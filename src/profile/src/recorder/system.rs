//! What the system gives the PE: processors, and what the kernel counts for its process.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;

use crate::segment::layout::Region;

/// Notes the processors of the host, and those that this process may run on.
pub(super) fn note_processors(region: &Region) {
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: the set is as large as said, and zeroed: whatever the kernel leaves of it is valid.
    let allowed = unsafe {
        let done = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr());
        if done == 0 { libc::CPU_COUNT(set.assume_init_ref()) } else { 0 }
    };
    // SAFETY: no precondition.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    region.head.cores.store(u32::try_from(cores).unwrap_or(0), Relaxed);
    region.head.allowed.store(u32::try_from(allowed).unwrap_or(0), Relaxed);
}

/// Notes what the kernel has counted for this process so far.
pub(super) fn note_usage(region: &Region) {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a place for the answer, which is zeroed and so valid in any case.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) != 0 {
            return;
        }
        usage.assume_init()
    };
    let count = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
    let ns = |time: libc::timeval| count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1000;
    let values = [
        ns(usage.ru_utime),
        ns(usage.ru_stime),
        count(usage.ru_minflt) + count(usage.ru_majflt),
        count(usage.ru_nvcsw),
        count(usage.ru_nivcsw),
    ];
    region.head.usage.iter().zip(values).for_each(|(to, value)| to.store(value, Relaxed));
}
