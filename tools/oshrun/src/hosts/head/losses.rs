//! A job that goes on without PEs, and hosts, that are lost (`--survive`).

use super::{Head, Phase};
use crate::hosts::agreements::{Agreements, Decision};
use crate::hosts::message::{ToDaemon, ToHead};
use crate::hosts::pack::Bytes;
use crate::supervise::losses::Losses;
use pellucid_core::bootstrap::agreement::Proposal;

/// What a job has that goes on without others.
#[derive(Default)]
pub(super) struct Survival {
    /// PEs and hosts that are lost.
    pub losses: Losses,
    /// What the others agree on.
    agreements: Agreements,
}

impl Head<'_> {
    /// What a host's daemon says of PEs that are lost or about to be, and of those that go on.
    pub(super) fn handle_losses(&mut self, host: usize, message: ToHead) {
        match message {
            ToHead::Begun {} => self.hosts[host].begun = true,
            ToHead::Lost { pe, signal, text } => self.go_on_without(pe, signal, text),
            ToHead::Agree { pe, id, proposal } => self.give(pe, id, &proposal.0),
            ToHead::Signalled { number } => self.signalled(host, number),
            ToHead::Unreached { pe, why } => self.separate(host, pe, &why),
            _ => {}
        }
    }

    /// A signal has ended a PE.
    fn go_on_without(&mut self, pe: u32, signal: i32, text: String) {
        if self.survival.agreements.is_lost(pe) {
            return;
        }
        self.note_loss(pe, signal);
        if !self.is_ending() {
            self.output.say(&format!("{text}; the job goes on without it (--survive)"));
        }
        self.survival.losses.add(text, 128 + signal);
    }

    /// Nothing is heard of a host.
    pub(super) fn go_on_without_host(&mut self, number: usize, text: String) {
        for pe in self.hosts[number].place.pes.clone() {
            if !self.survival.agreements.is_lost(pe) {
                self.note_loss(pe, 0);
            }
        }
        self.output.say(&format!("{text}; the job goes on without it (--survive)"));
        self.survival.losses.add(text, 1);
    }

    /// A host has not reached a PE of another one for long, while both are heard of here: the network between them is
    /// cut, and one of the two cannot go on. It is the one that the other was first to tell of.
    fn separate(&mut self, host: usize, pe: u32, why: &str) {
        let there = self.hosts.iter().position(|other| other.place.pes.contains(&pe));
        let Some(there) = there.filter(|there| *there != host && !self.is_ending()) else { return };
        if [host, there].iter().all(|number| self.hosts[*number].phase == Phase::Running) {
            let why = format!("{} has not reached it for long: {why}", self.hosts[host].who());
            self.lose(there, &why);
        }
    }

    /// Tells all hosts, before they hear of what is decided since.
    fn note_loss(&mut self, pe: u32, signal: i32) {
        self.send_all(&ToDaemon::Lost { pe, signal });
        let decisions = self.survival.agreements.lose(pe);
        self.tell(decisions);
    }

    /// A PE gives its word in an agreement.
    fn give(&mut self, pe: u32, id: u32, proposal: &[u8]) {
        if let Some(proposal) = Proposal::decode(proposal) {
            let decisions = self.survival.agreements.give(pe, id, proposal);
            self.tell(decisions);
        }
    }

    fn tell(&mut self, decisions: Vec<Decision>) {
        for Decision { waiting, outcome } in decisions {
            let outcome = Bytes(outcome.encode());
            for host in 0..self.hosts.len() {
                let pes = &self.hosts[host].place.pes;
                let here: Vec<_> = waiting.iter().copied().filter(|(pe, _)| pes.contains(pe)).collect();
                if !here.is_empty() && self.hosts[host].phase == Phase::Running {
                    self.send(host, &ToDaemon::Agreed { waiting: here, outcome: outcome.clone() });
                }
            }
        }
    }

    /// Says at the end who was lost. Where no PE is left, the status is that of the first loss.
    pub(super) fn report_losses(&mut self) {
        let pes = self.hosts.last().map_or(0, |host| host.place.pes.end) as usize;
        let Some((text, status)) = self.survival.losses.summary(self.survival.agreements.lost(), pes) else { return };
        if let Some(status) = status {
            self.status.get_or_insert(status);
        }
        self.output.say(&text);
    }
}
