//! From what the PEs write to our own standard output and error.

use crate::lines::Lines;
use crate::sink::{Sinks, To};
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::file;
use pellucid_profile::text::visible;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// What one read takes: as much as a pipe holds.
const BUFFER: usize = 64 << 10;
/// How long the reader of a job that was ended before its time may take nothing.
const LAST_READ: Duration = Duration::from_secs(10);
/// How long the beginning of a line is kept back from a person at a terminal.
const PROMPT_AFTER: Duration = Duration::from_millis(100);

/// All output of the job.
pub struct Output {
    streams: Vec<Stream>,
    sinks: Sinks,
    buffer: Vec<u8>,
    first_token: u64,
    /// Failures that were taken note of.
    failed: [bool; 2],
    /// Streams are read to their end even where nobody reads ours: whoever writes them is no PE.
    patient: bool,
    /// When a line that PE 0 has begun is to be shown: it may be a question to whoever types.
    prompt: Option<Instant>,
}

struct Stream {
    pipe: Option<io::PipeReader>,
    to: To,
    lines: Lines,
    /// Not read for now: our own reader is slow.
    waiting: bool,
    /// What is kept back until it is known whether it is output.
    held: Option<Vec<u8>>,
}

/// What is kept of a stream that is held: a message of an agent that fails is short.
const MOST_PENDING: usize = 64 << 10;

/// What has become of one of our own streams.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamFailure {
    /// Nobody reads it any more; PEs that write to it are told so by the system.
    Closed(To),
    /// It cannot be written; what PEs write is dropped. The text names the stream and the error.
    Error(String),
}

impl Output {
    /// No PEs yet. Streams of PEs get the tokens from `first_token` on, two a PE.
    pub fn new(first_token: u64) -> io::Result<Self> {
        let sinks = Sinks::new()?;
        let (streams, buffer, failed) = (Vec::new(), vec![0; BUFFER], [false; 2]);
        Ok(Self { streams, sinks, buffer, first_token, failed, patient: false, prompt: None })
    }

    /// For streams of what starts PEs elsewhere: they are read to their end, and held until [`Self::release`].
    pub fn of_agents(first_token: u64) -> io::Result<Self> {
        Ok(Self { patient: true, ..Self::new(first_token)? })
    }

    /// What is readable when [`Self::resume`] has something to do.
    pub fn wake(&self) -> &impl std::os::fd::AsRawFd {
        self.sinks.wake()
    }

    /// Adds the streams of the next PE.
    pub fn add(&mut self, label: &str, out: io::PipeReader, err: io::PipeReader, epoll: &Epoll) -> io::Result<()> {
        for (pipe, to) in [(out, To::Out), (err, To::Err)] {
            file::set_nonblocking(&pipe)?;
            epoll.add(&pipe, self.first_token + self.streams.len() as u64, Interest::Read)?;
            let held = self.patient.then(Vec::new);
            self.streams.push(Stream { pipe: Some(pipe), to, lines: Lines::new(label), waiting: false, held });
        }
        Ok(())
    }

    /// Reads from the stream that a token names. `typed`: somebody may be typing for PE 0.
    pub fn ready(&mut self, token: u64, typed: bool, epoll: &Epoll) {
        let index = (token - self.first_token) as usize;
        self.read(index);
        if typed && index == 0 {
            self.prompt = Some(Instant::now() + PROMPT_AFTER);
        }
        let stream = &mut self.streams[index];
        if let Some(pipe) = &stream.pipe
            && self.sinks.is_full(stream.to)
        {
            stream.waiting = epoll.modify(pipe, token, Interest::Nothing).is_ok();
        }
    }

