//! What the end of a PE, or the lack of it, means for the job.

use super::{Lost, Supervisor};
use crate::ending::Ending;
use crate::hosts::message::ToHead;
use crate::profile::Profile;
use crate::report::{self, Place, Who};
use crate::source::{self, Oshprof};
use crate::sys::process::{self, Ended};
use pellucid_core::bootstrap::job::{ExitKind, PeState};
use pellucid_core::bootstrap::last_words;
use pellucid_profile::live::{ListedPe, PeNow, State, activity_at, find, listed, operation};
use pellucid_profile::segment::{CurrentOp, Phase};
use std::time::{Duration, Instant};

/// How long a PE may be inside the library after another one has left.
pub const LOST_AFTER: Duration = Duration::from_secs(5);
/// The same where the others are known to wait for the one that has left.
pub const HOPELESS_AFTER: Duration = Duration::from_secs(1);
/// How long PEs have for doing something about a signal while they wait inside the library.
const DEAF_AFTER: Duration = Duration::from_millis(500);
/// How long a PE that has asked for the end of the job may take for its own.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long the others have for what they have written: some times as long as one that waits sleeps.
const TO_FLUSH: Duration = Duration::from_millis(100);

/// PEs that are looked for outside of the library, each of which is stopped for a moment.
const PLACES: usize = 32;

/// What is said of a PE that does not go on by itself.
const STOPPED: &str = "stopped (by a signal or a debugger), ";

impl Supervisor {
    /// Decides what the end of a PE means for the job.
    pub(super) fn decide_exit(&mut self, pe: u32, ended: Ended) {
        if self.verdict.ending.is_some() {
            return;
        }
        if self.handle_exit_request(Some(pe), Instant::now()) {
            return;
        }
        let place = self.place(pe);
        let status = match ended {
            Ended::Exited(0) => return self.left(pe, &place),
            Ended::Exited(status) => status,
            Ended::Killed { signal, .. } => 128 + signal,
        };
        let expected =
            (self.verdict.interrupted && !is_crash(ended)) || (self.verdict.closed && status == 128 + libc::SIGPIPE);
        let said = !expected && place.state != PeState::Failed;
        if said && self.go_on_without(pe, ended, &place) {
            return;
        }
        let text = said.then(|| self.death(pe, ended, &place));
        self.verdict.cut_short |= place.state == PeState::Failed;
        if place.state == PeState::Finalized {
            // Nobody should wait for it any more: the others may finish.
            self.late(pe, &place, status, text);
        } else {
            self.conclude(text, status);
        }
    }

    pub(super) fn death(&self, pe: u32, ended: Ended, place: &Place) -> String {
        let noted = self.job.pe(pe).crashed_at().filter(|_| is_crash(ended));
        let crashed = self.profile.as_ref().zip(noted).and_then(|(profile, noted)| profile.crashed(pe, &noted));
        report::death(&self.who(pe), ended, self.pes.out_of_memory(ended), crashed, place)
    }

    /// Ends the job where a PE has asked for it; the reason was given there. The PE itself may finish its exit
    /// handlers, so that what it wrote is not lost, but not for ever. False: nobody asked.
    pub(super) fn handle_exit_request(&mut self, ended: Option<u32>, now: Instant) -> bool {
        let Some(request) = self.job.exit_request() else { return false };
        let since = *self.verdict.asked.get_or_insert(now);
        if ended.is_some_and(|pe| i64::from(pe) == i64::from(request.pe)) || now >= since + LAST_WORDS {
            self.conclude(self.unheard(), request.status);
        }
        true
    }

