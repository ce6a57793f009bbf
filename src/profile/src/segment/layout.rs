//! The memory layout of a profile segment. It is shared between processes: every type is `repr(C)` with asserted size.
//!
//! ```text
//! segment   Header | Region of the first local PE | Region of the next PE | ...
//! region    RegionHead | Names | Releases | Slot 0 | Slot 1 | ... | Slot 255 | shared slot
//! slot      SlotHead | a Cell per operation | ThreadTables (peers, call sites, ...) | Rows
//! ```
//!
//! Everything is sparse: a page that nobody wrote takes no memory. A slot belongs to one thread at a time, which alone
//! writes to it with plain stores; the shared slot serves threads that found no free slot, with atomic additions. Each
//! 64-bit word is read whole, but a reader that looks while the owner writes may see one word of a cell from before a
//! call and the next from after it.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::locks::Releases;
use super::names::Names;
use super::tables::ThreadTables;
use crate::histogram::BUCKETS;
use crate::op::{MAX_OPS, SAMPLED_BYTES, SAMPLED_BYTES_ON_HOST};
use crate::size::{DISTANCES, Distance, SIZE_CLASSES, size_class};

/// First eight bytes of a segment.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PELLPROF");
/// Version of this layout. Readers and writers of another version refuse the segment.
pub const VERSION: u32 = 43;

/// Threads of a PE that can record into a slot of their own at the same time.
pub const SLOTS: usize = 256;
/// Bytes of a slot: what profiling one thread can take at most.
pub const SLOT_BYTES: usize = 9 << 19;
/// Bytes of a page on most machines.
const PAGE: usize = 4096;
/// Bytes of a slot before what keeps its rows where pages begin.
const BEFORE_PAD: usize = size_of::<SlotHead>() + MAX_OPS * size_of::<Cell>() + size_of::<ThreadTables>();
/// Bytes before the rows of a slot: see [`Row`].
const BEFORE_ROWS: usize = (BEFORE_PAD + Row::BEFORE_PAGE).next_multiple_of(PAGE) - Row::BEFORE_PAGE;
/// Histogram rows of a slot.
pub const ROWS: usize = (SLOT_BYTES - BEFORE_ROWS) / size_of::<Row>();

/// Distributed locks that a PE can hold and be seen to hold.
pub const LOCKS: usize = 16;

/// Numbers of [`RegionHead::usage`].
pub const USAGE: usize = 5;

/// [`Cell::row`]: no row yet.
pub const ROW_NONE: u32 = 0;
/// [`Cell::row`]: the row that all operations share when a slot has no rows left.
pub const ROW_OVERFLOW: u32 = 1;

/// Text that another process may read while it is written: NUL-terminated, cut at the field's size.
#[derive(Debug)]
#[repr(transparent)]
pub struct Text<const N: usize>([AtomicU8; N]);

impl<const N: usize> Text<N> {
    /// Replaces the text, cut to the field at a character boundary.
    pub fn set(&self, text: &str) {
        let bytes = Self::cut(text).bytes().chain(std::iter::repeat(0));
        self.0.iter().zip(bytes).for_each(|(cell, byte)| cell.store(byte, Relaxed));
    }

    /// Whether this is the text.
    pub fn is(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let ends = bytes.len() == N || self.0.get(bytes.len()).is_some_and(|byte| byte.load(Relaxed) == 0);
        ends && self.0.iter().zip(bytes).all(|(mine, theirs)| mine.load(Relaxed) == *theirs)
    }

    /// Whether this is what [`Self::set`] makes of the text.
    pub fn is_cut(&self, text: &str) -> bool {
        self.is(Self::cut(text))
    }

