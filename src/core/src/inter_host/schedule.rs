//! A collective as a schedule: started, advanced a step at a time, finished.
//!
//! The algorithms of this folder are asynchronous functions, which the compiler turns into schedules: each stops where
//! it needs a message that has not come, or a transfer that is under way, and goes on from there. Nobody wakes one:
//! whoever wants it to go on advances it.

use crate::base::Fault;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// A schedule of which the type is not known: of an algorithm that a row of a table names.
pub type BoxedSchedule<'a> = Pin<Box<dyn Future<Output = Result<(), Fault>> + 'a>>;

/// One step after the other, as far as they go now. `None`: something is missing still.
pub fn advance<T>(schedule: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match schedule.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Advances a schedule to its end. `pause` lets time pass, and may find that what is missing will not come.
pub fn finish<T>(
    schedule: impl Future<Output = Result<T, Fault>>,
    mut pause: impl FnMut() -> Result<(), Fault>,
) -> Result<T, Fault> {
    let mut schedule = pin!(schedule);
    loop {
        match advance(schedule.as_mut()) {
            Some(result) => return result,
            None => pause()?,
        }
    }
}
