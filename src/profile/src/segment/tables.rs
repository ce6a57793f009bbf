//! What a thread records that is not by operation, each in a table of its own.
//!
//! Tables are of fixed size. Each has a row for what found no room in it, so that sums stay exact and the loss is told.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::algorithms::{ALGORITHMS, AlgorithmRow};
use super::callers::{CALLERS, CallerRow};
use super::counters::CounterTable;
use super::flows::Flows;
use super::lines::{LINES, Line};
use super::meetings::{Longest, PhaseBegin, SYNCS, Sync, TEAMS, TeamRow};
use super::peers::{CONTEXTS, ContextRow, PEERS, Peer};
use super::rates::{Look, RATES, RateRow};
use super::release::{CAUSES, Cause, Spans, Stores, Waited};
use super::sites::{SITES, Site};
use super::timeline::Timeline;
use super::waiting::Waiting;
use crate::op::MAX_OPS;

/// Named regions of a PE; number 0 is what is outside all of them.
pub const REGIONS: usize = 64;
/// Regions that can be open one in another.
pub const NESTING: usize = 64;
/// Routines that begin requests, of a thread.
pub const REQUESTS: usize = 63;

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

/// Nonblocking operations of a thread: a batch is what is issued between two completions.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Nbi {
    /// Operations issued; their bytes are those of their routines.
    pub issued: AtomicU64,
    /// Batches completed.
    pub batches: AtomicU64,
    /// From the first issue to the return of the completing call, over batches, in ticks. Each that is timed stands for
    /// those that are not.
    pub ticks: AtomicU64,
    /// The part of it in the completing calls.
    pub blocked_ticks: AtomicU64,
    /// Longest batch of those that are timed.
    pub max_ticks: AtomicU64,
    /// Of those issued, how many are of no batch that is open.
    pub closed: AtomicU64,
    /// The part of them whose completion nobody has seen.
    pub unseen: AtomicU64,
    /// The part of [`Self::blocked_ticks`] in barriers, where others are waited for, too.
    pub met_ticks: AtomicU64,
    /// What becomes of the next operation: [`NOT_FOLLOWED`], [`BEGINS_TIMED`] or [`FOLLOWED`].
    pub next: AtomicU64,
    /// Batches until the next one that is timed.
    pub skip: AtomicU64,
    /// Batches since the last one that was timed.
    pub skipped: AtomicU64,
}

/// Of nonblocking operations that are short, only calls and bytes are counted.
pub const NOT_FOLLOWED: u64 = 0;
/// The next nonblocking operation is the first of a batch that is timed.
pub const BEGINS_TIMED: u64 = 1;
/// The next nonblocking operation is one of a batch.
pub const FOLLOWED: u64 = 2;

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

/// Beside the cells of a slot.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ThreadTables {
    /// By peer; the last row is [`super::peers::PEER_OVERFLOW`].
    pub peers: [Peer; PEERS + 1],
    /// By call site; the last row is [`super::sites::SITE_OVERFLOW`].
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
    /// The longest of the others.
    pub longest: Longest,
    /// Those of the others that come after the longest phases.
    pub longest_phases: Longest,
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
    /// Keeps what follows at its place in a page.
    pub reserved: [AtomicU64; 8],
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
    /// The last long ones.
    pub spans: Spans,
    /// What is found out in slow ones.
    pub slow_wait: SlowWait,
    /// What the present one is for.
    pub waiting: Waiting,
    /// Who ended waits; the last row is of those that found no room.
    pub causes: [Cause; CAUSES + 1],
    /// Algorithms of collectives; the last row is [`super::algorithms::ALGORITHM_OVERFLOW`].
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

/// The last call in which the thread waited for long, and what was found out meanwhile.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SlowWait {
    /// When that call was entered, in ticks.
    pub start: AtomicU64,
    /// Since when it is known how long the thread is on cores, in ticks; 0: that was not asked for.
    pub since: AtomicU64,
    /// How long the thread had been on cores then, in nanoseconds.
    pub on_core_ns: AtomicU64,
    /// Where the function that called returns to; 0: not known, or no meeting.
    pub returns_to: AtomicU64,
    /// How long the thread has been on no core in all such waits that are over, in nanoseconds: it stood in line for
    /// one, or slept.
    pub off_core_ns: AtomicU64,
    /// So many are still left out before one is asked for.
    pub skip: AtomicU64,
    /// Short ones that were left out since the last short one that was asked for.
    pub skipped: AtomicU64,
    /// What calls in signal handlers have taken of the wait, in nanoseconds.
    pub interrupted_ns: AtomicU64,
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
    /// How long they have been on cores, in nanoseconds, and what the system said of the present owner, plus 1: both as
    /// of the last look at the run queue.
    pub on_core: AtomicU64,
    /// See [`Self::on_core`].
    pub on_core_seen: AtomicU64,
    /// Keeps the size.
    pub reserved: [AtomicU64; 1],
}

const _: () = assert!(size_of::<RegionTime>() == 64);
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
