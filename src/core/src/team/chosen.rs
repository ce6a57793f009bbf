//! Who is told which algorithm a collective takes: what counts them is no part of the runtime.

use super::algorithm::Number;
use std::sync::OnceLock;

/// Is told the algorithm's place in [`super::algorithm::TABLE`], by the thread that is in the collective.
pub type Watcher = fn(u8);

static WATCHER: OnceLock<Watcher> = OnceLock::new();

/// From now on this one is told. Once a process.
pub fn watch_algorithms(watcher: Watcher) {
    let _ = WATCHER.set(watcher);
}

/// Tells of a choice, and gives it back.
#[inline(always)]
pub fn chosen<A: Number>(algorithm: A) -> A {
    if let Some(watcher) = WATCHER.get() {
        watcher(algorithm.number());
    }
    algorithm
}
