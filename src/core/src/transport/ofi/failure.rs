//! What goes wrong, and how it is noticed.
#![allow(unsafe_code)]

use super::address::EndpointAddress;
use super::channel::Channel;
use super::counters::Counter;
use super::endpoint::Endpoint;
use super::endpoint_state::EndpointState;
use super::liveness::Lost;
use super::op::{Kind, Op};
use super::peers::Peer;
use super::sockets::Reach;
use crate::base::{Cause, Fault};
use crate::os::{interface, tcp};
use libfabric_sys as fi;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a connection is waited for that is refused: to a PE that was never reached, and to one that was.
const REFUSED: (Duration, Duration) = (Duration::from_secs(8), Duration::from_secs(4));
/// How long one is waited for where nobody answers, not even to refuse it: as long as Linux asks. The PE may be stopped
/// while more connect to it than its kernel keeps; or a firewall is between.
const UNANSWERED: Duration = Duration::from_secs(120);
/// How long one is waited for where nothing is known of it, as with network cards. Whether the PE's process is still
/// there, the launcher knows.
const UNKNOWN: Duration = Duration::from_secs(600);
/// Transfers under way that no provider refuses another one for.
const FEW: u16 = 16;

/// An internet address and a port.
type SocketName = (IpAddr, u16);

impl Endpoint {
    /// A host is lost: so is the job, wherever its threads are.
    #[cold]
    pub fn lost(&self, lost: &Lost) {
        let Lost { pe, host, silent } = lost;
        let text = format!("lost host {host}, where PE {pe} is: nothing has come from it for {} s", silent.as_secs());
        let fault = Fault::from(Cause::Network(text));
        if self.survives.load(Ordering::Acquire) {
            if let Ok(mut state) = self.lock() {
                state.suspect(*pe, fault);
            }
            return;
        }
        (self.directory.lost)(fault.clone());
        if let Ok(mut state) = self.lock() {
            state.fail(fault);
        }
    }
}

impl EndpointState {
    /// A fault about a PE.
    #[cold]
    pub fn fault(&self, pe: u32, what: &str, why: &str) -> Fault {
        let host = (self.directory.host)(pe);
        let host = if host.is_empty() { String::new() } else { format!(" on {host}") };
        Fault::from(Cause::Network(format!("{what} PE {pe}{host}: {why} (provider {})", self.domain.provider)))
    }

    /// Remembers the first fault that ends it all.
    #[cold]
    pub fn fail(&mut self, fault: Fault) {
        self.broken.get_or_insert(fault);
    }

    /// The fault that ended it all.
    pub fn check(&self) -> Result<(), Fault> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// Judges a PE to which nothing can be posted since some time. Providers refuse a transfer where they have no room
    /// for it, which ends by itself, and while they connect, which some try for ever, even where the connection is
    /// refused: it is the latter where little is under way that could take the room. A PE that is stopped does not
    /// connect either; but its kernel does.
    pub fn fail_if_unreachable(&mut self, pe: u32, since: Instant) {
        let Some(peer) = self.peers.get(pe) else { return };
        let (in_flight, address, reached) = (peer.in_flight, peer.address, peer.has(Peer::REACHED));
        let refused = if reached { REFUSED.1 } else { REFUSED.0 };
        let few = in_flight <= FEW && self.in_flight <= 4 * u32::from(FEW);
        if !few || since.elapsed() < refused || self.is_suspect(pe) {
            return;
        }
        let (patience, why) = match self.reach(address) {
            Reach::Connected => return,
            Reach::Refused => (refused, "no connection"),
            Reach::Unanswered => (UNANSWERED, "nobody answers"),
            Reach::Unknown => (UNKNOWN, "no connection"),
        };
        if since.elapsed() < patience {
            return;
        }
        let what = if reached { "lost the connection to" } else { "cannot reach" };
        let why = format!("{why} for {} seconds{}", patience.as_secs(), self.way(address));
        let fault = self.fault(pe, what, &why);
        if self.survives { self.suspect(pe, fault) } else { self.fail(fault) }
    }

