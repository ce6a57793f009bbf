//! Transfers and atomics with handles (extensions, sections 3.2.2 and 3.2.3).
//!
//! On shared memory each is complete when its call returns, and its request is [`Request::COMPLETE`]. Over the network
//! an event tells, when the operation is complete at its target, too. Without a handle they are as the `nbi` routines:
//! complete with the next quiet.
#![allow(unsafe_code)]

use super::rma::null;
use super::{Ctx, amo, remote, rma};
use crate::base::Fault;
use crate::memory::Map;
use crate::os::signal::Blocked;
use crate::request::uses::{self, Access, Use};
use crate::request::{self, Request, Started};
use crate::transport::shm::amo::{Amo, AmoInt};
use crate::transport::shm::order;
use crate::transport::{AmoOp, Completion};

/// Begins what `start` does with the completion that it is given, and writes the request where there is a place for it.
#[inline]
fn begin(
    request: *mut Request,
    is_mapped: bool,
    ctx: Ctx,
    uses: impl Fn() -> [Use; 2],
    start: impl FnOnce(Completion) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if uses::are_kept() {
        return begin_checked(request, is_mapped, ctx, &uses(), start);
    }
    if is_mapped || request.is_null() {
        start(Completion::Deferred)?;
        // Whoever sees what this PE stores from now on sees what is complete.
        order::fence();
        return deliver(request, Request::COMPLETE);
    }
    let begun = request::with_event(uses()[1].pe, |event| start(Completion::Event(event)).map(|()| Started::UnderWay))?;
    deliver(request, begun)
}

/// As [`begin`], with `--check`: the operation has a request in any case, as long as its memory is the library's.
#[cold]
fn begin_checked(
    place: *mut Request,
    is_mapped: bool,
    ctx: Ctx,
    uses: &[Use],
    start: impl FnOnce(Completion) -> Result<(), Fault>,
) -> Result<(), Fault> {
    uses::check(uses.iter().copied())?;
    let begun = if is_mapped || place.is_null() {
        start(Completion::Deferred).map(|()| {
            order::fence();
            Request::COMPLETE
        })
    } else {
        request::with_event(uses[1].pe, |event| start(Completion::Event(event)).map(|()| Started::UnderWay))
    };
    let begun = begun?;
    // A signal handler may begin one, too.
    let _signals = Blocked::begin();
    let held = uses::hold(begun, uses, Some(ctx.bits()), !place.is_null());
    if place.is_null() {
        request::detach(held);
    }
    deliver(place, held)
}

