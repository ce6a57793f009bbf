//! Chunks and records.

use std::collections::HashMap;
use std::fs;
use std::mem::offset_of;
use std::sync::Arc;

use super::super::check;
use super::super::format::*;
use super::super::unreturned::Unreturned;
use super::{Call, Calls, Event, EventContext, EventSite, TraceFile, What};
use crate::file::ReadError;
use crate::file::cursor::Cursor;
use crate::op;
use crate::tables::TeamKey;

/// A chunk whose head makes sense.
struct Chunk {
    sequence: u64,
    /// Written anew when the PE was killed: nothing of it counts.
    unfinished: bool,
    /// Without a checksum: in use when the PE was killed.
    open: bool,
    offset: usize,
    used: usize,
    base: u64,
    thread: u32,
}

impl TraceFile {
    /// Calls `visit` with every event in the order in which they were recorded. A damaged chunk is read up to the
    /// damage.
    pub fn for_each(&self, problems: &mut Vec<ReadError>, visit: impl FnMut(&Event)) {
        match fs::read(&self.path) {
            Ok(bytes) => self.decode(&bytes, problems, visit),
            Err(error) => problems.push(ReadError::Io(self.path.clone(), error)),
        }
    }

    /// As [`Self::for_each`], of these bytes.
    pub fn decode(&self, bytes: &[u8], problems: &mut Vec<ReadError>, mut visit: impl FnMut(&Event)) {
        let is_truncation = |problem: &ReadError| matches!(problem, ReadError::Truncated { .. });
        let before = problems.len();
        let mut open = Open::default();
        let bytes = self.without_reserved(bytes);
        for chunk in self.chunks(bytes, problems) {
            if let Err(problem) = self.records(bytes, &chunk, &mut open, &mut visit) {
                open.held.release(&mut visit);
                problems.push(problem);
            }
        }
        open.held.release(&mut visit);
        self.unreturned().iter().for_each(&mut visit);
        if let Some(written) = self.facts.closed {
            let wrong = self.wrong_length(bytes.len(), HEAD_BYTES + written as usize * CHUNK_BYTES);
            problems.extend(wrong.filter(|_| !problems[before..].iter().any(is_truncation)));
        }
    }

