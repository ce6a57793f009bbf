//! Who ended a wait, and what he did before.
//!
//! Each thread keeps its last stores to single words, by target and address. A thread that has waited for long looks
//! through those of its host for one to what it waited for. Whose note is the only one that may be of a store after the
//! last look in vain ([`super::vain`]) has ended the wait; where there is none, or several, it is not known. To look
//! costs some lines of other processors' caches, so one look stands for a certain time in waits: long waits are all
//! looked at, of shorter ones some, the longer the likelier.
#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::claim;
use super::hot::bump;
use super::sites::site_key;
use super::{stays, tls, vain};
use crate::clock;
use crate::hash::fibonacci;
use crate::op::{self, Class};
use crate::segment::layout::{
    HEADER_BYTES, PE_ABSENT, REGION_BYTES, Region, SLOTS, STATE_DONE, STATE_INSIDE, Slot, segment_bytes, state_of,
    symmetric,
};
use crate::segment::release::{CAUSES, Cause, SPANS, STORES, is_flow, place};
use crate::segment::sites::split_key;
use crate::segment::{Mapping, SegmentShape};

/// Time in waits that pays for a look, in nanoseconds: that at the PE itself, and that at each other of the host.
const LOOK_NS: u64 = 10_000;
/// See [`LOOK_NS`].
const LOOK_AT_ONE_NS: u64 = 5_000;
/// A wait of this part of a look's price is long: whoever waits for this thread then looks no further back.
const LONG_PART: u64 = 8;
/// Bytes in which a call that waits for several variables looks for stores.
const VECTOR_BYTES: u64 = 1 << 16;
/// Rows of causes that are looked at before one counts as without room.
const PROBES: usize = 16;

/// The regions of all PEs of the host.
static NEIGHBOURS: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Ticks in waits from one look to the next; the most there are: no look.
static DUE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Maps what the PEs of the host record, to look at it. Stays as long as the process.
///
/// # Errors
/// What the system answered; then nobody looks.
pub(super) fn map(fd: RawFd, facts: &SegmentShape) -> io::Result<()> {
    // Written to is nothing but notes of stores, to take them away.
    let mapping = Mapping::new(fd, 0, segment_bytes(facts.local_pes), true)?;
    NEIGHBOURS.store(mapping.leak(), Release);
    COUNT.store(facts.local_pes, Relaxed);
    let ns = LOOK_NS + LOOK_AT_ONE_NS * u64::from(facts.local_pes);
    DUE.store(facts.scale.ticks(ns).max(1), Relaxed);
    Ok(())
}

/// Ticks in waits that pay for a look; none where nobody looks.
pub(super) fn price() -> Option<u64> {
    Some(DUE.load(Relaxed)).filter(|due| *due != u64::MAX)
}

/// Nobody looks from now on.
pub(super) fn unmap() {
    DUE.store(u64::MAX, Relaxed);
}

/// A slot has a new owner.
pub(super) fn begin(slot: &Slot) {
    slot.tables.waited.due.store(DUE.load(Relaxed), Relaxed);
}

/// The thread is about to store to a word of `peer`.
#[inline(always)]
pub(super) fn note(slot: &Slot, peer: i32, addr: usize, key: u64) {
    let (stores, place) = (&slot.tables.stores, place(peer, addr as u64));
    stores.addresses[place].store(addr as u64, Relaxed);
    stores.by[place].store(key, Relaxed);
    stores.pes[place].store(peer, Relaxed);
}

/// As [`note`], by a call of the flow at this [`crate::segment::flows::place`].
#[inline(always)]
pub(super) fn note_flow(slot: &Slot, (peer, addr): (i32, usize), flow: usize) {
    let (stores, place) = (&slot.tables.stores, place(peer, addr as u64));
    stores.addresses[place].store(addr as u64, Relaxed);
    stores.by[place].store(flow as u64, Relaxed);
}

/// The thread has left a wait that took `ticks` from `start` on.
#[inline(always)]
pub(super) fn waited(op: u16, start: u64, ticks: u64) {
    let Some(slot) = tls::slot() else { return };
    let waited = &slot.tables.waited;
    bump(&waited.since_look, ticks);
    if waited.since_look.load(Relaxed) >= waited.due.load(Relaxed) || ticks >= DUE.load(Relaxed) / LONG_PART {
        waited_long(slot, op, start, ticks);
    }
}

/// Whether any thread of the host has waited for what others store.
pub(super) fn anyone_waits() -> bool {
    waiting_slots().next().is_some()
}

