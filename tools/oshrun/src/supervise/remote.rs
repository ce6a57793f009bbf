//! Being a part of a job on several hosts: who decides is the head. What happens here is told to it, and done when it
//! says so.

use super::{SNAPSHOT, Supervisor, WIREUPS};
use crate::ending::Ending;
use crate::hosts::clock;
use crate::hosts::gather::Sender;
use crate::hosts::key_values::{DaemonKeyValues, Do};
use crate::hosts::link::Link;
use crate::hosts::list;
use crate::hosts::message::{ToDaemon, ToHead};
use crate::hosts::snapshots::HostSnapshots;
use crate::report::Place;
use crate::signals::{self, Meaning};
use crate::sink::To;
use crate::sys::epoll::Interest;
use crate::sys::process;
use pellucid_core::bootstrap::agreement::Agreement;
use pellucid_core::bootstrap::job::{ExitKind, ExitRequest, Loss, PeState};
use pellucid_core::bootstrap::talk::{PeRequest, Reply};
use pellucid_core::os::packet;
use pellucid_profile::output::OutputDir;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How often the connection is looked after at least.
const UPKEEP: Duration = Duration::from_millis(250);

/// What a daemon has beside its PEs.
pub struct Remote {
    /// The connection to the head.
    pub link: Link,
    /// This host, as the user calls it.
    pub host: String,
    /// What PEs know of each other.
    pub key_values: DaemonKeyValues,
    /// The PEs' ways to other hosts, by place; `None`: closed.
    pub wireups: Vec<Option<OwnedFd>>,
    /// Whether someone may be typing for PE 0.
    pub prompt: bool,
    /// Where PEs write their trace, to be sent and removed.
    pub trace: Option<OutputDir>,
    /// The head has been told how the job is to end.
    pub told: bool,
    /// The head is gone.
    pub lost: bool,
    /// What the head was told of the PEs: that a signal comes to nothing with them.
    pub deaf: bool,
    /// The head was told that all PEs are out of `shmem_init`.
    pub begun: bool,
    /// The head wants profile and trace: drift of the clock, when, and whether a profile.
    pub collect: Option<(i64, u64, bool)>,
    /// The job is over.
    pub over: bool,
    /// Snapshots that PEs ask for.
    pub snapshots: Option<HostSnapshots>,
}

impl Supervisor {
    /// Says something that decides nothing.
    pub(super) fn say(&mut self, text: &str) {
        match &mut self.remote {
            Some(remote) if !remote.lost => remote.link.send(&ToHead::Note { text: text.into() }, &self.epoll),
            _ => self.output.say(text),
        }
    }

    /// Ends the job with this status, and says why.
    pub(super) fn conclude(&mut self, text: Option<String>, status: i32) {
        let asked_by = self.asked_by();
        match &mut self.remote {
            Some(remote) if !remote.lost => {
                // Once: the head knows, and decides.
                if !std::mem::replace(&mut remote.told, true) {
                    remote.link.send(&ToHead::Verdict { status, text, asked_by }, &self.epoll);
                }
            }
            _ => {
                text.iter().for_each(|text| self.output.say(text));
                self.verdict.cut_short |= text.is_some();
                self.end_quietly(status);
            }
        }
    }

