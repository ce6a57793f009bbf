//! The loop that runs while the job does: output, input, signals, ends of PEs, deadlines.

use crate::ending::{Ending, Step};
use crate::input::{Next, Relay};
use crate::orphans;
use crate::output::{Failure, Output};
use crate::pes::Pes;
use crate::profile::Profile;
use crate::report::{self, Place, Who};
use crate::signals::{self, Meaning};
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::process::{self, Ended, Wait};
use crate::sys::signal::{self, Reader};
use crate::watchdog::Watchdog;
use pellucid_core::bootstrap::job::{Job, PeState};
use std::io;
use std::time::{Duration, Instant};

/// Tokens of the loop's descriptors. Those of the PEs' streams follow.
const SIGNALS: u64 = 0;
const WAKE: u64 = 1;
const TERMINAL: u64 = 2;
const RELAY: u64 = 3;
/// The first token of the PEs' streams.
pub const STREAMS: u64 = 4;

/// How long a PE may be inside the library after another one has left.
const LOST_AFTER: Duration = Duration::from_secs(5);
/// How long a PE that has asked for the end of the job may take for its own.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How often requests of PEs are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// How long the beginning of a line is kept back from a person at a terminal.
const PROMPT_AFTER: Duration = Duration::from_millis(100);
/// How long output is awaited from processes that hold a PE's streams and cannot be found.
const LAST_OUTPUT: Duration = Duration::from_millis(200);
/// How long our reader may hold up the end of a job that was ended by a signal.
const LAST_WRITE: Duration = Duration::from_secs(1);
/// PEs whose activity is listed one by one.
const LISTED: usize = 64;

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
    /// The time limit and when it is reached.
    pub timeout: Option<(Duration, Instant)>,
    /// What the loop finds out.
    pub verdict: Verdict,
}

/// How the job stands.
#[derive(Default)]
pub struct Verdict {
    /// Exit status: that of the first thing that went wrong.
    status: Option<i32>,
    /// The job is being ended.
    ending: Option<Ending>,
    /// Since when a PE asks for the end.
    asked: Option<Instant>,
    /// A signal to us asked for the end.
    interrupted: bool,
    /// A PE that left, and when: the others are expected to leave too.
    lost: Option<(u32, Instant)>,
    /// Our standard output was closed by its reader.
    closed: bool,
    /// When a line that PE 0 has begun is to be shown: it may be a question to whoever types.
    prompt: Option<Instant>,
}

impl Supervisor {
    /// Runs until the job has ended; returns its exit status. A job that could not be started as a whole is ended, too.
    pub fn run(&mut self, mut watchdog: Watchdog, refused: Option<(i32, String)>) -> io::Result<i32> {
        self.epoll.add(&self.signals, SIGNALS, Interest::Read)?;
        self.epoll.add(self.output.wake(), WAKE, Interest::Read)?;
        if let Some((status, message)) = refused {
            self.output.say(&message);
            self.end(status);
        }
        self.watch_input();
        self.reap(&mut watchdog);
        while !self.pes.all_ended() || self.pes.groups_remain() {
            if self.pes.all_ended() && self.verdict.ending.is_none() {
                // Only what PEs have left behind remains: it goes with them.
                self.verdict.ending = Some(Ending::new(Instant::now()));
            }
            if !self.keep_time() {
                break;
            }
            let events = self.epoll.wait(self.next_deadline())?;
            for token in events {
                self.dispatch(token, &mut watchdog);
            }
        }
        watchdog.stop();
        self.end_orphans()?;
        self.flush()?;
        Ok(self.verdict.status.unwrap_or(0))
    }

    fn dispatch(&mut self, token: u64, watchdog: &mut Watchdog) {
        match token {
            SIGNALS => {
                while let Some(number) = self.signals.next() {
                    self.signal(number);
                }
                self.reap(watchdog);
            }
            WAKE => self.resume_output(),
            TERMINAL | RELAY => {
                if let Some(relay) = &mut self.relay {
                    if token == TERMINAL { relay.read() } else { relay.write() }
                }
                self.watch_input();
            }
            stream => {
                self.output.ready(stream, &self.epoll);
                if stream == STREAMS && self.relay.is_some() {
                    self.verdict.prompt = Some(Instant::now() + PROMPT_AFTER);
                }
            }
        }
    }

