//! The same operations for objects of PEs on other hosts, where the network decides what they cost, and in spaces: out
//! of line.
//!
//! These functions also explain what is wrong with a call whose object was found nowhere.
#![allow(unsafe_code)]

use super::Ctx;
use super::rma::null;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::memory::spaces::MAPPED;
use crate::transport::shm::amo::{self, Amo};
use crate::transport::shm::copy::copy;
use crate::transport::shm::order;
use crate::transport::{AmoOp, Atomic, Completion, RemoteAddress, SignalOp, Transport};
use std::mem::MaybeUninit;

/// Copies `bytes` bytes (not 0) from here to a PE.
#[cold]
#[inline(never)]
pub(super) fn put(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    if let Some(to) = m.mapping_in_space(dest, bytes, pe).filter(|_| !source.is_null()) {
        // SAFETY: mapped; the caller of the routine vouches for the source.
        unsafe { copy(to, source, bytes) };
        return Ok(());
    }
    let (transport, to) = m.remote_address("dest", dest, bytes, pe)?;
    if source.is_null() {
        return Err(null("source", bytes));
    }
    // SAFETY: the caller of the routine vouches for the source.
    unsafe { transport.put(ctx.channel()?, to, source, bytes, when) }
}

/// Copies `bytes` bytes (not 0) from a PE to here.
#[cold]
#[inline(never)]
pub(super) fn get(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    if let Some(from) = m.source_mapping(source, bytes, pe).filter(|_| !dest.is_null()) {
        // SAFETY: mapped; the caller of the routine vouches for the destination.
        unsafe { copy(dest, from, bytes) };
        return Ok(());
    }
    let (transport, from) = m.remote_address("source", source, bytes, pe)?;
    if dest.is_null() {
        return Err(null("dest", bytes));
    }
    // SAFETY: the caller of the routine vouches for the destination.
    unsafe { transport.get(ctx.channel()?, dest, from, bytes, when) }
}

/// Writes one element on a PE.
#[cold]
#[inline(never)]
pub(super) fn p<T: Copy>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
    if let Some(to) = m.mapping_in_space(dest, size_of::<T>(), pe) {
        // SAFETY: mapped for the size of T; users may give any alignment.
        unsafe { to.write_unaligned(value) };
        return Ok(());
    }
    let (transport, to) = m.remote_address("dest", dest, size_of::<T>(), pe)?;
    // SAFETY: the value lives here until the call returns.
    unsafe { transport.put(ctx.channel()?, to, (&raw const value).cast(), size_of::<T>(), Completion::Local) }
}

/// Reads one element from a PE.
#[cold]
#[inline(never)]
pub(super) fn g<T: Copy>(m: &Map, ctx: Ctx, source: *const T, pe: i32) -> Result<T, Fault> {
    if let Some(from) = m.source_mapping(source, size_of::<T>(), pe) {
        // SAFETY: as in p.
        return Ok(unsafe { from.read_unaligned() });
    }
    let (transport, from) = m.remote_address("source", source, size_of::<T>(), pe)?;
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: there is room for a T, and it is filled in at return; every bit pattern is a value of the types of the
    // API.
    unsafe {
        transport.get(ctx.channel()?, value.as_mut_ptr().cast(), from, size_of::<T>(), Completion::Local)?;
        Ok(value.assume_init())
    }
}

/// The way to a word, which must be aligned.
fn word<T>(
    m: &Map,
    arg: &'static str,
    addr: *const T,
    pe: i32,
) -> Result<(&'static dyn Transport, RemoteAddress), Fault> {
    if !addr.is_aligned() && m.contains(addr as usize, size_of::<T>()) && m.check_pe("pe", pe).is_ok() {
        return Err(Fault::from(Cause::Misaligned { arg, addr: addr as usize, align: align_of::<T>() }));
    }
    m.word_address(arg, addr, pe)
}

/// A word of a space that atomics reach by the CPU.
#[inline]
fn word_in_space<T>(m: &Map, addr: *const T, pe: i32) -> Option<*mut u8> {
    let reaches = m.atomic_pes > 0 && addr.is_aligned();
    let at = reaches.then(|| m.mapping_in_space(addr, size_of::<T>(), pe)).flatten()?;
    Some(at.cast())
}

