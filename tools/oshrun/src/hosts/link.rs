//! The connection between head and daemon: messages with their length before them, and how long the other side has been
//! silent.

use super::pack::Field;
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::net;
use pellucid_core::os::tcp;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// How often each side shows that it is there.
pub const BEAT: Duration = Duration::from_secs(1);
/// After so much silence the other side is taken for lost, where its host says nothing either. A link that was away for
/// 5 s is back in time: the last beat may have come 1 s before, and kernels that cannot be told to try each second try
/// 6.2 s after the first beat that was lost.
const SILENCE: Duration = Duration::from_millis(7500);
/// The same where its host answers: it may be stopped, or others keep it from the cores, which on a busy machine has
/// taken 20 s.
const STANDSTILL: Duration = Duration::from_secs(30);
/// The same while the other side has much to do: to start PEs, to write what all have recorded.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a message at most, and of one from somebody unknown.
const MOST: usize = 64 << 20;
const MOST_OF_STRANGERS: usize = 4 << 10;
/// Bytes that may wait to be sent before [`Link::is_full`].
const FULL: usize = 1 << 20;

/// Time in which this process could listen: where it was stopped, or the whole machine was, nothing can be said of the
/// other side.
pub struct Listened {
    sum: Duration,
    looked: Instant,
}

impl Listened {
    /// None yet.
    pub fn since(now: Instant) -> Self {
        Self { sum: Duration::ZERO, looked: now }
    }

    /// Whoever can listen looks more often than once in a [`BEAT`].
    pub fn look(&mut self, now: Instant) -> Duration {
        self.sum += now.saturating_duration_since(self.looked).min(BEAT);
        self.looked = now;
        self.sum
    }
}

/// One end.
pub struct Link {
    stream: TcpStream,
    token: u64,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    sent: usize,
    writing: bool,
    most: usize,
    limit: Duration,
    /// Since the other side has said something.
    silent: Listened,
    spoke: Instant,
    /// The other side has said that it will be silent.
    pub paused: bool,
}

