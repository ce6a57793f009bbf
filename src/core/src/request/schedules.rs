//! Schedules that are under way: each is advanced until it comes to its end.
#![allow(unsafe_code)]

use super::table::{Request, TABLE};
use super::{observer, outcomes};
use crate::base::{Cause, Fault, report};
use crate::inter_host;
use crate::os::{beside, fork};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// A collective under way.
pub struct Schedule {
    steps: Pin<Box<dyn Future<Output = Result<(), Fault>>>>,
    /// What a helper has found, which is for the program's next call.
    fault: Option<Fault>,
    /// What it came to while the network had memory of its own still ([`settle`]).
    held: Option<Fault>,
}

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
        Self { steps: Box::pin(steps), fault: None, held: None }
    }

    fn advance(&mut self) -> Option<Result<(), Fault>> {
        if let Some(fault) = self.held.take() {
            return Some(Err(fault));
        }
        inter_host::advance(self.steps.as_mut())
    }

    /// As [`Self::advance`], by a helper or by the program, who alone has what did not go well.
    fn advance_by(&mut self, who: Who) -> Option<Result<(), Fault>> {
        match (who, self.fault.take()) {
            (Who::Program, Some(fault)) => Some(Err(fault)),
            (Who::Helper, fault @ Some(_)) => {
                self.fault = fault;
                None
            }
            (Who::Program, None) => self.advance(),
            (Who::Helper, None) => match self.advance()? {
                Err(fault) if !fault.is_result() => {
                    self.fault = Some(fault);
                    None
                }
                result => Some(result),
            },
        }
    }
}

static RUNNING: Mutex<Vec<(Request, Schedule)>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Somebody came while another one was at it, who may have looked at some of them before there was reason to. The
/// program's threads do not say so to each other, since what stands in the way may be further up the same stack.
static AGAIN: AtomicBool = AtomicBool::new(false);
/// A helper advances them.
static BY_HELPER: AtomicBool = AtomicBool::new(false);
/// Changes whenever the program advances them.
static LOOKS: AtomicU32 = AtomicU32::new(0);
/// Set in the child of a fork, which has no part in what its parent has begun.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Who advances schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// A thread of the program, in a call.
    Program,
    /// A thread of the library's.
    Helper,
}

/// See [`super::looks`].
pub(super) fn looks() -> u32 {
    LOOKS.load(Ordering::Relaxed)
}

/// See [`super::is_by_helper`].
pub(super) fn is_by_helper() -> bool {
    BY_HELPER.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
    COUNT.store(0, Ordering::Relaxed);
}

/// Has a forked child leave alone what is under way, whoever had it at the time.
pub(super) fn guard_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| fork::in_child(in_child));
}

/// Whether there are any.
#[inline]
pub fn are_running() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

fn running() -> MutexGuard<'static, Vec<(Request, Schedule)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a schedule came to is kept for who asks for its request, unless it is a mistake of the program's that ends the
/// job. That a member is lost is none.
fn keep(request: Request, result: Result<(), Fault>) -> Result<(), Fault> {
    match result {
        Err(fault) if fault.is_result() || fault.is_loss() || !report::is_fatal(&fault) => {
            outcomes::keep(request, fault);
            Ok(())
        }
        result => result,
    }
}

/// What advancing a schedule gave, but for a fault while transfers of its request are under way: it may have asked for
/// reads into memory that goes with it, and ends when they have.
fn settle(request: Request, schedule: &mut Schedule, result: Option<Result<(), Fault>>) -> Option<Result<(), Fault>> {
    match result {
        Some(Err(fault)) if TABLE.live(request).is_some_and(|slot| !slot.event.is_complete()) => {
            schedule.held = Some(fault);
            None
        }
        result => result,
    }
}

/// A schedule has come to its end: from here on another thread may end its request, and begin one in the same slot.
fn complete(request: Request) {
    if let Some(slot) = TABLE.live(request) {
        slot.complete.store(observer::now(), Ordering::Relaxed);
        slot.scheduled.store(false, Ordering::Release);
    }
}

/// Advances a new schedule for the first time. Gives whether that was all.
pub(super) fn start(request: Request, mut schedule: Schedule) -> Result<bool, Fault> {
    if FORKED.load(Ordering::Relaxed) {
        return Err(Fault::from(Cause::Message("a forked child has no part in nonblocking collectives".into())));
    }
    let first = schedule.advance();
    if let Some(result) = settle(request, &mut schedule, first) {
        let went_well = result.is_ok();
        keep(request, result)?;
        if !went_well {
            complete(request);
        }
        return Ok(went_well);
    }
    let mut running = running();
    running.push((request, schedule));
    COUNT.store(running.len(), Ordering::Relaxed);
    if !beside::is_served() {
        return Ok(false);
    }
    // A helper that has taken what the schedule waits for, and seen that nothing was under way, sleeps.
    let (_, schedule) = running.last_mut().expect("was put there");
    let again = schedule.advance();
    let Some(result) = settle(request, schedule, again) else { return Ok(false) };
    let kept = keep(request, result);
    running.pop();
    COUNT.store(running.len(), Ordering::Relaxed);
    complete(request);
    kept.map(|()| false)
}

/// See [`super::advance`].
pub(super) fn advance(who: Who) -> Result<bool, Fault> {
    if who == Who::Program {
        LOOKS.store(LOOKS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
    let mut ended = false;
    loop {
        // Another thread does it, or this one, further up its stack.
        let mut running = RUNNING.try_lock();
        if running.is_err() && (who == Who::Helper || is_by_helper()) {
            AGAIN.store(true, Ordering::SeqCst);
            // Whoever had it may have left before it could see that.
            running = RUNNING.try_lock();
        }
        let Ok(mut running) = running else { return Ok(ended) };
        BY_HELPER.store(who == Who::Helper, Ordering::Relaxed);
        let result = advance_all(&mut running, who);
        BY_HELPER.store(false, Ordering::Relaxed);
        drop(running);
        ended |= result?;
        if !(AGAIN.load(Ordering::SeqCst) && AGAIN.swap(false, Ordering::SeqCst)) {
            return Ok(ended);
        }
    }
}

fn advance_all(running: &mut Vec<(Request, Schedule)>, who: Who) -> Result<bool, Fault> {
    let (mut ended, mut failed, mut i) = (false, None, 0);
    while i < running.len() && failed.is_none() {
        let (request, schedule) = &mut running[i];
        let result = schedule.advance_by(who);
        let Some(result) = settle(*request, schedule, result) else {
            i += 1;
            continue;
        };
        ended = true;
        let request = *request;
        failed = keep(request, result).err();
        complete(request);
        // Who was begun first is advanced first.
        running.remove(i);
    }
    COUNT.store(running.len(), Ordering::Relaxed);
    failed.map_or(Ok(ended), Err)
}
