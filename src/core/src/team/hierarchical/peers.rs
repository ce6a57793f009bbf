//! A group of PEs, as the fabric reaches them.

use super::{Layout, Patience, Waits};
use crate::base::{Cause, Fault};
use crate::inter_host::{Net, Object, PART};
use crate::memory::Map;
use crate::team::contribution::describe_signature;
use crate::team::finalizing::Waiting;
use crate::team::mail::Mail;
use crate::team::pe_list::PeList;
use crate::transport::{Channel, Completion, Event, MESSAGE, Tag, Transport};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Bytes in front of the data of a message: what its sender is in.
const HEAD: usize = 8;
const _: () = assert!(HEAD + PART <= MESSAGE);

/// Which PEs a group consists of.
#[derive(Debug, Clone)]
pub enum Ranks<'a> {
    /// These.
    All(PeList),
    /// One PE of each host of a team.
    Heads {
        /// The team.
        pes: PeList,
        /// First ranks of the hosts.
        heads: &'a [u32],
        /// Its place among the members of its host.
        place: u32,
        /// A host that another member, given by its rank, stands for.
        instead: Option<(usize, u32)>,
    },
    /// The last PE of each host of a team.
    Tails {
        /// The team.
        pes: PeList,
        /// The hosts.
        layout: &'a Layout,
    },
}

impl Ranks<'_> {
    fn size(&self) -> usize {
        match self {
            Self::All(pes) => pes.size(),
            Self::Heads { heads, .. } => heads.len(),
            Self::Tails { layout, .. } => layout.heads.len(),
        }
    }

    pub(in crate::team) fn world(&self, member: usize) -> i32 {
        match self {
            Self::All(pes) => pes.world(member),
            Self::Heads { pes, heads, place, instead } => {
                let rank = match instead {
                    Some((host, rank)) if *host == member => *rank,
                    _ => heads[member] + place,
                };
                pes.world(rank as usize)
            }
            Self::Tails { pes, layout } => pes.world(layout.ranks(member).end as usize - 1),
        }
    }
}

/// This PE in a group, in one collective.
#[derive(Debug)]
pub struct Peers<'a> {
    /// Where symmetric objects are.
    pub map: &'a Map,
    /// The way to PEs of other hosts, and to those of this one that have no mail.
    pub transport: Option<&'a dyn Transport>,
    /// The way to PEs of this host.
    pub mail: Option<&'a Mail>,
    /// Of puts and gets.
    pub channel: Channel,
    /// Who is in it.
    pub ranks: Ranks<'a>,
    /// All members of the collective, of whom they speak for others.
    pub pes: PeList,
    /// This PE's number in it.
    pub me: usize,
    /// Names the group.
    pub group: u64,
    /// Names the collective.
    pub number: u32,
    /// What the collective is ([`crate::team::contribution`]).
    pub signature: u64,
    /// What a member is asked that does not come.
    pub waiting: Waiting,
    /// Of puts and gets that nobody waits for in a call: tells when they are complete.
    pub event: Option<&'static Event>,
    /// What has come.
    pub waits: Arc<Waits>,
}

