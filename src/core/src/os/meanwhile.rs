//! What calls that wait do while there is nothing else to do.

use super::stall::Noted;
use std::sync::OnceLock;

/// What is remembered of a wait for who does something meanwhile: zeros at first, then whatever that wants.
pub type Remembered = [u64; 8];

/// What a call that waits does while there is nothing else to do.
#[derive(Clone, Copy)]
pub struct Meanwhile {
    /// At the first turn. Gives whether there was anything to do.
    pub first: fn() -> bool,
    /// Once the wait goes beyond some turns.
    pub later: fn(&mut Remembered),
    /// Each time that it has looked in vain and is about to yield or to sleep.
    pub slow: fn(&mut Remembered),
    /// Once such a wait is over.
    pub over: fn(&mut Remembered),
}

static MEANWHILE: OnceLock<Meanwhile> = OnceLock::new();

/// Has each wait do this, once.
pub(super) fn set(what: Meanwhile) {
    let _ = MEANWHILE.set(what);
}

pub(super) fn get() -> Option<&'static Meanwhile> {
    MEANWHILE.get()
}

/// A wait that is not over at once.
#[derive(Default)]
pub(super) struct Stay {
    kept: Remembered,
    is_slow: bool,
    /// Once it is long, and has been told of.
    pub(super) noted: Option<Option<Noted>>,
}

impl Stay {
    /// It goes beyond some turns.
    pub(super) fn later(&mut self, meanwhile: &Meanwhile) {
        (meanwhile.later)(&mut self.kept);
    }

    /// It has looked in vain.
    pub(super) fn goes_on(&mut self) {
        self.is_slow = true;
        if let Some(meanwhile) = get() {
            (meanwhile.slow)(&mut self.kept);
        }
    }
}

impl Drop for Stay {
    #[cold]
    fn drop(&mut self) {
        // One that ended sooner is in a hurry.
        if self.is_slow
            && let Some(meanwhile) = get()
        {
            (meanwhile.over)(&mut self.kept);
        }
    }
}
