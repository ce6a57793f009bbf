//! Agreements of PEs on several hosts, in a job that goes on without PEs that are lost: the head ends them, since it
//! alone knows what was lost on all hosts ([`pellucid_core::bootstrap::agreement`]).
//!
//! An agreement is over once each member has given its word or is lost. What it comes to is told to all in one go, and
//! forgotten: a member that is lost says nothing any more, and each other one has said its word.

use pellucid_core::bootstrap::agreement::{Agreement, Proposal};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Group, and number of the agreement in it.
type Name = ((u64, u64), u64);

/// An agreement that some member has come to.
struct Open {
    proposal: Proposal,
    /// Who has given a word, and the name of the answer.
    given: BTreeMap<u32, u32>,
    kinds: Vec<(u32, u8)>,
}

/// What is to be told.
#[derive(Debug, PartialEq, Eq)]
pub struct Decision {
    /// The PEs that wait, and the names of their answers.
    pub waiting: Vec<(u32, u32)>,
    /// What they are told.
    pub outcome: Agreement,
}

/// All agreements of a job.
#[derive(Default)]
pub struct Agreements {
    open: HashMap<Name, Open>,
    lost: BTreeSet<u32>,
    /// PEs that are in their last agreement.
    leaving: BTreeSet<u32>,
}

impl Agreements {
    /// Whether a PE is lost.
    pub fn is_lost(&self, pe: u32) -> bool {
        self.lost.contains(&pe)
    }

    /// How many PEs are lost.
    pub fn lost(&self) -> usize {
        self.lost.len()
    }

    /// A PE gives its word. Gives what is to be told.
    pub fn give(&mut self, pe: u32, id: u32, proposal: Proposal) -> Vec<Decision> {
        if self.lost.contains(&pe) {
            return Vec::new();
        }
        let name = (proposal.group, proposal.number);
        if proposal.leaves {
            self.leaving.insert(pe);
        }
        let kind = (pe, proposal.what);
        let open = self.open.entry(name).or_insert_with(|| {
            let words = vec![0; proposal.words.len()];
            Open { proposal: Proposal { words, ..proposal.clone() }, given: BTreeMap::new(), kinds: Vec::new() }
        });
        if open.kinds.iter().all(|(_, what)| *what != kind.1) {
            open.kinds.push(kind);
        }
        for (all, word) in open.proposal.words.iter_mut().zip(&proposal.words) {
            *all |= word;
        }
        open.given.insert(pe, id);
        // One that leaves gives no word elsewhere.
        if proposal.leaves { self.decide() } else { self.decide_on(name).into_iter().collect() }
    }

    /// A PE is lost. Gives what is to be told.
    pub fn lose(&mut self, pe: u32) -> Vec<Decision> {
        self.lost.insert(pe);
        self.decide()
    }

    fn decide(&mut self) -> Vec<Decision> {
        let mut names: Vec<Name> = self.open.keys().copied().collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| self.decide_on(name)).collect()
    }

    /// Ends an agreement whose members have all given their words, but those that give none.
    fn decide_on(&mut self, name: Name) -> Option<Decision> {
        let open = self.open.get(&name)?;
        let (mut missing, mut left) = (Vec::new(), None);
        for pe in open.proposal.pes.iter().map(|pe| pe as u32).filter(|pe| !open.given.contains_key(pe)) {
            if self.lost.contains(&pe) {
                missing.push(pe);
            } else if !open.proposal.leaves && self.leaving.contains(&pe) {
                left = Some(pe);
            } else {
                return None;
            }
        }
        let open = self.open.remove(&name)?;
        if open.proposal.leaves {
            self.leaving.retain(|pe| !open.given.contains_key(pe));
        }
        let outcome = Agreement { missing, kinds: open.kinds, left, words: open.proposal.words };
        Some(Decision { waiting: open.given.into_iter().collect(), outcome })
    }
}

#[cfg(test)]
#[path = "agreements_tests.rs"]
mod tests;
