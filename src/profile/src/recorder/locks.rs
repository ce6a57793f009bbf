//! What this PE does with distributed locks, and which it holds: for the profile, and for whoever looks at a job that
//! hangs.
#![allow(unsafe_code)]

use std::os::fd::RawFd;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use super::claim::{self, slot_index};
use super::hot::{self, bump};
use super::sites::{is_mine, site_key};
use super::tls;
use crate::arm;
use crate::op::{self, Class};
use crate::segment::Mapping;
use crate::segment::layout::{HEADER_BYTES, Region, STATE_INSIDE, Slot, state_of, symmetric};
use crate::segment::locks::{LOCK_ROWS, LockRow, RELEASED, Released, Releases, number, place};

/// Rows that are looked at before a lock counts as without room.
const PROBES: usize = 8;

/// Last releases on this host; none where nobody wants to know.
static RELEASES: AtomicPtr<Releases> = AtomicPtr::new(std::ptr::null_mut());

/// Maps the releases of the host, which all its PEs write. Stays as long as the process; where it cannot be, they are
/// not known.
pub(super) fn map(fd: RawFd) {
    // From the region on: pages may be larger than what is before them.
    let before = std::mem::offset_of!(Region, releases);
    if let Ok(mapping) = Mapping::new(fd, HEADER_BYTES, before + size_of::<Releases>(), true) {
        // SAFETY: within what is mapped.
        RELEASES.store(unsafe { mapping.leak().add(before) }.cast(), Release);
    }
}

/// Releases are not noted from now on.
pub(super) fn unmap() {
    RELEASES.store(std::ptr::null_mut(), Release);
}

fn released(lock: u64) -> Option<&'static Released> {
    // SAFETY: null, or the whole table, which `map` has mapped for the rest of the process; all fields are atomics.
    let releases = unsafe { RELEASES.load(Acquire).as_ref() }?;
    Some(&releases.rows[place(lock) % RELEASED])
}

/// This PE now holds the distributed lock at `addr`. Beyond [`crate::segment::layout::LOCKS`] they are not noted.
pub fn lock_taken(addr: usize) {
    replace(0, addr as u64);
    if let Some((region, slot, lock)) = recorded(addr) {
        taken(region, slot, lock);
    }
}

/// This PE is about to release the lock at `addr`.
pub fn lock_released(addr: usize) {
    replace(addr as u64, 0);
    if let Some((region, slot, lock)) = recorded(addr) {
        let now = hot::ticks(&slot.head);
        let row = row(region, lock);
        let since = row.since.swap(0, Relaxed);
        let held = if since == 0 { 0 } else { now.saturating_sub(since) };
        bump(&row.held, held);
        row.max_held.fetch_max(held, Relaxed);
        note_release(slot, lock, now, held);
    }
}

fn replace(from: u64, to: u64) {
    let Some(region) = claim::region_unchecked() else { return };
    for place in &region.head.locks {
        if place.load(Relaxed) == from && place.compare_exchange(from, to, Relaxed, Relaxed).is_ok() {
            return;
        }
    }
}

/// Where this thread's calls are recorded, if they are, and the lock's number.
fn recorded(addr: usize) -> Option<(&'static Region, &'static Slot, u64)> {
    let slot = tls::slot().filter(|_| arm::level() > 0 && !arm::counts_only())?;
    let region = claim::region_unchecked()?;
    let memory = region.head.memory.each_ref().map(|word| word.load(Relaxed));
    Some((region, slot, number(symmetric(memory, addr as u64)?)))
}

fn taken(region: &Region, slot: &Slot, lock: u64) {
    let now = hot::ticks(&slot.head);
    let current = &slot.head.current;
    let word = current.word.load(Relaxed);
    let is_timed = state_of(word) == STATE_INSIDE && op::get(word as u16).is_some_and(|row| row.class == Class::Lock);
    let start = if is_timed { current.start.load(Relaxed) } else { now };
    let row = row(region, lock);
    bump(&row.taken, 1);
    bump(&row.waited, now.saturating_sub(start));
    row.since.store(now, Relaxed);
    let by = &slot.tables.waited.released_by;
    by.store(0, Relaxed);
    let Some([at, releaser, key, held_before]) = released(lock).and_then(|last| last.of(lock)) else { return };
    if at > start && releaser as u32 != slot.head.pe.load(Relaxed) as u32 + 1 {
        bump(&row.contended, 1);
        bump(&row.handovers, 1);
        bump(&row.handover, now.saturating_sub(at));
        slot.tables.waited.release_key.store(key, Relaxed);
        slot.tables.waited.release_held.store(held_before, Relaxed);
        by.store(releaser, Relaxed);
    }
}

fn note_release(slot: &Slot, lock: u64, now: u64, held: u64) {
    let Some(last) = released(lock) else { return };
    let by = (slot.head.pe.load(Relaxed) as u32 + 1) as u64 | (slot_index(slot) as u64) << 32;
    last.note(lock, [now, by, site_key(slot, slot.head.site.load(Relaxed).into()), held]);
}

/// The row of a lock of this PE; its threads may look for theirs at the same time.
fn row(region: &Region, lock: u64) -> &LockRow {
    let rows = &region.names.locks;
    let first = place(lock);
    let found = (0..PROBES).map(|k| &rows[(first + k) % LOCK_ROWS]).find(|row| is_mine(&row.lock, lock));
    found.unwrap_or(&rows[LOCK_ROWS])
}
