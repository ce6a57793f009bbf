//! Starting the daemons, and the PEs when all daemons are there.

use super::ending::Closing;
use super::losses::Survival;
use super::{Head, Host, LISTENER, Phase, SIGNALS, STREAMS, WAKE};
use crate::ending::Ending;
use crate::handover;
use crate::hosts::addresses::Addresses;
use crate::hosts::agent::{self, Invitation};
use crate::hosts::clock::{self, Measurement};
use crate::hosts::gather::Receiver;
use crate::hosts::key_values::HeadKeyValues;
use crate::hosts::list::Placement;
use crate::hosts::listeners::Listeners;
use crate::hosts::message::{Order, ToDaemon};
use crate::hosts::strangers::Strangers;
use crate::input::Relay;
use crate::job::{self, Failure, raise_limit};
use crate::options::{Options, ProfileChoice as Choice};
use crate::output::Output;
use crate::pes::Pes;
use crate::results::{self, ProfileOutput};
use crate::signals;
use crate::spawn::Start;
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::signal::{Reader, Set};
use crate::sys::{net, process};
use crate::tools;
use crate::watchdog::Watchdog;
use pellucid_core::bootstrap::talk;
use pellucid_profile::clock::realtime_ns;
use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, PipeWriter};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Variables that PEs elsewhere have as this host has them, by the beginning of their names.
const PASSED_ON: [&str; 6] = ["SHMEM_", "SMA_", "GASNET_", "PELLUCID_", "FI_", "OMP_"];
/// Others, by name.
const NAMED: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];
/// What only the PE has a use for that it was meant for.
const PRIVATE: [&str; 7] = [
    "PELLUCID_JOB_FD",
    "PELLUCID_PROFILE_FD",
    "PELLUCID_WIREUP_FD",
    "PELLUCID_PE",
    "PELLUCID_NPES",
    "PELLUCID_IS",
    "PELLUCID_TRACE_CLAIM",
];

/// How long daemons have for ending their PEs, and for what these have recorded, once this oshrun is killed.
const PARTS: Duration = Duration::from_secs(5);

/// What daemons and this oshrun know each other by.
fn secrets() -> Result<[String; 2], Failure> {
    let secret = || net::secret().map_err(|error| Failure::needs("make up a secret (/dev/urandom)", error));
    Ok([secret()?, secret()?])
}

/// What tells of signals, output and connections of daemons.
fn open_epoll(signals: &Reader, listeners: &Listeners) -> io::Result<(Epoll, Output)> {
    let (epoll, output) = (Epoll::new()?, Output::of_agents(STREAMS)?);
    epoll.add(signals, SIGNALS, Interest::Read)?;
    epoll.add(output.wake(), WAKE, Interest::Read)?;
    listeners.register(&epoll, LISTENER)?;
    Ok((epoll, output))
}

impl<'a> Head<'a> {
    /// Starts a daemon on every host.
    pub(super) fn start(options: &'a Options, placements: &[Placement]) -> Result<(Self, Watchdog), Failure> {
        let needs = Failure::needs;
        let oshrun = env::current_exe().map_err(|error| needs("find the file of oshrun", error))?;
        let limit = raise_limit(placements.len() as u32, &format!("{} hosts", placements.len()))?;
        let tools = tools::list(options).map_err(|message| Failure { status: 1, message })?;
        let npes = placements.last().map_or(0, |last| last.pes.end);
        let mut environment = passed_on(env::vars_os());
        environment.extend(job::environment(&Options { pes: npes, ..options.clone() }, tools));
        let [secret, answer] = secrets()?;
        let trace = results::take_trace(options)?;
        let kept = ProfileOutput::take(options)?;

        let mask = Set::of(&[]).block();
        let signals = signals::take().map_err(|error| needs("read signals", error))?;
        let mut watchdog = Watchdog::start(PARTS)?;
        // After the watchdog, which is forked while there is one thread.
        let names = placements.iter().map(|place| place.host.as_str());
        let addresses = Addresses::find(options.launch_agent.is_some(), names);
        let listeners = Listeners::open(addresses.all());
        let listeners = listeners.map_err(|error| needs("wait for connections of the hosts", error))?;
        let (epoll, output) = open_epoll(&signals, &listeners).map_err(|error| needs("wait for events", error))?;
        let since = Instant::now();
        let mut head = Self {
            options,
            epoll,
            signals,
            output,
            agents: Pes::new(0),
            hosts: placements.iter().map(|place| Host::new(options, place, &oshrun)).collect(),
            links: HashMap::new(),
            strangers: Strangers::new(placements.len()),
            next_link: 0,
            listeners,
            secret,
            answer,
            relay: None,
            key_values: HeadKeyValues::new(placements.len()),
            environment,
            begin: (clock::counter_ns(), realtime_ns()),
            since,
            deadline: options.timeout.map(|timeout| since + timeout),
            asked: None,
            reports: 0,
            received: Receiver::default(),
            kept,
            trace,
            status: None,
            closing: Closing::default(),
            interrupted: false,
            lost: None,
            looked: None,
            survival: Survival::default(),
        };
        let start = |head: &mut Self, host, watchdog| {
            let start = Start { watchdog, limit, mask, cpus: None, keep: None, terminal: false, debugged: false };
            head.start_host(host, &oshrun, &addresses, start)
        };
        head.start_hosts(start, &mut watchdog).map_err(|error| needs("wait for the hosts", error))?;
        Ok((head, watchdog))
    }

