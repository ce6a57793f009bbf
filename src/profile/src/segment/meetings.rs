//! Calls that all PEs of a team make: barriers, syncs and collectives, and the phases between them.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Teams of a thread; the last stands for all that found no room.
pub const TEAMS: usize = 64;
/// Synchronisations that are kept one by one. When they are full, or in a profile of counts come faster than keeping
/// them may cost, half of them are dropped and from then on only one in 2, 4 ... is kept: the same ones on each PE.
pub const SYNCS: usize = 4096;
/// The longest of those that are not among these: few of them may be most of what is lost.
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
    /// Key of the call site of the one before it; without meaning where there was none.
    pub from_key: AtomicU64,
    /// When the thread left that one, in ticks; 0: there was none.
    pub from_left: AtomicU64,
    /// Time in the library since then, this call included, in nanoseconds.
    pub library_ns: AtomicU64,
    /// Where the function that called returns to; 0: not known.
    pub caller: AtomicU64,
}

/// The longest meetings of a thread among those that are not kept otherwise.
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
#[repr(C, align(32))]
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
}

impl PhaseBegin {
    /// The call site of the call without a stamp, where there was one: an index of
    /// [`super::tables::ThreadTables::sites`].
    pub(crate) fn passed(&self) -> Option<u64> {
        self.passed_site.load(Relaxed).checked_sub(1)
    }
}

const _: () = assert!(size_of::<TeamRow>() == 64 && size_of::<Sync>() == 64);
