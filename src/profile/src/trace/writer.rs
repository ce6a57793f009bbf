//! Encoding an event into the file of its thread.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::*, compiler_fence, fence};

use super::check;
use super::fold::Fold;
use super::format::*;
use super::note;
use super::room::Room;
use super::site::Place as Sites;
use super::switch::{self, Job};
use crate::op::{self, ALL, ON_CONTEXT, TOGETHER, Timing};
use crate::output::no_room;
use crate::segment::layout::{SLOTS, Slot};
use crate::text::visible_path;

/// What a slot of the profile has of the trace. Only the thread that owns the slot uses it.
struct WriterSlot {
    writer: AtomicPtr<Writer>,
    /// The head of its file; null where there is none.
    head: AtomicPtr<TraceHead>,
    /// The writer is in use: what a signal handler of the same thread does meanwhile is dropped, and counted.
    busy: AtomicBool,
}

/// The files of this process, by slot of the profile.
static WRITERS: [WriterSlot; SLOTS] = [const {
    WriterSlot {
        writer: AtomicPtr::new(std::ptr::null_mut()),
        head: AtomicPtr::new(std::ptr::null_mut()),
        busy: AtomicBool::new(false),
    }
}; SLOTS];
/// Where events of threads without a slot are counted.
static SHARED: AtomicPtr<TraceHead> = AtomicPtr::new(std::ptr::null_mut());

/// The file of a thread, and where it is in it.
pub(super) struct Writer {
    /// Where the next record begins.
    pub(super) at: *mut u8,
    /// A record of a call must begin here at the latest.
    pub(super) last: *mut u8,
    pub(super) chunk: *const ChunkHead,
    progress: u64,
    end_ticks: u64,
    addr: u64,
    bytes: u64,
    peer: u32,
    pub(super) thread: u32,
    /// The context that the file says calls are on.
    pub(super) context: u64,
    /// The team that it says collectives are on, as the row of the slot.
    pub(super) team: usize,
    /// Where calls of this chunk returned to.
    pub(super) sites: Sites,
    /// `None`: the file could not be made.
    room: Option<Room>,
    head: *const TraceHead,
    /// Chunk in use, and how many were begun.
    index: u32,
    pub(super) sequence: u64,
    /// Short calls.
    pub(super) fold: Fold,
}

/// Writes the call that this slot's current operation describes.
#[inline(never)]
pub(crate) fn event(slot: &Slot, op: u16, peer: i32, start: u64, end: u64) {
    let mut writer = match hold(slot) {
        Hold::Writer(writer) => writer,
        Hold::Busy => return missed(slot),
        Hold::Missing => return switch::lost(),
    };
    let thread = slot.head.owner.load(Relaxed);
    let bytes = slot.head.current.bytes.load(Relaxed);
    if !switch::is_full() {
        writer.fold.begin(slot, None);
        writer.fold.leave_out(slot, op, bytes);
        writer.flush(slot, start);
    }
    let is_ready = (writer.at <= writer.last && writer.thread == thread) || writer.prepare(thread, start);
    let traits = op::traits(op);
    let team = (traits & TOGETHER != 0).then(|| note::team(peer));
    let peer = team.map_or(peer, |team| note::root(slot, op, team));
    let site = crate::recorder::site();
    if !is_ready || !writer.introduce(slot, (team, traits & ON_CONTEXT != 0, site), start) {
        writer.drop_one();
    } else {
        writer.call(op, peer, slot.head.current.addr.load(Relaxed), bytes, (start, end), site);
    }
    if !switch::is_full() && ALL.get(usize::from(op)).is_some_and(|row| row.timing == Timing::Timed) {
        writer.fold.wake(slot, end);
    }
}

/// A writer, for as long as one call uses it.
pub(super) struct WriterGuard {
    writer: *mut Writer,
    busy: &'static AtomicBool,
}

impl std::ops::Deref for WriterGuard {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        // SAFETY: made by `open` and never freed; the slot's owner alone gets here, and `busy` keeps signal handlers of
        // the same thread away.
        unsafe { &*self.writer }
    }
}

impl std::ops::DerefMut for WriterGuard {
    fn deref_mut(&mut self) -> &mut Writer {
        // SAFETY: as above.
        unsafe { &mut *self.writer }
    }
}

impl Drop for WriterGuard {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        self.busy.store(false, Relaxed);
    }
}