    /// Where PEs run: `--wdir`, from here.
    fn directory(&self) -> OsString {
        let here = current_directory();
        self.options.wdir.as_ref().map_or(here.clone(), |wdir| here.join(wdir)).into()
    }

    /// `--output`, from here: each host has the files of its PEs.
    fn output(&self) -> String {
        let here = current_directory();
        self.options.output.as_ref().map_or_else(String::new, |name| here.join(name).display().to_string())
    }

    /// Starts all hosts by `start`, and answers those that are there meanwhile: they do not wait for ever.
    fn start_hosts(
        &mut self,
        start: impl Fn(&mut Self, usize, i32) -> bool,
        watchdog: &mut Watchdog,
    ) -> io::Result<()> {
        for host in 0..self.hosts.len() {
            if self.is_ending() || !start(self, host, watchdog.fd()) {
                // What is the matter with one agent is with all.
                self.hosts[host..].iter_mut().for_each(|host| (host.phase, host.abandoned) = (Phase::Lost, true));
                break;
            }
            self.handle_events(Some(Duration::ZERO), watchdog)?;
            self.probe_daemons(Instant::now());
        }
        self.since = Instant::now();
        for host in 0..self.hosts.len() {
            if self.hosts[host].phase == Phase::Connected && !self.hosts[host].clock.has_begun() {
                self.measure(host);
            }
        }
        self.poll_input();
        Ok(())
    }

    /// Starts the part of a host. False: it cannot be.
    fn start_host(&mut self, host: usize, oshrun: &Path, addresses: &Addresses, start: Start) -> bool {
        let place = &self.hosts[host].place;
        let command = agent::command(self.options, place, oshrun);
        let invitation = Invitation {
            host: host as u32,
            secret: self.secret.clone(),
            answer: self.answer.clone(),
            addresses: self.listeners.ports(addresses.of(&place.host)),
            name: place.host.clone(),
        };
        let started = agent::start(&command, start, &invitation).and_then(|(started, input)| {
            self.output.add("", started.out, started.err, &self.epoll)?;
            self.agents.add(started.pid);
            if host == 0 { self.feed(input) } else { Ok(()) }
        });
        if let Err(error) = &started {
            self.refused(host, &command[0], error);
        }
        started.is_ok()
    }

    /// PE 0 gets our input.
    fn feed(&mut self, mut input: PipeWriter) -> io::Result<()> {
        if io::stdin().is_terminal() {
            self.relay = Some(Relay::new(input)?);
            return Ok(());
        }
        // A file cannot be waited for, and a pipe may be shared: a thread of its own reads it. It ends with the
        // process.
        let copy = move || {
            Set::all().mask();
            let _ = io::copy(&mut io::stdin().lock(), &mut input);
        };
        std::thread::Builder::new().name("oshrun-input".into()).spawn(copy).map(drop)
    }

