//! The job's memory file on one host: a header, one slot and one page of values for each PE of the host, and behind
//! them what the PEs lay out together ([`crate::memory`]).
//!
//! The launcher creates it (or, under another's launcher, the first PE of the host) and reads from it how PEs end; the
//! PEs meet in it.
#![allow(unsafe_code)]

mod losses;

pub use losses::Loss;

use super::common::CommonSettings;
use super::key_values::KeyValues;
use super::last_words::LastWords;
use super::round::Round;
use super::spare::Spare;
use crate::base::{Cause, Fault};
use crate::os::alive::Alive;
use crate::os::crash::{CrashRecord, Crashed};
use crate::os::other::{self, Ended};
use crate::os::own_fd::{Known, OwnFd};
use crate::os::{cgroup, cpu, futex, library, mmap, wait};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

const MAGIC: u64 = u64::from_le_bytes(*b"PELLUCID");
/// Changes with every change of the layout: launcher and library must agree.
const VERSION: u32 = 14;
/// This release. What else launcher and library share has layouts too, so they have to be of one release.
const RELEASE: [u8; 24] = release();
/// Bytes of one PE's slot.
const SLOT: usize = 512;
/// Set in a slot's status.
const LEFT: u32 = 1 << 31;

#[repr(C)]
struct Header {
    // These three stay where they are in every version, so that each can tell what it has before it.
    magic: u64,
    version: u32,
    release: [u8; 24],
    /// Slots, for PEs `first` to `first + local - 1`.
    local: u32,
    first: u32,
    /// PEs of the whole job.
    npes: u32,
    /// CPUs that the launcher may use.
    cpus: u32,
    /// 0 none, else a [`ExitKind`] in the making: whoever moves it from 0 fills the rest.
    exit_claimed: AtomicU32,
    exit_kind: AtomicU32,
    exit_status: AtomicI32,
    exit_pe: AtomicI32,
    /// The start-up barrier: arrivals of this round, and completed rounds.
    arrived: AtomicU32,
    rounds: AtomicU32,
    /// The signal by which the user asked for the end of the job; 0: none.
    interrupted: AtomicI32,
    /// See [`super::last_words`].
    speaker: AtomicU32,
    /// Bytes of the file that are laid out.
    laid_out: AtomicU64,
    /// Nonzero: the job goes on without PEs that are lost.
    survives: AtomicU32,
    /// How many are.
    losses: AtomicU32,
    /// The PE, counted from 1, that ends the job with its crash and has not said so yet; 0: none.
    unsaid: AtomicU32,
}

#[repr(C)]
struct Slot {
    pid: AtomicI32,
    state: AtomicU32,
    heap: AtomicU64,
    data: AtomicU64,
    executable: AtomicU64,
    /// See [`CommonSettings`].
    settings: AtomicU64,
    /// In which [`other::namespace`] `pid` is.
    namespace: AtomicU64,
    /// The signal by which it crashes; 0: none.
    crash: AtomicU32,
    /// [`LEFT`] and the status with which it has begun to end without finalize; 0: it has not.
    left: AtomicU32,
    /// Nonzero: its `main` has returned, or it has called `exit`, without finalize.
    unasked: AtomicU32,
    /// Where it crashed.
    place: CrashRecord,
    /// The NUMA node that it is at home on.
    node: AtomicU32,
    /// Held by a thread of the PE, where somebody wants to know.
    alive: Alive,
    affinity: [AtomicU64; cpu::MASK_WORDS],
}

/// The version of the package, padded.
const fn release() -> [u8; 24] {
    let (name, mut bytes) = (env!("CARGO_PKG_VERSION").as_bytes(), [0; 24]);
    assert!(name.len() <= bytes.len());
    let mut at = 0;
    while at < name.len() {
        bytes[at] = name[at];
        at += 1;
    }
    bytes
}

/// Lies in this library.
static RELEASE_MARK: u8 = 0;

/// A release as people write it. It may come from anywhere.
fn text(release: &[u8]) -> String {
    let end = release.iter().position(|byte| *byte == 0).unwrap_or(release.len());
    release[..end].escape_ascii().to_string()
}

/// Bytes of the header, of the values of a PE, and of its last words.
const PART: usize = 4096;