    fn signal(&mut self, number: i32) {
        let meaning = signals::meaning(number);
        if meaning == Meaning::Child {
            return;
        }
        self.pes.signal(number);
        match meaning {
            Meaning::End => {
                // A second time, whoever asks means it.
                if std::mem::replace(&mut self.verdict.interrupted, true) {
                    self.end(128 + number);
                    if let Some(ending) = &mut self.verdict.ending {
                        ending.hurry(Instant::now());
                    }
                }
            }
            Meaning::Pause => {
                let before = Instant::now();
                signal::stop_here();
                self.pes.signal(libc::SIGCONT);
                self.watch_input();
                let paused = before.elapsed();
                if let Some((_, deadline)) = &mut self.timeout {
                    *deadline += paused;
                }
                if let Some((_, since)) = &mut self.verdict.lost {
                    *since += paused;
                }
            }
            Meaning::Resume => self.watch_input(),
            Meaning::Child | Meaning::Other => {}
        }
    }

    /// Takes every process that has ended.
    fn reap(&mut self, watchdog: &mut Watchdog) {
        while let Wait::Child(pid, ended) = process::wait_any() {
            if pid == watchdog.pid() {
                continue;
            }
            let now = self.profile.as_ref().map_or(0, Profile::now_ns);
            if let Some(pe) = self.pes.note_end(pid, ended, now, watchdog) {
                self.output.drain(pe);
                self.judge(pe, ended);
            }
        }
    }

    /// Decides what the end of a PE means for the job.
    fn judge(&mut self, pe: u32, ended: Ended) {
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
        let expected = self.verdict.interrupted || (self.verdict.closed && status == 128 + libc::SIGPIPE);
        if !expected && place.state != PeState::Failed {
            let text = report::death(&self.who(pe), ended, &place);
            self.output.say(&text);
        }
        if place.state == PeState::Finalized {
            // Nobody waits for it any more: the others may finish.
            self.verdict.status.get_or_insert(status);
        } else {
            self.end(status);
        }
    }

    /// Ends the job where a PE has asked for it; the reason was given there. The PE itself may finish its exit handlers, so
    /// that what it wrote is not lost, but not for ever. False: nobody asked.
    fn heed_request(&mut self, ended: Option<u32>, now: Instant) -> bool {
        let Some(request) = self.job.exit_request() else { return false };
        let since = *self.verdict.asked.get_or_insert(now);
        if ended.is_some_and(|pe| i64::from(pe) == i64::from(request.pe)) || now >= since + LAST_WORDS {
            self.end(request.status);
        }
        true
    }

    /// Begins to end the job with this status, unless something gave it one before.
    fn end(&mut self, status: i32) {
        self.verdict.status.get_or_insert(status);
        self.verdict.ending.get_or_insert_with(|| Ending::new(Instant::now()));
    }

    /// Does what is due. False: nothing more can be done.
    fn keep_time(&mut self) -> bool {
        let now = Instant::now();
        if self.verdict.ending.is_none()
            && let Some((limit, deadline)) = self.timeout
            && now >= deadline
        {
            self.report_timeout(limit);
            self.end(124);
        }
        if self.verdict.ending.is_none() {
            self.heed_request(None, now);
        }
        self.check_lost(now);
        if self.verdict.prompt.is_some_and(|due| now >= due) {
            self.verdict.prompt = None;
            self.output.prompt();
        }
        let step = self.verdict.ending.as_mut().and_then(|ending| ending.step(now));
        match step {
            Some(Step::Send(signal)) => {
                self.pes.signal(signal);
                self.pes.signal(libc::SIGCONT);
                true
            }
            Some(Step::GiveUp) => {
                let left: Vec<String> = self.pes.running().map(|pe| self.who(pe).to_string()).collect();
                self.output.say(&format!("cannot be ended, not even by SIGKILL: {}", left.join(", ")));
                false
            }
            None => true,
        }
    }

    /// A PE that left is an error where others are inside the library and do not leave: `shmem_finalize` is collective, so
    /// that they would have left by now, had it called that with them.
    fn check_lost(&mut self, now: Instant) {
        let Some((pe, since)) = self.verdict.lost else { return };
        if self.verdict.ending.is_some() || now < since + LOST_AFTER {
            return;
        }
        let inside = |other: &u32| self.job.pe(*other).state() == PeState::Initialized || self.starting(*other);
        let waiting: Vec<u32> = self.pes.running().filter(inside).collect();
        if waiting.is_empty() {
            self.verdict.lost = Some((pe, now));
            return;
        }
        let text = report::lost(&self.who(pe), &self.place(pe), LOST_AFTER.as_secs()) + &self.activities(&waiting);
        self.output.say(&text);
        self.end(1);
    }

