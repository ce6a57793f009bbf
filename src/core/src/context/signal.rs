//! Signals (Section 9.8).
#![allow(unsafe_code)]

use super::amo::{Amo, AmoInt};
use super::{Ctx, remote, rma, wait};
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::shm::order;
use crate::transport::{AmoOp, Completion, SignalOp};

/// `SHMEM_SIGNAL_SET`.
pub const SET: i32 = 0;
/// `SHMEM_SIGNAL_ADD`.
pub const ADD: i32 = 1;

/// Copies data to a PE and then updates a signal there, which is never seen before the data.
#[allow(clippy::too_many_arguments)] // the specification's own list
#[inline(always)]
pub fn put_signal(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: i32,
    pe: i32,
) -> Result<(), Fault> {
    put_when(m, ctx, dest, source, bytes, sig_addr, signal, sig_op, pe, Completion::Local)
}

/// Nonblocking [`put_signal`].
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub fn put_signal_nbi(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: i32,
    pe: i32,
) -> Result<(), Fault> {
    put_when(m, ctx, dest, source, bytes, sig_addr, signal, sig_op, pe, Completion::Deferred)
}

#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn put_when(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: i32,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    if sig_op != SET && sig_op != ADD {
        return Err(Fault::from(Cause::BadValue {
            arg: "sig_op",
            value: sig_op.into(),
            expected: "SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD",
        }));
    }
    let world_pe = ctx.world_pe(pe)?;
    // The signal is checked before any data moves.
    let Some(at) = m.local_mapping_atomic(sig_addr, world_pe) else {
        let op = if sig_op == SET { SignalOp::Set } else { SignalOp::Add };
        return remote::put_signal(m, ctx, dest, source, bytes, sig_addr, signal, op, world_pe, when);
    };
    rma::put(m, ctx, dest, source, bytes, pe)?;
    order::fence();
    // SAFETY: mapped and aligned; so below.
    unsafe {
        if sig_op == SET {
            u64::store(at, signal);
        } else {
            u64::add(at, signal);
        }
    }
    Ok(())
}

/// Adds to a signal on a PE.
#[inline(always)]
pub fn add(m: &Map, ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: i32) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    let Some(at) = m.local_mapping_atomic(sig_addr, pe) else {
        return remote::update(m, ctx, "sig_addr", sig_addr, pe, AmoOp::Add, signal);
    };
    // SAFETY: see put_signal.
    unsafe { u64::add(at, signal) };
    Ok(())
}

/// Sets a signal on a PE.
#[inline(always)]
pub fn set(m: &Map, ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: i32) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    let Some(at) = m.local_mapping_atomic(sig_addr, pe) else {
        return remote::update(m, ctx, "sig_addr", sig_addr, pe, AmoOp::Set, signal);
    };
    // SAFETY: see put_signal.
    unsafe { u64::store(at, signal) };
    Ok(())
}

/// Reads a signal of this PE.
#[inline(always)]
pub fn fetch(m: &Map, sig_addr: *const u64) -> Result<u64, Fault> {
    let Some(at) = m.local_mapping_atomic(sig_addr, m.me) else {
        return remote::fetch(m, Ctx::DEFAULT, "sig_addr", sig_addr, m.me, AmoOp::Fetch, [0; 2]);
    };
    // SAFETY: see put_signal.
    Ok(unsafe { u64::load(at) })
}

/// Waits on a signal of this PE and gives its value.
#[inline(always)]
pub fn wait_until(m: &Map, sig_addr: *mut u64, cmp: i32, value: u64) -> Result<u64, Fault> {
    wait::wait_for(m, "sig_addr", sig_addr, cmp, value)
}
