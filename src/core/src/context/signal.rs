//! Signals (Section 9.8).
#![allow(unsafe_code)]

use super::amo::{self, Amo, AmoInt};
use super::{Ctx, rma, wait};
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::shm::order;

/// `SHMEM_SIGNAL_SET`.
pub const SET: i32 = 0;
/// `SHMEM_SIGNAL_ADD`.
pub const ADD: i32 = 1;

/// The argument that messages name.
const SIG_ADDR: &str = "sig_addr";

#[cold]
fn bad_op(sig_op: i32) -> Fault {
    Fault::from(Cause::BadValue {
        arg: "sig_op",
        value: sig_op.into(),
        expected: "SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD",
    })
}

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
    // What belongs to the signal is checked before any data moves.
    let at = amo::target(m, ctx, SIG_ADDR, sig_addr, pe)?;
    if sig_op != SET && sig_op != ADD {
        return Err(bad_op(sig_op));
    }
    rma::put(m, ctx, dest, source, bytes, pe)?;
    order::fence();
    // SAFETY: `target` gives a mapped, aligned address; so in every function here.
    unsafe {
        if sig_op == SET {
            u64::store(at, signal);
        } else {
            u64::add(at, signal);
        }
    }
    Ok(())
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
    put_signal(m, ctx, dest, source, bytes, sig_addr, signal, sig_op, pe)
}

/// Adds to a signal on a PE.
#[inline(always)]
pub fn add(m: &Map, ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: i32) -> Result<(), Fault> {
    let at = amo::target(m, ctx, SIG_ADDR, sig_addr, pe)?;
    // SAFETY: see put_signal.
    unsafe { u64::add(at, signal) };
    Ok(())
}

/// Sets a signal on a PE.
#[inline(always)]
pub fn set(m: &Map, ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: i32) -> Result<(), Fault> {
    let at = amo::target(m, ctx, SIG_ADDR, sig_addr, pe)?;
    // SAFETY: see put_signal.
    unsafe { u64::store(at, signal) };
    Ok(())
}

/// Reads a signal of this PE.
#[inline(always)]
pub fn fetch(m: &Map, sig_addr: *const u64) -> Result<u64, Fault> {
    let at = amo::target(m, Ctx::DEFAULT, SIG_ADDR, sig_addr, m.me)?;
    // SAFETY: see put_signal.
    Ok(unsafe { u64::load(at) })
}

/// Waits on a signal of this PE and gives its value.
#[inline(always)]
pub fn wait_until(m: &Map, sig_addr: *mut u64, cmp: i32, value: u64) -> Result<u64, Fault> {
    wait::wait_for(m, SIG_ADDR, sig_addr, cmp, value)
}