/// The slots of the host's threads that have waited for what others store.
pub(super) fn waiting_slots() -> impl Iterator<Item = &'static Slot> {
    neighbours().flat_map(used).filter(|slot| has_waited(slot))
}

fn has_waited(slot: &Slot) -> bool {
    let waited = &slot.tables.waited;
    waited.since_look.load(Relaxed) > 0 || waited.left.load(Relaxed) > 0
}

/// The slots of a region that threads have had.
fn used(region: &Region) -> &[Slot] {
    &region.slots[..(region.head.slots_used.load(Acquire) as usize).min(SLOTS)]
}

#[cold]
#[inline(never)]
fn waited_long(slot: &Slot, op: u16, start: u64, ticks: u64) {
    let waited = &slot.tables.waited;
    let key = site_key(slot, slot.head.site.load(Relaxed).into());
    let (since_look, due) = (waited.since_look.load(Relaxed), DUE.load(Relaxed));
    if due != u64::MAX && since_look >= waited.due.load(Relaxed) {
        look(slot, (op, key), (start, ticks), since_look);
        waited.since_look.store(0, Relaxed);
        // At random, so that no pattern of the program falls in step with it.
        let random = fibonacci(clock::counter()) >> 32;
        waited.due.store(due / 2 + ((random * due) >> 32), Relaxed);
    }
    was_away(slot, start, start + ticks);
    waited.key.store(key, Relaxed);
    waited.claimed_ns.store(slot.head.claimed_ns.load(Relaxed), Relaxed);
    waited.left.store(start + ticks, Relaxed);
    slot.tables.phase.passed_site.store(0, Relaxed);
}

/// The thread has met others from `begun` to `left`, in ticks.
#[inline(always)]
pub(super) fn met(slot: &Slot, begun: u64, left: u64) {
    if left.saturating_sub(begun) >= DUE.load(Relaxed) / LONG_PART {
        was_away(slot, begun, left);
    }
}

/// The thread waited meanwhile, for long: whoever waits for it then does not wait for its work.
#[cold]
#[inline(never)]
fn was_away(slot: &Slot, begun: u64, left: u64) {
    let spans = &slot.tables.spans;
    let count = spans.count.load(Relaxed);
    let at = count as usize % SPANS;
    spans.left[at].store(0, Relaxed);
    spans.begun[at].store(begun, Relaxed);
    spans.left[at].store(left, Relaxed);
    spans.count.store(count + 1, Relaxed);
}

/// How much of the time from `start` to `end` a thread was waiting for others for long, in ticks. What was before those
/// that it keeps is as what they are of.
fn away(slot: &Slot, start: u64, end: u64) -> u64 {
    let spans = &slot.tables.spans;
    let of = |at: usize| (spans.begun[at].load(Relaxed), spans.left[at].load(Relaxed));
    let known = || (0..SPANS).map(of).filter(|(begun, left)| begun < left);
    let overlap = |(begun, left): (u64, u64)| left.min(end).saturating_sub(begun.max(start));
    let away = known().map(overlap).fold(0, u64::saturating_add).min(end.saturating_sub(start));
    let oldest = known().map(|(begun, _)| begun).min().unwrap_or(0);
    let is_full = spans.count.load(Relaxed) as usize > SPANS;
    if !is_full || oldest <= start || oldest >= end {
        return away;
    }
    let scaled = u128::from(away) * u128::from(end - start) / u128::from(end - oldest);
    (scaled as u64).min(end - start)
}

/// Finds out who ended the wait. It stands for `since_look` ticks.
fn look(slot: &Slot, (op, key): (u16, u64), (start, ticks): (u64, u64), since_look: u64) {
    let mult = slot.head.clock_mult.load(Relaxed);
    let stands_ns = clock::scale_ns(since_look, mult);
    let is_lock = op::get(op).is_some_and(|row| row.class == Class::Lock);
    if op::request::waits(op) {
        return look_at_request(slot, key, stands_ns);
    }
    let found = if is_lock { last_holder(slot) } else { find(slot, op, (start, start + ticks)) };
    let Some(found) = found else {
        let row = row(slot, [key, 0, 0, 0]);
        bump(&row.waits, 1);
        return bump(&row.ns, stands_ns);
    };
    let before = Before::of(found.slot);
    let worked_in = stays::most(found.slot, before.since, start + ticks);
    let row = row(slot, [key, worked_in << 32 | (u64::from(found.pe) + 1), found.by, before.key]);
    bump(&row.waits, 1);
    bump(&row.ns, stands_ns);
    let ns = clock::scale_ns(ticks, mult).max(1);
    let own_ns = clock::scale_ns(ticks - away(found.slot, start, start + ticks).min(ticks), mult).min(ns);
    // As much of it in the library as of the time since it waited last.
    let claimed = found.slot.head.claimed_ns.load(Relaxed).saturating_sub(before.claimed_ns);
    let since = clock::scale_ns((start + ticks).saturating_sub(before.left), mult).max(1);
    let library_ns = ((u128::from(own_ns) * u128::from(claimed) / u128::from(since)) as u64).min(own_ns);
    let held_ns = || clock::scale_ns(slot.tables.waited.release_held.load(Relaxed), mult);
    bump(&row.own_ns, if is_lock { held_ns() } else { own_ns });
    let scaled = |part: u64| (u128::from(part) * u128::from(stands_ns) / u128::from(ns)) as u64;
    bump(&row.library_ns, scaled(library_ns));
    bump(&row.work_ns, scaled(own_ns - library_ns));
}