    /// What of a text fits.
    fn cut(text: &str) -> &str {
        let mut end = text.len().min(N - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    }

    /// The text; bytes that are not UTF-8 are replaced.
    pub fn get(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().map(|b| b.load(Relaxed)).take_while(|&b| b != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// First page of a segment: written by its creator before anyone else sees it.
#[repr(C, align(4096))]
pub struct Header {
    /// [`MAGIC`], written last.
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// PEs of the job, on all hosts.
    pub npes: AtomicU32,
    /// World number of the first PE with a region here.
    pub first_pe: AtomicU32,
    /// PEs with a region here.
    pub local_pes: AtomicU32,
    /// Rows of the operation table.
    pub ops: AtomicU32,
    /// [`crate::clock::Source`] of all time stamps.
    pub clock_source: AtomicU32,
    /// Hash of the operation table's names.
    pub ops_hash: AtomicU64,
    /// Nanoseconds per tick, times 2^32.
    pub clock_mult: AtomicU64,
    /// Ticks of an empty interval.
    pub clock_overhead: AtomicU64,
    /// Time of creation in ticks: zero of the job's time line.
    pub start_ticks: AtomicU64,
    /// Time of creation in nanoseconds since 1970.
    pub start_realtime: AtomicU64,
    /// Process that has started the job, on the host where that was: with [`Self::start_realtime`], what tells jobs
    /// apart.
    pub launcher_pid: AtomicU32,
    /// Process id of the creator, on this host: its end is that of the job here.
    pub maker_pid: AtomicU32,
    /// Processes that had a loss in their trace to report: the first one speaks for all.
    pub trace_reported: AtomicU32,
    /// Nonzero: short calls are counted by operation only.
    pub counts_only: AtomicU32,
    /// Nonzero: nobody wants a profile of this job. Long waits are shown all the same.
    pub off: AtomicU32,
    /// Nonzero: the job goes on without PEs that are killed.
    pub survives: AtomicU32,
    /// Nonzero: the profile is written for the last time, by one of its PEs. No snapshot takes the place of that.
    pub is_ending: AtomicU32,
    /// Nonzero: the creator answers [`Self::flush_wanted`].
    pub flush_served: AtomicU32,
    /// Snapshots that PEs have asked for. A futex.
    pub flush_wanted: AtomicU32,
    /// The last of them that has been written. A futex.
    pub flush_done: AtomicU32,
    /// Where PEs that no launcher of ours has started write the profile and the trace: number and token of
    /// [`crate::output::Claim`] each. Zeros: nowhere, or each PE sees to it by itself.
    pub claims: [[AtomicU64; 2]; 2],
    /// Host of the creator.
    pub host: Text<64>,
    /// Program of the job.
    pub program: Text<512>,
    /// Its arguments: [`crate::text::arguments`].
    pub arguments: Text<1024>,
    /// Working directory of the creator.
    pub directory: Text<512>,
    /// Who the job is: [`crate::model::JobIdentity`].
    pub job_id: Text<256>,
    /// See `job_id`.
    pub job_step: Text<64>,
    /// See `job_id`.
    pub launcher: Text<64>,
    /// What its PEs communicate through, by the library's name of it. Empty until they have begun.
    pub transport: Text<64>,
    /// The status with which one of the PEs has ended the job by itself, plus 1; 0: none has.
    pub ended_with: AtomicU32,
}

/// State of a PE in [`RegionHead::state`]: nothing attached yet.
pub const PE_ABSENT: u32 = 0;
/// The PE is attached and records.
pub const PE_ATTACHED: u32 = 1;
/// The PE finished initialization.
pub const PE_INITIALIZED: u32 = 2;
/// The PE finished finalization.
pub const PE_FINALIZED: u32 = 3;

/// First page of a PE's region.
#[repr(C, align(4096))]
pub struct RegionHead {
    /// One of the `PE_` states.
    pub state: AtomicU32,
    /// World number.
    pub pe: AtomicU32,
    /// Process id.
    pub pid: AtomicU32,
    /// Profiling level in force.
    pub level: AtomicI32,
    /// Highest level ever in force.
    pub max_level: AtomicI32,
    /// How often the level changed after it was first set.
    pub level_changes: AtomicU32,
    /// Threads that ever claimed a slot.
    pub threads: AtomicU32,
    /// Slots that were ever used: those below this number.
    pub slots_used: AtomicU32,
    /// Ticks between initialization and finalization in which the level was 0, but for those since
    /// [`Self::off_since`].
    pub off_ticks: AtomicU64,
    /// Since when the level is 0 there, in ticks; 0: it is not.
    pub off_since: AtomicU64,
    /// Time of attaching, in ticks.
    pub attach_ticks: AtomicU64,
    /// Time at which initialization ended, in ticks; 0 before.
    pub init_ticks: AtomicU64,
    /// Time at which finalization began, in ticks; 0 before.
    pub finalize_ticks: AtomicU64,
    /// Time at which finalization ended, in ticks; 0 before.
    pub end_ticks: AtomicU64,
    /// Calls recorded in the shared slot.
    pub shared_calls: AtomicU64,
    /// What timing a sample takes, in ticks times 256: included in the samples, to be subtracted from their mean.
    pub sample_overhead: AtomicU64,
    /// What counting a sampled call takes, in ticks times 256, measured at the start.
    pub call_cost: AtomicU64,
    /// What counting and timing a timed call takes, in ticks times 256, measured at the start.
    pub timed_cost: AtomicU64,
    /// As [`Self::call_cost`], of atomic operations.
    pub amo_cost: AtomicU64,
    /// As [`Self::call_cost`], of copies of a kilobyte or more.
    pub copy_cost: AtomicU64,
    /// Ends of regions that were not open, begins beyond the deepest nesting, names beyond the table, and regions and
    /// markers of threads without a slot.
    pub region_errors: AtomicU32,
    /// Processors' worth of time that the PE's control group may take; 0: no limit.
    pub quota: AtomicU32,
    /// Host of the PE.
    pub host: Text<64>,
    /// First address and bytes of the symmetric heap, then of the static objects: the same object has the same offset
    /// on every PE.
    pub memory: [AtomicU64; 4],
    /// Bytes in objects of the symmetric heap.
    pub heap_used: AtomicU64,
    /// The most there ever were.
    pub heap_most: AtomicU64,
    /// Addresses of the distributed locks that the PE holds; 0: free place.
    pub locks: [AtomicU64; LOCKS],
    /// Processors that the host's PEs may take between them, and those that the PE may run on.
    pub cores: AtomicU32,
    /// See [`Self::cores`].
    pub allowed: AtomicU32,
    /// What the kernel counted for the process at the last look, in the order of [`crate::tables::Usage`].
    pub usage: [AtomicU64; USAGE],
    /// When that was, in ticks.
    pub usage_at: AtomicU64,
    /// The same when it was initialized, and what was added while the level was 0.
    pub usage_before: [AtomicU64; USAGE],
    /// Events that its trace does not have: overwritten, without room, or of threads without a file.
    pub trace_dropped: AtomicU64,
    /// Where the first of the calls that [`Self::region_errors`] counts returns to; 0 where that is not known.
    pub region_error: AtomicU64,
    /// Calls that could not be carried out, by the code of their error without its sign.
    pub errors: [AtomicU64; ERRORS],
    /// Calls of `pshmem_X` that came from the executable and not out of a tool's `shmem_X`.
    pub left_out: AtomicU64,
    /// How long the process had stood in a run queue when it attached, in nanoseconds; 0 where that is not known.
    pub queued_before: AtomicU64,
    /// What asking an interpreter for the lines of its script has taken, in nanoseconds.
    pub script_ns: AtomicU64,
}

/// Codes of errors that are counted apart; the last stands for those beyond.
pub const ERRORS: usize = 24;

/// Bit in [`Current::word`], low half: a timed operation is running.
pub const STATE_INSIDE: u64 = 1;
/// The timed operation has returned.
pub const STATE_DONE: u64 = 2;
/// A sampled operation was entered; whether it has returned is not recorded.
pub const STATE_ENTERED: u64 = 3;

/// Bit in [`Current::word`]: the call is counted when it comes to wait, or at its end.
pub const NOT_COUNTED: u64 = 1 << 24;
/// Bit in [`Current::word`]: when the call ends is kept.
pub const END_KEPT: u64 = 1 << 25;
/// Bit in [`Current::word`]: a short call that the probe entered, so that its peer is told.
pub const PROBED: u64 = 1 << 26;

/// What a thread does now.
#[repr(C)]
pub struct Current {
    /// Operation id (bits 0 to 15), one of the `STATE_` values (16 to 23), [`NOT_COUNTED`], [`END_KEPT`], [`PROBED`],
    /// peer (32 to 63).
    pub word: AtomicU64,
    /// Address argument of the last timed operation, or of the last sample.
    pub addr: AtomicU64,
    /// Bytes of the last timed operation.
    pub bytes: AtomicU64,
    /// Start of the last timed operation, in ticks.
    pub start: AtomicU64,
}

/// Builds [`Current::word`].
#[inline(always)]
pub const fn current_word(op: u16, state: u64, peer: i32) -> u64 {
    (op as u64) | (state << 16) | ((peer as u32 as u64) << 32)
}

/// The `STATE_` value in a [`Current::word`].
#[inline(always)]
pub const fn state_of(word: u64) -> u64 {
    word >> 16 & 0xff
}

/// [`SlotHead::owner`] of a slot that is free.
pub const OWNER_NONE: u32 = 0;

/// Head of a thread's slot. The first 64 bytes are all that a sampled call needs.
#[repr(C, align(128))]
pub struct SlotHead {
    /// Current operation.
    pub current: Current,
    /// World number of the PE.
    pub pe: AtomicI32,
    /// First PE of this host.
    pub first_local: AtomicI32,
    /// PEs of this host.
    pub local_pes: AtomicU32,
    /// [`crate::clock::Source`].
    pub clock_source: AtomicU32,
    /// Nanoseconds per tick, times 2^32.
    pub clock_mult: AtomicU64,
    /// Ticks of an empty interval.
    pub clock_overhead: AtomicU64,
    /// Thread id of the owner, [`OWNER_NONE`] when free.
    pub owner: AtomicU32,
    /// Rows given out.
    pub rows_used: AtomicU32,
    /// When the present time slice ends, or it is time to look at what is loaded, in ticks: the first timed call that
    /// returns after it does. 0 where time stamps are not of the processor's counter.
    pub slice_end: AtomicU64,
    /// State of the generator that draws sampling gaps.
    pub random: AtomicU64,
    /// The innermost open region of the thread, where call-site keys have it (see [`super::sites::key`]).
    pub region_key: AtomicU64,
    /// When the innermost region last changed, in ticks.
    pub region_since: AtomicU64,
    /// Regions open, one in another.
    pub region_depth: AtomicU32,
    /// The call site of the timed call that runs, or ran last: an index of [`super::tables::ThreadTables::sites`].
    pub site: AtomicU32,
    /// When the first nonblocking operation since the last completion was issued, in ticks; 0: none is open, or they
    /// are not timed.
    pub nbi_since: AtomicU64,
    /// Time of calls so far, in nanoseconds: of those that were timed, and what samples claim for others.
    pub claimed_ns: AtomicU64,
}

/// Counters of one operation in one slot.
#[repr(C, align(128))]
pub struct Cell {
    /// Calls by distance that are not counted in the size classes of the row.
    pub calls: [AtomicU64; DISTANCES],
    /// Their bytes by distance, where they do not follow from the calls: [`crate::op::bytes_of_calls`]. Those without a
    /// peer have those of flows by size class added: a trace wants to know them at once.
    pub bytes: [AtomicU64; DISTANCES],
    /// Sampled calls until the next one is timed.
    pub countdown: AtomicU32,
    /// Calls that the next sample stands for, and in the two highest bits what has been done for it.
    pub gap: AtomicU32,
    /// Number of the row, [`ROW_NONE`] or [`ROW_OVERFLOW`].
    pub row: AtomicU32,
    /// Coming calls that may each be timed, because the calls before them were long.
    pub credit: AtomicU32,
    /// Calls that reported failure.
    pub errors: AtomicU64,
    /// Calls that were timed and stand for themselves only.
    pub exact_calls: AtomicU64,
    /// Their time in nanoseconds.
    pub exact_ns: AtomicU64,
    /// Calls that were timed as samples.
    pub samples: AtomicU64,
    /// Calls that the samples stand for.
    pub sample_weight: AtomicU64,
    /// Time of the samples in nanoseconds, each times the calls it stands for. It includes what timing takes, which is
    /// subtracted from the mean: a clock with coarse steps then still gives the right mean.
    pub sample_ns: AtomicU64,
}

/// Calls and bytes of one size class at one distance.
#[repr(C)]
pub struct Size {
    /// Calls.
    pub calls: AtomicU64,
    /// Bytes.
    pub bytes: AtomicU64,
}

/// What an operation needs beyond its cell once it is timed or has sizes.
///
/// A page begins within it, and has what most calls need: sizes below [`Self::COMMON_SIZES`], and times of up to some
/// milliseconds. The first calls of a routine meet that page only. For this, the largest sizes are first.
#[repr(C)]
pub struct Row {
    /// Calls and bytes by size class, from the last one to the first, and by distance: see [`Self::size`].
    sizes: [[Size; DISTANCES]; SIZE_CLASSES],
    /// Longest timed call in nanoseconds.
    pub max_ns: AtomicU64,
    /// Sum of `w * (w - 1)` over the samples, where a sample stands for `w` calls: what their error grows with.
    pub sample_spread: AtomicU64,
    /// Sum of weight times squared nanoseconds of the samples, as the bits of an `f64`.
    pub sample_ns2: AtomicU64,
    /// When the last sample was taken, in ticks.
    pub sampled_at: AtomicU64,
    /// [`SlotHead::claimed_ns`] after it.
    pub claimed_at: AtomicU64,
    /// What samples would have claimed beyond the time that has passed, in nanoseconds.
    pub denied_ns: AtomicU64,
    /// What passes from one call to the next as a rule, in 1/256 ns.
    pub pace: AtomicU64,
    /// Time that samples have left over, in nanoseconds.
    pub kept_ns: AtomicU64,
    /// Timed calls by latency bucket; a sample counts for the calls it stands for.
    pub latency: [AtomicU64; BUCKETS],
    /// Time that was no room for samples like most, in nanoseconds.
    pub other_ns: AtomicU64,
    /// Keeps the next row as far from a page as this one.
    pad: [u64; 167],
}

impl Row {
    /// Bytes of a message that has its size counted in the page that most calls meet: fewer than these.
    const COMMON_SIZES: usize = 2 << 20;

    /// Bytes before that page.
    const BEFORE_PAGE: usize =
        std::mem::offset_of!(Row, max_ns) - size_class(Self::COMMON_SIZES) * size_of::<[Size; DISTANCES]>();

    /// Calls and bytes of a size class at a distance.
    #[inline(always)]
    pub fn size(&self, class: usize, distance: usize) -> &Size {
        &self.sizes[SIZE_CLASSES - 1 - class][distance]
    }
}

/// What one thread records.
#[repr(C)]
pub struct Slot {
    /// Head.
    pub head: SlotHead,
    /// One cell an operation.
    pub cells: [Cell; MAX_OPS],
    /// Peers, call sites and all else that is not by operation.
    pub tables: ThreadTables,
    before_rows: [u8; BEFORE_ROWS - BEFORE_PAD],
    /// Rows; the first is the overflow row.
    pub rows: [Row; ROWS],
    pad: [u8; SLOT_BYTES - BEFORE_ROWS - ROWS * size_of::<Row>()],
}

/// What one PE records.
#[repr(C)]
pub struct Region {
    /// Head.
    pub head: RegionHead,
    /// Names that the whole PE shares.
    pub names: Names,
    /// Releases of locks: in the host's first region.
    pub releases: Releases,
    /// A slot a thread; the last one is the shared slot.
    pub slots: [Slot; SLOTS + 1],
}

/// Bytes of the largest pages that kernels have: what is mapped by itself begins at a multiple of it.
const LARGEST_PAGE: usize = 64 << 10;
/// Bytes of the header, with those that keep what follows where pages begin.
pub const HEADER_BYTES: usize = size_of::<Header>().next_multiple_of(LARGEST_PAGE);
/// Bytes from one region to the next.
pub const REGION_BYTES: usize = size_of::<Region>().next_multiple_of(LARGEST_PAGE);

/// Bytes of a segment with this many regions.
pub const fn segment_bytes(local_pes: u32) -> usize {
    HEADER_BYTES + local_pes as usize * REGION_BYTES
}

const _: () = {
    assert!(size_of::<Header>() == 4096);
    assert!(size_of::<RegionHead>() == 4096);
    assert!(size_of::<Current>() == 32);
    assert!(size_of::<SlotHead>() == 128);
    assert!(size_of::<Cell>() == 128);
    assert!(size_of::<Row>() == 3 * PAGE);
    assert!((std::mem::offset_of!(Slot, rows) + Row::BEFORE_PAGE).is_multiple_of(PAGE));
    assert!(SLOT_BYTES.is_multiple_of(PAGE) && std::mem::offset_of!(Region, slots).is_multiple_of(PAGE));
    assert!(size_of::<Slot>() == SLOT_BYTES);
    assert!(size_of::<Region>() == 4096 + size_of::<Names>() + size_of::<Releases>() + (SLOTS + 1) * SLOT_BYTES);
    assert!(ROWS >= 224);
    assert!(std::mem::offset_of!(Slot, cells) == 128);
    assert!(std::mem::offset_of!(Cell, countdown) == 64);
    // Masking an operation id is enough to stay inside the cells.
    assert!(MAX_OPS.is_power_of_two());
};

impl Slot {
    /// The cell of an operation. Ids beyond the table wrap around: no panic on the recording path.
    #[inline(always)]
    pub fn cell(&self, op: u16) -> &Cell {
        &self.cells[usize::from(op) & (MAX_OPS - 1)]
    }

    /// The row with this number ([`ROW_OVERFLOW`] or above).
    #[inline(always)]
    pub fn row(&self, number: u32) -> &Row {
        let index = (number.wrapping_sub(ROW_OVERFLOW) as usize).min(ROWS - 1);
        // SAFETY: clamped to the array on the line above; written this way so that no panic path is compiled in.
        unsafe { self.rows.get_unchecked(index) }
    }
}

/// The symmetric object at an address of a PE whose [`RegionHead::memory`] this is, the same on every PE: (0 heap, 1
/// static; offset).
pub fn symmetric([heap, heap_bytes, data, data_bytes]: [u64; 4], addr: u64) -> Option<(u8, u64)> {
    let within = |base: u64, bytes: u64| addr.checked_sub(base).filter(|&offset| offset < bytes);
    within(heap, heap_bytes).map(|offset| (0, offset)).or_else(|| within(data, data_bytes).map(|offset| (1, offset)))
}

impl SlotHead {
    /// The distance of a world PE, as an index by [`crate::size::Distance`]. Negative: no peer.
    #[inline(always)]
    pub fn distance(&self, peer: i32) -> usize {
        if peer < 0 {
            return Distance::None as usize;
        }
        self.distance_on_host(peer).unwrap_or(Distance::Remote as usize)
    }

    /// Whether a put or get of so many bytes is sampled; a longer one is timed.
    #[inline(always)]
    pub fn is_sampled(&self, peer: i32, bytes: usize) -> bool {
        bytes <= SAMPLED_BYTES || (bytes <= SAMPLED_BYTES_ON_HOST && self.distance_on_host(peer).is_some())
    }

    /// As [`Self::distance`], for a PE of this host; none where it is not one.
    #[inline(always)]
    pub fn distance_on_host(&self, peer: i32) -> Option<usize> {
        // SAFETY: the slot's first owner has written them before anyone comes here. Only where they are not atomic do
        // compilers compare with them where they are.
        let (first, local, own) = unsafe { (*self.first_local.as_ptr(), *self.local_pes.as_ptr(), *self.pe.as_ptr()) };
        if peer.wrapping_sub(first) as u32 >= local {
            return None;
        }
        Some(Distance::Own as usize + usize::from(peer != own))
    }
}
