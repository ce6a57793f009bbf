//! Our own standard output and error, written by a thread each, so that a reader who is slow, or stops, holds up
//! neither signals nor the end of the job.

use crate::sys::file;
use crate::sys::signal;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes waiting to be written from which on PEs are not read, and below which they are read again.
const FULL: usize = 1 << 20;
const LOW: usize = 256 << 10;
/// Chunks are joined up to this size.
const CHUNK: usize = 64 << 10;
/// What is written at once to a reader: a write returns when all is taken, and so tells that somebody reads.
const PIECE: usize = 4 << 10;

/// One of our two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl To {
    fn fd(self) -> RawFd {
        match self {
            Self::Out => 1,
            Self::Err => 2,
        }
    }

    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Out => "standard output",
            Self::Err => "standard error",
        }
    }
}

/// Both streams. Where they are one file (`2>&1`) one thread writes both, so that they keep their order and their
/// lines.
pub struct Sinks {
    out: Sink,
    err: Option<Sink>,
    wake: Arc<OwnedFd>,
}

impl Sinks {
    /// Streams to descriptors 1 and 2.
    pub fn new() -> io::Result<Self> {
        let wake = Arc::new(file::eventfd()?);
        let one_file = file::identity(1).is_some() && file::identity(1) == file::identity(2);
        let err = if one_file { None } else { Some(Sink::new(wake.clone())) };
        Ok(Self { out: Sink::new(wake.clone()), err, wake })
    }

    /// Readable when something has changed: room, a failure, all written.
    pub fn wake(&self) -> &OwnedFd {
        &self.wake
    }

    /// Takes note of the change.
    pub fn clear_wake(&self) {
        let _ = file::read(self.wake.as_raw_fd(), &mut [0; 8]);
    }

    /// Gives bytes to be written.
    pub fn push(&mut self, to: To, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.sink(to).push(to.fd(), bytes);
        }
    }

    /// Whether PEs should wait.
    pub fn is_full(&self, to: To) -> bool {
        self.peek(to).lock().bytes >= FULL
    }

    /// Whether PEs that were made to wait can go on.
    pub fn has_room(&self, to: To) -> bool {
        self.peek(to).lock().bytes < LOW
    }

    /// Whether everything is written.
    pub fn is_idle(&self) -> bool {
        let idle = |sink: &Sink| sink.lock().bytes == 0;
        idle(&self.out) && self.err.as_ref().is_none_or(idle)
    }

    /// The error that has ended a stream (what came after it is dropped).
    pub fn failure(&self, to: To) -> Option<i32> {
        self.peek(to).lock().failed
    }

    /// Gives up the streams whose readers have taken nothing for so long, as if they had closed them, and drops what
    /// waits there. Returns which. A terminal is waited for: there is somebody who has stopped it.
    pub fn give_up(&mut self, most: Duration, now: Instant) -> Vec<To> {
        let sinks = [(To::Out, Some(&mut self.out)), (To::Err, self.err.as_mut())];
        let stuck = sinks.into_iter().filter_map(|(to, sink)| sink?.is_stuck(to, most, now).then_some(to));
        let stuck: Vec<To> = stuck.collect();
        if !stuck.is_empty() {
            let _ = file::write(self.wake.as_raw_fd(), &1u64.to_ne_bytes());
        }
        stuck
    }

    fn sink(&mut self, to: To) -> &mut Sink {
        match (to, &mut self.err) {
            (To::Err, Some(err)) => err,
            _ => &mut self.out,
        }
    }

    fn peek(&self, to: To) -> &Shared {
        match (to, &self.err) {
            (To::Err, Some(err)) => &err.shared,
            _ => &self.out.shared,
        }
    }
}

struct Sink {
    shared: Arc<Shared>,
    started: bool,
    /// What was taken when that was last looked at, and since when it is so much.
    taken: Option<(u64, Instant)>,
}

struct Shared {
    queue: Mutex<Queue>,
    pushed: Condvar,
    wake: Arc<OwnedFd>,
}

#[derive(Default)]
struct Queue {
    chunks: Vec<(RawFd, Vec<u8>)>,
    /// In `chunks` and in the hands of the thread.
    bytes: usize,
    /// Counts what readers have taken.
    taken: u64,
    failed: Option<i32>,
}

