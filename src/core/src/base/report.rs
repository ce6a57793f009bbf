//! Who is told of what operations came to, where a call gives something else than that.

use super::Fault;
use std::sync::OnceLock;

/// Keeps a fault as the last one of the calling thread, and gives its code.
pub type Reporter = fn(&Fault) -> i32;

static REPORTER: OnceLock<Reporter> = OnceLock::new();

/// Registers who is told. Once a process.
pub fn set_reporter(reporter: Reporter) {
    let _ = REPORTER.set(reporter);
}

/// Tells of a fault, and gives its code.
#[cold]
pub fn tell(fault: &Fault) -> i32 {
    REPORTER.get().map_or_else(|| fault.code(), |reporter| reporter(fault))
}
