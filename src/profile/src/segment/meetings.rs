//! Calls that all PEs of a team make: barriers, syncs and collectives, and the phases between them.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Teams of a thread; the last stands for all that found no room.
pub const TEAMS: usize = 64;
/// Synchronisations that are kept one by one. When they are full, or in a profile of counts come faster than keeping
/// them may cost, half of them are dropped and from then on only one in 2, 4 ... is kept: the same ones on each PE.
pub const SYNCS: usize = 4096;
/// The longest of those that are not among these, and those after the longest phases: few of them may be most of what
/// is lost, or of what is done.
pub const LONGEST: usize = 64;

/// A team, as one thread uses it. Row 0 is the world.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct TeamRow {
    /// World number of its first PE.
    pub start: AtomicI32,
    /// Distance between members.
    pub stride: AtomicI32,
    /// Members; 0 where the row is free.
    pub size: AtomicI32,
    /// Number that members agree on.
    pub id: AtomicU32,
    /// Barriers, syncs and collectives finished on it.
    pub calls: AtomicU64,
    /// Time in them, in ticks.
    pub ticks: AtomicU64,
    /// Bytes of them.
    pub bytes: AtomicU64,
    /// The number of the next one that is kept, or that at which to look for it.
    pub stamped_next: AtomicU64,
    /// Keeps the size.
    pub reserved: [AtomicU64; 2],
}

/// One barrier, sync or collective of a thread.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Sync {
    /// Key of its call site.
    pub key: AtomicU64,
    /// Number among those of its team (bits 0 to 55), row of the team (56 to 63).
    pub number: AtomicU64,
    /// When the call was entered, in ticks.
    pub arrived: AtomicU64,
    /// When it returned.
    pub left: AtomicU64,
    /// Key of the call site of the one before it; [`FROM_BEGIN`] where there was none.
    pub from_key: AtomicU64,
    /// When the thread left that one, in ticks, or began; [`LEFT_UNKNOWN`].
    pub from_left: AtomicU64,
    /// Time in the library since then, this call included, and what of it was in waits and locks: see
    /// [`library_word`].
    pub library: AtomicU64,
    /// Where the function that called returns to; 0: not known.
    pub caller: AtomicU64,
}

/// Bits of [`Sync::library`] that are time: three days and more.
const LIBRARY_BITS: u32 = 48;
/// The whole of that time, in the bits above.
const WHOLE: u64 = 0xffff;

/// [`Sync::library`]: nanoseconds, and above them the share of waits and locks.
pub(crate) fn library_word(ns: u64, waits_ns: u64) -> u64 {
    let ns = ns.min((1 << LIBRARY_BITS) - 1);
    let share = (waits_ns.min(ns) * WHOLE + ns / 2) / ns.max(1);
    ns | share << LIBRARY_BITS
}

/// The nanoseconds, and those of waits and locks.
pub(crate) fn split_library(word: u64) -> (u64, u64) {
    let ns = word & ((1 << LIBRARY_BITS) - 1);
    (ns, (ns * (word >> LIBRARY_BITS) + WHOLE / 2) / WHOLE)
}

/// [`Sync::from_key`]: there was no meeting before.
pub const FROM_BEGIN: u64 = u64::MAX;
/// [`Sync::from_left`]: it is not known, since that call had no stamp.
pub const LEFT_UNKNOWN: u64 = 1;

/// The longest meetings of a thread among those that are not kept otherwise, or those after the longest phases.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Longest {
    /// Whoever took longer, in ticks, is kept. 0: there was none yet.
    pub beyond: AtomicU64,
    /// How many there are.
    pub used: AtomicU64,
    /// They. One that is being written has [`NO_NUMBER`].
    pub syncs: [Sync; LONGEST],
}

/// The number of a meeting that is not whole.
pub const NO_NUMBER: u64 = u64::MAX;

/// Where a phase begins: the thread's last barrier, sync or collective.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct PhaseBegin {
    /// Its call site: an index of [`super::tables::ThreadTables::sites`].
    pub site: AtomicU64,
    /// When it returned, in ticks; 0: there was none.
    pub left: AtomicU64,
    /// [`super::layout::SlotHead::claimed_ns`] then.
    pub claimed_ns: AtomicU64,
    /// Where the thread has made such a call without a stamp since then or since its last long wait: one more than the
    /// index of its call site.
    pub passed_site: AtomicU64,
    /// Time in waits and locks since then, in nanoseconds.
    pub waits_ns: AtomicU64,
}

impl PhaseBegin {
    /// The call site of the call without a stamp, where there was one: an index of
    /// [`super::tables::ThreadTables::sites`].
    pub(crate) fn passed(&self) -> Option<u64> {
        self.passed_site.load(Relaxed).checked_sub(1)
    }
}

const _: () = assert!(size_of::<TeamRow>() == 64 && size_of::<Sync>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_waits_is_kept_beside_the_time() {
        for (ns, waits_ns) in [(0, 0), (1, 1), (1, 0), (1000, 999), (10_000_000_000, 10_000_000_000)] {
            assert_eq!(split_library(library_word(ns, waits_ns)), (ns, waits_ns));
        }
        // Three days and more.
        let most = (1 << LIBRARY_BITS) - 1;
        assert_eq!(split_library(library_word(u64::MAX, u64::MAX)), (most, most));
        let (ns, waits_ns) = split_library(library_word(1_000_000_000, 123_456_789));
        assert_eq!(ns, 1_000_000_000);
        assert!(waits_ns.abs_diff(123_456_789) <= ns / WHOLE, "{waits_ns}");
    }
}
