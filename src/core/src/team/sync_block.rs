//! A team's sync block on one PE: the words by which collectives meet. It lies in the job's memory file, so that every
//! member reads and writes the sync blocks of all others directly.

use std::sync::atomic::AtomicU64;

/// Bytes of a sync block.
pub const SYNC_BLOCK: usize = 4096;
/// Teams a PE can be in at a time, with the world and the shared team.
pub const TEAMS: usize = 1024;
/// Collectives whose contributions can stand side by side.
pub const RING: usize = 8;
/// Words of a dissemination barrier: three a round, enough for 4^8 PEs of a host.
pub const TOLD: usize = 24;
/// Words of flat barriers that take turns.
pub const ARRIVALS: usize = 8;
/// 8-byte words that fit into a slot beside its tag and signature.
pub const WORDS: usize = 6;
/// Bytes that a slot carries itself.
pub const INLINE: usize = WORDS * 8;

/// A word with a cache line of its own.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Line(pub AtomicU64);

/// What a PE shows the others at the start of a collective: one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct MailboxSlot<W = AtomicU64> {
    /// Number of the collective; written last.
    pub tag: W,
    /// Which collective and how large, to find PEs that call different ones.
    pub signature: W,
    /// Small contributions.
    pub words: [W; WORDS],
}

/// See [`super::finalizing`].
#[derive(Debug)]
#[repr(C)]
pub struct FinalizeMark {
    /// Which finalize, of which team; written last.
    pub mark: AtomicU64,
    /// Barriers begun.
    pub barriers: AtomicU64,
    /// Collectives with contributions begun.
    pub contributions: AtomicU64,
}

/// See [`mod@super::agreement`].
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AgreementSlot {
    /// Which agreement, and what for; written last.
    pub number: AtomicU64,
    /// What the member gives.
    pub word: AtomicU64,
}

/// The sync block.
#[derive(Debug)]
#[repr(C)]
pub struct SyncBlock {
    /// Dissemination barrier: each written by one partner of a round.
    pub told: [Line; TOLD],
    /// Flat barrier: written by this PE.
    pub arrivals: [Line; ARRIVALS],
    /// Counting barrier (on the team's PE 0): arrivals, and the barrier that was completed last.
    pub arrived: Line,
    /// See [`Self::arrived`].
    pub released: Line,
    /// Collectives with contributions that this PE has finished.
    pub done: Line,
    /// Members that sleep until this PE's tag, `done` or `released` changes.
    pub sleepers: Line,
    /// Contributions by number of the collective.
    pub mailbox: [MailboxSlot; RING],
    /// Which team ids this PE has in use; meaningful in the world's sync block only.
    pub ids: [AtomicU64; TEAMS / 64],
    /// What this PE had begun on the team when it came to `shmem_finalize` ([`super::finalizing`]).
    pub finalize_mark: FinalizeMark,
    /// What this PE gives to the last two agreements of the team.
    pub agreements: [AgreementSlot; 2],
}

const _: () = assert!(size_of::<SyncBlock>() <= SYNC_BLOCK);
const _: () = assert!(SYNC_BLOCK * TEAMS <= crate::memory::segments::INTERNAL);
