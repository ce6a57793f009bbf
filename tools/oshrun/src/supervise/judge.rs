//! What the end of a PE, or the lack of it, means for the job.

use super::Supervisor;
use crate::ending::Ending;
use crate::report::{self, Place, Who};
use crate::signals;
use crate::sys::process::{self, Ended};
use pellucid_core::bootstrap::job::PeState;
use pellucid_profile::live::{PeNow, Waits};
use pellucid_profile::segment::Phase;
use std::time::{Duration, Instant};

/// How long a PE may be inside the library after another one has left.
pub(super) const LOST_AFTER: Duration = Duration::from_secs(5);
/// PEs whose activity is listed one by one.
const LISTED: usize = 64;
/// How long a PE that has asked for the end of the job may take for its own.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Supervisor {
    /// Decides what the end of a PE means for the job.
    pub(super) fn judge(&mut self, pe: u32, ended: Ended) {
        if self.verdict.ending.is_some() {
            return;
        }
        if self.heed_request(Some(pe), Instant::now()) {
            return;
        }
        let place = self.place(pe);
        let status = match ended {
            Ended::Exited(0) => {
                self.verdict.lost.get_or_insert((pe, Instant::now()));
                return;
            }
            Ended::Exited(status) => status,
            Ended::Killed { signal, .. } => 128 + signal,
        };
        let expected =
            (self.verdict.interrupted && !is_crash(ended)) || (self.verdict.closed && status == 128 + libc::SIGPIPE);
        if !expected && place.state != PeState::Failed {
            let text = report::death(&self.who(pe), ended, &place);
            self.output.say(&text);
        }
        if place.state == PeState::Finalized {
            // Nobody should wait for it any more: the others may finish.
            self.verdict.status.get_or_insert(status);
            self.verdict.lost.get_or_insert((pe, Instant::now()));
        } else {
            self.end(status);
        }
    }

    /// Ends the job where a PE has asked for it; the reason was given there. The PE itself may finish its exit handlers, so
    /// that what it wrote is not lost, but not for ever. False: nobody asked.
    pub(super) fn heed_request(&mut self, ended: Option<u32>, now: Instant) -> bool {
        let Some(request) = self.job.exit_request() else { return false };
        let since = *self.verdict.asked.get_or_insert(now);
        if ended.is_some_and(|pe| i64::from(pe) == i64::from(request.pe)) || now >= since + LAST_WORDS {
            self.end(request.status);
        }
        true
    }

    /// Begins to end the job with this status, unless something gave it one before.
    pub(super) fn end(&mut self, status: i32) {
        self.verdict.status.get_or_insert(status);
        self.verdict.ending.get_or_insert_with(|| Ending::new(Instant::now()));
    }

    /// A PE that left is an error where others are inside the library and do not leave: `shmem_finalize` is collective, so
    /// that they would have left by now, had it called that with them.
    pub(super) fn check_lost(&mut self, now: Instant) {
        let Some((pe, since)) = self.verdict.lost else { return };
        if self.verdict.ending.is_some() || now < since + LOST_AFTER {
            return;
        }
        let inside = |other: &u32| {
            let slot = self.job.pe(*other);
            let inside = match slot.state() {
                PeState::Initialized => true,
                // Tools communicate from exit handlers.
                PeState::Finalized => self.place(*other).threads.iter().any(|op| op.phase == Phase::Inside),
                _ => self.starting(*other),
            };
            inside && !process::is_held(slot.pid())
        };
        let waiting: Vec<u32> = self.pes.running().filter(inside).collect();
        if waiting.is_empty() {
            self.verdict.lost = Some((pe, now));
            return;
        }
        let text = report::lost(&self.who(pe), &self.place(pe), LOST_AFTER.as_secs())
            + &self.activities(&waiting)
            + &self.waits();
        self.output.say(&text);
        self.end(1);
    }

    /// Whether a PE is in `shmem_init`.
    fn starting(&self, pe: u32) -> bool {
        let slot = self.job.pe(pe);
        slot.state() == PeState::NotStarted && slot.pid() != 0
    }

    pub(super) fn report_timeout(&mut self, limit: Duration) {
        let running: Vec<u32> = self.pes.running().collect();
        let text = format!("the job has not ended within {} s (--timeout)", limit.as_secs_f64());
        self.output.say(&(text + &self.activities(&running) + &self.waits()));
    }

    /// What each PE does and who waits for whom, because of a signal.
    pub(super) fn report_now(&mut self, signal: i32) {
        let running: Vec<u32> = self.pes.running().collect();
        let text = format!("{}: the PEs now:", signals::describe(signal));
        self.output.say(&(text + &self.activities(&running) + &self.waits()));
    }

    /// Who waits for whom, as lines that follow others.
    fn waits(&self) -> String {
        let Some(profile) = &self.profile else { return String::new() };
        let running: Vec<u32> = self.pes.running().collect();
        let all: Vec<PeNow> =
            (0..self.job.npes()).map(|pe| profile.look(pe, running.binary_search(&pe).is_ok())).collect();
        Waits::find(&all).text().lines().map(|line| format!("\n  {line}")).collect()
    }

    /// A line for each of these PEs: what it is doing.
    fn activities(&self, pes: &[u32]) -> String {
        let mut text = String::new();
        for pe in pes.iter().take(LISTED) {
            text += &format!("\n  {}: {}", self.who(*pe), self.place(*pe).now());
        }
        if pes.len() > LISTED {
            text += &format!("\n  and {} more PEs", pes.len() - LISTED);
        }
        text
    }

    pub(super) fn who(&self, pe: u32) -> Who {
        Who { pe, pes: self.job.npes(), pid: self.pes.get(pe).pid }
    }

    fn place(&self, pe: u32) -> Place {
        let slot = self.job.pe(pe);
        Place {
            state: slot.state(),
            joined: slot.pid() != 0,
            threads: self.profile.as_ref().map(|profile| profile.current(pe)).unwrap_or_default(),
        }
    }
}

/// Whether a program ends like this only by its own mistake.
fn is_crash(ended: Ended) -> bool {
    const CRASHES: [i32; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGSYS];
    matches!(ended, Ended::Killed { signal, .. } if CRASHES.contains(&signal))
}
