//! The state of a fabric, all of it behind one lock, and what moves it on: completions.
#![allow(unsafe_code)]

use super::channel::{Channel, What};
use super::counters::{Counter, NetworkCounters};
use super::domain::Domain;
use super::liveness::Hosts;
use super::op::{Buffer, Kind, Op, Ops, Pool};
use super::peers::{Peer, Peers};
use super::sockets::Sockets;
use crate::base::{Cause, Fault};
use crate::os::wakeup::Wakeup;
use crate::transport::Directory;
use crate::transport::{EventSlot, RemoteAddress, SegmentId, Tag};
use libfabric_sys as fi;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// Receives that are posted ahead.
pub(super) const RECEIVES: usize = 32;
/// Completions that are read at once.
const BATCH: usize = 16;
/// Bytes that sockets take at once for sure. With more on the way, the provider may have kept some that have to be sent
/// when there is room: the progress thread, which sleeps on what the provider looked at before, has to look again.
const PATIENT: usize = 4096;

/// Behind the lock.
pub(super) struct EndpointState {
    pub domain: Domain,
    pub me: u32,
    pub peers: Peers,
    pub channels: Vec<Option<Channel>>,
    pub ops: Ops,
    pub pool: Pool,
    /// Messages that the provider had no room for.
    pub outgoing: VecDeque<*mut Op>,
    /// Transfers that were left to the progress thread.
    pub later: VecDeque<*mut Op>,
    /// What is begun with an event is left to it.
    pub posts_beside: bool,
    /// So are messages that are sent now.
    pub leaves: bool,
    /// Replies that are being filled.
    pub replies: Vec<*mut Op>,
    /// Receives that the provider had no room for.
    pub unposted: Vec<*mut Op>,
    /// PEs that messages were sent to since this PE last made sure that they have come.
    pub unconfirmed: Vec<u32>,
    /// Active messages to handlers.
    pub active: super::active::Active,
    /// Key and base of further segments of other PEs.
    pub segments: HashMap<(u32, SegmentId), (u64, u64)>,
    /// Messages of collectives that have come.
    pub mailbox: HashMap<(u32, Tag), VecDeque<Vec<u8>>>,
    /// Requests that came before earlier ones of their sender.
    pub early: HashMap<(u32, u32), Vec<u8>>,
    /// Transfers that the provider has taken and not completed.
    pub in_flight: u32,
    /// Bytes that were posted since nothing was under way.
    pub bytes_in_flight: usize,
    /// The progress thread sleeps, or is about to, and may have to be woken.
    pub asleep: bool,
    pub wakeup: Arc<Wakeup>,
    /// The job goes on without PEs that are lost.
    pub survives: bool,
    /// PEs that are lost, and what operations to them come to.
    pub lost: BTreeMap<u32, Fault>,
    /// Records that the provider has still of operations that were ended, and buffers in them.
    pub held: (usize, usize),
    /// Buffers of replies: others decide how many there are.
    pub reply_buffers: usize,
    /// PEs that may be lost.
    pub suspects: Vec<super::losses::Suspect>,
    /// The fault that ended it all.
    pub broken: Option<Fault>,
    /// This PE's endpoint address.
    pub endpoint_address: Vec<u8>,
    /// What messages of the job's PEs to this one have.
    pub token: u64,
    pub counters: Arc<NetworkCounters>,
    pub directory: Arc<Directory>,
    pub hosts: Arc<Hosts>,
    pub sockets: Sockets,
}

// SAFETY: the pointers are to objects of libfabric's, which may be used by any thread, to records that belong to the
// endpoint, and to memory of callers, who vouch for it; all are used under the lock only.
unsafe impl Send for EndpointState {}

impl EndpointState {
    /// A channel that is open.
    pub fn channel(&mut self, channel: u32) -> &mut Channel {
        // Channels are named by whoever opened them; a closed one is as good as a new one.
        self.channels[channel as usize].get_or_insert_default()
    }

