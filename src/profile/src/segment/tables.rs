//! What a thread records that is not by operation: peers, call sites, regions, synchronisation, nonblocking operations.
//!
//! Tables are of fixed size. Each has a row for what found no room in it, so that sums stay exact and the loss is told.

use std::sync::atomic::{
    AtomicI32, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::callers::{CALLERS, CallerRow};
use super::flows::Flows;
use super::layout::Text;
use super::lines::{LINES, Line};
use super::locks::{LOCK_ROWS, LockRow};
use super::rates::{Look, RATES, RateRow};
use super::release::{CAUSES, Cause, Stores, Waited};
use super::waiting::Waiting;
use crate::op::{MAX_OPS, Operation, TRANSFER_SHIFT};
use crate::timeline::KINDS;

/// Rows of the peer table: jobs of as many PEs have a row a peer, found at the first look.
pub const PEERS: usize = 4096;
/// The row of peers that found no row.
pub const PEER_OVERFLOW: usize = PEERS;
/// Rows of the table of call sites.
pub const SITES: usize = 4096;
/// The row of call sites that found no row.
pub const SITE_OVERFLOW: usize = SITES;
/// Rows that are looked at before a key counts as without room.
pub const PROBES: usize = 16;
/// Named regions of a PE; number 0 is what is outside all of them.
pub const REGIONS: usize = 64;
/// Regions that can be open one in another.
pub const NESTING: usize = 64;
/// Teams of a thread; the last stands for all that found no room.
pub const TEAMS: usize = 64;
/// Synchronisations that are kept one by one. When they are full, or in a profile of counts come faster than keeping
/// them may cost, half of them are dropped and from then on only one in 2, 4 ... is kept: the same ones on each PE.
pub const SYNCS: usize = 4096;
/// Contexts of a thread; the last stands for all that found no room.
pub const CONTEXTS: usize = 64;
/// Markers of a PE.
pub const MARKERS: usize = 64;
/// Loaded objects that are kept for finding source lines.
pub const MODULES: usize = 2048;

/// Hardware and software counters that can be read at a time.
pub const COUNTERS: usize = 8;

/// Routines that begin requests, of a thread.
pub const REQUESTS: usize = 63;
/// Contexts of a PE whose teams are kept.
pub const CONTEXT_TEAMS: usize = 512;
/// Slices of a thread's time.
pub const SLICES: usize = 256;
/// Counters of the network.
pub const NETWORK_COUNTERS: usize = 32;
/// Algorithms that have names.
pub const ALGORITHM_NAMES: usize = 64;
/// Rows of the table of algorithms by operation.
pub const ALGORITHMS: usize = 128;
/// The row of those that found no row.
pub const ALGORITHM_OVERFLOW: usize = ALGORITHMS;

/// Bits of a return address in a key, without its lowest one: user addresses have 47, and no two calls return to
/// addresses that differ in the lowest only, since an instruction that calls has more bytes.
const KEY_ADDRESS: u64 = (1 << KEY_OP) - 1;
const KEY_OP: u32 = 46;
const OP_MASK: u64 = (1 << (KEY_REGION - KEY_OP)) - 1;
/// Where a key has its region.
pub const KEY_REGION: u32 = 58;

/// Key of a call site: return address, operation, and the region in place (`region_key` is shifted already). Never 0,
/// which marks a row that is free: the operation is counted from 1.
#[inline(always)]
pub const fn key(address: u64, op: u16, region_key: u64) -> u64 {
    // Those of x86_64 have no more bits.
    let mask = if cfg!(target_arch = "x86_64") { u64::MAX } else { KEY_ADDRESS };
    (address >> 1 & mask) | (((op as u64 + 1) & OP_MASK) << KEY_OP) | region_key
}

/// Return address (even: that, or the one before it, which is in the same instruction), operation and region of a key.
pub const fn split_key(key: u64) -> (u64, u16, u8) {
    ((key & KEY_ADDRESS) << 1, ((key >> KEY_OP) & OP_MASK).wrapping_sub(1) as u16, (key >> KEY_REGION) as u8)
}

/// Where a key is looked for first.
#[inline(always)]
pub const fn site_index(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SITES.trailing_zeros())) as usize
}