impl std::ops::Deref for Sink {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Sink {
    fn new(wake: Arc<OwnedFd>) -> Self {
        let shared = Shared { queue: Mutex::default(), pushed: Condvar::new(), wake };
        Self { shared: Arc::new(shared), started: false, taken: None }
    }

    fn push(&mut self, fd: RawFd, bytes: Vec<u8>) {
        if !self.started {
            // At the first output only: a program that prints nothing does not pay for it.
            let shared = self.shared.clone();
            self.started =
                std::thread::Builder::new().name("oshrun-output".into()).spawn(move || shared.work()).is_ok();
        }
        let mut queue = self.lock();
        if queue.failed.is_some() {
            return;
        }
        queue.bytes += bytes.len();
        match queue.chunks.last_mut() {
            Some((last, joined)) if *last == fd && joined.len() + bytes.len() <= CHUNK => joined.extend(bytes),
            _ => queue.chunks.push((fd, bytes)),
        }
        drop(queue);
        if self.started {
            self.pushed.notify_one();
        } else {
            // No thread to be had: write here, at the price of waiting here.
            self.write_all_queued();
        }
    }
}

impl Sink {
    /// See [`Sinks::give_up`].
    fn is_stuck(&mut self, to: To, most: Duration, now: Instant) -> bool {
        let shared = self.shared.clone();
        let mut queue = shared.lock();
        if queue.bytes == 0 || file::is_terminal(to.fd()) {
            self.taken = None;
            return false;
        }
        let (taken, since) = self.taken.filter(|(taken, _)| *taken == queue.taken).unwrap_or((queue.taken, now));
        self.taken = Some((taken, since));
        if now < since + most {
            return false;
        }
        queue.fail(libc::EPIPE);
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        signal::Set::all().mask();
        loop {
            let mut queue = self.lock();
            while queue.chunks.is_empty() {
                queue = self.pushed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            drop(queue);
            self.write_all_queued();
        }
    }

    fn write_all_queued(&self) {
        let chunks = std::mem::take(&mut self.lock().chunks);
        for (fd, bytes) in chunks {
            let has_reader = !file::is_regular(fd);
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let written = write_some(fd, if has_reader { piece(rest) } else { rest });
                if !self.note(written) {
                    return;
                }
                rest = &rest[written.unwrap_or(0)..];
            }
        }
    }

    /// Takes note of what was written. False: nothing more is to be.
    fn note(&self, written: Result<usize, i32>) -> bool {
        let mut queue = self.lock();
        let before = queue.bytes;
        match written {
            Ok(count) => {
                queue.bytes = before.saturating_sub(count);
                queue.taken += count as u64;
            }
            Err(error) => queue.fail(error),
        }
        let (after, goes_on) = (queue.bytes, queue.failed.is_none());
        drop(queue);
        if after == 0 || (before >= LOW && after < LOW) {
            let _ = file::write(self.wake.as_raw_fd(), &1u64.to_ne_bytes());
        }
        goes_on
    }
}

impl Queue {
    /// Drops what there is, and what is still to come.
    fn fail(&mut self, error: i32) {
        self.failed.get_or_insert(error);
        self.chunks.clear();
        self.bytes = 0;
    }
}

/// The next piece for a reader: whole lines, which the system keeps whole beside those of others, where there are any.
fn piece(bytes: &[u8]) -> &[u8] {
    let most = &bytes[..bytes.len().min(PIECE)];
    most.iter().rposition(|byte| *byte == b'\n').map_or(most, |end| &most[..=end])
}

fn write_some(fd: RawFd, bytes: &[u8]) -> Result<usize, i32> {
    loop {
        match file::write(fd, bytes) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Somebody with whom we share the stream made it nonblocking.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_get_whole_lines() {
        let line = [&[b'x'; 99][..], b"\n"].concat();
        let lines = line.repeat(100);
        assert_eq!(piece(&lines).len(), 4000);
        assert_eq!(piece(b"a\nb"), b"a\n");
        assert_eq!(piece(&[b'x'; 9000]).len(), PIECE);
    }
}