/// What there is of a slot's writer.
pub(super) enum Hold {
    /// Here it is.
    Writer(WriterGuard),
    /// The calling thread was interrupted while it used it.
    Busy,
    /// The slot has none.
    Missing,
}

/// The writer of a slot, made at its first event.
#[inline(always)]
pub(super) fn hold(slot: &Slot) -> Hold {
    hold_or(slot, open)
}

/// As [`hold`], where there is one already.
#[inline(always)]
pub(super) fn hold_made(slot: &Slot) -> Hold {
    hold_or(slot, |_, _| None)
}

#[inline(always)]
fn hold_or(slot: &Slot, make: impl FnOnce(&Slot, usize) -> Option<*mut Writer>) -> Hold {
    let index = crate::recorder::slot_index(slot);
    let Some(place) = WRITERS.get(index) else { return Hold::Missing };
    if place.busy.load(Relaxed) {
        return Hold::Busy;
    }
    place.busy.store(true, Relaxed);
    // Signals come to this thread: nothing but the compiler could put the two out of order.
    compiler_fence(SeqCst);
    let writer = Some(place.writer.load(Relaxed)).filter(|writer| !writer.is_null()).or_else(|| make(slot, index));
    match writer {
        Some(writer) => Hold::Writer(WriterGuard { writer, busy: &place.busy }),
        None => {
            place.busy.store(false, Relaxed);
            Hold::Missing
        }
    }
}

/// Counts an event that a signal handler would have written while its thread was writing another.
#[cold]
pub(super) fn missed(slot: &Slot) {
    let place = WRITERS.get(crate::recorder::slot_index(slot));
    // SAFETY: null, or the head of a file that stays mapped.
    match place.and_then(|place| unsafe { place.head.load(Relaxed).as_ref() }) {
        Some(head) => {
            head.count(1, Reason::Interrupted);
            switch::count_dropped(1);
        }
        None => count_shared(1, Reason::Interrupted),
    }
}

/// Appends `value` in as few bytes as it needs; gives their 3-bit length. Eight bytes are stored whatever the length.
#[inline(always)]
fn put(at: &mut *mut u8, value: u64) -> u16 {
    let bytes = (71 - value.leading_zeros()) >> 3;
    let code = bytes.min(7);
    // SAFETY: the caller left room for eight bytes from here on.
    unsafe {
        at.cast::<[u8; 8]>().write(value.to_le_bytes());
        *at = at.add((code + ((code + 1) >> 3)) as usize);
    }
    code as u16
}

/// The difference of two numbers with its sign in the lowest bit.
#[inline(always)]
fn difference(to: u64, from: u64) -> u64 {
    let difference = to.wrapping_sub(from);
    (difference << 1) ^ ((difference as i64 >> 63) as u64)
}

impl Writer {
    #[inline(always)]
    fn call(&mut self, op: u16, peer: i32, addr: u64, bytes: u64, (start, end): (u64, u64), site: u64) {
        let begin = self.at;
        // SAFETY: `prepare` left room for the longest record from here on.
        let mut at = unsafe { begin.add(4) };
        let peer = peer.wrapping_add(1) as u32;
        let mut lengths = put(&mut at, start.wrapping_sub(self.end_ticks));
        lengths |= put(&mut at, end.saturating_sub(start)) << 3;
        lengths |= put(&mut at, difference(addr, self.addr)) << 6;
        lengths |= put(&mut at, bytes ^ self.bytes) << 9;
        lengths |= put(&mut at, u64::from(peer ^ self.peer)) << 12;
        let mut head = u32::from(op) | u32::from(lengths) << 16;
        if site != self.sites.last {
            head |= MOVED;
            let moved = site.wrapping_sub(self.sites.last) as u32;
            // SAFETY: as above, with four bytes behind all others.
            unsafe {
                at.cast::<[u8; 4]>().write(moved.to_le_bytes());
                at = at.add(4);
            }
            self.sites.last = site;
        }
        // SAFETY: as above; bytes have no alignment.
        unsafe { begin.cast::<[u8; 4]>().write(head.to_le_bytes()) };
        (self.end_ticks, self.addr, self.bytes, self.peer) = (start.max(end), addr, bytes, peer);
        self.advance(at);
    }

