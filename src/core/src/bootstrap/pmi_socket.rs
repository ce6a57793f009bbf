//! The socket on which a launcher serves PMI, whichever version: requests and answers in turn.

use super::value;
use crate::base::{Cause, Fault};
use crate::os::own_fd::OwnFd;
use crate::os::poll::{self, Interest};
use crate::os::{host, mmap, process, socket};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the launcher may take for its first answer: what serves no PMI at the other end says nothing at all.
const FIRST_ANSWER: Duration = Duration::from_secs(30);
/// A longer answer is none.
const ANSWER: usize = 1 << 20;

/// Where a launcher said that it listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Door {
    /// An open descriptor, the value of `PMI_FD`.
    Descriptor(RawFd),
    /// `HOST:PORT` and this process's id there: the values of `PMI_PORT` and `PMI_ID`.
    Port(String, String),
}

impl std::fmt::Display for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Descriptor(fd) => write!(f, "PMI_FD={fd}"),
            Self::Port(port, id) => write!(f, "PMI_PORT={port}, PMI_ID={id}"),
        }
    }
}

/// A connection to the launcher.
pub(super) struct Socket {
    stream: OwnFd,
    /// `PMI-1 over PMI_FD=6`, for messages.
    name: String,
    /// What was read and not taken yet. Who holds it may ask.
    unread: Mutex<Vec<u8>>,
    /// Held for one whole request: an abort is said in between, whoever waits for an answer.
    writing: Mutex<()>,
    owner: i32,
}

impl Socket {
    /// The connection behind a door.
    pub(super) fn open(protocol: &str, door: &Door) -> Result<Self, Fault> {
        let name = format!("{protocol} ({door})");
        let wrong = |text: String| Fault::from(Cause::Startup(format!("{name}: {text}")));
        let fd: OwnedFd = match door {
            // What is no socket is not ours to take.
            Door::Descriptor(fd) => {
                socket::is_socket(*fd).then(|| mmap::inherited(*fd)).flatten().ok_or_else(|| {
                    wrong(
                    "no connection to a launcher: something between the launcher and this program closed it, or this \
                     program was started by a PE and is none itself (then set SHMEM_BOOTSTRAP=none)"
                        .into(),
                )
                })?
            }
            Door::Port(port, _) => {
                host::connect(port).map_err(|error| wrong(format!("cannot connect: {error}")))?.into()
            }
        };
        // A program that this one starts is no PE.
        mmap::close_on_exec(&fd);
        Ok(Self::new(name, fd))
    }

    pub(super) fn new(name: String, fd: OwnedFd) -> Self {
        let (unread, writing) = (Mutex::new(Vec::new()), Mutex::new(()));
        Self { stream: OwnFd::new(fd), name, unread, writing, owner: process::id() }
    }

    /// A fault that names the connection.
    pub(super) fn fault(&self, text: impl std::fmt::Display) -> Fault {
        Fault::from(Cause::Startup(format!("{}: {text}", self.name)))
    }

    /// A fault where an answer is a refusal, or none to this question.
    pub(super) fn check(&self, asked: &str, expected: &str, answer: &Answer) -> Result<(), Fault> {
        if let Some(refusal) = answer.refusal() {
            return Err(self.fault(format_args!("the launcher refuses {asked}: {refusal}")));
        }
        if answer.get("cmd") != Some(expected) {
            let other = answer.get("cmd").unwrap_or("something else");
            return Err(self.fault(format_args!("the answer to {asked} is {other}, not {expected}")));
        }
        Ok(())
    }

    /// Whether this process is the one that the launcher knows, and not a child of it.
    pub(super) fn is_ours(&self) -> bool {
        self.owner == process::id()
    }

    /// The descriptor.
    pub(super) fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// The connection once more, to be watched.
    pub(super) fn again(&self) -> Option<OwnedFd> {
        mmap::duplicate(&self.stream).ok()
    }

    /// The right to ask and be answered.
    pub(super) fn lock(&self) -> LockedSocket<'_> {
        LockedSocket { socket: self, unread: self.unread.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Says something that is not answered, even while another thread waits for an answer.
    pub(super) fn tell(&self, request: &[u8]) -> Result<(), Fault> {
        let _whole = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        socket::send_all(&self.stream, request).map_err(|error| self.closed(&error))
    }

    /// Waits until the launcher closes the connection, for so long at most.
    pub(super) fn outlive(&self, at_most: Duration) {
        poll::wait(&[(self.fd(), Interest::Hangup)], Some(at_most));
    }

    fn closed(&self, error: &std::io::Error) -> Fault {
        self.fault(format_args!("the connection to the launcher is broken: {error}"))
    }
}

/// The connection while one thread asks and is answered.
pub(super) struct LockedSocket<'a> {
    socket: &'a Socket,
    unread: MutexGuard<'a, Vec<u8>>,
}

