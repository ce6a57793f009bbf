//! The thread that moves things on while the program computes.
//!
//! While a thread of the program looks at the completion queue, as a PE does that waits, it only naps, so as not to
//! compete for the lock: it never makes an operation of the program slower by more than a wake-up now and then.
//! Otherwise it looks itself, and sleeps on the queue's descriptor when there is nothing.
#![allow(unsafe_code)]

use super::counters::Counter;
use super::endpoint::{Endpoint, Guard};
use super::liveness::HostLiveness;
use crate::base::{Cause, Fault};
use crate::os::{beside, cpu, processes, thread, wait};
use libfabric_sys as fi;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Naps while somebody else looks after the queue: the first, the longest, and the longest where PEs share cores.
const NAP: (Duration, Duration, Duration) =
    (Duration::from_micros(50), Duration::from_micros(250), Duration::from_millis(1));
/// Naps where the provider has nothing to sleep on.
const BLIND: (Duration, Duration) = (Duration::from_micros(10), Duration::from_millis(1));
/// Sleeps in milliseconds: where the provider had no room for a message, or something goes on beside the program; and
/// all others, at most.
const SLEEP: (i32, i32) = (1, 100);
/// So long after the program has left something to it the thread looks without a sleep, where it has a core: to wake it
/// takes the program's time, and its own coming to takes the operation's.
const AWAKE: Duration = Duration::from_millis(1);
/// So many looks of the program, and as many again a millisecond, are those of somebody who naps between them, as in a
/// long wait: this thread serves then.
const FEW: u32 = 2;
/// Looks in a row at a queue that claims to have something and has nothing, before a nap.
const LOOKS: u32 = 16;

/// The running thread.
pub(super) struct Thread {
    id: libc::pthread_t,
    is_joined: AtomicBool,
}

impl Thread {
    /// Starts it.
    pub fn start(endpoint: Arc<Endpoint>) -> Result<Self, Fault> {
        let run = move || {
            // SAFETY: lets this thread wake at the time it asks for.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000) };
            serve(&endpoint);
        };
        beside::serve();
        let id = thread::spawn(c"pellucid-ofi", run);
        let thread = id.map(|id| Self { id, is_joined: AtomicBool::new(false) });
        thread.map_err(|error| {
            Fault::from(Cause::Thread { what: "the progress thread", why: processes::refused_code(error) })
        })
    }

    /// Ends it at its next look at the state, and wakes it for that.
    pub fn stop(&self, endpoint: &Endpoint) {
        endpoint.stop.store(true, Ordering::Release);
        endpoint.wakeup.signal();
    }

    /// Waits for its end, which has been asked for. Not where the thread itself ends the process.
    pub fn join(&self) {
        if !self.is_joined.swap(true, Ordering::AcqRel) {
            // SAFETY: joined once. A thread that waits for itself gets an error.
            unsafe { libc::pthread_join(self.id, std::ptr::null_mut()) };
        }
    }
}

fn serve(endpoint: &Endpoint) {
    let mut progress_calls = endpoint.progress_calls.load(Ordering::Relaxed);
    let longest = if endpoint.oversubscribed { NAP.2 } else { NAP.1 };
    let mut since = Instant::now();
    let mut nap = NAP.0;
    let mut sleeper = Sleeper::default();
    let mut liveness = HostLiveness::new();
    let mut place = Place::new();
    wait::leave_alone();
    while !endpoint.stop.load(Ordering::Acquire) {
        if let Some(lost) = liveness.look(&endpoint.hosts) {
            endpoint.lost(&lost);
        }
        let now = endpoint.progress_calls.load(Ordering::Relaxed);
        let looks = now.wrapping_sub(std::mem::replace(&mut progress_calls, now));
        let elapsed = std::mem::replace(&mut since, Instant::now()).elapsed();
        let attended = endpoint.attended.swap(false, Ordering::Relaxed);
        if attended && endpoint.posts_beside {
            sleeper.awake_until = (!endpoint.oversubscribed).then(|| since + AWAKE);
            place.keep_off(endpoint.caller_cpu.load(Ordering::Relaxed));
            // Before the copies of a collective, which take a while.
            if let Some(mut state) = endpoint.try_lock() {
                state.post_later();
            }
        }
        // What the program did before it went on does not count.
        if !attended && looks > FEW + FEW.saturating_mul(elapsed.as_millis() as u32) {
            sleeper.nap(endpoint, nap);
            nap = (nap * 2).min(longest);
            sleeper.stir();
            continue;
        }
        nap = NAP.0;
        sleeper.busy = endpoint.advance_beside();
        let Some(mut state) = endpoint.try_lock() else {
            sleeper.nap(endpoint, NAP.0);
            continue;
        };
        if endpoint.stop.load(Ordering::Acquire) {
            return;
        }
        if state.progress() {
            sleeper.stir();
            drop(state);
        } else {
            sleeper.sleep(state, endpoint);
        }
    }
}

/// Where the thread runs.
struct Place {
    /// Where it may.
    allowed: [u64; cpu::MASK_WORDS],
    /// What it was told.
    told: [u64; cpu::MASK_WORDS],
    avoided: Option<u32>,
}

