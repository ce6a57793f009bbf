//! Call sites: where in the program a routine is called, in which region.

use std::sync::atomic::{AtomicU32, AtomicU64};

use super::tables::REGIONS;
use crate::hash::fibonacci;

/// Rows of the table of call sites.
pub const SITES: usize = 4096;
/// The row of call sites that found no row.
pub const SITE_OVERFLOW: usize = SITES;
/// Rows that are looked at before a key counts as without room.
pub const PROBES: usize = 16;
/// Bits of a return address in a key, without its lowest one: user addresses have 47, and no two calls return to
/// addresses that differ in the lowest only, since an instruction that calls has more bytes.
const KEY_ADDRESS: u64 = (1 << KEY_OP) - 1;
const KEY_OP: u32 = 46;
const OP_MASK: u64 = (1 << (KEY_REGION - KEY_OP)) - 1;
/// Where a key has its region.
pub const KEY_REGION: u32 = 58;

/// Key of a call site: return address, operation, and the region in place (`region_key` is shifted already). Never 0,
/// which marks a row that is free: the operation is counted from 1.
#[inline(always)]
pub const fn key(address: u64, op: u16, region_key: u64) -> u64 {
    // Those of x86_64 have no more bits.
    let mask = if cfg!(target_arch = "x86_64") { u64::MAX } else { KEY_ADDRESS };
    (address >> 1 & mask) | (((op as u64 + 1) & OP_MASK) << KEY_OP) | region_key
}

/// Return address (even: that, or the one before it, which is in the same instruction), operation and region of a key.
pub const fn split_key(key: u64) -> (u64, u16, u8) {
    ((key & KEY_ADDRESS) << 1, ((key >> KEY_OP) & OP_MASK).wrapping_sub(1) as u16, (key >> KEY_REGION) as u8)
}

/// Where a key is looked for first.
#[inline(always)]
pub const fn site_index(key: u64) -> usize {
    (fibonacci(key) >> (64 - SITES.trailing_zeros())) as usize
}

/// Calls from one place of the program to one routine, in one region.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Site {
    /// See [`key`]; 0 where the row is free.
    pub key: AtomicU64,
    /// Calls.
    pub calls: AtomicU64,
    /// Bytes, where they do not follow from the calls: [`crate::op::bytes_of_calls`].
    pub bytes: AtomicU64,
    /// Calls that were timed and stand for themselves only.
    pub exact_calls: AtomicU64,
    /// Their time in nanoseconds.
    pub exact_ns: AtomicU64,
    /// Calls timed as samples.
    pub samples: AtomicU32,
    /// Longest timed call in nanoseconds: the bits of an `f32`, which are in the order of the numbers.
    pub max_ns: AtomicU32,
    /// Calls that the samples stand for.
    pub sample_weight: AtomicU64,
    /// Time of the samples in nanoseconds, each times the calls it stands for, with what timing takes.
    pub sample_ns: AtomicU64,
}

const _: () = {
    assert!(size_of::<Site>() == 64 && SITES.is_power_of_two());
    assert!(crate::op::TOTAL < 1 << (KEY_REGION - KEY_OP) && REGIONS <= 1 << (64 - KEY_REGION));
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_again() {
        for (address, op, region) in [(0, 0, 0), (0x7fff_1234_5678, 4094, 63), (0x40_1136, 17, 1)] {
            let key = key(address, op, u64::from(region) << KEY_REGION);
            assert_eq!(split_key(key), (address, op, region));
            assert!(site_index(key) < SITES);
        }
    }
}
