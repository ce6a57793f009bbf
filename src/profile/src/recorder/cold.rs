//! The paths that few recorded calls take: samples, first calls, threads without a slot of their own.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};

use super::claim::{self, Place};
use super::hot::{add_exact, bump, counted_bytes, elapsed, ticks as ticks_of, uses_counter};
use super::tls;
use super::{claims, counting, limit, lines, meetings, rates, sites, slow_wait, timeline, warm_up};
use crate::clock;
use crate::histogram::bucket;
use crate::op::{MAX_OPS, Timing, traits};
use crate::segment::layout::{
    Cell, ROW_NONE, ROW_OVERFLOW, ROWS, Region, SLOTS, STATE_DONE, STATE_ENTERED, STATE_INSIDE, Slot, SlotHead,
    current_word, state_of,
};
use crate::size::size_class;
use crate::trace::{self, Short};

/// Calls of an operation that are all timed before sampling begins.
const ALL_TIMED: u64 = 8;
/// Samples after which the mean number of calls that one stands for doubles, in the beginning.
const BEFORE_DOUBLING: u64 = 4;
/// Mean number of calls that one sample stands for in the long run, unless set otherwise. One in 128 would be a third
/// of what recording short calls costs.
pub const MEAN_GAP: u64 = 1024;
/// The same until there are [`MANY`] samples, and twice as many with each doubling of their number.
const FIRST_GAP: u64 = 128;
/// So many samples say what calls take, unless they differ much.
const MANY: u64 = 128;
/// Largest mean number that can be set.
pub const MAX_GAP: u64 = 1 << 20;
/// A sampled call of this length in nanoseconds stands for itself only, unless set otherwise.
pub const LONG_NS: u64 = 100_000;
pub(super) static GAP: AtomicU64 = AtomicU64::new(MEAN_GAP);
pub(super) static LONG: AtomicU64 = AtomicU64::new(LONG_NS);
/// What a call has to take to pay for timing one more: some 25 ns, which are 1 % of it.
const NS_PER_CREDIT: u64 = 2500;
/// Calls that can be paid for in advance.
const MAX_CREDIT: u32 = 4000;

/// Begins to time a sample; never 0. Unlike in [`super::hot`], what precedes must be done first, and what follows must
/// not have begun.
#[cold]
#[inline(never)]
pub(super) fn begin_sample(slot: &Slot, site: u32) -> u64 {
    slot.tables.look.site.store(site, Relaxed);
    let start = if uses_counter(&slot.head) { clock::counter_after() } else { monotonic() };
    clock::fence();
    start
}

/// The lowest bit of the time at which a short call began: it is a sample.
const SAMPLE: u64 = 1;
/// The next bit, of one that is none: it is the first of its thread, and stands for itself only. What a slot's earlier
/// owners did since its last sample was not like it: caches are cold, and pages are met for the first time.
const FIRST: u64 = 2;
/// Both.
pub(super) const MARKS: u64 = SAMPLE | FIRST;

/// Begins to time a call that is a sample (`left` is 0), or traced, or both. The lowest bit of the time says whether it
/// is a sample. 0: neither after all.
#[cold]
#[inline(never)]
pub(super) fn begin(slot: &Slot, left: u32, addr: usize, bytes: usize, site: u32) -> u64 {
    begin_of(slot, slot.head.current.word.load(Relaxed), left, (addr, bytes), site)
}

/// As [`begin`], of a call that `word` would show.
pub(super) fn begin_of(slot: &Slot, word: u64, left: u32, (addr, bytes): (usize, usize), site: u32) -> u64 {
    let (current, look) = (&slot.head.current, &slot.tables.look);
    let (is_sample, now) = match trace::enter(slot, word as u16, left, bytes) {
        Short::Sample => {
            look.addr.store(addr as u64, Relaxed);
            look.bytes.store(bytes as u64, Relaxed);
            warm_up::begin(slot, slot.cell(word as u16), word as u16, bytes);
            return begin_sample(slot, site) | SAMPLE;
        }
        Short::Neither => return 0,
        Short::Event(is_sample, now) => (is_sample, now),
    };
    current.addr.store(addr as u64, Relaxed);
    current.bytes.store(bytes as u64, Relaxed);
    // Entered and traced: inside, as a timed call is.
    current.word.store(word & !(0xffff << 16) | STATE_INSIDE << 16, Release);
    look.addr.store(addr as u64, Relaxed);
    look.bytes.store(bytes as u64, Relaxed);
    let start = if is_sample { begin_sample(slot, site) | SAMPLE } else { (now & !(SAMPLE | FIRST)).max(4) };
    current.start.store(start, Relaxed);
    start
}

