//! Messages of nonblocking collectives between PEs of one host. They are active messages with a handler of the
//! library's own, which keeps each until the schedule that it belongs to asks for it.
//!
//! A message never waits for its receiver: where there is no room for it, or where the receiver has not begun a
//! nonblocking collective yet, it waits here, and whoever moves schedules on looks for room again.

use crate::am::Sleeper;
use crate::am::{Handler, Message, Messages};
use crate::base::Fault;
use crate::os::{fork, wait};
use crate::request;
use crate::transport::Tag;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// A message that waits for room: its receiver, name and contents.
type Waiting = (i32, Tag, Vec<u8>);

/// The mail of a PE.
#[derive(Debug)]
pub struct Mail {
    carrier: OnceLock<Carrier>,
    /// This PE has begun a nonblocking collective.
    begun: AtomicBool,
    /// By sender and name.
    arrived: Mutex<BTreeMap<(i32, Tag), Vec<u8>>>,
    leaving: Mutex<VecDeque<Waiting>>,
    leaving_count: AtomicUsize,
    /// A thread sends what waits.
    busy: AtomicBool,
}

/// What carries the mail, and what whoever waits has to do for it.
#[derive(Debug, Clone, Copy)]
struct Carrier {
    messages: &'static Messages,
    assist: fn(),
    first: fn(),
}

/// The mail of this process, once it has begun a nonblocking collective.
static BEGUN: OnceLock<&'static Mail> = OnceLock::new();

/// In the child of a fork: what waits for room is its parent's to send.
extern "C" fn in_child() {
    if let Some(mail) = BEGUN.get() {
        mail.leaving_count.store(0, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mail {
    /// Without a carrier: everything goes over the network.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            carrier: OnceLock::new(),
            begun: AtomicBool::new(false),
            arrived: Mutex::new(BTreeMap::new()),
            leaving: Mutex::new(VecDeque::new()),
            leaving_count: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
        }
    }

    /// Takes up work, once a process. `assist` is what every wait has to call from [`Self::begin`] on,
    /// `first` what the first of these does.
    pub fn open(&'static self, messages: &'static Messages, assist: fn(), first: fn()) {
        let context = std::ptr::from_ref(self).expose_provenance();
        messages.reserve(Handler { name: "nonblocking collectives", run: arrive, context });
        let _ = self.carrier.set(Carrier { messages, assist, first });
    }

    /// This PE begins a nonblocking collective: others may send it messages from now on.
    #[inline]
    pub fn begin(&'static self) {
        if !self.begun.load(Ordering::Relaxed) {
            self.first();
        }
    }

    #[cold]
    fn first(&'static self) {
        if let Some(carrier) = self.carrier.get() {
            carrier.messages.enable();
            wait::set_hook(carrier.assist);
            request::guard_forks();
            if BEGUN.set(self).is_ok() {
                fork::in_child(in_child);
            }
            (carrier.first)();
        }
        self.begun.store(true, Ordering::Relaxed);
    }

    /// Whether there is something that carries it.
    pub fn is_carried(&self) -> bool {
        self.carrier.get().is_some()
    }

    /// Sends a message to a PE of this host.
    pub fn send(&self, pe: i32, tag: Tag, payload: Vec<u8>) -> Result<(), Fault> {
        if self.leaving_count.load(Ordering::Relaxed) == 0 && self.try_send(pe, tag, &payload)? {
            return Ok(());
        }
        let mut leaving = lock(&self.leaving);
        leaving.push_back((pe, tag, payload));
        self.leaving_count.store(leaving.len(), Ordering::Relaxed);
        Ok(())
    }

    fn try_send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<bool, Fault> {
        let Some(carrier) = self.carrier.get() else { return Ok(false) };
        if carrier.messages.is_lost(pe) {
            // Nobody takes it; whoever waits for what comes of it finds that out.
            return Ok(true);
        }
        if !carrier.messages.takes_requests(pe)? {
            return Ok(false);
        }
        let Tag { group, number, step } = tag;
        let words = [group as u32, (group >> 32) as u32, number, step].map(u32::cast_signed);
        carrier.messages.try_send_own(pe, &words, payload)
    }

    /// Takes a message out of those that have come; `None` where it has not.
    pub fn take(&self, pe: i32, tag: Tag) -> Option<Vec<u8>> {
        lock(&self.arrived).remove(&(pe, tag))
    }

    /// Sends what waits for room, as far as there is any now.
    pub fn flush(&self) -> Result<(), Fault> {
        if self.leaving_count.load(Ordering::Relaxed) == 0 || self.busy.swap(true, Ordering::Acquire) {
            return Ok(());
        }
        let result = self.flush_all();
        self.busy.store(false, Ordering::Release);
        result
    }

    /// The messages of one receiver stay in order; those of others pass them.
    fn flush_all(&self) -> Result<(), Fault> {
        let mut blocked = Vec::new();
        let mut rest = VecDeque::new();
        // The lock is not held while something is sent.
        while let Some((pe, tag, payload)) = { lock(&self.leaving).pop_front() } {
            if blocked.contains(&pe) || !self.try_send(pe, tag, &payload)? {
                blocked.push(pe);
                rest.push_back((pe, tag, payload));
            }
        }
        let mut leaving = lock(&self.leaving);
        rest.append(&mut leaving);
        *leaving = rest;
        self.leaving_count.store(leaving.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Sleeps until a message comes from a PE of this host, at most for a time, where that can be.
    pub fn sleep(&self, limit: Duration) {
        if let Some(carrier) = self.carrier.get() {
            carrier.messages.sleep(Sleeper::Waiter, limit, || false);
        }
    }

    /// The program goes on without waiting: what has found no room is left to a thread, where there is one.
    pub fn leave(&self) {
        if !self.is_sent()
            && let Some(carrier) = self.carrier.get()
        {
            carrier.messages.wake();
        }
    }

    /// Whether nothing waits for room.
    pub fn is_sent(&self) -> bool {
        self.leaving_count.load(Ordering::Relaxed) == 0
    }
}

/// The handler: `context` is the address of the mail.
#[allow(unsafe_code)]
fn arrive(message: &mut Message<'_>, context: usize) {
    // SAFETY: `open` gave the address of a mail that lives as long as the process.
    let mail = unsafe { &*std::ptr::with_exposed_provenance::<Mail>(context) };
    let [low, high, number, step] = message.args() else { return };
    let group = u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32;
    let tag = Tag { group, number: number.cast_unsigned(), step: step.cast_unsigned() };
    lock(&mail.arrived).insert((message.source(), tag), message.payload().to_vec());
}
