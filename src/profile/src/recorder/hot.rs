//! The paths that every recorded call takes.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::time::Duration;

use super::{cold, consumers, counting, heap, meetings, nbi, rates, release, sites, slow_wait, timeline, tls, waits};
use crate::clock::{self, Source};
use crate::histogram::{BUCKETS, bucket};
use crate::op::{ALLOCATES, COMPLETES, Operation, TIMED_IF_WAITS, Timing, WAITS, bytes_follow, traits};
use crate::segment::layout::{Cell, PROBED, ROW_OVERFLOW, STATE_DONE, STATE_INSIDE, Slot, SlotHead, current_word};
use crate::size::size_class;
use crate::trace;

/// Adds to a word that only this thread writes: one plain instruction, no lock.
#[inline(always)]
pub(super) fn bump(word: &AtomicU64, by: u64) {
    word.store(word.load(Relaxed).wrapping_add(by), Relaxed);
}

#[inline(always)]
pub(super) fn bump32(word: &AtomicU32, by: u32) {
    word.store(word.load(Relaxed).wrapping_add(by), Relaxed);
}

/// Records a call of a short routine (p, g, atomics, fence, quiet, test): counted, few timed.
///
/// `peer` is a world PE, or -1 where the call has none; `bytes` is the payload.
#[inline(always)]
pub fn sampled<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl FnOnce() -> R) -> R {
    let start = begin_sampled(op, peer, addr, bytes);
    let begun = if op.traits() & COMPLETES != 0 { nbi::begin_completion(start) } else { 0 };
    let result = f();
    let end = if start != 0 { cold::leave_sample(op.id(), start) } else { 0 };
    if op.traits() & COMPLETES != 0 {
        nbi::complete(op.id(), begun, end);
    }
    result
}

/// What [`sampled`] does before the call: the time now where the call is a sample or traced, else 0, and nothing is
/// left to do after a call that completes nothing.
#[inline(always)]
pub(super) fn begin_sampled(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> u64 {
    match tls::slot() {
        Some(slot) => {
            let cell = slot.cell(op.id());
            count(slot, cell, peer, counted_bytes(op, bytes));
            let site = sites::note_short(slot, op, (peer, addr, bytes), true);
            enter_sampled(slot, cell, op, (peer, addr, bytes), site)
        }
        None => cold::enter(op.id(), peer, addr, bytes, Timing::Sampled),
    }
}

/// Records a put or get: counted by size class, short ones sampled, long ones timed: see [`SlotHead::is_sampled`].
///
/// `peer` is a world PE, or -1 where the call has none; `addr` the symmetric address, `bytes` the payload.
#[inline(always)]
pub fn sized<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl FnOnce() -> R) -> R {
    let start = begin_sized(op, peer, addr, bytes);
    let result = f();
    if start != 0 {
        end_sized(op.id(), start, peer, bytes);
    }
    result
}

/// What [`sized`] does before the call, as [`begin_sampled`].
#[inline(always)]
pub(super) fn begin_sized(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> u64 {
    match tls::slot() {
        Some(slot) => {
            count_sized(slot, op.id(), peer, bytes);
            let is_sampled = slot.head.is_sampled(peer, bytes);
            let site = sites::note_short(slot, op, (peer, addr, bytes), is_sampled);
            if is_sampled {
                enter_sampled(slot, slot.cell(op.id()), op, (peer, addr, bytes), site)
            } else {
                rates::begin(slot, op.id(), bytes, 1);
                enter_timed(slot, op.id(), peer, addr, bytes, site)
            }
        }
        None => cold::enter(op.id(), peer, addr, bytes, Timing::Sized),
    }
}

/// What [`sized`] does after a call that began at `start`.
#[inline(always)]
pub(super) fn end_sized(op: u16, start: u64, peer: i32, bytes: usize) {
    if tls::slot().is_none_or(|slot| slot.head.is_sampled(peer, bytes)) {
        cold::leave_sample(op, start);
    } else {
        let ticks = leave_timed(op, start, peer);
        rates::took(op, peer, bytes, ticks);
    }
}

/// Records a call of a routine that may take long (barriers, waits, collectives, allocation): counted and timed.
///
/// `peer` is a world PE, or -1 where the call has none; `addr` the address argument or 0, `bytes` the payload or 0.
#[inline(always)]
pub fn timed<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl FnOnce() -> R) -> R {
    let start = begin_timed(op, peer, addr, bytes);
    let result = f();
    end_timed(op, start, peer);
    result
}

