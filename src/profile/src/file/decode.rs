//! Reading a PE file, sound or not.

use std::path::Path;

use super::cursor::Cursor;
use super::{MAGIC, ReadError, TAG_DENIED, TAG_END, TAG_PE, TAG_ROUTINE, VERSION};
use crate::histogram::{BUCKETS, Histogram};
use crate::model::{End, LastOp, MOST_PES, Pe, Progress, Routine, SizeCount};
use crate::op::Class;
use crate::size::{DISTANCES, SIZE_CLASSES};
use crate::tables::PeTables;

/// What a PE file says, and what is wrong with it. `number` is the PE that the file stands for when it does not get to
/// saying so itself. `None` when nothing could be read.
pub(super) fn pe_file(path: &Path, bytes: &[u8], number: u32) -> (Option<Pe>, Option<ReadError>) {
    let mut cursor = Cursor::new(path, bytes);
    if let Err(error) = preamble(path, &mut cursor) {
        return (None, Some(error));
    }
    let mut pe = Pe { pe: number, ..Pe::default() };
    let result = sections(&mut cursor, &mut pe);
    pe.incomplete = result.is_err();
    (Some(pe), result.err())
}

/// The id of the job that a PE file is of; `None` where it does not say, or is damaged before that.
#[cfg(feature = "report")]
pub(super) fn job_of<'a>(path: &'a Path, bytes: &'a [u8]) -> Option<&'a str> {
    let mut cursor = Cursor::new(path, bytes);
    preamble(path, &mut cursor).ok()?;
    loop {
        let (tag, mut payload) = checked(&mut cursor).ok()?;
        match tag {
            super::TAG_JOB => return payload.str("the job's id").ok(),
            TAG_END => return None,
            _ => {}
        }
    }
}

fn preamble(path: &Path, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
    if cursor.take(MAGIC.len(), "the file's signature")? != MAGIC {
        return Err(cursor.corrupt_at(0, "not a PE profile: the signature is missing".to_owned()));
    }
    match cursor.u32("the format version")? {
        VERSION => Ok(()),
        found => Err(ReadError::Version { path: path.to_owned(), found: found.into(), expected: VERSION }),
    }
}

/// Reads up to the first section that makes no sense; one section with a wrong checksum is skipped, since most likely
/// only its contents are damaged. The first problem is the one reported.
fn sections(cursor: &mut Cursor<'_>, pe_data: &mut Pe) -> Result<(), ReadError> {
    let mut damaged = None;
    loop {
        match section(cursor, pe_data) {
            Ok(false) => {}
            Ok(true) => return damaged.map_or(Ok(()), Err),
            Err(Stop::Skip(error)) if damaged.is_none() => damaged = Some(error),
            Err(Stop::Skip(error) | Stop::Fatal(error)) => return Err(damaged.unwrap_or(error)),
        }
    }
}

enum Stop {
    /// The section is damaged; the next one begins where this one says it ends.
    Skip(ReadError),
    /// There is no telling where the next section begins.
    Fatal(ReadError),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Stop {
        Stop::Fatal(error)
    }
}

/// The tag and the contents of the next section.
fn checked<'a>(cursor: &mut Cursor<'a>) -> Result<(u32, Cursor<'a>), Stop> {
    let begin = cursor.position();
    let tag = cursor.u32("a section")?;
    let length = cursor.u32("a section's length")? as usize;
    let payload = cursor.part(length, "a section's contents")?;
    let end = cursor.position();
    let checksum = cursor.u32("a section's checksum")?;
    if crc32fast::hash(cursor.slice(begin, end)) != checksum {
        return Err(Stop::Skip(cursor.corrupt_at(begin, "the section's checksum does not match".to_owned())));
    }
    Ok((tag, payload))
}

/// Reads one section; true when it was the last.
fn section(cursor: &mut Cursor<'_>, pe_data: &mut Pe) -> Result<bool, Stop> {
    let begin = cursor.position();
    let (tag, mut payload) = checked(cursor)?;
    match tag {
        TAG_PE => {
            let (routines, tables) = (std::mem::take(&mut pe_data.routines), std::mem::take(&mut pe_data.tables));
            *pe_data = Pe { routines, tables, ..pe(&mut payload)? };
        }
        TAG_ROUTINE => pe_data.routines.push(routine(&mut payload)?),
        TAG_DENIED => denied(&mut payload, &mut pe_data.routines)?,
        TAG_END => {
            let (count, found) = (payload.u32("the number of routines")? as usize, pe_data.routines.len());
            if count != found {
                return Err(cursor.corrupt_at(begin, format!("{found} routines where {count} should be")).into());
            }
            if !cursor.is_at_end() {
                return Err(cursor.corrupt("bytes after the end section".to_owned()).into());
            }
            return Ok(true);
        }
        tag => super::sections::decode(tag, &mut payload, &mut pe_data.tables)?,
    }
    Ok(false)
}

