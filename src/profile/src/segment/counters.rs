//! Hardware and software counters.

use std::sync::atomic::{AtomicU32, AtomicU64};

use super::layout::Text;
use super::tables::REGIONS;
use crate::op::MAX_OPS;

/// Hardware and software counters that can be read at a time.
pub const COUNTERS: usize = 8;

/// A value of each counter.
pub type Values = [AtomicU64; COUNTERS];

/// Hardware and software counters of a thread.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CounterTable {
    /// At the last reading.
    pub last: Values,
    /// When the timed call that runs was entered.
    pub entered: Values,
    /// By region, without inner ones; 0 is what is outside of all.
    pub regions: [Values; REGIONS],
    /// The part of it in timed calls.
    pub library: [Values; REGIONS],
    /// In timed calls, by operation.
    pub ops: [Values; MAX_OPS],
    /// Those calls.
    pub calls: [AtomicU64; MAX_OPS],
}

/// [`CounterHead::state`]: no counter of this number was asked for.
pub const COUNTER_NONE: u32 = 0;
/// It counts.
pub const COUNTER_ON: u32 = 1;
/// It counts what is done in user mode: the kernel does not show its own part.
pub const COUNTER_USER: u32 = 2;
/// The system does not have it, or does not give it.
pub const COUNTER_MISSING: u32 = 3;

/// A counter of the PE.
#[derive(Debug)]
#[repr(C)]
pub struct CounterHead {
    /// One of the `COUNTER_` values.
    pub state: AtomicU32,
    /// Keeps what follows aligned.
    pub reserved: AtomicU32,
    /// All threads since initialization, also those that never call the library; as of the last reading.
    pub total: AtomicU64,
    /// Nanoseconds for which it was wanted, and for which the processor had room for it.
    pub wanted_ns: AtomicU64,
    /// See [`Self::wanted_ns`].
    pub counted_ns: AtomicU64,
    /// Name.
    pub name: Text<32>,
    /// Why it is missing, or what is missing of it.
    pub reason: Text<192>,
}

const _: () = assert!(size_of::<CounterHead>() == 256);