    /// Writes what was folded, as calls before `until`.
    #[inline]
    pub(super) fn flush(&mut self, slot: &Slot, until: u64) {
        let thread = slot.head.owner.load(Relaxed);
        let mut fold = std::mem::replace(&mut self.fold, Fold::empty());
        fold.flush(slot, until, |op, calls, bytes, until| self.calls(thread, op, calls, bytes, until));
        self.fold = fold;
    }

    /// Appends folded calls.
    #[cold]
    fn calls(&mut self, thread: u32, op: u16, calls: u64, bytes: u64, until: u64) {
        if (self.at > self.last || self.thread != thread) && !self.prepare(thread, until) {
            return self.drop_many(calls);
        }
        let begin = self.at;
        // SAFETY: `prepare` left room for the longest record from here on.
        let mut at = unsafe { begin.add(4) };
        let mut lengths = put(&mut at, until.saturating_sub(self.end_ticks));
        lengths |= put(&mut at, calls) << 3;
        lengths |= put(&mut at, bytes) << 6;
        let head = u32::from(op) | u32::from(KIND_CALLS) << OP_BITS | u32::from(lengths) << 16;
        // SAFETY: as above; bytes have no alignment.
        unsafe { begin.cast::<[u8; 4]>().write(head.to_le_bytes()) };
        self.stands_for(calls);
        self.advance(at);
    }

    /// The next record counts as so many events.
    pub(super) fn stands_for(&self, events: u64) {
        // SAFETY: the chunk in use is mapped, and written by this thread alone.
        let folded = unsafe { &(*self.chunk).folded };
        folded.store(folded.load(Relaxed).wrapping_add(events).wrapping_sub(1), Relaxed);
    }

    /// The record that ends at `at` is complete.
    #[inline(always)]
    pub(super) fn advance(&mut self, at: *mut u8) {
        self.progress = self.progress.wrapping_add((1 << 32) + (at.addr() - self.at.addr()) as u64);
        self.at = at;
        // SAFETY: the chunk in use is mapped. Release: who sees the count sees the record.
        unsafe { (*self.chunk).progress.store(self.progress, Release) };
    }

    /// Makes room for the longest record of a call, and says whose the events are. False: there is no room.
    #[cold]
    #[inline(never)]
    pub(super) fn prepare(&mut self, thread: u32, now: u64) -> bool {
        if self.at > self.last {
            return self.next_chunk(thread, now);
        }
        self.note(KIND_THREAD, "", i64::from(thread), now);
        self.thread = thread;
        self.at <= self.last || self.next_chunk(thread, now)
    }

    /// Begins the next chunk: a new one, or the oldest.
    #[cold]
    pub(super) fn next_chunk(&mut self, thread: u32, now: u64) -> bool {
        if self.room.as_ref().is_some_and(Room::is_lost) {
            self.lose();
        }
        self.close_chunk();
        let Some(room) = &mut self.room else { return false };
        let mut index = if self.sequence == 0 { 0 } else { self.index + 1 };
        // SAFETY: the head is mapped for good.
        let head = unsafe { &*self.head };
        let chunk = match room.chunk(index) {
            Ok(chunk) => chunk,
            Err((have, why)) => {
                if let (Some(error), Some(job)) = (why, switch::job()) {
                    head.error.store(error.raw_os_error().unwrap_or(0) as u32, Relaxed);
                    job.report(&format!(
                        "{} cannot grow: {}",
                        job.shown(head.slot.load(Relaxed) as usize),
                        no_room(&error)
                    ));
                }
                index = 0;
                match (have, room.chunk(0)) {
                    (1.., Ok(chunk)) => chunk,
                    _ => {
                        self.room = None;
                        return false;
                    }
                }
            }
        };
        let chunk_head = chunk.cast::<ChunkHead>();
        // SAFETY: `room` vouches for a mapped chunk, which only this thread writes to.
        let h = unsafe { &*chunk_head };
        empty(h, &head.dropped);
        // Calls that are still to be folded began at the end of the last one.
        let base = if self.sequence == 0 || self.end_ticks == 0 { now } else { self.end_ticks.min(now) };
        h.base_ticks.store(base, Relaxed);
        h.thread.store(thread, Relaxed);
        h.magic.store(CHUNK_MAGIC, Relaxed);
        self.sequence += 1;
        h.sequence.store(self.sequence, Release);
        self.index = index;
        self.chunk = chunk_head;
        // SAFETY: both are within the chunk.
        unsafe {
            self.at = chunk.add(CHUNK_HEAD_BYTES);
            self.last = chunk.add(CHUNK_BYTES - CALL_BYTES);
        }
        (self.progress, self.end_ticks, self.addr, self.bytes, self.peer) = (0, base, 0, 0, 0);
        (self.thread, self.context, self.team) = (thread, 0, 0);
        self.sites = Sites::default();
        true
    }

