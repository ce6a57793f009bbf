//! The members of a team, as their meetings and collectives see each other: words that each of them has in its area.

use super::algorithm::Barrier;
use super::area::{Post, RING};
use super::{Progress, Team, World, count, leaving, meet};
use crate::base::Fault;
use crate::base::word::Word;
use crate::os::wait;
use std::sync::atomic::AtomicU64;

/// One member's view of a team.
pub trait Members {
    /// A word of an area.
    type Word: Word;
    /// Collectives whose posts can stand side by side.
    const RING: u64;

    /// This member's number.
    fn me(&self) -> i32;
    /// Members.
    fn size(&self) -> i32;
    /// What this member has done so far.
    fn progress(&self) -> &Progress;
    /// A member's word of a round of the dissemination barrier.
    fn round(&self, pe: i32, round: usize) -> &Self::Word;
    /// Arrivals at the counting barrier, and the barrier completed last.
    fn hub(&self) -> (&Self::Word, &Self::Word);
    /// A member's post for a collective.
    fn post(&self, pe: i32, number: u64) -> &Post<Self::Word>;
    /// Collectives with posts that a member has finished.
    fn done(&self, pe: i32) -> &Self::Word;
    /// Waits until `ready` gives a value. Fault: a member does not come.
    fn until<R>(&self, ready: impl FnMut() -> Option<R>) -> Result<R, Fault>;
    /// Waits for all members, by the algorithm in force.
    fn sync(&self) -> Result<(), Fault>;
}

/// A team of this process, and the world that it is in.
#[derive(Debug, Clone, Copy)]
pub struct Present<'w> {
    /// Map and algorithms.
    pub w: &'w World,
    /// The team.
    pub team: &'w Team,
}

impl Members for Present<'_> {
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
    fn round(&self, pe: i32, round: usize) -> &AtomicU64 {
        &self.team.area(pe).rounds[round].0
    }

    #[inline(always)]
    fn hub(&self) -> (&AtomicU64, &AtomicU64) {
        let area = self.team.area(0);
        (&area.arrived.0, &area.released.0)
    }

    #[inline(always)]
    fn post(&self, pe: i32, number: u64) -> &Post {
        &self.team.area(pe).posts[(number % Self::RING) as usize]
    }

    #[inline(always)]
    fn done(&self, pe: i32) -> &AtomicU64 {
        &self.team.area(pe).done.0
    }

    #[inline(always)]
    fn until<R>(&self, ready: impl FnMut() -> Option<R>) -> Result<R, Fault> {
        wait::until_or(self.w.map.crowded, ready, || leaving::left_behind(self.w, self.team))
    }

    #[inline]
    fn sync(&self) -> Result<(), Fault> {
        match self.w.algorithms.barrier(self.w.map.crowded) {
            Barrier::Counter => count(self),
            Barrier::Dissemination => meet(self),
        }
    }
}
