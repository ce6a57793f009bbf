//! Operations on memory that is mapped here. `None`: it is not, or something is wrong, and nothing has been done;
//! [`super::rma`] and [`super::amo`] know the other ways and what to say.
#![allow(unsafe_code)]

use super::Ctx;
use super::amo::{Amo, AmoInt};
use crate::memory::Map;
use crate::transport::shm::copy::copy;

/// Copies `bytes` bytes from here to `dest` on a PE. None are for whom to look what is wrong, if anything.
#[inline(always)]
pub fn put(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Option<()> {
    let to = m.local_mapping(dest, bytes, ctx.world_pe(pe).ok()?).filter(|_| bytes > 0 && !source.is_null())?;
    // SAFETY: `to` is mapped for `bytes` bytes; the caller vouches for the source, as in any C copy.
    unsafe { copy(to, source, bytes) };
    Some(())
}

/// Copies `bytes` bytes from `source` on a PE to here.
#[inline(always)]
pub fn get(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Option<()> {
    let from = m.local_mapping(source, bytes, ctx.world_pe(pe).ok()?).filter(|_| bytes > 0 && !dest.is_null())?;
    // SAFETY: as in put, the other way round.
    unsafe { copy(dest, from, bytes) };
    Some(())
}

/// Nonblocking [`put`], which is complete.
#[inline(always)]
pub fn put_nbi(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Option<()> {
    put(m, ctx, dest, source, bytes, pe)
}

/// Nonblocking [`get`], which is complete.
#[inline(always)]
pub fn get_nbi(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Option<()> {
    get(m, ctx, dest, source, bytes, pe)
}

/// Reads one element.
#[inline(always)]
pub fn g<T: Copy>(m: &Map, ctx: Ctx, source: *const T, pe: i32) -> Option<T> {
    let from = m.local_mapping_one(source, ctx.world_pe(pe).ok()?)?;
    // SAFETY: mapped for the size of T; users may give any alignment.
    Some(unsafe { from.read_unaligned() })
}

/// Reads a value.
#[inline(always)]
pub fn fetch<T: Amo>(m: &Map, ctx: Ctx, source: *const T, pe: i32) -> Option<T> {
    let at = m.local_mapping_atomic(source, ctx.world_pe(pe).ok()?)?;
    // SAFETY: mapped and aligned; so in every function on words here.
    Some(unsafe { T::load(at) })
}

/// Writes a value and gives the one before.
#[inline(always)]
pub fn swap<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<T> {
    let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
    // SAFETY: see fetch.
    Some(unsafe { T::swap(at, value) })
}

/// Writes `value` where `cond` stands; gives what stood there.
#[inline(always)]
pub fn compare_swap<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, cond: T, value: T, pe: i32) -> Option<T> {
    let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
    // SAFETY: see fetch.
    Some(unsafe { T::compare_swap(at, cond, value) })
}

/// Adds one and gives the value before.
#[inline(always)]
pub fn fetch_inc<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, pe: i32) -> Option<T> {
    fetch_add(m, ctx, dest, T::ONE, pe)
}

/// Writes one element.
#[inline(always)]
pub fn p<T: Copy>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<()> {
    let to = m.local_mapping_one(dest, ctx.world_pe(pe).ok()?)?;
    // SAFETY: mapped for the size of T; users may give any alignment.
    unsafe { to.write_unaligned(value) };
    Some(())
}

/// Writes a value.
#[inline(always)]
pub fn set<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<()> {
    let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
    // SAFETY: see fetch.
    unsafe { T::store(at, value) };
    Some(())
}

/// Adds one.
#[inline(always)]
pub fn inc<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, pe: i32) -> Option<()> {
    add(m, ctx, dest, T::ONE, pe)
}

macro_rules! combine {
    ($($what:literal, $name:ident, $fetch:ident;)*) => { $(
        #[doc = concat!($what, " and gives the value before.")]
        #[inline(always)]
        pub fn $fetch<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<T> {
            let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
            // SAFETY: see fetch.
            Some(unsafe { T::$name(at, value) })
        }

        #[doc = concat!($what, ".")]
        #[inline(always)]
        pub fn $name<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<()> {
            let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
            // SAFETY: see fetch.
            let _ = unsafe { T::$name(at, value) };
            Some(())
        }
    )* };
}

combine! {
    "Adds", add, fetch_add;
    "Ands", and, fetch_and;
    "Ors", or, fetch_or;
    "Exclusive-ors", xor, fetch_xor;
}