    /// The chunk in use is complete: it gets its checksum.
    fn close_chunk(&mut self) {
        if self.sequence == 0 || self.room.is_none() {
            return;
        }
        // SAFETY: the chunk in use is mapped, all of it, and written by this thread alone.
        let (head, bytes) = unsafe { (&*self.chunk, std::slice::from_raw_parts(self.chunk.cast::<u8>(), CHUNK_BYTES)) };
        head.closed.store(check::chunk(bytes), Release);
    }

    /// The file was cut: what went to the chunk in use is nowhere.
    fn lose(&mut self) {
        // SAFETY: the head stays mapped, be it to memory that is no file's.
        let slot = unsafe { &*self.head }.slot.load(Relaxed) as usize;
        (self.room, self.head) = (None, std::ptr::null());
        if let Some(job) = switch::job() {
            open_shared(job);
            job.report(&format!("{} was cut by somebody while it was written to", job.shown(slot)));
        }
        self.drop_many(self.progress >> 32);
    }

    /// The file gets no more events.
    fn close(&mut self) {
        self.close_chunk();
        (self.at, self.last) = (std::ptr::without_provenance_mut(1), std::ptr::null_mut());
        let Some(mut room) = self.room.take().filter(|room| !room.is_lost()) else { return };
        // Where the file is full, its last chunk need not be the newest.
        // SAFETY: mapped for good; only this thread writes to it.
        let head = unsafe { &*std::mem::replace(&mut self.head, std::ptr::null()) };
        let chunks = (self.sequence.min(u64::from(u32::MAX)) as u32).min(room.chunks());
        room.cut(chunks);
        head.written.store(chunks, Relaxed);
        head.state.store(CLOSED, Relaxed);
        // SAFETY: the head is one page of plain memory, which nobody else writes to.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(head).cast::<u8>(), HEAD_BYTES) };
        head.end_check.store(check::closed_head(bytes), Release);
        // The mapping of what was cut off is not stored to any more; the descriptor is closed.
        drop(room);
    }

    #[cold]
    pub(super) fn drop_one(&self) {
        self.drop_many(1);
    }

    #[cold]
    fn drop_many(&self, events: u64) {
        if self.head.is_null() {
            return count_shared(events, Reason::NoFile);
        }
        switch::count_dropped(events);
        // SAFETY: mapped for good.
        unsafe { &(*self.head).dropped }.fetch_add(events, Relaxed);
    }
}

/// Closes the files of the calling thread, and of threads that have ended.
pub(super) fn close() {
    for (index, place) in WRITERS.iter().enumerate() {
        let writer = place.writer.load(Relaxed);
        if writer.is_null() || place.busy.load(Relaxed) || !crate::recorder::is_own_or_free(index) {
            continue;
        }
        // What is missed from here on is not counted in a head that has its checksum.
        place.head.store(std::ptr::null_mut(), Relaxed);
        // SAFETY: set once to what is never freed; its owner is this thread, or has ended, and tracing is off.
        unsafe { &mut *writer }.close();
    }
}

/// Makes the file of a slot. Where that cannot be done the slot gets a writer that counts what is dropped.
#[cold]
fn open(slot: &Slot, index: usize) -> Option<*mut Writer> {
    let job = switch::job()?;
    let room = match Room::create(&job.directory, &file_name(job.pe, index), job.chunks) {
        Ok(room) => Some(room),
        Err(error) => {
            job.report(&format!("cannot make {}: {}", job.shown(index), no_room(&error)));
            None
        }
    };
    let head = room.as_ref().map_or(std::ptr::null(), |room| room.head().cast::<TraceHead>().cast_const());
    if !head.is_null() {
        // SAFETY: `Room` vouches for a mapped head.
        job.describe(unsafe { &*head }, index, Some(slot));
    } else {
        open_shared(job);
    }
    let (one, zero) = (std::ptr::without_provenance_mut(1), std::ptr::null_mut());
    let writer = Box::new(Writer {
        at: one,
        last: zero,
        chunk: std::ptr::null(),
        progress: 0,
        end_ticks: 0,
        addr: 0,
        bytes: 0,
        peer: 0,
        thread: 0,
        context: 0,
        team: 0,
        sites: Sites::default(),
        room,
        head,
        index: 0,
        sequence: 0,
        fold: Fold::new(slot),
    });
    let writer = Box::into_raw(writer);
    let place = WRITERS.get(index)?;
    place.head.store(head.cast_mut(), Relaxed);
    place.writer.store(writer, Relaxed);
    Some(writer)
}

