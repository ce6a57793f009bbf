//! The head: starts the daemons, relays what they write, decides how the job ends.
//!
//! Every daemon has its connection to the head: some thousands of hosts are what one process can look after.

mod ending;
mod losses;
mod messages;
mod report;
mod start;

use super::clock::{Measurement, Offset};
use super::gather::Receiver;
use super::key_values::HeadKeyValues;
use super::link::Link;
use super::list::Placement;
use super::listeners::Listeners;
use super::message::ToDaemon;
use super::strangers::Strangers;
use crate::ending::Ending;
use crate::input::{self, RELAY, Relay, TERMINAL};
use crate::job::{Failure, Outcome};
use crate::options::Options;
use crate::output::{Output, StreamFailure as Stream};
use crate::pes::Pes;
use crate::results::ProfileOutput;
use crate::signals::{self, Meaning};
use crate::sink::To;
use crate::supervise::Lost;
use crate::sys::epoll::Epoll;
use crate::sys::process::{self, Ended, Wait};
use crate::sys::signal::{self, Reader};
use crate::watchdog::Watchdog;
use ending::Closing;
use losses::Survival;
use pellucid_profile::output::OutputDir;
use report::PendingReport;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tokens of the loop's descriptors, beside those of [`input`]. Those of the agents' streams follow.
const SIGNALS: u64 = 0;
const WAKE: u64 = 1;
const STREAMS: u64 = 4;
/// Where daemons connect.
const LISTENER: u64 = 1 << 40;
/// The first token of connections.
const CONNECTIONS: u64 = 1 << 41;

/// How often time is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How far a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Its agent was started.
    Starting,
    /// Its daemon has connected; the clock is being measured.
    Connected,
    /// It waits for the others.
    Ready,
    /// Its PEs run.
    Running,
    /// Its PEs have ended; the clock is measured again.
    Ended,
    /// It sends what they have recorded.
    Collecting,
    /// It has nothing more to do.
    Done,
    /// It cannot be reached.
    Lost,
}

/// A host.
struct Host {
    place: Placement,
    /// How its daemon is started, for messages.
    command: String,
    phase: Phase,
    /// All its PEs wait inside the library, and a signal that asks for the end comes to nothing.
    deaf: bool,
    /// All its PEs are out of `shmem_init`.
    begun: bool,
    /// That its daemon takes long has been said.
    is_slow: bool,
    link: Option<u64>,
    clock: Measurement,
    /// What the clock was found to be off by at the begin.
    offset: Option<Offset>,
    /// Drift of the clock since, and when it was measured on the host's time line.
    drift: (i64, u64),
    /// How the agent ended.
    agent: Option<Ended>,
    /// The connection is gone: since when, and why.
    gone: Option<(Instant, String)>,
    /// Its agent is being ended.
    reaping: Option<Ending>,
    /// The agent cannot be ended.
    abandoned: bool,
}

impl Host {
    /// `host b (PEs 2 to 3)`
    fn who(&self) -> String {
        format!("host {} ({})", self.place.host, self.place.pes_text())
    }
}

/// A job on several hosts.
struct Head<'a> {
    options: &'a Options,
    epoll: Epoll,
    signals: Reader,
    output: Output,
    agents: Pes,
    hosts: Vec<Host>,
    /// Connections of hosts.
    links: HashMap<u64, (Link, usize)>,
    strangers: Strangers,
    next_link: u64,
    listeners: Listeners,
    secret: String,
    answer: String,
    relay: Option<Relay>,
    key_values: HeadKeyValues,
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// Begin of the job: on this host's counter, and since 1970.
    begin: (u64, u64),
    since: Instant,
    deadline: Option<Instant>,
    asked: Option<PendingReport>,
    reports: u32,
    received: Receiver,
    kept: Option<Arc<ProfileOutput>>,
    /// Where the trace goes.
    trace: Option<OutputDir>,
    /// Exit status: that of the first thing that went wrong.
    status: Option<i32>,
    closing: Closing,
    interrupted: bool,
    lost: Option<Lost>,
    /// When it was last asked whether somebody waits for that PE.
    looked: Option<Instant>,
    survival: Survival,
}

/// Runs a job on these hosts.
///
/// # Errors
/// Why there is none.
pub fn run(options: &Options, placements: &[Placement]) -> Result<Outcome, Failure> {
    start::check_directory(options)?;
    let (mut head, mut watchdog) = Head::start(options, placements)?;
    let waited = |error: io::Error| Failure::needs("wait for the hosts", error);
    while !head.is_over() {
        head.keep_time();
        head.handle_events(Some(LOOK), &mut watchdog).map_err(waited)?;
    }
    head.agents.signal(libc::SIGTERM);
    watchdog.stop();
    head.report_losses();
    head.flush().map_err(waited)?;
    let ran = head.closing.ran.map(|(begin, end)| end.duration_since(begin)).unwrap_or_default();
    Ok(Outcome { status: head.conclude(), ran })
}

