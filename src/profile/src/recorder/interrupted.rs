//! Waits that signal handlers interrupt which call the library: such a call leaves its own words where the thread shows
//! what it is in, and its time would be of two calls.
//!
//! A call that has returned leaves no thread inside of one. So a wait that finds its thread outside has been
//! interrupted since it looked last: it shows again what it showed then, and notes what the handler's calls took, which
//! is no part of its time. Whoever does not wait long does not look.

use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use super::hot::ticks;
use super::stall::{show, shown};
use super::{slow_wait, tls};
use crate::clock;
use crate::segment::layout::{STATE_INSIDE, Slot, state_of};

/// What is remembered of a wait: what it shows, the time of the thread's calls so far in nanoseconds, when that was, in
/// ticks, and what calls that have interrupted it took, in nanoseconds. Zeros at first.
pub type Remembered = [u64; 8];

/// The calling thread waits and has looked in vain, or its wait is over.
#[cold]
pub fn look(kept: &mut Remembered) {
    let Some(slot) = tls::slot() else { return };
    let [word, addr, bytes, start, site] = shown(slot);
    let now =
        [word, addr, bytes, start, site, claimed(slot), ticks(&slot.head), slow_wait::interrupted_ns(slot, start)];
    // A handler may have called in between of these.
    compiler_fence(SeqCst);
    if is_inside(slot) {
        *kept = now;
    } else if kept[0] != 0 {
        put_back(slot, kept);
    }
}

fn is_inside(slot: &Slot) -> bool {
    state_of(slot.head.current.word.load(Relaxed)) == STATE_INSIDE
}

fn claimed(slot: &Slot) -> u64 {
    slot.head.claimed_ns.load(Relaxed)
}

fn put_back(slot: &Slot, kept: &mut Remembered) {
    let [word, addr, bytes, start, site, known, since, before] = *kept;
    let before_it = [word, addr, bytes, start, site];
    // Until no handler has called meanwhile.
    while shown(slot) != before_it {
        show(slot, before_it);
        compiler_fence(SeqCst);
    }
    let (claimed, now) = (claimed(slot), ticks(&slot.head));
    // A sample stands for calls before the wait as well.
    let passed = clock::scale_ns(now.saturating_sub(since), slot.head.clock_mult.load(Relaxed));
    let ns = before + claimed.saturating_sub(known).min(passed);
    slow_wait::interrupted(slot, ns);
    *kept = [word, addr, bytes, start, site, claimed, now, ns];
}
