//! A transport that does whatever it may: operations are carried out late and in any order that fences leave, messages
//! come late and in any order, and requests are refused at times. It has a row, as any other.
//!
//! Its PEs are of one process, and find each other by the number that each has as its endpoint address. `mod.rs` is the
//! transport, `operations.rs` what is under way in it, `node.rs` what others reach of a PE.
#![allow(unsafe_code)]

mod node;
mod operations;

use super::random::Random;
use node::{Late, Mail, Node};
use operations::{Act, Operation, Operations, Source};
use pellucid_core::base::{Cause, Fault};
use pellucid_core::transport::registry::{Open, Row};
use pellucid_core::transport::{
    Atomic, COPIED, Capabilities, Channel, Completion, CounterRow, Incoming, Lane, MESSAGE, MessageLimits, OpenRequest,
    Outgoing, Owned, RemoteAddress, SegmentId, SignalOp, Tag, Transport,
};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// See `registry`.
pub const ROW: Row = Row {
    name: "delayed",
    doc: "For tests: everything late, and in any order.",
    probe: || Ok(()),
    open: Open::BetweenHosts(|request| Ok(Box::new(Delayed::new(request)))),
    leave: || (),
    counters: || vec![BEGUN],
};

const BEGUN: (&str, &str) = ("begun", "Operations begun.");

/// Requests that a PE has not handled, beyond which it is sent no more.
const ROOM: usize = 40;

/// Operations that are under way at a time.
const UNDER_WAY: usize = 64;

/// All that have been opened, by their endpoint addresses.
static NODES: Mutex<Vec<Weak<Node>>> = Mutex::new(Vec::new());

struct Delayed {
    node: Arc<Node>,
    npes: u32,
    address: [u8; 8],
    peers: Mutex<HashMap<i32, Arc<Node>>>,
    /// Where segments of others are that this PE has been told of.
    introduced: Mutex<HashMap<(i32, SegmentId), (usize, usize)>>,
    operations: Mutex<Operations>,
    random: Mutex<Random>,
    lost: Mutex<HashMap<i32, Fault>>,
    /// Lost PEs to which something was outstanding on a channel.
    owing: Mutex<HashSet<(u32, i32)>>,
    begun: AtomicU64,
}

impl std::fmt::Debug for Delayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PE {}, delayed", self.node.me)
    }
}

fn fault(text: String) -> Fault {
    Fault::from(Cause::Network(text))
}

impl Delayed {
    fn new(request: OpenRequest) -> Self {
        let segments = request.segments.iter().map(|(id, start, bytes)| (*id, (*start, *bytes)));
        let node = Arc::new(Node::new(request.pe as i32, segments.collect(), request.directory));
        let mut nodes = NODES.lock().unwrap();
        nodes.push(Arc::downgrade(&node));
        Self {
            node,
            npes: request.npes,
            address: (nodes.len() as u64 - 1).to_ne_bytes(),
            peers: Mutex::default(),
            introduced: Mutex::default(),
            operations: Mutex::default(),
            random: Mutex::new(Random(0x9e37_79b9 + nodes.len() as u64)),
            lost: Mutex::default(),
            owing: Mutex::default(),
            begun: AtomicU64::new(0),
        }
    }

    fn below(&self, n: usize) -> usize {
        self.random.lock().unwrap().below(n)
    }

