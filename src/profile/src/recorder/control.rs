//! What a program asks of its profile while it runs: regions, markers, sampling, a snapshot now.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use super::hot::{bump, ticks};
use super::unrecorded::recorded;
use super::{claim, cold, counting, names, stays};
use crate::segment::Mapping;
use crate::segment::layout::{HEADER_BYTES, Header, Region, Slot};
use crate::segment::sites::KEY_REGION;
use crate::segment::tables::{NESTING, REGIONS};

static HEADER: AtomicPtr<Header> = AtomicPtr::new(std::ptr::null_mut());
/// How long a PE waits for its snapshot.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maps the header, where snapshots are asked for.
pub(super) fn serve(fd: RawFd) -> io::Result<()> {
    let mapping = Mapping::new(fd, 0, HEADER_BYTES, true)?;
    HEADER.store(mapping.leak().cast(), Release);
    Ok(())
}

/// What became of a request for a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// The snapshot is in the profile directory.
    Written,
    /// The launcher keeps no profile of this job.
    NotKept,
    /// The launcher did not answer in time.
    NoAnswer,
}

/// Asks the launcher for a snapshot of the whole job, and waits until it is in the profile directory. Where it keeps no
/// profile, what this PE has recorded is at least complete.
pub fn flush() -> Flush {
    // SAFETY: null or a mapping that is never unmapped; all fields are atomics.
    let Some(header) = (unsafe { HEADER.load(Acquire).as_ref() }) else { return Flush::NotKept };
    let Some(region) = claim::region() else { return Flush::NotKept };
    super::modules::note(region);
    counting::refresh();
    super::network::refresh();
    if header.flush_served.load(Acquire) == 0 {
        return Flush::NotKept;
    }
    let mine = header.flush_wanted.fetch_add(1, AcqRel).wrapping_add(1);
    crate::segment::futex::wake(&header.flush_wanted);
    let begin = Instant::now();
    loop {
        let done = header.flush_done.load(Acquire);
        if done.wrapping_sub(mine) as i32 >= 0 {
            return Flush::Written;
        }
        if begin.elapsed() > PATIENCE {
            return Flush::NoAnswer;
        }
        if header.flush_served.load(Relaxed) == 0 {
            return Flush::NotKept;
        }
        crate::segment::futex::wait(&header.flush_done, done, Duration::from_millis(200));
    }
}

/// A PE begins to write the profile of its host for the last time.
pub fn keeps_last() {
    // SAFETY: as in `flush`.
    if let Some(header) = unsafe { HEADER.load(Acquire).as_ref() } {
        header.is_ending.store(1, Release);
    }
}

/// This PE ends the job with this status: under launchers that are none of ours, nobody else knows.
pub fn ends_job(status: i32) {
    // SAFETY: as in `flush`.
    if let Some(header) = unsafe { HEADER.load(Acquire).as_ref() } {
        let _ = header.ended_with.compare_exchange(0, (status as u32).wrapping_add(1), Release, Relaxed);
    }
}

/// Whether any PE of this host has begun that: one may end the job alone.
pub fn is_last_kept() -> bool {
    // SAFETY: as in `flush`.
    unsafe { HEADER.load(Acquire).as_ref() }.is_some_and(|header| header.is_ending.load(Acquire) != 0)
}

/// Sets how many short calls one timed call stands for at most (1: each is timed), and from how many nanoseconds on a
/// call stands for itself only. `None` leaves it. Returns whether the values could be taken.
pub fn set_sampling(every: Option<u64>, long_ns: Option<u64>) -> bool {
    if every.is_some_and(|n| n == 0 || n > cold::MAX_GAP) || long_ns == Some(0) {
        return false;
    }
    if let Some(every) = every {
        cold::GAP.store(every, Relaxed);
    }
    if let Some(ns) = long_ns {
        cold::LONG.store(ns, Relaxed);
    }
    true
}

/// Where the calling thread keeps its regions and markers. One that shares its slot has no place for them, which is
/// counted.
fn own() -> Option<(&'static Region, &'static Slot)> {
    let own = claim::own();
    if own.is_none()
        && let Some(region) = claim::region()
    {
        region.head.region_errors.fetch_add(1, Relaxed);
    }
    own
}

/// The calling thread enters a region. Returns false where it cannot be kept: too many names, nesting too deep, no
/// slot.
pub fn region_begin(name: &str) -> bool {
    let Some((region, slot)) = own() else { return false };
    let number = names::number_of(&region.names, name);
    let depth = slot.head.region_depth.load(Relaxed) as usize;
    let (Some(number), true) = (number, depth < NESTING) else {
        region.head.region_errors.fetch_add(1, Relaxed);
        return false;
    };
    let now = recorded(ticks(&slot.head));
    slot.tables.stack[depth].store(number as u64, Relaxed);
    slot.head.region_depth.store(depth as u32 + 1, Relaxed);
    switch(slot, number, now);
    let row = &slot.tables.regions[number];
    bump(&row.entries, 1);
    if row.open.load(Relaxed) == 0 {
        row.since.store(now, Relaxed);
    }
    bump(&row.open, 1);
    true
}

