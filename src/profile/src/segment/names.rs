//! What all threads of a PE share: names by number, and what is known of the process.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use super::counters::{COUNTERS, CounterHead};
use super::layout::Text;
use super::locks::{LOCK_ROWS, LockRow};
use super::tables::REGIONS;

/// Markers of a PE.
pub const MARKERS: usize = 64;
/// Loaded objects that are kept for finding source lines.
pub const MODULES: usize = 2048;
/// Contexts of a PE whose teams are kept.
pub const CONTEXT_TEAMS: usize = 512;
/// Counters of the network.
pub const NETWORK_COUNTERS: usize = 32;
/// Algorithms that have names.
pub const ALGORITHM_NAMES: usize = 64;

/// A number that the program marks with a name.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Marker {
    /// Name; empty where the row is free.
    pub name: Text<64>,
    /// How often it was marked.
    pub count: AtomicU64,
    /// Sum, least, greatest and last value, as the bits of an `f64`.
    pub sum: AtomicU64,
    /// See [`Self::sum`].
    pub min: AtomicU64,
    /// See [`Self::sum`].
    pub max: AtomicU64,
    /// See [`Self::sum`].
    pub last: AtomicU64,
    /// When it was marked last, in ticks.
    pub when: AtomicU64,
    /// Keeps the size.
    pub reserved: [AtomicU64; 2],
}

/// Where the addresses of objects are moved to that were unloaded, once another one is at theirs: so many for each,
/// between where programs and where libraries are loaded.
pub const REPLACED: u64 = 1 << 44;
/// See [`REPLACED`].
pub const REPLACED_EACH: u64 = 1 << 32;

/// Whether an object that begins at this address was replaced by another one.
pub fn is_replaced(start: u64) -> bool {
    (REPLACED..REPLACED + MODULES as u64 * REPLACED_EACH).contains(&start)
}

/// An object that is or was loaded into the PE's process.
#[derive(Debug)]
#[repr(C)]
pub struct Module {
    /// What is added to its file's addresses.
    pub base: AtomicU64,
    /// First address of it in memory; 0 where the row is free.
    pub start: AtomicU64,
    /// End of it in memory.
    pub end: AtomicU64,
    /// File.
    pub path: Text<232>,
    /// Its build id, in hexadecimal digits; empty where it has none.
    pub build_id: Text<64>,
}

/// The team of a context that the program made.
#[derive(Debug)]
#[repr(C)]
pub struct ContextTeam {
    /// Handle of the context; 0 where the row is free.
    pub handle: AtomicU64,
    /// World number of the team's first PE.
    pub start: AtomicI32,
    /// Distance between members.
    pub stride: AtomicI32,
    /// Members.
    pub size: AtomicI32,
    /// Number that members agree on.
    pub id: AtomicU32,
}

/// A number of the network.
#[derive(Debug)]
#[repr(C)]
pub struct NetworkRow {
    /// Name; empty where the row is free.
    pub name: Text<32>,
    /// Value.
    pub value: AtomicU64,
}

/// Names that all threads of a PE share.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Names {
    /// Regions by number; 0 has no name.
    pub regions: [Text<64>; REGIONS],
    /// Markers.
    pub markers: [Marker; MARKERS],
    /// Loaded objects.
    pub modules: [Module; MODULES],
    /// Counters.
    pub counters: [CounterHead; COUNTERS],
    /// Contexts that the program made.
    pub contexts: [ContextTeam; CONTEXT_TEAMS],
    /// What the network says of itself.
    pub network: [NetworkRow; NETWORK_COUNTERS],
    /// Distributed locks; the last row is of those that found no room.
    pub locks: [LockRow; LOCK_ROWS + 1],
    /// Algorithms by number.
    pub algorithms: [Text<40>; ALGORITHM_NAMES],
    /// Nonzero while a thread adds a name.
    pub lock: AtomicU32,
}

const _: () = assert!(size_of::<Module>() == 320);