    /// A buffer for a message or for data on their way.
    pub fn buffer(&mut self) -> Result<Buffer, Fault> {
        self.pool.take(&mut self.domain)
    }

    /// Where an object of a PE is, for the provider: the PE's address, the object's, and the key.
    pub fn remote_address(&mut self, place: RemoteAddress) -> Option<(u64, u64, u64)> {
        let peer = self.peers.get(place.pe as u32)?;
        let i = usize::from(place.segment.0);
        // Out of the packed record.
        let (address, keys, bases) = (peer.address, peer.keys, peer.bases);
        let (key, base) = match (keys.get(i), bases.get(i)) {
            (Some(key), Some(base)) => (*key, *base),
            _ => *self.segments.get(&(place.pe as u32, place.segment))?,
        };
        Some((address, base + place.offset as u64, key))
    }

    /// As [`Self::progress`], in a thread of the program. The progress thread is told where there may be more to do.
    pub fn progress_and_wake(&mut self) -> bool {
        let something = self.progress();
        if something {
            self.wake();
        }
        something
    }

    /// Handles what has completed and sends what waits to be sent. Gives whether anything happened.
    pub fn progress(&mut self) -> bool {
        let mut something = !self.later.is_empty() && self.post_later();
        let mut entries = [fi::fi_cq_msg_entry { op_context: std::ptr::null_mut(), flags: 0, len: 0 }; BATCH];
        loop {
            self.counters.add(Counter::polls, 1);
            // SAFETY: the queue is open and of the format of these entries.
            let n = unsafe { fi::fi_cq_read(self.domain.cq, entries.as_mut_ptr().cast(), BATCH) };
            if n == fi::EAVAIL {
                self.error();
            } else if n > 0 {
                for entry in &entries[..n as usize] {
                    self.complete(entry.op_context.cast(), entry.len);
                }
            } else {
                if n != fi::EAGAIN && n != 0 {
                    let text = format!("reading completions: {}", self.domain.library.strerror(n as i64));
                    self.fail(Fault::from(Cause::Network(text)));
                }
                break;
            }
            something = true;
            if n < BATCH as isize {
                break;
            }
        }
        while let Some(op) = self.replies.pop() {
            self.send(op);
        }
        if !self.outgoing.is_empty() {
            something |= self.again();
        }
        if !self.unposted.is_empty() {
            for op in std::mem::take(&mut self.unposted) {
                self.post_receive(op);
            }
        }
        if !self.suspects.is_empty() {
            self.check_suspects();
        }
        something
    }

    /// A completion.
    fn complete(&mut self, op: *mut Op, len: usize) {
        if op.is_null() {
            return;
        }
        // SAFETY: contexts are records of this endpoint, in flight until this moment.
        let kind = unsafe { (*op).kind };
        if kind == Kind::Receive {
            self.received(op, len);
            self.post_receive(op);
        } else {
            self.sent(op);
        }
    }

