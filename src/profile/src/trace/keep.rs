//! What the launcher does with a trace when its job has ended.

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use super::check;
use super::format::{CHUNK_BYTES, CHUNK_HEAD_BYTES, CHUNK_MAGIC, ChunkHead, HEAD_BYTES, LEFT, TraceHead};
use super::losses::Losses;
use super::read::{Trace, TraceFile, TraceFileHeader};
use super::unreturned::Unreturned;
use crate::file::ReadError;
use crate::output::OutputDir;

/// What is in a trace.
#[derive(Debug, Default)]
pub struct Summary {
    /// Calls that the events in the files stand for; other events count one each.
    pub calls: u64,
    /// Events that are not.
    pub losses: Losses,
}

/// How far this host's clock had gone from the job's.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// When this was measured, on this host's counter.
    pub counter_ns: u64,
    /// What is to be added then.
    pub offset_ns: i64,
}

/// Closes the files of a trace whose PEs have ended, gives back the room that was reserved and not used, and counts
/// what is there. `unreturned`: the call that a thread of a PE was in when that ended, by PE and slot.
pub fn finish(
    dir: &OutputDir,
    drift: Option<Drift>,
    unreturned: impl Fn(u32, u32) -> Option<Unreturned>,
) -> (Summary, Vec<ReadError>) {
    let trace = match Trace::open(dir.path()) {
        Ok(trace) => trace,
        // No PE called the library.
        Err(ReadError::NotATrace(_)) => return (Summary::default(), Vec::new()),
        Err(problem) => return (Summary::default(), vec![problem]),
    };
    let mut summary = Summary { calls: 0, losses: trace.losses() };
    let mut problems = trace.problems;
    for file in &trace.files {
        match finish_file(dir, file, drift, unreturned(file.facts.pe, file.facts.slot)) {
            Ok(calls) => summary.calls = summary.calls.saturating_add(calls),
            Err(error) => problems.push(ReadError::Io(file.path.clone(), error)),
        }
    }
    (summary, problems)
}

/// The head of a chunk.
struct Chunk {
    at: u64,
    head: [u8; CHUNK_HEAD_BYTES],
}

impl Chunk {
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| self.head[at + i]))
    }

    fn sequence(&self) -> u64 {
        self.word(offset_of!(ChunkHead, sequence))
    }

    /// Calls that its events stand for.
    fn calls(&self) -> u64 {
        let records = self.word(offset_of!(ChunkHead, progress)) >> 32;
        records.wrapping_add(self.word(offset_of!(ChunkHead, folded)))
    }
}

fn finish_file(
    dir: &OutputDir,
    file: &TraceFile,
    drift: Option<Drift>,
    unreturned: Option<Unreturned>,
) -> io::Result<u64> {
    let open = dir.open(file.path.file_name().unwrap_or_default(), true)?;
    let chunks = chunks(&open)?;
    let used = chunks.iter().rposition(|chunk| chunk.sequence() != 0).map_or(0, |last| last + 1);
    let calls = chunks[..used].iter().filter(|chunk| chunk.sequence() != 0).map(Chunk::calls);
    let calls = calls.fold(0, u64::wrapping_add);
    if file.facts.checked && file.facts.closed.is_none() {
        let newest = chunks.iter().map(Chunk::sequence).max();
        for chunk in &chunks[..used] {
            // The one in use, and one that was being written anew, whose old events are gone. All others have theirs.
            if chunk.sequence() == 0 || Some(chunk.sequence()) == newest {
                close_chunk(&open, chunk)?;
            }
        }
        open.set_len((HEAD_BYTES + used * CHUNK_BYTES) as u64)?;
    }
    let unreturned = unreturned.filter(|_| file.facts.checked);
    if file.facts.closed.is_none() || drift.is_some() || unreturned.is_some() {
        close_head(&open, &file.facts, used as u32, (drift, unreturned.as_ref()))?;
    }
    let one = unreturned.as_ref().or(file.facts.unreturned.as_ref());
    Ok(calls.saturating_add(u64::from(one.is_some())))
}

fn chunks(file: &File) -> io::Result<Vec<Chunk>> {
    let bytes = file.metadata()?.len();
    let places = (HEAD_BYTES as u64..).step_by(CHUNK_BYTES).take_while(|at| at + CHUNK_BYTES as u64 <= bytes);
    let read = |at| {
        let mut chunk = Chunk { at, head: [0; CHUNK_HEAD_BYTES] };
        file.read_exact_at(&mut chunk.head, at).map(|()| chunk)
    };
    places.map(read).collect()
}

fn close_chunk(file: &File, chunk: &Chunk) -> io::Result<()> {
    let mut bytes = vec![0; CHUNK_BYTES];
    if chunk.sequence() == 0 {
        bytes[..8].copy_from_slice(&CHUNK_MAGIC.to_le_bytes());
    } else if chunk.word(offset_of!(ChunkHead, closed)) != 0 {
        return Ok(());
    } else {
        file.read_exact_at(&mut bytes, chunk.at)?;
    }
    let closed = check::chunk(&bytes);
    let at = offset_of!(ChunkHead, closed);
    bytes[at..at + 8].copy_from_slice(&closed.to_le_bytes());
    file.write_all_at(&bytes, chunk.at)
}

/// Completes the head. An old file has no checksums, and gets the drift only.
fn close_head(
    file: &File,
    facts: &TraceFileHeader,
    chunks: u32,
    (drift, unreturned): (Option<Drift>, Option<&Unreturned>),
) -> io::Result<()> {
    let mut head = vec![0; HEAD_BYTES];
    file.read_exact_at(&mut head, 0)?;
    unreturned.into_iter().for_each(|call| call.put(&mut head));
    let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
    if let Some(Drift { counter_ns, offset_ns }) = drift {
        put(offset_of!(TraceHead, offset_ns) + 8, &offset_ns.to_le_bytes());
        put(offset_of!(TraceHead, offset_ticks) + 8, &facts.ticks(counter_ns).to_le_bytes());
    }
    if facts.checked {
        if facts.closed.is_none() {
            put(offset_of!(TraceHead, state), &LEFT.to_le_bytes());
        }
        put(offset_of!(TraceHead, written), &facts.closed.unwrap_or(chunks).to_le_bytes());
        let check = check::closed_head(&head);
        head[offset_of!(TraceHead, end_check)..][..4].copy_from_slice(&check.to_le_bytes());
    }
    file.write_all_at(&head, 0)
}
