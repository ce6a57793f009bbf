//! Completion events: what tells that operations are complete, each on its own, apart from the quiet of their channel.

use crate::base::Fault;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What operations of events came to that was not their end, by the event's address, until somebody asks.
static FAILED: Mutex<Vec<(usize, Fault)>> = Mutex::new(Vec::new());
static FAILURES: AtomicUsize = AtomicUsize::new(0);

fn failed() -> MutexGuard<'static, Vec<(usize, Fault)>> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts operations that were begun with it and those of them that are complete. One serves as many operations as its
/// owner likes, and again after they are complete.
#[derive(Debug, Default)]
pub struct Event {
    begun: AtomicU64,
    complete: AtomicU64,
}

impl Event {
    /// Without operations: complete.
    pub const fn new() -> Self {
        Self { begun: AtomicU64::new(0), complete: AtomicU64::new(0) }
    }

    /// Whether all that was begun with it is complete: data of a put, and what an atomic or a signal changes, are
    /// visible at the target; the result of a get or an atomic is here. Who finds it so sees what they have brought. It
    /// moves nothing on: see [`super::Transport::progress`].
    #[inline]
    pub fn is_complete(&self) -> bool {
        // Completions first: what is begun meanwhile must not hide behind them.
        let complete = self.complete.load(Ordering::Acquire);
        complete == self.begun.load(Ordering::Acquire)
    }

    /// Takes the fault that an operation of this event came to, where one did; it counts as complete, too.
    #[inline]
    pub fn take_failure(&self) -> Option<Fault> {
        if FAILURES.load(Ordering::Acquire) == 0 { None } else { self.take_kept() }
    }

    #[cold]
    fn take_kept(&self) -> Option<Fault> {
        let mut failed = failed();
        let at = failed.iter().position(|(of, _)| *of == std::ptr::from_ref(self).addr())?;
        let fault = failed.swap_remove(at).1;
        FAILURES.store(failed.len(), Ordering::Release);
        Some(fault)
    }

    /// This event as the slot of an operation.
    pub fn slot(&'static self) -> EventSlot {
        EventSlot(self)
    }
}

/// An event, as an operation names it.
#[derive(Debug, Clone, Copy)]
pub struct EventSlot(&'static Event);

impl PartialEq for EventSlot {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for EventSlot {}

impl EventSlot {
    /// One more operation; for transports.
    pub fn begin(self) {
        self.0.begun.fetch_add(1, Ordering::AcqRel);
    }

    /// One of those begun comes to this fault, and is to be ended; for transports.
    #[cold]
    pub fn fail(self, fault: &Fault) {
        let (mut failed, of) = (failed(), std::ptr::from_ref(self.0).addr());
        if failed.iter().all(|(other, _)| *other != of) {
            failed.push((of, fault.clone()));
            FAILURES.store(failed.len(), Ordering::Release);
        }
    }

    /// One of those begun is complete; for transports.
    pub fn end(self) {
        self.0.complete.fetch_add(1, Ordering::AcqRel);
    }
}
