//! Our terminal's input, passed on to PE 0.
//!
//! PEs are in process groups of their own, and a terminal stops a group that reads from it in the background. Input
//! that is not a terminal needs none of this: PE 0 inherits it.

use crate::sys::epoll::{Epoll, Interest};
use crate::sys::file;
use std::io;
use std::os::fd::AsRawFd;

/// The terminal, among what the launcher waits for.
pub const TERMINAL: u64 = 2;
/// The relay's pipe to PE 0, among the same.
pub const RELAY: u64 = 3;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait for the terminal.
    Read,
    /// Wait for room in the pipe.
    Write,
    /// Neither: the terminal belongs to another job for now.
    Pause,
    /// No more: one side has closed.
    Stop,
}

/// Terminal to PE 0.
pub struct Relay {
    pipe: io::PipeWriter,
    pending: Vec<u8>,
    ended: bool,
    /// The terminal belonged to another job when it was last asked whose it is.
    paused: bool,
}

impl Relay {
    /// A relay into this pipe.
    pub fn new(pipe: io::PipeWriter) -> io::Result<Self> {
        file::set_nonblocking(&pipe)?;
        Ok(Self { pipe, pending: Vec::new(), ended: false, paused: false })
    }

    /// The pipe's descriptor, to wait for room.
    pub fn pipe(&self) -> &impl AsRawFd {
        &self.pipe
    }

    /// What to wait for.
    pub fn next(&mut self) -> Next {
        let next = self.wanted();
        self.paused = next == Next::Pause;
        next
    }

    /// Whether the terminal was given to this job since [`Self::next`] has said to pause. A shell tells nobody: with
    /// `fg` it gives the terminal to a job, and wakes it only where it is stopped.
    pub fn is_resumed(&self) -> bool {
        self.paused && self.wanted() != Next::Pause
    }

    fn wanted(&self) -> Next {
        if !self.pending.is_empty() {
            Next::Write
        } else if self.ended {
            Next::Stop
        } else if file::in_foreground_of(0) {
            Next::Read
        } else {
            Next::Pause
        }
    }

    /// Reads what was typed, and passes it on as far as there is room.
    pub fn read(&mut self) {
        let mut buffer = [0; 4096];
        match file::read(0, &mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.pending.extend_from_slice(&buffer[..count]);
                self.write();
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => self.ended = true,
        }
    }

    /// Passes on what there is room for.
    pub fn write(&mut self) {
        match file::write(self.pipe.as_raw_fd(), &self.pending) {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => {
                self.pending.clear();
                self.ended = true;
            }
        }
    }
}

/// One of its two tokens is ready.
pub fn ready(token: u64, relay: &mut Option<Relay>, epoll: &Epoll) {
    if let Some(relay) = relay {
        if token == TERMINAL { relay.read() } else { relay.write() }
    }
    poll(relay, epoll);
}

/// Waits for what the relay needs next. One that can pass on no more is dropped.
pub fn poll(relay: &mut Option<Relay>, epoll: &Epoll) {
    let Some(open) = relay else { return };
    let next = open.next();
    let terminal = io::stdin();
    epoll.remove(&terminal);
    epoll.remove(open.pipe());
    let watched = match next {
        Next::Read => epoll.add(&terminal, TERMINAL, Interest::Read),
        Next::Write => epoll.add(open.pipe(), RELAY, Interest::Write),
        Next::Pause => Ok(()),
        Next::Stop => Err(io::ErrorKind::BrokenPipe.into()),
    };
    if watched.is_err() {
        *relay = None;
    }
}
