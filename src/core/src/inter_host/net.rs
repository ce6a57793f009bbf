//! What a member of a group can do.

use super::Object;
use crate::base::Fault;
use std::future::poll_fn;
use std::task::Poll;

/// Bytes of data in a message at most: a multiple of every element's size, so that parts of an array are arrays.
pub const PART: usize = 8128;
/// Parts that a sender may be ahead of its receiver.
pub(super) const AHEAD: usize = 16;

/// What a message of a collective is for. Those that a member waits for first share a number across the algorithms, so
/// that members which are in different collectives find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Phase {
    First = 0,
    Second,
    Third,
    Fourth,
    Fifth,
    Sixth,
    Credit,
}

/// Number of a step in its collective.
pub const fn step(phase: Phase, round: usize, part: usize) -> u32 {
    (phase as u32) << 28 | (round as u32 & 63) << 22 | part as u32 & 0x3f_ffff
}

/// A member of a group of `size`. Nothing here waits: what cannot be had yet is asked for again.
pub trait Net {
    /// This member's number.
    fn me(&self) -> usize;

    /// Members.
    fn size(&self) -> usize;

    /// Sends at most [`PART`] bytes; never waits for the receiver.
    fn send(&self, to: usize, step: u32, payload: &[u8]) -> Result<(), Fault>;

    /// Takes a message, which has as many bytes as `into`; false where it has not come.
    fn try_receive(&self, from: usize, step: u32, into: &mut [u8]) -> Result<bool, Fault>;

    /// Copies `bytes` bytes at `from` of an object here to `at` of a member's instance of a symmetric object. Complete,
    /// and the source free, after the next [`settle`](#method.settle).
    fn put(&self, to: usize, dest: &Object, at: usize, source: &Object, from: usize, bytes: usize)
    -> Result<(), Fault>;

    /// Begins to read from a member's instance of a symmetric object into memory that stays where it is until
    /// [`Self::is_settled`]. True where the data is there already.
    fn start_get(&self, from: usize, source: &Object, at: usize, into: &mut [u8]) -> Result<bool, Fault>;

    /// Whether all puts and gets are complete.
    fn is_settled(&self) -> Result<bool, Fault>;
}

impl dyn Net + '_ {
    /// Waits for a message, which has as many bytes as `into`.
    pub async fn receive(&self, from: usize, step: u32, into: &mut [u8]) -> Result<(), Fault> {
        until(|| self.try_receive(from, step, into)).await
    }

    /// Reads from a member's instance of a symmetric object.
    pub async fn get(&self, from: usize, source: &Object, at: usize, into: &mut [u8]) -> Result<(), Fault> {
        if self.start_get(from, source, at, into)? { Ok(()) } else { self.settle().await }
    }

    /// Completes all puts.
    pub async fn settle(&self) -> Result<(), Fault> {
        until(|| self.is_settled()).await
    }
}

/// Ready when `done` says so.
pub(super) fn until(mut done: impl FnMut() -> Result<bool, Fault>) -> impl Future<Output = Result<(), Fault>> {
    poll_fn(move |_| match done() {
        Ok(true) => Poll::Ready(Ok(())),
        Ok(false) => Poll::Pending,
        Err(fault) => Poll::Ready(Err(fault)),
    })
}

/// A group whose numbers begin with another member.
pub struct Turned<'a> {
    /// The group.
    pub net: &'a dyn Net,
    /// Who is member 0.
    pub first: usize,
}

impl Turned<'_> {
    fn there(&self, member: usize) -> usize {
        (member + self.first) % self.net.size()
    }
}

impl Net for Turned<'_> {
    fn me(&self) -> usize {
        (self.net.me() + self.net.size() - self.first) % self.net.size()
    }

    fn size(&self) -> usize {
        self.net.size()
    }

    fn send(&self, to: usize, step: u32, payload: &[u8]) -> Result<(), Fault> {
        self.net.send(self.there(to), step, payload)
    }

    fn try_receive(&self, from: usize, step: u32, into: &mut [u8]) -> Result<bool, Fault> {
        self.net.try_receive(self.there(from), step, into)
    }

    fn put(
        &self,
        to: usize,
        dest: &Object,
        at: usize,
        source: &Object,
        from: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        self.net.put(self.there(to), dest, at, source, from, bytes)
    }

    fn start_get(&self, from: usize, source: &Object, at: usize, into: &mut [u8]) -> Result<bool, Fault> {
        self.net.start_get(self.there(from), source, at, into)
    }

    fn is_settled(&self) -> Result<bool, Fault> {
        self.net.is_settled()
    }
}

/// Ranges of at most [`PART`] bytes that make up `bytes` bytes; one empty range for none.
pub(super) fn parts(bytes: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let count = bytes.div_ceil(PART).max(1);
    (0..count).map(move |i| (i, i * PART..bytes.min((i + 1) * PART)))
}

/// Whether a part of a stream is one that its receiver answers, and that its sender waits for [`AHEAD`] parts later.
fn marked(part: usize) -> bool {
    part.is_multiple_of(AHEAD)
}

/// Sends `bytes` bytes of an object as messages, never far ahead of the receiver.
pub(super) async fn stream_out(
    net: &dyn Net,
    to: usize,
    phase: Phase,
    round: usize,
    data: &Object,
    at: usize,
    bytes: usize,
) -> Result<(), Fault> {
    let mut part = vec![0u8; PART];
    for (i, range) in parts(bytes) {
        if marked(i) && i > 0 {
            net.receive(to, step(Phase::Credit, round, i - AHEAD), &mut []).await?;
        }
        let part = &mut part[..range.len()];
        data.read(at + range.start, part);
        net.send(to, step(phase, round, i), part)?;
    }
    Ok(())
}

/// The other end of [`stream_out`]: gives each part to `take`, with where it lies in the whole.
pub(super) async fn stream_in(
    net: &dyn Net,
    from: usize,
    phase: Phase,
    round: usize,
    bytes: usize,
    take: &mut dyn FnMut(usize, &mut [u8]),
) -> Result<(), Fault> {
    let mut part = super::Buffer::new(bytes.min(PART));
    let last = bytes.div_ceil(PART).max(1) - 1;
    for (i, range) in parts(bytes) {
        let part = &mut part.bytes()[..range.len()];
        net.receive(from, step(phase, round, i), part).await?;
        if marked(i) && i + AHEAD <= last {
            net.send(from, step(Phase::Credit, round, i), &[])?;
        }
        take(range.start, part);
    }
    Ok(())
}