/// Makes the file that only has a head: where events of threads without a file of their own are counted.
pub(super) fn open_shared(job: &'static Job) {
    static OPENED: AtomicBool = AtomicBool::new(false);
    if OPENED.swap(true, AcqRel) {
        return;
    }
    let Ok(room) = Room::create(&job.directory, &file_name(job.pe, SLOTS), 1) else { return };
    let head = room.head().cast::<TraceHead>();
    // SAFETY: `Room` vouches for a mapped head; the mapping stays.
    job.describe(unsafe { &*head }, SLOTS, None);
    SHARED.store(head, Release);
}

/// Counts events of a thread without a file.
pub(super) fn count_shared(events: u64, reason: Reason) {
    switch::count_dropped(events);
    // SAFETY: null, or a head that stays mapped.
    let shared = unsafe { SHARED.load(Acquire).as_ref() };
    static UNSEEN: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
    let unseen = &UNSEEN[reason as usize];
    match shared {
        Some(head) => {
            head.count(events + unseen.swap(0, Relaxed), reason);
        }
        None => {
            unseen.fetch_add(events, Relaxed);
        }
    }
}

impl TraceHead {
    /// Events that are not there, for another reason than room.
    fn count(&self, events: u64, reason: Reason) {
        self.dropped.fetch_add(events, Relaxed);
        self.lost[reason as usize].fetch_add(events, Relaxed);
    }
}

impl Job {
    /// A file, for messages.
    fn shown(&self, slot: usize) -> String {
        visible_path(&self.directory.path().join(file_name(self.pe, slot)))
    }

    /// Fills in the head of a file.
    fn describe(&self, head: &TraceHead, index: usize, slot: Option<&Slot>) {
        let job = self.header;
        head.version.store(VERSION, Relaxed);
        head.pe.store(self.pe, Relaxed);
        head.npes.store(job.npes.load(Relaxed), Relaxed);
        head.slot.store(index as u32, Relaxed);
        head.pid.store(std::process::id(), Relaxed);
        head.launcher_pid.store(job.launcher_pid.load(Relaxed), Relaxed);
        head.ops_hash.store(op::TABLE_HASH, Relaxed);
        head.clock_source.store(job.clock_source.load(Relaxed), Relaxed);
        head.chunk_bytes.store(CHUNK_BYTES as u32, Relaxed);
        head.clock_mult.store(job.clock_mult.load(Relaxed), Relaxed);
        head.start_ticks.store(job.start_ticks.load(Relaxed), Relaxed);
        head.start_realtime.store(job.start_realtime.load(Relaxed), Relaxed);
        head.offset_ticks[0].store(job.start_ticks.load(Relaxed), Relaxed);
        head.chunks.store(if slot.is_some() { self.chunks } else { 0 }, Relaxed);
        let (heap, data) = (self.memory.heap, self.memory.data);
        for (to, from) in head.memory.iter().zip([heap.0, heap.1, data.0, data.1]) {
            to.store(from as u64, Relaxed);
        }
        head.host.set(&crate::segment::host_name());
        head.program.set(&job.program.get());
        head.job_id.set(&job.job_id.get());
        head.magic.store(MAGIC, Release);
        // SAFETY: the head is one page of plain memory, which nobody else writes to yet.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(head).cast::<u8>(), HEAD_BYTES) };
        head.check.store(check::head(bytes, VERSION), Release);
    }
}

/// Gives up what a chunk has: its events are dropped.
fn empty(chunk: &ChunkHead, dropped: &AtomicU64) {
    let lost = (chunk.progress.load(Relaxed) >> 32).wrapping_add(chunk.folded.load(Relaxed));
    dropped.fetch_add(lost, Relaxed);
    switch::count_dropped(lost);
    chunk.sequence.store(0, Release);
    chunk.closed.store(0, Release);
    chunk.progress.store(0, Release);
    // A reader that is at it: what is stored from here on is not to be seen with what was there before.
    fence(Release);
    chunk.folded.store(0, Relaxed);
}
