//! libfabric: PEs of other hosts, over whatever network the provider drives.
//!
//! One endpoint a PE, one lock around it. Puts and gets are RMA operations of the provider's; what the target's CPU has to do
//! (atomics in the CPU's domain, signals, batches of small puts) and messages of collectives are active messages. libfabric
//! is opened when a job needs it, and by nothing else.
//!
//! | file | idea |
//! |---|---|
//! | `start`, `settings`, `choose`, `describe` | libfabric opened; which provider and interface, and why |
//! | `port`, `card`, `peers` | what is open, what others must know of it, what is known of them |
//! | `engine`, `op`, `channel` | the state behind the lock: completions, records in flight, what is outstanding |
//! | `rma`, `requests`, `nic`, `order` | operations on their way out, and what orders them |
//! | `failure`, `links` | what goes wrong, and how it is noticed |
//! | `message`, `serve` | what PEs send each other, and how it is carried out |
//! | `active` | active messages to handlers of a front end |
//! | `shared`, `progress` | threads: how they wait, and the one that serves while the program computes |
#![allow(unsafe_code)]

mod active;
mod card;
mod channel;
mod choose;
mod describe;
mod engine;
mod failure;
mod links;
mod message;
mod nic;
mod op;
mod order;
mod peers;
mod port;
mod progress;
mod requests;
mod rma;
mod row;
mod serve;
mod settings;
mod shared;
mod start;
mod wire;

pub use row::ROW;
pub use settings::{Settings, Sleep};
pub use wire::Wire;

use crate::base::{Cause, Fault};
use crate::os::bell::Bell;
use crate::os::random;
use crate::os::tcp;
use crate::transport::{
    Atomic, Atomics, Capabilities, Channel, Completion, CounterRow, Description, Directory, Incoming, Lane, MESSAGE,
    MessageLimits, Outgoing, RemoteAddress, SegmentId, SignalOp, Tag, Transport,
};
use engine::{Engine, RECEIVES};
use message::{HEADER, Header, What, encode_tag};
use op::Kind;
use peers::Peer;
use shared::Shared;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wire::Count;

/// How long a PE that is about to end waits for others to take in what it has sent since the PEs last agreed that all has come:
/// there is something only where tools communicate from exit handlers without a barrier of all PEs behind it.
const FAREWELL: Duration = Duration::from_secs(2);
/// Channels that can be open at a time.
const CHANNELS: usize = 1 << 16;

/// A PE's connection to PEs of other hosts.
pub struct Fabric {
    shared: Arc<Shared>,
    thread: progress::Thread,
    atomics: Atomics,
    card: Vec<u8>,
    description: Description,
    /// Numbers of channels that were closed.
    closed: Mutex<Vec<u32>>,
}

impl fmt::Debug for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fabric").field("description", &self.description).finish_non_exhaustive()
    }
}

