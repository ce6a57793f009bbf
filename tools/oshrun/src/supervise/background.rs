//! PEs that go on in the background of what was started: a script that does not wait, a program that starts another one
//! and leaves (`setsid`).

use super::Supervisor;
use crate::profile::Profile;
use crate::sys::process::{self, Ended};
use crate::watchdog::Watchdog;
use pellucid_core::bootstrap::job::PeState;
use std::time::{Duration, Instant};

/// How long a process that was left has for calling the library.
const TO_BEGIN: Duration = Duration::from_secs(1);

impl Supervisor {
    /// Whether a process that was started as a PE has ended and the PE has not: it is another process, or may become
    /// one.
    pub(super) fn goes_on(&mut self, pid: i32, ended: Ended, watchdog: &mut Watchdog) -> bool {
        let Some(pe) = self.pes.running_as(pid).filter(|_| ended == Ended::Exited(0)) else { return false };
        if self.verdict.ending.is_some() {
            return false;
        }
        if self.adopt(pe, watchdog) {
            return true;
        }
        let expected = self.job.pe(pe).pid() == 0 && self.pes.has_left(pe, watchdog.pid());
        if expected {
            self.pes.expect(pe, Instant::now(), watchdog);
        }
        expected
    }

    /// Whether a PE is another process than the one that was started, and that runs.
    fn adopt(&mut self, pe: u32, watchdog: &mut Watchdog) -> bool {
        let slot = self.job.pe(pe);
        let (pid, started) = (slot.pid(), self.pes.get(pe).pid);
        let is_other = pid != 0 && pid != started && slot.is_visible() && process::runs(pid);
        if is_other {
            self.pes.adopt(pe, pid, watchdog);
        }
        is_other
    }

    /// Takes note of what has become of these.
    pub(super) fn look_at_background(&mut self, watchdog: &mut Watchdog) {
        let running: Vec<u32> = self.pes.running().collect();
        for pe in running {
            let it = self.pes.get(pe);
            let (pid, expected) = (it.pid, it.expected);
            let ended = if let Some(since) = expected {
                let is_late = self.verdict.ending.is_some() || since.elapsed() >= TO_BEGIN;
                if self.adopt(pe, watchdog) || (!is_late && self.pes.has_left(pe, watchdog.pid())) {
                    continue;
                }
                Ended::Exited(0)
            } else if it.adopted && !process::signal(pid, 0) {
                // Somebody else was its parent, and knows how it has ended.
                Ended::Exited(i32::from(self.job.pe(pe).state() != PeState::Finalized))
            } else {
                continue;
            };
            let now = self.profile.as_ref().map_or(0, Profile::now_ns);
            self.note_end(pid, ended, (Instant::now(), now), watchdog);
        }
    }
}
