//! Active messages between PEs of one host: two rings a PE in the job's memory, one for requests and one for replies.
//!
//! Everyone puts messages into a PE's rings, and it takes them out. A ring is memory that nobody has touched until the
//! first message comes. A request finds room in its receiver's ring or waits. A reply that finds none stays with its
//! sender, who looks for room again whenever it looks for messages, and takes no further requests while as many as
//! [`MOST_BACKLOG`] are kept so: replies never wait, and what they take is bounded.
#![allow(unsafe_code)]

use super::ring::{Cells, Ring, Stamp};
use crate::base::{Cause, Fault};
use crate::os::{cpu, futex};
use crate::transport::{Incoming, Lane, LongTarget, MAX_ARGS, MessageKind, MessageLimits, Outgoing, Owned, SegmentId};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Bytes of a cell.
const CELL: usize = 64;
/// Cells of a ring.
const CELLS: usize = 8192;
/// Bytes of a ring, with the two words that are in front of it, each with a cache line of its own.
const RING: usize = 2 * CELL + CELLS * CELL;
/// Bytes that the rings of one PE take, and that are zero before the first message.
pub const LANES: usize = 2 * RING;
/// Payload of a medium message at most.
const MEDIUM: usize = 32 << 10;
/// Replies kept back, beyond which no requests are taken.
const MOST_BACKLOG: usize = 64;

const _: () = assert!(MEDIUM + 2 * CELL + 4 * MAX_ARGS <= CELL * CELLS / 2);

/// Payloads from here on are made this processor's own before their handler reads them.
const OWNED: usize = 512;

/// Writes to each cell of an entry behind the first what is there. Its lines, which the sender's processor holds, come
/// over to stay: if they were read first, the release of the cells, which writes to them, would ask for each again, and
/// the sender, who needs them next, would have to take them from two.
///
/// # Safety
/// The cells lie in the ring, and are nobody else's.
#[inline]
unsafe fn own(entry: *mut u8, cells: usize) {
    for cell in 1..cells {
        // SAFETY: the caller's.
        unsafe {
            let word = entry.add(cell * CELL).cast::<u64>();
            word.write_volatile(word.read_volatile());
        }
    }
}

/// The number of the handler that an entry is for.
///
/// # Safety
/// The entry lies in the ring, was stamped, and is nobody else's.
#[inline(always)]
unsafe fn handler_of(entry: *mut u8) -> u16 {
    // SAFETY: the caller's.
    (unsafe { entry.add(8).cast::<u64>().read() } >> 32) as u16
}

/// Bytes of an entry before its arguments, by kind.
const HEAD: [usize; 3] = [16, 24, 40];

mod announced;
#[cfg(test)]
mod tests;

use announced::Announcements;

/// Where the rings of the PEs of this host are.
#[derive(Debug, Clone, Copy)]
pub struct LaneMemory {
    /// Those of the first of these PEs.
    pub base: *mut u8,
    /// Bytes from one PE's to the next one's, a multiple of 64.
    pub stride: usize,
    /// World number of the first.
    pub first: i32,
    /// PEs.
    pub count: u32,
}

// SAFETY: an address; what lies there is used as the ring says.
unsafe impl Send for LaneMemory {}
// SAFETY: as above.
unsafe impl Sync for LaneMemory {}

/// Where a PE says that it has handlers: behind the tail of its requests, which who sends one needs anyway.
const OPEN: usize = 8;
/// Where a PE says that a thread sleeps until a request comes: a word for each [`Sleeper`].
const ASLEEP: usize = 16;

/// Who sleeps until a request comes, one thread of each at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sleeper {
    /// A thread of the library's, beside the program.
    Helper,
    /// One of the program's, in a wait.
    Waiter,
}

/// One ring.
#[derive(Clone, Copy)]
struct View(*mut u8);

impl View {
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: in the ring's memory, which is mapped as long as the transport lives, and aligned.
        unsafe { &*self.0.add(offset).cast() }
    }

    fn entry(self, position: u64) -> *mut u8 {
        self.0.wrapping_add(2 * CELL + (position as usize & (CELLS - 1)) * CELL)
    }
}

