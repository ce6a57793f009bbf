//! PEs that are killed in a job that goes on without them (`--survive`).

use super::Supervisor;
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
        self.output.say(&format!("{text}; the job goes on without it (--survive)"));
        let losses = &mut self.verdict.losses;
        if losses.lines.is_empty() {
            losses.status = 128 + signal;
        }
        losses.lines.push(text);
        true
    }

    /// Says at the end which PEs were lost. Where none is left, the status is that of the first.
    pub(super) fn report_losses(&mut self) {
        let losses = &self.verdict.losses;
        let (lost, pes) = (losses.lines.len(), self.pes.all().len());
        if lost == 0 {
            return;
        }
        if lost == pes {
            self.verdict.status.get_or_insert(losses.status);
        }
        self.output.say(&format!("{lost} of {pes} PEs were lost:{}", self.lost_lines()));
    }

    /// A line for each PE that is lost, as lines that follow others.
    pub(super) fn lost_lines(&self) -> String {
        crate::report::listed(&self.verdict.losses.lines)
    }
}