impl LockedSocket<'_> {
    /// Sends a request.
    pub(super) fn ask(&mut self, request: &str) -> Result<(), Fault> {
        self.socket.tell(request.as_bytes())
    }

    /// The rest of a line of the answer.
    pub(super) fn line(&mut self) -> Result<String, Fault> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            self.more()?;
        }
    }

    /// So many bytes of the answer.
    pub(super) fn exactly(&mut self, bytes: usize) -> Result<String, Fault> {
        if bytes > ANSWER {
            return Err(self.socket.fault(format_args!("an answer of {bytes} bytes is none")));
        }
        while self.unread.len() < bytes {
            self.more()?;
        }
        let taken: Vec<u8> = self.unread.drain(..bytes).collect();
        Ok(String::from_utf8_lossy(&taken).into_owned())
    }

    /// Waits until there is an answer at all, for a bounded time.
    pub(super) fn is_answered(&mut self) -> Result<(), Fault> {
        match socket::readable(self.socket.fd(), Instant::now() + FIRST_ANSWER) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.socket.fault(format_args!("no launcher answers there within {FIRST_ANSWER:?}"))),
            Err(error) => Err(self.socket.closed(&error)),
        }
    }

    fn more(&mut self) -> Result<(), Fault> {
        let mut bytes = [0; 4096];
        if self.unread.len() > ANSWER {
            return Err(self.socket.fault("what it says has no end: no launcher is there"));
        }
        match socket::read(&self.socket.stream, &mut bytes) {
            Ok(0) => Err(self.socket.fault("the launcher has closed the connection")),
            Ok(n) => {
                self.unread.extend_from_slice(&bytes[..n]);
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(self.socket.closed(&error)),
        }
    }
}

/// An answer: names and values.
#[derive(Debug)]
pub(super) struct Answer(pub(super) Vec<(String, String)>);

impl Answer {
    /// `cmd=NAME key=value ...`
    pub(super) fn of_words(line: &str) -> Self {
        Self(line.split_ascii_whitespace().filter_map(|word| word.split_once('=')).map(owned).collect())
    }

    /// `cmd=NAME;key=value;...`, where a semicolon in a value is written twice.
    pub(super) fn of_fields(text: &str) -> Self {
        let mut fields = vec![String::new()];
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let field = fields.last_mut();
            if character != ';' {
                field.into_iter().for_each(|field| field.push(character));
            } else if characters.next_if_eq(&';').is_some() {
                field.into_iter().for_each(|field| field.push(';'));
            } else {
                fields.push(String::new());
            }
        }
        Self(fields.iter().filter_map(|field| field.split_once('=')).map(owned).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }

    /// The launcher's refusal, where it is one.
    pub(super) fn refusal(&self) -> Option<String> {
        let code = self.get("rc").filter(|code| code.parse() != Ok(0))?;
        let reason = self.get("msg").or(self.get("errmsg")).map_or(String::new(), |reason| format!(", {reason}"));
        Some(format!("rc={code}{reason}"))
    }
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// A key-value space of text.
pub(super) trait Texts {
    /// Bytes of a value at most.
    fn room(&self) -> usize;
    /// Makes a value readable after the next fence.
    fn put(&self, key: &str, value: &str) -> Result<(), Fault>;
    /// A value that `pe` made readable.
    fn get(&self, pe: u32, key: &str) -> Result<String, Fault>;
    /// A fault that names the connection.
    fn wrong(&self, text: &str) -> Fault;
}

/// Publishes bytes of this PE in such a space.
pub(super) fn publish(space: &dyn Texts, pe: u32, key: &str, bytes: &[u8]) -> Result<(), Fault> {
    let too_small = || space.wrong(&format!("{} bytes do not fit in values of {}", bytes.len(), space.room()));
    for (piece, text) in value::pieces(bytes, space.room()).ok_or_else(too_small)?.iter().enumerate() {
        space.put(&value::key(key, pe, piece), text)?;
    }
    Ok(())
}

/// What a PE has published so.
pub(super) fn lookup(space: &dyn Texts, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
    value::join(|piece| space.get(pe, &value::key(key, pe, piece)))?
        .ok_or_else(|| space.wrong(&format!("what PE {pe} published as {key} is damaged")))
}