/// Ticks from the begin of a sample until now.
#[inline(always)]
fn end_sample(slot: &Slot, start: u64) -> u64 {
    let end = if uses_counter(&slot.head) { clock::counter_after() } else { monotonic() };
    end.saturating_sub(start)
}

/// What timing an empty sample takes, in ticks times 256: the mean without the longest, which were interrupted.
pub(super) fn sample_overhead(slot: &Slot) -> u64 {
    #[inline(never)]
    fn end(slot: &Slot, start: u64) -> u64 {
        end_sample(slot, start)
    }
    let mut ticks = [0_u64; 320];
    for ticks in &mut ticks {
        let start = begin_sample(std::hint::black_box(slot), 0);
        *ticks = end(std::hint::black_box(slot), start);
    }
    ticks.sort_unstable();
    ticks[..256].iter().sum()
}

/// `CLOCK_MONOTONIC`; never 0.
#[cold]
#[inline(never)]
pub(super) fn monotonic() -> u64 {
    clock::monotonic_ns().max(1)
}

/// Enters a call of a thread that has no slot: claims one, or records into the shared slot. Returns the time now, or 0
/// when the call is not recorded.
#[cold]
#[inline(never)]
pub(super) fn enter(op: u16, peer: i32, addr: usize, bytes: usize, kind: Timing) -> u64 {
    match claim::claim() {
        Place::Own(slot) => enter_first(slot, op, peer, addr, bytes, kind),
        Place::Shared(region) => enter_shared(region, op, peer, bytes, kind),
        Place::Nowhere => 0,
    }
}

/// The first call of a thread, in a slot just claimed. It is timed whatever its kind.
fn enter_first(slot: &Slot, op: u16, peer: i32, addr: usize, bytes: usize, kind: Timing) -> u64 {
    let (cell, head) = (slot.cell(op), &slot.head);
    let (calls, total) = counters(slot, cell, peer, bytes, kind);
    bump(calls, 1);
    bump(total, counted_bytes(op, bytes) as u64);
    head.current.addr.store(addr as u64, Relaxed);
    head.current.bytes.store(bytes as u64, Relaxed);
    if kind == Timing::Timed && counting::is_on() {
        counting::enter(slot);
    }
    // As the call has it at its end: what was noted of a wait in it is found by this.
    let start = (ticks_of(head) & !SAMPLE) | FIRST;
    // Odd: it stands for itself only, whether it waits or not.
    head.current.start.store(start | u64::from(kind == Timing::Timed), Relaxed);
    let each_timed =
        kind == Timing::Timed || (kind == Timing::Sized && !head.is_sampled(peer, bytes)) || trace::is_on();
    let state = if each_timed { STATE_INSIDE } else { STATE_ENTERED };
    head.current.word.store(current_word(op, state, peer), Release);
    let site = if kind == Timing::Timed {
        sites::note(slot, op, peer, addr, bytes)
    } else {
        sites::note_short(slot, op, (peer, addr, bytes), false)
    };
    head.site.store(site, Relaxed);
    start
}

fn enter_shared(region: &Region, op: u16, peer: i32, bytes: usize, kind: Timing) -> u64 {
    let slot = &region.slots[SLOTS];
    let (calls, total) = counters(slot, slot.cell(op), peer, bytes, kind);
    calls.fetch_add(1, Relaxed);
    total.fetch_add(counted_bytes(op, bytes) as u64, Relaxed);
    region.head.shared_calls.fetch_add(1, Relaxed);
    sites::note_shared(slot, op, peer, bytes);
    ticks_of(&slot.head)
}

/// The words that count a call and its bytes.
pub(super) fn counters<'a>(
    slot: &'a Slot,
    cell: &'a Cell,
    peer: i32,
    bytes: usize,
    kind: Timing,
) -> (&'a AtomicU64, &'a AtomicU64) {
    let distance = slot.head.distance(peer);
    let has_sizes = kind == Timing::Sized || (kind == Timing::Timed && bytes > 0);
    let number = if has_sizes { row(slot, cell) } else { ROW_OVERFLOW };
    if number == ROW_OVERFLOW {
        return (&cell.calls[distance], &cell.bytes[distance]);
    }
    let size = slot.row(number).size(size_class(bytes), distance);
    (&size.calls, &size.bytes)
}

/// Nanoseconds from `start` until now.
fn elapsed_ns(head: &SlotHead, start: u64) -> u64 {
    clock::scale_ns(elapsed(head, start, ticks_of(head)), head.clock_mult.load(Relaxed))
}

