//! How the job ends, and what is done then.

use super::{Head, Host, Phase, SIGNALS, WAKE};
use crate::ending::Step;
use crate::handover;
use crate::hosts::clock;
use crate::hosts::message::{ToDaemon, ToHead};
use crate::input::Relay;
use crate::results;
use crate::signals::{self, Meaning};
use crate::source::Oshprof;
use crate::sys::process::{self, Ended};
use pellucid_core::os::process::host_name;
use pellucid_core::os::processes;
use pellucid_profile::model::{Job, LIBRARY, Profile};
use pellucid_profile::report;
use pellucid_profile::text;
use std::env;
use std::io;
use std::time::{Duration, Instant};

/// How long a daemon may take to connect after its agent was started.
const CONNECT: Duration = Duration::from_secs(60);
/// After this long, a daemon that has not connected is named.
const SLOW: Duration = Duration::from_secs(5);
/// How long the end of an agent is awaited when its daemon has gone: it may say why.
const REASON: Duration = Duration::from_millis(300);
/// How long the part of a lost host has for ending its PEs before its agent is ended.
const GRACE: Duration = Duration::from_secs(1);
/// How long a job may take to end before hosts are named that hold it up, of which nothing was heard for that long.
const WAITING: Duration = Duration::from_secs(3);
/// Hosts that a message names.
const NAMED: usize = 8;
/// How long output is awaited from whoever holds an agent's streams.
const LAST_OUTPUT: Duration = Duration::from_millis(200);
/// How long our reader may hold up the end of a job that was ended by a signal.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// What is known of the end of a job, and was said of it.
#[derive(Default)]
pub(super) struct Closing {
    /// The PE that has called `shmem_global_exit`, if that is why the job is being ended.
    pub asked_by: Option<u32>,
    /// Since when the job is being ended, and whether was said what holds that up.
    since: Option<(Instant, bool)>,
    /// Whoever asks for the end has asked while the job was being ended.
    pub hurried: bool,
    /// The job does not end by itself: what went wrong was said.
    cut_short: bool,
    /// That a signal came to the part of a host was said.
    signalled: bool,
    /// That a part of the trace is missing was said.
    pub trace_problem: bool,
    /// When PEs were started, and when a host said last that its PEs have ended.
    pub ran: Option<(Instant, Instant)>,
}

