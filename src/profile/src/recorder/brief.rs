//! What is recorded of most short calls: a few numbers and the current operation, in a dozen instructions.
//!
//! A program that waits for memory keeps as many accesses going as fit into the processor's window of instructions; what
//! is recorded in between takes from that room, so each instruction counts. Calls that need more (a sample is due, an event
//! of the trace, a PE of another host, the first call) go on to the probe, and nothing is recorded here.
#![allow(unsafe_code)]

use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

use super::extra::is_release;
use super::hot::{bump, counted_bytes};
use super::{release, tls};
use crate::op::{NONBLOCKING, ONE_ELEMENT, SAMPLED_BYTES, traits};
use crate::segment::extra::{PEERS, Site, Traffic, key, site_index, transfer};
use crate::segment::layout::{Cell, Current, ROW_OVERFLOW, STATE_ENTERED, Slot, SlotHead, current_word};
use crate::size::size_class;
use crate::trace;

/// Counts a call of a short routine; in a profile that is `KEPT`, by call site and peer too. False: the probe is to record
/// it.
///
/// `peer` is a world PE, `addr` the symmetric address; the payload is an element of the routine.
#[inline(always)]
pub fn sampled<const OP: u16, const KEPT: bool>(peer: i32, addr: usize, bytes: usize) -> bool {
    const { assert!(traits(OP) & ONE_ELEMENT != 0) };
    let Some(slot) = tls::slot() else { return false };
    let Some(distance) = slot.head.distance_on_host(peer) else { return false };
    let Some(rows) = Rows::find::<OP, KEPT>(slot, peer) else { return false };
    if !enter::<OP>(slot, peer) {
        return false;
    }
    bump(&slot.cell(OP).calls[distance], 1);
    rows.count::<OP>(slot, peer, addr, bytes);
    true
}

/// Counts a put or get of up to [`SAMPLED_BYTES`]; as [`sampled`].
#[inline(always)]
pub fn sized<const OP: u16, const KEPT: bool>(peer: i32, addr: usize, bytes: usize) -> bool {
    let Some(slot) = tls::slot() else { return false };
    let Some(distance) = slot.head.distance_on_host(peer) else { return false };
    let row = slot.cell(OP).row.load(Relaxed);
    if bytes > SAMPLED_BYTES || row <= ROW_OVERFLOW {
        return false;
    }
    let Some(rows) = Rows::find::<OP, KEPT>(slot, peer) else { return false };
    if !enter::<OP>(slot, peer) {
        return false;
    }
    let size = &slot.row(row).sizes[size_class(bytes)][distance];
    bump(&size.calls, 1);
    bump(&size.bytes, bytes as u64);
    rows.count::<OP>(slot, peer, addr, bytes);
    true
}

/// What a call is counted by beyond operation, size and distance: call site and peer in a kept profile, else nothing.
struct Rows<'a>(Option<(&'a Site, &'a Traffic, u64)>);

impl<'a> Rows<'a> {
    /// The rows of a call that is not the first of its kind, of its site or of its peer, nor traced by itself.
    #[inline(always)]
    fn find<const OP: u16, const KEPT: bool>(slot: &'a Slot, peer: i32) -> Option<Rows<'a>> {
        if !KEPT {
            return Some(Rows(None));
        }
        let key = key(tls::site(), OP, slot.head.region_key.load(Relaxed));
        let site = &slot.extra.sites[site_index(key)];
        let row = &slot.extra.peers[peer as usize & (PEERS - 1)];
        let is_known = site.key.load(Relaxed) == key && row.tag.load(Relaxed) == peer as u64 + 1;
        let is_usual = traits(OP) & NONBLOCKING == 0 && !trace::takes_all();
        (is_known && is_usual).then_some(Rows(Some((site, &row.kinds[transfer(OP)], key))))
    }

    #[inline(always)]
    fn count<const OP: u16>(&self, slot: &Slot, to: i32, addr: usize, bytes: usize) {
        if let Rows(Some((site, peer, key))) = self {
            bump(&site.calls, 1);
            if counted_bytes(OP, bytes) != 0 {
                bump(&site.bytes, bytes as u64);
            }
            bump(&peer.calls, 1);
            bump(&peer.bytes, bytes as u64);
            if is_release(OP, bytes) {
                release::note(slot, to, addr, *key);
            }
        }
    }
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
