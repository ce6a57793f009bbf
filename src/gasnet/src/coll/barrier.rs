//! Barriers: in round k each member hears of those 2^k before it. What they bring is a name, for barriers that have
//! one: names have to match.

use super::Schedule;
use super::mail::{self, Key};
use crate::team::Team;
use crate::types::Rank;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is known of the names: none, one, or that they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// No member heard of so far has one.
    Anonymous,
    /// Those that have one have this.
    Is(i32),
    /// They differ.
    Mismatch,
}

impl Name {
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Mismatch, _) | (_, Self::Mismatch) => Self::Mismatch,
            (Self::Anonymous, name) | (name, Self::Anonymous) => name,
            (Self::Is(a), Self::Is(b)) if a == b => self,
            _ => Self::Mismatch,
        }
    }

    fn word(self) -> u64 {
        match self {
            Self::Anonymous => 0,
            Self::Is(value) => 1 << 32 | u64::from(value as u32),
            Self::Mismatch => 2 << 32,
        }
    }

    fn of(word: u64) -> Self {
        match word >> 32 {
            0 => Self::Anonymous,
            1 => Self::Is(word as u32 as i32),
            _ => Self::Mismatch,
        }
    }
}

/// A barrier.
pub struct Barrier {
    team: &'static Team,
    number: u32,
    round: u32,
    is_sent: bool,
    name: Name,
    /// Where the result goes.
    result: Arc<AtomicU64>,
}

impl Barrier {
    /// Begins one; its result is the word of [`Name`], to be read with [`outcome`].
    pub fn new(team: &'static Team, name: Name) -> (Self, Arc<AtomicU64>) {
        let result = Arc::new(AtomicU64::new(0));
        let begun =
            Self { team, number: team.next_collective(), round: 0, is_sent: false, name, result: result.clone() };
        (begun, result)
    }

    fn key(&self, from: Rank, to: Rank) -> Key {
        Key { team: self.team.id, number: self.number, step: self.round, from, to }
    }

    /// Whom this member tells in this round, and of whom it hears; `None` after the last round.
    fn others(&self) -> Option<(Rank, Rank)> {
        let (size, mine) = (u64::from(self.team.size()), u64::from(self.team.rank()));
        let distance = 1 << self.round;
        let (to, from) = ((mine + distance) % size, (mine + size.saturating_sub(distance)) % size);
        (distance < size).then_some((to as Rank, from as Rank))
    }
}

/// What a complete barrier has found.
pub fn outcome(result: &AtomicU64) -> Name {
    Name::of(result.load(Ordering::Acquire))
}

impl Schedule for Barrier {
    fn advance(&mut self) -> bool {
        let mine = self.team.rank();
        while let Some((to, from)) = self.others() {
            if !self.is_sent {
                self.is_sent = true;
                mail::send(self.team, self.key(mine, to), &self.name.word().to_ne_bytes());
            }
            let Some(theirs) = mail::take(self.key(from, mine)) else { return false };
            let word = theirs.first_chunk::<8>().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
            self.name = self.name.with(Name::of(word));
            self.is_sent = false;
            self.round += 1;
        }
        self.result.store(self.name.word(), Ordering::Release);
        true
    }

    fn lacks(&self) -> Option<i32> {
        self.others().and_then(|(_, from)| self.team.member(from)).map(|peer| peer.pe)
    }
}
