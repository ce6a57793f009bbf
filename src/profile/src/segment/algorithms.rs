//! Which algorithms collectives took.

use crate::hash::fibonacci;
use std::sync::atomic::AtomicU64;

/// Rows of the table of algorithms by operation.
pub const ALGORITHMS: usize = 128;
/// The row of those that found no row.
pub const ALGORITHM_OVERFLOW: usize = ALGORITHMS;

/// How often an operation has taken an algorithm.
#[derive(Debug)]
#[repr(C)]
pub struct AlgorithmRow {
    /// See [`algorithm_key`]; 0 where the row is free.
    pub key: AtomicU64,
    /// How often.
    pub calls: AtomicU64,
}

/// Key of an operation and a number of [`super::names::Names::algorithms`]. Never 0: the operation is counted from 1.
#[inline(always)]
pub const fn algorithm_key(op: u16, number: u8) -> u64 {
    (op as u64 + 1) << 8 | number as u64
}

/// Operation and number of a key.
pub const fn split_algorithm_key(key: u64) -> (u16, u8) {
    ((key >> 8).wrapping_sub(1) as u16, key as u8)
}

/// Where a key is looked for first.
#[inline(always)]
pub const fn algorithm_index(key: u64) -> usize {
    (fibonacci(key) >> (64 - ALGORITHMS.trailing_zeros())) as usize
}

const _: () = assert!(ALGORITHMS.is_power_of_two());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_again() {
        for (op, number) in [(0, 0), (4094, 255)] {
            let key = algorithm_key(op, number);
            assert_eq!(split_algorithm_key(key), (op, number));
            assert!(key > 0 && algorithm_index(key) < ALGORITHMS);
        }
    }
}
