//! What recording itself costs: measured once at the start, so that every report can say how much of the time is ours.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::hot::{self, bump};
use super::{flows, sites, tls};
use crate::clock;
use crate::op::{MAX_OPS, entered_for};
use crate::segment::layout::{Region, SLOTS, STATE_INSIDE, Slot, current_word};
use crate::segment::sites::{key, site_index};

/// An operation that nobody has: its cell is free to be written, and readers do not look at it.
const NOBODY: u16 = MAX_OPS as u16 - 1;
const CALLS: u64 = 64;
const ROUNDS: usize = 9;
/// Bytes of a copy.
const COPY: usize = 2048;
/// Copies a round.
const COPIES: u64 = 24;
/// Words of a table that is updated.
const WORDS: usize = 256;

/// Measures what a counted and what a timed call cost, into the head of the region.
pub(super) fn measure(region: &Region) {
    let (slot, head) = (&region.slots[SLOTS], &region.head);
    head.call_cost.store(median(slot, CALLS, counted), Relaxed);
    head.timed_cost.store(median(slot, CALLS, timed), Relaxed);
    head.amo_cost.store(of_updates(slot), Relaxed);
    head.copy_cost.store(of_copies(slot), Relaxed);
    forget(slot);
}

/// Ticks of a call times 256: the median of some rounds.
fn median(slot: &Slot, calls: u64, mut call: impl FnMut(&Slot)) -> u64 {
    let mut rounds = [0_u64; ROUNDS];
    call(slot);
    for round in &mut rounds {
        let begin = hot::ticks(&slot.head);
        for _ in 0..calls {
            call(black_box(slot));
        }
        *round = hot::ticks(&slot.head).saturating_sub(begin) * 256 / calls;
    }
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}

/// How much longer calls that do this take where they are counted, as [`median`].
fn added(slot: &Slot, calls: u64, mut work: impl FnMut()) -> u64 {
    let alone = median(slot, calls, |_| work());
    median(slot, calls, |slot| {
        counted(slot);
        work();
    })
    .saturating_sub(alone)
    // Zero says that it was not measured.
    .max(1)
}

/// What counting takes of atomic operations, each of which waits for the one before: the processor counts meanwhile.
fn of_updates(slot: &Slot) -> u64 {
    let table = [const { AtomicU64::new(0) }; WORDS];
    let mut random = 1_u64;
    added(slot, CALLS, || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        black_box(&table)[(random >> 40) as usize % WORDS].fetch_xor(random, Relaxed);
    })
}

/// The same of copies, which are made by fewer instructions than words: there is less to do beside them.
fn of_copies(slot: &Slot) -> u64 {
    let (source, mut target) = ([1_u8; COPY], [0_u8; COPY]);
    added(slot, COPIES, || black_box(&mut target).copy_from_slice(black_box(&source)))
}

#[inline(never)]
fn counted(slot: &Slot) {
    let cell = slot.cell(NOBODY);
    if let Some((flow, _)) = flows::find(slot, tls::site(), entered_for(NOBODY, -1), 0) {
        flows::count(slot, flow, NOBODY, 8);
    } else {
        hot::count(slot, cell, -1, 8);
        sites::note_short(slot, NOBODY, (-1, 0, 8), true);
    }
    slot.head.current.word.store(0, Relaxed);
    hot::bump32(&cell.countdown, u32::MAX);
}

#[inline(never)]
fn timed(slot: &Slot) {
    counted(slot);
    let start = hot::ticks(&slot.head);
    slot.head.current.start.store(start, Relaxed);
    slot.head.current.word.store(current_word(0, STATE_INSIDE, -1), Relaxed);
    let end = hot::ticks(&slot.head);
    let ns = clock::scale_ns(hot::elapsed(&slot.head, start, end), slot.head.clock_mult.load(Relaxed));
    let cell = slot.cell(NOBODY);
    bump(&cell.exact_calls, 1);
    bump(&cell.exact_ns, ns);
    sites::add_exact(slot, ns);
    slot.head.current.word.store(0, Relaxed);
}

/// Takes the traces of measuring away.
fn forget(slot: &Slot) {
    let cell = slot.cell(NOBODY);
    let words = [&cell.calls[0], &cell.bytes[0], &cell.exact_calls, &cell.exact_ns];
    words.into_iter().for_each(|word| word.store(0, Relaxed));
    cell.countdown.store(0, Relaxed);
    flows::forget(slot, NOBODY, -1);
    let first = &slot.tables.sites[site_index(key(tls::site(), NOBODY, 0))];
    let none = &slot.tables.sites[0];
    for site in [first, none] {
        let words = [&site.key, &site.calls, &site.bytes, &site.exact_calls, &site.exact_ns];
        words.into_iter().for_each(|word| word.store(0, Relaxed));
        site.max_ns.store(0, Relaxed);
    }
    slot.head.current.start.store(0, Relaxed);
}