/// What kind of transfer a call is, as an index of [`Peer::kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Put, signal.
    Put,
    /// Get.
    Get,
    /// Atomic operation.
    Amo,
}

/// Number of [`Transfer`]s.
pub const TRANSFERS: usize = 3;

/// What kind of transfer an operation is, as an index of [`Peer::kinds`].
#[inline(always)]
pub fn transfer(op: impl Operation) -> usize {
    usize::from(op.traits() >> TRANSFER_SHIFT & 3) % TRANSFERS
}

/// Calls and bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Traffic {
    /// Calls.
    pub calls: AtomicU64,
    /// Bytes.
    pub bytes: AtomicU64,
}

/// Traffic with one peer.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Peer {
    /// World number plus 1; 0 where the row is free.
    pub tag: AtomicU64,
    /// By [`Transfer`].
    pub kinds: [Traffic; TRANSFERS],
}

/// Calls from one place of the program to one routine, in one region.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Site {
    /// See [`key`]; 0 where the row is free.
    pub key: AtomicU64,
    /// Calls.
    pub calls: AtomicU64,
    /// Bytes, where they do not follow from the calls: [`crate::op::bytes_of_calls`].
    pub bytes: AtomicU64,
    /// Calls that were timed and stand for themselves only.
    pub exact_calls: AtomicU64,
    /// Their time in nanoseconds.
    pub exact_ns: AtomicU64,
    /// Calls timed as samples.
    pub samples: AtomicU32,
    /// Longest timed call in nanoseconds: the bits of an `f32`, which are in the order of the numbers.
    pub max_ns: AtomicU32,
    /// Calls that the samples stand for.
    pub sample_weight: AtomicU64,
    /// Time of the samples in nanoseconds, each times the calls it stands for, with what timing takes.
    pub sample_ns: AtomicU64,
}

/// A region in one thread.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct RegionTime {
    /// How often it was begun.
    pub entries: AtomicU64,
    /// From begin to end, in ticks; what is open is not in it. A region within itself counts once.
    pub ticks: AtomicU64,
    /// The part of it outside inner regions, in ticks.
    pub own_ticks: AtomicU64,
    /// Longest time from begin to end, in ticks.
    pub max_ticks: AtomicU64,
    /// When the outermost open begin was, in ticks.
    pub since: AtomicU64,
    /// How often it is open now.
    pub open: AtomicU64,
    /// Keeps the size.
    pub reserved: [AtomicU64; 2],
}

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
    /// Keeps the size.
    pub reserved: AtomicU64,
}

/// Where a phase begins: the thread's last barrier, sync or collective.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct PhaseBegin {
    /// Its call site: an index of [`ThreadTables::sites`].
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
    /// The call site of the call without a stamp, where there was one: an index of [`ThreadTables::sites`].
    pub(crate) fn passed(&self) -> Option<u64> {
        self.passed_site.load(Relaxed).checked_sub(1)
    }
}

/// Nonblocking operations of a thread: a batch is what is issued between two completions.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Nbi {
    /// Operations issued.
    pub issued: AtomicU64,
    /// Their bytes.
    pub bytes: AtomicU64,
    /// Batches completed.
    pub batches: AtomicU64,
    /// From the first issue to the return of the completing call, over batches, in ticks.
    pub ticks: AtomicU64,
    /// The part of it in the completing calls.
    pub blocked_ticks: AtomicU64,
    /// Longest batch.
    pub max_ticks: AtomicU64,
    /// Operations of completed batches.
    pub completed: AtomicU64,
    /// Operations of the open batch.
    pub open: AtomicU64,
    /// The part of [`Self::blocked_ticks`] in barriers, where others are waited for, too.
    pub met_ticks: AtomicU64,
}

/// Requests that routines began and the program has ended, by routine.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct RequestRow {
    /// Its number plus 1; 0: not known, and of the last row all that found no room.
    pub routine: AtomicU64,
    /// Requests; 0 where the row is free.
    pub ended: AtomicU64,
    /// From their begin to their completion, in ticks.
    pub open_ticks: AtomicU64,
    /// The part of it in which the program waited for them.
    pub waited_ticks: AtomicU64,
}