/// An atomic operation that nobody wants the result of.
#[cold]
#[inline(never)]
pub(super) fn update<T: Amo>(
    m: &Map,
    ctx: Ctx,
    arg: &'static str,
    addr: *const T,
    pe: i32,
    op: AmoOp,
    value: T,
) -> Result<(), Fault> {
    update_when(m, ctx, arg, addr, pe, op, value.bits(), Completion::Local)
}

/// As [`update`], complete when `when` says. `operand`: the bits of the value.
#[cold]
#[allow(clippy::too_many_arguments)]
pub(super) fn update_when<T: Amo>(
    m: &Map,
    ctx: Ctx,
    arg: &'static str,
    addr: *const T,
    pe: i32,
    op: AmoOp,
    operand: u64,
    when: Completion,
) -> Result<(), Fault> {
    if let Some(at) = word_in_space(m, addr, pe) {
        // SAFETY: mapped and aligned.
        unsafe { amo::apply(at, op, size_of::<T>() as u8, operand, 0) };
        return Ok(());
    }
    let (transport, at) = word(m, arg, addr, pe)?;
    let atomic = Atomic { op, width: size_of::<T>() as u8, operand, compare: 0, result: std::ptr::null_mut() };
    // SAFETY: there is no result.
    unsafe { transport.atomic(ctx.channel()?, at, atomic, when) }
}

/// An atomic operation that gives the value before. `values`: what is given, and what is compared with.
#[cold]
#[inline(never)]
pub(super) fn fetch<T: Amo>(
    m: &Map,
    ctx: Ctx,
    arg: &'static str,
    addr: *const T,
    pe: i32,
    op: AmoOp,
    values: [u64; 2],
) -> Result<T, Fault> {
    let mut before = MaybeUninit::<T>::uninit();
    fetch_into(m, ctx, arg, addr, pe, op, values, before.as_mut_ptr(), Completion::Local)?;
    // SAFETY: filled in at return; every bit pattern is a value.
    Ok(unsafe { before.assume_init() })
}

/// As [`fetch`], with the value before stored at `result` when `when` says.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn fetch_into<T: Amo>(
    m: &Map,
    ctx: Ctx,
    arg: &'static str,
    addr: *const T,
    pe: i32,
    op: AmoOp,
    [operand, compare]: [u64; 2],
    result: *mut T,
    when: Completion,
) -> Result<(), Fault> {
    if let Some(at) = word_in_space(m, addr, pe).filter(|_| !result.is_null()) {
        // SAFETY: mapped and aligned; the caller of the routine vouches for the result.
        unsafe {
            let before = amo::apply(at, op, size_of::<T>() as u8, operand, compare);
            result.cast::<u8>().copy_from_nonoverlapping(before.to_ne_bytes().as_ptr(), size_of::<T>());
        }
        return Ok(());
    }
    let (transport, at) = word(m, arg, addr, pe)?;
    if result.is_null() {
        return Err(null("fetch", size_of::<T>()));
    }
    let atomic = Atomic { op, width: size_of::<T>() as u8, operand, compare, result: result.cast() };
    // SAFETY: the caller of the routine vouches for the result.
    unsafe { transport.atomic(ctx.channel()?, at, atomic, when) }
}

/// Copies data to a PE and then updates a signal there.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(super) fn put_signal(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    sig_addr: *mut u64,
    value: u64,
    op: SignalOp,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    let (transport, signal) = word(m, "sig_addr", sig_addr, pe)?;
    let channel = ctx.channel()?;
    if signal.segment == MAPPED && bytes > 0 {
        // A signal in a space, by stores: where the data go is looked up on its own.
        let to = m.remote("dest", dest, bytes, pe)?;
        if source.is_null() {
            return Err(null("source", bytes));
        }
        // SAFETY: mapped; the caller of the routine vouches for the source.
        unsafe { copy(to, source, bytes) };
        order::fence();
        return update(m, ctx, "sig_addr", sig_addr, pe, op.amo(), value);
    }
    if bytes == 0 {
        let atomic = Atomic::of_signal(op, value);
        // SAFETY: there is no result.
        return unsafe { transport.atomic(channel, signal, atomic, Completion::Local) };
    }
    // The same way as the signal.
    let (_, to) = m.network_address("dest", dest, bytes, pe)?;
    if source.is_null() {
        return Err(null("source", bytes));
    }
    // SAFETY: the caller of the routine vouches for the source.
    unsafe { transport.put_signal(channel, to, source, bytes, signal, value, op, when) }
}