    /// What the kernel knows of connections to the PE that has an address of the provider's.
    fn reach(&mut self, address: u64) -> Reach {
        let Some((here, there)) = self.ends(address) else { return Reach::Unknown };
        self.sockets.look().reach(there, here.map(|(_, port)| port))
    }

    /// Internet addresses and ports of this PE and of the one that has an address of the provider's; `None`: it has
    /// none.
    fn ends(&self, address: u64) -> Option<(Option<SocketName>, SocketName)> {
        let there = if self.domain.over_tcp() { self.domain.name_of(address) } else { None };
        let there = tcp::decode(&there?)?;
        Some((EndpointAddress::decode(&self.endpoint_address).and_then(|here| tcp::decode(&here.name)), there))
    }

    /// Which way a connection would take: `, from 10.0.2.15 (eth1) to 10.0.2.16`.
    fn way(&self, address: u64) -> String {
        let Some((Some((here, _)), (there, _))) = self.ends(address) else { return String::new() };
        let own = interface::addresses().into_iter().find(|(_, own)| *own == here);
        let own = own.map(|(name, _)| format!(" ({name})")).unwrap_or_default();
        format!(", from {here}{own} to {there}")
    }

    /// PEs to which something is outstanding, on any channel.
    fn outstanding(&self) -> impl Iterator<Item = u32> {
        self.channels.iter().flatten().flat_map(Channel::waits_for)
    }

    /// One of the PEs to which something is outstanding.
    pub fn waits_for(&self) -> Option<u32> {
        self.outstanding().min()
    }

    /// Sends an empty reply to everybody who owes something. It does nothing there; but some providers lose what is
    /// under way when a connection breaks, without a word, and notice with the next message that nobody is there.
    pub fn nudge(&mut self) {
        let mut pes: Vec<u32> = self.outstanding().collect();
        pes.sort_unstable();
        pes.dedup();
        for pe in pes {
            // SAFETY: records in this list are this endpoint's.
            if !self.outgoing.iter().any(|op| unsafe { (**op).pe == pe })
                && let Some(op) = self.new_reply(pe)
            {
                self.replies.retain(|reply| *reply != op);
                self.send(op);
            }
        }
    }

    /// An operation has failed.
    #[cold]
    pub fn error(&mut self) {
        // SAFETY: a zeroed entry is valid, and the queue is open.
        let (entry, text) = unsafe {
            let mut entry: fi::fi_cq_err_entry = std::mem::zeroed();
            if fi::fi_cq_readerr(self.domain.cq, &raw mut entry) <= 0 {
                return;
            }
            let mut buffer = [0; 256];
            let text =
                fi::fi_cq_strerror(self.domain.cq, entry.prov_errno, entry.err_data, buffer.as_mut_ptr(), buffer.len());
            (entry, super::choose::text(text))
        };
        let mut why = self.domain.library.strerror(i64::from(entry.err));
        if !text.is_empty() && text != why {
            why = format!("{why}, {text}");
        }
        if entry.err == libc::EFAULT {
            why.push_str(
                ", no memory of this PE: freed before shmem_quiet, as a compiler's copy of an array section is",
            );
        }
        let op: *mut Op = entry.op_context.cast();
        if !self.ops.contains(op) {
            // An injected message, or something of the provider's own.
            self.counters.add(Counter::lost, 1);
            return;
        }
        // SAFETY: one of this endpoint's records.
        let (kind, pe, bytes) = unsafe { ((*op).kind, (*op).pe, (*op).bytes) };
        match kind {
            Kind::Receive => {
                self.counters.add(Counter::lost, 1);
                self.post_receive(op);
            }
            Kind::Reply => {
                self.counters.add(Counter::lost, 1);
                self.sent(op);
            }
            _ if self.survives => self.transfer_failed(op, &why),
            _ => {
                let fault = self.fault(pe, &format!("{} of {bytes} bytes to", kind.text()), &why);
                self.fail(fault);
            }
        }
    }
}
