//! The loop that runs while the job does: output, input, signals, ends of PEs, deadlines.

mod background;
mod closing;
mod decide;
mod hand_over;
pub mod losses;
pub mod remote;

use crate::ending::{Ending, Step};
use crate::input::{self, RELAY, Relay, TERMINAL};
use crate::output::{Output, StreamFailure};
use crate::pes::Pes;
use crate::profile::Profile;
use crate::signals::{self, Meaning};
use crate::sink::To;
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::file;
use crate::sys::process::{self, Ended, Wait};
use crate::sys::signal::{self, Reader};
use crate::watchdog::Watchdog;
pub use decide::{HOPELESS_AFTER, LOST_AFTER};
use pellucid_core::bootstrap::job::Job;
use pellucid_profile::live::Inactivity;
use remote::Remote;
use std::io;
use std::time::{Duration, Instant};

/// Tokens of the loop's descriptors, beside those of [`input`]. Those of the PEs' streams follow.
const SIGNALS: u64 = 0;
const WAKE: u64 = 1;
/// The first token of the PEs' streams.
pub const STREAMS: u64 = 4;
/// The connection to the head of a job on several hosts.
pub const LINK: u64 = 1 << 40;
/// A snapshot is there to be sent to it.
pub const SNAPSHOT: u64 = LINK + 1;
/// The first token of the PEs' ways to other hosts.
pub const WIREUPS: u64 = 1 << 41;

/// How often requests of PEs are looked for.
const LOOK: Duration = Duration::from_millis(250);

/// A job whose PEs run.
pub struct Supervisor {
    /// What is waited on.
    pub epoll: Epoll,
    /// Signals to this process.
    pub signals: Reader,
    /// What the PEs write.
    pub output: Output,
    /// The PEs.
    pub pes: Pes,
    /// Their job file.
    pub job: Job,
    /// Their profile.
    pub profile: Option<Profile>,
    /// Our terminal's input.
    pub relay: Option<Relay>,
    /// The PE whose debugger has our terminal.
    pub debugged: Option<u32>,
    /// The time limit and when it is reached.
    pub timeout: Option<(Duration, Instant)>,
    /// When the first PE was started, and when the end of one was seen last.
    pub ran: Option<(Instant, Instant)>,
    /// What the loop finds out.
    pub verdict: Verdict,
    /// Where there are other hosts: what this one has to do with them.
    pub remote: Option<Remote>,
}

/// How the job stands.
#[derive(Default)]
pub struct Verdict {
    /// Exit status: that of the first thing that went wrong.
    status: Option<i32>,
    /// The job is being ended.
    ending: Option<Ending>,
    /// It does not end by itself: what went wrong was said.
    cut_short: bool,
    /// Since when a PE asks for the end.
    asked: Option<Instant>,
    /// A signal to us asked for the end.
    interrupted: bool,
    /// Which, and when.
    interrupt: Option<(i32, Instant)>,
    /// A PE that left: the others are expected to leave too.
    lost: Option<Lost>,
    /// PEs without which the job goes on.
    losses: losses::Losses,
    /// Our standard output was closed by its reader.
    closed: bool,
    /// When PEs were last seen to make a call.
    calls: Inactivity,
    /// When that is looked for again.
    next_look: Option<Instant>,
}

/// A PE that left with status 0, or after it had left the library.
pub struct Lost {
    /// Its number.
    pub pe: u32,
    /// As messages name it.
    pub who: String,
    /// Where it was.
    pub place: String,
    /// Whether it had begun: else nobody gets through `shmem_init`.
    pub begun: bool,
    /// Whether it had finalized: then all have come to `shmem_finalize`, and nobody waits there.
    pub finalized: bool,
    /// Since when the others may be waiting for it.
    pub since: Instant,
}

impl Supervisor {
    /// What looks after these PEs, which are all of the job.
    ///
    /// # Errors
    /// Events of their output cannot be waited for.
    pub fn new(
        (epoll, signals): (Epoll, Reader),
        pes: Pes,
        job: Job,
        profile: Option<Profile>,
    ) -> io::Result<Supervisor> {
        Ok(Supervisor {
            epoll,
            signals,
            output: Output::new(STREAMS)?,
            pes,
            job,
            profile,
            relay: None,
            debugged: None,
            timeout: None,
            ran: None,
            verdict: Verdict::default(),
            remote: None,
        })
    }

