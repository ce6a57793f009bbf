//! PEs that are lost, in a job that goes on without them.
//!
//! The launcher decides who is lost. A connection that breaks makes its PE a suspect only: what was outstanding stays
//! so until the launcher's word is there. Where that does not come, the PE is alive, and the network between the two is
//! cut, while both reach the launcher: it is told, and ends the PEs of one of the two hosts. Where nothing comes of
//! that, or it cannot be told, the network has failed.
//!
//! With that word all that is outstanding to the PE ends, whatever the provider does with it: over TCP it may hold a
//! transfer to a host that is cut off for a quarter of an hour. The record of such a transfer, and the buffer in it,
//! are left to the provider until it has done with them.
#![allow(unsafe_code)]

use super::counters::Counter;
use super::endpoint::Endpoint;
use super::endpoint_state::EndpointState;
use super::op::{Kind, Op};
use super::peers::Peer;
use crate::base::{Cause, Fault};
use crate::os::tcp;
use crate::transport::EventSlot;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the launcher's word about a suspect is waited for: it notices a host that is cut off after 7 s.
const GRACE: Duration = Duration::from_secs(15);

/// A PE that may be lost.
#[derive(Debug)]
pub(super) struct Suspect {
    pe: u32,
    since: Instant,
    /// The launcher was told.
    told: bool,
    /// What it is for the network.
    fault: Fault,
}

impl Endpoint {
    /// See [`crate::transport::Transport::survive`].
    pub fn survive(&self) {
        self.survives.store(true, Ordering::Release);
        if let Ok(mut state) = self.lock() {
            state.survives = true;
        }
    }

    /// See [`crate::transport::Transport::lose`].
    pub fn lose(&self, pe: u32, fault: &Fault, with_host: bool) {
        if let Ok(mut state) = self.lock() {
            state.lose(pe, fault);
        }
        // The kernel would hold what is under way for a quarter of an hour, and with it what the provider has of it.
        if let Some(ip) = self.hosts.address_of(pe).filter(|_| with_host) {
            tcp::shut_down(ip);
        }
    }

    /// See [`crate::transport::Transport::forget_lost`].
    pub fn forget_lost(&self, pe: u32) {
        if let Ok(mut state) = self.lock() {
            state.channels.iter_mut().flatten().for_each(|channel| channel.lost.retain(|lost| *lost != pe));
        }
    }
}

impl EndpointState {
    /// Whether a PE is lost.
    pub fn is_lost(&mut self, pe: u32) -> bool {
        self.survives && self.peers.get(pe).is_some_and(|peer| peer.has(Peer::LOST))
    }

    /// What operations to a PE come to that is lost.
    #[cold]
    pub fn lost_fault(&self, pe: u32) -> Fault {
        let known = self.lost.get(&pe).cloned();
        known.unwrap_or_else(|| Fault::from(Cause::Lost { pe: pe as i32, how: "the job goes on without it".into() }))
    }

    fn lose(&mut self, pe: u32, fault: &Fault) {
        if self.lost.contains_key(&pe) {
            return;
        }
        self.lost.insert(pe, fault.clone());
        if let Some(peer) = self.peers.get(pe) {
            peer.flags |= Peer::LOST;
        }
        self.suspects.retain(|suspect| suspect.pe != pe);
        self.unconfirmed.retain(|other| *other != pe);
        self.early.retain(|(from, _), _| *from != pe);
        self.active.lose(pe);
        // SAFETY: records in these lists are this endpoint's.
        let is_to = |op: &*mut Op| unsafe { (**op).pe == pe };
        self.outgoing.retain(|op| !is_to(op));
        self.later.retain(|op| !is_to(op));
        self.replies.retain(|op| !is_to(op));
        self.channels.iter_mut().flatten().for_each(|channel| channel.lose(pe));
        for op in self.ops.to(pe) {
            self.abandon(op);
        }
        self.wake();
    }

    /// An operation to a PE that is lost ends: whoever counts it or waits for it is told.
    #[cold]
    pub fn abandon(&mut self, op: *mut Op) {
        // SAFETY: a record of this endpoint's in flight.
        let record = unsafe { &mut *op };
        if std::mem::replace(&mut record.abandoned, true) {
            return;
        }
        let (channel, pe) = (record.channel, record.pe);
        let signals = u32::from(record.then.take().is_some());
        record.results.clear();
        // Its caller's memory is the caller's again.
        record.copy = (0, std::ptr::null_mut(), 0);
        if let Some(what) = record.kind.what() {
            let fault = self.lost_fault(pe);
            for event in record.events.drain(..) {
                event.fail(&fault);
                EventSlot::end(event);
            }
            let channel = self.channel(channel);
            channel.done(pe, what, record.begun).signals -= signals;
            // Who waits for it hears of it now, and the others with their quiet.
            if !record.waited && !channel.lost.contains(&pe) {
                channel.lost.push(pe);
            }
        }
        record.done = record.waited;
        if record.posted {
            self.held.0 += 1;
            self.held.1 += usize::from(record.buffer.is_some());
        } else {
            self.clear_abandoned(op);
        }
    }