    /// A signal that asks for the end has come to this host's part of the job, from somebody other than the head, which
    /// is told. True: the job goes on without hosts that are lost, as this one is now.
    pub(super) fn leave_job(&mut self, number: i32) -> bool {
        let survives = self.job.survives();
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.lost && !remote.over) else { return false };
        remote.link.send(&ToHead::Signalled { number }, &self.epoll);
        if !survives || !remote.begun || self.verdict.ending.is_some() {
            return false;
        }
        remote.over = true;
        self.pes.signal(number);
        self.verdict.ending = Some(Ending::new(Instant::now()));
        true
    }

    /// A PE has left with status 0.
    pub(super) fn left(&mut self, pe: u32, place: &Place) {
        let who = self.who(pe).to_string();
        match &mut self.remote {
            Some(remote) => {
                let (begun, finalized) = (place.state != PeState::NotStarted, place.state == PeState::Finalized);
                let place = place.at_end();
                remote.link.send(&ToHead::Left { pe, who, place, begun, finalized }, &self.epoll);
            }
            None => self.note_left(pe, place),
        }
    }

    /// A PE has ended with this status, after it had left the library.
    pub(super) fn late(&mut self, pe: u32, place: &Place, status: i32, text: Option<String>) {
        let who = self.who(pe).to_string();
        match &mut self.remote {
            Some(remote) => remote.link.send(&ToHead::Late { pe, who, status, text }, &self.epoll),
            None => {
                text.iter().for_each(|text| self.output.say(text));
                self.verdict.status.get_or_insert(status);
                self.note_left(pe, place);
            }
        }
    }

    /// A wait that leaves time for the connection to the head.
    pub(super) fn at_most(&self, wait: Option<Duration>) -> Option<Duration> {
        if self.remote.is_none() {
            return wait;
        }
        Some(wait.map_or(UPKEEP, |wait| wait.min(UPKEEP)))
    }

    /// Shows that we are here, and notices when the head is not.
    pub(super) fn probe_head(&mut self, now: Instant) {
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.lost && !remote.over) else { return };
        if remote.link.beat_due(now) {
            remote.link.send(&ToHead::Beat {}, &self.epoll);
        }
        if let Some(why) = remote.link.silence(now) {
            return self.head_lost(&why);
        }
        let is_out = |pe| self.job.pe(pe).state() != PeState::NotStarted;
        if self.job.survives() && !remote.begun && self.job.pes().all(is_out) {
            remote.begun = true;
            remote.link.send(&ToHead::Begun {}, &self.epoll);
        }
    }

    /// PEs have agreed with those of other hosts.
    fn agreed(&mut self, waiting: &[(u32, u32)], outcome: &[u8]) {
        let Some(outcome) = Agreement::decode(outcome) else { return };
        let answer = |(pe, id): &(u32, u32)| Do::Answer(*pe, Reply::Agreed { id: *id, outcome: outcome.clone() });
        self.act(waiting.iter().map(answer).collect());
    }

    /// Takes what the head says.
    pub(super) fn link_ready(&mut self, token: u64) {
        if token == SNAPSHOT {
            return self.send_snapshot();
        }
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.lost) else { return };
        let (messages, end) = remote.link.ready(&self.epoll);
        for message in messages {
            self.obey(message);
        }
        let Some(error) = end else { return };
        match &self.remote {
            // It expects nothing more from here.
            Some(remote) if remote.over => remote.link.forget(&self.epoll),
            _ => self.head_lost(&error.to_string()),
        }
    }

    fn send_snapshot(&mut self) {
        let Some(remote) = &mut self.remote else { return };
        let Some((number, profile)) = remote.snapshots.as_ref().and_then(HostSnapshots::take) else { return };
        let mut sender = Sender::new(profile, number, Vec::new());
        while let Ok(Some(piece)) = sender.next() {
            remote.link.send(&piece, &self.epoll);
        }
        remote.link.send(&ToHead::Snapshot { number }, &self.epoll);
    }

    fn head_lost(&mut self, why: &str) {
        let Some(remote) = &mut self.remote else { return };
        remote.lost = true;
        remote.link.forget(&self.epoll);
        let (host, pes) = (remote.host.clone(), list::pes_text(&self.job.pes()));
        let ending = if self.pes.all_ended() { String::new() } else { format!("; ending {pes}") };
        self.output.say(&format!("host {host}: the oshrun that runs the job is lost: {why}{ending}"));
        self.end(1);
    }

    /// Shows the head that the PEs are started: from now on it hears of this host all the time.
    pub fn show_start(&mut self) {
        if let Some(remote) = &mut self.remote {
            remote.link.send(&ToHead::Beat {}, &self.epoll);
        }
    }

    /// Does what the head says.
    pub fn obey(&mut self, message: ToDaemon) {
        let now = Instant::now();
        let Some(remote) = &mut self.remote else { return };
        match message {
            ToDaemon::Beat {} | ToDaemon::Welcome { .. } | ToDaemon::Start { .. } => {}
            ToDaemon::Pause {} => remote.link.paused = true,
            ToDaemon::Signal { number } => {
                if signals::meaning(number) == Meaning::End {
                    self.verdict.interrupted = true;
                    self.verdict.interrupt.get_or_insert((number, now));
                    self.job.set_interrupted(number);
                }
                self.pes.signal(number);
            }
            ToDaemon::Report { id, inside, number } => self.report(id, inside, number),
            ToDaemon::End { asked_by, status } => {
                if let Some(pe) = asked_by {
                    // One of this host has asked for itself.
                    self.job.request_exit(ExitRequest { pe: pe as i32, status, kind: ExitKind::GlobalExit });
                }
                self.begin_to_end(now);
            }
            ToDaemon::Hurry {} => self.verdict.ending.get_or_insert_with(|| Ending::new(now)).hurry(now),
            ToDaemon::Closed { error } => {
                self.verdict.closed = true;
                self.output.shut(if error { To::Err } else { To::Out });
            }
            ToDaemon::Fenced {} => {
                let actions = remote.key_values.fenced();
                self.act(actions);
            }
            ToDaemon::KeyValue { pe, key, value } => {
                let actions = remote.key_values.lookup(pe, key, value);
                self.act(actions);
            }
            ToDaemon::Ping { number } => {
                let counter_ns = clock::counter_ns();
                remote.link.send(&ToHead::Pong { number, counter_ns }, &self.epoll);
            }
            ToDaemon::Collect { drift_ns, counter_ns, profile } => {
                remote.collect = Some((drift_ns, counter_ns, profile));
            }
            ToDaemon::Kept { number } => {
                remote.snapshots.iter().for_each(|snapshots| snapshots.written(number));
            }
            ToDaemon::Bye {} => remote.over = true,
            ToDaemon::Lost { pe, signal } => {
                self.job.lose(pe, if signal == 0 { Loss::Host } else { Loss::Killed(signal) });
            }
            ToDaemon::Agreed { waiting, outcome } => self.agreed(&waiting, &outcome.0),
        }
    }

    fn report(&mut self, id: u32, inside: Option<bool>, number: i32) {
        // As on one host: a signal that PEs have a handler for is theirs.
        let handled = number != 0 && self.pes.running().any(|pe| process::handles(self.pes.get(pe).pid, number));
        let mut answer = (Vec::new(), Vec::new());
        if handled {
            self.pes.signal(number);
        } else {
            let listed = inside.map_or_else(|| self.pes.running().collect(), |finalizing| self.inside(finalizing));
            let pes = self.profile.as_ref().map(|profile| self.look(profile)).unwrap_or_default();
            answer = (self.activity_lines(&listed), pes);
        }
        let Some(remote) = &mut self.remote else { return };
        let (lines, pes) = answer;
        remote.link.send(&ToHead::Report { id, handled, lines, pes }, &self.epoll);
    }

    /// Takes what a PE says about other hosts.
    pub(super) fn wireup_ready(&mut self, place: usize) {
        let first = self.job.pes().start;
        let Some(remote) = &mut self.remote else { return };
        let Some(socket) = remote.wireups.get(place).and_then(Option::as_ref) else { return };
        let actions = match packet::receive(socket, false) {
            Ok(message) if !message.is_empty() => match PeRequest::decode(&message) {
                Some(request) => remote.key_values.request(first + place as u32, request),
                None => Vec::new(),
            },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            _ => {
                self.epoll.remove(socket);
                remote.wireups[place] = None;
                return;
            }
        };
        self.act(actions);
    }

    fn act(&mut self, actions: Vec<Do>) {
        let first = self.job.pes().start;
        for action in actions {
            let Some(remote) = &mut self.remote else { return };
            match action {
                Do::Answer(pe, reply) => {
                    if let Some(socket) = &remote.wireups[(pe - first) as usize] {
                        // A PE that has gone does not want to know.
                        let _ = packet::send(socket, &reply.encode(), false);
                    }
                }
                Do::Tell(message) => remote.link.send(&message, &self.epoll),
                Do::Abort(pe, status, message) => {
                    let text = (!message.is_empty()).then(|| format!("{}: {message}", self.who(pe)));
                    self.conclude(text, status);
                }
            }
        }
    }

    /// The next PE's end of its way to other hosts; `None`: there are none.
    pub fn wireup(&mut self) -> io::Result<Option<OwnedFd>> {
        let Some(remote) = &mut self.remote else { return Ok(None) };
        let (ours, theirs) = packet::pair()?;
        remote.wireups.push(Some(ours));
        Ok(Some(theirs))
    }

    /// Waits for what PEs say about other hosts, and for snapshots.
    pub fn poll_wireups(&self) -> io::Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        for (place, socket) in remote.wireups.iter().enumerate() {
            if let Some(socket) = socket {
                self.epoll.add(socket, WIREUPS + place as u64, Interest::Read)?;
            }
        }
        if let Some(snapshots) = &remote.snapshots {
            self.epoll.add(snapshots.wake(), SNAPSHOT, Interest::Read)?;
        }
        Ok(())
    }
}
