//! What schedules and transfers came to that have ended otherwise than well, until somebody asks for their requests.

use super::Request;
use super::table::TABLE;
use crate::base::Fault;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ALL: Mutex<Vec<(Request, Fault)>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn all() -> MutexGuard<'static, Vec<(Request, Fault)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what a request came to, before it is complete.
pub(super) fn keep(request: Request, fault: Fault) {
    let mut all = all();
    all.push((request, fault));
    COUNT.store(all.len(), Ordering::Release);
}

/// Takes what a request that is complete came to; `None`: to its end.
#[inline]
pub fn take_outcome(request: Request) -> Option<Fault> {
    let kept = if COUNT.load(Ordering::Acquire) == 0 { None } else { take(request) };
    kept.or_else(|| TABLE.live(request)?.event.take_failure())
}

#[cold]
fn take(request: Request) -> Option<Fault> {
    let mut all = all();
    let at = all.iter().position(|(of, _)| *of == request)?;
    let fault = all.swap_remove(at).1;
    COUNT.store(all.len(), Ordering::Release);
    Some(fault)
}
