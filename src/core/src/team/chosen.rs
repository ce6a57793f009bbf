//! Who is told which algorithm a collective takes: what counts them is no part of the runtime.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Is told the algorithm's place in `collectives::table`, by the thread that is in the collective.
pub type AlgorithmObserver = fn(u8);

static OBSERVER: OnceLock<AlgorithmObserver> = OnceLock::new();
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// This one is told, while it wants to be. Once a process.
pub fn observe_algorithms(observer: AlgorithmObserver) {
    let _ = OBSERVER.set(observer);
}

/// Whether it wants to be told from now on.
pub fn want_algorithms(wanted: bool) {
    IS_WANTED.store(wanted, Ordering::Relaxed);
}

/// Tells of a choice: a place in the table.
#[inline(always)]
pub fn tell_algorithm(place: u8) {
    if IS_WANTED.load(Ordering::Relaxed) {
        tell(place);
    }
}

#[inline(never)]
fn tell(number: u8) {
    if let Some(observer) = OBSERVER.get() {
        observer(number);
    }
}
