//! What the threads of a process share of a fabric: the lock, and how they wait.

use super::counters::NetworkCounters;
use super::endpoint_state::EndpointState;
use super::liveness::Hosts;
use super::op::{Kind, Op};
use super::peers::Peer;
use super::process_exit;
use crate::base::{Cause, Fault};
use crate::os::reentry::Inside;
use crate::os::wait::Backoff;
use crate::os::wakeup::Wakeup;
use crate::os::{beside, cpu};
use crate::transport::{Completion, Directory, RemoteAddress, SegmentId};
use libfabric_sys as fi;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Records in flight at most: beyond them a new operation waits for an old one.
const MAX_IN_FLIGHT: usize = 1024;
/// How long the end of a process waits for a step of a collective that nobody waits for.
const HELPER_LIMIT: Duration = Duration::from_millis(500);
/// How long a read whose caller has given up is waited for, and between two looks.
const DISOWN_LIMIT: Duration = Duration::from_millis(500);
const DISOWN_NAP: Duration = Duration::from_micros(100);
/// Buffers in use at most, those of replies apart.
const MAX_LENT: usize = 256;

/// The endpoint's state, locked.
pub(super) struct Guard<'a> {
    state: MutexGuard<'a, EndpointState>,
    /// After the lock: a signal handler must not find the one without the other.
    _inside: Inside,
}

impl Deref for Guard<'_> {
    type Target = EndpointState;

    #[inline]
    fn deref(&self) -> &EndpointState {
        &self.state
    }
}

impl DerefMut for Guard<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut EndpointState {
        &mut self.state
    }
}

pub(super) struct Endpoint {
    state: Mutex<EndpointState>,
    /// Threads that want the lock in order to post.
    wanting: AtomicU32,
    /// Changes whenever a thread of the program looks at the completion queue.
    pub progress_calls: AtomicU32,
    pub stop: AtomicBool,
    /// The progress thread naps while the program looks after the queue.
    pub napping: AtomicBool,
    /// The program has gone on since the progress thread looked last, and on which core.
    pub attended: AtomicBool,
    pub caller_cpu: AtomicU32,
    /// Messages of collectives are left to it.
    pub leaves: AtomicBool,
    /// There is a core for it to hand transfers over.
    pub posts_beside: bool,
    /// The progress thread does what goes on beside the program, which may come back here.
    pub beside: AtomicBool,
    /// Active messages that were taken out of the list of those that have come.
    pub active_taken: AtomicU64,
    pub counters: Arc<NetworkCounters>,
    pub directory: Arc<Directory>,
    /// Wakes the progress thread.
    pub wakeup: Arc<Wakeup>,
    pub hosts: Arc<Hosts>,
    /// The job goes on without PEs that are lost.
    pub survives: AtomicBool,
    pub oversubscribed: bool,
    pub npes: u32,
}

/// Set in the child of a fork, which must not touch what it has of the parent's fabric.
static CHILD: AtomicBool = AtomicBool::new(false);

/// To be called in the child of a fork.
pub(super) extern "C" fn in_child() {
    CHILD.store(true, Ordering::Relaxed);
}

/// Whether this is a forked child.
pub(super) fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

impl Endpoint {
    pub fn new(state: EndpointState, oversubscribed: bool, npes: u32) -> Self {
        Self {
            counters: state.counters.clone(),
            posts_beside: state.posts_beside,
            directory: state.directory.clone(),
            wakeup: state.wakeup.clone(),
            hosts: state.hosts.clone(),
            state: Mutex::new(state),
            wanting: AtomicU32::new(0),
            progress_calls: AtomicU32::new(0),
            survives: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            napping: AtomicBool::new(false),
            attended: AtomicBool::new(false),
            leaves: AtomicBool::new(false),
            caller_cpu: AtomicU32::new(0),
            beside: AtomicBool::new(false),
            active_taken: AtomicU64::new(0),
            oversubscribed,
            npes,
        }
    }