/// Ends a sampled call that was timed; gives when it ended, where the thread has a slot of its own.
#[cold]
#[inline(never)]
pub(super) fn leave_sample(op: u16, start: u64) -> u64 {
    let Some(slot) = tls::slot() else {
        leave_shared(op, start);
        return 0;
    };
    leave_sample_of(slot, op, start, slot.head.current.word.load(Relaxed))
}

/// As [`leave_sample`], of a call that `word` shows, or would show.
pub(super) fn leave_sample_of(slot: &Slot, op: u16, start: u64, word: u64) -> u64 {
    // A signal handler that made a call meanwhile has left another word: what is no sample has an event in any case.
    let traced = state_of(word) == STATE_INSIDE;
    if start & (SAMPLE | FIRST) == FIRST {
        return leave_first(slot, op, start, traced);
    }
    if start & SAMPLE == 0 {
        let end = ticks_of(&slot.head);
        trace::settle(slot, op, true);
        leave_traced(slot, op, start, end);
        trace::rearm(slot, op, false, end);
        return end;
    }
    let ticks = end_sample(slot, start);
    trace::settle(slot, op, traced);
    if traced {
        leave_traced(slot, op, start, start + ticks);
    }
    let cell = slot.cell(op);
    let peer = (word >> 32) as i32;
    let bytes = slot.tables.look.bytes.load(Relaxed);
    if !traced && warm_up::is_warm_up(slot, cell, op, (peer, bytes as usize)) {
        trace::rearm(slot, op, true, start + ticks);
        return start + ticks;
    }
    // What is called after the run is no part of its time.
    if claim::is_finalizing() {
        cell.countdown.store(0, Relaxed);
        trace::rearm(slot, op, true, start + ticks);
        return start + ticks;
    }
    let mark = &slot.tables.sampled[usize::from(op) / 64 % slot.tables.sampled.len()];
    mark.store(mark.load(Relaxed) | 1 << (op % 64), Relaxed);
    let mult = slot.head.clock_mult.load(Relaxed);
    let overhead = claim::sample_overhead() >> 8;
    let (raw_ns, overhead_ns) = (clock::scale_ns(ticks, mult), clock::scale_ns(overhead, mult));
    let (ns, now) = (raw_ns.saturating_sub(overhead_ns), start + ticks);
    let weight = warm_up::calls(cell);
    let site = slot.tables.look.site.load(Relaxed);
    let took = claim_sample(slot, cell, site, (raw_ns, overhead_ns), now);
    warm_up::plan(cell);
    lines::note(slot, op, peer, weight, took);
    meetings::waited(slot, traits(op), took);
    // A long one stands for itself only.
    let stands = if ns >= LONG.load(Relaxed) { 1 } else { weight };
    rates::note(slot, op, (peer, bytes as usize), stands, took);
    limit::note(slot, op, (peer, bytes), weight);
    if limit::is_due(cell.samples.load(Relaxed)) {
        limit::look(slot, op, now);
    }
    timeline::tend(slot, op, start, now);
    trace::rearm(slot, op, true, now);
    now
}

/// Ends the first call of a thread: it stands for itself only, and no countdown knows of it.
#[cold]
fn leave_first(slot: &Slot, op: u16, start: u64, traced: bool) -> u64 {
    let end = ticks_of(&slot.head);
    let ns = clock::scale_ns(elapsed(&slot.head, start, end), slot.head.clock_mult.load(Relaxed));
    let cell = slot.cell(op);
    add_exact(slot, cell, row(slot, cell), ns);
    sites::add_exact(slot, ns);
    meetings::waited(slot, traits(op), ns);
    slow_wait::end(slot, start, end);
    if traced {
        leave_traced(slot, op, start, end);
    }
    end
}

#[inline(always)]
fn leave_traced(slot: &Slot, op: u16, start: u64, end: u64) {
    let current = &slot.head.current.word;
    let peer = (current.load(Relaxed) >> 32) as i32;
    current.store(current_word(op, STATE_DONE, peer), Relaxed);
    trace::event(slot, op, peer.max(-1), start, end);
}

/// As [`add_sample`], of one that was taken at `now`: it claims what there is room for. Gives that, in nanoseconds.
pub(super) fn claim_sample(slot: &Slot, cell: &Cell, site: u32, (raw_ns, overhead_ns): (u64, u64), now: u64) -> u64 {
    let weight = warm_up::calls(cell);
    let row = row(slot, cell);
    let before = slot.head.claimed_ns.load(Relaxed);
    let room = claims::room(slot, row, (raw_ns.saturating_sub(overhead_ns), weight), now);
    add_sample(slot, cell, site, (raw_ns, overhead_ns), room.ns);
    let claimed = slot.head.claimed_ns.load(Relaxed).wrapping_sub(before);
    claims::note(slot, row, room, claimed);
    claimed
}

