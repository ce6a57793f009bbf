//! On and off; where the files are.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::format::{CHUNK_BYTES, HEAD_BYTES, KIND_MARKER, KIND_REGION_BEGIN, KIND_REGION_END, Reason};
use super::{fold, note, writer};
use crate::output::OutputDir;
use crate::recorder::consumers;
use crate::segment::layout::{HEADER_BYTES, Header, REGION_BYTES, RegionHead};
use crate::segment::{Mapping, SegmentShape};

/// Zero: each recorded call gets an event. All ones: none, or those that `fold` picks. A recorded call of a short
/// routine tests its countdown under this mask: being able to trace costs it nothing.
static MASK: AtomicU32 = AtomicU32::new(u32::MAX);
/// Whether there is a place for events; whether each call gets one.
static ATTACHED: AtomicBool = AtomicBool::new(false);
static FULL: AtomicBool = AtomicBool::new(false);
static JOB: OnceLock<Job> = OnceLock::new();

/// Where symmetric memory is in this process: (first address, bytes).
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The symmetric heap.
    pub heap: (usize, usize),
    /// Static objects.
    pub data: (usize, usize),
}

/// How to trace.
#[derive(Debug)]
pub struct Config {
    /// Directory of the files.
    pub directory: OutputDir,
    /// Bytes that each thread's file may have.
    pub bytes: u64,
    /// Whether events are written from now on, or from [`set`] on.
    pub on: bool,
    /// Whether each call has times of its own.
    pub full: bool,
}

/// What every file of this process says.
pub(super) struct Job {
    pub(super) directory: OutputDir,
    /// A forked child writes to no file of its parent's.
    pub(super) process: u32,
    pub(super) chunks: u32,
    pub(super) memory: Memory,
    pub(super) pe: u32,
    pub(super) header: &'static Header,
    /// Reports go out once a job, not once a PE.
    reported: &'static AtomicU32,
    /// [`RegionHead::trace_dropped`].
    dropped: &'static AtomicU64,
    /// Calls of threads that have no file.
    lost: AtomicU64,
}

pub(super) fn job() -> Option<&'static Job> {
    JOB.get()
}

/// Makes this process one that can trace. `fd` is the profile segment that the recorder is attached to. Once a process;
/// later calls change nothing but the switch.
///
/// # Errors
/// What the system answered, and `InvalidInput` for a bound that is less than one chunk. The PE runs on without a
/// trace.
pub fn attach(fd: RawFd, pe: u32, config: Config, memory: Memory) -> io::Result<()> {
    let chunks = config.bytes.saturating_sub(HEAD_BYTES as u64) / CHUNK_BYTES as u64;
    if chunks == 0 {
        let message = format!("a trace file of {} bytes has no room for a chunk of {CHUNK_BYTES}", config.bytes);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let facts = SegmentShape::read(fd)?;
    let mapping = Mapping::new(fd, 0, HEADER_BYTES, true)?;
    // SAFETY: `SegmentShape::read` found a whole header; the mapping is page-aligned and never unmapped; all fields are
    // atomics.
    let header = unsafe { &*mapping.leak().cast::<Header>() };
    let at = pe.checked_sub(facts.first_pe).filter(|&at| at < facts.local_pes);
    let at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("PE {pe} does not record here")))?;
    let mapping = Mapping::new(fd, HEADER_BYTES + at as usize * REGION_BYTES, size_of::<RegionHead>(), true)?;
    // SAFETY: as for the header; a region begins with its head.
    let region = unsafe { &*mapping.leak().cast::<RegionHead>() };
    let job = Job {
        directory: config.directory,
        process: std::process::id(),
        chunks: u32::try_from(chunks).unwrap_or(u32::MAX),
        memory,
        pe,
        header,
        reported: &header.trace_reported,
        dropped: &region.trace_dropped,
        lost: AtomicU64::new(0),
    };
    if JOB.set(job).is_ok() {
        FULL.store(config.full, Relaxed);
        ATTACHED.store(true, Relaxed);
    }
    set(config.on);
    Ok(())
}

/// Whether this process can trace.
pub fn is_attached() -> bool {
    job().is_some()
}

/// Switches tracing on or off; gives whether it is on now. It stays off where [`attach`] was not called: there is
/// nowhere to write to. Only calls that are recorded are traced: at profile level 0 there are none.
pub fn set(on: bool) -> bool {
    let on = on && is_attached();
    if on == is_on() {
        return on;
    }
    if on {
        fold::GENERATION.fetch_add(1, Relaxed);
    }
    let slot = is_attached().then(crate::recorder::own_slot).flatten();
    if let Some((slot, now)) = slot.filter(|_| !on) {
        fold::switched(slot, false, now);
    }
    MASK.store(if on && is_full() { 0 } else { u32::MAX }, Relaxed);
    consumers::set(consumers::TRACE, on);
    if is_full() {
        crate::arm::refresh();
    }
    if let Some((slot, now)) = slot.filter(|_| on) {
        fold::switched(slot, true, now);
    }
    on
}

/// The process ends: nothing more is traced, and its files get their checksums. Those of threads that still run are
/// left to the launcher.
pub fn close() {
    if job().is_some_and(|job| job.process == std::process::id()) {
        set(false);
        writer::close();
    }
}

/// Whether each call gets an event, while tracing is on.
#[inline(always)]
pub(super) fn is_full() -> bool {
    FULL.load(Relaxed)
}

/// As [`is_attached`], for calls.
#[inline(always)]
pub(super) fn is_attached_fast() -> bool {
    ATTACHED.load(Relaxed)
}

/// Whether events are written.
#[inline(always)]
pub fn is_on() -> bool {
    consumers::is(consumers::TRACE)
}

/// Whether every call gets an event now.
#[inline(always)]
pub(crate) fn takes_all() -> bool {
    mask() == 0
}

/// Zero while each call gets an event, else all ones.
#[inline(always)]
pub(crate) fn mask() -> u32 {
    MASK.load(Relaxed)
}

/// A region of the program begins; it shows up as a span around the calls in it. Does nothing while tracing is off.
pub fn region_begin(name: &str) {
    if is_on() {
        note::note(KIND_REGION_BEGIN, name, 0);
    }
}

/// The region of this name ends.
pub fn region_end(name: &str) {
    if is_on() {
        note::note(KIND_REGION_END, name, 0);
    }
}

/// A marker with a value.
pub fn marker(name: &str, value: i64) {
    if is_on() {
        note::note(KIND_MARKER, name, value);
    }
}

/// Counts a call whose thread has no file.
#[cold]
pub(crate) fn lost() {
    let Some(job) = job() else { return };
    if job.lost.fetch_add(1, Relaxed) == 0 {
        writer::open_shared(job);
    }
    writer::count_shared(1, Reason::NoSlot);
}

/// Counts events that are not there where metrics are read from.
#[cold]
pub(super) fn count_dropped(events: u64) {
    if let Some(job) = job().filter(|_| events > 0) {
        job.dropped.fetch_add(events, Relaxed);
    }
}

impl Job {
    /// Says once a job that something is lost.
    pub(super) fn report(&self, what: &str) {
        static SAID: AtomicBool = AtomicBool::new(false);
        if SAID.swap(true, Relaxed) || self.reported.fetch_add(1, Relaxed) != 0 {
            return;
        }
        crate::say!(
            "pellucid: PE {}: trace: {what}; the program runs on, events without room are dropped and counted",
            self.pe
        );
    }
}
