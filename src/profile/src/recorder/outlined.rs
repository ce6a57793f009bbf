//! The recorder around a routine that is called, for bodies of routines of which there are hundreds: what comes
//! before and after a call is not inlined, and a short call that needs nothing after it is jumped to. What is jumped
//! to saves its registers itself; so what begins a short call of a profile of counts only saves none.

use super::{cold, hot, nbi, sites, tls};
use crate::arm;
use crate::op::{COMPLETES, Operation, Timing};
use crate::segment::layout::Slot;
use crate::segment::sites::SITE_OVERFLOW;

/// As [`hot::sampled`].
#[inline(always)]
pub fn sampled<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl Fn() -> R + Copy) -> R {
    let start = begin_sampled(op, peer, addr, bytes);
    if op.traits() & COMPLETES != 0 {
        return completing(op, start, f);
    }
    if start == 0 { f() } else { sample(op, start, f) }
}

/// As [`hot::sized`].
#[inline(always)]
pub fn sized<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl Fn() -> R + Copy) -> R {
    let start = begin_sized(op, peer, addr, bytes);
    if start == 0 { f() } else { long(op, start, (peer, bytes), f) }
}

/// As [`hot::timed`].
#[inline(always)]
pub fn timed<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl Fn() -> R + Copy) -> R {
    let start = begin_timed(op, peer, addr, bytes);
    let result = f();
    end_timed(op, start, peer);
    result
}

/// A call that completes others.
#[inline(always)]
fn completing<R>(op: impl Operation, start: u64, f: impl Fn() -> R) -> R {
    let begun = nbi::begin_completion(start);
    let result = f();
    let end = if start != 0 { cold::leave_sample(op.id(), start) } else { 0 };
    nbi::complete(op.id(), begun, end);
    result
}

#[cold]
#[inline(never)]
fn sample<R>(op: impl Operation, start: u64, f: impl Fn() -> R) -> R {
    let result = f();
    cold::leave_sample(op.id(), start);
    result
}

#[cold]
#[inline(never)]
fn long<R>(op: impl Operation, start: u64, (peer, bytes): (i32, usize), f: impl Fn() -> R) -> R {
    let result = f();
    hot::end_sized(op.id(), start, peer, bytes);
    result
}

#[inline(never)]
fn begin_sampled<O: Operation>(op: O, peer: i32, addr: usize, bytes: usize) -> u64 {
    let Some(slot) = tls::slot() else { return cold::enter(op.id(), peer, addr, bytes, Timing::Sampled) };
    let cell = slot.cell(op.id());
    hot::count(slot, cell, peer, hot::counted_bytes(op, bytes));
    if !arm::counts_only() {
        return begin_with_site(slot, op, (peer, addr, bytes));
    }
    hot::enter_sampled(slot, cell, op, (peer, addr, bytes), SITE_OVERFLOW as u32)
}

/// Where call sites and peers are counted too.
#[inline(never)]
fn begin_with_site<O: Operation>(slot: &Slot, op: O, (peer, addr, bytes): (i32, usize, usize)) -> u64 {
    let site = sites::note_short(slot, op, (peer, addr, bytes), true);
    hot::enter_sampled(slot, slot.cell(op.id()), op, (peer, addr, bytes), site)
}

#[inline(never)]
fn begin_sized<O: Operation>(op: O, peer: i32, addr: usize, bytes: usize) -> u64 {
    match tls::slot() {
        Some(slot) if hot::has_row(slot, op.id()) && slot.head.is_sampled(peer, bytes) => {
            hot::count_sized(slot, op.id(), peer, bytes);
            if !arm::counts_only() {
                return begin_with_site(slot, op, (peer, addr, bytes));
            }
            hot::enter_sampled(slot, slot.cell(op.id()), op, (peer, addr, bytes), SITE_OVERFLOW as u32)
        }
        _ => begin_long(op, peer, addr, bytes),
    }
}

/// What is timed whatever it takes, and the first call.
#[inline(never)]
fn begin_long<O: Operation>(op: O, peer: i32, addr: usize, bytes: usize) -> u64 {
    hot::begin_sized(op, peer, addr, bytes)
}

#[inline(never)]
fn begin_timed<O: Operation>(op: O, peer: i32, addr: usize, bytes: usize) -> u64 {
    hot::begin_timed(op, peer, addr, bytes)
}

#[inline(never)]
fn end_timed<O: Operation>(op: O, start: u64, peer: i32) {
    hot::end_timed(op, start, peer);
}
