//! What a brief profile records of most short calls: two numbers and the current operation, in some ten instructions.
//!
//! A program that waits for memory keeps as many accesses going as fit into the processor's window of instructions; what
//! is recorded in between takes from that room, so each instruction counts. Calls that need more (a sample is due, an event
//! of the trace, a PE of another host, the first call) go on to the probe, and nothing is recorded here.
#![allow(unsafe_code)]

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::hot::bump;
use super::tls;
use crate::op::{ONE_ELEMENT, SAMPLED_BYTES, traits};
use crate::segment::layout::{Cell, Current, ROW_OVERFLOW, STATE_ENTERED, Slot, SlotHead, current_word};
use crate::size::{DISTANCES, Distance, size_class};

/// Counts a call of a short routine. False: the probe is to record it.
///
/// `peer` is a world PE; the payload is an element of the routine.
#[inline(always)]
pub fn sampled<const OP: u16>(peer: i32, _bytes: usize) -> bool {
    const { assert!(traits(OP) & ONE_ELEMENT != 0) };
    let Some(slot) = tls::slot() else { return false };
    let Some(distance) = on_host(slot, peer) else { return false };
    let cell = slot.cell(OP);
    enter::<OP>(slot, peer) && {
        add_one(&cell.calls, distance);
        true
    }
}

/// Counts a put or get of up to [`SAMPLED_BYTES`]. False: the probe is to record it.
#[inline(always)]
pub fn sized<const OP: u16>(peer: i32, bytes: usize) -> bool {
    let Some(slot) = tls::slot() else { return false };
    let Some(distance) = on_host(slot, peer) else { return false };
    let row = slot.cell(OP).row.load(Relaxed);
    if bytes > SAMPLED_BYTES || row <= ROW_OVERFLOW || !enter::<OP>(slot, peer) {
        return false;
    }
    let size = &slot.row(row).sizes[size_class(bytes)][distance];
    bump(&size.calls, 1);
    bump(&size.bytes, bytes as u64);
    true
}

/// As [`bump`] by one, in one instruction whatever the compiler makes of that.
#[inline(always)]
fn add_one(calls: &[AtomicU64; DISTANCES], distance: usize) {
    debug_assert!(distance < DISTANCES);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a distance is an index of the array; a word that only this thread writes.
    unsafe {
        core::arch::asm!(
            "inc qword ptr [{calls} + 8 * {distance}]",
            calls = in(reg) calls,
            distance = in(reg) distance,
            options(nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    bump(&calls[distance], 1);
}

/// The distance of a PE of this host; none where it is not one.
#[inline(always)]
fn on_host(slot: &Slot, peer: i32) -> Option<usize> {
    let head = &slot.head;
    let index = peer.wrapping_sub(head.first_local.load(Relaxed)) as u32;
    if index >= head.local_pes.load(Relaxed) {
        return None;
    }
    Some(Distance::Own as usize + usize::from(peer != head.pe.load(Relaxed)))
}

/// Makes the call the thread's current one, and the next sample one call nearer. False: the sample is due.
#[inline(always)]
fn enter<const OP: u16>(slot: &Slot, peer: i32) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes to words of the slot that only this thread writes, each in one instruction, as `bump` does. The carry
    // of the subtraction tells that the countdown was zero, and then it is made zero again.
    unsafe {
        core::arch::asm!(
            "sub dword ptr [{slot} + {countdown}], 1",
            "jc {due}",
            "mov dword ptr [{slot} + {word}], {current}",
            "mov dword ptr [{slot} + {word} + 4], {peer:e}",
            slot = in(reg) slot,
            peer = in(reg) peer,
            countdown = const offset_of!(Slot, cells) + OP as usize * size_of::<Cell>() + offset_of!(Cell, countdown),
            word = const offset_of!(Slot, head) + offset_of!(SlotHead, current) + offset_of!(Current, word),
            current = const current_word(OP, STATE_ENTERED, 0),
            due = label {
                slot.cell(OP).countdown.store(0, Relaxed);
                return false;
            },
            options(nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let countdown = &slot.cell(OP).countdown;
        let left = countdown.load(Relaxed);
        if left == 0 {
            return false;
        }
        countdown.store(left - 1, Relaxed);
        slot.head.current.word.store(current_word(OP, STATE_ENTERED, peer), Relaxed);
    }
    true
}
