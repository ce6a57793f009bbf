//! What the launcher does with a trace when its job has ended.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::format::{CHUNK_BYTES, ChunkHead, HEAD_BYTES, Head};
use super::read::{Trace, TraceFile};
use crate::file::ReadError;

/// What is in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events in the files; short calls that were folded count one each.
    pub events: u64,
    /// Events that are not: overwritten, or without room.
    pub dropped: u64,
}

/// Tells the files of a trace how far this host's clock had gone from the job's when it stood at `counter_ns`: by
/// `offset_ns`, which is to be added.
pub fn align(dir: &Path, counter_ns: u64, offset_ns: i64) -> io::Result<()> {
    for path in super::read::paths(dir)? {
        let open = OpenOptions::new().read(true).write(true).open(&path)?;
        let mult = word(&open, offset_of!(Head, clock_mult) as u64)?.max(1);
        let ticks = u64::try_from((u128::from(counter_ns) << 32) / u128::from(mult)).unwrap_or(u64::MAX);
        open.write_all_at(&offset_ns.to_le_bytes(), offset_of!(Head, offset_ns) as u64 + 8)?;
        open.write_all_at(&ticks.to_le_bytes(), offset_of!(Head, offset_ticks) as u64 + 8)?;
    }
    Ok(())
}

/// Gives back the room that was reserved and not used, and counts what is there.
pub fn finish(dir: &Path) -> (Summary, Vec<ReadError>) {
    let trace = match Trace::open(dir) {
        Ok(trace) => trace,
        // No PE called the library.
        Err(ReadError::NotATrace(_)) => return (Summary::default(), Vec::new()),
        Err(problem) => return (Summary::default(), vec![problem]),
    };
    let mut summary = Summary { events: 0, dropped: trace.dropped() };
    let mut problems = trace.problems;
    for file in &trace.files {
        match finish_file(file) {
            Ok(events) => summary.events = summary.events.saturating_add(events),
            Err(error) => problems.push(ReadError::Io(file.path.clone(), error)),
        }
    }
    (summary, problems)
}

fn finish_file(file: &TraceFile) -> io::Result<u64> {
    let open = OpenOptions::new().read(true).write(true).open(&file.path)?;
    let bytes = fs::metadata(&file.path)?.len();
    let (mut events, mut end) = (0, HEAD_BYTES as u64);
    let mut at = HEAD_BYTES as u64;
    while at + CHUNK_BYTES as u64 <= bytes {
        let sequence = word(&open, at + offset_of!(ChunkHead, sequence) as u64)?;
        if sequence != 0 {
            events += word(&open, at + offset_of!(ChunkHead, progress) as u64)? >> 32;
            events = events.wrapping_add(word(&open, at + offset_of!(ChunkHead, folded) as u64)?);
            end = at + CHUNK_BYTES as u64;
        }
        at += CHUNK_BYTES as u64;
    }
    open.set_len(end)?;
    Ok(events)
}

fn word(file: &File, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at)?;
    Ok(u64::from_le_bytes(bytes))
}
