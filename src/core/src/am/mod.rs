//! Active messages: a PE has a function of its own run on another one, with arguments and data that it sends along. For
//! front ends (GASNet-EX) and for what the library itself asks of other PEs.
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | what a front end sees: [`Messages`] |
//! | `handler.rs` | the table of handlers, and what a handler sees: [`Message`] |
//! | `paths.rs` | to which PE a message goes by which transport: [`MessagePaths`] |
//!
//! What carries them is a transport's: rings in the memory of a host, `transport/shm/lanes.rs`; over libfabric,
//! `transport/ofi/active.rs`.
//!
//! # Use
//! All PEs [`Messages::register`] their handlers, then synchronize; from then on each may send to each, itself
//! included. A message to a number under which its receiver has nothing registered is a fault of the receiver's, or
//! of the sender's where the receiver has no handlers at all and is of its host: the job ends, with that said.
//!
//! | kind | arguments | payload | where it is for the handler |
//! |---|---|---|---|
//! | short | up to 16 of 32 bits | none | |
//! | medium | up to 16 | up to [`Messages::limits`] of the peer: 32 KiB on one host, 8 KiB between hosts | memory of the library, until the handler returns |
//! | long | up to 16 | any size that the segment has room for | the segment of the receiver's that the sender named, complete |
//!
//! At return of a send, its arguments and payload may be changed. Messages between two PEs are not ordered.
//!
//! # Progress
//! Handlers run in the threads of the program, in [`Messages::poll`] and in every call of the library that waits, but
//! not while it waits for the network to take an operation: a reply with data may wait for that one. A PE that computes
//! runs none, so those who send it requests wait once there is no more room: that is the flow control.
//!
//! - On one host a PE has 512 KiB for requests and as many for replies, in memory that is touched by messages only.
//!   Over the network 64 requests to a PE may be without answer.
//! - Replies never wait. A request finds room or waits, and runs handlers meanwhile; [`Messages::try_request`] does not
//!   wait.
//! - So nothing can wait in a circle: room for requests is made by handlers, which wait for nothing.
//!
//! # Handlers
//! The handler of a request may send one reply, to the sender, and no request; that of a reply sends nothing. What is
//! refused says so in its fault. A handler must not wait: not for other PEs, not for locks that are held while their
//! holder sends or polls, and not in another call of the library. A handler that calls [`Messages::poll`] finds
//! nothing. Different threads may run handlers at the same time.
//!
//! # Threads, signals, forks
//! All functions may be called from any thread. A signal handler must not call them: over the network it is refused, as
//! other calls are, where it interrupts one of the library's. A forked child has no part in it.
//!
//! # The end
//! `shmem_finalize` returns once all requests of all PEs and their replies have been handled. Requests of other threads
//! are refused from its beginning on, and after it all sends; no handler runs any more. When a PE dies, the launcher
//! ends the job, as it does anyway: whoever waits for room of a PE that is gone is ended with it, or over the network
//! has a fault that names it.
#![allow(unsafe_code)]

mod handler;
mod paths;

pub use crate::transport::shm::Sleeper;
pub use crate::transport::{MAX_ARGS, MessageKind, MessageLimits};
pub use handler::{HANDLERS, Handler, Message};
pub use paths::MessagePaths;

use crate::base::{Cause, Fault};
use crate::os::reentry;
use crate::os::wait::Backoff;
use crate::transport::{Incoming, Lane, LongTarget, Outgoing, RemoteAddress};
use handler::Table;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

/// Messages of a lane that one look takes at most: whoever waits for something else gets to see it in between.
const MOST: usize = 64;

/// [`Messages::stage`]: all may be sent.
const OPEN: u8 = 0;
/// In the last finalize: what was asked for is answered, and no front end asks for more.
const DRAINING: u8 = 1;
/// After the last meeting: nothing is sent, and no handler runs.
const CLOSED: u8 = 2;

/// What a thread notes in the place of its handler's number where none is to run in it any more.
const NO_MORE: u32 = u32::MAX;

/// Set in the child of a fork: what comes is its parent's.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// The active messages of a PE.
#[derive(Debug)]
pub struct Messages {
    job: OnceLock<MessagePaths>,
    handlers: Table,
    /// Something was registered.
    enabled: AtomicBool,
    /// How near the end is.
    stage: AtomicU8,
    /// Told of requests that wait for room.
    observer: OnceLock<BackpressureObserver>,
    /// A front end has registered a handler, which is for the program's threads.
    others: AtomicBool,
}

/// Told of a request that finds no room: to which PE it is, and what waits until it is sent.
pub type BackpressureObserver = fn(i32, &mut dyn FnMut());