    /// The provider has nothing of an operation any more that was ended before.
    pub fn clear_abandoned(&mut self, op: *mut Op) {
        // SAFETY: as above.
        let record = unsafe { &mut *op };
        if let Some(buffer) = record.buffer.take() {
            self.reply_buffers -= usize::from(record.kind == Kind::Reply);
            self.pool.give(buffer);
        }
        if !record.mr.is_null() {
            // SAFETY: registered for this transfer, which is over.
            unsafe { self.domain.release(std::mem::replace(&mut record.mr, std::ptr::null_mut())) };
        }
        if !record.waited && !record.posting {
            // SAFETY: nobody has it any more.
            unsafe { self.ops.give(op) };
        }
    }

    /// The fault of an operation that its thread cannot hand to the provider, since its PE is lost; its record goes.
    #[cold]
    pub fn refuse(&mut self, op: *mut Op) -> Fault {
        // SAFETY: the record is in the hands of the calling thread, which has not posted it.
        let (pe, ended) = unsafe {
            (*op).waited = true;
            (*op).posting = false;
            ((*op).pe, (*op).abandoned)
        };
        if !ended {
            self.abandon(op);
        }
        // SAFETY: as above; its buffer was given back.
        unsafe { self.ops.give(op) };
        self.lost_fault(pe)
    }

    /// A PE may be lost.
    #[cold]
    pub fn suspect(&mut self, pe: u32, fault: Fault) {
        if !self.is_suspect(pe) {
            self.suspects.push(Suspect { pe, since: Instant::now(), told: false, fault });
        }
    }

    /// Whether a PE is known to be lost, or to be a suspect. To be asked before a fault is made of something: that asks
    /// the launcher for the host's name, and what is tried again and again fails as often.
    pub fn is_suspect(&self, pe: u32) -> bool {
        self.lost.contains_key(&pe) || self.suspects.iter().any(|suspect| suspect.pe == pe)
    }

    /// As [`Self::suspect`], since the provider refuses something.
    #[cold]
    pub fn suspect_error(&mut self, kind: Kind, pe: u32, result: isize) {
        if self.is_suspect(pe) {
            return;
        }
        let why = self.domain.library.strerror(result as i64);
        let fault = self.fault(pe, &format!("{} to", kind.text()), &why);
        self.suspect(pe, fault);
    }

    /// The network has failed where a PE that seemed to be lost is not, unless the launcher ends it, or this one.
    pub fn check_suspects(&mut self) {
        let mut failed = None;
        for suspect in self.suspects.iter_mut().filter(|suspect| suspect.since.elapsed() >= GRACE) {
            let is_new = !std::mem::replace(&mut suspect.told, true);
            suspect.since = Instant::now();
            if !is_new || !(self.directory.unreached)(suspect.pe, &suspect.fault.to_string()) {
                failed = Some(suspect.fault.clone());
            }
        }
        failed.into_iter().for_each(|fault| self.fail(fault));
    }

    /// The provider has given up a transfer, and says why. It is outstanding until its PE is lost.
    #[cold]
    pub fn transfer_failed(&mut self, op: *mut Op, why: &str) {
        // SAFETY: one of this endpoint's records, whose transfer is over.
        let record = unsafe { &mut *op };
        let (kind, pe, bytes) = (record.kind, record.pe, record.bytes);
        self.counters.add(Counter::lost, 1);
        if !self.is_suspect(pe) {
            let fault = self.fault(pe, &format!("{} of {bytes} bytes to", kind.text()), why);
            self.suspect(pe, fault);
        }
        if record.abandoned || matches!(kind, Kind::Mail | Kind::Active) {
            return self.sent(op);
        }
        // Where it is a request, its reply will not come either: the record is as one that was never posted.
        record.posted = false;
        self.in_flight -= 1;
        if let Some(peer) = self.peers.get(pe) {
            peer.in_flight -= 1;
        }
    }

    /// The fault of a quiet, where a PE was lost with something outstanding.
    pub fn tell_of_losses(&mut self, channel: u32, among: Option<&[u32]>) -> Result<(), Fault> {
        if !self.survives {
            return Ok(());
        }
        self.channel(channel).take_lost(among).map_or(Ok(()), |pe| Err(self.lost_fault(pe)))
    }
}