impl Place {
    fn new() -> Self {
        let allowed = cpu::affinity();
        Self { allowed, told: allowed, avoided: None }
    }

    /// Leaves a core to the program, where there is another one.
    fn keep_off(&mut self, core: u32) {
        if self.avoided == Some(core) || core as usize >= 64 * self.allowed.len() {
            return;
        }
        let now = cpu::affinity();
        if now != self.told {
            // Somebody else has told it something.
            (self.allowed, self.told) = (now, now);
        }
        let mut others = self.allowed;
        others[core as usize / 64] &= !(1 << (core % 64));
        if cpu::count(&others) > 0 {
            cpu::bind(&others);
            self.told = others;
        }
        self.avoided = Some(core);
    }
}

/// How long to sleep, and on what.
#[derive(Default)]
struct Sleeper {
    /// Looks in a row that have found nothing though something was ready.
    looks: u32,
    /// Naps since something has happened, where there is nothing to sleep on.
    idle: u32,
    /// Something goes on beside the program, of which another thread may have taken the news.
    busy: bool,
    /// Until then it looks without a sleep.
    awake_until: Option<Instant>,
}

impl Sleeper {
    /// Something has happened.
    fn stir(&mut self) {
        (self.looks, self.idle) = (0, 0);
    }

    /// Naps while the program looks after the queue, until that goes on.
    fn nap(&self, endpoint: &Endpoint, nap: Duration) {
        endpoint.napping.store(true, Ordering::Relaxed);
        let limit = libc::timespec { tv_sec: 0, tv_nsec: i64::from(nap.subsec_nanos()) };
        let mut fd = readable(endpoint.wakeup.fd());
        // SAFETY: one descriptor and a time; the mask stays as it is.
        let called = unsafe { libc::ppoll(&raw mut fd, 1, &raw const limit, std::ptr::null()) } == 1;
        endpoint.napping.store(false, Ordering::Relaxed);
        if called {
            endpoint.wakeup.clear();
        }
    }

    fn sleep(&mut self, state: Guard, endpoint: &Endpoint) {
        if let Some(fd) = state.domain.descriptor {
            return self.on_queue(state, endpoint, fd);
        }
        drop(state);
        self.idle = (self.idle + 1).min(16);
        self.nap(endpoint, (BLIND.0 * (1 << self.idle)).min(BLIND.1));
    }

    /// Something that was ready was not for this endpoint, or not to be had: looks again, but ever more rarely.
    ///
    /// `tcp` of libfabric 1.18.0 leaves the descriptor readable for good (libfabric #8947).
    fn again(&mut self, endpoint: &Endpoint) {
        self.looks += 1;
        if self.looks > LOOKS {
            self.nap(endpoint, (NAP.0 * (1 << (self.looks - LOOKS).min(8))).min(BLIND.1));
        }
    }

    /// Sleeps until the queue has something.
    fn on_queue(&mut self, mut state: Guard, endpoint: &Endpoint, fd: RawFd) {
        let mut queue: *mut fi::fid = state.domain.cq.cast();
        // SAFETY: fabric and queue are open; a queue begins with its fid.
        let free = unsafe { fi::fi_trywait(state.domain.fabric, &raw mut queue, 1) } == 0;
        if !free {
            drop(state);
            return self.again(endpoint);
        }
        let full = !(state.outgoing.is_empty() && state.unposted.is_empty() && state.later.is_empty());
        state.asleep = state.posts_beside;
        drop(state);
        let mut fds = [readable(endpoint.wakeup.fd()), readable(fd)];
        // What is ready now, the look before has not taken; what becomes ready, the next one may take without a
        // completion.
        match poll(&mut fds, endpoint, 0) {
            Woken::Ready => return self.again(endpoint),
            Woken::Called => return self.stir(),
            Woken::Late => self.looks = 0,
        }
        let unslept = if full || self.busy { None } else { self.awake_until.take() };
        while unslept.is_some_and(|until| Instant::now() < until) {
            cpu::yield_now();
            if poll(&mut fds, endpoint, 0) != Woken::Late {
                self.awake_until = unslept;
                return self.stir();
            }
        }
        endpoint.counters.add(Counter::naps, 1);
        if poll(&mut fds, endpoint, if full || self.busy { SLEEP.0 } else { SLEEP.1 }) == Woken::Called {
            self.stir();
        }
    }
}

/// Waits so many milliseconds for one of two descriptors, the first of which is the wake-up's.
fn poll(fds: &mut [libc::pollfd; 2], endpoint: &Endpoint, timeout: i32) -> Woken {
    // SAFETY: an array of two.
    let ready = unsafe { libc::poll(fds.as_mut_ptr(), 2, timeout) };
    if fds[0].revents != 0 {
        endpoint.wakeup.clear();
        return Woken::Called;
    }
    if ready > 0 { Woken::Ready } else { Woken::Late }
}

/// Why a sleep has ended.
#[derive(PartialEq, Eq)]
enum Woken {
    /// Nothing has happened.
    Late,
    /// It was woken for a reason of this library.
    Called,
    /// Something is ready.
    Ready,
}

fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}
