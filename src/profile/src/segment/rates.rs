//! Time in puts, gets, atomics and signals by routine, size class and distance: how fast they were.

use crate::hash::fibonacci;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Rows of a thread; one more stands for those that found no room.
pub const RATES: usize = 256;
/// Rows that are looked at before one counts as without room.
pub const PROBES: usize = 8;
/// [`RateRow::key`] of the row of those that found no room.
pub const NO_ROOM: u64 = u64::MAX;

/// Calls of one routine, size class and distance, as far as they were timed.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct RateRow {
    /// See [`key`]; 0 where the row is free.
    pub key: AtomicU64,
    /// Calls that were timed, and those that samples stand for.
    pub calls: AtomicU64,
    /// Their time in nanoseconds.
    pub ns: AtomicU64,
    /// Calls that those stand for at which was looked more closely.
    pub looks: AtomicU64,
    /// Page faults in these.
    pub faults: AtomicU64,
    /// Those of them at whose end another thread or PE of the host was in a put, get or atomic, too.
    pub busy: AtomicU64,
    /// Those of them in which the thread lost its core.
    pub preempted: AtomicU64,
    /// Keeps the size.
    pub reserved: AtomicU64,
}

/// The call that is a sample now, and a closer look at a call: at one for each so many bytes that the thread moves. A
/// sample has words of its own: in a signal handler it interrupts a call that is timed, whose words stay.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Look {
    /// Bytes until the next look.
    pub left: AtomicU64,
    /// Bytes since the last one.
    pub moved: AtomicU64,
    /// Bytes of the sample.
    pub bytes: AtomicU64,
    /// Its symmetric address.
    pub addr: AtomicU64,
    /// Row of its call site.
    pub site: AtomicU32,
    /// The call that the look which goes on is at, as the recorder knows it again; 0: there is none.
    pub opened_by: AtomicU32,
    /// Page faults of the thread when it began.
    pub faults: AtomicU64,
    /// How often it had lost its core.
    pub preempted: AtomicU64,
    /// Bytes that were moved before the look that is last.
    pub came: AtomicU64,
}

/// Bytes that pay for a look on a host with one PE, of which each more adds a quarter.
pub const LOOK_BYTES: u64 = 16 << 20;

/// Operation, size class and distance in one word, which is not 0.
pub const fn key(op: u16, class: usize, distance: usize) -> u64 {
    1 << 32 | (distance as u64) << 24 | (class as u64) << 16 | op as u64
}

/// Operation, size class and distance of a word.
pub const fn split(key: u64) -> (u16, u8, u8) {
    (key as u16, (key >> 16) as u8, (key >> 24) as u8)
}

/// Where the rows of a key begin.
pub const fn place(key: u64) -> usize {
    (fibonacci(key) >> 40) as usize % (RATES - PROBES + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_apart_again() {
        for (op, class, distance) in [(0, 0, 0), (4095, 47, 3), (17, 23, 2)] {
            let key = key(op, class, distance);
            assert_eq!(split(key), (op, class as u8, distance as u8));
            assert!(key != 0 && key != NO_ROOM && place(key) + PROBES <= RATES);
        }
    }
}
