//! How the PEs of a host meet at start-up, before they have teams: a count of arrivals, and a number that its last one
//! changes.

use crate::base::word::Word;
use std::sync::atomic::Ordering;

/// The two words.
#[derive(Debug)]
pub struct Round<'a, W> {
    /// PEs that have come to this round.
    pub arrived: &'a W,
    /// Rounds that are over.
    pub rounds: &'a W,
}

impl<W: Word> Round<'_, W> {
    /// Arrives. `None`: as the last one, everybody may go on; otherwise the round whose end is to be waited for.
    pub fn arrive(&self, members: u64) -> Option<u64> {
        let round = self.rounds.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 < members {
            return Some(round);
        }
        // Before the round ends: whoever it lets go arrives at the next.
        self.arrived.store(0, Ordering::Relaxed);
        self.rounds.store(round.wrapping_add(1), Ordering::Release);
        None
    }

    /// Whether a round is over.
    pub fn is_over(&self, round: u64) -> bool {
        self.rounds.load(Ordering::Acquire) != round
    }
}
