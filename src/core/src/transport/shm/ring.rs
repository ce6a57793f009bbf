//! A ring of cells that many fill and one empties, without locks. Entries are runs of cells, in one piece.
//!
//! Whoever fills takes cells by moving the tail, writes what belongs there, and stamps the first cell of the entry at
//! last: with the number of the lap, which no cell has before. Whoever empties looks at the stamp of the cell at the
//! head only. So entries come out in the order in which their cells were taken, each as soon as those before it have
//! been stamped.
//!
//! The other cells of an entry hold data where a stamp would be, and might look like one in a later lap: they are
//! cleared before they are given back. An entry that would run past the end of the ring begins at its start instead,
//! and a stamp says so.
//!
//! Written over [`Word`], so that `tests/model.rs` runs this code under a model checker.

use crate::base::word::Word;
use std::sync::atomic::Ordering;

/// Where the words of a ring are.
pub trait Cells {
    /// Its words.
    type Word: Word;
    /// Number of cells: a power of two, at most 2^15.
    fn cells(&self) -> u64;
    /// Cells that were taken so far.
    fn tail(&self) -> &Self::Word;
    /// Cells that were given back so far.
    fn head(&self) -> &Self::Word;
    /// The first word of a cell, below [`Self::cells`].
    fn stamp(&self, cell: u64) -> &Self::Word;
    /// The first line of a cell is about to be written: a hint.
    fn will_write(&self, _cell: u64) {}
    /// A cell is the next to be looked at: a hint.
    fn will_look(&self, _cell: u64) {}
}

/// What a stamp says of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Cells of the entry.
    pub cells: u16,
    /// Whatever the entry's writer wanted to say; below 2^15.
    pub note: u16,
}

/// In the place of the note's highest bit: the cells are not used.
const SKIP: u16 = 1 << 15;

/// Operations on a ring.
#[derive(Debug)]
pub struct Ring<'a, C>(pub &'a C);

impl<C: Cells> Ring<'_, C> {
    /// Longest entry: it fits wherever the tail is.
    pub fn longest(&self) -> u64 {
        self.0.cells() / 2
    }

    /// What an entry at a position is stamped with in its lower half: never 0.
    #[inline]
    fn lap(&self, position: u64) -> u32 {
        let lap = position >> self.0.cells().trailing_zeros();
        (lap as u32 & 0x7fff_ffff) + 1
    }

    #[inline]
    fn index(&self, position: u64) -> u64 {
        position & (self.0.cells() - 1)
    }

    /// Takes `n` cells (at most [`Self::longest`]) and gives the position of the first; `None` where there is no room.
    /// `seen` is the head as the caller has seen it last.
    #[inline]
    pub fn claim(&self, n: u64, seen: &impl Word) -> Option<u64> {
        self.claim_announced(n, seen, |_, _| {})
    }

    /// As [`Self::claim`], and says before each try which cells it is about to take: the first one, and behind the
    /// last.
    #[inline]
    pub fn claim_announced(&self, n: u64, seen: &impl Word, announce: impl Fn(u64, u64)) -> Option<u64> {
        let cells = self.0.cells();
        loop {
            let tail = self.0.tail().load(Ordering::Relaxed);
            let at = self.index(tail);
            let skipped = if at + n > cells { cells - at } else { 0 };
            let end = tail.wrapping_add(skipped + n);
            // Another thread may have moved both since: then the exchange fails.
            if end.wrapping_sub(seen.load(Ordering::Acquire)) as i64 > cells as i64 {
                let head = self.0.head().load(Ordering::Acquire);
                seen.store(head, Ordering::Release);
                if end.wrapping_sub(head) as i64 > cells as i64 {
                    return None;
                }
            }
            // The line comes over while the exchange takes its time.
            self.0.will_write(self.index(tail.wrapping_add(skipped)));
            announce(tail, end);
            if self.0.tail().replace(tail, end, Ordering::AcqRel) {
                if skipped > 0 {
                    self.stamp(tail, Stamp { cells: skipped as u16, note: SKIP });
                }
                return Some(tail.wrapping_add(skipped));
            }
        }
    }

    /// Lets the entry at a position that was claimed be seen; all of it but the first word of its first cell is
    /// written.
    #[inline]
    pub fn stamp(&self, position: u64, stamp: Stamp) {
        let high = u64::from(stamp.note) << 16 | u64::from(stamp.cells);
        let cell = self.0.stamp(self.index(position));
        cell.store(high << 32 | u64::from(self.lap(position)), Ordering::Release);
    }

    /// Looks for an entry at a position; skips what is not used, which moves the position on.
    #[inline]
    pub fn next(&self, position: &mut u64) -> Option<Stamp> {
        loop {
            let word = self.0.stamp(self.index(*position)).load(Ordering::Acquire);
            if word as u32 != self.lap(*position) {
                return None;
            }
            let stamp = Stamp { cells: (word >> 32) as u16, note: (word >> 48) as u16 };
            // Cells are skipped up to the end of the ring; a stamp that says otherwise is damaged, and no message's.
            let rest = self.0.cells() - self.index(*position);
            if stamp.note != SKIP || u64::from(stamp.cells) != rest {
                return Some(stamp);
            }
            // Nothing was written there but the stamp.
            *position = position.wrapping_add(rest);
            self.0.head().store(*position, Ordering::Release);
        }
    }

    /// The entry behind one is looked for soon.
    #[inline]
    pub fn expect(&self, position: u64) {
        self.0.will_look(self.index(position));
    }

    /// Whether there is something at a position, for a look without obligation.
    #[inline]
    pub fn is_ready(&self, position: u64) -> bool {
        self.0.stamp(self.index(position)).load(Ordering::Relaxed) as u32 == self.lap(position)
    }

    /// Gives the cells of the entry at a position back.
    #[inline]
    pub fn release(&self, position: u64, cells: u64) {
        for i in 1..cells {
            self.0.stamp(self.index(position + i)).store(0, Ordering::Relaxed);
        }
        self.0.head().store(position.wrapping_add(cells), Ordering::Release);
    }
}
