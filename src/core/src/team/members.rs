//! The members of a team, as their meetings and collectives see each other: words that each of them has in its sync
//! block.

use super::sync_block::{ARRIVALS, MailboxSlot, RING};
use super::{Progress, Team, World, finalizing};
use crate::base::Fault;
use crate::base::word::Word;
use crate::os::wait;
use std::sync::atomic::{AtomicU64, Ordering};

/// One member's view of a team.
pub trait Members {
    /// A word of a sync block.
    type Word: Word;
    /// Collectives whose contributions can stand side by side.
    const RING: u64;

    /// This member's number.
    fn me(&self) -> i32;
    /// Members.
    fn size(&self) -> i32;
    /// What this member has done so far.
    fn progress(&self) -> &Progress;
    /// A word of a member's that others tell it by, in the dissemination barrier.
    fn told(&self, pe: i32, word: usize) -> &Self::Word;
    /// The word by which a member shows that it has come to a flat barrier.
    fn arrival(&self, pe: i32, number: u64) -> &Self::Word;
    /// Arrivals at the counting barrier, and the barrier completed last.
    fn hub(&self) -> (&Self::Word, &Self::Word);
    /// A member's slot for a collective.
    fn slot(&self, pe: i32, number: u64) -> &MailboxSlot<Self::Word>;
    /// Collectives with contributions that a member has finished.
    fn done(&self, pe: i32) -> &Self::Word;
    /// Waits until `ready` gives a value. Fault: a member does not come.
    fn until<R>(&self, ready: impl FnMut() -> Option<R>) -> Result<R, Fault>;
    /// Waits until `is_there` says so of a word of a member's, whose writer [tells](Self::tell) of what it stores.
    fn until_told(&self, pe: i32, word: &Self::Word, is_there: impl FnMut(u64) -> bool) -> Result<(), Fault>;
    /// Tells those who wait for it of what was stored to a word of a member's.
    fn tell(&self, pe: i32, word: &Self::Word);
    /// Waits for all members, by the algorithm in force.
    fn sync(&self) -> Result<(), Fault>;
}

/// A team of this process, and the world that it is in.
#[derive(Debug, Clone, Copy)]
pub struct TeamView<'w> {
    /// Map and algorithms.
    pub w: &'w World,
    /// The team.
    pub team: &'w Team,
}

impl TeamView<'_> {
    /// A member that does not come.
    #[cold]
    fn absent(&self) -> Option<Fault> {
        self.w.lost_member(self.team).or_else(|| finalizing::absent_member(self.w, self.team))
    }
}

impl Members for TeamView<'_> {
    type Word = AtomicU64;
    const RING: u64 = RING as u64;

    #[inline(always)]
    fn me(&self) -> i32 {
        self.team.me
    }

    #[inline(always)]
    fn size(&self) -> i32 {
        self.team.size
    }

    #[inline(always)]
    fn progress(&self) -> &Progress {
        &self.team.progress
    }

    #[inline(always)]
    fn told(&self, pe: i32, word: usize) -> &AtomicU64 {
        &self.team.sync_block(pe).told[word].0
    }

    #[inline(always)]
    fn arrival(&self, pe: i32, number: u64) -> &AtomicU64 {
        &self.team.sync_block(pe).arrivals[(number % ARRIVALS as u64) as usize].0
    }

    #[inline(always)]
    fn hub(&self) -> (&AtomicU64, &AtomicU64) {
        let block = self.team.sync_block(0);
        (&block.arrived.0, &block.released.0)
    }

    #[inline(always)]
    fn slot(&self, pe: i32, number: u64) -> &MailboxSlot {
        &self.team.sync_block(pe).mailbox[(number % Self::RING) as usize]
    }

    #[inline(always)]
    fn done(&self, pe: i32) -> &AtomicU64 {
        &self.team.sync_block(pe).done.0
    }

    #[inline(always)]
    fn until<R>(&self, ready: impl FnMut() -> Option<R>) -> Result<R, Fault> {
        wait::until_or(self.w.map.oversubscribed, ready, || self.absent())
    }

    #[inline(always)]
    fn until_told(&self, pe: i32, word: &AtomicU64, mut is_there: impl FnMut(u64) -> bool) -> Result<(), Fault> {
        if self.w.map.oversubscribed {
            return wait::until_told((word, &self.team.sync_block(pe).sleepers.0), is_there, || self.absent());
        }
        self.until(|| is_there(word.load(Ordering::Acquire)).then_some(()))
    }

    #[inline(always)]
    fn tell(&self, pe: i32, word: &AtomicU64) {
        if self.w.map.oversubscribed {
            wait::wake(word, &self.team.sync_block(pe).sleepers.0);
        }
    }

    #[inline]
    fn sync(&self) -> Result<(), Fault> {
        let (barrier, number) = self.w.barriers.among(self.team.size);
        barrier(self, number)
    }
}
