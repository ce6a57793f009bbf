//! Strided and block-strided remote memory access (Sections 9.6.1.3, .4, .7, .8).
#![allow(unsafe_code)]

use super::Ctx;
use super::rma::null;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::shm::strided;

/// The range that a strided object covers: elements before its address, and bytes in all.
///
/// `count` blocks (not 0) of `block` elements, `stride` elements from start to start. Products that do not fit become a size
/// that no segment has.
fn extent<T>(stride: isize, block: usize, count: usize) -> (usize, usize) {
    let reach = stride.unsigned_abs().saturating_mul(count - 1);
    let bytes = reach.saturating_add(block).saturating_mul(size_of::<T>());
    (if stride < 0 { reach } else { 0 }, bytes)
}

/// Translates the address of a strided object, checking the whole range it covers.
#[inline(always)]
fn remote<T>(
    m: &Map,
    arg: &'static str,
    addr: *const T,
    stride: isize,
    block: usize,
    count: usize,
    pe: i32,
) -> Result<*mut T, Fault> {
    let (before, bytes) = extent::<T>(stride, block, count);
    let first = addr.wrapping_sub(before);
    Ok(m.remote(arg, first, bytes, pe)?.wrapping_add(before))
}

/// Copies `nelems` elements, `sst` apart here and `dst` apart on the PE.
#[allow(clippy::too_many_arguments)] // the specification's own list
#[inline]
pub fn iput<T: Copy>(
    m: &Map,
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: i32,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if nelems == 0 {
        return m.check_pe("pe", pe);
    }
    let to = remote(m, "dest", dest, dst, 1, nelems, pe)?;
    if source.is_null() {
        return Err(null("source", super::bytes::<T>(nelems)));
    }
    // SAFETY: the destination range is checked; the caller vouches for the source.
    unsafe { strided::elements(to, source, dst, sst, nelems) };
    Ok(())
}

/// Copies `nelems` elements, `sst` apart on the PE and `dst` apart here.
#[allow(clippy::too_many_arguments)]
#[inline]
pub fn iget<T: Copy>(
    m: &Map,
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: i32,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if nelems == 0 {
        return m.check_pe("pe", pe);
    }
    let from = remote(m, "source", source, sst, 1, nelems, pe)?;
    if dest.is_null() {
        return Err(null("dest", super::bytes::<T>(nelems)));
    }
    // SAFETY: as in iput, the other way round.
    unsafe { strided::elements(dest, from, dst, sst, nelems) };
    Ok(())
}

/// Copies `nblocks` blocks of `bsize` elements; the strides run between block starts, in elements, and are >= `bsize`.
#[allow(clippy::too_many_arguments)]
#[inline]
pub fn ibput<T: Copy>(
    m: &Map,
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: i32,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if nblocks == 0 || bsize == 0 {
        return m.check_pe("pe", pe);
    }
    check_strides(dst, sst, bsize)?;
    let to = remote(m, "dest", dest, dst, bsize, nblocks, pe)?;
    if source.is_null() {
        return Err(null("source", super::bytes::<T>(bsize.saturating_mul(nblocks))));
    }
    // SAFETY: the destination range is checked; the caller vouches for the source.
    unsafe { strided::blocks(to, source, dst, sst, bsize, nblocks) };
    Ok(())
}

/// As [`ibput`], from the PE to here.
#[allow(clippy::too_many_arguments)]
#[inline]
pub fn ibget<T: Copy>(
    m: &Map,
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: i32,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if nblocks == 0 || bsize == 0 {
        return m.check_pe("pe", pe);
    }
    check_strides(dst, sst, bsize)?;
    let from = remote(m, "source", source, sst, bsize, nblocks, pe)?;
    if dest.is_null() {
        return Err(null("dest", super::bytes::<T>(bsize.saturating_mul(nblocks))));
    }
    // SAFETY: as in ibput, the other way round.
    unsafe { strided::blocks(dest, from, dst, sst, bsize, nblocks) };
    Ok(())
}

fn check_strides(dst: isize, sst: isize, bsize: usize) -> Result<(), Fault> {
    for (arg, stride) in [("dst", dst), ("sst", sst)] {
        if stride < 0 || (stride as usize) < bsize {
            return Err(Fault::from(Cause::BadValue {
                arg,
                value: stride as i64,
                expected: "a stride of at least bsize elements",
            }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents() {
        assert_eq!(extent::<u64>(3, 1, 4), (0, 80));
        assert_eq!(extent::<u64>(-3, 1, 4), (9, 80));
        assert_eq!(extent::<u32>(5, 2, 3), (0, 48));
        assert_eq!(extent::<u8>(0, 1, 9), (0, 1));
        assert_eq!(extent::<u64>(isize::MAX, 1, usize::MAX).1, usize::MAX);
    }
}
