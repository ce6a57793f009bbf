//! Atomic memory operations (Section 9.7), blocking and nonblocking.
//!
//! All atomics of a job on one word exclude each other, since they go through one domain: the CPU of the word's host,
//! which PEs of other hosts reach by active messages; or, with `SHMEM_ATOMICS=nic`, the network card, for all PEs.
#![allow(unsafe_code)]

use super::{Ctx, near, remote};
use crate::base::Fault;
use crate::memory::Map;
pub use crate::transport::shm::amo::{Amo, AmoInt};
use crate::transport::{AmoOp, Completion};

/// Reads a value.
#[inline(always)]
pub fn fetch<T: Amo>(m: &Map, ctx: Ctx, source: *const T, pe: i32) -> Result<T, Fault> {
    match near::fetch(m, ctx, source, pe) {
        Some(value) => Ok(value),
        None => remote::fetch(m, ctx, "source", source, ctx.world_pe(pe)?, AmoOp::Fetch, [0; 2]),
    }
}

/// Writes a value.
#[inline(always)]
pub fn set<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
    match near::set(m, ctx, dest, value, pe) {
        Some(()) => Ok(()),
        None => remote::update(m, ctx, "dest", dest, ctx.world_pe(pe)?, AmoOp::Set, value),
    }
}

/// Writes a value and gives the one before.
#[inline(always)]
pub fn swap<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<T, Fault> {
    match near::swap(m, ctx, dest, value, pe) {
        Some(before) => Ok(before),
        None => remote::fetch(m, ctx, "dest", dest, ctx.world_pe(pe)?, AmoOp::Swap, [value.bits(), 0]),
    }
}

/// Writes `value` where `cond` stands; gives what stood there.
#[inline(always)]
pub fn compare_swap<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, cond: T, value: T, pe: i32) -> Result<T, Fault> {
    let values = [value.bits(), cond.bits()];
    match near::compare_swap(m, ctx, dest, cond, value, pe) {
        Some(before) => Ok(before),
        None => remote::fetch(m, ctx, "dest", dest, ctx.world_pe(pe)?, AmoOp::CompareSwap, values),
    }
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
    ($($what:literal, $fetch:ident, $plain:ident, $nbi:ident, $op_of:ident;)*) => { $(
        #[doc = concat!($what, " and gives the value before.")]
        #[inline(always)]
        pub fn $fetch<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<T, Fault> {
            match near::$fetch(m, ctx, dest, value, pe) {
                Some(before) => Ok(before),
                None => remote::fetch(m, ctx, "dest", dest, ctx.world_pe(pe)?, AmoOp::$op_of, [value.bits(), 0]),
            }
        }
        #[doc = concat!($what, ".")]
        #[inline(always)]
        pub fn $plain<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
            match near::$plain(m, ctx, dest, value, pe) {
                Some(()) => Ok(()),
                None => remote::update(m, ctx, "dest", dest, ctx.world_pe(pe)?, AmoOp::$op_of, value),
            }
        }
        #[doc = concat!("Nonblocking [`", stringify!($fetch), "`].")]
        #[inline(always)]
        pub fn $nbi<T: AmoInt>(
            m: &Map,
            ctx: Ctx,
            result: *mut T,
            dest: *mut T,
            value: T,
            pe: i32,
        ) -> Result<(), Fault> {
            let world_pe = ctx.world_pe(pe)?;
            if m.local_mapping_atomic(dest, world_pe).is_none() {
                let (op, values) = (AmoOp::$op_of, [value.bits(), 0]);
                return remote::fetch_into(m, ctx, "dest", dest, world_pe, op, values, result, Completion::Deferred);
            }
            deliver(result, $fetch(m, ctx, dest, value, pe)?)
        }
    )* };
}

combine! {
    "Adds", fetch_add, add, fetch_add_nbi, Add;
    "Ands", fetch_and, and, fetch_and_nbi, And;
    "Ors", fetch_or, or, fetch_or_nbi, Or;
    "Exclusive-ors", fetch_xor, xor, fetch_xor_nbi, Xor;
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
    let pe = ctx.world_pe(pe)?;
    match m.local_mapping_atomic(source, pe) {
        // SAFETY: see fetch.
        Some(at) => deliver(result, unsafe { T::load(at) }),
        None => remote::fetch_into(m, ctx, "source", source, pe, AmoOp::Fetch, [0; 2], result, Completion::Deferred),
    }
}

/// Nonblocking [`swap`].
#[inline(always)]
pub fn swap_nbi<T: Amo>(m: &Map, ctx: Ctx, result: *mut T, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    match m.local_mapping_atomic(dest, pe) {
        // SAFETY: see fetch.
        Some(at) => deliver(result, unsafe { T::swap(at, value) }),
        None => {
            remote::fetch_into(m, ctx, "dest", dest, pe, AmoOp::Swap, [value.bits(), 0], result, Completion::Deferred)
        }
    }
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
    let pe = ctx.world_pe(pe)?;
    let values = [value.bits(), cond.bits()];
    match m.local_mapping_atomic(dest, pe) {
        // SAFETY: see fetch.
        Some(at) => deliver(result, unsafe { T::compare_swap(at, cond, value) }),
        None => remote::fetch_into(m, ctx, "dest", dest, pe, AmoOp::CompareSwap, values, result, Completion::Deferred),
    }
}

/// Nonblocking [`fetch_inc`].
#[inline(always)]
pub fn fetch_inc_nbi<T: AmoInt>(m: &Map, ctx: Ctx, result: *mut T, dest: *mut T, pe: i32) -> Result<(), Fault> {
    fetch_add_nbi(m, ctx, result, dest, T::ONE, pe)
}