fn denied(c: &mut Cursor<'_>, routines: &mut [Routine]) -> Result<(), ReadError> {
    for _ in 0..c.u32("the times denied to samples")? {
        let (at, ns) = (c.u32("a routine's place")?, c.u64("the time denied to samples")?);
        let count = routines.len();
        let routine = routines.get_mut(at as usize);
        let routine = routine.ok_or_else(|| c.corrupt(format!("time denied to samples of routine {at} of {count}")))?;
        routine.denied_ns = ns;
    }
    Ok(())
}

fn pe(c: &mut Cursor<'_>) -> Result<Pe, ReadError> {
    let (pe, pid) = (c.u32("the PE number")?, c.u32("the process id")?);
    if pe >= MOST_PES {
        return Err(c.corrupt(format!("PE {pe}, where at most {MOST_PES} are")));
    }
    let progress = match c.u8("the progress")? {
        0 => Progress::Attached,
        1 => Progress::Initialized,
        2 => Progress::Finalized,
        other => return Err(c.corrupt(format!("progress {other}"))),
    };
    let (kind, value) = (c.u8("the end")?, c.u32("the end")? as i32);
    let end = match kind {
        0 => End::Unknown,
        1 => End::Exited(value),
        2 => End::Killed(value),
        3 => End::Stopped,
        other => return Err(c.corrupt(format!("end of kind {other}"))),
    };
    Ok(Pe {
        pe,
        pid,
        progress,
        end,
        host: c.text("the host")?,
        start_ns: c.u64("the start")?,
        init_ns: c.u64("the end of initialization")?,
        finalize_ns: c.u64("the begin of finalization")?,
        end_ns: c.u64("the end")?,
        level: c.u32("the level")? as i32,
        level_changes: c.u32("the level changes")?,
        threads: c.u32("the threads")?,
        shared_calls: c.u64("the shared calls")?,
        overflowed: c.u32("the overflowed routines")?,
        incomplete: false,
        last: last(c)?,
        routines: Vec::new(),
        tables: PeTables::default(),
    })
}

fn last(c: &mut Cursor<'_>) -> Result<Option<LastOp>, ReadError> {
    const WANTED: &str = "the last operation";
    if c.u8(WANTED)? == 0 {
        return Ok(None);
    }
    let routine = c.text(WANTED)?;
    let inside = match c.u8(WANTED)? {
        0 => None,
        1 => Some(false),
        _ => Some(true),
    };
    let peer = c.option(WANTED)?.and_then(|peer| u32::try_from(peer).ok());
    Ok(Some(LastOp { routine, inside, peer, since_ns: c.option(WANTED)? }))
}

fn routine(c: &mut Cursor<'_>) -> Result<Routine, ReadError> {
    let name = c.text("a routine's name")?;
    let class = c.u8("a routine's class")?;
    let class = Class::from_number(class).ok_or_else(|| c.corrupt(format!("{name} is of class {class}")))?;
    let mut r = Routine::new(&name, class);
    for d in 0..DISTANCES {
        r.calls[d] = c.u64("calls")?;
    }
    for d in 0..DISTANCES {
        r.bytes[d] = c.u64("bytes")?;
    }
    r.errors = c.u64("errors")?;
    r.unfinished = c.u64("unfinished calls")?;
    r.unfinished_ns = c.u64("the time of unfinished calls")?;
    r.timed_calls = c.u64("timed calls")?;
    r.total_ns = c.u64("the total")?;
    let flags = c.u8("what is estimated")?;
    (r.estimated, r.sampled_sites) = (flags & 1 != 0, flags & 2 != 0);
    r.total_variance = f64::from_bits(c.u64("the variance")?);
    if !r.total_variance.is_finite() || r.total_variance < 0.0 {
        return Err(c.corrupt(format!("{name} has a variance of {}", r.total_variance)));
    }
    r.max_ns = c.u64("the maximum")?;
    let mut latency = Vec::new();
    for _ in 0..c.u32("the latencies")? {
        let (bucket, count) = (c.u32("a latency bucket")?, c.u64("a latency count")?);
        if bucket as usize >= BUCKETS {
            return Err(c.corrupt(format!("{name} has a latency in bucket {bucket}")));
        }
        latency.push((bucket as u16, count));
    }
    r.latency = Histogram::from_counts(latency);
    for _ in 0..c.u32("the sizes")? {
        let (class, distance) = (c.u8("a size class")?, c.u8("a distance")?);
        if usize::from(class) >= SIZE_CLASSES || usize::from(distance) >= DISTANCES {
            return Err(c.corrupt(format!("{name} has size class {class} at distance {distance}")));
        }
        r.add_size(SizeCount { class, distance, calls: c.u64("calls of a size")?, bytes: c.u64("bytes of a size")? });
    }
    Ok(r)
}