/// Whose part of an operation with a handle came last: as the wait for it has found out. Why that came late, and what
/// that PE did before, is not known.
fn look_at_request(slot: &Slot, key: u64, stands_ns: u64) {
    let row = row(slot, [key, slot.tables.waited.last_pe.swap(0, Relaxed), 0, 0]);
    bump(&row.waits, 1);
    bump(&row.ns, stands_ns);
}

/// The last thing that a thread waited for.
struct Before {
    key: u64,
    left: u64,
    /// The same, as the thread's stays in regions have it.
    since: u64,
    claimed_ns: u64,
}

impl Before {
    fn of(slot: &Slot) -> Before {
        let (waited, met) = (&slot.tables.waited, &slot.tables.phase);
        let (left, met_left) = (waited.left.load(Relaxed), met.left.load(Relaxed));
        let since = stays::last_left(slot);
        let mut before = if met_left > left {
            let key = site_key(slot, met.site.load(Relaxed));
            Before { key, left: met_left, since, claimed_ns: met.claimed_ns.load(Relaxed) }
        } else {
            // One that has never waited has worked since it began.
            let left = left.max(slot.tables.lives.since.load(Relaxed));
            Before { key: waited.key.load(Relaxed), left, since, claimed_ns: waited.claimed_ns.load(Relaxed) }
        };
        // When a call without a stamp returned is not known, but it was the last one.
        if let Some(site) = met.passed() {
            before.key = site_key(slot, site);
        }
        before
    }
}

/// Who stored to what was waited for.
struct Found {
    pe: u32,
    slot: &'static Slot,
    by: u64,
}

/// Who released the lock that was waited for, as taking it has found out.
fn last_holder(slot: &Slot) -> Option<Found> {
    let waited = &slot.tables.waited;
    let by = waited.released_by.load(Relaxed);
    let pe = (by as u32).checked_sub(1)?;
    let region = neighbours().find(|region| region.head.pe.load(Relaxed) == pe)?;
    let slot = region.slots[..SLOTS].get((by >> 32) as usize)?;
    Some(Found { pe, slot, by: waited.release_key.load(Relaxed) })
}

/// A store to what is waited for, as another thread has noted it.
pub(super) struct Store {
    pe: u32,
    slot: &'static Slot,
    /// Where it is noted.
    place: usize,
    address: u64,
    /// Key of its call site.
    by: u64,
}

impl Store {
    /// Takes the note away, unless its thread is in the call: then the store may be yet to come.
    pub(super) fn take_away(&self) {
        let word = self.slot.head.current.word.load(Relaxed);
        let is_inside = state_of(word) == STATE_INSIDE && word as u16 == split_key(self.by).1;
        if !is_inside {
            // Its thread may have noted another one there meanwhile.
            let note = &self.slot.tables.stores.addresses[self.place];
            let _ = note.compare_exchange(self.address, 0, Relaxed, Relaxed);
        }
    }
}

/// The only one whose store may have come after the last look in vain. Its note is taken away, as are those of others:
/// they are of no wait to come.
fn find(slot: &Slot, op: u16, (begun, end): (u64, u64)) -> Option<Found> {
    let since = vain::until(slot, begun, end);
    let (mut found, mut is_only) = (None::<Found>, true);
    visit(slot, op, |store| {
        if latest(store.slot, split_key(store.by).1) >= since {
            let known = found.get_or_insert(Found { pe: store.pe, slot: store.slot, by: store.by });
            is_only &= std::ptr::eq(known.slot, store.slot);
        }
        store.take_away();
    });
    found.filter(|_| is_only)
}