    /// What PEs could not write to their standard error, which is closed or full.
    fn unheard(&self) -> Option<String> {
        let texts = last_words::unheard(&self.job);
        let lines = texts.iter().flat_map(|text| text.lines());
        let lines: Vec<&str> = lines.map(|line| line.strip_prefix("pellucid: ").unwrap_or(line)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Begins to end the job with this status, unless something gave it one before.
    pub(super) fn end(&mut self, status: i32) {
        self.verdict.cut_short = true;
        self.end_quietly(status);
    }

    /// The same where the PEs themselves have asked for the end.
    pub(super) fn end_quietly(&mut self, status: i32) {
        self.verdict.status.get_or_insert(status);
        self.begin_to_end(Instant::now());
    }

    /// Has the PEs end, unless that has begun. Those that wait have a moment to flush what they have written where one
    /// has called `shmem_global_exit` (9.1.6).
    pub(super) fn begin_to_end(&mut self, now: Instant) {
        let begin = if self.asked_by().is_some() { now + TO_FLUSH } else { now };
        self.verdict.ending.get_or_insert_with(|| Ending::new(begin));
    }

    /// The PE that has called `shmem_global_exit`.
    pub(super) fn asked_by(&self) -> Option<u32> {
        let request = self.job.exit_request().filter(|request| request.kind == ExitKind::GlobalExit)?;
        u32::try_from(request.pe).ok()
    }

    /// A PE that left is an error where others are inside the library and do not leave: `shmem_finalize` is collective,
    /// so that they would have left by now, had it called that with them.
    pub(super) fn check_lost(&mut self, now: Instant) {
        let Some(lost) = &self.verdict.lost else { return };
        let since = now.saturating_duration_since(lost.since);
        if self.verdict.ending.is_some() || since < HOPELESS_AFTER {
            return;
        }
        if since < LOST_AFTER && (lost.finalized || !self.is_waited_for(lost)) {
            return;
        }
        let text = report::lost(&lost.who, &lost.place, since.as_secs());
        let waiting = self.inside(!lost.finalized);
        if waiting.is_empty() {
            self.verdict.lost.iter_mut().for_each(|lost| lost.since = now);
            return;
        }
        let text = text + &self.activities(&waiting) + &self.waits();
        self.output.say(&text);
        self.end(1);
    }

    /// Whether somebody waits for this PE, which has ended, in a collective call: it began that by mistake or too late.
    fn is_waited_for(&self, lost: &Lost) -> bool {
        if !lost.begun && self.pes.running().any(|other| self.starting(other)) {
            return true;
        }
        self.profile.as_ref().is_some_and(|profile| report::is_waited_for(lost.pe, &self.look(profile)))
    }

    /// After a signal that asks for the end: a handler that only takes a note of it, as Python's does, comes to nothing
    /// where all PEs are inside the library, each waiting for another.
    pub(super) fn check_deaf(&mut self, now: Instant) {
        let Some((number, since)) = self.verdict.interrupt else { return };
        if self.verdict.ending.is_some() || now < since + DEAF_AFTER {
            return;
        }
        let deaf = |pe: u32| {
            let pid = self.pes.get(pe).pid;
            let waits = self.place(pe).threads().first().is_some_and(|op| {
                op.phase == Phase::Inside && op.elapsed_ns.is_some_and(|ns| u128::from(ns) > since.elapsed().as_nanos())
            });
            waits && process::notes(pid, number)
        };
        let deaf = self.pes.running().all(deaf);
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.lost) else {
            if deaf {
                self.end(128 + number);
            }
            return;
        };
        // Those of other hosts may be otherwise: the head knows.
        if std::mem::replace(&mut remote.deaf, deaf) != deaf {
            remote.link.send(&ToHead::Deaf { number, deaf }, &self.epoll);
        }
    }

    /// The PEs that are inside the library and could leave it; `finalizing`: those that are in their last
    /// `shmem_finalize`, too.
    pub(super) fn inside(&self, finalizing: bool) -> Vec<u32> {
        let inside = |other: &u32| {
            let slot = self.job.pe(*other);
            let inside = match slot.state() {
                PeState::Initialized => true,
                PeState::Finalizing => finalizing,
                // Tools communicate from exit handlers. One that is not through with its own shmem_finalize waits for
                // nobody.
                PeState::Finalized => self.place(*other).threads().iter().any(in_another_than_finalize),
                _ => self.starting(*other),
            };
            inside && !process::is_held(slot.pid())
        };
        self.pes.running().filter(inside).collect()
    }

    /// A PE has left with status 0.
    pub(super) fn note_left(&mut self, pe: u32, place: &Place) {
        let (who, since) = (self.who(pe).to_string(), Instant::now());
        let (begun, finalized) = (place.state != PeState::NotStarted, place.state == PeState::Finalized);
        self.verdict.lost.get_or_insert(Lost { pe, who, place: place.at_end(), begun, finalized, since });
    }

    /// Whether a PE is in `shmem_init`.
    fn starting(&self, pe: u32) -> bool {
        let slot = self.job.pe(pe);
        slot.state() == PeState::NotStarted && slot.pid() != 0
    }

    pub(super) fn report_timeout(&mut self, limit: Duration) {
        let running: Vec<u32> = self.pes.running().collect();
        let text = format!("the job has not ended within {} s (--timeout)", limit.as_secs_f64());
        self.output.say(&(text + &self.activities(&running) + &self.waits() + &self.lost_lines()));
    }

    /// What each PE does and who waits for whom, because of a signal.
    pub(super) fn report_now(&mut self, signal: i32) {
        let running: Vec<u32> = self.pes.running().collect();
        let text = format!("{}: the PEs now:", pellucid_core::os::signal::describe(signal));
        self.say(&(text + &self.activities(&running) + &self.waits() + &self.lost_lines()));
    }

    /// Who waits for whom, as lines that follow others.
    fn waits(&self) -> String {
        let Some(profile) = &self.profile else { return String::new() };
        report::waits(&self.look(profile))
    }

    /// What the PEs of this host do.
    pub(super) fn look(&self, profile: &Profile) -> Vec<PeNow> {
        let running: Vec<u32> = self.pes.running().collect();
        let look = |pe: u32| {
            let runs = running.binary_search(&pe).is_ok();
            let (mut now, pid) = (profile.look(pe, runs), self.pes.get(pe).pid);
            if process::is_stopped(pid) {
                now.stop();
            } else if runs {
                now.asleep = u32::try_from(pid).is_ok_and(find::sleeps);
                profile.note(&self.verdict.calls, &mut now);
            }
            now
        };
        self.job.pes().map(look).collect()
    }

    /// A line for each of these PEs: what it is doing.
    fn activities(&self, pes: &[u32]) -> String {
        report::listed(&self.activity_lines(pes))
    }

    /// What these PEs do, a line for those that do the same.
    pub(super) fn activity_lines(&self, pes: &[u32]) -> Vec<String> {
        let mut now = self.profile.as_ref().map(|profile| self.look(profile)).unwrap_or_default();
        let computes = |now: &&mut PeNow| now.state == State::Running && now.is_outside() && pes.contains(&now.pe);
        for now in now.iter_mut().filter(computes).take(PLACES) {
            now.place = source::process(now.pid);
        }
        let text = |pe: u32| {
            let stopped = if process::is_stopped(self.pes.get(pe).pid) { STOPPED } else { "" };
            let place = self.place(pe);
            let now = now.iter().find(|now| now.pe == pe && place.state != PeState::NotStarted);
            match (place.outside(), now, place.threads().first()) {
                (Some(outside), ..) => format!("{stopped}{outside}"),
                // In an exit handler.
                (None, Some(now), Some(current)) if place.state == PeState::Finalized => {
                    format!("{stopped}{}", operation(now, current, &Oshprof))
                }
                (None, Some(now), _) => activity_at(now, &Oshprof),
                (None, None, _) => format!("{stopped}{}", place.at_end()),
            }
        };
        let line = |&pe: &u32| ListedPe { pe, pid: self.pes.get(pe).pid.try_into().unwrap_or(0), text: text(pe) };
        let lines: Vec<ListedPe> = pes.iter().map(line).collect();
        listed(&lines, &self.of_job())
    }

    /// What follows the number of a PE in a message.
    fn of_job(&self) -> String {
        let host = self.remote.as_ref().map(|remote| format!(" on host {}", remote.host)).unwrap_or_default();
        format!(" of {}{host}", self.job.npes())
    }

    pub(super) fn who(&self, pe: u32) -> Who {
        let host = self.remote.as_ref().map(|remote| remote.host.clone());
        Who { pe, pes: self.job.npes(), pid: self.pes.get(pe).pid, host }
    }

    pub(super) fn place(&self, pe: u32) -> Place {
        let slot = self.job.pe(pe);
        Place {
            state: slot.state(),
            joined: slot.pid() != 0,
            unasked: slot.is_unasked(),
            now: self.profile.as_ref().map(|profile| profile.look(pe, true)),
        }
    }
}

fn in_another_than_finalize(op: &CurrentOp) -> bool {
    op.phase == Phase::Inside && op.routine != "shmem_finalize"
}

/// Whether a program ends like this only by its own mistake.
fn is_crash(ended: Ended) -> bool {
    const CRASHES: [i32; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGSYS];
    matches!(ended, Ended::Killed { signal, .. } if CRASHES.contains(&signal))
}