    /// Whether a PE is in `shmem_init`.
    fn starting(&self, pe: u32) -> bool {
        let slot = self.job.pe(pe);
        slot.state() == PeState::NotStarted && slot.pid() != 0
    }

    fn report_timeout(&mut self, limit: Duration) {
        let running: Vec<u32> = self.pes.running().collect();
        let text = format!("the job has not ended within {} s (--timeout)", limit.as_secs_f64());
        self.output.say(&(text + &self.activities(&running)));
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

    fn next_deadline(&self) -> Option<Duration> {
        let verdict = &self.verdict;
        let times = match &verdict.ending {
            Some(ending) => [Some(ending.next()), None],
            None => [self.timeout.map(|(_, deadline)| deadline), verdict.lost.map(|(_, since)| since + LOST_AFTER)],
        };
        let next = times.into_iter().chain([verdict.prompt]).flatten().min();
        let now = Instant::now();
        // PEs ask in memory: without an end of the PE there is no event for it.
        Some(next.map_or(LOOK, |next| next.saturating_duration_since(now).min(LOOK)))
    }

    fn resume_output(&mut self) {
        for failure in self.output.resume(&self.epoll) {
            match failure {
                Failure::Closed => self.verdict.closed = true,
                Failure::Error(text) => {
                    self.output.say(&text);
                    self.verdict.status.get_or_insert(1);
                }
            }
        }
    }

    /// Waits for what the relay needs next.
    fn watch_input(&mut self) {
        let Some(relay) = &self.relay else { return };
        let next = relay.next();
        let terminal = io::stdin();
        self.epoll.remove(&terminal);
        self.epoll.remove(relay.pipe());
        let watched = match next {
            Next::Read => self.epoll.add(&terminal, TERMINAL, Interest::Read),
            Next::Write => self.epoll.add(relay.pipe(), RELAY, Interest::Write),
            Next::Pause => Ok(()),
            Next::Stop => Err(io::ErrorKind::BrokenPipe.into()),
        };
        if watched.is_err() {
            self.relay = None;
        }
    }

    /// Ends what left its process group and outlived its parents.
    fn end_orphans(&mut self) -> io::Result<()> {
        let mut ending = Ending::new(Instant::now());
        let mut number = 0;
        loop {
            match ending.step(Instant::now()) {
                Some(Step::Send(signal)) => number = signal,
                Some(Step::GiveUp) => return Ok(()),
                None => {}
            }
            if !orphans::signal(number) {
                return Ok(());
            }
            // Their own orphans become ours one by one, each end of one is a signal: then look again, with the same signal.
            let until = ending.next().saturating_duration_since(Instant::now());
            for token in self.epoll.wait(Some(until))? {
                match token {
                    SIGNALS => while self.signals.next().is_some() {},
                    WAKE => self.resume_output(),
                    TERMINAL | RELAY => self.relay = None,
                    stream => self.output.ready(stream, &self.epoll),
                }
            }
        }
    }

    /// Passes on what is left of the output.
    fn flush(&mut self) -> io::Result<()> {
        self.relay = None;
        let give_up = Instant::now() + LAST_OUTPUT;
        let mut interrupted_at = self.verdict.interrupted.then(Instant::now);
        loop {
            let now = Instant::now();
            if !self.output.is_closed() && now >= give_up && self.output.is_written() {
                self.output.close();
            }
            let closed = self.output.is_closed();
            if closed && self.output.is_written() {
                self.resume_output();
                if self.output.is_written() {
                    return Ok(());
                }
            }
            if interrupted_at.is_some_and(|since| now >= since + LAST_WRITE) {
                return Ok(());
            }
            let wait = match (closed, interrupted_at) {
                (false, _) => Some(LAST_OUTPUT),
                (true, Some(since)) => Some((since + LAST_WRITE).saturating_duration_since(now)),
                (true, None) => None,
            };
            for token in self.epoll.wait(wait)? {
                match token {
                    SIGNALS => {
                        while let Some(number) = self.signals.next() {
                            if signals::meaning(number) == Meaning::End {
                                self.verdict.status.get_or_insert(128 + number);
                                interrupted_at.get_or_insert(now);
                            }
                        }
                    }
                    WAKE => self.resume_output(),
                    TERMINAL | RELAY => {}
                    stream => self.output.ready(stream, &self.epoll),
                }
            }
        }
    }

    fn who(&self, pe: u32) -> Who {
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
