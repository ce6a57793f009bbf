//! Whether a job came to its end.

use super::{Merged, PeRow};
use crate::model::{End, Progress};

impl Merged {
    /// Whether the job ended before its PEs had come to their end: what it did is known up to there only, and what PEs
    /// were in then says nothing of how it would have run. A job that goes on without a PE ends with status 0.
    pub fn broke_off(&self) -> bool {
        self.job.exit_status.is_some_and(|status| status != 0)
            && self.pes.iter().any(|pe| pe.progress != Progress::Finalized)
    }

    /// PEs that ended without having finalized. Those of a job without an exit status may still run, unless it is known
    /// how they ended.
    pub fn lost_pes(&self) -> impl Iterator<Item = &PeRow> {
        let has_ended = |pe: &PeRow| self.job.exit_status.is_some() || pe.end != End::Unknown;
        self.pes.iter().filter(move |pe| pe.progress != Progress::Finalized && has_ended(pe))
    }

    /// Whether it broke off though no PE ended of itself: somebody had waited long enough.
    pub fn was_given_up(&self) -> bool {
        self.broke_off() && self.pes.iter().all(|pe| pe.progress == Progress::Finalized || is_asked(pe))
    }
}

/// Whether a PE was ended as who asks a program to end does it.
fn is_asked(pe: &PeRow) -> bool {
    const ASKED: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
    match pe.end {
        End::Stopped | End::Unknown => true,
        End::Killed(signal) => ASKED.contains(&signal),
        End::Exited(_) => false,
    }
}
