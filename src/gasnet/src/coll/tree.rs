//! Up and down a binomial tree: members give their data to their parent, which combines it, and the root's goes back
//! down.
//!
//! Ranks are counted from the root. The parent of a rank is the rank without its lowest bit; so a subtree is a run of
//! ranks, and operands are combined in their order.
#![allow(unsafe_code)]

use super::Schedule;
use super::mail::{self, Key};
use crate::team::Team;
use crate::types::Rank;

/// Which ways data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// To the root.
    Up,
    /// From the root.
    Down,
    /// To the root, and the result from it.
    Both,
}

enum Phase {
    /// The next child is that of this bit.
    Up(u32),
    Down,
}

/// A tree collective. `combine` adds what a child gave to the data; `finish` is given the result, where this member has
/// one.
pub struct Tree<C, F> {
    team: &'static Team,
    number: u32,
    root: Rank,
    ways: Ways,
    data: Vec<u8>,
    combine: C,
    finish: Option<F>,
    phase: Phase,
}

const UP: u32 = 0;
const DOWN: u32 = 1;

impl<C: FnMut(&mut Vec<u8>, Vec<u8>) + Send, F: FnOnce(Vec<u8>) + Send> Tree<C, F> {
    /// Begins one on a team.
    pub fn new(team: &'static Team, root: Rank, ways: Ways, data: Vec<u8>, combine: C, finish: F) -> Self {
        let phase = if ways == Ways::Down { Phase::Down } else { Phase::Up(0) };
        Self { team, number: team.next_collective(), root, ways, data, combine, finish: Some(finish), phase }
    }

    fn size(&self) -> u32 {
        self.team.size()
    }

    /// This member, counted from the root.
    fn mine(&self) -> u32 {
        (self.team.rank() + self.size() - self.root) % self.size()
    }

    fn rank(&self, counted: u32) -> Rank {
        ((u64::from(counted) + u64::from(self.root)) % u64::from(self.size())) as Rank
    }

    fn key(&self, step: u32, from: u32, to: u32) -> Key {
        Key { team: self.team.id, number: self.number, step, from: self.rank(from), to: self.rank(to) }
    }

    fn send(&self, step: u32, to: u32) {
        mail::send(self.team, self.key(step, self.mine(), to), &self.data);
    }

    fn parent(&self) -> u32 {
        self.mine() & (self.mine() - 1)
    }

    /// Bits that this member has children for.
    fn bits(&self) -> u32 {
        let size = u64::from(self.size());
        let most = size.next_power_of_two().trailing_zeros();
        if self.mine() == 0 { most } else { self.mine().trailing_zeros() }
    }

    /// The child of a bit, if there is one.
    fn child(&self, bit: u32) -> Option<u32> {
        let child = u64::from(self.mine()) + (1 << bit);
        (child < u64::from(self.size())).then_some(child as u32)
    }

    /// Takes what children give; whether all have.
    fn gather(&mut self) -> bool {
        while let Phase::Up(bit) = self.phase {
            if bit == self.bits() {
                return true;
            }
            if let Some(child) = self.child(bit) {
                let Some(theirs) = mail::take(self.key(UP, child, self.mine())) else { return false };
                (self.combine)(&mut self.data, theirs);
            }
            self.phase = Phase::Up(bit + 1);
        }
        true
    }

    fn finish(&mut self) {
        if let Some(finish) = self.finish.take() {
            finish(std::mem::take(&mut self.data));
        }
    }
}

impl<C: FnMut(&mut Vec<u8>, Vec<u8>) + Send, F: FnOnce(Vec<u8>) + Send> Schedule for Tree<C, F> {
    fn advance(&mut self) -> bool {
        if matches!(self.phase, Phase::Up(_)) {
            if !self.gather() {
                return false;
            }
            if self.mine() != 0 {
                self.send(UP, self.parent());
            }
            if self.ways == Ways::Up {
                if self.mine() == 0 {
                    self.finish();
                }
                return true;
            }
            self.phase = Phase::Down;
        }
        if self.mine() != 0 {
            let Some(data) = mail::take(self.key(DOWN, self.parent(), self.mine())) else { return false };
            self.data = data;
        }
        for bit in (0..self.bits()).rev() {
            if let Some(child) = self.child(bit) {
                self.send(DOWN, child);
            }
        }
        self.finish();
        true
    }

    fn lacks(&self) -> Option<i32> {
        let from = match self.phase {
            Phase::Up(bit) if bit < self.bits() => self.child(bit)?,
            _ if self.mine() == 0 => return None,
            _ => self.parent(),
        };
        self.team.member(self.rank(from)).map(|peer| peer.pe)
    }
}

/// Gathers what every member gives, on all.
pub fn gather(team: &'static Team, mine: &[u8], all: &mut Vec<Vec<u8>>) -> impl Schedule {
    // Records of rank and length, then bytes.
    let mut data = Vec::with_capacity(mine.len() + 8);
    data.extend(team.rank().to_ne_bytes());
    data.extend((mine.len() as u32).to_ne_bytes());
    data.extend(mine);
    let size = team.size() as usize;
    Tree::new(
        team,
        0,
        Ways::Both,
        data,
        |data: &mut Vec<u8>, theirs: Vec<u8>| data.extend(theirs),
        move |data: Vec<u8>| {
            *all = vec![Vec::new(); size];
            let mut rest = &data[..];
            while let Some((head, behind)) = rest.split_first_chunk::<8>() {
                let word =
                    |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
                let (theirs, next) = behind.split_at(word(4).min(behind.len()));
                if let Some(place) = all.get_mut(word(0)) {
                    *place = theirs.to_vec();
                }
                rest = next;
            }
        },
    )
}