impl Cells for View {
    type Word = AtomicU64;

    #[inline(always)]
    fn cells(&self) -> u64 {
        CELLS as u64
    }
    #[inline(always)]
    fn tail(&self) -> &AtomicU64 {
        self.word(0)
    }
    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        self.word(CELL)
    }
    #[inline(always)]
    fn stamp(&self, cell: u64) -> &AtomicU64 {
        self.word(2 * CELL + cell as usize * CELL)
    }
    #[inline(always)]
    fn will_write(&self, cell: u64) {
        cpu::prefetch_for_writing(self.entry(cell));
    }
    #[inline(always)]
    fn will_look(&self, cell: u64) {
        cpu::prefetch(self.entry(cell));
    }
}

/// The end of one of this PE's rings at which messages are taken out.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Receiver {
    /// A thread takes messages out.
    busy: AtomicBool,
    position: AtomicU64,
}

/// Clears the flag that it was made with.
struct Taken<'a>(&'a AtomicBool);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// What a PE knows of another one's rings.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Peer {
    /// Heads as they were seen last.
    seen: [AtomicU64; 2],
    /// Behind the last request that this process sent it.
    sent: AtomicU64,
}

/// The rings of the PEs of this host.
#[derive(Debug)]
pub struct Lanes {
    memory: LaneMemory,
    me: i32,
    peers: Vec<Peer>,
    receivers: [Receiver; 2],
    /// Replies for which there was no room.
    backlog: Mutex<VecDeque<(i32, Owned)>>,
    backlog_len: AtomicUsize,
    /// In a job that goes on without PEs that are lost.
    announcements: OnceLock<Announcements>,
}

/// Where the parts of an entry are.
struct Layout {
    args: usize,
    payload: usize,
    cells: u64,
}

impl Layout {
    #[inline(always)]
    fn of(kind: MessageKind, args: usize, payload: usize) -> Self {
        let at = HEAD[kind as usize];
        let end = at + 4 * args;
        let start = if payload > 0 { end.next_multiple_of(16) } else { end };
        Self { args: at, payload: start, cells: (start + payload).div_ceil(CELL) as u64 }
    }
}

impl Lanes {
    /// For PE `me`.
    ///
    /// # Safety
    /// The memory is mapped and shared by its PEs as long as this lives, [`LANES`] bytes for each, which were zero
    /// before the first of them had this; used by nobody else.
    pub unsafe fn new(memory: LaneMemory, me: i32) -> Self {
        let mut peers = Vec::new();
        peers.resize_with(memory.count as usize, Peer::default);
        let view = View(memory.base.wrapping_add((me - memory.first) as usize * memory.stride));
        // A process that attaches to rings that were in use goes on where they are.
        let at =
            |lane: Lane| AtomicU64::new(View(view.0.wrapping_add(lane as usize * RING)).head().load(Ordering::Acquire));
        let receivers =
            [Lane::Request, Lane::Reply].map(|lane| Receiver { busy: AtomicBool::new(false), position: at(lane) });
        Self {
            memory,
            me,
            peers,
            receivers,
            backlog: Mutex::default(),
            backlog_len: AtomicUsize::new(0),
            announcements: OnceLock::new(),
        }
    }

    /// Whether a PE has rings here.
    #[inline(always)]
    pub fn reaches(&self, pe: i32) -> bool {
        (pe.wrapping_sub(self.memory.first) as u32) < self.memory.count
    }

    /// This PE has handlers: others may send it requests.
    pub fn open(&self) {
        self.view(self.me, Lane::Request).word(OPEN).store(1, Ordering::Release);
    }

    /// Whether a PE that has rings here has handlers.
    #[inline(always)]
    pub fn is_open(&self, pe: i32) -> bool {
        self.view(pe, Lane::Request).word(OPEN).load(Ordering::Relaxed) != 0
    }

