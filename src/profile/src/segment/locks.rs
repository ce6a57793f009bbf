//! Distributed locks: what each PE did with them, and by whom each was released last.

use crate::hash::fibonacci;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// Locks of a PE; one more stands for those that found no room.
pub const LOCK_ROWS: usize = 128;
/// Locks of a host whose last release is kept.
pub const RELEASED: usize = 256;

/// Number of a lock: that of its object in symmetric memory, the same on every PE. Never 0.
pub const fn number((kind, offset): (u8, u64)) -> u64 {
    (offset + 1) << 1 | kind as u64
}

/// The object of a lock's number: (0 heap, 1 static; offset).
pub const fn object(number: u64) -> (u8, u64) {
    ((number & 1) as u8, (number >> 1).wrapping_sub(1))
}

/// Where a lock is looked for first.
pub const fn place(number: u64) -> usize {
    (fibonacci(number) >> 32) as usize
}

/// A lock, as one PE uses it. Only who holds it writes.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct LockRow {
    /// See [`number`]; 0 where the row is free.
    pub lock: AtomicU64,
    /// How often it was taken.
    pub taken: AtomicU64,
    /// How often another had it meanwhile.
    pub contended: AtomicU64,
    /// Time from asking for it to having it, in ticks.
    pub waited: AtomicU64,
    /// Time from having it to releasing it, in ticks.
    pub held: AtomicU64,
    /// The longest such time.
    pub max_held: AtomicU64,
    /// How often it is known when the one before released it.
    pub handovers: AtomicU64,
    /// From that to having it, in ticks.
    pub handover: AtomicU64,
    /// Since when it is held, in ticks; 0: it is not.
    pub since: AtomicU64,
}

/// The last release of a lock, for the PEs of a host. The holder of the lock reads and writes; so may holders of other
/// locks that have the same row.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Released {
    /// See [`number`]; 0 where the row is free, [`WRITTEN`] while somebody writes it.
    pub lock: AtomicU64,
    /// When, in ticks.
    pub at: AtomicU64,
    /// World number of the PE plus 1 (low half), which of its slots (high half).
    pub by: AtomicU64,
    /// Key of the call site.
    pub key: AtomicU64,
    /// For how long it had been held, in ticks.
    pub held: AtomicU64,
}

/// [`Released::lock`]: somebody writes the row. One who is ended meanwhile leaves it so, and no release is noted there.
const WRITTEN: u64 = u64::MAX;

impl Released {
    /// Notes a release of a lock: when, by whom, the key of the call site, for how long it had been held. Where a
    /// holder of another lock is at it, that one stays.
    pub fn note(&self, lock: u64, words: [u64; 4]) {
        if self.lock.swap(WRITTEN, Acquire) == WRITTEN {
            return;
        }
        fence(Release);
        for (place, word) in [&self.at, &self.by, &self.key, &self.held].into_iter().zip(words) {
            place.store(word, Relaxed);
        }
        self.lock.store(lock, Release);
    }

    /// What was noted of the last release of a lock, where that is known.
    pub fn of(&self, lock: u64) -> Option<[u64; 4]> {
        let is_whole = || self.lock.load(Acquire) == lock;
        if !is_whole() {
            return None;
        }
        let words = [&self.at, &self.by, &self.key, &self.held].map(|word| word.load(Relaxed));
        fence(Acquire);
        is_whole().then_some(words)
    }
}

/// Releases of a host: those of its first region are used.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Releases {
    /// By lock.
    pub rows: [Released; RELEASED],
}

const _: () = assert!(RELEASED.is_power_of_two());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_locks_that_share_a_row_are_not_mixed() {
        let row = Released { lock: 0.into(), at: 0.into(), by: 0.into(), key: 0.into(), held: 0.into() };
        assert_eq!((row.of(1), row.of(2)), (None, None));
        std::thread::scope(|scope| {
            for lock in [1, 2] {
                let row = &row;
                scope.spawn(move || {
                    for round in 0..50_000_u64 {
                        let word = round << 8 | lock;
                        row.note(lock, [word; 4]);
                        for asked in [1, 2] {
                            let Some(words) = row.of(asked) else { continue };
                            assert!(words == [words[0]; 4] && words[0] & 0xff == asked, "{words:?}");
                        }
                    }
                });
            }
        });
        assert!(row.of(1).is_some() || row.of(2).is_some());
        row.lock.store(WRITTEN, Relaxed);
        row.note(1, [7; 4]);
        assert_eq!(row.of(1), None);
    }

    #[test]
    fn numbers_are_split_again() {
        for lock in [(0, 0), (1, 0), (0, 0x1234_5678), (1, 8)] {
            assert_eq!(object(number(lock)), lock);
            assert_ne!(number(lock), 0);
        }
    }
}
