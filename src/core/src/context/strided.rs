//! Strided and block-strided remote memory access (Sections 9.6.1.3, .4, .7, .8).
#![allow(unsafe_code)]

use super::Ctx;
use super::rma::null;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::{Blocks, RemoteAddress, Transport};
use pellucid_kernels::strided;

/// The range that a strided object covers: bytes before its address, and in all.
///
/// `count` blocks (not 0) of `block` elements of `elem` bytes, `stride` elements from start to start. Products that do
/// not fit become a size that no segment has.
fn extent(elem: usize, stride: isize, block: usize, count: usize) -> (usize, usize) {
    let reach = stride.unsigned_abs().saturating_mul(count - 1);
    let bytes = reach.saturating_add(block).saturating_mul(elem);
    (if stride < 0 { reach.wrapping_mul(elem) } else { 0 }, bytes)
}

/// A strided object of a PE.
struct Object {
    addr: *const u8,
    /// Bytes of an element.
    elem: usize,
    /// In elements.
    stride: isize,
    block: usize,
    count: usize,
}

impl Object {
    /// Its first address and all that it covers, in bytes, and the bytes before its address.
    fn range(&self) -> (*const u8, usize, usize) {
        let (before, bytes) = extent(self.elem, self.stride, self.block, self.count);
        (self.addr.wrapping_sub(before), bytes, before)
    }

    /// Its address where it is mapped, all of it.
    #[inline(always)]
    fn local_mapping(&self, m: &Map, pe: i32) -> Option<*mut u8> {
        let (first, bytes, before) = self.range();
        Some(m.local_mapping(first, bytes, pe)?.wrapping_add(before))
    }

    /// The way to all of it, over the network or in a space, and its first block.
    fn remote_address(
        &self,
        m: &Map,
        arg: &'static str,
        pe: i32,
    ) -> Result<(&'static dyn Transport, RemoteAddress), Fault> {
        let (first, bytes, before) = self.range();
        let (transport, first) = m.remote_address(arg, first, bytes, pe)?;
        Ok((transport, RemoteAddress { offset: first.offset + before, ..first }))
    }

    /// Its blocks, and those `stride` elements apart here.
    fn blocks(&self, stride: isize) -> Blocks {
        let bytes = |stride: isize| stride.wrapping_mul(self.elem as isize);
        Blocks { bytes: self.block * self.elem, count: self.count, here: bytes(stride), there: bytes(self.stride) }
    }
}

/// Copies `nelems` elements of `elem` bytes, `sst` elements apart here and `dst` apart on the PE.
#[allow(clippy::too_many_arguments)] // the specification's own list
#[inline(always)]
pub fn iput(
    m: &Map,
    ctx: Ctx,
    elem: usize,
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: i32,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if nelems == 0 {
        return m.check_pe("pe", pe);
    }
    let there = Object { addr: dest.cast_const(), elem, stride: dst, block: 1, count: nelems };
    let Some(to) = there.local_mapping(m, pe) else {
        return remote_put(m, ctx, &there, source, sst, pe);
    };
    if source.is_null() {
        return Err(null("source", super::bytes(elem, nelems)));
    }
    // SAFETY: the destination range is checked; the caller vouches for the source.
    unsafe { strided::elements(elem, to, source, dst, sst, nelems) };
    Ok(())
}

/// As [`iput`], from the PE to here.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub fn iget(
    m: &Map,
    ctx: Ctx,
    elem: usize,
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: i32,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if nelems == 0 {
        return m.check_pe("pe", pe);
    }
    let there = Object { addr: source, elem, stride: sst, block: 1, count: nelems };
    let Some(from) = there.local_mapping(m, pe) else {
        return remote_get(m, ctx, dest, dst, &there, pe);
    };
    if dest.is_null() {
        return Err(null("dest", super::bytes(elem, nelems)));
    }
    // SAFETY: as in iput, the other way round.
    unsafe { strided::elements(elem, dest, from, dst, sst, nelems) };
    Ok(())
}

/// Copies `nblocks` blocks of `bsize` elements of `elem` bytes; the strides run between block starts, in elements, and
/// are >= `bsize`.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub fn ibput(
    m: &Map,
    ctx: Ctx,
    elem: usize,
    dest: *mut u8,
    source: *const u8,
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
    let there = Object { addr: dest.cast_const(), elem, stride: dst, block: bsize, count: nblocks };
    let Some(to) = there.local_mapping(m, pe) else {
        return remote_put(m, ctx, &there, source, sst, pe);
    };
    if source.is_null() {
        return Err(null("source", super::bytes(elem, bsize.saturating_mul(nblocks))));
    }
    // SAFETY: the destination range is checked; the caller vouches for the source.
    unsafe { strided::blocks(elem, to, source, dst, sst, bsize, nblocks) };
    Ok(())
}

/// As [`ibput`], from the PE to here.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub fn ibget(
    m: &Map,
    ctx: Ctx,
    elem: usize,
    dest: *mut u8,
    source: *const u8,
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
    let there = Object { addr: source, elem, stride: sst, block: bsize, count: nblocks };
    let Some(from) = there.local_mapping(m, pe) else {
        return remote_get(m, ctx, dest, dst, &there, pe);
    };
    if dest.is_null() {
        return Err(null("dest", super::bytes(elem, bsize.saturating_mul(nblocks))));
    }
    // SAFETY: as in iput, the other way round.
    unsafe { strided::blocks(elem, dest, from, dst, sst, bsize, nblocks) };
    Ok(())
}

/// Over the network.
#[cold]
#[inline(never)]
fn remote_put(m: &Map, ctx: Ctx, there: &Object, source: *const u8, step: isize, pe: i32) -> Result<(), Fault> {
    let (transport, first) = there.remote_address(m, "dest", pe)?;
    if source.is_null() {
        return Err(null("source", super::bytes(there.elem, there.block.saturating_mul(there.count))));
    }
    let blocks = there.blocks(step);
    let channel = ctx.channel()?;
    // SAFETY: the caller of the routine vouches for the source.
    unsafe { transport.put_blocks(channel, first, source, blocks) }
}

/// As [`remote_put`], the other way round: all blocks are under way together. Constants are here as well.
#[cold]
#[inline(never)]
fn remote_get(m: &Map, ctx: Ctx, dest: *mut u8, step: isize, there: &Object, pe: i32) -> Result<(), Fault> {
    let (first, bytes, before) = there.range();
    if let Some(first) = m.source_mapping(first, bytes, pe).filter(|_| !dest.is_null()) {
        let Object { elem, stride, block, count, .. } = *there;
        // SAFETY: all of the source is mapped; the caller of the routine vouches for the destination.
        unsafe { strided::blocks(elem, dest, first.wrapping_add(before), step, stride, block, count) };
        return Ok(());
    }
    let (transport, first) = there.remote_address(m, "source", pe)?;
    if dest.is_null() {
        return Err(null("dest", super::bytes(there.elem, there.block.saturating_mul(there.count))));
    }
    let channel = ctx.channel()?;
    // SAFETY: the caller of the routine vouches for the destination; it is complete before this returns.
    unsafe { transport.get_blocks(channel, dest, first, there.blocks(step))? };
    transport.quiet_pes(channel, &mut std::iter::once(pe))
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
        assert_eq!(extent(8, 3, 1, 4), (0, 80));
        assert_eq!(extent(8, -3, 1, 4), (72, 80));
        assert_eq!(extent(4, 5, 2, 3), (0, 48));
        assert_eq!(extent(1, 0, 1, 9), (0, 1));
        assert_eq!(extent(8, isize::MAX, 1, usize::MAX).1, usize::MAX);
    }
}