    /// A file that was closed may have more room than was written to: a program that closes all descriptors may have
    /// kept it from being given back.
    fn without_reserved<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let end = self.facts.closed.map(|written| HEAD_BYTES + written as usize * CHUNK_BYTES);
        match end.and_then(|end| bytes.split_at_checked(end)) {
            Some((written, rest)) if rest.len().is_multiple_of(CHUNK_BYTES) && rest.iter().all(|&b| b == 0) => written,
            _ => bytes,
        }
    }

    /// The call that the thread was in when the PE ended.
    fn unreturned(&self) -> Option<Event> {
        let Unreturned { thread, op, peer, addr, bytes, team, site, ticks } = self.facts.unreturned.clone()?;
        let call = Call { op, peer, addr, bytes, context: None, team, root: None, site: site.map(Arc::new) };
        let [start_ns, end_ns] = ticks.map(|ticks| self.facts.ns(ticks));
        Some(Event { start_ns, end_ns: end_ns.max(start_ns), thread, what: What::Unreturned(call) })
    }

    /// The chunks that were written to, oldest first.
    fn chunks(&self, bytes: &[u8], problems: &mut Vec<ReadError>) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut blank = None;
        let mut offset = HEAD_BYTES;
        while offset < bytes.len() {
            match self.chunk(bytes, offset) {
                Ok(Some(chunk)) => {
                    // Chunks are begun one after the other: a blank one before this was not blank.
                    if let Some(begin) = blank.take().filter(|_| self.facts.checked) {
                        problems.push(self.damage(begin..offset, "chunks are missing between others"));
                    }
                    chunks.push(chunk);
                }
                Ok(None) => blank = blank.or(Some(offset)),
                Err(problem) => problems.push(problem),
            }
            offset += CHUNK_BYTES;
        }
        let newest = chunks.iter().map(|chunk| chunk.sequence).max();
        chunks.retain(|chunk| {
            let fits = !chunk.open || (self.facts.closed.is_none() && Some(chunk.sequence) == newest);
            if !fits {
                let what = "a chunk has lost its checksum; what it holds is left out";
                problems.push(self.damage(chunk.offset..chunk.offset + CHUNK_BYTES, what));
            }
            fits && !chunk.unfinished
        });
        chunks.sort_by_key(|chunk| chunk.sequence);
        chunks
    }

    fn damage(&self, range: std::ops::Range<usize>, what: &'static str) -> ReadError {
        ReadError::Damaged { path: self.path.clone(), range: range.start as u64..range.end as u64, what }
    }

    /// A file that was closed has the length that its head says.
    fn wrong_length(&self, found: usize, expected: usize) -> Option<ReadError> {
        if found < expected {
            let wanted = "the rest of the file";
            return Some(ReadError::Truncated { path: self.path.clone(), offset: found as u64, wanted });
        }
        (found > expected).then(|| self.damage(expected..found, "this is more than was written"))
    }

    /// `None`: reserved, and not written to.
    fn chunk(&self, bytes: &[u8], offset: usize) -> Result<Option<Chunk>, ReadError> {
        let corrupt = |at: usize, what: String| ReadError::Corrupt {
            path: self.path.clone(),
            offset: (offset + at) as u64,
            what,
        };
        let truncated = || ReadError::Truncated {
            path: self.path.clone(),
            offset: bytes.len() as u64,
            wanted: "the rest of a chunk",
        };
        let head = bytes.get(offset..offset + CHUNK_HEAD_BYTES).ok_or_else(truncated)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        if head.iter().all(|&b| b == 0) {
            let range = offset..bytes.len().min(offset + CHUNK_BYTES);
            let what = "a chunk is missing";
            return if self.facts.closed.is_some() { Err(self.damage(range, what)) } else { Ok(None) };
        }
        let sequence = number(offset_of!(ChunkHead, sequence));
        let closed = number(offset_of!(ChunkHead, closed));
        let unfinished = sequence == 0 && (self.facts.closed.is_none() || !self.facts.checked);
        let open = self.facts.checked && closed == 0 && !unfinished;
        // What a file that was cut still has of a chunk is read without.
        let whole = bytes.get(offset..offset + CHUNK_BYTES).filter(|_| self.facts.checked && !open && !unfinished);
        if let Some(whole) = whole
            && closed != check::chunk(whole)
        {
            let what = "the checksum of a chunk differs; what it holds is left out";
            return Err(self.damage(offset..offset + CHUNK_BYTES, what));
        }
        let magic = number(offset_of!(ChunkHead, magic));
        if magic != CHUNK_MAGIC {
            return Err(corrupt(0, format!("a chunk begins with {magic:#018x}, not {CHUNK_MAGIC:#018x}")));
        }
        let used = number(offset_of!(ChunkHead, progress)) as u32 as usize;
        if used > CHUNK_BYTES - CHUNK_HEAD_BYTES {
            let at = offset_of!(ChunkHead, progress);
            return Err(corrupt(at, format!("{used} bytes of records in a chunk of {CHUNK_BYTES}")));
        }
        let chunk = Chunk {
            sequence,
            unfinished: sequence == 0,
            open,
            offset,
            used,
            base: number(offset_of!(ChunkHead, base_ticks)),
            thread: number(offset_of!(ChunkHead, thread)) as u32,
        };
        Ok(Some(chunk))
    }

    fn records(
        &self,
        bytes: &[u8],
        chunk: &Chunk,
        open: &mut Open,
        visit: &mut impl FnMut(&Event),
    ) -> Result<(), ReadError> {
        let begin = chunk.offset + CHUNK_HEAD_BYTES;
        // What is missing of a truncated file is found where it ends.
        let end = bytes.len().min(begin + chunk.used);
        let mut cursor = Cursor::new(&self.path, &bytes[..end]);
        cursor.take(begin, "a chunk")?;
        let world = self.facts.has_teams.then_some((0, 0, 1, self.facts.npes as i32));
        let marks = open.marks.filter(|_| open.thread == chunk.thread).unwrap_or_default();
        let mut last = Last { ticks: chunk.base, marks, thread: chunk.thread, team: world, ..Last::default() };
        let mut result = Ok(());
        while result.is_ok() && cursor.position() < begin + chunk.used {
            match self.record(&mut cursor, &mut last) {
                Ok(Some(event)) => open.held.pass(event, visit),
                Ok(None) => {}
                Err(problem) => result = Err(problem),
            }
        }
        (open.marks, open.thread) = (Some(last.marks), last.thread);
        result
    }

    /// One record; `None`: one that is no event of its own.
    fn record(&self, cursor: &mut Cursor<'_>, last: &mut Last) -> Result<Option<Event>, ReadError> {
        let at = cursor.position();
        let head = cursor.u32("a record")?;
        let bits = self.facts.op_bits;
        let (op, kind, lengths) = (head as u16 & ((1 << bits) - 1), head as u16 >> bits, head >> 16);
        if matches!(kind, KIND_CALL | KIND_CALLS) {
            if usize::from(op) >= op::TOTAL {
                return Err(cursor.corrupt_at(at, format!("routine {op} of {}", op::TOTAL)));
            }
            if kind == KIND_CALLS {
                return Ok(Some(self.calls(op, fields(cursor, lengths)?, last)));
            }
            let values = fields(cursor, lengths)?;
            if head & MOVED != 0 {
                let moved = cursor.u32("a call's site")? as i32;
                last.sites.last = last.sites.last.wrapping_add_signed(i64::from(moved));
            }
            return Ok(Some(self.call(op, values, last)));
        }
        let length = lengths as usize;
        if length > TEXT_BYTES || op != 0 {
            return Err(cursor.corrupt_at(at, format!("a note of {length} bytes, routine {op}")));
        }
        let ticks = cursor.u64("a note's time")?;
        last.marks.note = last.marks.note.max(ticks);
        let value = cursor.u64("a note's value")? as i64;
        let text = String::from_utf8_lossy(cursor.take(length, "a note's text")?).into_owned();
        let what = match kind {
            KIND_THREAD => {
                last.thread = value as u32;
                return Ok(None);
            }
            KIND_CONTEXT => {
                let number = value as u64;
                last.context = (number != 0).then(|| Arc::new(EventContext { number, team: text }));
                return Ok(None);
            }
            KIND_TEAM => {
                last.team = team(value, &text);
                return Ok(None);
            }
            KIND_SITE => {
                last.sites.last = value as u64;
                return Ok(None);
            }
            KIND_MODULE => {
                last.sites.add(value as u64, &text);
                return Ok(None);
            }
            KIND_REGION_BEGIN => What::RegionBegin(text),
            KIND_REGION_END => What::RegionEnd(text),
            KIND_MARKER => What::Marker(text, value),
            _ => return Err(cursor.corrupt_at(at, format!("a record of kind {kind}"))),
        };
        let ns = self.facts.ns(ticks);
        Ok(Some(Event { start_ns: ns, end_ns: ns, thread: last.thread, what }))
    }

    /// Folded calls: between the last event and this one, which others may have ended at, too.
    fn calls(&self, op: u16, [time, count, bytes]: [u64; 3], last: &mut Last) -> Event {
        let end = last.ticks.saturating_add(time);
        let marks = &mut last.marks;
        if marks.folded != Some(end) {
            marks.fold_begin = marks.note.max(last.ticks).min(end);
            (marks.folded, marks.note) = (Some(end), end);
        }
        let (start_ns, end_ns) = (self.facts.ns(marks.fold_begin), self.facts.ns(end));
        let what = What::Calls(Calls { op, count, bytes });
        Event { start_ns, end_ns: end_ns.max(start_ns), thread: last.thread, what }
    }

    fn call(&self, op: u16, [gap, time, addr, bytes, peer]: [u64; 5], last: &mut Last) -> Event {
        let start = last.ticks.wrapping_add(gap);
        let end = start.saturating_add(time);
        last.ticks = end;
        last.addr = last.addr.wrapping_add((addr >> 1) ^ (addr & 1).wrapping_neg());
        last.bytes ^= bytes;
        last.peer ^= peer as u32;
        let context = last.context.clone().filter(|_| op::traits(op) & op::ON_CONTEXT != 0);
        let (team, peer) = (last.team.filter(|_| op::traits(op) & op::TOGETHER != 0), last.peer.checked_sub(1));
        let (peer, root) = if team.is_some() { (None, peer) } else { (peer, None) };
        let site = last.sites.now();
        let call = Call { op, peer, addr: last.addr, bytes: last.bytes, context, team, root, site };
        let (start_ns, end_ns) = (self.facts.ns(start), self.facts.ns(end));
        Event { start_ns, end_ns: end_ns.max(start_ns), thread: last.thread, what: What::Call(call) }
    }
}