    /// The words on which a PE sleeps.
    fn asleep(&self, pe: i32) -> &[AtomicU32; 2] {
        // SAFETY: in the first cell in front of the ring, of which nothing else uses these bytes.
        unsafe { &*self.view(pe, Lane::Request).0.add(ASLEEP).cast() }
    }

    /// Sleeps until somebody sends a request and says so ([`Self::wake`]), at most for a time; not where there is
    /// something to do, as a request that has come: any, or one to the handler of a number.
    pub fn sleep(&self, who: Sleeper, of: Option<u16>, limit: Duration, has_work: impl Fn() -> bool) {
        let word = &self.asleep(self.me)[who as usize];
        word.store(1, Ordering::Relaxed);
        // Either who sends, or makes work, sees the word, or this sees what there is.
        fence(Ordering::SeqCst);
        let has_come = || of.map_or_else(|| self.is_ready(Lane::Request), |handler| self.is_next_of(handler));
        if !has_come() && !has_work() {
            futex::wait(word, 1, limit);
        }
        word.store(0, Ordering::Relaxed);
    }

    /// Wakes the threads of a PE that sleep until a request comes, after one was sent; this PE's own, after it has made
    /// work.
    pub fn wake(&self, pe: i32) {
        fence(Ordering::SeqCst);
        for word in self.asleep(pe) {
            if word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Relaxed) != 0 {
                futex::wake_all(word);
            }
        }
    }

    /// What fits into a message.
    pub fn limits(&self) -> MessageLimits {
        MessageLimits { medium: MEDIUM }
    }

    fn view(&self, pe: i32, lane: Lane) -> View {
        let offset = (pe - self.memory.first) as usize * self.memory.stride + lane as usize * RING;
        View(self.memory.base.wrapping_add(offset))
    }

    /// Sends a message to a PE that has rings here; false where there is no room, which replies always find. The caller
    /// has checked the message against the limits.
    #[inline]
    pub fn try_send(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> bool {
        if lane == Lane::Reply && self.backlog_len.load(Ordering::Relaxed) > 0 {
            self.hold(to, message);
            self.send_backlog();
            return true;
        }
        let room = self.put(lane, to, message);
        if !room && lane == Lane::Reply {
            self.hold(to, message);
            return true;
        }
        room
    }

    #[cold]
    fn hold(&self, to: i32, message: &Outgoing<'_>) {
        let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        backlog.push_back((to, Owned::new(message)));
        self.backlog_len.store(backlog.len(), Ordering::Relaxed);
    }

    /// Looks for room for replies that found none.
    #[cold]
    fn send_backlog(&self) {
        // Another thread, or the one that a signal handler has interrupted, looks already.
        let Ok(mut backlog) = self.backlog.try_lock() else { return };
        backlog.retain(|(to, message)| !self.put(Lane::Reply, *to, &message.message()));
        self.backlog_len.store(backlog.len(), Ordering::Relaxed);
    }

    /// Drops replies that are held for PEs that are lost.
    pub fn drop_held(&self, is_lost: impl Fn(i32) -> bool) {
        if self.backlog_len.load(Ordering::Relaxed) > 0
            && let Ok(mut backlog) = self.backlog.try_lock()
        {
            backlog.retain(|(to, _)| !is_lost(*to));
            self.backlog_len.store(backlog.len(), Ordering::Relaxed);
        }
    }

    /// Puts a message into a ring; false where there is no room.
    #[inline]
    fn put(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> bool {
        let view = self.view(to, lane);
        let peer = &self.peers[(to - self.memory.first) as usize];
        let layout = Layout::of(message.kind, message.args.len(), message.payload.len());
        let ring = Ring(&view);
        let seen = &peer.seen[lane as usize];
        let (announcement, claimed) = match self.announcements.get() {
            None => (None, ring.claim(layout.cells, seen)),
            Some(announcements) => {
                let Some(announcement) = self.announce(announcements, to, lane) else { return false };
                let claimed = ring.claim_announced(layout.cells, seen, |first, end| announcement.tell(first, end));
                if claimed.is_some() {
                    announcement.took();
                }
                (Some(announcement), claimed)
            }
        };
        let Some(position) = claimed else { return false };
        let entry = view.entry(position);
        // SAFETY: the cells were claimed by this call, and hold as many bytes; arguments and payload are memory of the
        // caller's, never of the ring's free cells.
        unsafe {
            let word = u64::from(self.me as u32) | u64::from(message.handler) << 32;
            entry.add(8).cast::<u64>().write(word);
            match message.kind {
                MessageKind::Short => {}
                MessageKind::Medium => entry.add(16).cast::<u64>().write(message.payload.len() as u64),
                MessageKind::Long => {
                    let LongTarget { segment, offset, bytes } = message.target;
                    entry.add(16).cast::<u64>().write(bytes);
                    entry.add(24).cast::<u64>().write(offset);
                    entry.add(32).cast::<u64>().write(segment.0.into());
                }
            }
            let args = entry.add(layout.args).cast::<i32>();
            for (i, arg) in message.args.iter().enumerate() {
                args.add(i).write(*arg);
            }
            if !message.payload.is_empty() {
                super::copy::copy(entry.add(layout.payload), message.payload.as_ptr(), message.payload.len());
            }
        }
        let note = message.kind as u16 | (message.args.len() as u16) << 8;
        ring.stamp(position, Stamp { cells: layout.cells as u16, note });
        drop(announcement);
        if lane == Lane::Request {
            peer.sent.fetch_max(position.wrapping_add(layout.cells), Ordering::Relaxed);
        }
        true
    }

    /// Whether replies wait here for room.
    #[inline(always)]
    pub fn holds(&self) -> bool {
        self.backlog_len.load(Ordering::Relaxed) > 0
    }

    /// Whether a message of a lane may have come.
    #[inline(always)]
    pub fn is_ready(&self, lane: Lane) -> bool {
        let position = self.receivers[lane as usize].position.load(Ordering::Relaxed);
        Ring(&self.view(self.me, lane)).is_ready(position)
    }

    /// Whether the next request is one to the handler of a number; not, where another thread takes messages out.
    fn is_next_of(&self, handler: u16) -> bool {
        let receiver = &self.receivers[Lane::Request as usize];
        if receiver.busy.swap(true, Ordering::Acquire) {
            return false;
        }
        let _taken = Taken(&receiver.busy);
        let view = self.view(self.me, Lane::Request);
        let mut position = receiver.position.load(Ordering::Relaxed);
        let next = Ring(&view).next(&mut position);
        receiver.position.store(position, Ordering::Relaxed);
        // SAFETY: the entry is whole, and this thread's alone, who has taken the ring.
        next.is_some() && unsafe { handler_of(view.entry(position)) } == handler
    }

    /// Takes up to `most` messages of a lane out and gives them to `run`; nothing where another thread does so. Gives
    /// how many.
    ///
    /// Fault: what is in the ring is no message, or `run` failed.
    #[inline]
    pub fn deliver(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        self.deliver_of(lane, None, most, run)
    }

    /// As [`Self::deliver`], where a handler's number is given up to the first message to another one.
    #[inline(always)]
    pub fn deliver_of(
        &self,
        lane: Lane,
        of: Option<u16>,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        if self.backlog_len.load(Ordering::Relaxed) > 0 {
            self.send_backlog();
        }
        let receiver = &self.receivers[lane as usize];
        if !self.is_ready(lane) || receiver.busy.swap(true, Ordering::Acquire) {
            return Ok(0);
        }
        let _taken = Taken(&receiver.busy);
        let view = self.view(self.me, lane);
        let ring = Ring(&view);
        let mut position = receiver.position.load(Ordering::Relaxed);
        let mut count = 0;
        while count < most && (lane == Lane::Reply || self.backlog_len.load(Ordering::Relaxed) < MOST_BACKLOG) {
            let Some(stamp) = ring.next(&mut position) else { break };
            // SAFETY: the entry is whole, and this PE's alone until it is given back below.
            if of.is_some_and(|of| of != unsafe { handler_of(view.entry(position)) }) {
                break;
            }
            ring.expect(position.wrapping_add(stamp.cells.into()));
            // SAFETY: the entry is whole, and this PE's alone until it is given back below.
            let result =
                unsafe { self.read(view.entry(position), position, stamp) }.and_then(|mut message| run(&mut message));
            position = position.wrapping_add(stamp.cells.into());
            ring.release(position.wrapping_sub(stamp.cells.into()), stamp.cells.into());
            receiver.position.store(position, Ordering::Relaxed);
            result?;
            count += 1;
        }
        receiver.position.store(position, Ordering::Relaxed);
        Ok(count)
    }

    /// The message of an entry, whose numbers may be anything.
    ///
    /// # Safety
    /// The entry lies in the ring, was stamped, and is nobody else's for as long as the message is used.
    #[inline]
    unsafe fn read(&self, entry: *mut u8, position: u64, stamp: Stamp) -> Result<Incoming<'_>, Fault> {
        let kind = MessageKind::from_number(stamp.note as u8).ok_or_else(|| self.damaged())?;
        let (args, room) = (usize::from(stamp.note >> 8), usize::from(stamp.cells) * CELL);
        if args > MAX_ARGS
            || HEAD[kind as usize] > room
            || usize::from(stamp.cells) > CELLS - (position as usize & (CELLS - 1))
        {
            return Err(self.damaged());
        }
        // SAFETY: the entry has room for the head of its kind, as was checked; so for arguments and payload below.
        unsafe {
            let word = entry.add(8).cast::<u64>().read();
            let first = entry.add(16).cast::<u64>();
            let mut target = LongTarget::NONE;
            let bytes = match kind {
                MessageKind::Short => 0,
                MessageKind::Medium => usize::try_from(first.read()).unwrap_or(usize::MAX),
                MessageKind::Long => {
                    let segment = SegmentId(first.add(2).read() as u16);
                    target = LongTarget { segment, offset: first.add(1).read(), bytes: first.read() };
                    0
                }
            };
            let source = word as u32 as i32;
            if bytes > MEDIUM || !self.reaches(source) || Layout::of(kind, args, bytes).cells != u64::from(stamp.cells)
            {
                return Err(self.damaged());
            }
            let layout = Layout::of(kind, args, bytes);
            if bytes >= OWNED {
                own(entry, stamp.cells.into());
            }
            Ok(Incoming {
                source,
                kind,
                handler: (word >> 32) as u16,
                args: std::slice::from_raw_parts(entry.add(layout.args).cast(), args),
                payload: std::slice::from_raw_parts_mut(entry.add(layout.payload), bytes),
                target,
                replied: false,
            })
        }
    }

    #[cold]
    fn damaged(&self) -> Fault {
        Fault::from(Cause::Message(format!(
            "the active messages of PE {} are damaged: something wrote into memory of the library's",
            self.me
        )))
    }

    /// Whether every request of this process to a PE that has rings here has been handled.
    pub fn is_handled_by(&self, pe: i32) -> bool {
        let sent = self.peers[(pe - self.memory.first) as usize].sent.load(Ordering::Relaxed);
        sent == 0 || self.view(pe, Lane::Request).head().load(Ordering::Acquire) >= sent
    }

    /// Whether every request of this process has been handled, and every reply has found room, but those to PEs that
    /// are lost.
    pub fn all_handled(&self, is_lost: impl Fn(i32) -> bool) -> bool {
        let mut pes = (0..self.peers.len()).map(|i| self.memory.first + i as i32);
        self.holds_nothing(&is_lost) && pes.all(|pe| self.is_handled_by(pe) || is_lost(pe))
    }

    fn holds_nothing(&self, is_lost: impl Fn(i32) -> bool) -> bool {
        let backlog = || self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        self.backlog_len.load(Ordering::Relaxed) == 0 || backlog().iter().all(|(to, _)| is_lost(*to))
    }
}