impl Messages {
    /// Of a process that is not initialized.
    pub const fn new() -> Self {
        Self {
            job: OnceLock::new(),
            handlers: Table::new(),
            enabled: AtomicBool::new(false),
            stage: AtomicU8::new(OPEN),
            observer: OnceLock::new(),
            others: AtomicBool::new(false),
        }
    }

    /// Has a front end told of requests that wait for room, once a process.
    pub fn observe(&self, observer: BackpressureObserver) {
        let _ = self.observer.set(observer);
    }

    /// Whether all requests to a PE have been handled there; `None`: that is not known here.
    pub fn is_handled_by(&self, pe: i32) -> Option<bool> {
        let Ok(job) = self.job() else { return Some(true) };
        match job.lanes().filter(|lanes| lanes.reaches(pe)) {
            Some(lanes) => Some(lanes.is_handled_by(pe)),
            None => job.remote.map_or(Some(true), |remote| remote.messages_handled_by(pe)),
        }
    }

    /// Takes up work, once a process.
    pub fn open(&self, job: MessagePaths) {
        if let Some(lanes) = job.lanes().filter(|_| job.losses.is_some()) {
            lanes.announce_claims();
        }
        let _ = self.job.set(job);
    }

    /// Registers a handler under a number below [`HANDLERS`], in the place of the one before. The first one is what has
    /// waits look for messages.
    ///
    /// Fault: the number is too large.
    pub fn register(&self, number: u16, handler: Handler) -> Result<(), Fault> {
        self.others.store(true, Ordering::Relaxed);
        self.handlers.set(number, handler)?;
        self.enable();
        Ok(())
    }

    /// Registers the library's own handler, to which [`Self::try_send_own`] sends. Nothing looks for messages before
    /// [`Self::enable`].
    pub fn reserve(&self, handler: Handler) {
        self.handlers.set_own(handler);
    }

    /// This PE takes requests from now on.
    pub fn enable(&self) {
        if !self.enabled.swap(true, Ordering::AcqRel) {
            crate::os::fork::in_child(in_child);
        }
        if let Some(lanes) = self.job.get().and_then(MessagePaths::lanes) {
            lanes.open();
        }
    }

    /// Whether a PE takes requests, as far as is known here: those of other hosts do.
    pub fn takes_requests(&self, pe: i32) -> Result<bool, Fault> {
        Ok(self.job()?.lanes().is_none_or(|lanes| !lanes.reaches(pe) || lanes.is_open(pe)))
    }

    /// Whether nothing that is sent to a PE is of use, since it is lost.
    pub fn is_lost(&self, pe: i32) -> bool {
        self.job.get().is_some_and(|job| job.is_lost(pe))
    }

    /// Sends a request to the library's own handler; false where it would have to wait. Runs no handlers.
    pub fn try_send_own(&self, pe: i32, args: &[i32], payload: &[u8]) -> Result<bool, Fault> {
        let job = self.job()?;
        let sent = job.try_send(Lane::Request, pe, &medium(handler::OWN, args, payload))?;
        if sent && let Some(lanes) = job.lanes().filter(|lanes| lanes.reaches(pe)) {
            lanes.wake(pe);
        }
        Ok(sent)
    }

