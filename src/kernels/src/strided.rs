//! Strided copies.
#![allow(unsafe_code)]

use std::ptr;

/// Copies `nelems` elements of `elem` bytes (1, 2, 4, 8 or 16), `dst` and `sst` elements apart.
///
/// # Safety
/// Every element addressed lies in a valid range.
#[inline(never)]
pub unsafe fn elements(elem: usize, dest: *mut u8, source: *const u8, dst: isize, sst: isize, nelems: usize) {
    debug_assert!(matches!(elem, 1 | 2 | 4 | 8 | 16), "elements of {elem} bytes");
    // SAFETY: so says the caller.
    unsafe {
        match elem {
            1 => each::<u8>(dest, source, dst, sst, nelems),
            2 => each::<u16>(dest.cast(), source.cast(), dst, sst, nelems),
            4 => each::<u32>(dest.cast(), source.cast(), dst, sst, nelems),
            8 => each::<u64>(dest.cast(), source.cast(), dst, sst, nelems),
            _ => each::<u128>(dest.cast(), source.cast(), dst, sst, nelems),
        }
    }
}

/// # Safety
/// As [`elements`].
#[inline(always)]
unsafe fn each<T: Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) {
    let (mut to, mut from) = (dest, source);
    for _ in 0..nelems {
        // SAFETY: the caller vouches for each element; users may give addresses of any alignment.
        unsafe { to.write_unaligned(from.read_unaligned()) };
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}

/// Copies `nblocks` blocks of `bsize` elements of `elem` bytes, whose starts are `dst` and `sst` elements apart.
///
/// # Safety
/// As [`elements`].
#[inline(never)]
pub unsafe fn blocks(
    elem: usize,
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
) {
    let (mut to, mut from) = (dest, source);
    let step = |stride: isize| stride.wrapping_mul(elem as isize);
    let (bytes, dst, sst) = (bsize * elem, step(dst), step(sst));
    for _ in 0..nblocks {
        // SAFETY: the caller vouches for each block.
        unsafe { ptr::copy(from, to, bytes) };
        to = to.wrapping_offset(dst);
        from = from.wrapping_offset(sst);
    }
}
