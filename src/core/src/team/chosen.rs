//! Who is told which algorithm a collective takes: what counts them is no part of the runtime.

use crate::base::observer;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the observer is told: a test of this costs less than a call in vain.
static TOLD: AtomicBool = AtomicBool::new(false);

/// The observer is told of algorithms from now on, or not any more.
pub fn tell_algorithms(whether: bool) {
    TOLD.store(whether, Ordering::Relaxed);
}

/// Tells of a choice: a place in the table.
#[inline(always)]
pub fn tell_algorithm(place: u8) {
    if TOLD.load(Ordering::Relaxed)
        && let Some(observer) = observer::get()
    {
        (observer.algorithm)(place);
    }
}