impl Head<'_> {
    fn is_over(&self) -> bool {
        let over = |host: &Host| host.phase >= Phase::Done && (host.agent.is_some() || host.abandoned);
        self.hosts.iter().all(over)
    }

    /// Does what there is to do. Waits so long for something.
    fn handle_events(&mut self, most: Option<Duration>, watchdog: &mut Watchdog) -> io::Result<()> {
        for token in self.epoll.wait(most)? {
            self.dispatch(token, watchdog);
        }
        // Once for all that have come together: it writes the numbers of all PEs.
        if !self.received.snapshots.is_empty() {
            self.keep_snapshot();
            for (host, number) in std::mem::take(&mut self.received.snapshots) {
                self.send(host, &ToDaemon::Kept { number });
            }
        }
        Ok(())
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
            TERMINAL | RELAY => input::ready(token, &mut self.relay, &self.epoll),
            LISTENER => self.accept(),
            CONNECTIONS.. => self.read_link(token),
            stream => self.output.ready(stream, self.relay.is_some(), &self.epoll),
        }
    }

    /// Takes every agent that has ended.
    fn reap(&mut self, watchdog: &mut Watchdog) {
        while let Wait::Child(pid, ended) = process::wait_any() {
            if pid == watchdog.pid() {
                continue;
            }
            if let Some(host) = self.agents.note_end(pid, ended, 0, watchdog) {
                self.output.drain(host as usize);
                self.agent_ended(host as usize, ended);
            }
        }
    }

    fn send(&mut self, host: usize, message: &ToDaemon) {
        let link = self.hosts[host].link.and_then(|token| self.links.get_mut(&token));
        if let Some((link, _)) = link {
            link.send(message, &self.epoll);
        }
    }

    /// A host has to do what may take a while, and says nothing until it is done.
    fn expect_silence(&mut self, host: usize) {
        let link = self.hosts[host].link.and_then(|token| self.links.get_mut(&token));
        link.into_iter().for_each(|(link, _)| link.be_patient());
    }

    fn send_all(&mut self, message: &ToDaemon) {
        for host in 0..self.hosts.len() {
            if self.hosts[host].phase == Phase::Running {
                self.send(host, message);
            }
        }
    }

    fn signal(&mut self, number: i32) {
        let meaning = signals::meaning(number);
        if meaning == Meaning::Child {
            return;
        }
        let running = self.hosts.iter().any(|host| host.phase >= Phase::Running);
        if meaning == Meaning::End && !running {
            self.output.say(&format!("{} before all hosts were ready", pellucid_core::os::signal::describe(number)));
            return self.end(128 + number);
        }
        // A report first: it goes to the PEs when that is done.
        if matches!(number, libc::SIGQUIT | libc::SIGUSR1) && !self.is_ending() {
            return self.ask(report::Why::Signal(number));
        }
        self.forward(number, meaning);
    }

    fn forward(&mut self, number: i32, meaning: Meaning) {
        self.send_all(&ToDaemon::Signal { number });
        match meaning {
            Meaning::End => {
                self.closing.hurried |= self.is_ending();
                // A second time, whoever asks means it.
                if std::mem::replace(&mut self.interrupted, true) {
                    self.end(128 + number);
                    self.send_all(&ToDaemon::Hurry {});
                    self.give_up_gathering();
                }
            }
            Meaning::Pause => {
                // Whoever has a connection expects to hear of us.
                (0..self.hosts.len()).for_each(|host| self.send(host, &ToDaemon::Pause {}));
                let before = Instant::now();
                signal::stop_here();
                let paused = before.elapsed();
                self.deadline.iter_mut().for_each(|deadline| *deadline += paused);
                self.lost.iter_mut().for_each(|lost| lost.since += paused);
                self.send_all(&ToDaemon::Signal { number: libc::SIGCONT });
                self.poll_input();
            }
            Meaning::Resume => self.poll_input(),
            Meaning::Child | Meaning::Other => {}
        }
    }

    fn resume_output(&mut self) {
        for failure in self.output.resume(&self.epoll) {
            match failure {
                Stream::Closed(to) => self.send_all(&ToDaemon::Closed { error: to == To::Err }),
                Stream::Error(text) => {
                    self.output.say(&text);
                    self.status.get_or_insert(1);
                }
            }
        }
    }

    /// See [`input::poll`].
    fn poll_input(&mut self) {
        input::poll(&mut self.relay, &self.epoll);
    }
}