    /// Whether this PE has registered a handler.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn job(&self) -> Result<&MessagePaths, Fault> {
        self.job_until(DRAINING)
    }

    /// Fault: the end is nearer than that.
    #[inline]
    fn job_until(&self, last: u8) -> Result<&MessagePaths, Fault> {
        if FORKED.load(Ordering::Relaxed) {
            return Err(Fault::from(Cause::Message("a forked child has no part in active messages".into())));
        }
        let open = self.stage.load(Ordering::Relaxed) <= last;
        self.job.get().filter(|_| open).ok_or_else(|| self.not_open())
    }

    #[cold]
    fn not_open(&self) -> Fault {
        Fault::from(if self.job.get().is_some() { Cause::Finalized } else { Cause::NotInitialized })
    }

    /// What fits into a message to a PE.
    ///
    /// Fault: there is no such PE.
    pub fn limits(&self, pe: i32) -> Result<MessageLimits, Fault> {
        Ok(self.job()?.way(pe)?.message_limits())
    }

    /// Sends a short request.
    ///
    /// Fault: the PE, the arguments' number; sent by a handler; the network fails. So for the other kinds.
    #[inline]
    pub fn request_short(&self, pe: i32, handler: u16, args: &[i32]) -> Result<(), Fault> {
        self.request(pe, &short(handler, args))
    }

    /// Sends a request with a payload of at most [`MessageLimits::medium`] bytes.
    #[inline]
    pub fn request_medium(&self, pe: i32, handler: u16, args: &[i32], payload: &[u8]) -> Result<(), Fault> {
        self.request(pe, &medium(handler, args, payload))
    }

    /// Copies data to a segment of a PE, then sends a request that finds it there. Whether the object lies in the
    /// segment is the caller's to check, and again the receiver's.
    pub fn request_long(&self, handler: u16, args: &[i32], data: &[u8], to: RemoteAddress) -> Result<(), Fault> {
        self.sendable()?;
        let (carried, target) = self.job_until(OPEN)?.place(data, to)?;
        self.request(to.pe, &Outgoing { kind: MessageKind::Long, handler, args, payload: carried, target })
    }

    /// Whether the calling thread may send requests: not in a handler, in a forked child, or once the end has begun.
    pub fn may_request(&self) -> bool {
        let is_open = self.stage.load(Ordering::Relaxed) == OPEN && self.job.get().is_some();
        is_open && reentry::message_handler() == 0 && !FORKED.load(Ordering::Relaxed)
    }

    /// As [`Self::request_short`] or, where there is a payload, [`Self::request_medium`]; but false where it would have
    /// to wait. Runs no handlers.
    pub fn try_request(&self, pe: i32, handler: u16, args: &[i32], payload: Option<&[u8]>) -> Result<bool, Fault> {
        let message = payload.map_or_else(|| short(handler, args), |payload| medium(handler, args, payload));
        self.sendable()?;
        let job = self.job_until(OPEN)?;
        job.check(pe, &message)?;
        job.try_send(Lane::Request, pe, &message)
    }

    fn sendable(&self) -> Result<(), Fault> {
        match reentry::message_handler() {
            0 => Ok(()),
            NO_MORE => Err(Fault::from(Cause::Finalized)),
            number => Err(self.handlers.refuse(number, "sends a request: it may reply to one, and nothing else")),
        }
    }

    #[inline]
    fn request(&self, pe: i32, message: &Outgoing<'_>) -> Result<(), Fault> {
        self.sendable()?;
        let job = self.job_until(OPEN)?;
        job.check(pe, message)?;
        if job.try_send(Lane::Request, pe, message)? { Ok(()) } else { self.no_room(job, pe, message) }
    }

    #[cold]
    fn no_room(&self, job: &MessagePaths, pe: i32, message: &Outgoing<'_>) -> Result<(), Fault> {
        let Some(observer) = self.observer.get() else { return self.wait_for_room(job, pe, message) };
        let mut result = Ok(());
        observer(pe, &mut || result = self.wait_for_room(job, pe, message));
        result
    }

    #[cold]
    fn wait_for_room(&self, job: &MessagePaths, pe: i32, message: &Outgoing<'_>) -> Result<(), Fault> {
        let mut backoff = Backoff::new(job.oversubscribed);
        loop {
            if self.poll()? > 0 {
                backoff = Backoff::new(job.oversubscribed);
            }
            if self.job_until(OPEN)?.try_send(Lane::Request, pe, message)? {
                return Ok(());
            }
            if let Some(fault) = job.losses.and_then(|losses| losses.fault(pe)) {
                return Err(fault);
            }
            backoff.step();
        }
    }

    /// Runs the handlers of messages that have come, some of each lane. Gives how many.
    ///
    /// Fault: a message is damaged, or there is no handler of its number; the network fails.
    #[inline]
    pub fn poll(&self) -> Result<usize, Fault> {
        let Some(job) = self.job.get().filter(|_| !FORKED.load(Ordering::Relaxed)) else { return Ok(0) };
        let mut count = 0;
        if let Some(local) = job.lanes().filter(|_| !self.is_closed()) {
            if job.losses.is_some() {
                local.drop_held(|pe| job.is_lost(pe));
            }
            for lane in [Lane::Reply, Lane::Request] {
                if job.losses.is_some() {
                    local.pass_over_lost(lane, |pe| job.is_lost(pe));
                }
                if local.is_ready(lane) || local.holds() {
                    count += self.take(lane, |run| local.deliver(lane, MOST, run))?;
                }
            }
        }
        Ok(count + self.poll_remote(job)?)
    }

    /// Whether a front end has registered a handler: its messages wake nobody, and are for the program's threads.
    pub fn has_others(&self) -> bool {
        self.others.load(Ordering::Relaxed)
    }

    /// As [`Self::poll`], in a thread of the library's own: takes messages of this host to the library's own handler,
    /// up to the first one to another.
    pub fn poll_beside(&self) -> Result<usize, Fault> {
        let (lanes, lane) = (self.job.get().and_then(MessagePaths::lanes), Lane::Request);
        lanes.map_or(Ok(0), |lanes| self.take(lane, |run| lanes.deliver_of(lane, Some(handler::OWN), MOST, run)))
    }

    /// Sleeps until a message to the library's own handler comes from a PE of this host, at most for a time; not where
    /// there is something to do. Does not, and gives false, where a front end has messages that this thread takes, too,
    /// and that wake nobody.
    pub fn sleep(&self, who: Sleeper, limit: Duration, has_work: impl Fn() -> bool) -> bool {
        let has_others = self.has_others();
        let lanes = self.job.get().and_then(MessagePaths::lanes).filter(|_| !has_others || who == Sleeper::Helper);
        let of = has_others.then_some(handler::OWN);
        lanes.inspect(|lanes| lanes.sleep(who, of, limit, has_work)).is_some()
    }

    /// Wakes threads of this PE that sleep so: there is something to do.
    pub fn wake(&self) {
        if let Some((job, lanes)) = self.job.get().and_then(|job| job.lanes().map(|lanes| (job, lanes))) {
            lanes.wake(job.me);
        }
    }

    /// As [`Self::poll`], where nothing is registered here: a message that comes all the same, which is a fault, can
    /// only be one of another host.
    pub fn poll_unexpected(&self) -> Result<(), Fault> {
        self.job.get().map_or(Ok(0), |job| self.poll_remote(job)).map(drop)
    }

    #[inline]
    fn poll_remote(&self, job: &MessagePaths) -> Result<usize, Fault> {
        let Some(remote) = job.remote else { return Ok(0) };
        remote.progress();
        let mut count = 0;
        if self.is_closed() {
            return Ok(0);
        }
        for lane in [Lane::Reply, Lane::Request] {
            count += self.take(lane, |run| remote.deliver_messages(lane, MOST, run))?;
        }
        Ok(count)
    }

    /// Runs what a transport delivers, unless this thread is in a handler.
    #[inline]
    fn take(
        &self,
        lane: Lane,
        deliver: impl FnOnce(&mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>) -> Result<usize, Fault>,
    ) -> Result<usize, Fault> {
        if reentry::message_handler() != 0 {
            return Ok(0);
        }
        deliver(&mut |incoming| self.run(lane, incoming))
    }

    /// Runs the handler of a message.
    #[inline]
    fn run(&self, lane: Lane, incoming: &mut Incoming<'_>) -> Result<(), Fault> {
        let number = incoming.handler;
        let handler = self.handlers.get(number).ok_or_else(|| self.handlers.unknown(number, incoming.source))?;
        let data = match incoming.kind {
            MessageKind::Long => Some(self.job()?.arrived(incoming)?),
            _ => None,
        };
        reentry::set_message_handler(u32::from(number) + 1);
        let mut message = Message::new(self, incoming, lane, data);
        (handler.run)(&mut message, handler.context);
        incoming.replied = message.has_replied();
        reentry::set_message_handler(0);
        Ok(())
    }

    /// Sends the reply of a handler, whose thread is in it.
    fn reply(&self, pe: i32, message: &Outgoing<'_>) -> Result<(), Fault> {
        let job = self.job()?;
        job.check(pe, message)?;
        let sent = job.try_send(Lane::Reply, pe, message)?;
        debug_assert!(sent, "replies find room");
        Ok(())
    }

    /// Waits until all requests of this PE have been handled, and runs handlers meanwhile: the first part of the end,
    /// after which all PEs meet and then [`Self::close`]. Other threads that send all the same would keep it from its
    /// end: they are refused from here on.
    pub fn drain(&self) -> Result<(), Fault> {
        let Some(job) = self.job.get() else { return Ok(()) };
        self.stage.store(DRAINING, Ordering::Relaxed);
        let mut backoff = Backoff::new(job.oversubscribed);
        while !job.all_handled()? {
            if self.poll()? == 0 {
                backoff.step();
            }
        }
        Ok(())
    }

    /// Permits sends again, after [`Self::close`] and before all PEs meet.
    pub fn reopen(&self) {
        self.stage.store(OPEN, Ordering::Relaxed);
    }

    /// Runs the handlers of the last replies; sends nothing any more.
    pub fn close(&self) -> Result<(), Fault> {
        while self.poll()? > 0 {}
        self.stage.store(CLOSED, Ordering::Relaxed);
        Ok(())
    }

    #[inline(always)]
    fn is_closed(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == CLOSED
    }

    /// No handler runs in the calling thread any more, which ends the job: it may be in one, or hold a lock that they
    /// take.
    pub fn run_none_here(&self) {
        reentry::set_message_handler(NO_MORE);
    }
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
fn short(handler: u16, args: &[i32]) -> Outgoing<'_> {
    Outgoing { kind: MessageKind::Short, handler, args, payload: &[], target: LongTarget::NONE }
}

#[inline(always)]
fn medium<'a>(handler: u16, args: &'a [i32], payload: &'a [u8]) -> Outgoing<'a> {
    Outgoing { kind: MessageKind::Medium, handler, args, payload, target: LongTarget::NONE }
}
