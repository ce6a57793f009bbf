//! Who calls the functions that call the library: seen at the first call from a place, and at some samples later.

use crate::hash::fibonacci;
use std::sync::atomic::AtomicU64;

/// Rows of a thread; what finds no room is not kept.
pub const CALLERS: usize = 256;
/// Rows that are looked at before one counts as without room.
pub const PROBES: usize = 8;
/// Callers of a call that are kept, innermost first.
pub const DEPTH: usize = 4;

/// One way to a call site.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CallerRow {
    /// Key of the call site; 0 where the row is free.
    pub key: AtomicU64,
    /// How often it was seen, each time for as many calls as it stands for.
    pub times: AtomicU64,
    /// Where the function that has the call site returns to, where that one returns to, and so on; 0: not known.
    pub returns: [AtomicU64; DEPTH],
    /// Keeps the size.
    pub reserved: [AtomicU64; 2],
}

/// Where the rows of a way begin.
pub fn place(key: u64, returns: &[u64; DEPTH]) -> usize {
    let mixed = returns.iter().fold(key, |mixed, word| mixed.rotate_left(21) ^ word);
    (fibonacci(mixed) >> 40) as usize % (CALLERS - PROBES + 1)
}
