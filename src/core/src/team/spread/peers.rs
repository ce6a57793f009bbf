//! A group of PEs, as the fabric reaches them.

use super::Layout;
use crate::base::{Cause, Fault};
use crate::group::{Net, Object, PART};
use crate::memory::Map;
use crate::os::wait::Backoff;
use crate::team::leaving::{Asking, Waiting};
use crate::team::post::show;
use crate::transport::{Channel, Completion, MESSAGE, Tag, Transport};
use std::sync::atomic::{Ordering, fence};

/// Bytes in front of the data of a message: what its sender is in.
const HEAD: usize = 8;
const _: () = assert!(HEAD + PART <= MESSAGE);

/// Which PEs a group consists of.
#[derive(Debug, Clone, Copy)]
pub enum Ranks<'a> {
    /// `start + stride * i`, of the world.
    All {
        /// World number of member 0.
        start: i32,
        /// Distance.
        stride: i32,
        /// Members.
        size: usize,
    },
    /// One PE of each host of a team.
    Heads {
        /// World number of the team's PE 0.
        start: i32,
        /// Distance.
        stride: i32,
        /// First ranks of the hosts.
        heads: &'a [u32],
        /// Which of a host's members it is.
        lane: u32,
        /// A host that another member, given by its rank, stands for.
        instead: Option<(usize, u32)>,
    },
    /// The last PE of each host of a team.
    Tails {
        /// World number of the team's PE 0.
        start: i32,
        /// Distance.
        stride: i32,
        /// The hosts.
        layout: &'a Layout,
    },
}

impl Ranks<'_> {
    fn size(&self) -> usize {
        match self {
            Self::All { size, .. } => *size,
            Self::Heads { heads, .. } => heads.len(),
            Self::Tails { layout, .. } => layout.heads.len(),
        }
    }

    pub(in crate::team) fn world(&self, member: usize) -> i32 {
        match self {
            Self::All { start, stride, .. } => start + stride * member as i32,
            Self::Heads { start, stride, heads, lane, instead } => {
                let rank = match instead {
                    Some((host, rank)) if *host == member => *rank,
                    _ => heads[member] + lane,
                };
                start + stride * rank as i32
            }
            Self::Tails { start, stride, layout } => start + stride * (layout.ranks(member).end as i32 - 1),
        }
    }
}

/// This PE in a group, in one collective.
#[derive(Debug)]
pub struct Peers<'a> {
    /// Where symmetric objects are.
    pub map: &'a Map,
    /// The way to the others.
    pub transport: &'a dyn Transport,
    /// Of puts and gets.
    pub channel: Channel,
    /// Who is in it.
    pub ranks: Ranks<'a>,
    /// This PE's number in it.
    pub me: usize,
    /// Names the group.
    pub group: u64,
    /// Names the collective.
    pub number: u32,
    /// What the collective is ([`crate::team::post`]).
    pub signature: u64,
    /// What a member is asked that does not come.
    pub waiting: Waiting,
}

impl Peers<'_> {
    fn tag(&self, step: u32) -> Tag {
        Tag { group: self.group, number: self.number, step }
    }

    #[cold]
    fn mismatch(&self, theirs: u64, pe: i32) -> Fault {
        Fault::from(Cause::Mismatch { mine: show(self.signature), theirs: show(theirs), pe })
    }

    /// A message of another size than the same call would have sent.
    #[cold]
    fn odd(&self, bytes: usize, expected: usize, pe: i32) -> Fault {
        Fault::from(Cause::Network(format!(
            "PE {pe} sent {bytes} bytes of {} where {expected} were expected",
            show(self.signature)
        )))
    }
}

#[allow(unsafe_code)]
impl Net for Peers<'_> {
    fn me(&self) -> usize {
        self.me
    }

    fn size(&self) -> usize {
        self.ranks.size()
    }

    fn send(&self, to: usize, step: u32, payload: &[u8]) -> Result<(), Fault> {
        let mut message = Vec::with_capacity(HEAD + payload.len());
        message.extend_from_slice(&self.signature.to_le_bytes());
        message.extend_from_slice(payload);
        self.transport.send(self.ranks.world(to), self.tag(step), &message)
    }

    fn receive(&self, from: usize, step: u32, into: &mut [u8]) -> Result<(), Fault> {
        let (pe, tag) = (self.ranks.world(from), self.tag(step));
        let (mut backoff, mut asking) = (Backoff::new(self.map.crowded), Asking::new());
        let message = loop {
            if let Some(message) = self.transport.take(pe, tag)? {
                break message;
            }
            if !self.transport.progress() && backoff.turn() {
                asking.look(self.transport, self.channel, pe, &self.waiting)?;
            }
        };
        let (head, data) = message.split_first_chunk::<HEAD>().ok_or_else(|| self.odd(message.len(), HEAD, pe))?;
        let theirs = u64::from_le_bytes(*head);
        if theirs != self.signature {
            return Err(self.mismatch(theirs, pe));
        }
        if data.len() != into.len() {
            return Err(self.odd(data.len(), into.len(), pe));
        }
        into.copy_from_slice(data);
        Ok(())
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
        let (pe, dest, source) = (self.ranks.world(to), dest.range(at, bytes), source.range(from, bytes));
        if bytes == 0 {
            return Ok(());
        }
        if let Some(there) = self.map.local_mapping(dest, bytes, pe) {
            // SAFETY: both objects have the bytes; the member has said that it is in the call.
            unsafe { std::ptr::copy(source, there, bytes) };
            return Ok(());
        }
        let (_, place) = self.map.remote_address("dest", dest, bytes, pe)?;
        // SAFETY: the source is an object of the collective, which settles before it returns.
        unsafe { self.transport.put(self.channel, place, source, bytes, Completion::Deferred) }
    }

    fn get(&self, from: usize, source: &Object, at: usize, into: &mut [u8]) -> Result<(), Fault> {
        let (pe, source, bytes) = (self.ranks.world(from), source.range(at, into.len()), into.len());
        if bytes == 0 {
            return Ok(());
        }
        if let Some(there) = self.map.local_mapping(source, bytes, pe) {
            fence(Ordering::Acquire);
            // SAFETY: the object has the bytes, and the member has said that they are ready.
            unsafe { std::ptr::copy_nonoverlapping(there, into.as_mut_ptr(), bytes) };
            return Ok(());
        }
        let (_, place) = self.map.remote_address("source", source, bytes, pe)?;
        // SAFETY: `into` is writable.
        unsafe { self.transport.get(self.channel, into.as_mut_ptr(), place, bytes, Completion::Local) }
    }

    fn settle(&self) -> Result<(), Fault> {
        fence(Ordering::SeqCst);
        self.transport.quiet(self.channel)
    }
}