    /// Starts the PEs, when every host is ready: a job that cannot be started as a whole is not started.
    pub(super) fn start_pes(&mut self) {
        if self.is_ending() || self.hosts.iter().any(|host| host.phase != Phase::Ready) {
            return;
        }
        // Everybody is here: who connects from now on, or has not said who it is, is no part of the job.
        self.stop_listening();
        let runs = talk::runs(self.hosts.iter().map(|host| host.place.pes.len() as u32));
        let npes = self.hosts.last().map_or(0, |host| host.place.pes.end);
        let now = Instant::now();
        self.closing.ran = Some((now, now));
        for number in 0..self.hosts.len() {
            let host = &self.hosts[number];
            // The begin of the job on the host's own counter.
            let offset = host.offset.map_or(0, |offset| offset.ns);
            let order = Order {
                npes,
                first: host.place.pes.start,
                pes: host.place.pes.len() as u32,
                host: host.place.host.clone(),
                hosts: runs.clone(),
                program: self.options.program.clone(),
                args: self.options.args.clone(),
                environment: self.environment.clone(),
                directory: self.directory(),
                label: self.options.label,
                bind: self.options.bind.bind.as_ref().map(ToString::to_string).unwrap_or_default(),
                cores: self.options.bind.cores.unwrap_or(0),
                output: self.output(),
                profile: match self.options.profile {
                    Choice::Off => None,
                    Choice::Silent => Some(false),
                    Choice::Level(_) => Some(true),
                },
                trace: self.trace.is_some(),
                prompt: number == 0 && self.relay.is_some(),
                start_realtime: self.begin.1,
                start_counter_ns: self.begin.0.saturating_add_signed(offset.saturating_neg()),
                root_pid: process::id() as u32,
                step: handover::identity(&self.environment).step,
                survive: self.options.survive,
            };
            self.hosts[number].phase = Phase::Running;
            self.send(number, &ToDaemon::Start { order: Box::new(order) });
            // It looks for files and starts PEs.
            self.expect_silence(number);
        }
    }
}

impl Host {
    fn new(options: &Options, place: &Placement, oshrun: &Path) -> Self {
        Self {
            place: place.clone(),
            command: agent::command(options, place, oshrun).join(" "),
            phase: Phase::Starting,
            is_slow: false,
            deaf: false,
            begun: false,
            link: None,
            clock: Measurement::default(),
            offset: None,
            drift: (0, 0),
            agent: None,
            gone: None,
            reaping: None,
            abandoned: false,
        }
    }

    /// Ends its agent from this moment on.
    pub(super) fn reap_from(&mut self, when: Instant) {
        self.reaping.get_or_insert_with(|| Ending::new(when));
    }
}

/// Error: the directory that PEs are to run in was removed, and nobody knows its name.
pub(super) fn check_directory(options: &Options) -> Result<(), Failure> {
    let is_found =
        options.wdir.as_ref().is_some_and(|wdir| wdir.is_absolute()) || !current_directory().as_os_str().is_empty();
    match env::current_dir() {
        Err(error) if !is_found => Err(Failure::needs("find the current directory", error)),
        _ => Ok(()),
    }
}

/// The directory that this process is in, by the name that the user knows it by: what its links lead to may have
/// another name on other hosts.
fn current_directory() -> PathBuf {
    let named = env::var_os("PWD").map(PathBuf::from).filter(|named| named.is_absolute());
    // One that was removed has its name still, and may be there on other hosts.
    let Ok(real) = env::current_dir() else { return named.unwrap_or_default() };
    let is_it = |named: &PathBuf| match (named.metadata(), real.metadata()) {
        (Ok(named), Ok(real)) => (named.dev(), named.ino()) == (real.dev(), real.ino()),
        _ => false,
    };
    named.filter(is_it).unwrap_or(real)
}

/// Those of the variables that PEs on other hosts get.
fn passed_on(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    all.filter(|(name, _)| {
        let name = name.to_string_lossy();
        let begins = PASSED_ON.iter().any(|prefix| name.starts_with(prefix)) && !PRIVATE.contains(&&*name);
        begins || NAMED.contains(&&*name)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_library_are_passed_on() {
        let passed = ["PATH", "LD_LIBRARY_PATH", "SHMEM_DEBUG", "SMA_INFO", "GASNET_MAX_SEGSIZE", "FI_PROVIDER"];
        let all = ["HOME", "PELLUCID_PE", "SHMEMX"].iter().chain(&passed);
        let all = all.map(|name| (OsString::from(name), OsString::from("x")));
        let names: Vec<_> = passed_on(all).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, passed);
    }
}