    /// The transfer of an operation is complete.
    pub fn sent(&mut self, op: *mut Op) {
        // SAFETY: as above.
        let record = unsafe { &mut *op };
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.bytes_in_flight = 0;
        }
        if let Some(peer) = self.peers.get(record.pe) {
            peer.in_flight -= 1;
            peer.flags |= Peer::REACHED;
        }
        record.posted = false;
        if record.abandoned {
            self.held.0 -= 1;
            self.held.1 -= usize::from(record.buffer.is_some());
            return self.clear_abandoned(op);
        }
        if record.kind == Kind::Request
            && let Some(buffer) = record.buffer.take()
        {
            self.pool.give(buffer);
        }
        self.complete_part(op);
    }

    /// One of the completions of an operation has come; the last one ends it.
    pub fn complete_part(&mut self, op: *mut Op) {
        // SAFETY: the record is in flight: it is this endpoint's and is not given back before its last part, below.
        let record = unsafe { &mut *op };
        record.parts -= 1;
        let (channel, pe) = (record.channel, record.pe);
        if record.kind == Kind::Request {
            if record.parts > 0 {
                return;
            }
            let peer = self.channel(channel).done(pe, What::Requests, record.begun);
            if peer.requests == 1 && !peer.open.is_null() {
                // Nothing is under way to that PE any more: what has been collected meanwhile goes.
                self.flush(channel, pe);
            }
        } else if !self.complete_transfer(record) {
            // SAFETY: a message that is sent, and nobody waits for.
            unsafe { self.ops.give(op) };
            return;
        }
        // SAFETY: as above.
        unsafe { (*op).events.drain(..) }.for_each(EventSlot::end);
        // SAFETY: the last use of the record here; whoever waits for it gives it back.
        unsafe {
            if (*op).waited {
                (*op).done = true;
            } else {
                self.ops.give(op);
            }
        }
    }

    /// Data of an operation has come or gone: its buffers are given back, and whoever counts it is told. False for a
    /// message, which nobody counts.
    fn complete_transfer(&mut self, record: &mut Op) -> bool {
        let (channel, pe) = (record.channel, record.pe);
        let (from, to, bytes) = record.copy;
        if let Some(buffer) = record.buffer.take() {
            if bytes > 0 {
                // SAFETY: the caller of the operation vouched for its memory until this moment.
                unsafe { std::ptr::copy_nonoverlapping(buffer.start.add(from), to, bytes) };
            }
            self.reply_buffers -= usize::from(record.kind == Kind::Reply);
            self.pool.give(buffer);
        }
        if !record.mr.is_null() {
            // SAFETY: registered for this transfer, which is over.
            unsafe { self.domain.release(std::mem::replace(&mut record.mr, std::ptr::null_mut())) };
        }
        let Some(what) = record.kind.what() else { return false };
        if let Some(then) = record.then.take() {
            self.signal(channel, then, record.begun);
        }
        if record.kind == Kind::Read {
            self.counters.add(Counter::bytes_in, record.bytes as u64);
        }
        self.channel(channel).done(pe, what, record.begun);
        true
    }

    /// The PEs that messages were sent to, which are known to have them or are asked now.
    pub fn take_unconfirmed(&mut self) -> Vec<u32> {
        let unconfirmed = std::mem::take(&mut self.unconfirmed);
        for pe in &unconfirmed {
            if let Some(peer) = self.peers.get(*pe) {
                peer.flags &= !Peer::UNCONFIRMED;
            }
        }
        unconfirmed
    }

    /// Sends a complete message, now or as soon as the provider has room.
    pub fn send(&mut self, op: *mut Op) {
        if self.leaves || !self.post(op) {
            // SAFETY: the record is this endpoint's, and in flight from now on.
            unsafe { (*op).since = Some(Instant::now()) };
            self.outgoing.push_back(op);
            self.wake();
        }
    }

    /// Tries messages that the provider had no room for again, of each PE in their order.
    fn again(&mut self) -> bool {
        let mut refused: Vec<u32> = Vec::new();
        let mut something = false;
        for _ in 0..self.outgoing.len().min(256) {
            let Some(op) = self.outgoing.pop_front() else { break };
            // SAFETY: records in this list are messages that are complete and not posted.
            let (pe, since) = unsafe { ((*op).pe, (*op).since) };
            if !refused.contains(&pe) && self.post(op) {
                something = true;
                continue;
            }
            refused.push(pe);
            self.outgoing.push_back(op);
            if let Some(since) = since {
                self.fail_if_unreachable(pe, since);
            }
        }
        something
    }

    /// Wakes the progress thread, where it sleeps on what the provider looked at before.
    pub fn wake(&mut self) {
        if std::mem::take(&mut self.asleep) {
            self.wakeup.signal();
        }
    }

    /// The provider has taken a transfer of some bytes to a PE.
    pub fn note_posted(&mut self, pe: u32, bytes: usize) {
        self.in_flight += 1;
        self.bytes_in_flight = self.bytes_in_flight.saturating_add(bytes);
        if self.bytes_in_flight > PATIENT {
            self.wake();
        }
        if let Some(peer) = self.peers.get(pe) {
            peer.in_flight += 1;
        }
    }

    /// The provider does not take a message, whatever room it has. False: it is to be tried again.
    #[cold]
    fn is_refused(&mut self, kind: Kind, pe: u32, result: isize) -> bool {
        if kind == Kind::Reply {
            self.counters.add(Counter::lost, 1);
        } else if self.survives {
            self.suspect_error(kind, pe, result);
            return false;
        } else {
            let why = self.domain.library.strerror(result as i64);
            let fault = self.fault(pe, &format!("{} to", kind.text()), &why);
            self.fail(fault);
        }
        true
    }

    /// The provider has no room for an operation.
    pub fn note_no_room(&mut self, op: *mut Op) {
        // SAFETY: callers pass the record of an operation that they are posting.
        if unsafe { (*op).is_first_without_room() } {
            self.counters.add(Counter::retries, 1);
        }
    }

    /// Posts a message; false where the provider has no room.
    fn post(&mut self, op: *mut Op) -> bool {
        // SAFETY: the record is this endpoint's and holds a complete message.
        let record = unsafe { &mut *op };
        let Some(buffer) = record.buffer else { return true };
        let (pe, bytes) = (record.pe, record.bytes);
        if self.survives && self.is_lost(pe) {
            self.abandon(op);
            return true;
        }
        if self.is_behind(pe) {
            return false;
        }
        let address = self.peers.get(pe).map_or(fi::FI_ADDR_UNSPEC, |peer| peer.address);
        let inject = bytes <= self.domain.inject;
        // SAFETY: the buffer holds the message, and belongs to the provider until the completion, or to nobody after an
        // injection.
        let result = unsafe {
            if inject {
                fi::fi_inject(self.domain.ep, buffer.start.cast(), bytes, address)
            } else {
                let iov = fi::iovec { iov_base: buffer.start.cast(), iov_len: bytes };
                let mut descriptor = buffer.descriptor;
                let message = fi::fi_msg {
                    msg_iov: &raw const iov,
                    desc: &raw mut descriptor,
                    iov_count: 1,
                    addr: address,
                    context: op.cast(),
                    data: 0,
                };
                fi::fi_sendmsg(self.domain.ep, &raw const message, fi::FI_COMPLETION)
            }
        };
        // The others are of a system that is short of memory, which passes; what does not is found as with the first.
        if [fi::EAGAIN, -(libc::ENOMEM as isize), -(libc::ENOBUFS as isize)].contains(&result) {
            self.note_no_room(op);
            return false;
        }
        if result != 0 {
            return self.is_refused(record.kind, pe, result);
        }
        self.counters.add(Counter::bytes_out, bytes as u64);
        record.posted = true;
        self.note_posted(pe, bytes);
        if inject {
            self.counters.add(Counter::injects, 1);
            self.sent(op);
        }
        true
    }

    /// Posts a receive.
    pub fn post_receive(&mut self, op: *mut Op) {
        // SAFETY: the record is this endpoint's, with a buffer of its own.
        let result = unsafe {
            let Some(buffer) = (*op).buffer else { return };
            fi::fi_recv(self.domain.ep, buffer.start.cast(), super::message::BUFFER, buffer.descriptor, op.cast())
        };
        match result {
            0 => {}
            fi::EAGAIN => self.unposted.push(op),
            error => {
                let text = format!("posting a receive: {}", self.domain.library.strerror(error as i64));
                self.fail(Fault::from(Cause::Network(text)));
            }
        }
    }
}

impl Drop for EndpointState {
    fn drop(&mut self) {
        self.pool.release(&self.domain);
    }
}