    /// The lock.
    ///
    /// Fault: a signal handler asks for what its own thread has, or a forked child for its parent's.
    pub fn lock(&self) -> Result<Guard<'_>, Fault> {
        if is_child() {
            return Err(Fault::from(Cause::Message("a forked child has no part in the job's network".into())));
        }
        let inside = Inside::enter()?;
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.wanting.fetch_add(1, Ordering::Relaxed);
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                self.wanting.fetch_sub(1, Ordering::Relaxed);
                state
            }
        };
        if process_exit::is_closed() {
            drop(state);
            process_exit::stay();
        }
        Ok(Guard { state, _inside: inside })
    }

    /// The lock, unless somebody has it.
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        let inside = Inside::enter().ok()?;
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (!process_exit::is_closed()).then_some(Guard { state, _inside: inside })
    }

    /// Whether no other thread has the lock now.
    pub fn is_free(&self) -> bool {
        Inside::enter().is_err() || !matches!(self.state.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// The program goes on without waiting: the progress thread looks after all, on another core than the caller's.
    pub fn progress_beside(&self) {
        self.caller_cpu.store(cpu::current(), Ordering::Relaxed);
        self.attended.store(true, Ordering::Relaxed);
        if self.napping.load(Ordering::Relaxed) {
            self.wakeup.signal();
        }
    }

    /// As [`Self::progress_beside`], where an operation has an event.
    pub fn progress_beside_of(&self, when: Completion) {
        if self.posts_beside && matches!(when, Completion::Event(_)) {
            self.progress_beside();
        }
    }

    /// Does what goes on beside the program, unless it is the end; gives whether anything is under way. For the
    /// progress thread.
    pub fn advance_beside(&self) -> bool {
        self.beside.store(true, Ordering::SeqCst);
        let busy = !self.stop.load(Ordering::SeqCst) && beside::advance();
        self.beside.store(false, Ordering::Release);
        busy
    }

    /// After the stop: until the progress thread is out of what it does beside the program.
    pub fn wait_for_helper(&self) {
        fence(Ordering::SeqCst);
        let since = Instant::now();
        while self.beside.load(Ordering::SeqCst) && since.elapsed() < HELPER_LIMIT {
            crate::os::cpu::yield_now();
        }
    }

    /// A thread of the program looks after the fabric.
    pub fn count_progress(&self) {
        let n = self.progress_calls.load(Ordering::Relaxed);
        self.progress_calls.store(n.wrapping_add(1), Ordering::Relaxed);
    }

    /// Waits until `ready` gives a value, and moves things on meanwhile.
    pub fn wait<'a, R>(
        &'a self,
        state: Guard<'a>,
        ready: impl FnMut(&mut EndpointState) -> Result<Option<R>, Fault>,
    ) -> Result<(Guard<'a>, R), Fault> {
        self.wait_by(state, Backoff::step, ready)
    }

    /// `step`: what it does between two looks.
    fn wait_by<'a, R>(
        &'a self,
        mut state: Guard<'a>,
        step: fn(&mut Backoff) -> bool,
        mut ready: impl FnMut(&mut EndpointState) -> Result<Option<R>, Fault>,
    ) -> Result<(Guard<'a>, R), Fault> {
        let mut backoff = Backoff::new(self.oversubscribed);
        let mut nudge = Nudge::default();
        loop {
            if let Some(value) = ready(&mut state)? {
                return Ok((state, value));
            }
            state.check()?;
            self.count_progress();
            if nudge.is_due() {
                state.nudge();
            }
            if state.progress_and_wake() {
                backoff.restart(self.oversubscribed);
                continue;
            }
            drop(state);
            step(&mut backoff);
            // Others come first: this thread would take the lock again before they have woken.
            for _ in 0..100 {
                if self.wanting.load(Ordering::Relaxed) == 0 {
                    break;
                }
                crate::os::cpu::yield_now();
            }
            state = self.lock()?;
            if backoff.becomes_long() {
                backoff.waits_for(state.waits_for());
            }
        }
    }

    /// The lock, with a PE known to the provider and room for one more operation.
    pub fn enter(&self, pe: i32) -> Result<Guard<'_>, Fault> {
        let state = self.reach(pe)?;
        if has_room(&state) {
            return Ok(state);
        }
        let (mut state, ()) = self.wait(state, |state| Ok(has_room(state).then_some(())))?;
        if state.is_lost(pe as u32) {
            return Err(state.lost_fault(pe as u32));
        }
        Ok(state)
    }

    /// As [`Self::enter`], on the way to an object: its segment is known, too.
    pub fn enter_at(&self, place: RemoteAddress) -> Result<Guard<'_>, Fault> {
        let state = self.enter(place.pe)?;
        let known = place.segment < SegmentId::FREE || state.segments.contains_key(&(place.pe as u32, place.segment));
        if known { Ok(state) } else { Err(unknown_segment(place)) }
    }

    /// The lock, with a PE known to the provider.
    pub fn reach(&self, pe: i32) -> Result<Guard<'_>, Fault> {
        if is_child() {
            let text = "a forked child has no access to PEs of other hosts".to_owned();
            return Err(Fault::from(Cause::Network(text)));
        }
        let (pe, npes) = (pe as u32, self.npes);
        let mut state = self.lock()?;
        state.check()?;
        match state.peers.get(pe) {
            Some(peer) if peer.flags & (Peer::KNOWN | Peer::LOST) == Peer::KNOWN => return Ok(state),
            Some(peer) if peer.has(Peer::LOST) => return Err(state.lost_fault(pe)),
            Some(_) => {}
            None => return Err(Fault::from(Cause::BadPe { arg: "pe", pe: i64::from(pe as i32), npes: npes.into() })),
        }
        // The launcher may take its time: others go on meanwhile.
        drop(state);
        let asking = Inside::enter()?;
        let endpoint_address = (self.directory.address)(pe)?;
        drop(asking);
        let mut state = self.lock()?;
        if state.is_lost(pe) {
            return Err(state.lost_fault(pe));
        }
        if state.peers.get(pe).is_some_and(|peer| !peer.has(Peer::KNOWN)) {
            state.learn(pe, &endpoint_address)?;
        }
        Ok(state)
    }

    /// Posts an operation on a record; again and again where the provider has no room.
    pub fn post<'a>(
        &'a self,
        mut state: Guard<'a>,
        op: *mut Op,
        mut call: impl FnMut(&mut EndpointState) -> isize,
    ) -> Result<Guard<'a>, Fault> {
        let (kind, pe, bytes) = identify(op);
        if state.is_lost(pe) {
            return Err(state.refuse(op));
        }
        let mut call = |state: &mut EndpointState| {
            // What was left to another thread goes first: that is no lack of room.
            if state.is_behind(pe) {
                return fi::EAGAIN;
            }
            let result = call(state);
            if result == fi::EAGAIN {
                state.note_no_room(op);
            }
            result
        };
        let mut result = call(&mut state);
        if result == fi::EAGAIN || (result != 0 && state.survives) {
            let since = Instant::now();
            set_posting(op, true);
            let mut posted;
            // Runs no handlers: one that waits for what was begun to this PE would wait for this operation.
            (state, posted) = self.wait_by(state, Backoff::step_alone, |state| {
                if state.is_lost(pe) {
                    return Ok(Some(None));
                }
                state.fail_if_unreachable(pe, since);
                let result = call(state);
                if result != 0 && result != fi::EAGAIN && state.survives {
                    state.suspect_error(kind, pe, result);
                    return Ok(None);
                }
                Ok((result != fi::EAGAIN).then_some(Some(result)))
            })?;
            set_posting(op, false);
            match posted.take() {
                Some(last) => result = last,
                None => return Err(state.refuse(op)),
            }
        }
        if result == 0 {
            set_posted(op);
            state.note_posted(pe, bytes);
            return Ok(state);
        }
        let why = state.domain.library.strerror(result as i64);
        let fault = state.fault(pe, &format!("{} to", kind.text()), &why);
        state.fail(fault.clone());
        Err(fault)
    }

    /// Waits for an operation and gives its record back.
    pub fn finish<'a>(&'a self, state: Guard<'a>, op: *mut Op) -> Result<Guard<'a>, Fault> {
        let (_, pe, _) = identify(op);
        match self.wait(state, |state| Ok(state.ops.reap(op))) {
            Ok((state, false)) => Ok(state),
            Ok((state, true)) => Err(state.lost_fault(pe)),
            Err(fault) => {
                self.disown(op);
                Err(fault)
            }
        }
    }

    /// A wait has failed, as where another PE's connection has, and its operation may still be under way: its caller's
    /// memory is the caller's again. What the provider reads to it by itself is waited for, if not for ever: a PE that
    /// is gone sends nothing.
    fn disown(&self, op: *mut Op) {
        let since = Instant::now();
        let mut is_reading = self.lock().is_ok_and(|mut state| state.ops.disown(op));
        while is_reading && since.elapsed() < DISOWN_LIMIT {
            std::thread::sleep(DISOWN_NAP);
            is_reading = self.lock().is_ok_and(|mut state| {
                state.progress_and_wake();
                !state.ops.is_over(op)
            });
        }
    }
}

