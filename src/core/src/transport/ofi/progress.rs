//! The thread that moves things on while the program computes.
//!
//! While a thread of the program looks at the completion queue, as a PE does that waits, it only naps, so as not to compete for the
//! lock: it never makes an operation of the program slower by more than a wake-up now and then. Otherwise it looks itself, and
//! sleeps when there is nothing: on the queue's descriptor, or on what the look has looked at ([`Wait::Watched`]).
//!
//! What a look looks at changes: connections come, and a socket that is full is watched for room. The thread is woken where
//! the program does something that may change it; and since a provider need not do all at each look (`ofi_rxm` looks for new
//! connections every 10 ms), the first sleep after something has happened is 1 ms at most, the next one 2, and so on.
#![allow(unsafe_code)]

use super::engine::Engine;
use super::links::Links;
use super::port::Wait;
use super::shared::{Guard, Shared};
use super::wire::Count;
use crate::base::{Cause, Fault};
use crate::os::thread;
use libfabric_sys::{self as fi, Seen};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Naps while somebody else looks after the queue: the first, the longest, and the longest where PEs share cores.
const NAP: (Duration, Duration, Duration) =
    (Duration::from_micros(50), Duration::from_micros(250), Duration::from_millis(1));
/// Naps where the provider has nothing to sleep on.
const BLIND: (Duration, Duration) = (Duration::from_micros(10), Duration::from_millis(1));
/// Sleeps in milliseconds: the first where the provider may not have looked at everything, also where it had no room for a message;
/// and the longest.
const SLEEP: (i32, i32) = (1, 100);
/// So many looks of the program, and as many again a millisecond, are those of somebody who naps between them, as in a long
/// wait: this thread serves then.
const FEW: u32 = 2;
/// Looks in a row at a queue that claims to have something and has nothing, before a nap.
const LOOKS: u32 = 16;

/// The running thread.
pub(super) struct Thread {
    id: libc::pthread_t,
}

impl Thread {
    /// Starts it.
    pub fn start(shared: Arc<Shared>) -> Result<Self, Fault> {
        let run = move || {
            // SAFETY: lets this thread wake at the time it asks for.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000) };
            serve(&shared);
        };
        let id = thread::spawn(c"pellucid-ofi", run);
        id.map(|id| Self { id }).map_err(|error| Fault::from(Cause::Os { what: "starting the progress thread", error }))
    }

    /// Ends it at its next look at the state, and wakes it for that.
    pub fn stop(&self, shared: &Shared) {
        shared.stop.store(true, Ordering::Release);
        shared.bell.ring();
    }

    /// Waits for its end.
    pub fn join(&self) {
        // SAFETY: joined once, by the owner of the fabric as it goes.
        unsafe { libc::pthread_join(self.id, std::ptr::null_mut()) };
    }
}

