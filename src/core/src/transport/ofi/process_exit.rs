//! The end of the process, at which libfabric's destructors take away what its calls work with, while other threads run
//! on. Whoever is in libfabric then is waited for. Who comes later, or comes back from opening a fabric, stays where it
//! is until the process is gone, which has returned from `main`.
#![allow(unsafe_code)]

use super::endpoint::Endpoint;
use crate::os::{process, thread};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

/// The longest that the end of the process waits for whoever is inside: calls wait for no other PE there.
const LIMIT: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_millis(1);

/// Held by who opens a fabric, which has no lock of its own yet.
static OPENING: Mutex<()> = Mutex::new(());
/// The process that has opened one, the thread that does it now, and the thread that ends the process; 0: none.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static OPENER: AtomicI32 = AtomicI32::new(0);
static CLOSER: AtomicI32 = AtomicI32::new(0);
/// What is open, in a process of the program's.
static OPEN: Mutex<Weak<Endpoint>> = Mutex::new(Weak::new());

/// While it lives, this thread opens a fabric.
pub(super) struct Opening(Option<MutexGuard<'static, ()>>);

/// To be called before libfabric itself is opened.
pub(super) fn opening() -> Opening {
    PROCESS.store(process::id(), Ordering::Relaxed);
    let lock = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    OPENER.store(thread::id(), Ordering::Relaxed);
    let opening = Opening(Some(lock));
    if is_closed() {
        drop(opening);
        stay();
    }
    opening
}

impl Opening {
    /// Has the end of the process know of a fabric.
    pub fn tell(&self, endpoint: &Arc<Endpoint>) {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(endpoint);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        OPENER.store(0, Ordering::Relaxed);
        self.0.take();
        if is_closed() {
            stay();
        }
    }
}

/// Whether libfabric is closed to the calling thread, since another one ends the process. Asked behind the lock of an
/// endpoint.
#[inline]
pub(super) fn is_closed() -> bool {
    let closer = CLOSER.load(Ordering::Relaxed);
    closer != 0 && closer != thread::id()
}

/// Waits for the end of the process.
#[cold]
pub(super) fn stay() -> ! {
    loop {
        std::thread::sleep(LIMIT);
    }
}

/// At the end of the process, after all exit handlers. Not in a forked child, whose copies of locks nobody gives back.
pub(super) fn close() {
    if PROCESS.load(Ordering::Relaxed) != process::id() {
        return;
    }
    let begin = Instant::now();
    let wait_until = |is_free: &dyn Fn() -> bool| {
        while !is_free() && begin.elapsed() < LIMIT {
            std::thread::sleep(NAP);
        }
    };
    // Who takes a lock after this one had it sees that.
    CLOSER.store(thread::id(), Ordering::Relaxed);
    if OPENER.load(Ordering::Relaxed) != thread::id() {
        wait_until(&|| !matches!(OPENING.try_lock(), Err(TryLockError::WouldBlock)));
    }
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    if let Some(endpoint) = open {
        wait_until(&|| endpoint.is_free());
    }
}