/// Adds a timed sample and draws when the next one is due. The sample claims at most `room_ns` for the calls that it
/// stands for. `site`: the row of its call site.
///
/// A call of 100 us or more in a routine of nanoseconds is most often a preemption: taken for a hundred others it would
/// drown them. It stands for itself; and long calls buy credit, so that where they are not rare, each call is timed.
///
/// `raw_ns` includes the `overhead_ns` that timing takes.
pub(super) fn add_sample(slot: &Slot, cell: &Cell, site: u32, (raw_ns, overhead_ns): (u64, u64), room_ns: u64) {
    let ns = raw_ns.saturating_sub(overhead_ns);
    // This call stands for itself and for the calls that were not timed since the last sample.
    let weight = warm_up::calls(cell);
    let row_number = row(slot, cell);
    if ns >= LONG.load(Relaxed) {
        add_exact(slot, cell, row_number, ns);
        sites::add_exact_at(slot, site, ns);
    } else {
        let wanted = ns.saturating_mul(weight);
        // A sample that stands for itself only took what it took.
        let claim = if weight > 1 { wanted.min(room_ns) } else { wanted };
        let raw_ns = if claim < wanted { claim / weight + overhead_ns } else { raw_ns };
        bump(&slot.head.claimed_ns, claim);
        sites::add_sample(slot, site, raw_ns, weight, ns);
        cell.samples.store(cell.samples.load(Relaxed) + 1, Relaxed);
        bump(&cell.sample_weight, weight);
        bump(&cell.sample_ns, raw_ns.saturating_mul(weight));
        let row = slot.row(row_number);
        bump(&row.denied_ns, wanted - claim);
        bump(&row.latency[bucket(ns)], weight);
        if ns > row.max_ns.load(Relaxed) {
            row.max_ns.store(ns, Relaxed);
        }
        bump(&row.sample_spread, weight * (weight - 1));
        let raw = raw_ns as f64;
        let ns2 = f64::from_bits(row.sample_ns2.load(Relaxed)) + weight as f64 * raw * raw;
        row.sample_ns2.store(ns2.to_bits(), Relaxed);
    }
    let gap = next_gap(slot, cell, ns);
    cell.gap.store(gap, Relaxed);
    cell.countdown.store(gap - 1, Relaxed);
}

/// Calls until the next sample: one at first and while there is credit, then ever more, at random so that no pattern of
/// the program falls in step with it.
fn next_gap(slot: &Slot, cell: &Cell, ns: u64) -> u32 {
    let bought = (ns / NS_PER_CREDIT).min(u64::from(MAX_CREDIT)) as u32;
    let credit = cell.credit.load(Relaxed).saturating_add(bought).min(MAX_CREDIT);
    cell.credit.store(credit.saturating_sub(1), Relaxed);
    let samples = cell.samples.load(Relaxed);
    let longest = GAP.load(Relaxed);
    if samples < ALL_TIMED || credit > 0 || longest <= 1 {
        return 1;
    }
    let mean = (2_u64 << ((samples - ALL_TIMED) / BEFORE_DOUBLING).min(20)).min(most(slot, cell, longest));
    // Uniform in 1 ..= 2 * mean - 1.
    1 + draw(slot, 2 * mean - 1) as u32
}

/// A number below `end`, each as likely as the others.
pub(super) fn draw(slot: &Slot, end: u64) -> u64 {
    let mut x = slot.head.random.load(Relaxed) | 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    slot.head.random.store(x, Relaxed);
    ((u128::from(x) * u128::from(end)) >> 64) as u64
}

/// The largest mean number of calls that a sample stands for now. Whoever has set more wants few.
fn most(slot: &Slot, cell: &Cell, longest: u64) -> u64 {
    let samples = cell.samples.load(Relaxed);
    if longest > MEAN_GAP {
        return longest;
    }
    let doublings =
        if samples >= MANY && is_known(slot, cell, samples) { (samples / MANY + 1).ilog2().min(20) } else { 0 };
    longest.min(FIRST_GAP << doublings)
}

/// Whether the samples say what calls take: the relative standard error of their mean is below 10 %. Where few calls
/// take most of the time, many samples are needed.
fn is_known(slot: &Slot, cell: &Cell, samples: u64) -> bool {
    let (weight, ns) = (cell.sample_weight.load(Relaxed) as f64, cell.sample_ns.load(Relaxed) as f64);
    let ns2 = f64::from_bits(slot.row(cell.row.load(Relaxed)).sample_ns2.load(Relaxed));
    weight * ns2 < ns * ns * (1.0 + 0.01 * samples as f64)
}

