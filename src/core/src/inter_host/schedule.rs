//! A collective as a schedule: started, advanced a step at a time, finished.
//!
//! The algorithms of this folder are asynchronous functions, which the compiler turns into schedules: each stops where
//! it needs a message that has not come, or a transfer that is under way, and goes on from there. Nobody wakes one:
//! whoever wants it to go on advances it.

use crate::base::Fault;
use std::future::{Future, poll_fn};
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

/// Two schedules beside each other; a fault of either ends both.
pub async fn both(
    first: impl Future<Output = Result<(), Fault>>,
    second: impl Future<Output = Result<(), Fault>>,
) -> Result<(), Fault> {
    let (mut first, mut second, mut ended) = (pin!(first), pin!(second), [false; 2]);
    poll_fn(|context| {
        for (i, is_over) in ended.iter_mut().enumerate().filter(|(_, is_over)| !**is_over) {
            let step = if i == 0 { first.as_mut().poll(context) } else { second.as_mut().poll(context) };
            match step {
                Poll::Ready(Ok(())) => *is_over = true,
                Poll::Ready(fault) => return Poll::Ready(fault),
                Poll::Pending => {}
            }
        }
        if ended == [true; 2] { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
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