impl Head<'_> {
    /// Whether the job is being ended.
    pub(super) fn is_ending(&self) -> bool {
        self.closing.since.is_some()
    }

    /// Decides how the job ends, unless that is decided.
    pub(super) fn decide_exit(&mut self, text: Option<String>, status: i32) {
        if !self.is_ending() {
            text.iter().for_each(|text| self.output.say(text));
            self.closing.cut_short = text.is_some();
            self.end(status);
        }
    }

    /// Begins to end the job with this status, unless something gave it one before.
    pub(super) fn end(&mut self, status: i32) {
        self.status.get_or_insert(status);
        if self.is_ending() {
            return;
        }
        self.closing.since = Some((Instant::now(), false));
        let asked_by = self.closing.asked_by;
        for host in 0..self.hosts.len() {
            match self.hosts[host].phase {
                Phase::Starting => self.hosts[host].reap_from(Instant::now()),
                Phase::Connected | Phase::Ready => self.dismiss(host),
                Phase::Running => self.send(host, &ToDaemon::End { asked_by, status }),
                Phase::Ended | Phase::Collecting | Phase::Done | Phase::Lost => {}
            }
        }
    }

    /// What PEs have recorded stays where it is, on hosts whose PEs have ended.
    pub(super) fn give_up_gathering(&mut self) {
        for host in 0..self.hosts.len() {
            if matches!(self.hosts[host].phase, Phase::Ended | Phase::Collecting) {
                self.dismiss(host);
            }
        }
    }

    /// An agent could not be started.
    pub(super) fn refused(&mut self, host: usize, command: &str, error: &io::Error) {
        let name = &self.hosts[host].place.host;
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "not found".into(),
            _ => processes::refused(error),
        };
        let text = format!("host {name}: the launch agent {command:?} cannot be started: {reason}");
        self.decide_exit(Some(text), 1);
    }

    /// An agent has ended.
    pub(super) fn agent_ended(&mut self, number: usize, ended: Ended) {
        let host = &mut self.hosts[number];
        host.agent = Some(ended);
        match host.phase {
            Phase::Starting => {
                let printed = self.output.take_held(number);
                let host = &mut self.hosts[number];
                host.phase = Phase::Lost;
                let text = format!(
                    "host {}: oshrun could not be started there: `{}` {}{}",
                    host.place.host,
                    host.command,
                    describe(ended),
                    indented(&printed)
                );
                self.decide_exit(Some(text), 1);
            }
            Phase::Done | Phase::Lost => {}
            // The connection says more, if it ends too.
            _ => {
                let why = "its launch agent has ended".to_string();
                host.gone.get_or_insert((Instant::now(), why));
            }
        }
    }

    /// A connection has ended.
    pub(super) fn disconnected(&mut self, host: usize, why: String) {
        let host = &mut self.hosts[host];
        if host.phase < Phase::Done {
            host.gone = Some((Instant::now(), why));
        }
    }

    /// A host cannot be reached any more.
    pub(super) fn lose(&mut self, number: usize, why: &str) {
        let host = &mut self.hosts[number];
        let agent = host.agent.map_or(String::new(), |ended| format!("; `{}` {}", host.command, describe(ended)));
        let text = format!("lost {}: {why}{agent}", host.who());
        let goes_on = host.phase == Phase::Running && host.begun && self.options.survive && !self.is_ending();
        self.leave(number, Instant::now() + GRACE);
        if goes_on {
            return self.go_on_without_host(number, text);
        }
        self.decide_exit(Some(text), 1);
    }

    /// The part of a host has got a signal that asks for the end, which was not from here.
    pub(super) fn signalled(&mut self, number: usize, signal: i32) {
        let host = &self.hosts[number];
        if self.is_ending() || host.phase >= Phase::Done {
            return;
        }
        let what = format!("its oshrun got {}", pellucid_core::os::signal::describe(signal));
        if host.phase > Phase::Running || (self.options.survive && host.begun) {
            return self.lose(number, &what);
        }
        // Those of all hosts may get one, as when a batch job is cancelled.
        if !std::mem::replace(&mut self.closing.signalled, true) && !self.interrupted {
            self.output.say(&format!("host {}: {what}", host.place.host));
        }
        if host.phase < Phase::Running {
            self.end(128 + signal);
        }
    }

    /// Shows all daemons that this oshrun is there, and finds those of which nothing is heard.
    pub(super) fn probe_daemons(&mut self, now: Instant) {
        let mut silent = Vec::new();
        for (token, (link, host)) in &mut self.links {
            if let Some(why) = link.silence(now) {
                silent.push((*token, *host, why));
            } else if link.beat_due(now) {
                link.send(&ToDaemon::Beat {}, &self.epoll);
            }
        }
        for (token, host, why) in silent {
            self.drop_link(token);
            self.disconnected(host, why);
        }
        self.strangers.drop_late(now, &self.epoll);
    }

    /// Does what is due.
    pub(super) fn keep_time(&mut self) {
        let now = Instant::now();
        self.probe_daemons(now);
        for number in 0..self.hosts.len() {
            self.look_after(number, now);
        }
        self.ask_when_due(now);
        self.look_at_ending(now);
        if self.closing.cut_short {
            // The parts of the hosts wait until what they pass on is taken.
            self.output.give_up_stuck(now);
        }
        if self.relay.as_ref().is_some_and(Relay::is_resumed) {
            self.poll_input();
        }
        self.output.prompt(now);
    }

    /// Says which hosts hold up the end of the job. Where whoever asks for it asks again, they are not waited for.
    fn look_at_ending(&mut self, now: Instant) {
        let Some((since, said)) =
            self.closing.since.filter(|(since, said)| self.closing.hurried || (now >= *since + WAITING && !said))
        else {
            return;
        };
        let silence = |host: &Host| {
            let (link, _) = host.link.and_then(|token| self.links.get(&token))?;
            (host.phase < Phase::Done && link.silent() >= WAITING).then(|| link.silent().as_secs())
        };
        let silent: Vec<(usize, u64)> =
            self.hosts.iter().enumerate().filter_map(|(number, host)| Some((number, silence(host)?))).collect();
        let Some(least) = silent.iter().map(|(_, seconds)| *seconds).min() else { return };
        if !said {
            self.closing.since = Some((since, true));
            let names: Vec<String> = silent.iter().take(NAMED).map(|(number, _)| self.hosts[*number].who()).collect();
            let more = match silent.len() - names.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let what = if self.closing.hurried { "not waiting" } else { "waiting" };
            self.output
                .say(&format!("{what} for {}{more}: nothing was heard from there for {least} s", names.join(", ")));
        }
        if self.closing.hurried {
            silent.into_iter().for_each(|(number, _)| self.leave(number, now));
        }
    }

    /// Waits for a host no longer: its PEs end with the connection, its agent is ended from this moment on.
    fn leave(&mut self, number: usize, reaped: Instant) {
        self.hosts[number].phase = Phase::Lost;
        self.hosts[number].gone = None;
        self.hosts[number].reap_from(reaped);
        if let Some(token) = self.hosts[number].link {
            self.drop_link(token);
        }
    }

    fn look_after(&mut self, number: usize, now: Instant) {
        let is_ending = self.is_ending();
        let host = &mut self.hosts[number];
        if host.abandoned {
            return;
        }
        if let Some((since, why)) = &host.gone
            && (now >= *since + REASON || (host.agent.is_some() && host.link.is_none()))
        {
            let why = why.clone();
            return self.lose(number, &why);
        }
        if host.phase == Phase::Starting && !is_ending && now >= self.since + SLOW && !host.is_slow {
            host.is_slow = true;
            let (name, seconds, most) = (&host.place.host, SLOW.as_secs(), CONNECT.as_secs());
            let text = format!(
                "host {name}: no answer from `{}` for {seconds} s; the job begins when it comes, and ends after {most} \
                 s",
                host.command
            );
            return self.output.say(&text);
        }
        if host.phase == Phase::Starting && now >= self.since + CONNECT {
            let printed = self.output.take_held(number);
            let host = &mut self.hosts[number];
            host.phase = Phase::Lost;
            host.reap_from(now);
            let text = format!(
                "host {}: oshrun has not answered from there within {} s of `{}`{}",
                host.place.host,
                CONNECT.as_secs(),
                host.command,
                indented(&printed)
            );
            return self.decide_exit(Some(text), 1);
        }
        if host.phase == Phase::Starting && is_ending && host.agent.is_some() {
            host.phase = Phase::Lost;
        }
        if host.agent.is_some() {
            return;
        }
        match host.reaping.as_mut().and_then(|reaping| reaping.step(now)) {
            Some(Step::Send(signal)) => {
                process::signal_group(self.agents.get(number as u32).pid, signal);
            }
            Some(Step::GiveUp) => {
                host.abandoned = true;
                host.phase = host.phase.max(Phase::Done);
            }
            None => {}
        }
    }

    pub(super) fn received_profile(&mut self, number: usize, pe: u32, snapshot: u32, piece: &[u8], last: bool) {
        let (drift, at) = if snapshot == 0 { self.hosts[number].drift } else { (0, 0) };
        match self.received.profile(pe, piece, last) {
            Ok(Some(pe)) => pe.move_to(|time| clock::corrected(time, drift, at)),
            Ok(None) => {}
            Err(problem) => self.output.say(&format!("profile: {problem}")),
        }
    }

    /// Writes what is there of the profile while the job runs.
    pub(super) fn keep_snapshot(&mut self) {
        let Some(kept) = self.kept.clone() else { return };
        let profile = self.profile(None);
        if let Err(error) = pellucid_profile::file::write(&profile, kept.directory()) {
            kept.complain(&error);
        }
    }

    fn profile(&self, exit_status: Option<i32>) -> Profile {
        let pes: Vec<_> = self.received.pes.values().cloned().collect();
        let now = clock::counter_ns().saturating_sub(self.begin.0);
        let last = pes.iter().map(|pe| pe.end_ns).max().unwrap_or(now);
        let arguments: Vec<String> = self.options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let job = Job {
            program: self.options.program.to_string_lossy().into_owned(),
            arguments: text::arguments(&arguments),
            directory: env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            host: host_name(),
            npes: self.hosts.last().map_or(0, |host| host.place.pes.end),
            start_realtime_ns: self.begin.1,
            wall_ns: if exit_status.is_some() { last } else { now },
            exit_status,
            library: LIBRARY.to_owned(),
            identity: handover::identity(&self.environment),
            transport: self.received.transport.clone(),
        };
        Profile { job, pes }
    }

    /// Passes on what is left of the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.relay = None;
        self.stop_listening();
        let give_up = Instant::now() + LAST_OUTPUT;
        let mut interrupted_at = self.interrupted.then(Instant::now);
        loop {
            let now = Instant::now();
            if self.closing.cut_short {
                self.output.give_up_stuck(now);
            }
            if now >= give_up && self.output.is_written() {
                self.output.close();
            }
            if self.output.is_closed() && self.output.is_written() {
                self.resume_output();
                return Ok(());
            }
            if interrupted_at.is_some_and(|since| now >= since + LAST_WRITE) {
                return Ok(());
            }
            for token in self.epoll.wait(Some(LAST_OUTPUT))? {
                match token {
                    SIGNALS => {
                        while let Some(number) = self.signals.next() {
                            if signals::meaning(number) == Meaning::End {
                                self.status.get_or_insert(128 + number);
                                interrupted_at.get_or_insert(now);
                            }
                        }
                    }
                    WAKE => self.resume_output(),
                    super::STREAMS..super::LISTENER => self.output.ready(token, false, &self.epoll),
                    super::CONNECTIONS.. => {
                        if let Some((link, _)) = self.links.get_mut(&token) {
                            let (_, end) = link.ready::<ToHead>(&self.epoll);
                            if end.is_some() {
                                self.drop_link(token);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Shows trace and profile; returns the exit status.
    pub(super) fn conclude(mut self) -> i32 {
        let status = self.status.unwrap_or(0);
        if let Some(directory) = self.trace.take() {
            let is_missing = |host: &Host| host.phase == Phase::Lost;
            let explained = self.closing.trace_problem || self.hosts.iter().any(is_missing);
            // The daemons have put in what they knew.
            results::show_trace(&directory, explained, |_, _| None);
        }
        if let Some(kept) = self.kept.take() {
            let profile = self.profile(Some(status));
            results::show(&kept, |directory| report::finish_merged(profile, directory, &Oshprof));
        }
        status
    }
}

/// `was killed by signal 9 (kill)`
fn describe(ended: Ended) -> String {
    match ended {
        Ended::Exited(status) => format!("exited with status {status}"),
        Ended::Killed { signal, .. } => format!("was killed by {}", pellucid_core::os::signal::describe(signal)),
    }
}

/// What an agent printed, below what is said of it.
fn indented(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "; it printed nothing".into();
    }
    let shown = &lines[lines.len().saturating_sub(20)..];
    shown.iter().fold("; it printed:".into(), |text, line| format!("{text}\n  {line}"))
}