    /// From the start of the first PE to the end of the last.
    pub fn ran(&self) -> Duration {
        self.ran.map_or(Duration::ZERO, |(begin, end)| end.saturating_duration_since(begin))
    }

    /// Runs until the job has ended; returns its exit status. A job that could not be started as a whole is ended, too.
    pub fn run(&mut self, mut watchdog: Watchdog, refused: Option<(i32, String)>) -> io::Result<i32> {
        self.epoll.add(&self.signals, SIGNALS, Interest::Read)?;
        self.epoll.add(self.output.wake(), WAKE, Interest::Read)?;
        if let Some((status, message)) = refused {
            self.conclude(Some(message), status);
        }
        self.poll_input();
        self.reap(&mut watchdog);
        while !self.pes.all_ended() || self.pes.groups_remain() {
            if self.pes.all_ended() && self.verdict.ending.is_none() {
                // Only what PEs have left behind remains: it goes with them.
                self.verdict.ending = Some(Ending::new(Instant::now()));
            }
            self.look_at_background(&mut watchdog);
            if !self.keep_time() {
                break;
            }
            let events = self.epoll.wait(self.next_deadline())?;
            for token in events {
                self.dispatch(token, &mut watchdog);
            }
        }
        self.stop(&watchdog)?;
        self.end_orphans()?;
        self.report_losses();
        self.flush()?;
        self.hand_over()?;
        Ok(self.verdict.status.unwrap_or(0))
    }

    fn dispatch(&mut self, token: u64, watchdog: &mut Watchdog) {
        match token {
            SIGNALS => {
                while let Some(number) = self.signals.next() {
                    self.signal(number);
                }
                self.reap(watchdog);
                self.stop_with_debugger();
            }
            WAKE => self.resume_output(),
            TERMINAL | RELAY => input::ready(token, &mut self.relay, &self.epoll),
            other => self.stream_ready(other),
        }
    }

    /// What comes from PEs and from the head.
    fn stream_ready(&mut self, token: u64) {
        match token {
            LINK | SNAPSHOT => self.link_ready(token),
            WIREUPS.. => self.wireup_ready((token - WIREUPS) as usize),
            stream => {
                let typed = self.relay.is_some() || self.remote.as_ref().is_some_and(|remote| remote.prompt);
                self.output.ready(stream, typed, &self.epoll);
            }
        }
    }

    fn signal(&mut self, number: i32) {
        let meaning = signals::meaning(number);
        if meaning == Meaning::Child {
            return;
        }
        match number {
            libc::SIGQUIT => self.report_now(number),
            // Nobody is there for it who would not die of it: the user wants to know what the PEs do.
            libc::SIGUSR1 if !self.pes.running().any(|pe| process::handles(self.pes.get(pe).pid, number)) => {
                return self.report_now(number);
            }
            _ => {}
        }
        if meaning == Meaning::End && self.leave_job(number) {
            return;
        }
        if meaning == Meaning::End {
            // Before a PE can act on it.
            self.job.set_interrupted(number);
        }
        self.pes.signal(number);
        match meaning {
            Meaning::End => {
                self.verdict.interrupt.get_or_insert((number, Instant::now()));
                // A second time, whoever asks means it.
                if std::mem::replace(&mut self.verdict.interrupted, true) {
                    self.conclude(None, 128 + number);
                    if let Some(ending) = &mut self.verdict.ending {
                        ending.hurry(Instant::now());
                    }
                }
            }
            Meaning::Pause => self.pause(),
            Meaning::Resume => self.poll_input(),
            Meaning::Child | Meaning::Other => {}
        }
    }

    /// Stops this process, and goes on with the PEs, which are stopped already, when it goes on.
    fn pause(&mut self) {
        let before = Instant::now();
        let debugger = self.debugged.map(|pe| self.pes.get(pe).pid);
        if debugger.is_some() {
            file::take_foreground(0);
        }
        signal::stop_here();
        // Before it goes on: it would be stopped for reading in the background.
        debugger.into_iter().for_each(|group| file::give_foreground(0, group));
        self.pes.signal(libc::SIGCONT);
        self.poll_input();
        let paused = before.elapsed();
        if let Some((_, deadline)) = &mut self.timeout {
            *deadline += paused;
        }
        if let Some(lost) = &mut self.verdict.lost {
            lost.since += paused;
        }
    }