/// The note of a region, which comes before the record of the call that it was made in, and the folded calls that were
/// written with it: until it is known whether that call has a record.
#[derive(Default)]
struct PendingNote {
    calls: Vec<Event>,
    note: Option<Event>,
}

impl PendingNote {
    /// Visits an event, or holds it back.
    fn pass(&mut self, event: Event, visit: &mut impl FnMut(&Event)) {
        match (&event.what, self.note.take()) {
            (What::Calls(_), None) => self.calls.push(event),
            (What::RegionBegin(_) | What::RegionEnd(_), None) => self.note = Some(event),
            (What::Call(call), Some(note)) if is_made_in(&note, &event, call) => self.beside(note, &event, visit),
            (_, note @ Some(_)) => {
                self.note = note;
                self.release(visit);
                self.pass(event, visit);
            }
            (_, None) => {
                self.release(visit);
                visit(&event);
            }
        }
    }

    /// Visits what is held.
    fn release(&mut self, visit: &mut impl FnMut(&Event)) {
        self.calls.drain(..).for_each(|calls| visit(&calls));
        self.note.take().iter().for_each(visit);
    }

    /// A note and the call that it was made in: the region begins behind it and ends before it, and what was folded
    /// ends before it, so that none of them overlap.
    fn beside(&mut self, mut note: Event, call: &Event, visit: &mut impl FnMut(&Event)) {
        for calls in &mut self.calls {
            calls.end_ns = calls.end_ns.min(call.start_ns);
            calls.start_ns = calls.start_ns.min(calls.end_ns);
        }
        self.release(visit);
        if matches!(note.what, What::RegionBegin(_)) {
            visit(call);
            (note.start_ns, note.end_ns) = (call.end_ns, call.end_ns);
            visit(&note);
        } else {
            (note.start_ns, note.end_ns) = (call.start_ns, call.start_ns);
            visit(&note);
            visit(call);
        }
    }
}