/// What a transfer between this PE and another one does: here with its private object, there with the symmetric one.
fn uses(
    m: &Map,
    bytes: usize,
    here: (&'static str, usize, Access),
    there: (&'static str, usize, Access, i32),
) -> [Use; 2] {
    [
        Use { arg: here.0, pe: m.me, addr: here.1, bytes, access: here.2 },
        Use { arg: there.0, pe: there.3, addr: there.1, bytes, access: there.2 },
    ]
}

/// Writes a request where the caller has a place for it.
#[inline]
pub fn deliver(place: *mut Request, request: Request) -> Result<(), Fault> {
    if !place.is_null() {
        // SAFETY: not null; the caller vouches for a handle there.
        unsafe { place.write_unaligned(request) };
    }
    Ok(())
}

/// Copies `bytes` bytes from here to a PE.
pub fn put(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    request: *mut Request,
) -> Result<(), Fault> {
    let world_pe = ctx.world_pe(pe)?;
    let is_mapped = bytes == 0 || m.local_mapping(dest, bytes, world_pe).is_some();
    let used =
        || uses(m, bytes, ("source", source.addr(), Access::Read), ("target", dest.addr(), Access::Write, world_pe));
    begin(request, is_mapped, ctx, used, |when| rma::put_when(m, ctx, dest, source, bytes, pe, when))
}

/// Copies `bytes` bytes from a PE to here.
pub fn get(
    m: &Map,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    pe: i32,
    request: *mut Request,
) -> Result<(), Fault> {
    let world_pe = ctx.world_pe(pe)?;
    let is_mapped = bytes == 0 || m.local_mapping(source, bytes, world_pe).is_some();
    let used =
        || uses(m, bytes, ("target", dest.addr(), Access::Write), ("source", source.addr(), Access::Read, world_pe));
    begin(request, is_mapped, ctx, used, |when| rma::get_when(m, ctx, dest, source, bytes, pe, when))
}

/// An atomic on a word of another host, or that the network card does.
#[allow(clippy::too_many_arguments)]
fn remote_atomic<T: Amo>(
    m: &Map,
    ctx: Ctx,
    target: *mut T,
    pe: i32,
    op: AmoOp,
    values: [u64; 2],
    oldval: Option<*mut T>,
    request: *mut Request,
) -> Result<(), Fault> {
    begin(
        request,
        false,
        ctx,
        || atomic_uses(m, target, pe, oldval),
        |when| match oldval {
            Some(oldval) => remote::fetch_into(m, ctx, "target", target, pe, op, values, oldval, when),
            None => remote::update_when(m, ctx, "target", target, pe, op, values[0], when),
        },
    )
}

fn atomic_uses<T>(m: &Map, target: *mut T, pe: i32, oldval: Option<*mut T>) -> [Use; 2] {
    let bytes = size_of::<T>();
    let mut used = uses(m, bytes, ("oldval", 0, Access::Write), ("target", target.addr(), Access::Atomic, pe));
    match oldval {
        Some(oldval) => used[0].addr = oldval.addr(),
        None => used[0].bytes = 0,
    }
    used
}

/// An atomic that stores the value before: `atomic` on a word that this PE reaches, which is complete at once, and `op`
/// with its values on any other.
#[allow(clippy::too_many_arguments)]
#[inline]
fn fetching<T: Amo>(
    m: &Map,
    ctx: Ctx,
    (target, pe): (*mut T, i32),
    (op, values): (AmoOp, [u64; 2]),
    oldval: *mut T,
    request: *mut Request,
    atomic: impl FnOnce() -> Result<T, Fault>,
) -> Result<(), Fault> {
    let world_pe = ctx.world_pe(pe)?;
    if m.local_mapping_atomic(target, world_pe).is_none() {
        return remote_atomic(m, ctx, target, world_pe, op, values, Some(oldval), request);
    }
    if oldval.is_null() {
        return Err(null("oldval", size_of::<T>()));
    }
    begin(
        request,
        true,
        ctx,
        || atomic_uses(m, target, world_pe, Some(oldval)),
        |_| {
            let value = atomic()?;
            // SAFETY: not null; the caller vouches for it.
            unsafe { oldval.write_unaligned(value) };
            Ok(())
        },
    )
}

/// Adds a value and gives the one before.
pub fn fetch_add<T: AmoInt>(
    m: &Map,
    ctx: Ctx,
    target: *mut T,
    value: T,
    pe: i32,
    oldval: *mut T,
    request: *mut Request,
) -> Result<(), Fault> {
    let add = || amo::fetch_add(m, ctx, target, value, pe);
    fetching(m, ctx, (target, pe), (AmoOp::Add, [value.bits(), 0]), oldval, request, add)
}

/// Adds one and gives the value before.
pub fn fetch_inc<T: AmoInt>(
    m: &Map,
    ctx: Ctx,
    target: *mut T,
    pe: i32,
    oldval: *mut T,
    request: *mut Request,
) -> Result<(), Fault> {
    fetch_add(m, ctx, target, T::ONE, pe, oldval, request)
}

/// Adds a value.
pub fn add<T: AmoInt>(
    m: &Map,
    ctx: Ctx,
    target: *mut T,
    value: T,
    pe: i32,
    request: *mut Request,
) -> Result<(), Fault> {
    let world_pe = ctx.world_pe(pe)?;
    if m.local_mapping_atomic(target, world_pe).is_none() {
        return remote_atomic(m, ctx, target, world_pe, AmoOp::Add, [value.bits(), 0], None, request);
    }
    begin(request, true, ctx, || atomic_uses(m, target, world_pe, None), |_| amo::add(m, ctx, target, value, pe))
}

/// Adds one.
pub fn inc<T: AmoInt>(m: &Map, ctx: Ctx, target: *mut T, pe: i32, request: *mut Request) -> Result<(), Fault> {
    add(m, ctx, target, T::ONE, pe, request)
}

/// Writes a value and gives the one before.
pub fn swap<T: Amo>(
    m: &Map,
    ctx: Ctx,
    target: *mut T,
    value: T,
    pe: i32,
    oldval: *mut T,
    request: *mut Request,
) -> Result<(), Fault> {
    let swap = || amo::swap(m, ctx, target, value, pe);
    fetching(m, ctx, (target, pe), (AmoOp::Swap, [value.bits(), 0]), oldval, request, swap)
}

/// Writes `value` where `cond` stands; gives what stood there.
#[allow(clippy::too_many_arguments)] // the paper's own list
pub fn compare_swap<T: AmoInt>(
    m: &Map,
    ctx: Ctx,
    target: *mut T,
    cond: T,
    value: T,
    pe: i32,
    oldval: *mut T,
    request: *mut Request,
) -> Result<(), Fault> {
    let swap = || amo::compare_swap(m, ctx, target, cond, value, pe);
    fetching(m, ctx, (target, pe), (AmoOp::CompareSwap, [value.bits(), cond.bits()]), oldval, request, swap)
}
