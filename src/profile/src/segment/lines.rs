//! Cache lines of PEs that short calls go to most, as samples see them.
//!
//! A set of four rows holds what its hash falls to. A line that finds none takes that with least weight, and what that
//! had as what its own may be too high by (space-saving): lines with much weight stay, and one is known not to have it.

use crate::hash::fibonacci;
use std::sync::atomic::AtomicU64;

/// Rows of a set.
pub const WAYS: usize = 4;
/// Rows of a thread.
pub const LINES: usize = 256;
/// Bytes of a line, as a power of two.
pub const LINE_SHIFT: u32 = 6;

/// The line that a symmetric object (0 heap, 1 static; offset) of a PE is in.
pub fn line_of(peer: u32, (kind, offset): (u8, u64)) -> (u32, u8, u64) {
    (peer, kind, offset >> LINE_SHIFT)
}

/// Calls of one routine to one line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Line {
    /// See [`key`]; 0 where the row is free.
    pub key: AtomicU64,
    /// Where the last sample went to.
    pub address: AtomicU64,
    /// Operation.
    pub op: AtomicU64,
    /// Calls that its samples stand for, and what another line left behind.
    pub calls: AtomicU64,
    /// What another line left behind.
    pub error: AtomicU64,
    /// Time of the calls that its samples stand for, in nanoseconds.
    pub ns: AtomicU64,
    /// Samples of this line and routine, none of another line.
    pub samples: AtomicU64,
    /// Keeps the size.
    pub reserved: AtomicU64,
}

/// The line of a PE: its world number plus 1 above bit 42, which line below.
pub const fn key(peer: u32, address: u64) -> u64 {
    (peer as u64 + 1) << 42 | (address >> LINE_SHIFT & ((1 << 42) - 1))
}

/// World number of the PE of a line.
pub const fn peer(key: u64) -> u32 {
    ((key >> 42) as u32).wrapping_sub(1)
}

/// First row of the set of a line and an operation.
pub const fn set(key: u64, op: u16) -> usize {
    let mixed = fibonacci(key ^ (op as u64) << 50);
    (mixed >> 32) as usize % (LINES / WAYS) * WAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_again() {
        for (pe, address) in [(0, 0), (3, 0x7fff_1234_5678), (1 << 20, 64)] {
            assert_eq!(peer(key(pe, address)), pe);
            assert!(set(key(pe, address), 4095) + WAYS <= LINES);
            assert_eq!(key(pe, address), key(pe, address | 63));
            assert_ne!(key(pe, address), key(pe, address + 64));
        }
    }
}