/// Whether there is room for one more operation.
fn has_room(state: &EndpointState) -> bool {
    let (ops, buffers) = state.held;
    state.ops.in_flight() < MAX_IN_FLIGHT + ops && state.pool.lent() - state.reply_buffers < MAX_LENT + buffers
}

#[cold]
fn unknown_segment(place: RemoteAddress) -> Fault {
    let RemoteAddress { pe, segment, .. } = place;
    Fault::from(Cause::Network(format!(
        "segment {} of PE {pe} is not known here: it has not been introduced",
        segment.0
    )))
}

/// When a wait takes so long that those who are waited for are asked whether they are still there.
#[derive(Default)]
struct Nudge {
    turns: u32,
    next: Option<Instant>,
}

impl Nudge {
    const PERIOD: Duration = Duration::from_secs(2);
    /// Turns of a wait between looks at the clock.
    const TURNS: u32 = 128;

    fn is_due(&mut self) -> bool {
        self.turns += 1;
        if !self.turns.is_multiple_of(Self::TURNS) {
            return false;
        }
        let now = Instant::now();
        let due = self.next.is_some_and(|next| now >= next);
        if due || self.next.is_none() {
            self.next = Some(now + Self::PERIOD);
        }
        due
    }
}

/// What a record is for, and the bytes that have to be sent for it while nobody waits for it.
#[allow(unsafe_code)]
fn identify(op: *mut Op) -> (Kind, u32, usize) {
    // SAFETY: callers pass the record of an operation that they are posting.
    unsafe { ((*op).kind, (*op).pe, if (*op).waited || (*op).kind == Kind::Read { 0 } else { (*op).bytes }) }
}

/// A thread hands a record to the provider, or does not any more.
#[allow(unsafe_code)]
fn set_posting(op: *mut Op, posting: bool) {
    // SAFETY: callers pass the record of an operation that they are posting.
    unsafe { (*op).posting = posting };
}

/// The provider has a record.
#[allow(unsafe_code)]
fn set_posted(op: *mut Op) {
    // SAFETY: as above.
    unsafe { (*op).posted = true };
}