    /// One read. False: nothing there, or the end.
    fn read(&mut self, index: usize) -> bool {
        let stream = &mut self.streams[index];
        let Some(pipe) = &mut stream.pipe else { return false };
        let mut out = Vec::new();
        let more = match pipe.read(&mut self.buffer) {
            Ok(0) => {
                stream.lines.finish(&mut out);
                stream.pipe = None;
                false
            }
            Ok(count) => {
                stream.lines.feed(&self.buffer[..count], &mut out);
                true
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => false,
            Err(_) => {
                stream.pipe = None;
                false
            }
        };
        match &mut stream.held {
            Some(held) if held.len() < MOST_PENDING => held.extend(out),
            Some(_) => {}
            None => self.sinks.push(stream.to, out),
        }
        more
    }

    /// What was held of the streams of the `place`th writer is output, as is what follows.
    pub fn release(&mut self, place: usize) {
        for stream in &mut self.streams[2 * place..2 * place + 2] {
            if let Some(held) = stream.held.take() {
                self.sinks.push(stream.to, held);
            }
        }
    }

    /// What was held of the streams of the `place`th writer is no output: takes it.
    pub fn take_held(&mut self, place: usize) -> String {
        let mut held = Vec::new();
        for stream in self.streams[2 * place..2 * place + 2].iter_mut().rev() {
            stream.lines.finish(stream.held.get_or_insert_default());
            held.extend(stream.held.replace(Vec::new()).unwrap_or_default());
        }
        String::from_utf8_lossy(&held).into_owned()
    }

    /// Nobody reads this stream of ours: PEs that write to it are told so by the system.
    pub fn shut(&mut self, to: To) {
        for stream in self.streams.iter_mut().filter(|stream| stream.to == to) {
            stream.pipe = None;
        }
    }

    /// When [`Self::prompt`] has something to do.
    pub fn prompt_due(&self) -> Option<Instant> {
        self.prompt
    }

    /// Passes on the beginning of a line of PE 0, when it is time.
    pub fn prompt(&mut self, now: Instant) {
        if self.prompt.is_none_or(|due| now < due) {
            return;
        }
        self.prompt = None;
        let Some(stream) = self.streams.first_mut() else { return };
        let mut out = Vec::new();
        stream.lines.prompt(&mut out);
        self.sinks.push(stream.to, out);
    }

    /// Reads everything that the `place`th PE, which has ended, has left in its pipes.
    pub fn drain(&mut self, place: usize) {
        for index in [2 * place, 2 * place + 1] {
            // As much as a pipe can hold, and no more: descendants of the PE may still be writing.
            let most = (1 << 20) / BUFFER;
            for _ in 0..most {
                if !self.read(index) {
                    break;
                }
            }
        }
    }

    /// Goes on after [`Self::wake`]: reads again from PEs that had to wait. Returns failures of our own streams, each
    /// once.
    pub fn resume(&mut self, epoll: &Epoll) -> Vec<StreamFailure> {
        self.sinks.clear_wake();
        let failures = [To::Out, To::Err].into_iter().filter_map(|to| self.note_failure(to)).collect();
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if stream.waiting
                && self.sinks.has_room(stream.to)
                && let Some(pipe) = &stream.pipe
            {
                stream.waiting = epoll.modify(pipe, self.first_token + index as u64, Interest::Read).is_err();
            }
        }
        failures
    }

    fn note_failure(&mut self, to: To) -> Option<StreamFailure> {
        let error = self.sinks.failure(to)?;
        if std::mem::replace(&mut self.failed[to as usize], true) {
            return None;
        }
        if error == libc::EPIPE {
            if !self.patient {
                self.shut(to);
            }
            return Some(StreamFailure::Closed(to));
        }
        Some(StreamFailure::Error(format!("cannot write {}: {}", to.name(), io::Error::from_raw_os_error(error))))
    }

    /// Whether every PE has closed both of its streams.
    pub fn is_closed(&self) -> bool {
        self.streams.iter().all(|stream| stream.pipe.is_none())
    }

    /// Stops reading; what was begun and not ended is passed on.
    pub fn close(&mut self) {
        for stream in self.streams.iter_mut().filter(|stream| stream.pipe.is_some()) {
            let mut out = Vec::new();
            stream.lines.finish(&mut out);
            stream.pipe = None;
            self.sinks.push(stream.to, out);
        }
    }

    /// Whether everything that was read is written.
    pub fn is_written(&self) -> bool {
        self.sinks.is_idle()
    }

    /// For a job that was ended before its time: a reader who has stopped does not hold it up for ever. What it has not
    /// read is dropped then, and that is said.
    pub fn give_up_stuck(&mut self, now: Instant) {
        for to in self.sinks.give_up(LAST_READ, now) {
            let seconds = LAST_READ.as_secs();
            self.say(&format!("output was dropped: nothing was read of {} for {seconds} s", to.name()));
        }
    }

    /// A message of our own.
    pub fn say(&mut self, text: &str) {
        let mut lines = String::new();
        for line in text.lines() {
            lines += &format!("oshrun: {}\n", visible(line));
        }
        self.sinks.push(To::Err, lines.into_bytes());
    }
}
