//! How fast puts, gets, atomics and signals are, by size, and what held them up.
//!
//! Of some calls the kernel is asked before and after whether pages were touched for the first time and whether the
//! thread lost its core, and the host's other PEs whether they were moving data, too. That takes a microsecond, so
//! there is one such call for each so many bytes, which stands for all calls since the last.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::hot::bump;
use super::{release, system, tls};
use crate::clock;
use crate::op::{SAMPLED_BYTES_ON_HOST, TRANSFER, traits};
use crate::segment::layout::{OWNER_NONE, SLOTS, STATE_INSIDE, Slot, state_of};
use crate::segment::rates::{LOOK_BYTES, NO_ROOM, PROBES, RATES, RateRow, key, place};
use crate::size::size_class;

/// A call of `bytes`, which stands for `calls`, is about to begin.
#[inline(always)]
pub(super) fn begin(slot: &Slot, op: u16, bytes: usize, calls: u64) {
    let look = &slot.tables.look;
    let moved = (bytes as u64).wrapping_mul(calls);
    bump(&look.moved, moved);
    let left = look.left.load(Relaxed);
    if left > moved {
        look.left.store(left - moved, Relaxed);
    } else {
        begin_look(slot, op, bytes);
    }
}

/// Bytes between the first look and the second.
const FIRST_BYTES: u64 = 1 << 20;

#[cold]
#[inline(never)]
fn begin_look(slot: &Slot, op: u16, bytes: usize) {
    let look = &slot.tables.look;
    let is_first = look.left.load(Relaxed) == 0;
    let others = u64::from(slot.head.local_pes.load(Relaxed)).saturating_sub(1).min(OTHERS.into());
    // A short run is looked at as well: the first looks are as far apart as the program has come.
    let wanted = LOOK_BYTES + others * LOOK_BYTES / 4;
    let came = look.came.load(Relaxed).saturating_add(look.moved.load(Relaxed));
    look.came.store(came, Relaxed);
    look.left.store(came.clamp(FIRST_BYTES, wanted), Relaxed);
    // The first call of a program that sends little.
    if is_first && bytes <= SAMPLED_BYTES_ON_HOST {
        return;
    }
    let [faults, preempted] = system::thread_usage();
    look.faults.store(faults, Relaxed);
    look.preempted.store(preempted, Relaxed);
    look.opened_by.store(opener(op, bytes), Relaxed);
}

/// What a look knows of the call that has opened it, which is not 0: calls within that one, as of a signal handler, do
/// not end it.
fn opener(op: u16, bytes: usize) -> u32 {
    1 << 31 | u32::from(op) << 16 ^ (bytes ^ bytes >> 16 ^ bytes >> 32) as u32 & 0xffff
}

/// A call that was timed has ended; it stands for itself only.
#[inline(never)]
pub(super) fn took(op: u16, peer: i32, bytes: usize, ticks: u64) {
    let Some(slot) = tls::slot() else { return };
    let ns = clock::scale_ns(ticks, slot.head.clock_mult.load(Relaxed));
    note(slot, op, (peer, bytes), 1, ns);
}

/// As [`took`], of a sample that stands for `calls`, which take `ns` together.
#[inline(always)]
pub(super) fn note(slot: &Slot, op: u16, (peer, bytes): (i32, usize), calls: u64, ns: u64) {
    if traits(op) & TRANSFER == 0 || peer < 0 {
        return;
    }
    let row = row(slot, key(op, size_class(bytes), slot.head.distance(peer)));
    bump(&row.calls, calls);
    bump(&row.ns, ns);
    if slot.tables.look.opened_by.load(Relaxed) != 0 {
        end_look(slot, row, (op, bytes));
    }
}

/// Ends the closer look at a call that is no sample. False: it was not looked at.
#[inline(always)]
pub(super) fn close_look(slot: &Slot, op: u16, (peer, bytes): (i32, usize)) -> bool {
    let is_open = slot.tables.look.opened_by.load(Relaxed) != 0;
    is_open && end_look(slot, row(slot, key(op, size_class(bytes), slot.head.distance(peer))), (op, bytes))
}

#[inline(always)]
fn row(slot: &Slot, key: u64) -> &RateRow {
    let first = place(key);
    let rates = &slot.tables.rates;
    if rates[first].key.load(Relaxed) == key { &rates[first] } else { find(rates, key) }
}

#[cold]
#[inline(never)]
fn find(rates: &[RateRow; RATES + 1], key: u64) -> &RateRow {
    for row in &rates[place(key)..][..PROBES] {
        match row.key.load(Relaxed) {
            0 => row.key.store(key, Relaxed),
            known if known == key => {}
            _ => continue,
        }
        return row;
    }
    rates[RATES].key.store(NO_ROOM, Relaxed);
    &rates[RATES]
}

/// A call has ended during a look. Where it is the one that was looked at, which this gives, it stands for as many as
/// moved all bytes since the last look.
#[cold]
#[inline(never)]
fn end_look(slot: &Slot, row: &RateRow, (op, bytes): (u16, usize)) -> bool {
    let look = &slot.tables.look;
    if look.opened_by.load(Relaxed) != opener(op, bytes) {
        return false;
    }
    look.opened_by.store(0, Relaxed);
    let [faults, preempted] = system::thread_usage();
    let calls = (look.moved.load(Relaxed) / bytes.max(1) as u64).max(1);
    look.moved.store(0, Relaxed);
    bump(&row.looks, calls);
    bump(&row.faults, calls.saturating_mul(faults.saturating_sub(look.faults.load(Relaxed))));
    bump(&row.busy, if others_move(slot) { calls } else { 0 });
    bump(&row.preempted, if preempted > look.preempted.load(Relaxed) { calls } else { 0 });
    true
}

/// PEs that are looked at: each that is read is mapped by a page, and hosts may have thousands.
const OTHERS: u32 = 32;

/// Whether another thread of this PE, or one of the PEs after it on the host, is in a put, get, atomic or signal that
/// is timed.
fn others_move(own: &Slot) -> bool {
    let index = own.head.pe.load(Relaxed).wrapping_sub(own.head.first_local.load(Relaxed));
    release::nearest(index.max(0).unsigned_abs(), OTHERS).any(|region| {
        let used = (region.head.slots_used.load(Acquire) as usize).min(SLOTS);
        region.slots[..used].iter().any(|slot| {
            let head = &slot.head;
            let word = head.current.word.load(Relaxed);
            let is_own = head.owner.load(Relaxed) == own.head.owner.load(Relaxed);
            !is_own
                && head.owner.load(Relaxed) != OWNER_NONE
                && state_of(word) == STATE_INSIDE
                && traits(word as u16) & TRANSFER != 0
        })
    })
}
