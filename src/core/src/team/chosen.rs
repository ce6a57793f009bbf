//! Who is told which algorithm a collective takes: what counts them is no part of the runtime.

use super::algorithm::InTable;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Is told the algorithm's place in [`super::algorithm::TABLE`], by the thread that is in the collective.
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

/// Tells of a choice, and gives it back.
#[inline(always)]
pub fn chosen<A: InTable>(algorithm: A) -> A {
    if IS_WANTED.load(Ordering::Relaxed) {
        tell(algorithm.number());
    }
    algorithm
}

#[inline(never)]
fn tell(number: u8) {
    if let Some(observer) = OBSERVER.get() {
        observer(number);
    }
}
