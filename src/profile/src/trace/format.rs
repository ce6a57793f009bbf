//! The trace file. All numbers are little-endian.
//!
//! ```text
//! file     TraceHead (4096 bytes) | chunk 0 | chunk 1 | ...
//! chunk    ChunkHead (64 bytes) | records, as many bytes as the head says
//! call     routine (12 bits) and kind (4) | five lengths of 3 bits, a bit | gap | time | address | bytes | peer | site
//! calls    kind (as above), routine | three lengths of 3 bits | time | number | bytes
//! note     kind (as above, routine 0) | length of the text | ticks (8 bytes) | value (8 bytes) | text
//! ```
//!
//! `calls` are short calls of a routine, folded: so many, with so many bytes, between the end of the call before and
//! `time` ticks later. The next record counts from the end of the call before as well. Notes and such records change no
//! differences.
//!
//! The peer of a collective with a root is the root. Collectives of a chunk are on the world until a note names another
//! team.
//!
//! The site is where the call returns to. It is there, in 4 bytes, where the bit is set: as the signed difference to
//! that of the call before. Where the one before is too far away, or none, a note tells it; one of [`KIND_MODULE`]
//! tells which file it is in, at the first site of each file in a chunk.
//!
//! A length of 0 to 6 is that many bytes, 7 stands for 8. `gap` is the time in ticks from the end of the call before
//! (first: from the chunk's base) to the begin of this one, `time` from begin to end. `address` is the difference to
//! that of the call before, with the sign in the lowest bit; `bytes` and `peer` (plus 1: 0 is none) are differences by
//! exclusive or. Each chunk begins anew with zeros: it can be read without the others.
//!
//! Checksums are CRC-32 (IEEE). A chunk gets its own over all of its bytes but the word that holds it,
//! [`ChunkHead::closed`], when the next one is begun. The chunk in use has none until its file is closed: by the PE at
//! its exit, or by the launcher after the PE has ended. A file of a PE that was killed with its launcher is not closed:
//! its newest chunk may have no checksum, and a chunk may be under way to being written anew (`sequence` 0). The head
//! has two: [`TraceHead::check`] of what is known at the begin, [`TraceHead::end_check`] of all of it once the file is
//! closed.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

use crate::op::TOTAL;
use crate::segment::layout::Text;

/// First eight bytes of a file, written last.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PELLTRAC");
/// Version of the format.
pub const VERSION: u32 = 6;
/// The first with checksums.
pub const CHECKED: u32 = 3;
/// The first whose heads say why events are not there ([`TraceHead::lost`]).
pub const WITH_REASONS: u32 = 4;
/// The first with teams and roots of collectives.
pub const WITH_TEAMS: u32 = 4;
/// The first whose records have [`OP_BITS`] bits for the routine; before, there were [`OP_BITS_BEFORE`].
pub const WITH_MORE_ROUTINES: u32 = 5;
/// The first with sites; before, the bit [`MOVED`] is 0.
pub const WITH_SITES: u32 = 6;
/// The oldest that is read.
pub const OLDEST: u32 = 2;
/// [`TraceHead::state`] of a file that its PE has closed: it has all events, but for those that are counted as dropped.
pub const CLOSED: u32 = u32::from_le_bytes(*b"CLOS");
/// [`TraceHead::state`] of a file that the launcher has closed, after its PE had ended without doing so.
pub const LEFT: u32 = u32::from_le_bytes(*b"LEFT");
/// First eight bytes of a chunk.
pub const CHUNK_MAGIC: u64 = u64::from_le_bytes(*b"PELLCHNK");

/// Bytes of the head.
pub const HEAD_BYTES: usize = 4096;
/// Bytes of a chunk with its head.
pub const CHUNK_BYTES: usize = 64 << 10;
/// Bytes of a chunk's head.
pub const CHUNK_HEAD_BYTES: usize = 64;
/// Longest record of a call: stores are 8 bytes wide whatever the length, and those of a site 4.
pub const CALL_BYTES: usize = 4 + 5 * 8 + 4;
/// Longest text of a note.
pub const TEXT_BYTES: usize = 340;
/// Longest record.
pub const NOTE_BYTES: usize = 20 + TEXT_BYTES;

/// Bits of a record's first word that hold the routine.
pub const OP_BITS: u32 = 12;
/// See [`WITH_MORE_ROUTINES`].
pub const OP_BITS_BEFORE: u32 = 11;
const _: () = assert!(TOTAL <= 1 << OP_BITS);

/// Record: a call.
pub const KIND_CALL: u16 = 0;
/// Record: the events from here on are of another thread, whose id is the value.
pub const KIND_THREAD: u16 = 1;
/// Record: a region of this name begins.
pub const KIND_REGION_BEGIN: u16 = 2;
/// Record: a region of this name ends.
pub const KIND_REGION_END: u16 = 3;
/// Record: a marker with a name and a value.
pub const KIND_MARKER: u16 = 4;
/// Record: short calls of a routine, folded.
pub const KIND_CALLS: u16 = 5;
/// Record: calls of `shmem_ctx_` routines from here on are on the context of this number; the text is its team.
pub const KIND_CONTEXT: u16 = 6;

/// Record: collectives from here on are on the team whose members agree on this number; the text is its first PE,
/// stride and size as decimal numbers with a space between, or nothing where that is not known.
pub const KIND_TEAM: u16 = 7;

/// Record: the call that follows returns to the address that is the value.
pub const KIND_SITE: u16 = 8;
/// Record: what is loaded from the address on that is the value; the text is where it ends, what is added to addresses
/// of its file (both in hexadecimal digits), its build id or `-`, and its path, with spaces between.
pub const KIND_MODULE: u16 = 9;
/// Bit of a call's first word: it has a site.
pub const MOVED: u32 = 1 << 31;