    /// A PE that is not lost.
    fn peer(&self, pe: i32) -> Result<Arc<Node>, Fault> {
        if pe as u32 >= self.npes {
            return Err(Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: self.npes.into() }));
        }
        if let Some(fault) = self.lost.lock().unwrap().get(&pe) {
            return Err(fault.clone());
        }
        if let Some(node) = self.peers.lock().unwrap().get(&pe) {
            return Ok(node.clone());
        }
        let address = (self.node.directory.address)(pe as u32)?;
        let number = address.try_into().map(u64::from_ne_bytes);
        let number = number.map_err(|_| fault(format!("PE {pe}: its endpoint address is not understood")))?;
        let node = NODES.lock().unwrap()[number as usize].upgrade();
        let node = node.ok_or_else(|| fault(format!("PE {pe} is gone")))?;
        self.peers.lock().unwrap().insert(pe, node.clone());
        Ok(node)
    }

    /// Where an object is.
    fn at(&self, object: RemoteAddress, bytes: usize) -> Result<usize, Fault> {
        let RemoteAddress { pe, segment, offset } = object;
        let peer = self.peer(pe)?;
        let known = match segment < SegmentId::FREE {
            true => peer.segments.lock().unwrap().get(&segment).copied(),
            false => self.introduced.lock().unwrap().get(&(pe, segment)).copied(),
        };
        let (start, len) = known.ok_or_else(|| fault(format!("segment {} of PE {pe} is not known here", segment.0)))?;
        assert!(offset + bytes <= len, "{bytes} bytes at {offset} of segment {} of PE {pe}", segment.0);
        Ok(start + offset)
    }

    /// Takes an operation up. What has to be complete at the return is carried out, after what a fence puts before it.
    fn begin(&self, channel: Channel, pe: i32, act: Act, when: Completion, at_return: bool) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let event = if let Completion::Event(slot) = when { Some(slot) } else { None };
        event.inspect(|slot| slot.begin());
        let mut operations = self.operations.lock().unwrap();
        let operation = Operation { channel, pe, epoch: operations.epoch(channel), act, event };
        if at_return {
            operations.carry_out_before(&operation);
            operation.carry_out();
        } else {
            operations.under_way.push(operation);
            if operations.under_way.len() > UNDER_WAY {
                operations.carry_out_one(&mut self.random.lock().unwrap(), |_| true);
            }
        }
    }

    /// Something is still to be told of a lost PE.
    fn check(&self, channel: Channel, pes: impl Fn(i32) -> bool) -> Result<(), Fault> {
        let owing = self.owing.lock().unwrap();
        let lost = owing.iter().find(|(of, pe)| *of == channel.0 && pes(*pe)).map(|(_, pe)| *pe);
        lost.and_then(|pe| self.lost.lock().unwrap().get(&pe).cloned()).map_or(Ok(()), Err)
    }
}

