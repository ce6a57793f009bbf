//! Contiguous remote memory access (Sections 9.6.1.1, .2, .5, .6 and 9.6.2).
//!
//! On shared memory the nonblocking forms are complete when they return, which the specification allows.
#![allow(unsafe_code)]

use super::{Ctx, near, remote};
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::Completion;

/// Copies `bytes` bytes from here to `dest` on a PE.
#[inline(always)]
pub fn put(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Result<(), Fault> {
    put_when(m, ctx, dest, source, bytes, pe, Completion::Local)
}

/// Copies `bytes` bytes from `source` on a PE to here.
#[inline(always)]
pub fn get(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Result<(), Fault> {
    get_when(m, ctx, dest, source, bytes, pe, Completion::Local)
}

/// Nonblocking [`put`]: complete after the next quiet at the latest.
#[inline(always)]
pub fn put_nbi(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Result<(), Fault> {
    put_when(m, ctx, dest, source, bytes, pe, Completion::Deferred)
}

/// Nonblocking [`get`]: complete after the next quiet at the latest.
#[inline(always)]
pub fn get_nbi(m: &Map, ctx: Ctx, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Result<(), Fault> {
    get_when(m, ctx, dest, source, bytes, pe, Completion::Deferred)
}

#[inline(always)]
pub(super) fn put_when(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    match near::put(m, ctx, dest, source, bytes, pe) {
        Some(()) => Ok(()),
        None => put_unmapped(m, ctx, dest, source, bytes, pe, when),
    }
}

#[cold]
#[inline(never)]
fn put_unmapped(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if bytes == 0 {
        return m.check_pe("pe", pe);
    }
    if source.is_null() && m.local_mapping(dest, bytes, pe).is_some() {
        return Err(null("source", bytes));
    }
    remote::put(m, ctx, dest, source, bytes, pe, when)
}

#[inline(always)]
pub(super) fn get_when(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    match near::get(m, ctx, dest, source, bytes, pe) {
        Some(()) => Ok(()),
        None => get_unmapped(m, ctx, dest, source, bytes, pe, when),
    }
}

#[cold]
#[inline(never)]
fn get_unmapped(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    when: Completion,
) -> Result<(), Fault> {
    let pe = ctx.world_pe(pe)?;
    if bytes == 0 {
        return m.check_pe("pe", pe);
    }
    if dest.is_null() && m.local_mapping(source, bytes, pe).is_some() {
        return Err(null("dest", bytes));
    }
    remote::get(m, ctx, dest, source, bytes, pe, when)
}

/// Writes one element on a PE.
#[inline(always)]
pub fn p<T: Copy>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Result<(), Fault> {
    match near::p(m, ctx, dest, value, pe) {
        Some(()) => Ok(()),
        None => remote::p(m, ctx, dest, value, ctx.world_pe(pe)?),
    }
}

/// Reads one element from a PE.
#[inline(always)]
pub fn g<T: Copy>(m: &Map, ctx: Ctx, source: *const T, pe: i32) -> Result<T, Fault> {
    match near::g(m, ctx, source, pe) {
        Some(value) => Ok(value),
        None => remote::g(m, ctx, source, ctx.world_pe(pe)?),
    }
}

#[cold]
#[inline(never)]
pub(super) fn null(arg: &'static str, bytes: usize) -> Fault {
    Fault::from(Cause::Null { arg, bytes })
}