/// First page of a file.
#[repr(C, align(4096))]
pub struct TraceHead {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// World number of the PE.
    pub pe: AtomicU32,
    /// PEs of the job.
    pub npes: AtomicU32,
    /// Which of the PE's files this is; [`crate::segment::layout::SLOTS`]: that of threads without one, which has no
    /// chunks.
    pub slot: AtomicU32,
    /// Process id.
    pub pid: AtomicU32,
    /// Process that created the job; with the two start times, the job's identity.
    pub launcher_pid: AtomicU32,
    /// Hash of the table of routines.
    pub ops_hash: AtomicU64,
    /// [`crate::clock::Source`].
    pub clock_source: AtomicU32,
    /// [`CHUNK_BYTES`].
    pub chunk_bytes: AtomicU32,
    /// Nanoseconds per tick, times 2^32.
    pub clock_mult: AtomicU64,
    /// Begin of the job in ticks of this host.
    pub start_ticks: AtomicU64,
    /// Begin of the job in nanoseconds since 1970.
    pub start_realtime: AtomicU64,
    /// What to add to this host's nanoseconds to get the job's, measured at `offset_ticks[0]` (initialization) and
    /// `offset_ticks[1]` (finalization; 0: not measured). On the host of the launcher 0 by definition.
    pub offset_ns: [AtomicI64; 2],
    /// See `offset_ns`.
    pub offset_ticks: [AtomicU64; 2],
    /// Events that are not there: overwritten, without room, or for one of the reasons of [`TraceHead::lost`].
    pub dropped: AtomicU64,
    /// Error number that ended the growth of the file before its bound; 0: none.
    pub error: AtomicU32,
    /// Chunks that the file may have.
    pub chunks: AtomicU32,
    /// First address and bytes of the symmetric heap, then of the static objects: to tell the same object on two PEs.
    pub memory: [AtomicU64; 4],
    /// Host.
    pub host: Text<64>,
    /// Program.
    pub program: Text<512>,
    /// Checksum of the head as it was at the begin.
    pub check: AtomicU32,
    /// [`CLOSED`], [`LEFT`], or 0: the file is written to, or its PE was killed and nobody closed it since.
    pub state: AtomicU32,
    /// Once closed: the chunks that the file has.
    pub written: AtomicU32,
    /// Once closed: checksum of the head.
    pub end_check: AtomicU32,
    /// Those of the events dropped that have another reason than room, by [`Reason`].
    pub lost: [AtomicU64; 3],
    /// Who the job is: [`crate::model::JobIdentity::id`]. Empty in files of before.
    pub job_id: Text<256>,
    /// The call that its thread was in when the PE ended. Zeros: none, or nobody knew.
    pub unreturned: UnreturnedCall,
}

/// A call that never returned, as a launcher has found it in the profile's memory: it has no record.
#[repr(C)]
pub struct UnreturnedCall {
    /// Begin in ticks; 0: there is no such call.
    pub begin: AtomicU64,
    /// When the PE ended, in ticks.
    pub end: AtomicU64,
    /// Address argument.
    pub addr: AtomicU64,
    /// Bytes.
    pub bytes: AtomicU64,
    /// Thread id.
    pub thread: AtomicU32,
    /// Operation id.
    pub op: AtomicU32,
    /// World number of the peer; -1: none.
    pub peer: AtomicI32,
    /// Of a collective: number, first PE, stride and size of its team; a size of 0: not known.
    pub team: [AtomicI32; 4],
    /// Keeps what follows aligned.
    pub reserved: AtomicU32,
    /// The address that it would have returned to, in its file.
    pub site: AtomicU64,
    /// That file; empty: not known.
    pub path: Text<232>,
    /// The build id of that file; empty where it has none.
    pub build_id: Text<64>,
}

/// Why an event is not in a file, where that is not for want of room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Reason {
    /// A signal handler made the call while its thread was writing another event.
    Interrupted,
    /// The PE had more threads at a time than can have files.
    NoSlot,
    /// The file of the thread could not be made, or somebody cut it.
    NoFile,
}

/// Begin of a chunk.
#[repr(C, align(64))]
pub struct ChunkHead {
    /// [`CHUNK_MAGIC`].
    pub magic: AtomicU64,
    /// 1 for the first chunk written, and so on: a chunk that is written anew gets a new number. 0: being written anew.
    pub sequence: AtomicU64,
    /// What the first `gap` counts from.
    pub base_ticks: AtomicU64,
    /// Bytes of complete records (low half), and how many they are (high half).
    pub progress: AtomicU64,
    /// Thread id of the first record.
    pub thread: AtomicU32,
    /// Keeps what follows aligned.
    pub reserved: AtomicU32,
    /// How many more events than records there are: folded calls count one each, notes of thread and context none.
    /// Wraps.
    pub folded: AtomicU64,
    /// 0: in use. Else [`CLOSED`] (high half) and the checksum of the chunk's other bytes.
    pub closed: AtomicU64,
    /// Keeps the size.
    pub spare: AtomicU64,
}

const _: () = {
    assert!(size_of::<TraceHead>() == HEAD_BYTES);
    assert!(size_of::<ChunkHead>() == CHUNK_HEAD_BYTES);
    assert!(NOTE_BYTES < CHUNK_BYTES - CHUNK_HEAD_BYTES);
};

/// Name of a file in the trace directory.
pub fn file_name(pe: u32, slot: usize) -> String {
    format!("pe-{pe:05}-{slot:03}.trace")
}
