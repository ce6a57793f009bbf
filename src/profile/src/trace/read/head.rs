//! The head of a trace file.

use std::fs::File;
use std::io::Read;
use std::mem::offset_of;
use std::path::Path;

use super::super::check;
use super::super::format::{
    CHECKED, CHUNK_BYTES, CLOSED, HEAD_BYTES, LEFT, MAGIC, OLDEST, OP_BITS, OP_BITS_BEFORE, TraceHead, VERSION,
    WITH_MORE_ROUTINES, WITH_REASONS, WITH_TEAMS,
};
use super::super::unreturned::Unreturned;
use crate::clock;
use crate::file::ReadError;
use crate::op;
use crate::segment::layout::SLOTS;

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFileHeader {
    /// World number of the PE.
    pub pe: u32,
    /// PEs of the job.
    pub npes: u32,
    /// Which of the PE's files.
    pub slot: u32,
    /// Process id of the PE.
    pub pid: u32,
    /// Host of the PE.
    pub host: String,
    /// Program of the job.
    pub program: String,
    /// What tells the job from others; empty in files of older versions.
    pub job_id: String,
    /// Begin of the job in nanoseconds since 1970.
    pub start_realtime: u64,
    /// Process that created the job.
    pub launcher_pid: u32,
    /// Events that are not there.
    pub dropped: u64,
    /// Those of them that have another reason than room, by [`super::super::format::Reason`]; 0 in files of older
    /// versions.
    pub lost: [u64; 3],
    /// Error number that ended the growth of the file; 0: none.
    pub error: u32,
    /// First address and bytes of heap and static objects.
    pub memory: [u64; 4],
    /// Difference of this host's clock to the job's in nanoseconds, when measured first and last.
    pub offset_ns: [i64; 2],
    /// Whether its PE has not closed it: of short calls after the last event nothing is known. Not told by files of
    /// older versions.
    pub is_open_ended: bool,
    /// The call that the thread was in when the PE ended.
    pub(in super::super) unreturned: Option<Unreturned>,
    /// Whether it has checksums.
    pub(in super::super) checked: bool,
    /// Whether it says which teams collectives are on.
    pub(super) has_teams: bool,
    /// Bits of a record's first word that hold the routine.
    pub(super) op_bits: u32,
    /// The chunks that the file has, once that is closed.
    pub(in super::super) closed: Option<u32>,
    /// Whether the head is what was written.
    pub(super) whole: bool,
    start_ticks: u64,
    mult: u64,
    offset_ticks: [u64; 2],
}

/// The version of the format, where this program understands it and the table of routines that the file was written
/// with.
fn version(path: &Path, head: &[u8]) -> Result<u32, ReadError> {
    let corrupt =
        |at: usize, what: &str| ReadError::Corrupt { path: path.to_owned(), offset: at as u64, what: what.to_owned() };
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    if number(offset_of!(TraceHead, magic)) != MAGIC {
        return Err(corrupt(0, "does not begin as a trace file does"));
    }
    let at = offset_of!(TraceHead, version);
    let version = u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(ReadError::Version { path: path.to_owned(), found: u64::from(version), expected: VERSION });
    }
    let table = if version < WITH_MORE_ROUTINES { op::EARLIER_TABLE_HASH } else { op::TABLE_HASH };
    if number(offset_of!(TraceHead, ops_hash)) != table {
        let what = "written by a library with another table of routines: use the oshprof of that build";
        return Err(corrupt(offset_of!(TraceHead, ops_hash), what));
    }
    Ok(version)
}

/// Whether a head is what was written, as far as its checksums say.
fn is_whole(head: &[u8], version: u32) -> bool {
    let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    match (version >= CHECKED, half(offset_of!(TraceHead, state))) {
        (false, _) => true,
        (true, 0) => half(offset_of!(TraceHead, check)) == check::head(head, version),
        (true, _) => half(offset_of!(TraceHead, end_check)) == check::closed_head(head),
    }
}

impl TraceFileHeader {
    /// Reads and checks a head.
    pub(super) fn read(path: &Path) -> Result<TraceFileHeader, ReadError> {
        let io = |error| ReadError::Io(path.to_owned(), error);
        let mut bytes = Vec::with_capacity(HEAD_BYTES);
        File::open(path).map_err(io)?.take(HEAD_BYTES as u64).read_to_end(&mut bytes).map_err(io)?;
        TraceFileHeader::parse(path, &bytes)
    }