/// Counts a call with a payload at its first time, and every time when the slot has no rows left: then without its size
/// class, the totals stay exact.
#[cold]
#[inline(never)]
pub(super) fn count_sized(slot: &Slot, op: u16, peer: i32, bytes: usize) {
    let (calls, total) = counters(slot, slot.cell(op), peer, bytes, Timing::Sized);
    bump(calls, 1);
    bump(total, bytes as u64);
}

/// Ends a timed call at its first time, or without a row of its own, or by the fallback clock, or after seconds.
#[cold]
#[inline(never)]
pub(super) fn leave_timed(op: u16, start: u64, peer: i32) -> u64 {
    let Some(slot) = tls::slot() else {
        leave_shared(op, start);
        return 0;
    };
    // The call that initializes: there was nothing to record into when it began.
    if start == 0 {
        return 0;
    }
    let end = ticks_of(&slot.head);
    if counting::is_on() {
        counting::leave(slot, op);
    }
    let ticks = elapsed(&slot.head, start, end);
    let whole_ns = clock::scale_ns(ticks, slot.head.clock_mult.load(Relaxed));
    let ns = whole_ns.saturating_sub(slow_wait::interrupted_ns(slot, start));
    let cell = slot.cell(op);
    add_exact(slot, cell, row(slot, cell), ns);
    if trace::is_on() && !trace::timed(slot, op, slot.head.current.bytes.load(Relaxed), end) {
        trace::event(slot, op, peer, start, end);
    }
    sites::add_exact(slot, ns);
    meetings::waited(slot, traits(op), ns);
    timeline::tend(slot, op, start, end);
    slow_wait::end(slot, start, end);
    meetings::met(slot, traits(op), peer, (start, end), 1);
    slot.head.current.word.store(current_word(op, STATE_DONE, peer), Relaxed);
    ticks
}

/// Ends a timed call in the shared slot: several threads at once.
#[cold]
#[inline(never)]
pub(super) fn leave_shared(op: u16, start: u64) {
    let (Some(slot), true) = (claim::shared(), start != 0) else { return };
    if trace::is_on() {
        trace::lost();
    }
    let ns = elapsed_ns(&slot.head, start);
    let cell = slot.cell(op);
    let row = slot.row(row(slot, cell));
    row.latency[bucket(ns)].fetch_add(1, Relaxed);
    row.max_ns.fetch_max(ns, Relaxed);
    cell.exact_calls.fetch_add(1, Relaxed);
    cell.exact_ns.fetch_add(ns, Relaxed);
}

#[cold]
#[inline(never)]
pub(super) fn error(op: u16) {
    match claim::claim() {
        Place::Own(slot) => bump(&slot.cell(op).errors, 1),
        Place::Shared(region) => {
            region.slots[SLOTS].cell(op).errors.fetch_add(1, Relaxed);
        }
        Place::Nowhere => {}
    }
}

/// The row of a cell, given out at its first use. Serves the shared slot too.
#[cold]
#[inline(never)]
pub(super) fn row(slot: &Slot, cell: &Cell) -> u32 {
    let number = cell.row.load(Relaxed);
    if number != ROW_NONE {
        return number;
    }
    let has_room = slot.head.rows_used.load(Relaxed) < ROWS as u32 - 1;
    let taken = if has_room { slot.head.rows_used.fetch_add(1, Relaxed) } else { u32::MAX };
    let number = if taken < ROWS as u32 - 1 { ROW_OVERFLOW + 1 + taken } else { ROW_OVERFLOW };
    match cell.row.compare_exchange(ROW_NONE, number, Relaxed, Relaxed) {
        Ok(_) => {
            let op = op_of(slot, cell);
            slot.tables.used[op / 64].fetch_or(1 << (op % 64), Relaxed);
            if number == ROW_OVERFLOW {
                slot.tables.rows_overflowed.fetch_add(1, Relaxed);
            }
            number
        }
        // Another thread of the shared slot was first; the row taken here stays unused.
        Err(theirs) => theirs,
    }
}

/// Which of the slot's cells this is.
fn op_of(slot: &Slot, cell: &Cell) -> usize {
    let first = std::ptr::from_ref(&slot.cells).addr();
    (std::ptr::from_ref(cell).addr().wrapping_sub(first) / size_of::<Cell>()) % MAX_OPS
}