impl Fabric {
    /// Opens an endpoint for PE `me` of `npes` and makes the segments (address, bytes: heap, then data, which may be empty)
    /// accessible to peers. They stay mapped as long as the fabric lives.
    ///
    /// # Safety
    /// The segments are mapped, and whoever else uses them expects others to write there at any time.
    pub unsafe fn open(
        settings: &Settings,
        regions: [(usize, usize); 2],
        me: u32,
        npes: u32,
        directory: Directory,
    ) -> Result<Self, Fault> {
        let library = start::open(settings)?;
        let choice = start::first_look(&library, settings, npes, || choose::choose(&library, settings))?;
        let port = port::Port::open(library.clone(), &choice, regions, settings)?;
        let [token] = random::words()?;
        let card = port.card(token)?.encode()?;
        let description = describe::describe(&library, &choice, &port, settings);
        let wire = Arc::new(Wire::default());
        let mut engine = Engine {
            port,
            me,
            peers: peers::Peers::new(npes),
            channels: vec![Some(channel::Channel::default())],
            ops: op::Ops::default(),
            pool: op::Pool::default(),
            outgoing: std::collections::VecDeque::new(),
            active: active::Active::default(),
            segments: std::collections::HashMap::new(),
            replies: Vec::new(),
            unposted: Vec::new(),
            mailed: Vec::new(),
            mailbox: std::collections::HashMap::new(),
            early: std::collections::HashMap::new(),
            flying: 0,
            flown: 0,
            asleep: false,
            bell: Arc::new(Bell::new()?),
            broken: None,
            card: card.clone(),
            token,
            wire,
            directory: Arc::new(directory),
            hosts: Arc::default(),
        };
        for _ in 0..RECEIVES {
            let op = engine.ops.take(Kind::Receive, 0, me);
            let buffer = engine.buffer()?;
            // SAFETY: a fresh record.
            unsafe { (*op).buffer = Some(buffer) };
            engine.post_receive(op);
        }
        engine.check()?;
        static FORKS: AtomicBool = AtomicBool::new(false);
        if !FORKS.swap(true, Ordering::AcqRel) {
            extern "C" fn nothing() {}
            crate::os::fork::handlers(nothing, nothing, shared::in_child);
        }
        let shared = Arc::new(Shared::new(engine, settings.crowded, npes));
        let thread = progress::Thread::start(shared.clone())?;
        Ok(Self { shared, thread, atomics: settings.atomics, card, description, closed: Mutex::new(Vec::new()) })
    }

    /// Counters.
    pub fn wire(&self) -> &Wire {
        &self.shared.wire
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        if shared::is_child() {
            // What the parent has open is the parent's: nothing of it is closed here.
            std::mem::forget(self.shared.clone());
            return;
        }
        self.thread.stop(&self.shared);
        self.thread.join();
    }
}

