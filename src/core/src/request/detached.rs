//! Schedules that nobody holds a request of: the next quiet or barrier completes them.

use super::{Request, RequestState, advance, release, state, take_outcome, uses};
use crate::base::{Fault, report};
use crate::os::signal::Blocked;
use crate::os::wait::Backoff;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ALL: Mutex<Vec<Request>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn all() -> MutexGuard<'static, Vec<Request>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves a request to the next quiet or barrier.
pub fn detach(request: Request) {
    if request != Request::COMPLETE && matches!(state(request), RequestState::Pending | RequestState::Complete) {
        let mut all = all();
        all.push(request);
        COUNT.store(all.len(), Ordering::Relaxed);
    }
}

/// Whether there are any.
#[inline(always)]
pub fn has_detached() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// Takes one that is complete off the list. False: it is not there any more.
fn take(request: Request) -> bool {
    let mut all = all();
    let at = all.iter().position(|known| *known == request);
    at.iter().for_each(|at| _ = all.remove(*at));
    COUNT.store(all.len(), Ordering::Relaxed);
    at.is_some()
}

/// Waits for all of them. Fault: what the last came to of those that did not go well; the others are told.
#[cold]
pub fn complete_detached(oversubscribed: bool) -> Result<(), Fault> {
    // They stay where they are: whoever looks for them meanwhile has to wait as well.
    let alone = || uses::are_kept().then(Blocked::begin);
    let signals = alone();
    let waiting = all().clone();
    drop(signals);
    let mut backoff = Backoff::new(oversubscribed);
    let mut outcome = None;
    for request in waiting {
        while state(request) == RequestState::Pending {
            advance()?;
            backoff.step();
        }
        // With `--check` transfers of a signal handler are among them: it may make the same call.
        let _signals = alone();
        // Another thread, or a handler, may have been first.
        if take(request) {
            let came_to = take_outcome(request);
            release(request);
            if came_to.is_some()
                && let Some(before) = std::mem::replace(&mut outcome, came_to)
            {
                report::tell(&before);
            }
        }
    }
    outcome.map_or(Ok(()), Err)
}
