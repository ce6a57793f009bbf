//! PEs that are lost in a job that goes on without them (`oshrun --survive`): the launcher says so here, a byte a PE.

use super::{Job, control_bytes, words_end};
use crate::os::futex;
use crate::os::signal;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

/// How a PE was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// A signal has ended it.
    Killed(i32),
    /// Nothing is heard of its host.
    Host,
}

/// The byte of a PE whose host is lost; that of one that was killed is the signal.
const HOST: u8 = u8::MAX;

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed(number) => write!(f, "killed by {}", signal::describe(*number)),
            Self::Host => f.write_str("its host is not heard of any more"),
        }
    }
}

impl Job {
    /// The job goes on without PEs that are lost. Before the first PE begins.
    pub fn survive(&self) {
        self.header().survives.store(1, Ordering::Release);
    }

    /// See [`Self::survive`].
    pub fn survives(&self) -> bool {
        self.header().survives.load(Ordering::Acquire) != 0
    }

    /// A PE of the job is lost: all of this host are told. It stores nothing any more.
    pub fn lose(&self, pe: u32, how: Loss) {
        let byte = match how {
            Loss::Killed(signal) => signal.clamp(1, i32::from(HOST) - 1) as u8,
            Loss::Host => HOST,
        };
        if self.lost()[pe as usize].compare_exchange(0, byte, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.header().losses.fetch_add(1, Ordering::AcqRel);
            futex::wake_all(&self.header().losses);
        }
    }

    /// How many PEs are lost.
    pub fn losses(&self) -> &AtomicU32 {
        &self.header().losses
    }

    /// How a PE was lost, where it is.
    pub fn loss(&self, pe: u32) -> Option<Loss> {
        match self.lost().get(pe as usize)?.load(Ordering::Acquire) {
            0 => None,
            HOST => Some(Loss::Host),
            signal => Some(Loss::Killed(signal.into())),
        }
    }

    /// Sleeps while so many PEs are lost, at most as long as this; or less long.
    pub(crate) fn wait_for_loss(&self, seen: u32, limit: Duration) {
        futex::wait(&self.header().losses, seen, limit);
    }

    /// A byte for each PE of the job.
    fn lost(&self) -> &[AtomicU8] {
        debug_assert!(words_end(self.local) + self.npes as usize <= control_bytes(self.local, self.npes));
        // SAFETY: as many bytes of the file lie behind the last words; all are atomic.
        unsafe { std::slice::from_raw_parts(self.base.add(words_end(self.local)).cast(), self.npes as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_noted_once_and_says_how() {
        let job = Job::create(2..4, 5).unwrap();
        assert!(!job.survives() && (0..5).all(|pe| job.loss(pe).is_none()));
        job.survive();
        job.lose(3, Loss::Killed(9));
        job.lose(3, Loss::Host);
        job.lose(0, Loss::Host);
        assert_eq!((job.loss(3), job.loss(0)), (Some(Loss::Killed(9)), Some(Loss::Host)));
        assert_eq!((job.losses().load(Ordering::Relaxed), job.loss(4), job.loss(5)), (2, None, None));
        assert_eq!(Loss::Killed(9).to_string(), "killed by signal 9 (kill)");
    }
}