const _: () = assert!(size_of::<Header>() <= PART && size_of::<Slot>() <= SLOT);
const _: () = assert!(size_of::<KeyValues>() <= PART && align_of::<KeyValues>() <= PART);
const _: () = assert!(size_of::<LastWords>() == PART);

/// How far a PE has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeState {
    /// It has not called `shmem_init` (it may be no OpenSHMEM program).
    NotStarted,
    /// Between `shmem_init` and the last `shmem_finalize`.
    Initialized,
    /// In the last `shmem_finalize`: it waits for others that have not called it, or has met them all.
    Finalizing,
    /// After the last `shmem_finalize`.
    Finalized,
    /// It ended the job because of a fault and said so.
    Failed,
}

/// Why the job is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// `shmem_global_exit`.
    GlobalExit,
    /// A fault, reported by the PE itself.
    Failed,
}

/// A PE asked for the end of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitRequest {
    /// Who.
    pub pe: i32,
    /// Exit status of the job.
    pub status: i32,
    /// Why.
    pub kind: ExitKind,
}

/// A mapped job file.
pub struct Job {
    fd: OwnFd,
    base: *mut u8,
    first: u32,
    local: u32,
    npes: u32,
    /// Parts of the file that this process has taken, and needs no more.
    spare: Spare,
}

