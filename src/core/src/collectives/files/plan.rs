//! What one PE of a host does for all members on it: their pieces of memory, in the order of the file, as many at a
//! time as follow each other there.

use super::{File, independent};
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::os::file::{self as os, Direction, PIECES, Piece};
use crate::team::check;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a member wants: `count` blocks, one behind the other in its memory, `stride` bytes apart in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Want {
    /// Where the memory is, the same number on all PEs ([`check::place`]).
    pub place: u64,
    /// Bytes of a block.
    pub block: u64,
    /// Blocks.
    pub count: u64,
    /// Bytes from one block's first byte to the next one's.
    pub stride: i64,
    /// Place of the first block.
    pub offset: i64,
}

impl Want {
    /// Words that it travels in.
    pub const WORDS: usize = 5;

    /// As words.
    pub fn words(&self) -> [u64; Self::WORDS] {
        [self.place, self.block, self.count, self.stride as u64, self.offset as u64]
    }

    /// From its words.
    pub fn from(words: &[u64]) -> Self {
        let [place, block, count, stride, offset] = std::array::from_fn(|i| words[i]);
        Self { place, block, count, stride: stride as i64, offset: offset as i64 }
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.block * self.count
    }

    /// Place of the block that comes `turn`-th in the order of the file, and its number in memory.
    fn block(&self, turn: u64) -> (i64, u64) {
        let number = if self.stride < 0 { self.count - 1 - turn } else { turn };
        (self.offset + self.stride * number as i64, number)
    }
}

/// What became of a member's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Bytes that were moved.
    pub bytes: u64,
    /// Error of the system, or 0.
    pub error: i32,
    /// Where in the file it was.
    pub at: u64,
}

/// A member's part.
#[derive(Debug)]
struct Part {
    memory: *mut u8,
    want: Want,
    /// The next block in the order of the file.
    turn: u64,
    /// It has come to the end of the file.
    ended: bool,
    outcome: Outcome,
}

/// The parts of a host's members.
#[derive(Debug)]
pub struct Plan {
    parts: Vec<Part>,
    direction: Direction,
}

// SAFETY: memory of programs, which they leave to the operation until it is complete.
#[allow(unsafe_code)]
unsafe impl Send for Plan {}

/// Pieces that follow each other in the file.
struct Run {
    pieces: Vec<Piece>,
    /// Whose piece it is, and its bytes.
    owners: Vec<(usize, u64)>,
    start: i64,
    end: i64,
}

impl Plan {
    /// Of what some PEs of this host want.
    pub fn new(m: &Map, direction: Direction, wants: impl Iterator<Item = (i32, Want)>) -> Result<Self, Fault> {
        let parts = wants.map(|(pe, want)| {
            let bytes = want.bytes() as usize;
            let memory = match bytes {
                0 => std::ptr::null_mut(),
                _ => check::memory_of(m, "sym", want.place, bytes, pe)?,
            };
            Ok(Part { memory, want, turn: 0, ended: false, outcome: Outcome::default() })
        });
        Ok(Self { parts: parts.collect::<Result<_, Fault>>()?, direction })
    }

    /// Moves all bytes, and tells what became of each part. An error ends it, and the end of the file the part that has
    /// come to it: what another one wants may begin before that. `is_over`: nobody wants the rest any more.
    pub fn run(mut self, file: &File, is_over: impl Fn() -> bool) -> Vec<Outcome> {
        let mut next: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let wanted = |part: &&Part| part.want.bytes() > 0;
        let parts = self.parts.iter().enumerate();
        next.extend(parts.filter(|(_, part)| wanted(part)).map(|(i, part)| Reverse((part.want.block(0).0, i))));
        let mut run = Run { pieces: Vec::new(), owners: Vec::new(), start: 0, end: 0 };
        let mut goes_on = true;
        while let Some(Reverse((offset, i))) = next.pop().filter(|_| goes_on) {
            if offset != run.end || run.pieces.len() == PIECES {
                goes_on = self.flush(file, &mut run) && !is_over();
                (run.start, run.end) = (offset, offset);
            }
            let part = &mut self.parts[i];
            if part.ended {
                continue;
            }
            let (block, number) = (part.want.block, part.want.block(part.turn).1);
            let at = part.memory.wrapping_add((number * block) as usize);
            run.pieces.push(Piece { iov_base: at.cast(), iov_len: block as usize });
            run.owners.push((i, block));
            run.end += block as i64;
            part.turn += 1;
            if part.turn < part.want.count {
                next.push(Reverse((part.want.block(part.turn).0, i)));
            }
        }
        if goes_on && !is_over() {
            self.flush(file, &mut run);
        }
        self.finish()
    }

    /// Moves what has come together; false where the system refused.
    #[allow(unsafe_code)]
    fn flush(&mut self, file: &File, run: &mut Run) -> bool {
        // SAFETY: the members have checked their memory, and it is mapped here.
        let moved = unsafe { os::transfer(&file.fd, self.direction, &mut run.pieces, run.start) };
        let (mut left, mut at, mut error) = (moved.bytes as u64, run.start as u64, moved.error);
        for (owner, bytes) in run.owners.drain(..) {
            let part = &mut self.parts[owner];
            let done = left.min(bytes);
            part.outcome.bytes += done;
            if done < bytes && !part.ended {
                part.ended = true;
                (part.outcome.error, part.outcome.at) = (std::mem::take(&mut error), at + done);
            }
            left -= done;
            at += bytes;
        }
        run.pieces.clear();
        moved.error == 0
    }

    /// What was stopped by another part's error did not go well either.
    fn finish(self) -> Vec<Outcome> {
        let error = self.parts.iter().map(|part| part.outcome).find(|outcome| outcome.error != 0);
        let outcome = |part: Part| match error {
            Some(Outcome { error, at, .. }) if part.outcome.bytes < part.want.bytes() && part.outcome.error == 0 => {
                Outcome { error, at, ..part.outcome }
            }
            _ => part.outcome,
        };
        self.parts.into_iter().map(outcome).collect()
    }
}

/// A want that can be met: its memory is symmetric, and each of its blocks has a place in a file.
pub fn checked(
    m: &Map,
    sym: *const u8,
    (block, count, stride): (usize, usize, i64),
    offset: i64,
) -> Result<Want, Fault> {
    let bytes = block.saturating_mul(count);
    if bytes == 0 {
        return Ok(Want { offset, ..Want::default() });
    }
    m.local("sym", sym, bytes)?;
    let last = i64::try_from(count - 1).ok().and_then(|last| stride.checked_mul(last)?.checked_add(offset));
    independent::check_offset(offset, block)?;
    if last.is_none_or(|last| independent::check_offset(last, block).is_err()) {
        let expected = "one with which each block has a place in a file";
        return Err(Fault::from(Cause::BadValue { arg: "stride", value: stride, expected }));
    }
    let place = check::place(m, sym);
    // Blocks that touch are one.
    let (block, count) = if stride == block as i64 { (bytes, 1) } else { (block, count) };
    Ok(Want { place, block: block as u64, count: count as u64, stride, offset })
}