/// The calling thread leaves its innermost region, which must have this name where one is given. Returns false
/// otherwise: then nothing changes.
pub fn region_end(name: Option<&str>) -> bool {
    let Some((region, slot)) = own() else { return false };
    let depth = slot.head.region_depth.load(Relaxed) as usize;
    let innermost = depth.checked_sub(1).map(|top| slot.tables.stack[top].load(Relaxed) as usize % REGIONS);
    let fits = |number: usize| name.is_none_or(|name| region.names.regions[number].is(names::cut(name)));
    let Some(number) = innermost.filter(|&number| fits(number)) else {
        region.head.region_errors.fetch_add(1, Relaxed);
        return false;
    };
    let now = recorded(ticks(&slot.head));
    slot.head.region_depth.store(depth as u32 - 1, Relaxed);
    let outer = depth.checked_sub(2).map_or(0, |top| slot.tables.stack[top].load(Relaxed) as usize % REGIONS);
    switch(slot, outer, now);
    let row = &slot.tables.regions[number];
    let open = row.open.load(Relaxed).saturating_sub(1);
    row.open.store(open, Relaxed);
    if open == 0 {
        let ticks = now.saturating_sub(row.since.load(Relaxed));
        bump(&row.ticks, ticks);
        if ticks > row.max_ticks.load(Relaxed) {
            row.max_ticks.store(ticks, Relaxed);
        }
    }
    true
}

/// The name of the region that the calling thread is in.
pub fn innermost_region() -> Option<String> {
    let (region, slot) = claim::own()?;
    let top = (slot.head.region_depth.load(Relaxed) as usize).checked_sub(1)?;
    Some(region.names.regions[slot.tables.stack[top].load(Relaxed) as usize % REGIONS].get())
}

/// Where a region or a marker that could not be kept was called from: what the call returns to. The first is kept.
pub fn failed_at(returns_to: usize) {
    if let Some(region) = claim::region() {
        _ = region.head.region_error.compare_exchange(0, returns_to as u64, Relaxed, Relaxed);
    }
}

/// A call of `pshmem_X` came from the executable itself, and is not recorded.
pub fn left_out() {
    if let Some(region) = claim::region() {
        region.head.left_out.fetch_add(1, Relaxed);
    }
}

/// The owner of a slot ends: the next one is in no region.
pub(super) fn leave_regions(slot: &Slot) {
    for _ in 0..slot.head.region_depth.load(Relaxed) {
        region_end(None);
    }
    switch(slot, 0, recorded(ticks(&slot.head)));
}

/// From now on the thread is in region `number`.
fn switch(slot: &Slot, number: usize, now: u64) {
    counting::settle(slot);
    let head = &slot.head;
    let before = stays::present(slot);
    stays::leave(slot, now);
    bump(&slot.tables.regions[before].own_ticks, now.saturating_sub(head.region_since.load(Relaxed)));
    head.region_since.store(now, Relaxed);
    head.region_key.store((number as u64) << KEY_REGION, Relaxed);
}

/// Marks a value under a name. Returns false where there is no room for another name.
pub fn marker(name: &str, value: f64) -> bool {
    let Some((region, slot)) = own() else { return false };
    let marked = names::locked(&region.names, |names| {
        let name = names::cut(name);
        let free = |row: &&crate::segment::names::Marker| row.name.is(name) || row.name.is("");
        let Some(row) = names.markers.iter().find(free) else { return false };
        let number = |word: &std::sync::atomic::AtomicU64| f64::from_bits(word.load(Relaxed));
        let first = row.count.load(Relaxed) == 0;
        let (min, max) =
            if first { (value, value) } else { (number(&row.min).min(value), number(&row.max).max(value)) };
        row.sum.store((number(&row.sum) + value).to_bits(), Relaxed);
        row.min.store(min.to_bits(), Relaxed);
        row.max.store(max.to_bits(), Relaxed);
        row.last.store(value.to_bits(), Relaxed);
        row.when.store(ticks(&slot.head), Relaxed);
        if first {
            row.name.set(name);
        }
        bump(&row.count, 1);
        true
    });
    let marked = marked == Some(true);
    if !marked {
        region.head.region_errors.fetch_add(1, Relaxed);
    }
    marked
}
