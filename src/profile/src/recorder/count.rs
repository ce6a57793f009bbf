//! What is recorded of most short calls: a few numbers and the current operation, in a dozen instructions.
//!
//! A program that waits for memory keeps as many accesses going as fit into the processor's window of instructions;
//! what is recorded in between takes from that room, so each instruction counts. Calls that need more (a sample is due,
//! an event of the trace, a PE of another host, the first call) go on to the probe, and nothing is recorded here.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

use super::hot::{bump, bump32, counted_bytes};
use super::{flows, nbi, tls};
#[cfg(target_arch = "x86_64")]
use crate::op::MAX_OPS;
use crate::op::{
    COMPLETES, NONBLOCKING, Operation, QUERIES, SAMPLED_BYTES_ON_HOST, TRANSFER, bytes_follow, entered_for,
};
use crate::segment::flows::Flow;
#[cfg(target_arch = "x86_64")]
use crate::segment::layout::{Cell, Current, SlotHead};
use crate::segment::layout::{ROW_OVERFLOW, Slot};
use crate::segment::peers::{Transfer, transfer};
use crate::size::{Distance, class_of_short};
use crate::trace;

/// Makes a call of a short routine and counts it; in a profile that is `WITH_SITES`, by call site and peer too. None:
/// it is not made, and the probe is to record it.
///
/// It is counted when it is through: another PE may wait for what it does.
///
/// `place` is a world PE, or -1 where the call has none, the address there and the bytes.
#[inline(always)]
pub fn sampled<const WITH_SITES: bool, R>(
    op: impl Operation,
    place: (i32, usize, usize),
    call: impl FnOnce() -> R,
) -> Option<R> {
    let (slot, site) = thread::<WITH_SITES>()?;
    let bytes = place.2;
    if op.traits() & COMPLETES != 0 && nbi::end_unless_timed(slot) {
        return None;
    }
    let in_flow = WITH_SITES && bytes_follow(op);
    let distance = if in_flow { 0 } else { distance(slot, op, place.0)? };
    let flow = begin::<WITH_SITES>((slot, site), op, place, 0)?;
    let result = call();
    if let Some(flow) = flow {
        flows::count(slot, flow, op, bytes);
    }
    if !in_flow {
        let cell = slot.cell(op.id());
        bump(&cell.calls[distance], 1);
        if counted_bytes(op, bytes) != 0 {
            bump(&cell.bytes[distance], bytes as u64);
        }
    }
    Some(result)
}

/// As [`sampled`], of a call that is made only where its object is mapped here, on a PE of this host; otherwise it
/// gives none, and the probe is to make it. It moves one element, or nothing, and completes no other. `own` is the
/// calling PE: what finds the object has it at hand.
#[inline(always)]
pub fn sampled_mapped<const WITH_SITES: bool, R>(
    op: impl Operation,
    place: (i32, usize, usize),
    own: impl FnOnce() -> i32,
    call: impl FnOnce() -> Option<R>,
) -> Option<R> {
    debug_assert!(op.traits() & (COMPLETES | NONBLOCKING) == 0 && counted_bytes(op, place.2) == 0);
    let ((slot, site), peer) = (thread::<WITH_SITES>()?, place.0);
    let flow = begin::<WITH_SITES>((slot, site), op, place, 0)?;
    let result = made(slot, op, call())?;
    if let Some(flow) = flow {
        flows::count(slot, flow, op, place.2);
        if bytes_follow(op) {
            return Some(result);
        }
    }
    let distance = match op.traits() & TRANSFER {
        0 => Distance::None as usize,
        _ => Distance::Own as usize + usize::from(peer != own()),
    };
    bump(&slot.cell(op.id()).calls[distance], 1);
    Some(result)
}

/// What a call gave; where it was not made, its sample is as far away again as it was.
#[inline(always)]
fn made<R>(slot: &Slot, op: impl Operation, result: Option<R>) -> Option<R> {
    if result.is_none() {
        bump32(&slot.cell(opaque(op.entered())).countdown, 1);
    }
    result
}

/// The operation of a call that is entered, of which the compiler does not know that it is the one at hand: what
/// follows from it is not kept in a register for whom it may not come to.
#[inline(always)]
fn opaque(entered: u32) -> u16 {
    #[cfg(target_arch = "x86_64")]
    let entered = {
        let mut entered = entered;
        // SAFETY: does nothing.
        unsafe {
            core::arch::asm!("/* {0:e} */", inout(reg) entered, options(pure, nomem, nostack, preserves_flags));
        }
        entered
    };
    entered as u16
}

/// As [`sampled`], a put or get of up to [`SAMPLED_BYTES_ON_HOST`].
#[inline(always)]
pub fn sized<const WITH_SITES: bool, R>(
    op: impl Operation,
    place: (i32, usize, usize),
    call: impl FnOnce() -> R,
) -> Option<R> {
    let (slot, site) = thread::<WITH_SITES>()?;
    let bytes = place.2;
    if bytes > SAMPLED_BYTES_ON_HOST {
        return None;
    }
    if WITH_SITES {
        // What is to another host has no flow.
        let flow = begin::<true>((slot, site), op, place, class_of_short(bytes))?;
        let result = call();
        if let Some(flow) = flow {
            flows::count(slot, flow, op, bytes);
            bump(&slot.cell(op.id()).bytes[Distance::None as usize], bytes as u64);
        }
        return Some(result);
    }
    let row = slot.cell(op.id()).row.load(Relaxed);
    if row <= ROW_OVERFLOW {
        return None;
    }
    let distance = distance(slot, op, place.0)?;
    begin::<false>((slot, site), op, place, 0)?;
    let size = slot.row(row).size(class_of_short(bytes), distance);
    let result = call();
    bump(&size.calls, 1);
    bump(&size.bytes, bytes as u64);
    Some(result)
}

