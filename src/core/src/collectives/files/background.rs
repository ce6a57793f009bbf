//! The thread that moves bytes of nonblocking calls: made at the first of them, for the life of the process.

use crate::os::thread;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::Poll;

type Task = Box<dyn FnOnce() + Send>;

struct Queue {
    waiting: VecDeque<Task>,
    has_thread: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { waiting: VecDeque::new(), has_thread: false });
static CHANGED: Condvar = Condvar::new();

/// Does something in the thread, in the order of the calls; where there can be no thread, in this one.
pub async fn run<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let place = Arc::new((AtomicBool::new(false), Mutex::new(None)));
    let there = place.clone();
    hand_over(Box::new(move || {
        let result = what();
        *there.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        there.0.store(true, Ordering::Release);
    }));
    poll_fn(move |_| {
        let result =
            place.0.load(Ordering::Acquire).then(|| place.1.lock().unwrap_or_else(PoisonError::into_inner).take());
        result.flatten().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

fn hand_over(task: Task) {
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    if !queue.has_thread {
        queue.has_thread = thread::spawn(c"pellucid-files", work).is_ok();
    }
    if queue.has_thread {
        queue.waiting.push_back(task);
        CHANGED.notify_one();
    } else {
        drop(queue);
        task();
    }
}

fn work() {
    loop {
        let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
        let task = loop {
            match queue.waiting.pop_front() {
                Some(task) => break task,
                None => queue = CHANGED.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(queue);
        task();
    }
}