/// What [`timed`] does before the call: the time now, or 0 where the call has no stamp yet.
#[inline(always)]
pub(super) fn begin_timed(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> u64 {
    if op.traits() & TIMED_IF_WAITS != 0 && waits::begin(op, peer, addr, bytes) {
        return 0;
    }
    begin_stamped(op, peer, addr, bytes)
}

/// What [`timed`] does before a call that is timed whether it waits or not.
#[inline(never)]
fn begin_stamped<O: Operation>(op: O, peer: i32, addr: usize, bytes: usize) -> u64 {
    match tls::slot() {
        Some(slot) => {
            if op.traits() & ALLOCATES == 0 {
                count_long(slot, op.id(), peer, bytes);
            } else {
                heap::count(slot, op.id(), peer, bytes);
            }
            let site = sites::note(slot, op, peer, addr, bytes);
            enter_timed(slot, op.id(), peer, addr, bytes, site)
        }
        None => cold::enter(op.id(), peer, addr, bytes, Timing::Timed),
    }
}

/// What [`timed`] does after the call.
#[inline(always)]
pub(super) fn end_timed(op: impl Operation, start: u64, peer: i32) {
    if op.traits() & COMPLETES != 0 {
        nbi::complete(op.id(), start, 0);
    }
    if op.traits() & TIMED_IF_WAITS != 0 {
        return waits::leave(op, start, peer);
    }
    let ticks = leave_timed(op.id(), start, peer);
    if op.traits() & WAITS != 0 {
        release::waited(op.id(), start, ticks);
    }
}

/// Counts a call that reported failure. The call itself is recorded as any other.
#[cold]
#[inline(never)]
pub fn error(op: u16) {
    match tls::slot() {
        Some(slot) => bump(&slot.cell(op).errors, 1),
        None => cold::error(op),
    }
}

/// A moment, taken before it is known which clock the segment uses.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    counter: u64,
    monotonic: u64,
}

impl Stamp {
    /// Now. Valid before [`super::attach()`] too.
    pub fn now() -> Stamp {
        Stamp { counter: clock::counter(), monotonic: clock::monotonic_ns() }
    }
}

/// Records a timed call after the fact, from `start` until now. For initialization, which begins before there is
/// anything to record into.
pub fn record(op: u16, peer: i32, addr: usize, bytes: usize, start: Stamp) {
    let entered = begin_timed(op, peer, addr, bytes);
    if entered == 0 {
        return;
    }
    let slot = tls::slot();
    let by_counter = slot.is_none_or(|slot| uses_counter(&slot.head));
    let start = if by_counter { start.counter } else { start.monotonic }.clamp(1, entered);
    if let Some(slot) = slot {
        timeline::began_before(slot, start);
    }
    leave_timed(op, start, peer);
    if let Some(slot) = slot {
        // Long as it is, it would be spread over what the program does next.
        timeline::settle(slot, op, start, ticks(&slot.head));
    }
}

#[inline(always)]
pub(super) fn uses_counter(head: &SlotHead) -> bool {
    head.clock_source.load(Relaxed) == Source::Counter as u32
}

/// A stamp on the slot's clock.
pub(super) fn ticks_of(head: &SlotHead, stamp: Stamp) -> u64 {
    if uses_counter(head) { stamp.counter } else { stamp.monotonic }
}

/// Time now on the slot's clock; never 0.
#[inline(always)]
pub(super) fn ticks(head: &SlotHead) -> u64 {
    if uses_counter(head) { clock::counter() } else { cold::monotonic() }
}

/// The time on the slot's clock so long ago; never 0.
pub(super) fn ticks_before(head: &SlotHead, ago: Duration) -> u64 {
    let per_tick = u128::from(head.clock_mult.load(Relaxed).max(1));
    let ago = (ago.as_nanos() << 32) / per_tick;
    ticks(head).saturating_sub(u64::try_from(ago).unwrap_or(u64::MAX)).max(1)
}

/// Ticks from `start` to `end`, less what reading the clock takes.
#[inline(always)]
pub(super) fn elapsed(head: &SlotHead, start: u64, end: u64) -> u64 {
    end.saturating_sub(start.wrapping_add(head.clock_overhead.load(Relaxed)))
}

/// Bytes of a call that are counted in the cell as it begins: none where they follow from the calls, and none of an
/// allocation, of which it is not known yet whether there is room ([`heap::given`]).
#[inline(always)]
pub(super) fn counted_bytes(op: impl Operation, bytes: usize) -> usize {
    if bytes_follow(op) || op.traits() & ALLOCATES != 0 { 0 } else { bytes }
}

