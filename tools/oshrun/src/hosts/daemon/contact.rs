//! A daemon and the head before there are PEs: finding each other, and waiting for what to do.

use crate::hosts::agent::Invitation;
use crate::hosts::clock;
use crate::hosts::link::Link;
use crate::hosts::message::{Order, PROTOCOL, ToDaemon, ToHead, VERSION};
use crate::hosts::pack::Field;
use crate::job::Failure;
use crate::signals::{self, Meaning};
use crate::supervise::LINK;
use crate::sys::epoll::Epoll;
use crate::sys::file;
use crate::sys::signal::Reader;
use pellucid_core::os::process::host_name;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The longest line that can be an invitation.
const LINE: usize = 16 << 10;
/// How long the head may take to accept a connection, at each of its addresses.
const CONNECT: Duration = Duration::from_secs(3);
/// How long connecting is tried again while the network does not let anything through, and how soon.
const CONNECT_AGAIN: Duration = Duration::from_secs(20);
const NAP: Duration = Duration::from_millis(250);
/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Reads one line and nothing behind it: that is for PE 0.
pub(super) fn first_line() -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LINE && matches!(file::read(0, &mut byte), Ok(1)) && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// Connects to the head: to the first of its addresses where somebody knows the second secret. A link that is down may
/// come up again.
pub(super) fn connect(invitation: &Invitation, signals: &Reader) -> Result<TcpStream, String> {
    let until = Instant::now() + CONNECT_AGAIN;
    loop {
        let (mut problems, mut again) = (Vec::new(), false);
        for &address in &invitation.addresses {
            match greet(address, invitation) {
                Ok(stream) => return Ok(stream),
                Err(error) => {
                    again |= may_pass(error.kind());
                    problems.push(format!("{address}: {error}"));
                }
            }
        }
        if !again || Instant::now() >= until {
            return Err(format!("cannot connect back to the oshrun that runs the job: {}", problems.join("; ")));
        }
        std::thread::sleep(NAP);
        while let Some(number) = signals.next() {
            if signals::meaning(number) == Meaning::End {
                return Err(pellucid_core::os::signal::describe(number));
            }
        }
    }
}

/// Whether what keeps a connection from being made may be a network that is down for a moment. Who refuses it does so
/// again.
fn may_pass(error: io::ErrorKind) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable, TimedOut};
    matches!(error, TimedOut | HostUnreachable | NetworkUnreachable | NetworkDown)
}

fn greet(address: SocketAddr, invitation: &Invitation) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT)?;
    stream.set_read_timeout(Some(ANSWER))?;
    let hello = ToHead::Hello {
        protocol: PROTOCOL,
        version: VERSION.into(),
        secret: invitation.secret.clone(),
        host: invitation.host,
        name: host_name(),
    };
    let mut body = Vec::new();
    hello.put(&mut body);
    // At once: the head has little patience with strangers, who say half of it.
    stream.write_all(&[&(body.len() as u32).to_le_bytes(), &*body].concat())?;
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let mut answer = vec![0; (u32::from_le_bytes(head) as usize).min(1 << 10)];
    stream.read_exact(&mut answer)?;
    match ToDaemon::take(&mut answer.as_slice()) {
        Some(ToDaemon::Welcome { secret }) if secret == invitation.answer => Ok(stream),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "who listens there is not the oshrun that runs the job")),
    }
}

/// A daemon that has no PEs yet.
pub(super) struct Waiting {
    pub link: Link,
    pub epoll: Epoll,
    pub signals: Reader,
    /// This host, as the user calls it.
    pub host: String,
}

impl Waiting {
    /// Waits for what to do, and gives what the head has said after that. `None`: nothing, the job is over.
    pub fn order(&mut self) -> Result<Option<(Order, Vec<ToDaemon>)>, Failure> {
        loop {
            let mut messages = self.messages()?.into_iter();
            while let Some(message) = messages.next() {
                match message {
                    ToDaemon::Start { order } => return Ok(Some((*order, messages.collect()))),
                    ToDaemon::End { .. } | ToDaemon::Bye {} => return Ok(None),
                    _ => {}
                }
            }
        }
    }

    /// Tells the head that this host's PEs cannot be started, and waits for the end.
    pub fn refuse(&mut self, failure: &Failure) -> Result<i32, Failure> {
        let text = Some(failure.message.clone());
        self.link.send(&ToHead::Verdict { status: failure.status, text, asked_by: None }, &self.epoll);
        self.link.send(&ToHead::Ended {}, &self.epoll);
        loop {
            for message in self.messages()? {
                match message {
                    ToDaemon::Collect { .. } => self.link.send(&ToHead::Done { trace_explained: false }, &self.epoll),
                    ToDaemon::Bye {} => return Ok(failure.status),
                    _ => {}
                }
            }
        }
    }

    /// The next messages, but for those that need no PEs.
    fn messages(&mut self) -> Result<Vec<ToDaemon>, Failure> {
        let lost = |why: &str| {
            let message = format!("host {}: the oshrun that runs the job is lost: {why}", self.host);
            Failure { status: 1, message }
        };
        let mut rest = Vec::new();
        for token in self.epoll.wait(Some(Duration::from_millis(250))).map_err(|e| Failure::needs("wait", e))? {
            if token != LINK {
                while let Some(number) = self.signals.next() {
                    if signals::meaning(number) == Meaning::End {
                        // The head says so, unless it has sent it itself. There is nothing to do here any more.
                        self.link.send(&ToHead::Signalled { number }, &self.epoll);
                        rest.push(ToDaemon::Bye {});
                    }
                }
                continue;
            }
            let (messages, end) = self.link.ready(&self.epoll);
            for message in messages {
                match message {
                    ToDaemon::Ping { number } => {
                        let counter_ns = clock::counter_ns();
                        self.link.send(&ToHead::Pong { number, counter_ns }, &self.epoll);
                    }
                    ToDaemon::Pause {} => self.link.paused = true,
                    other => rest.push(other),
                }
            }
            if let Some(error) = end.filter(|_| rest.is_empty()) {
                return Err(lost(&error.to_string()));
            }
        }
        let now = Instant::now();
        if self.link.beat_due(now) {
            self.link.send(&ToHead::Beat {}, &self.epoll);
        }
        if let Some(why) = self.link.silence(now) {
            return Err(lost(&why));
        }
        Ok(rest)
    }
}