/// Visits what other threads of the host have noted of stores to what this one waits for.
pub(super) fn visit(slot: &Slot, op: u16, mut visit: impl FnMut(&Store)) {
    let Some(own) = claim::region_unchecked() else { return };
    let memory = own.head.memory.each_ref().map(|word| word.load(Relaxed));
    let Some((kind, offset)) = symmetric(memory, slot.head.current.addr.load(Relaxed)) else { return };
    let span = if waits_for_several(op) { VECTOR_BYTES } else { 1 };
    let me = slot.head.pe.load(Relaxed);
    for region in neighbours() {
        let head = &region.head;
        if head.state.load(Acquire) == PE_ABSENT {
            continue;
        }
        let pe = head.pe.load(Relaxed);
        let addr = head.memory[2 * usize::from(kind)].load(Relaxed) + offset;
        for (at, other) in used(region).iter().enumerate() {
            if pe as i32 == me && at == claim::slot_index(slot) {
                continue;
            }
            let places = if span == 1 { place(me, addr)..place(me, addr) + 1 } else { 0..STORES };
            let stores = places.filter_map(|place| store_at(other, place, me, addr..addr + span));
            stores.for_each(|(place, address, by)| visit(&Store { pe, slot: other, place, address, by }));
        }
    }
}

pub(super) fn waits_for_several(op: u16) -> bool {
    op::get(op).is_some_and(|row| ["_all", "_any", "_some"].iter().any(|word| row.name().contains(word)))
}

/// A thread's store that is noted at a place, if it is to these bytes of `me`: place, address and call site.
fn store_at(slot: &Slot, place: usize, me: i32, bytes: Range<u64>) -> Option<(usize, u64, u64)> {
    let stores = &slot.tables.stores;
    let to = stores.addresses[place].load(Relaxed);
    if !bytes.contains(&to) {
        return None;
    }
    let by = stores.by[place].load(Relaxed);
    let (pe, by) = if is_flow(by) {
        let flow = slot.tables.flows.row(by as usize);
        (flow.peer(), flow.site_key())
    } else {
        (stores.pes[place].load(Relaxed), by)
    };
    (pe == me).then_some((place, to, by))
}

/// When a thread may have stored at the latest: a timed call that it has entered since was after it.
fn latest(slot: &Slot, op: u16) -> u64 {
    let current = &slot.head.current;
    let word = current.word.load(Relaxed);
    let is_later_call = matches!(state_of(word), STATE_INSIDE | STATE_DONE) && word as u16 != op;
    // Without a stamp it is not known when.
    let begun = Some(current.start.load(Relaxed)).filter(|begun| is_later_call && *begun != 0);
    begun.unwrap_or(u64::MAX)
}

/// The regions of all PEs of the host, where they are mapped.
pub(super) fn neighbours() -> impl Iterator<Item = &'static Region> {
    (0..COUNT.load(Relaxed)).filter_map(neighbour)
}

/// The regions of the PE at this place of the host and of so many after it, where they are mapped.
pub(super) fn nearest(index: u32, others: u32) -> impl Iterator<Item = &'static Region> {
    let count = COUNT.load(Relaxed);
    let place = move |after: u32| (u64::from(index) + u64::from(after)) % u64::from(count);
    (0..count.min(others + 1)).filter_map(move |after| neighbour(place(after) as u32))
}

fn neighbour(index: u32) -> Option<&'static Region> {
    let start = NEIGHBOURS.load(Acquire);
    if start.is_null() {
        return None;
    }
    // SAFETY: `map` mapped a header and `COUNT` regions for the rest of the process; all fields are atomics. Only what
    // its PE has written is read, or taken away: a page that nobody wrote stays a hole.
    Some(unsafe { &*start.add(HEADER_BYTES + index as usize * REGION_BYTES).cast::<Region>() })
}

/// The row of a cause.
fn row(slot: &Slot, [key, by_pe, by, from]: [u64; 4]) -> &Cause {
    let causes = &slot.tables.causes;
    let mixed = [by_pe, by, from].iter().fold(key, |mixed, word| mixed.rotate_left(21) ^ word);
    let first = (fibonacci(mixed) >> 32) as usize;
    let rows = (0..PROBES).map(|k| &causes[(first + k) % CAUSES]);
    for row in rows {
        let words = [&row.key, &row.by_pe, &row.by, &row.from];
        if row.waits.load(Relaxed) == 0 {
            // The key last: a reader takes a row without one for free.
            for (word, value) in words.into_iter().zip([key, by_pe, by, from]).rev() {
                word.store(value, Relaxed);
            }
            return row;
        }
        if words.map(|word| word.load(Relaxed)) == [key, by_pe, by, from] {
            return row;
        }
    }
    &causes[CAUSES]
}