    /// Understands the first bytes of a file.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<TraceFileHeader, ReadError> {
        let corrupt = |at: usize, what: String| ReadError::Corrupt { path: path.to_owned(), offset: at as u64, what };
        if bytes.len() < HEAD_BYTES {
            let offset = bytes.len() as u64;
            return Err(ReadError::Truncated { path: path.to_owned(), offset, wanted: "the rest of the head" });
        }
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let text = |at: usize, most: usize| {
            let field = &bytes[at..at + most];
            let end = field.iter().position(|&b| b == 0).unwrap_or(most);
            String::from_utf8_lossy(&field[..end]).into_owned()
        };
        let version = version(path, bytes)?;
        let at = offset_of!(TraceHead, chunk_bytes);
        let chunk = half(at);
        if chunk as usize != CHUNK_BYTES {
            return Err(corrupt(at, format!("chunks of {chunk} bytes, not {CHUNK_BYTES}")));
        }
        let (pe, npes) = (half(offset_of!(TraceHead, pe)), half(offset_of!(TraceHead, npes)));
        if pe >= npes {
            return Err(corrupt(offset_of!(TraceHead, pe), format!("PE {pe} of a job of {npes}")));
        }
        let mult = number(offset_of!(TraceHead, clock_mult));
        if mult == 0 {
            return Err(corrupt(offset_of!(TraceHead, clock_mult), "a tick takes no time".to_owned()));
        }
        let pair = |at: usize| [number(at), number(at + 8)];
        let (checked, has_reasons) = (version >= CHECKED, version >= WITH_REASONS);
        let state = half(offset_of!(TraceHead, state));
        let unreturned = Unreturned::of(&bytes[..HEAD_BYTES]);
        // The file beyond the slots has no events at all.
        let has_events = half(offset_of!(TraceHead, slot)) < SLOTS as u32;
        Ok(TraceFileHeader {
            pe,
            npes,
            slot: half(offset_of!(TraceHead, slot)),
            pid: half(offset_of!(TraceHead, pid)),
            host: text(offset_of!(TraceHead, host), 64),
            program: text(offset_of!(TraceHead, program), 512),
            job_id: text(offset_of!(TraceHead, job_id), 256),
            start_realtime: number(offset_of!(TraceHead, start_realtime)),
            launcher_pid: half(offset_of!(TraceHead, launcher_pid)),
            dropped: number(offset_of!(TraceHead, dropped)),
            lost: std::array::from_fn(|i| if has_reasons { number(offset_of!(TraceHead, lost) + 8 * i) } else { 0 }),
            error: half(offset_of!(TraceHead, error)),
            memory: std::array::from_fn(|i| number(offset_of!(TraceHead, memory) + 8 * i)),
            offset_ns: pair(offset_of!(TraceHead, offset_ns)).map(|n| n as i64),
            is_open_ended: checked && has_events && (state != CLOSED || unreturned.is_some()),
            unreturned,
            checked,
            has_teams: version >= WITH_TEAMS,
            op_bits: if version < WITH_MORE_ROUTINES { OP_BITS_BEFORE } else { OP_BITS },
            closed: (checked && [CLOSED, LEFT].contains(&state)).then(|| half(offset_of!(TraceHead, written))),
            whole: is_whole(&bytes[..HEAD_BYTES], version),
            start_ticks: number(offset_of!(TraceHead, start_ticks)),
            mult,
            offset_ticks: pair(offset_of!(TraceHead, offset_ticks)),
        })
    }

    /// What tells jobs apart: the newest has the greatest.
    pub(super) fn job(&self) -> (u64, u32) {
        (self.start_realtime, self.launcher_pid)
    }

    /// A time stamp of this host as nanoseconds since the begin of the job, on the job's clock.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        let ns = clock::scale_ns(ticks.saturating_sub(self.start_ticks), self.mult);
        ns.saturating_add_signed(self.offset_at(ticks))
    }

    /// A moment of this host's counter in ticks.
    pub(in super::super) fn ticks(&self, counter_ns: u64) -> u64 {
        u64::try_from((u128::from(counter_ns) << 32) / u128::from(self.mult)).unwrap_or(u64::MAX)
    }

    /// The offset at a time: on the line through the two measurements.
    fn offset_at(&self, ticks: u64) -> i64 {
        let ([first, last], [t0, t1]) = (self.offset_ns, self.offset_ticks);
        if t1 <= t0 || first == last {
            return first;
        }
        let part = (ticks as f64 - t0 as f64) / (t1 - t0) as f64;
        first.saturating_add(((last.wrapping_sub(first)) as f64 * part) as i64)
    }

    /// The symmetric object at an address of this PE, in a form that is the same on every PE: which memory, and the
    /// offset in it. `None`: not symmetric.
    pub fn symmetric(&self, addr: u64) -> Option<(u8, u64)> {
        let [heap, heap_bytes, data, data_bytes] = self.memory;
        let within = |base: u64, bytes: u64| addr.checked_sub(base).filter(|&offset| offset < bytes);
        within(heap, heap_bytes).map(|o| (0, o)).or_else(|| within(data, data_bytes).map(|o| (1, o)))
    }
}
