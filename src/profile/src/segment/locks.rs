//! Distributed locks: what each PE did with them, and by whom each was released last.

use crate::hash::fibonacci;
use std::sync::atomic::AtomicU64;

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

/// The last release of a lock, for the PEs of a host. Only who holds the lock reads and writes.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Released {
    /// See [`number`]; 0 where the row is free, or being written.
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
    fn numbers_are_split_again() {
        for lock in [(0, 0), (1, 0), (0, 0x1234_5678), (1, 8)] {
            assert_eq!(object(number(lock)), lock);
            assert_ne!(number(lock), 0);
        }
    }
}
