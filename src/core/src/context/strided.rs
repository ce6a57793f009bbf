//! Strided and block-strided remote memory access (Sections 9.6.1.3, .4, .7, .8).
#![allow(unsafe_code)]

use super::Ctx;
use super::rma::null;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::shm::strided;
use crate::transport::{COPIED, Completion, RemoteAddress, Transport};

/// The range that a strided object covers: elements before its address, and bytes in all.
///
/// `count` blocks (not 0) of `block` elements, `stride` elements from start to start. Products that do not fit become a
/// size that no segment has.
fn extent<T>(stride: isize, block: usize, count: usize) -> (usize, usize) {
    let reach = stride.unsigned_abs().saturating_mul(count - 1);
    let bytes = reach.saturating_add(block).saturating_mul(size_of::<T>());
    (if stride < 0 { reach } else { 0 }, bytes)
}

/// A strided object of a PE.
struct Object<T> {
    addr: *const T,
    stride: isize,
    block: usize,
    count: usize,
}

impl<T> Object<T> {
    /// Its first address and all that it covers, in bytes, and the elements before its address.
    fn range(&self) -> (*const T, usize, usize) {
        let (before, bytes) = extent::<T>(self.stride, self.block, self.count);
        (self.addr.wrapping_sub(before), bytes, before)
    }

    /// Its address where it is mapped, all of it.
    #[inline(always)]
    fn local_mapping(&self, m: &Map, pe: i32) -> Option<*mut T> {
        let (first, bytes, before) = self.range();
        Some(m.local_mapping(first, bytes, pe)?.wrapping_add(before))
    }

    /// The way to all of it, over the network or in a space, and where its blocks are.
    fn remote_address(&self, m: &Map, arg: &'static str, pe: i32) -> Result<Blocks, Fault> {
        let (first, bytes, before) = self.range();
        let (transport, first) = m.remote_address(arg, first, bytes, pe)?;
        let size = size_of::<T>();
        let step = self.stride.wrapping_mul(size as isize);
        Ok(Blocks { transport, first: RemoteAddress { offset: first.offset + before * size, ..first }, step })
    }
}

/// Blocks of one object of a PE.
struct Blocks {
    transport: &'static dyn Transport,
    /// The first.
    first: RemoteAddress,
    /// From one to the next, in bytes.
    step: isize,
}

impl Blocks {
    fn place(&self, i: isize) -> RemoteAddress {
        RemoteAddress { offset: self.first.offset.wrapping_add_signed(i.wrapping_mul(self.step)), ..self.first }
    }
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
    let there = Object { addr: dest.cast_const(), stride: dst, block: 1, count: nelems };
    let Some(to) = there.local_mapping(m, pe) else {
        return remote_put(m, ctx, &there, source, sst, pe);
    };
    if source.is_null() {
        return Err(null("source", super::bytes(size_of::<T>(), nelems)));
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
    let there = Object { addr: source, stride: sst, block: 1, count: nelems };
    let Some(from) = there.local_mapping(m, pe) else {
        return remote_get(m, ctx, dest, dst, &there, pe);
    };
    if dest.is_null() {
        return Err(null("dest", super::bytes(size_of::<T>(), nelems)));
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
    let there = Object { addr: dest.cast_const(), stride: dst, block: bsize, count: nblocks };
    let Some(to) = there.local_mapping(m, pe) else {
        return remote_put(m, ctx, &there, source, sst, pe);
    };
    if source.is_null() {
        return Err(null("source", super::bytes(size_of::<T>(), bsize.saturating_mul(nblocks))));
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
    let there = Object { addr: source, stride: sst, block: bsize, count: nblocks };
    let Some(from) = there.local_mapping(m, pe) else {
        return remote_get(m, ctx, dest, dst, &there, pe);
    };
    if dest.is_null() {
        return Err(null("dest", super::bytes(size_of::<T>(), bsize.saturating_mul(nblocks))));
    }
    // SAFETY: as in iput, the other way round.
    unsafe { strided::blocks(dest, from, dst, sst, bsize, nblocks) };
    Ok(())
}

/// Block by block over the network.
#[cold]
#[inline(never)]
fn remote_put<T: Copy>(
    m: &Map,
    ctx: Ctx,
    there: &Object<T>,
    source: *const T,
    step: isize,
    pe: i32,
) -> Result<(), Fault> {
    let blocks = there.remote_address(m, "dest", pe)?;
    if source.is_null() {
        return Err(null("source", super::bytes(size_of::<T>(), there.block.saturating_mul(there.count))));
    }
    let bytes = there.block * size_of::<T>();
    let channel = ctx.channel()?;
    // A small block is copied at once, and several travel together.
    let when = if bytes <= COPIED { Completion::Deferred } else { Completion::Local };
    for i in 0..there.count as isize {
        let from = source.wrapping_offset(i.wrapping_mul(step));
        // SAFETY: the caller of the routine vouches for the source.
        unsafe { blocks.transport.put(channel, blocks.place(i), from.cast(), bytes, when)? };
    }
    Ok(())
}

/// As [`remote_put`], the other way round: all blocks are under way together.
#[cold]
#[inline(never)]
fn remote_get<T: Copy>(m: &Map, ctx: Ctx, dest: *mut T, step: isize, there: &Object<T>, pe: i32) -> Result<(), Fault> {
    let blocks = there.remote_address(m, "source", pe)?;
    if dest.is_null() {
        return Err(null("dest", super::bytes(size_of::<T>(), there.block.saturating_mul(there.count))));
    }
    let bytes = there.block * size_of::<T>();
    let channel = ctx.channel()?;
    for i in 0..there.count as isize {
        let to = dest.wrapping_offset(i.wrapping_mul(step));
        // SAFETY: the caller of the routine vouches for the destination; it is complete before this returns.
        unsafe { blocks.transport.get(channel, to.cast(), blocks.place(i), bytes, Completion::Deferred)? };
    }
    blocks.transport.quiet_pes(channel, &mut std::iter::once(pe))
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
