//! Who is told of what operations came to, where a call gives something else than that.

use super::observer::{self, FaultObserver};
use super::{Cause, Fault};

fn observer() -> Option<&'static FaultObserver> {
    observer::get().map(|observer| &observer.faults)
}

/// A call on `SHMEM_TEAM_INVALID`, which is allowed where the specification has teams: it fails, and is no mistake of
/// which a handler is told. Gives the code.
#[cold]
pub fn no_team() -> i32 {
    let fault = Fault::from(Cause::BadValue { arg: "team", value: 0, expected: "a team: this is SHMEM_TEAM_INVALID" });
    observer().map_or_else(|| fault.code(), |observer| (observer.keep_allowed)(&fault))
}

/// Whether a fault would end the job if it were told now. Where nobody is told, it does.
pub fn is_fatal(fault: &Fault) -> bool {
    observer().is_none_or(|observer| (observer.is_fatal)(fault))
}

/// Tells of a fault, and gives its code.
#[cold]
pub fn tell(fault: &Fault) -> i32 {
    observer().map_or_else(|| fault.code(), |observer| (observer.report)(fault))
}
