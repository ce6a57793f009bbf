//! What daemons say.

use super::{CONNECTIONS, Head, Host, Phase};
use crate::hosts::clock;
use crate::hosts::link::Link;
use crate::hosts::message::{PROTOCOL, ToDaemon, ToHead, VERSION};
use crate::supervise::Lost;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long an agent may take to go after its daemon has said good-bye.
const LEAVE: Duration = Duration::from_secs(3);

/// How many are taken before what others say is read.
const AT_ONCE: usize = 64;
/// How long nobody is taken where that cannot be.
const PAUSE: Duration = Duration::from_millis(10);

impl Head<'_> {
    /// Somebody connects.
    pub(super) fn accept(&mut self) {
        for _ in 0..AT_ONCE {
            match self.listeners.accept() {
                Ok(streams) if streams.is_empty() => return,
                Ok(streams) => streams.into_iter().for_each(|stream| self.admit(stream)),
                // There are too many open files, as a rule, and strangers hold some.
                Err(_) if self.strangers.drop_first(&self.epoll) => {}
                Err(_) => return std::thread::sleep(PAUSE),
            }
        }
    }

    fn admit(&mut self, stream: TcpStream) {
        let token = CONNECTIONS + self.next_link;
        self.next_link += 1;
        if let Ok(link) = Link::new(stream, token, &self.epoll) {
            self.strangers.add(token, link, &self.epoll);
            // Parts of the job have said who they are: no others that come after them take their place.
            self.read_link(token);
        }
    }

    /// Nobody can connect any more, and who has not said who it is has no need to.
    pub(super) fn stop_listening(&mut self) {
        self.listeners.close(&self.epoll);
        self.strangers.clear(&self.epoll);
    }

    /// A connection has something.
    pub(super) fn read_link(&mut self, token: u64) {
        let known = self.links.get_mut(&token).map(|(link, _)| link);
        let Some(link) = known.or_else(|| self.strangers.get(token)) else { return };
        let (messages, end) = link.ready::<ToHead>(&self.epoll);
        for message in messages {
            match self.links.get(&token) {
                Some((_, host)) => self.handle_message(*host, message),
                None => self.greet(token, message),
            }
        }
        if let Some(error) = end
            && let Some(host) = self.drop_link(token)
        {
            self.disconnected(host, error.to_string());
        }
    }

    /// Drops a connection; returns the host whose it is.
    pub(super) fn drop_link(&mut self, token: u64) -> Option<usize> {
        if let Some(stranger) = self.strangers.take(token) {
            stranger.forget(&self.epoll);
        }
        let (link, host) = self.links.remove(&token)?;
        link.forget(&self.epoll);
        self.hosts[host].link = None;
        Some(host)
    }

    /// The first message of whoever has connected.
    fn greet(&mut self, token: u64, message: ToHead) {
        let Some(mut link) = self.strangers.take(token) else { return };
        let ToHead::Hello { protocol, version, secret, host, name } = message else {
            return link.forget(&self.epoll);
        };
        let number = host as usize;
        // Without the secret it is no part of this job.
        let known = secret == self.secret
            && self.hosts.get(number).is_some_and(|host| host.phase == Phase::Starting && host.link.is_none());
        if !known {
            return link.forget(&self.epoll);
        }
        if protocol != PROTOCOL || version != VERSION {
            link.forget(&self.epoll);
            let host = &self.hosts[number].place.host;
            let text = format!(
                "host {host} ({name}) has oshrun {version}, and this is oshrun {VERSION}: all hosts need the same \
                 version"
            );
            self.output.take_held(number);
            self.hosts[number].phase = Phase::Lost;
            self.hosts[number].reap_from(Instant::now());
            return self.decide_exit(Some(text), 1);
        }
        link.trust();
        self.links.insert(token, (link, number));
        let host = &mut self.hosts[number];
        (host.link, host.phase) = (Some(token), Phase::Connected);
        self.output.release(number);
        let secret = self.answer.clone();
        self.send(number, &ToDaemon::Welcome { secret });
        if self.is_ending() {
            return self.dismiss(number);
        }
        // Not before all hosts are started: to start one would be part of each way there and back.
        if self.agents.all().len() == self.hosts.len() {
            self.measure(number);
        }
    }

    /// The next step of measuring a clock.
    pub(super) fn measure(&mut self, number: usize) {
        let host = &mut self.hosts[number];
        if let Some(number_of_trip) = host.clock.next(clock::counter_ns()) {
            return self.send(number, &ToDaemon::Ping { number: number_of_trip });
        }
        let best = std::mem::take(&mut host.clock).best();
        if host.phase == Phase::Connected {
            (host.offset, host.phase) = (best, Phase::Ready);
            return self.start_pes();
        }
        host.drift = host.drift_since_start(best, self.begin.0);
        host.phase = Phase::Collecting;
        let counter_ns = best.map_or(0, |best| best.counter_ns);
        let (drift_ns, profile) = (host.drift.0, self.kept.is_some());
        self.send(number, &ToDaemon::Collect { drift_ns, counter_ns, profile });
    }

    /// A message of a host's daemon.
    fn handle_message(&mut self, number: usize, message: ToHead) {
        match message {
            ToHead::Note { text } => self.pass_on(number, &text),
            ToHead::Verdict { status, text, asked_by } => {
                if !self.is_ending() {
                    self.closing.asked_by = asked_by;
                }
                self.decide_exit(text, status);
            }
            ToHead::Late { pe, who, status, text } => {
                if !self.is_ending() {
                    text.iter().for_each(|text| self.output.say(text));
                    self.status.get_or_insert(status);
                    let (place, since) = ("after shmem_finalize".into(), Instant::now());
                    self.lost.get_or_insert(Lost { pe, who, place, begun: true, finalized: true, since });
                }
            }
            ToHead::Left { pe, who, place, begun, finalized } => {
                self.lost.get_or_insert(Lost { pe, who, place, begun, finalized, since: Instant::now() });
            }
            ToHead::Report { id, handled, lines, pes } => self.reported(number, id, handled, lines, pes),
            ToHead::Fence { key_values } => {
                if self.key_values.fence(number, key_values) {
                    self.send_all(&ToDaemon::Fenced {});
                }
            }
            ToHead::Wanted { pe, key } => {
                let value = self.key_values.get(pe, &key);
                self.send(number, &ToDaemon::KeyValue { pe, key, value });
            }
            ToHead::Pong { number: trip, counter_ns } => self.pong(number, trip, counter_ns),
            ToHead::Ended {} => {
                if self.hosts[number].phase == Phase::Running {
                    self.hosts[number].phase = Phase::Ended;
                    self.closing.ran.iter_mut().for_each(|(_, end)| *end = Instant::now());
                    self.measure(number);
                }
            }
            ToHead::Profile { pe, snapshot, bytes, last } => {
                self.received_profile(number, pe, snapshot, &bytes.0, last)
            }
            ToHead::Transport { name } => self.received.transport = name,
            ToHead::Snapshot { number: snapshot } => self.received.snapshots.push((number, snapshot)),
            ToHead::Trace { name, bytes } => {
                if let Some(Err(error)) = self.trace.as_ref().map(|to| self.received.trace(to, &name, &bytes.0)) {
                    self.closing.trace_problem = true;
                    self.output.say(&format!("trace: {error}"));
                }
            }
            ToHead::Done { trace_explained } => self.has_sent_all(number, trace_explained),
            ToHead::Deaf { number: signal, deaf } => {
                self.hosts[number].deaf = deaf;
                if !self.is_ending() && self.hosts.iter().all(|host| host.deaf || host.phase != Phase::Running) {
                    self.end(128 + signal);
                }
            }
            other => self.handle_losses(number, other),
        }
    }

    /// The clock of a host has been read, and is read again unless that is enough.
    fn pong(&mut self, number: usize, trip: u32, counter_ns: u64) {
        self.hosts[number].clock.back(trip, counter_ns, clock::counter_ns());
        self.measure(number);
    }

    /// What a host has to say.
    fn pass_on(&mut self, number: usize, text: &str) {
        let host = &self.hosts[number];
        // While it sends what was recorded, it speaks of nothing else.
        self.closing.trace_problem |= host.phase == Phase::Collecting;
        self.output.say(&format!("host {}: {text}", host.place.host));
    }

    /// Nothing more comes from a host. Whether one of its PEs has said why something is missing from the trace.
    fn has_sent_all(&mut self, number: usize, trace_explained: bool) {
        self.closing.trace_problem |= trace_explained;
        self.dismiss(number);
    }

    /// A host has nothing more to do.
    pub(super) fn dismiss(&mut self, number: usize) {
        self.send(number, &ToDaemon::Bye {});
        self.hosts[number].phase = Phase::Done;
        self.hosts[number].reap_from(Instant::now() + LEAVE);
    }
}

impl Host {
    /// How far the clock has gone since the first measurement, and when on the host's line of the job's time.
    fn drift_since_start(&self, now: Option<clock::Offset>, begin_ns: u64) -> (i64, u64) {
        let (Some(first), Some(now)) = (self.offset, now) else { return (0, 0) };
        let begin_there = begin_ns.saturating_add_signed(first.ns.saturating_neg());
        (now.ns.saturating_sub(first.ns), now.counter_ns.saturating_sub(begin_there))
    }
}