/// Whether a region's note was made in this call.
fn is_made_in(note: &Event, event: &Event, call: &Call) -> bool {
    op::get(call.op).is_some_and(|op| op.name() == "shmem_pcontrol")
        && note.thread == event.thread
        && (event.start_ns..=event.end_ns).contains(&note.start_ns)
}

/// The team that a note names.
fn team(number: i64, range: &str) -> Option<TeamKey> {
    let mut numbers = range.split(' ').map(str::parse::<i32>);
    let mut next = || numbers.next()?.ok();
    let (start, stride, size) = (next()?, next()?, next()?);
    (size > 0).then_some((number as u32, start, stride, size))
}

/// The fields of a record, as long as `lengths` says.
fn fields<const N: usize>(cursor: &mut Cursor<'_>, lengths: u32) -> Result<[u64; N], ReadError> {
    let mut values = [0; N];
    for (i, value) in values.iter_mut().enumerate() {
        let code = (lengths >> (3 * i)) & 7;
        let field = cursor.take((code + ((code + 1) >> 3)) as usize, "a call's record")?;
        *value = field.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    }
    Ok(values)
}

/// What folded calls are behind, in ticks.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// The last note, or the end of the last folded calls.
    note: u64,
    /// The end of the last folded calls, and when they began.
    folded: Option<u64>,
    fold_begin: u64,
}

/// What goes on from a chunk to the next one.
#[derive(Default)]
struct Open {
    held: PendingNote,
    marks: Option<Marks>,
    thread: u32,
}

/// What differences refer to.
#[derive(Default)]
struct Last {
    /// The end of the last call.
    ticks: u64,
    marks: Marks,
    thread: u32,
    addr: u64,
    bytes: u64,
    peer: u32,
    context: Option<Arc<EventContext>>,
    team: Option<TeamKey>,
    sites: Sites,
}

/// What is loaded where.
struct Module {
    start: u64,
    end: u64,
    /// What is added to addresses of its file.
    base: u64,
    build_id: Arc<str>,
    path: Arc<str>,
}

/// Where the calls of a chunk return to.
#[derive(Default)]
struct Sites {
    last: u64,
    modules: Vec<Module>,
    known: HashMap<u64, Option<Arc<EventSite>>>,
}

impl Sites {
    /// What a note says of a module; nothing where it makes no sense.
    fn add(&mut self, start: u64, text: &str) {
        let mut words = text.splitn(4, ' ');
        let mut next = || words.next();
        let number = |word: &str| u64::from_str_radix(word, 16).ok();
        if let (Some(end), Some(base), Some(id), Some(path)) =
            (next().and_then(number), next().and_then(number), next(), next())
        {
            let id = if id == "-" { "" } else { id };
            self.modules.push(Module { start, end, base, build_id: id.into(), path: path.into() });
            self.known.clear();
        }
    }

    /// Where the call at hand returns to, in the terms of its file.
    fn now(&mut self) -> Option<Arc<EventSite>> {
        let (site, modules) = (self.last, &self.modules);
        let find = || {
            let module = modules.iter().rev().find(|module| (module.start..module.end).contains(&site))?;
            let address = site.checked_sub(module.base)?;
            let (path, build_id) = (module.path.clone(), module.build_id.clone());
            Some(Arc::new(EventSite { path, build_id, address }))
        };
        self.known.entry(site).or_insert_with(find).clone()
    }
}
