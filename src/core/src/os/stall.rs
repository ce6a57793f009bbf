//! Waits that have become long are told to whoever keeps what each thread does: for reports on jobs that hang. Nothing
//! is told of short ones, so that they cost nothing.

use crate::base::observer::{self, Before, Condition, WaitObserver};
use std::time::Instant;

fn observer() -> Option<&'static WaitObserver> {
    observer::get().map(|observer| &observer.waits)
}

/// Notes what the calling thread, whose wait has become slow, waits for.
#[cold]
pub fn waits_for(condition: &Condition) {
    if let Some(observer) = observer() {
        (observer.condition)(condition);
    }
}

/// A wait that is noted, until this is dropped.
#[derive(Debug)]
pub struct Noted(Before);

impl Noted {
    /// Notes that the calling thread waits.
    #[cold]
    pub fn since(since: Instant, pe: Option<u32>) -> Option<Self> {
        (observer()?.begin)(since, pe).map(Self)
    }
}

impl Drop for Noted {
    #[cold]
    fn drop(&mut self) {
        if let Some(observer) = observer() {
            (observer.end)(&self.0);
        }
    }
}
