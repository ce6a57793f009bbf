//! Requests: what is held of an operation that goes on after the call that began it. For routines with handles, for
//! nonblocking collectives, and for front ends with events of their own.
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | beginning requests, asking for them, ending them |
//! | `table.rs` | the slots behind handles |
//! | `schedules.rs` | what has to be advanced until it is complete |
//! | `detached.rs` | what nobody holds a handle of |
//! | `outcomes.rs` | what came to something else than its end |
//! | `observer.rs` | who is told of how requests go |
//! | `uses.rs` | with `--check`: the memory that operations use |
//!
//! A request is complete either when the transport says so ([`with_event`]) or when its schedule has come to its end
//! ([`start`]). Schedules are advanced by every wait of the library, and by who asks for a request.

mod detached;
pub mod observer;
mod outcomes;
mod schedules;
mod table;
pub mod uses;

#[cfg(test)]
mod tests;

pub use detached::{complete_detached, detach, has_detached};
pub use outcomes::take_outcome;
pub use schedules::{Schedule, are_running};
pub use table::{Request, RequestState};

use crate::base::Fault;
use crate::transport::{Event, EventSlot};
use schedules::Who;
use std::future::Future;
use std::sync::atomic::{AtomicI32, Ordering};
use table::TABLE;

/// Begins a transfer whose completion an event tells. `start` hands the event to a transport, or finds that nothing is
/// left to wait for. `pe`: whose completion it is.
///
/// Fault: that of `start`, or too many are outstanding; then there is no request.
pub fn with_event(pe: i32, start: impl FnOnce(EventSlot) -> Result<Started, Fault>) -> Result<Request, Fault> {
    let (request, slot) = TABLE.insert(false)?;
    slot.awaited.store(pe, Ordering::Relaxed);
    match start(slot.event.slot()) {
        Ok(Started::UnderWay) => Ok(request),
        Ok(Started::Complete) => {
            TABLE.remove(request);
            Ok(Request::COMPLETE)
        }
        Err(fault) => {
            TABLE.remove(request);
            Err(fault)
        }
    }
}

/// How far a transfer came at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// Its event tells when it is complete.
    UnderWay,
    /// All is done.
    Complete,
}

/// Starts a schedule, which gets an event for its transfers, and a place where it shows which PE it lacks something of.
/// The first steps are made at once. What it comes to is told
/// to who asks for the request ([`take_outcome`]).
///
/// Fault: that of the first steps, where it is the program's, or too many are outstanding.
pub fn start<F: Future<Output = Result<(), Fault>> + 'static>(
    schedule: impl FnOnce(&'static Event, &'static AtomicI32) -> F,
) -> Result<Request, Fault> {
    let (request, slot) = TABLE.insert(true)?;
    match schedules::start(request, Schedule::new(schedule(&slot.event, &slot.awaited))) {
        Ok(false) => Ok(request),
        Ok(true) => {
            TABLE.remove(request);
            Ok(Request::COMPLETE)
        }
        Err(fault) => {
            TABLE.remove(request);
            Err(fault)
        }
    }
}

/// Advances all schedules, each as far as it goes now. Gives whether one has come to its end.
///
/// Fault: that of a schedule, which ends with it, unless it is its result.
#[inline]
pub fn advance() -> Result<bool, Fault> {
    if are_running() { schedules::advance(Who::Program) } else { Ok(false) }
}

/// As [`advance`], in a thread of the library's own. Faults are left to the program's next call.
pub fn advance_beside() {
    if are_running() {
        // A helper has results only.
        _ = schedules::advance(Who::Helper);
    }
}

/// A number that changes whenever the program advances schedules: whoever waits does so all the time.
pub fn looks() -> u32 {
    schedules::looks()
}

/// Whether schedules are advanced by a thread of the library's own just now: it does not wait, nor ask other PEs.
pub fn is_by_helper() -> bool {
    schedules::is_by_helper()
}

/// Before the first schedule whose steps another thread may take: children of this process leave them alone.
pub fn guard_forks() {
    schedules::guard_forks();
}

/// Where a request is; it moves nothing on.
pub fn state(request: Request) -> RequestState {
    TABLE.state(request)
}

/// Ends a request that is complete: its handle is stale from now on.
pub fn release(request: Request) {
    take_outcome(request);
    if uses::are_kept() {
        uses::release(request);
    }
    TABLE.remove(request);
}

/// As [`release`], of one that the program has waited for since then, in the observer's time ([`observer::now`]); 0: it
/// was complete before, or was tested.
pub fn end(request: Request, since: u64) {
    observer::end(request, since);
    release(request);
}

/// Whether all requests are complete.
pub fn all_complete() -> bool {
    !are_running() && TABLE.all_complete()
}

/// Forgets what the last finalize ends. Requests stay, and are complete: a program may end them after it has begun
/// again.
pub fn forget_all() {
    uses::clear();
}