// SAFETY: everything behind `base` is atomic or constant after creation.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// A new job file for the PEs `pes` of a job of `npes`, as the launcher makes it.
    pub fn create(pes: Range<u32>, npes: u32) -> std::io::Result<Self> {
        Self::new(pes, npes).map_err(std::io::Error::other)
    }

    /// As [`Self::create`], made by a PE: its own CPUs say nothing of what the launcher has, but it is in the same
    /// control group.
    pub(crate) fn on_host(pes: Range<u32>, npes: u32) -> Result<Self, Fault> {
        Self::with_cpus(pes, npes, cgroup::cpu_quota().unwrap_or(u32::MAX))
    }

    pub(crate) fn new(pes: Range<u32>, npes: u32) -> Result<Self, Fault> {
        let cpus = cpu::count(&cpu::affinity());
        Self::with_cpus(pes, npes, cgroup::cpu_quota().map_or(cpus, |quota| cpus.min(quota)))
    }

    fn with_cpus(pes: Range<u32>, npes: u32, cpus: u32) -> Result<Self, Fault> {
        let (first, local) = (pes.start, pes.end - pes.start);
        let fd = mmap::memfd(c"pellucid-job")?;
        let len = control_bytes(local, npes);
        mmap::grow(fd.as_raw_fd(), len)?;
        let base = mmap::shared(fd.as_raw_fd(), 0, len, None)?;
        // SAFETY: the mapping is a page at least, zeroed, and known to no one else yet.
        unsafe {
            let header = base.cast::<Header>();
            (*header).magic = MAGIC;
            (*header).version = VERSION;
            (*header).release = RELEASE;
            (*header).local = local;
            (*header).first = first;
            (*header).npes = npes;
            (*header).cpus = cpus;
        }
        Ok(Self { fd: OwnFd::new(fd), base, first, local, npes, spare: Spare::default() })
    }

    /// The job file that a launcher handed to this process.
    pub(crate) fn open(fd: OwnedFd) -> Result<Self, Fault> {
        let wrong = |what: &str| {
            Fault::from(Cause::Startup(format!(
                "the launcher's job file {what}: oshrun and libsma must be of one version"
            )))
        };
        let other = |version: u32, release: &[u8]| {
            Fault::from(Cause::Startup(format!(
                "this job was begun by Pellucid {} (layout {version}), and this program has Pellucid {} (layout \
                 {VERSION}) from {}: \
                 start it with the oshrun that was installed with its library, and see that LD_LIBRARY_PATH, which is \
                 searched before the path in the program, names no other one's",
                text(release),
                text(&RELEASE),
                library::path_of((&raw const RELEASE_MARK).cast()).unwrap_or_else(|| "its executable".into()),
            )))
        };
        // SAFETY: a zeroed stat is a valid value.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: stat is writable.
        if unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) } != 0 || (stat.st_size as usize) < PART {
            return Err(wrong("cannot be read"));
        }
        let page = mmap::shared(fd.as_raw_fd(), 0, PART, None)?;
        // SAFETY: the header of the file exists (size checked above) and is mapped.
        let (magic, version, release, first, local, npes) = unsafe {
            let header = page.cast::<Header>();
            let numbers = ((*header).first, (*header).local, (*header).npes);
            ((*header).magic, (*header).version, (*header).release, numbers.0, numbers.1, numbers.2)
        };
        // SAFETY: the header was mapped above and is not used any more.
        unsafe { libc::munmap(page.cast(), PART) };
        if magic != MAGIC {
            return Err(wrong("has another format"));
        }
        if version != VERSION || release != RELEASE {
            return Err(other(version, &release));
        }
        if local == 0 || (stat.st_size as usize) < control_bytes(local, npes) {
            return Err(wrong("is too short"));
        }
        let base = mmap::shared(fd.as_raw_fd(), 0, control_bytes(local, npes), None)?;
        Ok(Self { fd: OwnFd::new(fd), base, first, local, npes, spare: Spare::default() })
    }

    /// The file, to be inherited by PEs; none ([`crate::os::own_fd::NONE`]) where the program has closed it.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// As [`Self::fd`], for where that has to be asked for anew.
    pub(crate) fn known(&self) -> Known {
        self.fd.known()
    }

    /// PEs of the job, on all hosts.
    pub fn npes(&self) -> u32 {
        self.npes
    }

    /// PEs of this host.
    pub fn pes(&self) -> Range<u32> {
        self.first..self.first + self.local
    }

    /// CPUs that the launcher had for the job.
    pub(crate) fn cpus(&self) -> u32 {
        self.header().cpus
    }

    /// Bytes of header and slots: where the PEs' own layout begins.
    pub(crate) fn control_bytes(&self) -> usize {
        control_bytes(self.local, self.npes)
    }

    fn header(&self) -> &Header {
        // SAFETY: mapped for as long as self lives; plain fields do not change after creation.
        unsafe { &*self.base.cast() }
    }

    /// The slot of a PE of this host. Panics where `pe` is none of [`Self::pes`].
    pub fn pe(&self, pe: u32) -> Pe<'_> {
        assert!(self.pes().contains(&pe));
        // SAFETY: slots lie behind the header, one for each PE of the host; all fields are atomic.
        Pe(unsafe { &*self.base.add(PART + (pe - self.first) as usize * SLOT).cast() })
    }

    /// The values of a PE of this host. Panics where `pe` is none of [`Self::pes`].
    pub(super) fn key_values(&self, pe: u32) -> &KeyValues {
        assert!(self.pes().contains(&pe));
        // SAFETY: a part for each PE of the host lies behind the slots; all fields are atomic.
        unsafe { &*self.base.add(slots_end(self.local) + (pe - self.first) as usize * PART).cast() }
    }

    /// What a PE of this host has to say before it ends the job. Panics where `pe` is none of [`Self::pes`].
    pub(super) fn last_words(&self, pe: u32) -> &LastWords {
        assert!(self.pes().contains(&pe));
        let at = slots_end(self.local) + (self.local + pe - self.first) as usize * PART;
        // SAFETY: a part for each PE of the host lies behind the values; all fields are atomic.
        unsafe { &*self.base.add(at).cast() }
    }

    /// Who says what the PEs of this host have to say: the number of a PE plus 1.
    pub(super) fn speaker(&self) -> &AtomicU32 {
        &self.header().speaker
    }

    /// The file is laid out up to here, as all PEs of the host find.
    pub(crate) fn lay_out(&self, bytes: usize) {
        self.header().laid_out.fetch_max(bytes as u64, Ordering::AcqRel);
    }

    /// Takes bytes of the file, which no other PE has; gives where they begin, at a multiple of `align`.
    pub(crate) fn take(&self, bytes: usize, align: usize) -> Result<usize, Fault> {
        self.spare.take(bytes, align).map_or_else(|| self.take_further(bytes, align), Ok)
    }

    fn take_further(&self, bytes: usize, align: usize) -> Result<usize, Fault> {
        let laid_out = &self.header().laid_out;
        let behind = |at: u64| {
            let end = at.checked_add(bytes as u64)?.checked_add(align as u64)?;
            (end <= libc::off_t::MAX as u64).then_some(end)
        };
        let Ok(at) = laid_out.fetch_update(Ordering::AcqRel, Ordering::Acquire, behind) else {
            return Err(Fault::from(Cause::Startup("the job's memory file cannot be as large".into())));
        };
        let begin = mmap::round_up(at as usize, align);
        mmap::extend(self.fd(), begin + bytes).map(|()| begin).inspect_err(|_| {
            // Whoever has taken more meanwhile keeps what lies before.
            let end = behind(at).unwrap_or(at);
            let _ = laid_out.compare_exchange(end, at, Ordering::AcqRel, Ordering::Acquire);
        })
    }

    /// Gives back what this PE has taken, and nobody uses: it reads as zeros when it is taken again.
    pub(crate) fn give_back(&self, begin: usize, bytes: usize) {
        mmap::release(self.fd(), begin, bytes);
        self.spare.give(begin..begin + bytes);
    }

    /// The same file, mapped once more.
    pub(super) fn again(&self) -> Result<Self, Fault> {
        Self::open(mmap::duplicate(&self.fd)?)
    }

    /// The first request of a PE that the job should end.
    pub fn exit_request(&self) -> Option<ExitRequest> {
        let header = self.header();
        let kind = match header.exit_kind.load(Ordering::Acquire) {
            1 => ExitKind::GlobalExit,
            2 => ExitKind::Failed,
            _ => return None,
        };
        Some(ExitRequest {
            pe: header.exit_pe.load(Ordering::Relaxed),
            status: header.exit_status.load(Ordering::Relaxed),
            kind,
        })
    }

    /// Asks for the end of the job; the first request wins. Gives whether this is the first.
    pub fn request_exit(&self, request: ExitRequest) -> bool {
        let header = self.header();
        if header.exit_claimed.swap(1, Ordering::AcqRel) != 0 {
            return false;
        }
        header.exit_pe.store(request.pe, Ordering::Relaxed);
        header.exit_status.store(request.status, Ordering::Relaxed);
        let kind = if request.kind == ExitKind::GlobalExit { 1 } else { 2 };
        header.exit_kind.store(kind, Ordering::Release);
        true
    }

    /// A PE that ends the job with its crash is about to say so.
    pub(crate) fn set_unsaid(&self, pe: u32) {
        self.header().unsaid.store(pe + 1, Ordering::Release);
    }

    /// Whether the PE has not said of its crash what it was about to say; whoever asks first says it.
    pub(crate) fn take_unsaid(&self, pe: u32) -> bool {
        self.header().unsaid.compare_exchange(pe + 1, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The user has asked for the end of the job with a signal.
    pub fn set_interrupted(&self, signal: i32) {
        self.header().interrupted.store(signal, Ordering::Relaxed);
    }

    /// See [`Self::set_interrupted`].
    pub(crate) fn interrupted(&self) -> Option<i32> {
        Some(self.header().interrupted.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// Waits until every PE of the host has called this as often as the caller.
    pub(crate) fn host_barrier(&self) {
        let header = self.header();
        let meeting = Round { arrived: &header.arrived, rounds: &header.rounds };
        let Some(round) = meeting.arrive(self.local.into()) else {
            futex::wake_all(&header.rounds);
            return;
        };
        let mut backoff = wait::Backoff::new(true);
        for _ in 0..200 {
            if meeting.is_over(round) {
                return;
            }
            backoff.step();
        }
        while !meeting.is_over(round) {
            futex::wait(&header.rounds, round as u32, Duration::from_secs(1));
        }
    }
}

fn slots_end(local: u32) -> usize {
    mmap::round_up(PART + local as usize * SLOT, PART)
}

fn words_end(local: u32) -> usize {
    slots_end(local) + 2 * local as usize * PART
}

fn control_bytes(local: u32, npes: u32) -> usize {
    words_end(local) + mmap::round_up(npes as usize, PART)
}

/// What a PE tells the others and the launcher.
pub struct Pe<'a>(&'a Slot);

impl<'a> Pe<'a> {
    /// Its process, 0 before `shmem_init`.
    pub fn pid(&self) -> i32 {
        self.0.pid.load(Ordering::Acquire)
    }

    /// How far it has come.
    pub fn state(&self) -> PeState {
        match self.0.state.load(Ordering::Acquire) {
            0 => PeState::NotStarted,
            1 => PeState::Initialized,
            2 => PeState::Finalizing,
            3 => PeState::Finalized,
            _ => PeState::Failed,
        }
    }

    pub(crate) fn set_state(&self, state: PeState) {
        self.0.state.store(state as u32, Ordering::Release);
    }

    /// Takes the slot for this process. Error: the process that has it already.
    pub(crate) fn claim(&self, pid: i32) -> Result<(), i32> {
        match self.0.pid.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                self.0.namespace.store(other::namespace(), Ordering::Release);
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    /// Whether it has said which process it is.
    pub(crate) fn is_placed(&self) -> bool {
        self.0.namespace.load(Ordering::Acquire) != 0
    }

    /// Whether this process sees the PE's process under its [`Self::pid`].
    pub fn is_visible(&self) -> bool {
        self.0.namespace.load(Ordering::Acquire) == other::namespace()
    }

    /// Where the signal of a crash is noted.
    pub(crate) fn crash(&self) -> &'a AtomicU32 {
        &self.0.crash
    }

    /// What tells of its end before its files are closed.
    pub(crate) fn alive(&self) -> &'a Alive {
        &self.0.alive
    }

    /// Where the place of a crash is noted.
    pub(crate) fn crash_record(&self) -> &'a CrashRecord {
        &self.0.place
    }

    /// Where it crashed, as it has noted.
    pub fn crashed_at(&self) -> Option<Crashed> {
        self.0.place.read()
    }

    /// Its `main` has returned, or it has called `exit`, without finalize: that is done for it.
    pub(crate) fn set_unasked(&self) {
        self.0.unasked.store(1, Ordering::Release);
    }

    /// See [`Self::set_unasked`].
    pub fn is_unasked(&self) -> bool {
        self.0.unasked.load(Ordering::Acquire) != 0
    }

    /// It begins to end with this status, without finalize.
    pub(crate) fn set_left(&self, status: i32) {
        self.0.left.store(LEFT | (status as u32 & 0xff), Ordering::Release);
    }

    /// How it says itself that it ends before its time; `None`: it has said nothing.
    pub(crate) fn ended(&self) -> Option<Ended> {
        let (signal, left) = (self.0.crash.load(Ordering::Acquire), self.0.left.load(Ordering::Acquire));
        match (signal, left) {
            (0, 0) => None,
            (0, _) => Some(Ended::Exited((left & 0xff) as i32)),
            _ => Some(Ended::Killed(signal as i32)),
        }
    }

    /// Publishes sizes and CPUs before the first meeting; `data`: bytes of the data segment, and of which executable
    /// ([`crate::os::elf::build_id`]).
    pub(crate) fn publish(
        &self,
        heap: u64,
        (data, executable): (u64, u64),
        settings: CommonSettings,
        affinity: &[u64; cpu::MASK_WORDS],
    ) {
        self.0.settings.store(settings.0, Ordering::Relaxed);
        self.0.heap.store(heap, Ordering::Relaxed);
        self.0.data.store(data, Ordering::Relaxed);
        self.0.executable.store(executable, Ordering::Relaxed);
        for (to, from) in self.0.affinity.iter().zip(affinity) {
            to.store(*from, Ordering::Relaxed);
        }
    }

    /// The NUMA node that it is at home on.
    pub(crate) fn node(&self) -> u32 {
        self.0.node.load(Ordering::Relaxed)
    }

    /// See [`Self::node`]; before the first meeting.
    pub(crate) fn set_node(&self, node: u32) {
        self.0.node.store(node, Ordering::Relaxed);
    }

    /// Bytes of symmetric heap it asked for.
    pub(crate) fn heap(&self) -> u64 {
        self.0.heap.load(Ordering::Relaxed)
    }

    /// Bytes of its data segment, and of which executable.
    pub(crate) fn data(&self) -> (u64, u64) {
        (self.0.data.load(Ordering::Relaxed), self.0.executable.load(Ordering::Relaxed))
    }

    /// What its environment asks for.
    pub(crate) fn settings(&self) -> CommonSettings {
        CommonSettings(self.0.settings.load(Ordering::Relaxed))
    }

    /// CPUs it may run on.
    pub(crate) fn affinity(&self) -> [u64; cpu::MASK_WORDS] {
        std::array::from_fn(|i| self.0.affinity[i].load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests;
