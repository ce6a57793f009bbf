//! PEs that are killed in a job that goes on without them (`--survive`).

use super::Supervisor;
use crate::hosts::message::ToHead;
use crate::report::Place;
use crate::sys::process::Ended;
use pellucid_core::bootstrap::job::{Loss, PeState};

/// What there is to say of them at the end.
#[derive(Default)]
pub struct Losses {
    /// A line for each, in the order in which they were lost.
    lines: Vec<String>,
    /// The status that the job has where no PE is left.
    status: i32,
}

impl Losses {
    /// The job goes on without somebody; `status` would be that of a job that ends with them.
    pub fn add(&mut self, text: String, status: i32) {
        if self.lines.is_empty() {
            self.status = status;
        }
        self.lines.push(text);
    }

    /// What there is to say at the end of so many of all PEs, and the status where none is left.
    pub fn summary(&self, lost: usize, pes: usize) -> Option<(String, Option<i32>)> {
        let text = format!("{lost} of {pes} PEs were lost:{}", self.text());
        (lost > 0).then(|| (text, (lost == pes).then_some(self.status)))
    }

    /// A line for each, as lines that follow others.
    pub fn text(&self) -> String {
        crate::report::listed(&self.lines)
    }
}

impl Supervisor {
    /// Takes note of a PE that was killed, where the job goes on without it; false where it does not. All have to be
    /// out of `shmem_init`, where each waits for all others.
    pub(super) fn go_on_without(&mut self, pe: u32, ended: Ended, place: &Place) -> bool {
        let Ended::Killed { signal, .. } = ended else { return false };
        if !self.job.survives() || place.state == PeState::NotStarted {
            return false;
        }
        // First: to find words takes a while.
        self.job.lose(pe, Loss::Killed(signal));
        let text = self.death(pe, ended, place);
        if let Some(remote) = self.remote.as_mut().filter(|remote| !remote.lost) {
            remote.link.send(&ToHead::Lost { pe, signal, text }, &self.epoll);
            return true;
        }
        self.output.say(&format!("{text}; the job goes on without it (--survive)"));
        self.verdict.losses.add(text, 128 + signal);
        true
    }

    /// Says at the end which PEs were lost. Where none is left, the status is that of the first.
    pub(super) fn report_losses(&mut self) {
        let losses = &self.verdict.losses;
        let Some((text, status)) = losses.summary(losses.lines.len(), self.pes.all().len()) else { return };
        if let Some(status) = status {
            self.verdict.status.get_or_insert(status);
        }
        self.output.say(&text);
    }

    /// A line for each PE that is lost, as lines that follow others.
    pub(super) fn lost_lines(&self) -> String {
        self.verdict.losses.text()
    }
}