fn serve(shared: &Shared) {
    let mut attended = shared.attended.load(Ordering::Relaxed);
    let longest = if shared.crowded { NAP.2 } else { NAP.1 };
    let mut since = Instant::now();
    let mut nap = NAP.0;
    let mut sleeper = Sleeper::default();
    let mut links = Links::new();
    while !shared.stop.load(Ordering::Acquire) {
        if let Some(lost) = links.look(&shared.hosts) {
            shared.lost(&lost);
        }
        let now = shared.attended.load(Ordering::Relaxed);
        let looks = now.wrapping_sub(std::mem::replace(&mut attended, now));
        let elapsed = std::mem::replace(&mut since, Instant::now()).elapsed();
        if looks > FEW + FEW.saturating_mul(elapsed.as_millis() as u32) {
            std::thread::sleep(nap);
            nap = (nap * 2).min(longest);
            sleeper.stir();
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
        if sleeper.look(&mut engine) {
            sleeper.stir();
        } else {
            sleeper.sleep(engine, shared);
        }
    }
}

/// How long to sleep, and on what.
#[derive(Default)]
struct Sleeper {
    /// What the last look has looked at.
    seen: Seen,
    /// The last sleep ended because of something seen.
    woken: bool,
    /// Looks in a row that have found nothing though something was ready.
    looks: u32,
    /// Sleeps since something has happened.
    idle: u32,
    /// What is slept on: the bell, and the provider's.
    fds: Vec<libc::pollfd>,
}

impl Sleeper {
    /// Something has happened.
    fn stir(&mut self) {
        (self.looks, self.idle) = (0, 0);
    }

    /// Moves things on; gives whether there was anything.
    fn look(&mut self, engine: &mut Engine) -> bool {
        if engine.port.wait != Wait::Watched {
            return engine.progress();
        }
        self.seen.begin();
        fi::seeing(&mut self.seen, || engine.progress())
    }

    fn sleep(&mut self, engine: Guard, shared: &Shared) {
        let full = !(engine.outgoing.is_empty() && engine.unposted.is_empty());
        match engine.port.wait {
            Wait::Descriptor(fd) => self.on_queue(engine, shared, fd, if full { SLEEP.0 } else { SLEEP.1 }),
            Wait::Watched if !self.seen.is_empty() => self.on_seen(engine, shared, full),
            Wait::Watched | Wait::Nothing => {
                drop(engine);
                self.idle = (self.idle + 1).min(16);
                std::thread::sleep((BLIND.0 * (1 << self.idle)).min(BLIND.1));
            }
        }
    }

    /// Something that was ready was not for this fabric, or not to be had: looks again, but not for ever.
    fn again(&mut self) {
        self.looks += 1;
        if self.looks > LOOKS {
            std::thread::sleep(NAP.0);
        }
    }

    /// Sleeps on the queue's descriptor.
    fn on_queue(&mut self, engine: Guard, shared: &Shared, fd: RawFd, timeout: i32) {
        let mut queue: *mut fi::fid = engine.port.cq.cast();
        // SAFETY: fabric and queue are open; a queue begins with its fid.
        let free = unsafe { fi::fi_trywait(engine.port.fabric, &raw mut queue, 1) } == 0;
        drop(engine);
        if !free {
            return self.again();
        }
        self.looks = 0;
        self.fds.clear();
        self.fds.extend([readable(shared.bell.fd()), readable(fd)]);
        self.poll(shared, timeout);
    }

    /// Sleeps on what was seen, unless that was ready.
    fn on_seen(&mut self, mut engine: Guard, shared: &Shared, full: bool) {
        let vain = std::mem::take(&mut self.woken);
        if self.seen.ready() {
            drop(engine);
            return self.again();
        }
        if vain {
            // What woke the thread was not looked at: it may be a descriptor of somebody else by now.
            self.seen.forget();
            self.looks += 1;
            if self.looks > LOOKS {
                drop(engine);
                std::thread::sleep(NAP.2);
                return;
            }
        }
        engine.asleep = true;
        drop(engine);
        let timeout = if full { SLEEP.0 } else { (SLEEP.0 << self.idle).min(SLEEP.1) };
        self.fds.clear();
        self.fds.push(readable(shared.bell.fd()));
        self.seen.list(&mut self.fds);
        match self.poll(shared, timeout) {
            Woken::Late => self.idle = (self.idle + 1).min(16),
            Woken::Called => self.stir(),
            Woken::Seen => self.woken = true,
        }
    }

    fn poll(&mut self, shared: &Shared, timeout: i32) -> Woken {
        shared.wire.add(Count::naps, 1);
        // SAFETY: an array of so many; those of the provider may be closed meanwhile, which ends the sleep.
        let ready = unsafe { libc::poll(self.fds.as_mut_ptr(), self.fds.len() as libc::nfds_t, timeout) };
        if self.fds[0].revents != 0 {
            shared.bell.silence();
            return Woken::Called;
        }
        if ready > 0 { Woken::Seen } else { Woken::Late }
    }
}

/// Why a sleep has ended.
#[derive(PartialEq, Eq)]
enum Woken {
    /// Nothing has happened.
    Late,
    /// The bell was rung.
    Called,
    /// Something is ready.
    Seen,
}

fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}
