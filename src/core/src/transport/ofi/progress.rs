//! The thread that moves things on while the program computes.
//!
//! It sleeps on the completion queue's descriptor. While a thread of the program looks at the queue, as a PE does that waits,
//! it only naps, so as not to compete for the lock: it never makes an operation of the program slower by more than a wake-up
//! now and then.
#![allow(unsafe_code)]

use super::shared::Shared;
use super::wire::Count;
use crate::base::{Cause, Fault};
use libfabric_sys as fi;
use std::ffi::c_void;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Naps while somebody else looks after the queue.
const NAP: (Duration, Duration) = (Duration::from_micros(50), Duration::from_micros(250));
/// Naps where the provider has no descriptor to sleep on.
const BLIND: (Duration, Duration) = (Duration::from_micros(10), Duration::from_micros(200));
/// Longest sleep, in milliseconds, with nothing to do, and with messages that the provider has no room for.
const SLEEP: (i32, i32) = (100, 1);
/// Looks in a row at a queue that claims to have something and has nothing, before a nap.
const LOOKS: u32 = 16;

/// The running thread.
pub(super) struct Thread {
    id: libc::pthread_t,
    bell: Arc<OwnedFd>,
}

struct Start {
    shared: Arc<Shared>,
    bell: Arc<OwnedFd>,
}

impl Thread {
    /// Starts it.
    pub fn start(shared: Arc<Shared>) -> Result<Self, Fault> {
        let refuse = |what, error| Fault::from(Cause::Os { what, error });
        // SAFETY: makes a new descriptor.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            return Err(refuse("making a descriptor for the progress thread", error));
        }
        // SAFETY: just made, and nobody else's.
        let bell = Arc::new(unsafe { OwnedFd::from_raw_fd(fd) });
        let start = Box::into_raw(Box::new(Start { shared, bell: bell.clone() }));
        // SAFETY: the new thread takes the box. It is started with all signals blocked, so that the program's handlers run in
        // the program's threads.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            let mut id: libc::pthread_t = std::mem::zeroed();
            let error = libc::pthread_create(&raw mut id, std::ptr::null(), run, start.cast());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            if error != 0 {
                drop(Box::from_raw(start));
                return Err(refuse("starting the progress thread", error));
            }
            Ok(Self { id, bell })
        }
    }

    /// Ends it at its next look at the state, and wakes it for that.
    pub fn stop(&self, shared: &Shared) {
        shared.stop.store(true, Ordering::Release);
        let one = 1u64;
        // SAFETY: an event descriptor takes 8 bytes.
        unsafe { libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Waits for its end.
    pub fn join(&self) {
        // SAFETY: joined once, by the owner of the fabric as it goes.
        unsafe { libc::pthread_join(self.id, std::ptr::null_mut()) };
    }
}

extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: of `Thread::start`, for this thread alone.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    // SAFETY: names this thread, and lets it wake at the time it asks for.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"pellucid-ofi".as_ptr());
        libc::prctl(libc::PR_SET_TIMERSLACK, 1000);
    }
    serve(&start.shared, &start.bell);
    std::ptr::null_mut()
}

fn serve(shared: &Shared, bell: &OwnedFd) {
    let mut seen = shared.attended.load(Ordering::Relaxed);
    let (mut nap, mut blind, mut looks) = (NAP.0, BLIND.0, 0);
    while !shared.stop.load(Ordering::Acquire) {
        let now = shared.attended.load(Ordering::Relaxed);
        if now != seen {
            seen = now;
            std::thread::sleep(nap);
            nap = (nap * 2).min(NAP.1);
            continue;
        }
        nap = NAP.0;
        let Some(mut engine) = shared.try_lock() else {
            std::thread::sleep(NAP.0);
            continue;
        };
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        if engine.progress() {
            (blind, looks) = (BLIND.0, 0);
            continue;
        }
        let timeout = if engine.outgoing.is_empty() && engine.unposted.is_empty() { SLEEP.0 } else { SLEEP.1 };
        let Some(fd) = engine.port.wait else {
            drop(engine);
            std::thread::sleep(blind);
            blind = (blind * 2).min(BLIND.1);
            continue;
        };
        let mut queue: *mut fi::fid = engine.port.cq.cast();
        // SAFETY: fabric and queue are open; a queue begins with its fid.
        let ready = unsafe { fi::fi_trywait(engine.port.fabric, &raw mut queue, 1) } == 0;
        drop(engine);
        if !ready {
            looks += 1;
            if looks > LOOKS {
                std::thread::sleep(NAP.0);
            }
            continue;
        }
        looks = 0;
        shared.wire.add(Count::naps, 1);
        let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = [poll(fd), poll(bell.as_raw_fd())];
        // SAFETY: two descriptors that are open as long as this thread runs.
        unsafe { libc::poll(fds.as_mut_ptr(), 2, timeout) };
    }
}
