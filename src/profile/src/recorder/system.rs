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

/// What the kernel has counted for this process or thread so far (`RUSAGE_SELF`, `RUSAGE_THREAD`).
fn usage(who: libc::c_int) -> Option<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a place for the answer, which is zeroed and so valid in any case.
    unsafe { (libc::getrusage(who, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }
}

fn count(n: libc::c_long) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

fn faults(usage: &libc::rusage) -> u64 {
    count(usage.ru_minflt) + count(usage.ru_majflt)
}

/// Page faults of this thread, and how often another took its core; zeros where that is not known.
pub(super) fn thread_usage() -> [u64; 2] {
    usage(libc::RUSAGE_THREAD).map_or([0; 2], |usage| [faults(&usage), count(usage.ru_nivcsw)])
}

/// Notes what the kernel has counted for this process so far.
pub(super) fn note_usage(region: &Region) {
    let Some(usage) = usage(libc::RUSAGE_SELF) else { return };
    let ns = |time: libc::timeval| count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1000;
    let values =
        [ns(usage.ru_utime), ns(usage.ru_stime), faults(&usage), count(usage.ru_nvcsw), count(usage.ru_nivcsw)];
    region.head.usage.iter().zip(values).for_each(|(to, value)| to.store(value, Relaxed));
}
