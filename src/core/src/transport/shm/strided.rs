//! Strided copies.
#![allow(unsafe_code)]

use std::ptr;

/// Copies `nelems` elements, `dst` and `sst` elements apart.
///
/// # Safety
/// Every element addressed lies in a valid range.
#[inline]
pub unsafe fn elements<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) {
    let (mut to, mut from) = (dest, source);
    for _ in 0..nelems {
        // SAFETY: the caller vouches for each element; users may give addresses of any alignment.
        unsafe { to.write_unaligned(from.read_unaligned()) };
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}

/// Copies `nblocks` blocks of `bsize` elements, whose starts are `dst` and `sst` elements apart.
///
/// # Safety
/// As [`elements`].
#[inline]
pub unsafe fn blocks<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize) {
    let (mut to, mut from) = (dest, source);
    let bytes = bsize * size_of::<T>();
    for _ in 0..nblocks {
        // SAFETY: the caller vouches for each block.
        unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}
