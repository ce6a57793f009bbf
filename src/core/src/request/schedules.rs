//! Schedules that are under way: each is advanced until it comes to its end.
#![allow(unsafe_code)]

use super::table::{Request, TABLE};
use super::{observer, outcomes};
use crate::base::Fault;
use crate::inter_host;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A collective under way.
pub struct Schedule(Pin<Box<dyn Future<Output = Result<(), Fault>>>>);

// SAFETY: a schedule is advanced by one thread at a time, under the lock of its list, and holds nothing of the thread
// that advances it: addresses of the caller's objects, and counters that it shares with nobody else.
unsafe impl Send for Schedule {}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schedule")
    }
}

impl Schedule {
    /// Not begun.
    pub fn new(steps: impl Future<Output = Result<(), Fault>> + 'static) -> Self {
        Self(Box::pin(steps))
    }

    fn advance(&mut self) -> Option<Result<(), Fault>> {
        inter_host::advance(self.0.as_mut())
    }
}

static RUNNING: Mutex<Vec<(Request, Schedule)>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether there are any.
#[inline]
pub fn are_running() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

fn running() -> MutexGuard<'static, Vec<(Request, Schedule)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the request of a schedule with what that came to, unless it is a mistake of the program's. That a member is
/// lost is none.
fn end_with(request: Request, fault: Fault) -> Result<(), Fault> {
    if !fault.is_result() && !fault.is_loss() {
        return Err(fault);
    }
    outcomes::keep(request, fault);
    complete(request);
    Ok(())
}

/// A schedule has come to its end.
fn complete(request: Request) {
    if let Some(slot) = TABLE.live(request) {
        slot.complete.store(observer::now(), Ordering::Relaxed);
        slot.scheduled.store(false, Ordering::Release);
    }
}

/// Advances a new schedule for the first time. Gives whether that was all.
pub(super) fn start(request: Request, mut schedule: Schedule) -> Result<bool, Fault> {
    if let Some(result) = schedule.advance() {
        let went_well = result.is_ok();
        return result.or_else(|fault| end_with(request, fault)).map(|()| went_well);
    }
    let mut running = running();
    running.push((request, schedule));
    COUNT.store(running.len(), Ordering::Relaxed);
    Ok(false)
}

/// See [`super::advance`].
pub(super) fn advance() -> Result<bool, Fault> {
    // Another thread does it, or this one, further up its stack.
    let Ok(mut running) = RUNNING.try_lock() else { return Ok(false) };
    let (mut ended, mut failed, mut i) = (false, None, 0);
    while i < running.len() && failed.is_none() {
        let (request, schedule) = &mut running[i];
        let Some(result) = schedule.advance() else {
            i += 1;
            continue;
        };
        ended = true;
        let request = *request;
        failed = result.or_else(|fault| end_with(request, fault)).err();
        complete(request);
        // Who was begun first is advanced first.
        running.remove(i);
    }
    COUNT.store(running.len(), Ordering::Relaxed);
    failed.map_or(Ok(ended), Err)
}
