//! What the threads of a process share of a fabric: the lock, and how they wait.

use super::engine::Engine;
use super::links::Hosts;
use super::op::{Kind, Op};
use super::peers::Peer;
use super::wire::{Count, Wire};
use crate::base::{Cause, Fault};
use crate::os::bell::Bell;
use crate::os::reentry::Inside;
use crate::os::wait::Backoff;
use crate::transport::{Directory, RemoteAddress, SegmentId};
use libfabric_sys as fi;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Records in flight at most: beyond them a new operation waits for an old one.
const FLYING: usize = 1024;
/// Buffers in use at most, those of replies and receives apart.
const LENT: usize = 256;

/// The engine, locked.
pub(super) struct Guard<'a> {
    engine: MutexGuard<'a, Engine>,
    /// After the lock: a signal handler must not find the one without the other.
    _inside: Inside,
}

impl Deref for Guard<'_> {
    type Target = Engine;

    #[inline]
    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for Guard<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

pub(super) struct Shared {
    engine: Mutex<Engine>,
    /// Threads that want the lock in order to post.
    wanting: AtomicU32,
    /// Changes whenever a thread of the program looks at the completion queue.
    pub attended: AtomicU32,
    pub stop: AtomicBool,
    /// Active messages that were taken out of the list of those that have come.
    pub active_taken: AtomicU64,
    pub wire: Arc<Wire>,
    pub directory: Arc<Directory>,
    /// Wakes the progress thread.
    pub bell: Arc<Bell>,
    pub hosts: Arc<Hosts>,
    pub crowded: bool,
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

impl Shared {
    pub fn new(engine: Engine, crowded: bool, npes: u32) -> Self {
        Self {
            wire: engine.wire.clone(),
            directory: engine.directory.clone(),
            bell: engine.bell.clone(),
            hosts: engine.hosts.clone(),
            engine: Mutex::new(engine),
            wanting: AtomicU32::new(0),
            attended: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            active_taken: AtomicU64::new(0),
            crowded,
            npes,
        }
    }

    /// The lock.
    ///
    /// Fault: a signal handler asks for what its own thread has.
    pub fn lock(&self) -> Result<Guard<'_>, Fault> {
        let inside = Inside::enter()?;
        let engine = match self.engine.try_lock() {
            Ok(engine) => engine,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.wanting.fetch_add(1, Ordering::Relaxed);
                let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
                self.wanting.fetch_sub(1, Ordering::Relaxed);
                engine
            }
        };
        Ok(Guard { engine, _inside: inside })
    }

    /// The lock, unless somebody has it.
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        let inside = Inside::enter().ok()?;
        let engine = match self.engine.try_lock() {
            Ok(engine) => engine,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Guard { engine, _inside: inside })
    }

    /// A thread of the program looks after the fabric.
    pub fn attend(&self) {
        let n = self.attended.load(Ordering::Relaxed);
        self.attended.store(n.wrapping_add(1), Ordering::Relaxed);
    }

    /// Waits until `ready` gives a value, and moves things on meanwhile.
    pub fn wait<'a, R>(
        &'a self,
        mut engine: Guard<'a>,
        mut ready: impl FnMut(&mut Engine) -> Result<Option<R>, Fault>,
    ) -> Result<(Guard<'a>, R), Fault> {
        let mut backoff = Backoff::new(self.crowded);
        let mut nudge = Nudge::default();
        loop {
            if let Some(value) = ready(&mut engine)? {
                return Ok((engine, value));
            }
            engine.check()?;
            self.attend();
            if nudge.is_due() {
                engine.nudge();
            }
            if engine.attend() {
                backoff.restart(self.crowded);
                continue;
            }
            drop(engine);
            backoff.turn();
            // Others come first: this thread would take the lock again before they have woken.
            for _ in 0..100 {
                if self.wanting.load(Ordering::Relaxed) == 0 {
                    break;
                }
                crate::os::cpu::yield_now();
            }
            engine = self.lock()?;
            if backoff.becomes_long() {
                backoff.waits_for(engine.waits_for());
            }
        }
    }

    /// The lock, with a PE known to the provider and room for one more operation.
    pub fn enter(&self, pe: i32) -> Result<Guard<'_>, Fault> {
        let engine = self.reach(pe)?;
        if engine.ops.flying() < FLYING && engine.pool.lent() < LENT {
            return Ok(engine);
        }
        self.wait(engine, |engine| Ok((engine.ops.flying() < FLYING && engine.pool.lent() < LENT).then_some(())))
            .map(|(engine, ())| engine)
    }

    /// As [`Self::enter`], on the way to an object: its segment is known, too.
    pub fn enter_at(&self, place: RemoteAddress) -> Result<Guard<'_>, Fault> {
        let engine = self.enter(place.pe)?;
        let known = place.segment < SegmentId::FREE || engine.segments.contains_key(&(place.pe as u32, place.segment));
        if known { Ok(engine) } else { Err(unknown_segment(place)) }
    }

    /// The lock, with a PE known to the provider.
    pub fn reach(&self, pe: i32) -> Result<Guard<'_>, Fault> {
        if is_child() {
            let text = "a forked child has no access to PEs of other hosts".to_owned();
            return Err(Fault::from(Cause::Network(text)));
        }
        let (pe, npes) = (pe as u32, self.npes);
        let mut engine = self.lock()?;
        engine.check()?;
        match engine.peers.get(pe) {
            Some(peer) if peer.has(Peer::KNOWN) => return Ok(engine),
            Some(_) => {}
            None => return Err(Fault::from(Cause::BadPe { arg: "pe", pe: i64::from(pe as i32), npes: npes.into() })),
        }
        // The launcher may take its time: others go on meanwhile.
        drop(engine);
        let asking = Inside::enter()?;
        let card = (self.directory.address)(pe)?;
        drop(asking);
        let mut engine = self.lock()?;
        if engine.peers.get(pe).is_some_and(|peer| !peer.has(Peer::KNOWN)) {
            engine.learn(pe, &card)?;
        }
        Ok(engine)
    }

    /// Posts an operation on a record; again and again where the provider has no room.
    pub fn post<'a>(
        &'a self,
        mut engine: Guard<'a>,
        op: *mut Op,
        mut call: impl FnMut(&mut Engine) -> isize,
    ) -> Result<Guard<'a>, Fault> {
        let mut result = call(&mut engine);
        if result == fi::EAGAIN {
            let (_, pe, _) = identify(op);
            let since = Instant::now();
            (engine, result) = self.wait(engine, |engine| {
                engine.wire.add(Count::retries, 1);
                engine.lose_patience(pe, since);
                let result = call(engine);
                Ok((result != fi::EAGAIN).then_some(result))
            })?;
        }
        let (kind, pe, bytes) = identify(op);
        if result == 0 {
            engine.fly(pe, bytes);
            return Ok(engine);
        }
        let why = engine.port.library.strerror(result as i64);
        let fault = engine.fault(pe, &format!("{} to", kind.text()), &why);
        engine.fail(fault.clone());
        Err(fault)
    }

    /// Waits for an operation and gives its record back.
    pub fn finish<'a>(&'a self, engine: Guard<'a>, op: *mut Op) -> Result<Guard<'a>, Fault> {
        self.wait(engine, |engine| Ok(engine.ops.reap(op).then_some(()))).map(|(engine, ())| engine)
    }
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
