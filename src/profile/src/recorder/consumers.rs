//! Who wants more of timed calls than their numbers: one test where each of them would be one.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Events are written.
pub(crate) const TRACE: u32 = 1;
/// Counters are read.
pub(super) const COUNTERS: u32 = 2;

static CONSUMERS: AtomicU32 = AtomicU32::new(0);

/// Whether somebody does.
#[inline(always)]
pub(super) fn any() -> bool {
    CONSUMERS.load(Relaxed) != 0
}

/// Whether this one does.
#[inline(always)]
pub(crate) fn is(what: u32) -> bool {
    CONSUMERS.load(Relaxed) & what != 0
}

/// It does from now on, or no longer.
pub(crate) fn set(what: u32, on: bool) {
    if on {
        CONSUMERS.fetch_or(what, Relaxed);
    } else {
        CONSUMERS.fetch_and(!what, Relaxed);
    }
}