impl Link {
    /// Begins to wait for messages: events come with `token`.
    pub fn new(stream: TcpStream, token: u64, epoll: &Epoll) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        net::give_up_after(&stream, SILENCE);
        tcp::retry_often(stream.as_raw_fd());
        epoll.add(&stream, token, Interest::Read)?;
        let now = Instant::now();
        Ok(Self {
            stream,
            token,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            sent: 0,
            writing: false,
            most: MOST_OF_STRANGERS,
            limit: SILENCE,
            silent: Listened::since(now),
            spoke: now,
            paused: false,
        })
    }

    /// The other side may take long until it says something again.
    pub fn be_patient(&mut self) {
        self.limit = PATIENCE;
    }

    /// The other side is who it should be.
    pub fn trust(&mut self) {
        self.most = MOST;
    }

    /// Sends a message, as far as there is room now; the rest when [`Self::ready`] is called. Errors show when reading.
    pub fn send(&mut self, message: &impl Field, epoll: &Epoll) {
        let begin = self.outgoing.len();
        self.outgoing.extend([0; 4]);
        message.put(&mut self.outgoing);
        let length = (self.outgoing.len() - begin - 4) as u32;
        self.outgoing[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
        self.spoke = Instant::now();
        self.flush(epoll);
    }

    /// Whether more should not be sent for now.
    pub fn is_full(&self) -> bool {
        self.outgoing.len() - self.sent >= FULL
    }

    fn flush(&mut self, epoll: &Epoll) {
        while self.sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.sent..]) {
                Ok(count) if count > 0 => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whatever is wrong shows in the next read, or in silence.
                _ => break,
            }
        }
        if self.sent == self.outgoing.len() {
            self.outgoing.clear();
            self.sent = 0;
        } else if self.sent > FULL {
            self.outgoing.drain(..self.sent);
            self.sent = 0;
        }
        let writing = !self.outgoing.is_empty();
        if writing != self.writing {
            self.writing = writing;
            let _ = epoll.modify(&self.stream, self.token, if writing { Interest::Both } else { Interest::Read });
        }
    }

    /// Sends and receives what there is. Error: the connection is no more; messages from before it ended come first.
    pub fn ready<M: Field>(&mut self, epoll: &Epoll) -> (Vec<M>, Option<io::Error>) {
        self.flush(epoll);
        let mut end = None;
        let mut buffer = [0; 64 << 10];
        // Not for ever: other events wait.
        for _ in 0..16 {
            match self.stream.read(&mut buffer) {
                Ok(0) => end = Some(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed")),
                Ok(count) => {
                    self.incoming.extend_from_slice(&buffer[..count]);
                    self.silent = Listened::since(Instant::now());
                    self.paused = false;
                    self.limit = SILENCE;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => end = Some(error),
            }
            break;
        }
        let mut messages = Vec::new();
        let mut at = 0;
        while let Some(head) = self.incoming[at..].first_chunk::<4>() {
            let length = u32::from_le_bytes(*head) as usize;
            if length > self.most {
                end = Some(io::Error::new(ErrorKind::InvalidData, "it sends something else than oshrun does"));
                break;
            }
            let Some(body) = self.incoming[at + 4..].get(..length) else { break };
            match M::take(&mut &body[..]) {
                Some(message) => messages.push(message),
                None => {
                    end = Some(io::Error::new(ErrorKind::InvalidData, "it sends something else than oshrun does"));
                    break;
                }
            }
            at += 4 + length;
        }
        self.incoming.drain(..at);
        (messages, end)
    }

    /// Whether it is time to show that we are there.
    pub fn beat_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.spoke) >= BEAT
    }

    /// Why the other side is taken for lost, if it is: it has been silent for too long. The kernel there answers for a
    /// process that does not run.
    pub fn silence(&mut self, now: Instant) -> Option<String> {
        let silent = self.silent.look(now);
        if self.paused || silent < self.limit {
            return None;
        }
        let state = tcp::state(self.stream.as_raw_fd());
        let answers = state.is_some_and(|state| !state.waits || state.silent < SILENCE);
        let limit = if answers { self.limit.max(STANDSTILL) } else { self.limit };
        let but = if answers { ", although its host answers" } else { "" };
        (silent >= limit).then(|| format!("nothing was heard of it for {} s{but}", limit.as_secs()))
    }

    /// How long nothing has been heard of the other side, as far as this one listened.
    pub fn silent(&self) -> Duration {
        self.silent.sum
    }

    /// Stops waiting for events.
    pub fn forget(&self, epoll: &Epoll) {
        epoll.remove(&self.stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked() -> (Link, TcpStream, Epoll) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let epoll = Epoll::new().unwrap();
        (Link::new(listener.accept().unwrap().0, 1, &epoll).unwrap(), theirs, epoll)
    }

    /// How long one has to look until the other side is lost, in looks of a second.
    fn seconds_until_lost(link: &mut Link) -> (u64, String) {
        let mut now = Instant::now();
        for second in 1..100 {
            now += BEAT;
            if let Some(why) = link.silence(now) {
                return (second, why);
            }
        }
        panic!("never");
    }

    #[test]
    fn whoever_says_nothing_on_a_host_that_answers_has_longer() {
        let (mut link, _theirs, _epoll) = linked();
        let (seconds, why) = seconds_until_lost(&mut link);
        assert_eq!((seconds, &*why), (30, "nothing was heard of it for 30 s, although its host answers"));
        let (mut link, _theirs, _epoll) = linked();
        link.be_patient();
        assert_eq!(seconds_until_lost(&mut link).0, 60);
        // Nobody is there to answer.
        let (mut link, theirs, _epoll) = linked();
        drop(theirs);
        assert_eq!(seconds_until_lost(&mut link), (8, "nothing was heard of it for 7 s".to_owned()));
    }

    #[test]
    fn patience_lasts_until_something_is_heard() {
        let (mut link, mut theirs, epoll) = linked();
        link.be_patient();
        assert_eq!(link.limit, PATIENCE);
        theirs.write_all(&[1, 0]).unwrap();
        epoll.wait(Some(Duration::from_secs(10))).unwrap();
        assert!(link.ready::<crate::hosts::message::ToHead>(&epoll).1.is_none());
        assert_eq!(link.limit, SILENCE);
    }

    #[test]
    fn silence_is_time_in_which_one_could_listen() {
        let begin = Instant::now();
        let mut silent = Listened::since(begin);
        let after = |ms| begin + Duration::from_millis(ms);
        assert_eq!(silent.look(after(250)), Duration::from_millis(250));
        assert_eq!(silent.look(after(1250)), Duration::from_millis(1250));
        // The machine stood still for a minute.
        assert_eq!(silent.look(after(61_250)), Duration::from_millis(2250));
        assert_eq!(silent.look(after(61_500)), Duration::from_millis(2500));
    }
}
