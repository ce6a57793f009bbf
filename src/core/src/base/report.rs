//! Who is told of what operations came to, where a call gives something else than that.

use super::Fault;
use std::sync::OnceLock;

/// Keeps a fault as the last one of the calling thread, and gives its code.
pub type Reporter = fn(&Fault) -> i32;

/// Says whether a fault would end the job if it were told now.
pub type IsFatal = fn(&Fault) -> bool;

static REPORTER: OnceLock<(Reporter, IsFatal)> = OnceLock::new();

/// Registers who is told, and who says what would come of it. Once a process.
pub fn set_reporter(reporter: Reporter, is_fatal: IsFatal) {
    let _ = REPORTER.set((reporter, is_fatal));
}

/// Whether a fault would end the job if it were told now. Where nobody is told, it does.
pub fn is_fatal(fault: &Fault) -> bool {
    REPORTER.get().is_none_or(|(_, is_fatal)| is_fatal(fault))
}

/// Tells of a fault, and gives its code.
#[cold]
pub fn tell(fault: &Fault) -> i32 {
    REPORTER.get().map_or_else(|| fault.code(), |(reporter, _)| reporter(fault))
}