/// The calling thread's slot and, where that is asked for, call site.
#[inline(always)]
fn thread<const WITH_SITES: bool>() -> Option<(&'static Slot, u64)> {
    if !WITH_SITES {
        return Some((tls::slot()?, 0));
    }
    let (slot, site) = tls::slot_and_site();
    Some((slot?, site))
}

/// The distance of a peer of this host; none where it is on another one.
#[inline(always)]
fn distance(slot: &Slot, op: impl Operation, peer: i32) -> Option<usize> {
    // A transfer has a peer: a negative number is none of this host.
    if op.traits() & TRANSFER == 0 && peer < 0 {
        return Some(Distance::None as usize);
    }
    slot.head.distance_on_host(peer)
}

/// Makes the next sample one call nearer, and a call that takes time the thread's current one; in a profile that is
/// `WITH_SITES`, finds its flow. None: it is for the probe, as is one whose sample is due, the first of its flow, and
/// what is traced by itself.
#[inline(always)]
fn begin<const WITH_SITES: bool>(
    (slot, site): (&'static Slot, u64),
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
    class: usize,
) -> Option<Option<&'static Flow>> {
    // The first of a batch that is timed notes when.
    let is_first = op.traits() & NONBLOCKING != 0 && nbi::begins_timed(&slot.tables.nbi);
    if !WITH_SITES {
        if is_first || !comes_nearer(slot, op) {
            return None;
        }
        // They are followed to their completion in profiles that have call sites.
        if op.traits() & NONBLOCKING != 0 && nbi::is_followed(&slot.tables.nbi) {
            nbi::issue_more(&slot.tables.nbi);
        }
        if op.traits() & QUERIES == 0 {
            show(slot, op, peer);
        }
        return Some(None);
    }
    if is_first || trace::takes_all() {
        return None;
    }
    let word = entered_for(op, peer);
    let (flow, at) = flows::find(slot, site, word, class)?;
    if !comes_nearer(slot, op) {
        return None;
    }
    // As `show`, of what is at hand as one word.
    if is_amo(op) {
        show(slot, op, peer);
    } else if op.traits() & QUERIES == 0 {
        slot.head.current.word.store(word, Relaxed);
    }
    flows::release(slot, op, at, (peer, addr, bytes));
    Some(Some(flow))
}

/// Bytes from a slot's first cell to that of an operation.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn cell_at(op: impl Operation) -> usize {
    usize::from(op.id()) % MAX_OPS * size_of::<Cell>()
}

#[inline(always)]
fn comes_nearer(slot: &Slot, op: impl Operation) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes to a word of the slot that only this thread writes, in one instruction, as `bump` does. The carry
    // of the subtraction tells that the countdown was zero, and then it is made zero again.
    unsafe {
        core::arch::asm!(
            "sub dword ptr [{slot} + {at} + {countdown}], 1",
            "jc {due}",
            slot = in(reg) slot,
            at = in(reg) cell_at(op),
            countdown = const offset_of!(Slot, cells) + offset_of!(Cell, countdown),
            due = label {
                make_due(slot, opaque(op.entered()));
                return false;
            },
            options(nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let countdown = &slot.cell(op.id()).countdown;
        let left = countdown.load(Relaxed);
        if left == 0 {
            return false;
        }
        countdown.store(left - 1, Relaxed);
    }
    true
}

/// The sample of an operation is due.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn make_due(slot: &Slot, op: u16) {
    // SAFETY: as in `comes_nearer`; the operation is one that has a cell, since it is the remainder.
    unsafe {
        core::arch::asm!(
            "mov dword ptr [{slot} + {at} + {countdown}], 0",
            slot = in(reg) slot,
            at = in(reg) cell_at(op),
            countdown = const offset_of!(Slot, cells) + offset_of!(Cell, countdown),
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
fn is_amo(op: impl Operation) -> bool {
    op.traits() & TRANSFER != 0 && transfer(op) == Transfer::Amo as usize
}

/// Makes the call the thread's current one.
#[inline(always)]
fn show(slot: &Slot, op: impl Operation, peer: i32) {
    let current = &slot.head.current.word;
    // An atomic operation waits for the stores before it: of several in a row only the first is shown, without its
    // peer.
    if is_amo(op) {
        // SAFETY: only this thread writes it. Of what is not atomic compilers look at the half that they need.
        let shown = unsafe { *current.as_ptr() } as u32;
        if shown != op.entered() {
            current.store(entered_for(op, -1), Relaxed);
        }
        return;
    }
    if cfg!(not(target_arch = "x86_64")) {
        return current.store(entered_for(op, peer), Relaxed);
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes to the halves of a word of the slot that only this thread writes: to put them together first takes
    // two instructions more.
    unsafe {
        core::arch::asm!(
            "mov dword ptr [{slot} + {word}], {current:e}",
            "mov dword ptr [{slot} + {word} + 4], {peer:e}",
            slot = in(reg) slot,
            peer = in(reg) peer,
            word = const offset_of!(Slot, head) + offset_of!(SlotHead, current) + offset_of!(Current, word),
            current = in(reg) op.entered(),
            options(nostack, preserves_flags)
        );
    }
}