/// What a thread did with one context.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ContextRow {
    /// Handle; 0 where the row is free.
    pub handle: AtomicU64,
    /// By [`Transfer`].
    pub kinds: [Traffic; TRANSFERS],
    /// Fences and quiets.
    pub orders: AtomicU64,
}

/// How often an operation has taken an algorithm.
#[derive(Debug)]
#[repr(C)]
pub struct AlgorithmRow {
    /// See [`algorithm_key`]; 0 where the row is free.
    pub key: AtomicU64,
    /// How often.
    pub calls: AtomicU64,
}

/// Key of an operation and a number of [`Names::algorithms`]. Never 0: the operation is counted from 1.
#[inline(always)]
pub const fn algorithm_key(op: u16, number: u8) -> u64 {
    (op as u64 + 1) << 8 | number as u64
}

/// Operation and number of a key.
pub const fn split_algorithm_key(key: u64) -> (u16, u8) {
    ((key >> 8).wrapping_sub(1) as u16, key as u8)
}

/// Where a key is looked for first.
#[inline(always)]
pub const fn algorithm_index(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ALGORITHMS.trailing_zeros())) as usize
}

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

/// Beside the cells of a slot.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ThreadTables {
    /// By peer; the last row is [`PEER_OVERFLOW`].
    pub peers: [Peer; PEERS + 1],
    /// By call site; the last row is [`SITE_OVERFLOW`].
    pub sites: [Site; SITES + 1],
    /// By region.
    pub regions: [RegionTime; REGIONS],
    /// Open regions, innermost last.
    pub stack: [AtomicU64; NESTING],
    /// By team.
    pub teams: [TeamRow; TEAMS],
    /// Synchronisations kept.
    pub syncs: [Sync; SYNCS],
    /// How many of them.
    pub syncs_used: AtomicU64,
    /// Every how many are kept, as a power of two.
    pub sync_shift: AtomicU64,
    /// Nonblocking operations.
    pub nbi: Nbi,
    /// By context.
    pub contexts: [ContextRow; CONTEXTS],
    /// Hardware and software counters.
    pub counters: CounterTable,
    /// The context of the last call that took one.
    pub context: AtomicU64,
    /// The last context that the program made and called with, and its row in [`Self::contexts`].
    pub context_last: [AtomicU64; 2],
    /// The last collective with a root: its operation plus 1 (high half), and which member is the root.
    pub root: AtomicU64,
    /// Operations of which a call was sampled, a bit each: see [`ops_in`].
    pub sampled: [AtomicU64; MAX_OPS / 64],
    /// What samples have claimed of late.
    pub claims: Claims,
    /// Threads that have owned the slot.
    pub owners: AtomicU32,
    /// Operations that had to share the overflow row.
    pub rows_overflowed: AtomicU32,
    /// Operations that were timed, a bit each.
    pub used: [AtomicU64; MAX_OPS / 64],
    /// Operations whose call sites and peers are those of samples, a bit each.
    pub sampled_sites: [AtomicU64; MAX_OPS / 64],
    /// What the thread did over time.
    pub timeline: Timeline,
    /// Since when the thread is in its present phase.
    pub phase: PhaseBegin,
    /// How long the slot has had owners.
    pub lives: Lives,
    /// The last stores to single words.
    pub stores: Stores,
    /// Lines that short calls go to.
    pub lines: [Line; LINES],
    /// The last long wait.
    pub waited: Waited,
    /// What the present one is for.
    pub waiting: Waiting,
    /// Who ended waits; the last row is of those that found no room.
    pub causes: [Cause; CAUSES + 1],
    /// Algorithms of collectives; the last row is [`ALGORITHM_OVERFLOW`].
    pub algorithms: [AlgorithmRow; ALGORITHMS + 1],
    /// How fast puts, gets and atomics were; the last row is of those that found no room.
    pub rates: [RateRow; RATES + 1],
    /// Who called the functions that call the library.
    pub callers: [CallerRow; CALLERS],
    /// A closer look at some of them.
    pub look: Look,
    /// Requests by the routine that began them; the last row is of those that found no room.
    pub requests: [RequestRow; REQUESTS + 1],
    /// By call site and peer together.
    pub flows: Flows,
}