#[inline(always)]
pub(super) fn count(slot: &Slot, cell: &Cell, peer: i32, bytes: usize) {
    let distance = slot.head.distance(peer);
    bump(&cell.calls[distance], 1);
    if bytes != 0 {
        bump(&cell.bytes[distance], bytes as u64);
    }
}

/// Counts a call that may take long: one that moves bytes by their number.
#[inline(always)]
pub(super) fn count_long(slot: &Slot, op: u16, peer: i32, bytes: usize) {
    if bytes == 0 { count(slot, slot.cell(op), peer, 0) } else { count_sized(slot, op, peer, bytes) }
}

/// Whether an operation has a row of its own.
#[inline(always)]
pub(super) fn has_row(slot: &Slot, op: u16) -> bool {
    slot.cell(op).row.load(Relaxed) > ROW_OVERFLOW
}

#[inline(always)]
pub(super) fn count_sized(slot: &Slot, op: u16, peer: i32, bytes: usize) {
    let row = slot.cell(op).row.load(Relaxed);
    if row <= ROW_OVERFLOW {
        return cold::count_sized(slot, op, peer, bytes);
    }
    let size = slot.row(row).size(size_class(bytes), slot.head.distance(peer));
    bump(&size.calls, 1);
    bump(&size.bytes, bytes as u64);
}

/// Enters a sampled call; the time now when this call is to be timed or traced, else 0.
#[inline(always)]
pub(super) fn enter_sampled(
    slot: &Slot,
    cell: &Cell,
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
    site: u32,
) -> u64 {
    slot.head.current.word.store(probed_word(op, peer), Relaxed);
    let left = cell.countdown.load(Relaxed);
    bump32(&cell.countdown, u32::MAX);
    // While tracing is on the mask is zero.
    if left & trace::mask() == 0 { cold::begin(slot, left, addr, bytes, site) } else { 0 }
}

/// What shows a sampled call that the probe has entered.
#[inline(always)]
pub(super) fn probed_word(op: impl Operation, peer: i32) -> u64 {
    u64::from(op.entered()) | PROBED | u64::from(peer as u32) << 32
}

#[inline(always)]
fn enter_timed(slot: &Slot, op: u16, peer: i32, addr: usize, bytes: usize, site: u32) -> u64 {
    slot.head.site.store(site, Relaxed);
    if counting::is_on() {
        counting::enter(slot);
    }
    let current = &slot.head.current;
    current.addr.store(addr as u64, Relaxed);
    current.bytes.store(bytes as u64, Relaxed);
    // Even: see `waits`.
    let start = ticks(&slot.head) & !1;
    current.start.store(start, Relaxed);
    // Last: whoever reads it reads what was stored before.
    current.word.store(current_word(op, STATE_INSIDE, peer), Release);
    start
}

/// Ends a timed call, and gives the ticks that it took. What is rare is left to a tail call, so that nothing is saved
/// on the stack here.
#[inline(never)]
pub(super) fn leave_timed(op: u16, start: u64, peer: i32) -> u64 {
    let Some(slot) = tls::slot() else { return cold::leave_timed(op, start, peer) };
    let cell = slot.cell(op);
    let row = cell.row.load(Relaxed);
    let end = clock::counter();
    // Slices end at once where the counter is not what stamps are of. Of one that waited long there is more to do.
    let is_short = end < slot.head.slice_end.load(Relaxed) && !slow_wait::is_of(slot, start);
    if row > ROW_OVERFLOW && is_short && !consumers::any() {
        let ticks = elapsed(&slot.head, start, end);
        if let Some(ns) = clock::scale_short_ns(ticks, slot.head.clock_mult.load(Relaxed)) {
            add_exact(slot, cell, row, ns);
            sites::add_exact(slot, ns);
            meetings::waited(slot, traits(op), ns);
            meetings::met(slot, traits(op), peer, (start, end), 1);
            slot.head.current.word.store(current_word(op, STATE_DONE, peer), Relaxed);
            return ticks;
        }
    }
    cold::leave_timed(op, start, peer)
}

/// Adds a call that was timed and stands for itself only.
#[inline(always)]
pub(super) fn add_exact(slot: &Slot, cell: &Cell, row: u32, ns: u64) {
    let row = slot.row(row);
    bump(&row.latency[bucket(ns).min(BUCKETS - 1)], 1);
    if ns > row.max_ns.load(Relaxed) {
        row.max_ns.store(ns, Relaxed);
    }
    bump(&cell.exact_calls, 1);
    bump(&cell.exact_ns, ns);
    bump(&slot.head.claimed_ns, ns);
}
