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
use super::{flows, tls};
use crate::op::{COMPLETES, NONBLOCKING, Operation, QUERIES, SAMPLED_BYTES_ON_HOST, TRANSFER};
use crate::segment::flows::{Flow, is_alone};
#[cfg(target_arch = "x86_64")]
use crate::segment::layout::{Cell, Current, SlotHead};
use crate::segment::layout::{ROW_OVERFLOW, Slot};
use crate::segment::peers::{Transfer, transfer};
use crate::size::{Distance, size_class};
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
    let slot = tls::slot()?;
    let bytes = place.2;
    if op.traits() & COMPLETES != 0 && slot.tables.nbi.open.load(Relaxed) != 0 {
        return None;
    }
    let in_flow = WITH_SITES && is_alone(op);
    let distance = if in_flow { 0 } else { distance(slot, op, place.0)? };
    let flow = begin::<WITH_SITES>(slot, op, place)?;
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
    let (slot, peer) = (tls::slot()?, place.0);
    let flow = begin::<WITH_SITES>(slot, op, place)?;
    let result = made(slot, op, call())?;
    if let Some(flow) = flow {
        flows::count(slot, flow, op, place.2);
        if is_alone(op) {
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
        bump32(&slot.cell(op.id()).countdown, 1);
    }
    result
}

/// As [`sampled`], a put or get of up to [`SAMPLED_BYTES_ON_HOST`].
#[inline(always)]
pub fn sized<const WITH_SITES: bool, R>(
    op: impl Operation,
    place: (i32, usize, usize),
    call: impl FnOnce() -> R,
) -> Option<R> {
    let slot = tls::slot()?;
    let bytes = place.2;
    let row = slot.cell(op.id()).row.load(Relaxed);
    if bytes > SAMPLED_BYTES_ON_HOST || row <= ROW_OVERFLOW {
        return None;
    }
    let distance = distance(slot, op, place.0)?;
    let flow = begin::<WITH_SITES>(slot, op, place)?;
    let size = slot.row(row).size(size_class(bytes), distance);
    let result = call();
    bump(&size.calls, 1);
    bump(&size.bytes, bytes as u64);
    if let Some(flow) = flow {
        flows::count(slot, flow, op, bytes);
    }
    Some(result)
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

/// Makes the call the thread's current one; in a profile that is `WITH_SITES`, finds its flow. None: it is for the
/// probe, as is the first of its flow, and what is traced by itself.
#[inline(always)]
fn begin<const WITH_SITES: bool>(
    slot: &Slot,
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
) -> Option<Option<&Flow>> {
    if !WITH_SITES {
        return enter(slot, op, peer).then_some(None);
    }
    // The first that is issued notes when.
    let is_first = op.traits() & NONBLOCKING != 0 && slot.tables.nbi.open.load(Relaxed) == 0;
    if is_first || trace::takes_all() {
        return None;
    }
    let (flow, at) = flows::find(slot, op, peer)?;
    if !enter(slot, op, peer) {
        return None;
    }
    flows::release(slot, op, at, (peer, addr, bytes));
    Some(Some(flow))
}

/// Makes the next sample one call nearer, and a call that takes time the thread's current one. False: the sample is
/// due.
#[inline(always)]
fn enter(slot: &Slot, op: impl Operation, peer: i32) -> bool {
    if !comes_nearer(slot, op) {
        return false;
    }
    if op.traits() & QUERIES == 0 {
        show(slot, op, peer);
    }
    true
}

#[inline(always)]
fn comes_nearer(slot: &Slot, op: impl Operation) -> bool {
    let cell = slot.cell(op.id());
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes to a word of the slot that only this thread writes, in one instruction, as `bump` does. The carry
    // of the subtraction tells that the countdown was zero, and then it is made zero again.
    unsafe {
        core::arch::asm!(
            "sub dword ptr [{cell} + {countdown}], 1",
            "jc {due}",
            cell = in(reg) cell,
            countdown = const offset_of!(Cell, countdown),
            due = label {
                cell.countdown.store(0, Relaxed);
                return false;
            },
            options(nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let left = cell.countdown.load(Relaxed);
        if left == 0 {
            return false;
        }
        cell.countdown.store(left - 1, Relaxed);
    }
    true
}

/// Makes the call the thread's current one.
#[inline(always)]
fn show(slot: &Slot, op: impl Operation, peer: i32) {
    let current = &slot.head.current.word;
    let of_peer = |peer: i32| u64::from(op.entered()) | u64::from(peer as u32) << 32;
    // An atomic operation waits for the stores before it: of several in a row only the first is shown, without its
    // peer.
    if op.traits() & TRANSFER != 0 && transfer(op) == Transfer::Amo as usize {
        // SAFETY: only this thread writes it. Of what is not atomic compilers look at the half that they need.
        let shown = unsafe { *current.as_ptr() } as u32;
        if shown != op.entered() {
            current.store(of_peer(-1), Relaxed);
        }
        return;
    }
    if cfg!(not(target_arch = "x86_64")) {
        return current.store(of_peer(peer), Relaxed);
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
