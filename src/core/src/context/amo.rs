//! Atomic memory operations (Section 9.7), blocking and nonblocking.
//!
//! All atomics of a job on one host go through the CPU, so those of different PEs and contexts exclude each other.
#![allow(unsafe_code)]

use super::Ctx;
use crate::base::{Cause, Fault};
use crate::memory::Map;
pub use crate::transport::shm::amo::{Amo, AmoInt};

#[inline(always)]
pub(super) fn target<T>(m: &Map, ctx: Ctx, arg: &'static str, addr: *const T, pe: i32) -> Result<*mut T, Fault> {
    let at = m.remote(arg, addr, size_of::<T>(), ctx.world_pe(pe)?)?;
    if at.is_aligned() { Ok(at) } else { Err(misaligned(arg, addr)) }
}

#[cold]
fn misaligned<T>(arg: &'static str, addr: *const T) -> Fault {
    Fault::from(Cause::Misaligned { arg, addr: addr as usize, align: align_of::<T>() })
}

/// Reads a value.
#[inline(always)]
pub fn fetch<T: Amo>(m: &Map, ctx: Ctx, source: *const T, pe: i32) -> Result<T, Fault> {
    let at = target(m, ctx, "source", source, pe)?;
    // SAFETY: `target` gives a mapped, aligned address; so in every function here.
    Ok(unsafe { T::load(at) })
}

/// Writes a value.
#[inline(always)]
pub fn set<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
    let at = target(m, ctx, "dest", dest, pe)?;
    // SAFETY: see fetch.
    unsafe { T::store(at, value) };
    Ok(())
}

/// Writes a value and gives the one before.
#[inline(always)]
pub fn swap<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<T, Fault> {
    let at = target(m, ctx, "dest", dest, pe)?;
    // SAFETY: see fetch.
    Ok(unsafe { T::swap(at, value) })
}

/// Writes `value` where `cond` stands; gives what stood there.
#[inline(always)]
pub fn compare_swap<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, cond: T, value: T, pe: i32) -> Result<T, Fault> {
    let at = target(m, ctx, "dest", dest, pe)?;
    // SAFETY: see fetch.
    Ok(unsafe { T::compare_swap(at, cond, value) })
}

/// Adds one and gives the value before.
#[inline(always)]
pub fn fetch_inc<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, pe: i32) -> Result<T, Fault> {
    fetch_add(m, ctx, dest, T::ONE, pe)
}

/// Adds one.
#[inline(always)]
pub fn inc<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, pe: i32) -> Result<(), Fault> {
    add(m, ctx, dest, T::ONE, pe)
}

macro_rules! combine {
    ($($what:literal, $fetch:ident, $plain:ident, $op:ident;)*) => { $(
        #[doc = concat!($what, " and gives the value before.")]
        #[inline(always)]
        pub fn $fetch<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<T, Fault> {
            let at = target(m, ctx, "dest", dest, pe)?;
            // SAFETY: see fetch.
            Ok(unsafe { T::$op(at, value) })
        }
        #[doc = concat!($what, ".")]
        #[inline(always)]
        pub fn $plain<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
            let at = target(m, ctx, "dest", dest, pe)?;
            // SAFETY: see fetch.
            let _ = unsafe { T::$op(at, value) };
            Ok(())
        }
    )* };
}

combine! {
    "Adds", fetch_add, add, add;
    "Ands", fetch_and, and, and;
    "Ors", fetch_or, or, or;
    "Exclusive-ors", fetch_xor, xor, xor;
}

/// Stores the result of a nonblocking fetch: on shared memory it is there at once.
#[inline(always)]
fn deliver<T>(fetch: *mut T, value: T) -> Result<(), Fault> {
    if fetch.is_null() {
        return Err(super::rma::null("fetch", size_of::<T>()));
    }
    // SAFETY: the caller vouches for `fetch`, as for any result pointer of C.
    unsafe { fetch.write_unaligned(value) };
    Ok(())
}

/// Nonblocking [`fetch`].
#[inline(always)]
pub fn fetch_nbi<T: Amo>(m: &Map, ctx: Ctx, result: *mut T, source: *const T, pe: i32) -> Result<(), Fault> {
    deliver(result, fetch(m, ctx, source, pe)?)
}

/// Nonblocking [`swap`].
#[inline(always)]
pub fn swap_nbi<T: Amo>(m: &Map, ctx: Ctx, result: *mut T, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
    deliver(result, swap(m, ctx, dest, value, pe)?)
}

/// Nonblocking [`compare_swap`].
#[inline(always)]
pub fn compare_swap_nbi<T: AmoInt>(
    m: &Map,
    ctx: Ctx,
    result: *mut T,
    dest: *mut T,
    cond: T,
    value: T,
    pe: i32,
) -> Result<(), Fault> {
    deliver(result, compare_swap(m, ctx, dest, cond, value, pe)?)
}

/// Nonblocking [`fetch_inc`].
#[inline(always)]
pub fn fetch_inc_nbi<T: AmoInt>(m: &Map, ctx: Ctx, result: *mut T, dest: *mut T, pe: i32) -> Result<(), Fault> {
    deliver(result, fetch_inc(m, ctx, dest, pe)?)
}

macro_rules! nonblocking {
    ($($nbi:ident, $blocking:ident;)*) => { $(
        #[doc = concat!("Nonblocking [`", stringify!($blocking), "`].")]
        #[inline(always)]
        pub fn $nbi<T: AmoInt>(m: &Map, ctx: Ctx, result: *mut T, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
            deliver(result, $blocking(m, ctx, dest, value, pe)?)
        }
    )* };
}

nonblocking! {
    fetch_add_nbi, fetch_add;
    fetch_and_nbi, fetch_and;
    fetch_or_nbi, fetch_or;
    fetch_xor_nbi, fetch_xor;
}