impl Transport for Fabric {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reaches_other_hosts: true, puts_at_once: false, atomics_with_cpu: self.atomics == Atomics::Cpu }
    }

    fn endpoint_address(&self) -> &[u8] {
        &self.card
    }

    fn internet_address(&self) -> Option<IpAddr> {
        let card = card::Card::decode(&self.card)?;
        tcp::decode(&card.name).map(|(address, _)| address)
    }

    fn describe(&self) -> Description {
        self.description.clone()
    }

    fn counters(&self) -> Vec<CounterRow> {
        self.shared.wire.rows()
    }

    fn all_arrived(&self) {
        if !shared::is_child()
            && let Ok(mut engine) = self.shared.lock()
        {
            engine.forget_mailed();
        }
    }

    fn drain(&self) {
        if shared::is_child() {
            return;
        }
        self.shared.settle(FAREWELL);
        self.thread.stop(&self.shared);
        // The thread looks at the flag behind the lock: from here on it does not enter libfabric any more, whose exit handlers
        // would fail under it.
        drop(self.shared.lock());
    }

    fn progress(&self) -> bool {
        if shared::is_child() {
            return false;
        }
        self.shared.attend();
        self.shared.try_lock().is_some_and(|mut engine| engine.attend())
    }

    fn open_channel(&self) -> Option<Channel> {
        let mut engine = self.shared.lock().ok()?;
        let number = match self.closed.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(number) => number,
            None if engine.channels.len() < CHANNELS => {
                engine.channels.push(None);
                engine.channels.len() as u32 - 1
            }
            None => return None,
        };
        engine.channels[number as usize] = Some(channel::Channel::default());
        Some(Channel(number))
    }

    fn close_channel(&self, channel: Channel) {
        if channel == Channel::DEFAULT || shared::is_child() {
            return;
        }
        // A signal handler that interrupted a call leaves the channel open.
        let Ok(mut engine) = self.shared.lock() else { return };
        engine.channels[channel.0 as usize] = None;
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).push(channel.0);
    }

    unsafe fn register(&self, segment: SegmentId, start: *mut u8, bytes: usize) -> Result<Vec<u8>, Fault> {
        let [key, base] = self.shared.lock()?.port.add_segment(segment, start, bytes)?;
        Ok([key.to_ne_bytes(), base.to_ne_bytes()].concat())
    }

    fn deregister(&self, segment: SegmentId) {
        if let Ok(mut engine) = self.shared.lock() {
            engine.port.remove_segment(segment);
        }
    }

    fn introduce(&self, pe: i32, segment: SegmentId, key: &[u8]) -> Result<(), Fault> {
        let mut reader = message::Reader(key);
        let words = (reader.u64(), reader.u64());
        let ((Some(key), Some(base)), true) = (words, reader.0.is_empty()) else {
            let text = format!("{} bytes are no key of segment {} of PE {pe}", key.len(), segment.0);
            return Err(Fault::from(Cause::Network(text)));
        };
        self.shared.lock()?.segments.insert((pe as u32, segment), (key, base));
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
        unsafe { self.shared.put(channel.0, to, source, bytes, when) }
    }

    unsafe fn get(
        &self,
        channel: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        unsafe { self.shared.get(channel.0, dest, from, bytes, when) }
    }

    unsafe fn atomic(
        &self,
        channel: Channel,
        at: RemoteAddress,
        atomic: Atomic,
        when: Completion,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        unsafe {
            match self.atomics {
                Atomics::Cpu => self.shared.amo(channel.0, at, atomic, when),
                Atomics::Nic => self.shared.nic_amo(channel.0, at, atomic, when),
            }
        }
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
        unsafe { self.shared.put_signal(channel.0, to, source, bytes, signal, value, op, when) }
    }

    fn fence(&self, channel: Channel) -> Result<(), Fault> {
        self.shared.fence(channel.0)
    }

    fn quiet(&self, channel: Channel) -> Result<(), Fault> {
        self.shared.quiet(channel.0)
    }

    fn quiet_pes(&self, channel: Channel, pes: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        self.shared.quiet_pes(channel.0, pes)
    }

    fn message_limits(&self) -> MessageLimits {
        self.shared.message_limits()
    }

    fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        self.shared.try_send_message(lane, to, message)
    }

    fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        self.shared.deliver_messages(lane, most, run)
    }

    fn all_messages_handled(&self) -> Result<bool, Fault> {
        self.shared.all_messages_handled()
    }

    fn ask(&self, channel: Channel, pe: i32, question: [u64; 3]) -> Result<u64, Fault> {
        self.shared.ask(channel.0, pe, question)
    }

    fn send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<(), Fault> {
        if payload.len() > MESSAGE {
            let text = format!("a message of {} bytes: at most {MESSAGE} are possible", payload.len());
            return Err(Fault::from(Cause::Network(text)));
        }
        let mut engine = self.shared.enter(pe)?;
        let Some(peer) = engine.peers.get(pe as u32) else { return Ok(()) };
        let token = peer.token;
        if !peer.has(Peer::MAILED) {
            peer.flags |= Peer::MAILED;
            engine.mailed.push(pe as u32);
        }
        let op = engine.ops.take(Kind::Mail, 0, pe as u32);
        let buffer = engine.buffer()?;
        let header = Header { what: What::Mail, hello: false, from: engine.me, number: 0, id: 0, token };
        let tag = encode_tag(tag);
        // SAFETY: a fresh record, and a buffer that has room for the largest message.
        unsafe {
            buffer.write(0, &header.encode());
            buffer.write(HEADER, &tag);
            buffer.write(HEADER + tag.len(), payload);
            (*op).buffer = Some(buffer);
            (*op).bytes = HEADER + tag.len() + payload.len();
        }
        engine.wire.add(Count::messages, 1);
        engine.send(op);
        engine.check()
    }

    fn take(&self, pe: i32, tag: Tag) -> Result<Option<Vec<u8>>, Fault> {
        if shared::is_child() {
            return Ok(None);
        }
        let mut engine = self.shared.lock()?;
        let key = (pe as u32, tag);
        if let Some(queue) = engine.mailbox.get_mut(&key) {
            let message = queue.pop_front();
            if queue.is_empty() {
                engine.mailbox.remove(&key);
            }
            return Ok(message);
        }
        engine.check().map(|()| None)
    }
}
