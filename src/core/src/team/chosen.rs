//! Who is told which algorithm a collective takes: what counts them is no part of the runtime.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Is told the algorithm's place in `collectives::table`, by the thread that is in the collective.
pub type AlgorithmObserver = fn(u8);

/// Who is told now; null: nobody.
static OBSERVER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// This one is told from now on, or nobody.
pub fn observe_algorithms(observer: Option<AlgorithmObserver>) {
    OBSERVER.store(observer.map_or(ptr::null_mut(), |observer| observer as *mut ()), Ordering::Relaxed);
}

/// Tells of a choice: a place in the table.
#[inline(always)]
pub fn tell_algorithm(place: u8) {
    let observer = OBSERVER.load(Ordering::Relaxed);
    if !observer.is_null() {
        // SAFETY: only `observe_algorithms` stores here, and what it stores is such a function.
        unsafe { std::mem::transmute::<*mut (), AlgorithmObserver>(observer)(place) };
    }
}