impl Transport for Delayed {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reaches_other_hosts: true, puts_at_once: false, atomics_with_cpu: true }
    }

    fn endpoint_address(&self) -> &[u8] {
        &self.address
    }

    fn counters(&self) -> Vec<CounterRow> {
        vec![(BEGUN.0, BEGUN.1, self.begun.load(Ordering::Relaxed))]
    }

    // Messages lie with their receivers, and there are no threads.
    fn lose(&self, pe: i32, fault: &Fault, _: bool) {
        self.lost.lock().unwrap().insert(pe, fault.clone());
        let mut owing = self.owing.lock().unwrap();
        self.operations.lock().unwrap().under_way.retain(|operation| {
            if operation.pe == pe {
                owing.insert((operation.channel.0, pe));
                operation.event.inspect(|slot| slot.fail(fault));
                operation.event.inspect(|slot| slot.end());
            }
            operation.pe != pe
        });
        self.node.unhandled.lock().unwrap().remove(&pe);
    }

    fn forget_lost(&self, pe: i32) {
        self.owing.lock().unwrap().retain(|(_, lost)| *lost != pe);
    }

    fn progress(&self) -> bool {
        self.below(4) == 0 && self.operations.lock().unwrap().carry_out_one(&mut self.random.lock().unwrap(), |_| true)
    }

    fn open_channel(&self) -> Option<Channel> {
        Some(self.operations.lock().unwrap().open_channel())
    }

    fn close_channel(&self, channel: Channel) {
        self.operations.lock().unwrap().close_channel(channel);
    }

    unsafe fn register(&self, segment: SegmentId, start: *mut u8, bytes: usize) -> Result<Vec<u8>, Fault> {
        let mut segments = self.node.segments.lock().unwrap();
        if segments.contains_key(&segment) {
            return Err(fault(format!("segment {}: the number is taken", segment.0)));
        }
        segments.insert(segment, (start as usize, bytes));
        Ok([(start as usize).to_ne_bytes(), bytes.to_ne_bytes()].concat())
    }

    fn deregister(&self, segment: SegmentId) {
        self.node.segments.lock().unwrap().remove(&segment);
    }

    fn introduce(&self, pe: i32, segment: SegmentId, key: &[u8]) -> Result<(), Fault> {
        let ([start, bytes], []) = key.as_chunks::<8>() else {
            return Err(fault(format!("{} bytes are no key of segment {} of PE {pe}", key.len(), segment.0)));
        };
        let place = (usize::from_ne_bytes(*start), usize::from_ne_bytes(*bytes));
        self.introduced.lock().unwrap().insert((pe, segment), place);
        Ok(())
    }

    unsafe fn put(
        &self,
        channel: Channel,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        let source = unsafe { Source::new(source, bytes, when == Completion::Local || bytes <= COPIED) };
        self.begin(channel, to.pe, Act::Put { to: self.at(to, bytes)?, source }, when, false);
        Ok(())
    }

    unsafe fn get(
        &self,
        channel: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        let act = Act::Get { dest: dest as usize, from: self.at(from, bytes)?, bytes };
        self.begin(channel, from.pe, act, when, when == Completion::Local);
        Ok(())
    }

    unsafe fn atomic(
        &self,
        channel: Channel,
        at: RemoteAddress,
        atomic: Atomic,
        when: Completion,
    ) -> Result<(), Fault> {
        let act = Act::atomic(self.at(at, atomic.width.into())?, atomic);
        self.begin(channel, at.pe, act, when, when == Completion::Local && !atomic.result.is_null());
        Ok(())
    }

    unsafe fn put_signal(
        &self,
        channel: Channel,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        signal: RemoteAddress,
        value: u64,
        op: SignalOp,
        when: Completion,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        let source = unsafe { Source::new(source, bytes, when == Completion::Local || bytes <= COPIED) };
        let update = Act::atomic(self.at(signal, 8)?, Atomic::of_signal(op, value));
        let act = Act::PutSignal { to: self.at(to, bytes)?, source, update: Box::new(update) };
        self.begin(channel, to.pe, act, when, false);
        Ok(())
    }

    fn fence(&self, channel: Channel) -> Result<(), Fault> {
        self.operations.lock().unwrap().fence(channel);
        self.check(channel, |_| true)
    }

    fn quiet(&self, channel: Channel) -> Result<(), Fault> {
        let is_of = |operation: &Operation| operation.channel == channel;
        while self.operations.lock().unwrap().carry_out_one(&mut self.random.lock().unwrap(), is_of) {}
        self.check(channel, |_| true)
    }

    fn quiet_pes(&self, channel: Channel, pes: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        let pes: Vec<i32> = pes.collect();
        let is_of = |operation: &Operation| operation.channel == channel && pes.contains(&operation.pe);
        while self.operations.lock().unwrap().carry_out_one(&mut self.random.lock().unwrap(), is_of) {}
        self.check(channel, |pe| pes.contains(&pe))
    }

    fn message_limits(&self) -> MessageLimits {
        MessageLimits { medium: 3000 }
    }

    fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        let peer = self.peer(to)?;
        let mut waiting = peer.messages[lane as usize].lock().unwrap();
        if lane == Lane::Request {
            if self.below(3) == 0 || waiting.len() >= ROOM {
                return Ok(false);
            }
            self.node.count_request(to);
        }
        waiting.push(Late { from: self.node.clone(), message: Owned::new(message), polls: self.below(6) });
        Ok(true)
    }

    fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let mut count = 0;
        while count < most {
            let mut waiting = self.node.messages[lane as usize].lock().unwrap();
            waiting.iter_mut().for_each(|late| late.polls = late.polls.saturating_sub(1));
            let ready: Vec<usize> = (0..waiting.len()).filter(|i| waiting[*i].polls == 0).collect();
            if ready.is_empty() {
                break;
            }
            let Late { from, mut message, .. } = waiting.swap_remove(ready[self.below(ready.len())]);
            drop(waiting);
            let mut incoming = message.arrive(from.me);
            run(&mut incoming)?;
            // The end of the exchange: the reply's handler has run, or there is none.
            match lane {
                Lane::Request if !incoming.replied => from.end_request(self.node.me),
                Lane::Reply => self.node.end_request(from.me),
                Lane::Request => (),
            }
            count += 1;
        }
        Ok(count)
    }

    fn all_messages_handled(&self) -> Result<bool, Fault> {
        Ok(self.node.unhandled.lock().unwrap().is_empty())
    }

    fn messages_handled_by(&self, pe: i32) -> Option<bool> {
        Some(!self.node.unhandled.lock().unwrap().contains_key(&pe))
    }

    fn ask(&self, _: Channel, pe: i32, question: [u64; 3]) -> Result<u64, Fault> {
        Ok((self.peer(pe)?.directory.answer)(question))
    }

    fn send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<(), Fault> {
        if payload.len() > MESSAGE {
            return Err(fault(format!("a message of {} bytes: at most {MESSAGE} are possible", payload.len())));
        }
        let mail = Mail { from: self.node.me, tag, payload: payload.to_vec(), polls: self.below(6) };
        self.peer(pe)?.mail.lock().unwrap().push(mail);
        Ok(())
    }

    fn take(&self, pe: i32, tag: Tag) -> Result<Option<Vec<u8>>, Fault> {
        let mut mail = self.node.mail.lock().unwrap();
        mail.iter_mut().for_each(|mail| mail.polls = mail.polls.saturating_sub(1));
        // Those of one tag keep their order.
        let first = mail.iter().position(|mail| (mail.from, mail.tag) == (pe, tag));
        Ok(first.filter(|at| mail[*at].polls == 0).map(|at| mail.remove(at).payload))
    }
}