    /// Whoever types Ctrl-Z to the debugger, which has the terminal, stops that: the job stops with it.
    fn stop_with_debugger(&mut self) {
        let stopped = |pe: &u32| process::is_stopped(self.pes.get(*pe).pid);
        if self.verdict.ending.is_none() && self.debugged.as_ref().is_some_and(stopped) {
            self.pes.signal(libc::SIGTSTP);
            self.pause();
        }
    }

    /// Takes every process that has ended.
    fn reap(&mut self, watchdog: &mut Watchdog) {
        while let Wait::Child(pid, ended) = process::wait_any() {
            if pid == watchdog.pid() {
                continue;
            }
            if self.goes_on(pid, ended, watchdog) {
                continue;
            }
            // In this order: the time of the profile is not the shorter one.
            let (seen, now) = (Instant::now(), self.profile.as_ref().map_or(0, Profile::now_ns));
            self.note_end(pid, ended, (seen, now), watchdog);
        }
    }

    /// A process has ended: when, and on the time line of the profile.
    fn note_end(&mut self, pid: i32, ended: Ended, (seen, now): (Instant, u64), watchdog: &mut Watchdog) {
        if let Some(pe) = self.pes.note_end(pid, ended, now, watchdog) {
            self.ran.iter_mut().for_each(|(_, end)| *end = seen);
            self.output.drain(self.pes.place(pe));
            self.decide_exit(pe, ended);
        }
    }

    /// Does what is due. False: nothing more can be done.
    fn keep_time(&mut self) -> bool {
        let now = Instant::now();
        self.probe_head(now);
        self.look_at_calls(now);
        if self.verdict.ending.is_none()
            && let Some((limit, deadline)) = self.timeout
            && now >= deadline
        {
            self.report_timeout(limit);
            self.end(124);
        }
        if self.verdict.ending.is_none() {
            self.handle_exit_request(None, now);
        }
        self.check_lost(now);
        if self.relay.as_ref().is_some_and(Relay::is_resumed) {
            self.poll_input();
        }
        self.check_deaf(now);
        self.output.prompt(now);
        let step = self.verdict.ending.as_mut().and_then(|ending| ending.step(now));
        match step {
            Some(Step::Send(signal)) => {
                self.pes.end(signal);
                self.pes.signal(libc::SIGCONT);
                true
            }
            Some(Step::GiveUp) => {
                let left: Vec<String> = self.pes.running().map(|pe| self.who(pe).to_string()).collect();
                self.say(&format!("cannot be ended, not even by SIGKILL: {}", left.join(", ")));
                false
            }
            None => true,
        }
    }

    /// Takes note of PEs that make calls, for reports on those that do not.
    fn look_at_calls(&mut self, now: Instant) {
        if self.verdict.next_look.is_some_and(|next| now < next) {
            return;
        }
        self.verdict.next_look = Some(now + LOOK);
        if let Some(profile) = &self.profile {
            profile.look_at_calls(&mut self.verdict.calls);
        }
    }

    fn next_deadline(&self) -> Option<Duration> {
        let verdict = &self.verdict;
        let times = match &verdict.ending {
            Some(ending) => [Some(ending.next()), None],
            None => {
                [self.timeout.map(|(_, deadline)| deadline), verdict.lost.as_ref().map(|lost| lost.since + LOST_AFTER)]
            }
        };
        let next = times.into_iter().chain([self.output.prompt_due()]).flatten().min();
        let now = Instant::now();
        // PEs ask in memory: without an end of the PE there is no event for it.
        Some(next.map_or(LOOK, |next| next.saturating_duration_since(now).min(LOOK)))
    }

    fn resume_output(&mut self) {
        for failure in self.output.resume(&self.epoll) {
            match failure {
                StreamFailure::Closed(To::Out | To::Err) => self.verdict.closed = true,
                StreamFailure::Error(text) => {
                    self.say(&text);
                    self.verdict.status.get_or_insert(1);
                }
            }
        }
    }

    /// See [`input::poll`].
    fn poll_input(&mut self) {
        input::poll(&mut self.relay, &self.epoll);
    }
}
