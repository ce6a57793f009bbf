//! What the system gives the PE: processors, and what the kernel counts for its process.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::Relaxed;

use super::claim;
use super::hot::{bump, ticks};
use crate::clock;
use crate::segment::layout::{Region, SLOTS, Slot};

/// Time between two looks at the run queue, in nanoseconds: a look takes some microseconds.
const LOOK_NS: u64 = 100_000_000;

/// Notes the cores that the PEs of this host may take between them, what their control group may take, where that is
/// limited, and the processors that this process may run on.
pub fn note_processors(cores: u32, quota: Option<u32>) {
    let Some(region) = claim::region() else { return };
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: the set is as large as said, and zeroed: whatever the kernel leaves of it is valid.
    let allowed = unsafe {
        let done = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr());
        if done == 0 { libc::CPU_COUNT(set.assume_init_ref()) } else { 0 }
    };
    region.head.cores.store(cores, Relaxed);
    region.head.quota.store(quota.unwrap_or(0), Relaxed);
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
    region.head.usage_at.store(ticks(&region.slots[SLOTS].head), Relaxed);
}

/// How long this thread has stood in a run queue so far, in nanoseconds; `None` where the kernel does not count that.
fn queued_ns() -> Option<u64> {
    queued_of(c"/proc/thread-self/schedstat")
}

/// How long the first thread of this process has, for a process that begins; 0 where the kernel does not count that.
pub(super) fn queued_before_ns() -> u64 {
    queued_of(c"/proc/self/schedstat").unwrap_or(0)
}

/// As `schedstat` of a thread says. Calls come here in signal handlers, too: no memory is allocated.
fn queued_of(schedstat: &CStr) -> Option<u64> {
    let mut text = [0_u8; 80];
    // SAFETY: a path that ends with 0, and a place for as many bytes; what was opened is closed. The program's errno
    // stays what it is.
    let count = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let file = libc::open(schedstat.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let count = if file < 0 { -1 } else { libc::read(file, text.as_mut_ptr().cast(), text.len()) };
        if file >= 0 {
            libc::close(file);
        }
        *errno = before;
        usize::try_from(count).ok()?
    };
    let mut numbers = std::str::from_utf8(&text[..count]).ok()?.split_ascii_whitespace().map(str::parse);
    // On a core, in a run queue: both are 0 where they are not counted.
    let (Ok(on_core), Ok(queued)) = (numbers.next()?, numbers.next()?) else { return None };
    (on_core > 0_u64).then_some(queued)
}

/// The thread that owns the slot begins here, or its PE has been initialized: what was before does not count.
pub(super) fn begin_queue(slot: &Slot) {
    let lives = &slot.tables.lives;
    lives.queued_seen.store(queued_ns().map_or(0, |queued| queued.saturating_add(1)), Relaxed);
    lives.on_core_seen.store(on_core_ns().saturating_add(1), Relaxed);
    lives.queued_at.store(ticks(&slot.head), Relaxed);
}

/// How long this thread has been on cores, in nanoseconds.
pub(super) fn on_core_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    count(time.tv_sec) * 1_000_000_000 + count(time.tv_nsec)
}

/// Looks how long the calling thread, which owns the slot, has stood in a run queue.
pub(super) fn note_queue(slot: &Slot) {
    let lives = &slot.tables.lives;
    let seen = lives.queued_seen.load(Relaxed);
    if let Some(queued) = queued_ns().filter(|_| seen > 0) {
        bump(&lives.queued, queued.saturating_sub(seen - 1));
        lives.queued_seen.store(queued.saturating_add(1), Relaxed);
    }
    let before = lives.on_core_seen.load(Relaxed);
    if before > 0 {
        let on_core = on_core_ns();
        bump(&lives.on_core, on_core.saturating_sub(before - 1));
        lives.on_core_seen.store(on_core.saturating_add(1), Relaxed);
    }
    lives.queued_at.store(ticks(&slot.head), Relaxed);
}

/// As [`note_queue`], now and then: for those who come here often.
pub(super) fn note_queue_if_due(slot: &Slot, now: u64) {
    let since = now.saturating_sub(slot.tables.lives.queued_at.load(Relaxed));
    if clock::scale_ns(since, slot.head.clock_mult.load(Relaxed)) >= LOOK_NS {
        note_queue(slot);
    }
}
