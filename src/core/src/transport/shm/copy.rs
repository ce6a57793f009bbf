//! Contiguous copies.
#![allow(unsafe_code)]

use super::large;
use std::ptr;

/// Copies `bytes` bytes.
///
/// Small sizes are done with a load pair and a store pair that may overlap, all loads first: no call, no loop.
///
/// # Safety
/// `source` is readable and `dest` writable for `bytes` bytes; beyond 16 bytes they do not overlap.
#[inline(always)]
pub unsafe fn copy(dest: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: each arm touches only the first and last bytes of the ranges that the caller vouches for.
    unsafe {
        match bytes {
            8 => ends::<u64>(dest, source, 8),
            9..=16 => ends::<u64>(dest, source, bytes),
            4..=7 => ends::<u32>(dest, source, bytes),
            2..=3 => ends::<u16>(dest, source, bytes),
            1 => *dest = *source,
            0 => {}
            17..large::FROM => ptr::copy_nonoverlapping(source, dest, bytes),
            _ => large::copy(dest, source, bytes),
        }
    }
}

/// The first and the last `T` of a range.
///
/// # Safety
/// `bytes` is between one and two `T`.
#[inline(always)]
unsafe fn ends<T: Copy>(dest: *mut u8, source: *const u8, bytes: usize) {
    let last = bytes - size_of::<T>();
    // SAFETY: both accesses lie within `bytes` bytes.
    unsafe {
        let head = source.cast::<T>().read_unaligned();
        let tail = source.add(last).cast::<T>().read_unaligned();
        dest.cast::<T>().write_unaligned(head);
        dest.add(last).cast::<T>().write_unaligned(tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_size_and_some_large_ones() {
        let source: Vec<u8> = (0..5000u32).map(|i| (i * 7 + 1) as u8).collect();
        for bytes in (0..70).chain([255, 1000, 4097]) {
            let mut dest = vec![0xee; bytes + 2];
            // SAFETY: both have the room.
            unsafe { copy(dest.as_mut_ptr().add(1), source.as_ptr().add(3), bytes) };
            assert_eq!(dest[1..=bytes], source[3..3 + bytes]);
            assert_eq!((dest[0], dest[bytes + 1]), (0xee, 0xee));
        }
    }
}
