//! Completion events: what tells that operations are complete, each on its own, apart from the quiet of their channel.

use std::sync::atomic::{AtomicU64, Ordering};

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

    /// One of those begun is complete; for transports.
    pub fn end(self) {
        self.0.complete.fetch_add(1, Ordering::AcqRel);
    }
}
