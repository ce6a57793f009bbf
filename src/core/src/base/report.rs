//! Who is told of what operations came to, where a call gives something else than that.

use super::{Cause, Fault};
use std::sync::OnceLock;

/// Keeps a fault as the last one of the calling thread, and gives its code.
pub type Reporter = fn(&Fault) -> i32;

/// Says whether a fault would end the job if it were told now.
pub type IsFatal = fn(&Fault) -> bool;

static REPORTER: OnceLock<(Reporter, IsFatal)> = OnceLock::new();
static KEEPER: OnceLock<Reporter> = OnceLock::new();

/// Registers who is told, and who says what would come of it. Once a process.
pub fn set_reporter(reporter: Reporter, is_fatal: IsFatal) {
    let _ = REPORTER.set((reporter, is_fatal));
}

/// Registers who keeps a fault of a call that is allowed, and gives its code. Once a process.
pub fn set_keeper(keeper: Reporter) {
    let _ = KEEPER.set(keeper);
}

/// A call on `SHMEM_TEAM_INVALID`, which is allowed where the specification has teams: it fails, and is no mistake of
/// which a handler is told. Gives the code.
#[cold]
pub fn no_team() -> i32 {
    let fault = Fault::from(Cause::BadValue { arg: "team", value: 0, expected: "a team: this is SHMEM_TEAM_INVALID" });
    KEEPER.get().map_or_else(|| fault.code(), |keeper| keeper(&fault))
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