/// What a thread did over time, in slices of equal width.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Timeline {
    /// Begin of the first slice, in ticks; 0: there is none yet.
    pub origin: AtomicU64,
    /// Width of a slice in ticks, as a power of two.
    pub shift: AtomicU64,
    /// Up to when what was recorded is in slices, in ticks.
    pub settled: AtomicU64,
    /// When the present slice ends, in ticks.
    pub slice_end: AtomicU64,
    /// Time in the library by kind that is in slices, in nanoseconds.
    pub before: [AtomicU64; KINDS],
    /// Time in the library by kind, in nanoseconds.
    pub slices: [[AtomicU64; KINDS]; SLICES],
}

/// How long the slot has had owners, from the end of initialization on, and what they lacked.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lives {
    /// Lives of the owners that have ended, in ticks.
    pub ended: AtomicU64,
    /// When the present owner began, in ticks.
    pub since: AtomicU64,
    /// How long they have stood in a run queue, in nanoseconds; less than it was where nobody looked at an end.
    pub queued: AtomicU64,
    /// What the kernel said of the present owner at the last look, and 1; 0 where it says nothing.
    pub queued_seen: AtomicU64,
    /// When that was, in ticks.
    pub queued_at: AtomicU64,
    /// Keeps the size.
    pub reserved: [AtomicU64; 3],
}

/// Two moments that lie some samples apart, the older one first.
#[derive(Debug)]
#[repr(C)]
pub struct Claims {
    /// When, in ticks; 0 before there is one.
    pub at: [AtomicU64; 2],
    /// [`super::layout::SlotHead::claimed_ns`] then.
    pub claimed: [AtomicU64; 2],
    /// Samples of the thread.
    pub samples: AtomicU64,
    /// Keeps what follows aligned.
    pub reserved: [AtomicU64; 3],
}

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

/// An object that is loaded into the PE's process.
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

const _: () = {
    assert!(size_of::<Peer>() == 64 && size_of::<Site>() == 64 && size_of::<TeamRow>() == 64);
    assert!(size_of::<RegionTime>() == 64 && size_of::<Sync>() == 64 && size_of::<ContextRow>() == 64);
    assert!(size_of::<Module>() == 320 && size_of::<CounterHead>() == 256);
    assert!(SITES.is_power_of_two() && PEERS.is_power_of_two() && ALGORITHMS.is_power_of_two());
    assert!(crate::op::TOTAL < 1 << (KEY_REGION - KEY_OP) && REGIONS <= 1 << (64 - KEY_REGION));
};

const _: () = assert!(MAX_OPS.is_multiple_of(64));

/// The operations whose bits are set.
pub(crate) fn ops_in(words: &[AtomicU64; MAX_OPS / 64]) -> impl Iterator<Item = u16> {
    (0_u16..).step_by(64).zip(words).flat_map(|(first, bits)| {
        let mut bits = bits.load(Acquire);
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as u16)?;
            bits &= bits - 1;
            Some(first + bit)
        })
    })
}

impl ThreadTables {
    /// Whether the call sites and peers of an operation are those of samples.
    pub fn samples_sites_of(&self, op: u16) -> bool {
        let word = self.sampled_sites.get(usize::from(op) / 64);
        word.is_some_and(|word| word.load(Relaxed) >> (op % 64) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_again() {
        for (address, op, region) in [(0, 0, 0), (0x7fff_1234_5678, 4094, 63), (0x40_1136, 17, 1)] {
            let key = key(address, op, u64::from(region) << KEY_REGION);
            assert_eq!(split_key(key), (address, op, region));
            assert!(site_index(key) < SITES);
        }
        for (op, number) in [(0, 0), (4094, 255)] {
            let key = algorithm_key(op, number);
            assert_eq!(split_algorithm_key(key), (op, number));
            assert!(key > 0 && algorithm_index(key) < ALGORITHMS);
        }
    }
}