impl Peers<'_> {
    /// Advances a schedule of this collective's to its end.
    pub fn run<T>(&self, schedule: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let (transport, channel, waiting) = (self.transport, self.channel, self.waiting);
        Patience { transport, channel, waiting, map: self.map, pes: self.pes.clone() }.run(&self.waits, schedule)
    }

    /// The mail, where it is the way to a PE.
    fn mail_to(&self, pe: i32) -> Option<&Mail> {
        let is_local = (pe.wrapping_sub(self.map.first_pe) as u32) < self.map.local_pes;
        self.mail.filter(|_| is_local)
    }

    fn network(&self) -> Result<&dyn Transport, Fault> {
        self.transport.ok_or_else(|| Fault::from(Cause::Network("this job has no network".into())))
    }

    fn completion(&self) -> Completion {
        self.event.map_or(Completion::Deferred, |event| Completion::Event(event.slot()))
    }

    fn tag(&self, step: u32) -> Tag {
        Tag { group: self.group, number: self.number, step }
    }

    #[cold]
    fn mismatch(&self, theirs: u64, pe: i32) -> Fault {
        Fault::from(Cause::Mismatch {
            mine: describe_signature(self.signature),
            theirs: describe_signature(theirs),
            pe,
        })
    }

    /// A message of another size than the same call would have sent.
    #[cold]
    fn odd(&self, bytes: usize, expected: usize, pe: i32) -> Fault {
        Fault::from(Cause::Network(format!(
            "PE {pe} sent {bytes} bytes of {} where {expected} were expected",
            describe_signature(self.signature)
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
        let pe = self.ranks.world(to);
        match self.mail_to(pe) {
            Some(mail) => mail.send(pe, self.tag(step), message),
            None => self.network()?.send(pe, self.tag(step), &message),
        }
    }

    fn try_receive(&self, from: usize, step: u32, into: &mut [u8]) -> Result<bool, Fault> {
        let (pe, tag) = (self.ranks.world(from), self.tag(step));
        let message = match self.mail_to(pe) {
            Some(mail) => mail.take(pe, tag),
            None => self.network()?.take(pe, tag)?,
        };
        let Some(message) = message else {
            self.waits.miss(pe);
            return Ok(false);
        };
        self.waits.take();
        let (head, data) = message.split_first_chunk::<HEAD>().ok_or_else(|| self.odd(message.len(), HEAD, pe))?;
        let theirs = u64::from_le_bytes(*head);
        if theirs != self.signature {
            return Err(self.mismatch(theirs, pe));
        }
        if data.len() != into.len() {
            return Err(self.odd(data.len(), into.len(), pe));
        }
        into.copy_from_slice(data);
        Ok(true)
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
        let (transport, place) = self.map.remote_address("dest", dest, bytes, pe)?;
        // SAFETY: the source is an object of the collective, which settles before it returns.
        unsafe { transport.put(self.channel, place, source, bytes, self.completion()) }
    }

    fn start_get(&self, from: usize, source: &Object, at: usize, into: &mut [u8]) -> Result<bool, Fault> {
        let (pe, source, bytes) = (self.ranks.world(from), source.range(at, into.len()), into.len());
        if bytes == 0 {
            return Ok(true);
        }
        if let Some(there) = self.map.local_mapping(source, bytes, pe) {
            fence(Ordering::Acquire);
            // SAFETY: the object has the bytes, and the member has said that they are ready.
            unsafe { std::ptr::copy_nonoverlapping(there, into.as_mut_ptr(), bytes) };
            return Ok(true);
        }
        if let Some(same) = self.map.source_mapping(source, bytes, pe) {
            fence(Ordering::Acquire);
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(same, into.as_mut_ptr(), bytes) };
            return Ok(true);
        }
        let (transport, place) = self.map.remote_address("source", source, bytes, pe)?;
        let when = self.event.map_or(Completion::Local, |event| Completion::Event(event.slot()));
        // SAFETY: `into` is writable, and stays so until the collective has settled, says the caller.
        unsafe { transport.get(self.channel, into.as_mut_ptr(), place, bytes, when)? };
        Ok(self.event.is_none())
    }

    fn is_settled(&self) -> Result<bool, Fault> {
        fence(Ordering::SeqCst);
        match (self.event, self.transport) {
            (Some(event), _) => Ok(event.is_complete()),
            (None, Some(transport)) => match transport.quiet(self.channel) {
                // Of a PE that is lost, which an earlier collective had something outstanding to.
                Err(fault) if fault.is_loss() && self.map.lost_among(self.pes.iter()).is_none() => Ok(true),
                settled => settled.map(|()| true),
            },
            (None, None) => Ok(true),
        }
    }
}
