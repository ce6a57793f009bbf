//! How long a thread is on no core while it waits for long. What it stood in a run queue beyond that it stood outside
//! of the library: that is no work, but what it has done there besides is what others wait for.
//!
//! The time on cores is asked for twice in a wait that has become slow, which has lasted for some ten microseconds
//! then: once while it waits, once when it is over.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;

use super::hot::{bump, ticks};
use crate::clock;
use crate::segment::layout::{STATE_INSIDE, Slot, state_of};

/// The calling thread is about to let others have its core.
pub(super) fn begin(slot: &Slot) {
    let (current, off_core) = (&slot.head.current, &slot.tables.off_core);
    let start = current.start.load(Relaxed) & !1;
    let is_inside = state_of(current.word.load(Relaxed)) == STATE_INSIDE;
    if is_inside && start != 0 && off_core.start.load(Relaxed) != start {
        off_core.since.store(ticks(&slot.head), Relaxed);
        off_core.on_core_ns.store(on_core_ns(), Relaxed);
        off_core.start.store(start, Relaxed);
    }
}

/// The call that was entered at `start` is over at `end`.
#[inline(always)]
pub(super) fn end(slot: &Slot, start: u64, end: u64) {
    if slot.tables.off_core.start.load(Relaxed) == start & !1 {
        add(slot, end);
    }
}

#[cold]
#[inline(never)]
fn add(slot: &Slot, end: u64) {
    let off_core = &slot.tables.off_core;
    let waited = end.saturating_sub(off_core.since.load(Relaxed));
    let waited_ns = clock::scale_ns(waited, slot.head.clock_mult.load(Relaxed));
    let on_core = on_core_ns().saturating_sub(off_core.on_core_ns.load(Relaxed));
    bump(&off_core.ns, waited_ns.saturating_sub(on_core));
    off_core.start.store(1, Relaxed);
}

/// How long this thread has been on cores, in nanoseconds.
fn on_core_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
