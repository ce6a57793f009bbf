//! Who ends the waits of others: the last stores of each thread to single words, and what is found there by a thread
//! that has waited.
//!
//! A store costs its thread two or three words of its own memory. Nothing is written where the waiting PE looks: that
//! would be a line for which all PEs contend, and a random update would cost twice what it does. Who has waited long
//! enough for it looks through the threads of its host. It takes away notes of stores that have not ended its wait.

use std::sync::atomic::{AtomicI32, AtomicU64};

use super::flows::{FLOWS, STEP};

/// Last stores of a thread, found by target and address.
pub const STORES: usize = 256;
/// Causes of waits of a thread; one more stands for those that found no room.
pub const CAUSES: usize = 256;

/// The last stores to single words of PEs, each at its [`place`]. A reader may find two that mix, where one replaces
/// the other while it looks.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Stores {
    /// Addresses as the storing PE names them; 0: none.
    pub addresses: [AtomicU64; STORES],
    /// Keys of the call sites, or of flows the [`super::flows::place`]: see [`is_flow`].
    pub by: [AtomicU64; STORES],
    /// World numbers of the PEs; without meaning where the flow has it.
    pub pes: [AtomicI32; STORES],
}

/// Whether a word of [`Stores::by`] is the place of a flow: keys of call sites are greater, whose operation is counted
/// from 1.
pub const fn is_flow(by: u64) -> bool {
    by < (FLOWS * STEP) as u64
}

/// Where a store to an address of a PE is kept.
#[inline(always)]
pub const fn place(pe: i32, address: u64) -> usize {
    ((address >> 3) as u32 ^ pe as u32) as usize % STORES
}

/// Long waits and meetings of a thread that are kept, the last ones.
pub const SPANS: usize = 16;

/// Its last long waits and meetings, for those who wait for it meanwhile.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Spans {
    /// How many there were: the next one is kept at this place, modulo [`SPANS`].
    pub count: AtomicU64,
    /// When each began, in ticks.
    pub begun: [AtomicU64; SPANS],
    /// When each was over.
    pub left: [AtomicU64; SPANS],
}

/// When the last long wait of a thread was over, and when it looks again who ended one.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Waited {
    /// Key of its call site.
    pub key: AtomicU64,
    /// When it returned, in ticks; 0: there was none.
    pub left: AtomicU64,
    /// [`super::layout::SlotHead::claimed_ns`] then.
    pub claimed_ns: AtomicU64,
    /// Time in waits since the last look, in ticks.
    pub since_look: AtomicU64,
    /// What that has to come to for the next look.
    pub due: AtomicU64,
    /// Who released the lock that the thread took last, while it waited for it: world number plus 1 (low half), slot
    /// (high half); 0: nobody.
    pub released_by: AtomicU64,
    /// Key of the call site of that release.
    pub release_key: AtomicU64,
    /// For how long that one had held it, in ticks.
    pub release_held: AtomicU64,
    /// The PE that the last wait for a request waited for at its end: world number plus 1; 0: not known.
    pub last_pe: AtomicU64,
    /// When the thread last looked in vain in a slow wait, in ticks.
    pub looked: AtomicU64,
    /// When notes of stores in vain were last taken away, in ticks.
    pub taken: AtomicU64,
    /// What it found in the word that it waits for, at that look.
    pub seen: AtomicU64,
    /// Not 0: that has changed since notes were taken away.
    pub changed: AtomicU64,
    /// The region that it left after the longest stay since its last wait or meeting.
    pub stayed_in: AtomicU64,
    /// How long that was, in ticks.
    pub stayed: AtomicU64,
    /// When that wait or meeting was over, in ticks.
    pub stayed_since: AtomicU64,
}

/// Waits at one place that one place of a PE has ended.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Cause {
    /// Key of the call site that waits; 0 where the row is free.
    pub key: AtomicU64,
    /// World number plus 1 of who ended the wait (low half; 0: not known), and the number of the region in which it was
    /// for longest since `from` (high half; 0: in none).
    pub by_pe: AtomicU64,
    /// Key of the call site of its store, in its process.
    pub by: AtomicU64,
    /// Key of the wait or meeting that it came from, in its process; 0: none.
    pub from: AtomicU64,
    /// Waits that were looked at.
    pub waits: AtomicU64,
    /// What they stand for, in nanoseconds.
    pub ns: AtomicU64,
    /// The part in which the other was outside of the library.
    pub work_ns: AtomicU64,
    /// The part in which it was in the library, but did not wait.
    pub library_ns: AtomicU64,
    /// Both together, over the waits that were looked at only, in nanoseconds; of locks, how long the other had held
    /// them.
    pub own_ns: AtomicU64,
}
