//! libfabric: PEs of other hosts, over whatever network the provider drives.
//!
//! One endpoint a PE, one lock around it. Puts and gets are RMA operations of the provider's; what the target's CPU has
//! to do (atomics in the CPU's domain, signals, batches of small puts) and messages of collectives are active messages.
//! libfabric is opened when a job needs it, and by nothing else.
//!
//! | file | idea |
//! |---|---|
//! | `start`, `settings`, `choose`, `describe` | libfabric opened; which provider and interface, and why |
//! | `domain`, `address`, `peers` | what is open, what others must know of it, what is known of them |
//! | `endpoint_state`, `op`, `channel` | the state behind the lock: completions, records in flight, what is outstanding |
//! | `rma`, `requests`, `nic`, `order` | operations on their way out, and what orders them |
//! | `later` | transfers that another thread hands to the provider |
//! | `failure`, `liveness`, `sockets` | what goes wrong, and how it is noticed |
//! | `losses` | PEs that are lost, in a job that goes on without them |
//! | `message`, `serve` | what PEs send each other, and how it is carried out |
//! | `active` | active messages to handlers of a front end |
//! | `process_exit` | the end of the process, while other threads are in libfabric |
//! | `endpoint`, `progress` | threads: how they wait, and the one that serves while the program computes |
#![allow(unsafe_code)]

mod active;
mod address;
mod channel;
mod choose;
mod counters;
mod describe;
mod domain;
mod endpoint;
mod endpoint_state;
mod failure;
mod later;
mod liveness;
mod losses;
mod message;
mod nic;
mod op;
mod order;
mod peers;
mod process_exit;
mod progress;
mod requests;
mod rma;
mod row;
mod serve;
mod settings;
mod sockets;
mod start;

pub use counters::NetworkCounters;
pub use row::ROW;
pub use settings::{Settings, Sleep};

use crate::base::{Cause, Fault};
use crate::os::random;
use crate::os::remains;
use crate::os::tcp;
use crate::os::wakeup::Wakeup;
use crate::transport::{
    Atomic, Atomics, Blocks, Capabilities, Channel, Completion, CounterRow, Description, Directory, Incoming, Lane,
    MESSAGE, MessageLimits, Outgoing, RemoteAddress, SegmentId, SignalOp, Tag, Transport,
};
use counters::Counter;
use endpoint::Endpoint;
use endpoint_state::{EndpointState, RECEIVES};
use message::{HEADER, Header, MessageType, encode_tag};
use op::Kind;
use peers::Peer;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a PE that is about to end waits for others to take in what it has sent since the PEs last agreed that all
/// has come: there is something only where tools communicate from exit handlers without a barrier of all PEs behind it.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// Channels that can be open at a time.
const CHANNELS: usize = 1 << 16;

/// A PE's connection to PEs of other hosts.
pub struct Fabric {
    endpoint: Arc<Endpoint>,
    thread: progress::Thread,
    atomics: Atomics,
    endpoint_address: Vec<u8>,
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
    /// Opens an endpoint for PE `me` of `npes` and makes the segments (address, bytes: heap, then data, which may be
    /// empty) accessible to peers. They stay mapped as long as the fabric lives.
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
        let opening = process_exit::opening();
        let library = start::open(settings)?;
        let choice = start::first_look(settings, npes, || choose::choose(&library, settings))?;
        let domain = domain::Domain::open(library.clone(), &choice, regions, settings)?;
        note_file(&domain)?;
        let [token] = random::words()?;
        let endpoint_address = domain.endpoint_address(token)?.encode()?;
        let description = describe::describe(&library, &choice, &domain, settings);
        let mut state = EndpointState {
            domain,
            me,
            peers: peers::Peers::new(npes),
            channels: vec![Some(channel::Channel::default())],
            ops: op::Ops::default(),
            pool: op::Pool::default(),
            outgoing: std::collections::VecDeque::new(),
            later: std::collections::VecDeque::new(),
            posts_beside: settings.posts_beside,
            leaves: false,
            active: active::Active::default(),
            segments: std::collections::HashMap::new(),
            replies: Vec::new(),
            unposted: Vec::new(),
            unconfirmed: Vec::new(),
            mailbox: std::collections::HashMap::new(),
            early: std::collections::HashMap::new(),
            in_flight: 0,
            bytes_in_flight: 0,
            asleep: false,
            wakeup: Arc::new(Wakeup::new()?),
            survives: false,
            lost: BTreeMap::new(),
            held: (0, 0),
            reply_buffers: 0,
            suspects: Vec::new(),
            broken: None,
            endpoint_address: endpoint_address.clone(),
            token,
            counters: Arc::default(),
            directory: Arc::new(directory),
            hosts: Arc::default(),
            sockets: sockets::Sockets::default(),
        };
        post_receives(&mut state)?;
        observe_forks();
        let endpoint = Arc::new(Endpoint::new(state, settings.oversubscribed, npes));
        opening.tell(&endpoint);
        let thread = progress::Thread::start(endpoint.clone())?;
        let (atomics, closed) = (settings.atomics, Mutex::default());
        Ok(Self { endpoint, thread, atomics, endpoint_address, description, closed })
    }

    /// Counters.
    pub fn network_counters(&self) -> &NetworkCounters {
        &self.endpoint.counters
    }
}

/// The provider `shm` makes a file for the endpoint, which it would remove when that is closed. It is not: exit
/// handlers of tools communicate to the last, and other PEs may be reached for the first time there.
fn note_file(domain: &domain::Domain) -> Result<(), Fault> {
    if domain.provider.split(';').next() == Some("shm") {
        let name = domain.endpoint_address(0)?.name;
        let text = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let file = std::str::from_utf8(text).ok().and_then(|text| text.strip_prefix("fi_shm://"));
        if let Some(file) = file.filter(|file| !file.contains('/')) {
            remains::note(&format!("/dev/shm/{file}"));
        }
    }
    Ok(())
}

/// Has the endpoint take messages.
fn post_receives(state: &mut EndpointState) -> Result<(), Fault> {
    for _ in 0..RECEIVES {
        let op = state.ops.take(Kind::Receive, 0, state.me);
        let buffer = state.buffer()?;
        // SAFETY: a fresh record.
        unsafe { (*op).buffer = Some(buffer) };
        state.post_receive(op);
    }
    state.check()
}

/// Has a forked child know that the endpoint is its parent's.
fn observe_forks() {
    static FORKS: AtomicBool = AtomicBool::new(false);
    if !FORKS.swap(true, Ordering::AcqRel) {
        crate::os::fork::in_child(endpoint::in_child);
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        if endpoint::is_child() {
            // What the parent has open is the parent's: nothing of it is closed here.
            std::mem::forget(self.endpoint.clone());
            return;
        }
        self.thread.stop(&self.endpoint);
        self.thread.join();
    }
}

impl Transport for Fabric {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reaches_other_hosts: true, puts_at_once: false, atomics_with_cpu: self.atomics == Atomics::Cpu }
    }

    fn endpoint_address(&self) -> &[u8] {
        &self.endpoint_address
    }

    fn internet_address(&self) -> Option<IpAddr> {
        let endpoint_address = address::EndpointAddress::decode(&self.endpoint_address)?;
        tcp::decode(&endpoint_address.name).map(|(address, _)| address)
    }

    fn describe(&self) -> Description {
        self.description.clone()
    }

    fn counters(&self) -> Vec<CounterRow> {
        self.endpoint.counters.rows()
    }

    fn all_arrived(&self) {
        if !endpoint::is_child()
            && let Ok(mut state) = self.endpoint.lock()
        {
            state.take_unconfirmed();
        }
    }

    fn drain(&self) {
        if endpoint::is_child() {
            return;
        }
        self.endpoint.drain_messages(DRAIN_LIMIT);
        self.thread.stop(&self.endpoint);
        // The thread looks at the flag behind the lock: from here on it does not enter libfabric any more, whose exit
        // handlers would fail under it.
        drop(self.endpoint.lock());
        self.thread.join();
        self.endpoint.wait_for_helper();
    }

    fn progress_beside(&self) {
        if self.endpoint.posts_beside {
            self.endpoint.progress_beside();
        }
    }

    fn leave_messages(&self, leave: bool) {
        self.endpoint.leaves.store(leave && self.endpoint.posts_beside, Ordering::Relaxed);
    }

    fn leaves_messages(&self) -> bool {
        self.endpoint.leaves.load(Ordering::Relaxed)
    }

    fn survive(&self) {
        self.endpoint.survive();
    }

    fn lose(&self, pe: i32, fault: &Fault, with_host: bool) {
        self.endpoint.lose(pe as u32, fault, with_host);
    }

    fn forget_lost(&self, pe: i32) {
        self.endpoint.forget_lost(pe as u32);
    }

    fn progress(&self) -> bool {
        if endpoint::is_child() {
            return false;
        }
        if self.endpoint.leaves.load(Ordering::Relaxed) {
            return false;
        }
        self.endpoint.count_progress();
        self.endpoint.try_lock().is_some_and(|mut state| state.progress_and_wake())
    }

    fn open_channel(&self) -> Option<Channel> {
        let mut state = self.endpoint.lock().ok()?;
        let number = match self.closed.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(number) => number,
            None if state.channels.len() < CHANNELS => {
                state.channels.push(None);
                state.channels.len() as u32 - 1
            }
            None => return None,
        };
        state.channels[number as usize] = Some(channel::Channel::default());
        Some(Channel(number))
    }

    fn close_channel(&self, channel: Channel) {
        if channel == Channel::DEFAULT || endpoint::is_child() {
            return;
        }
        // A signal handler that interrupted a call leaves the channel open.
        let Ok(mut state) = self.endpoint.lock() else { return };
        state.channels[channel.0 as usize] = None;
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).push(channel.0);
    }

    unsafe fn register(&self, segment: SegmentId, start: *mut u8, bytes: usize) -> Result<Vec<u8>, Fault> {
        let [key, base] = self.endpoint.lock()?.domain.add_segment(segment, start, bytes)?;
        Ok([key.to_ne_bytes(), base.to_ne_bytes()].concat())
    }

    fn deregister(&self, segment: SegmentId) {
        if let Ok(mut state) = self.endpoint.lock() {
            state.domain.remove_segment(segment);
        }
    }

    fn introduce(&self, pe: i32, segment: SegmentId, key: &[u8]) -> Result<(), Fault> {
        let mut reader = message::Reader(key);
        let words = (reader.u64(), reader.u64());
        let ((Some(key), Some(base)), true) = (words, reader.0.is_empty()) else {
            let text = format!("{} bytes are no key of segment {} of PE {pe}", key.len(), segment.0);
            return Err(Fault::from(Cause::Network(text)));
        };
        self.endpoint.lock()?.segments.insert((pe as u32, segment), (key, base));
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
        unsafe { self.endpoint.put(channel.0, to, source, bytes, when) }
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
        unsafe { self.endpoint.get(channel.0, dest, from, bytes, when) }
    }

    unsafe fn put_blocks(
        &self,
        channel: Channel,
        to: RemoteAddress,
        source: *const u8,
        blocks: Blocks,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        unsafe { self.endpoint.put_blocks(channel.0, to, source, blocks) }
    }

    unsafe fn get_blocks(
        &self,
        channel: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        blocks: Blocks,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        unsafe { self.endpoint.get_blocks(channel.0, dest, from, blocks) }
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
                Atomics::Cpu => self.endpoint.amo(channel.0, at, atomic, when),
                Atomics::Nic => self.endpoint.nic_amo(channel.0, at, atomic, when),
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
        if self.atomics == Atomics::Nic {
            // All operations on a word are the provider's, or none: they are atomic among themselves only. It makes
            // them in no order with writes.
            // SAFETY: the caller's; there is no result.
            return unsafe {
                self.endpoint.put(channel.0, to, source, bytes, Completion::Local)?;
                self.endpoint.quiet_pes(channel.0, &mut std::iter::once(to.pe))?;
                self.endpoint.nic_amo(channel.0, signal, Atomic::of_signal(op, value), when)
            };
        }
        // SAFETY: the caller's.
        unsafe { self.endpoint.put_signal(channel.0, to, source, bytes, signal, value, op, when) }
    }

    // A forked child has begun nothing, and destructors of the program's may run there.
    fn fence(&self, channel: Channel) -> Result<(), Fault> {
        if endpoint::is_child() { Ok(()) } else { self.endpoint.fence(channel.0) }
    }

    fn quiet(&self, channel: Channel) -> Result<(), Fault> {
        if endpoint::is_child() { Ok(()) } else { self.endpoint.quiet(channel.0) }
    }

    fn quiet_pes(&self, channel: Channel, pes: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        if endpoint::is_child() { Ok(()) } else { self.endpoint.quiet_pes(channel.0, pes) }
    }

    fn message_limits(&self) -> MessageLimits {
        self.endpoint.message_limits()
    }

    fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        self.endpoint.try_send_message(lane, to, message)
    }

    fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        self.endpoint.deliver_messages(lane, most, run)
    }

    fn all_messages_handled(&self) -> Result<bool, Fault> {
        self.endpoint.all_messages_handled()
    }

    fn messages_handled_by(&self, pe: i32) -> Option<bool> {
        self.endpoint.messages_handled_by(pe)
    }

    fn ask(&self, channel: Channel, pe: i32, question: [u64; 3]) -> Result<u64, Fault> {
        self.endpoint.ask(channel.0, pe, question)
    }

    fn send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<(), Fault> {
        if payload.len() > MESSAGE {
            let text = format!("a message of {} bytes: at most {MESSAGE} are possible", payload.len());
            return Err(Fault::from(Cause::Network(text)));
        }
        let mut state = self.endpoint.enter(pe)?;
        if state.is_lost(pe as u32) {
            return Err(state.lost_fault(pe as u32));
        }
        let Some(peer) = state.peers.get(pe as u32) else { return Ok(()) };
        let token = peer.token;
        if !peer.has(Peer::UNCONFIRMED) {
            peer.flags |= Peer::UNCONFIRMED;
            state.unconfirmed.push(pe as u32);
        }
        let op = state.ops.take(Kind::Mail, 0, pe as u32);
        let buffer = state.buffer()?;
        let header = Header { what: MessageType::Mail, hello: false, from: state.me, number: 0, id: 0, token };
        let tag = encode_tag(tag);
        // SAFETY: a fresh record, and a buffer that has room for the largest message.
        unsafe {
            buffer.write(0, &header.encode());
            buffer.write(HEADER, &tag);
            buffer.write(HEADER + tag.len(), payload);
            (*op).buffer = Some(buffer);
            (*op).bytes = HEADER + tag.len() + payload.len();
        }
        state.counters.add(Counter::messages, 1);
        state.leaves = self.endpoint.leaves.load(Ordering::Relaxed);
        state.send(op);
        state.leaves = false;
        state.check()
    }

    fn take(&self, pe: i32, tag: Tag) -> Result<Option<Vec<u8>>, Fault> {
        if endpoint::is_child() {
            return Ok(None);
        }
        let mut state = self.endpoint.lock()?;
        let key = (pe as u32, tag);
        if let Some(queue) = state.mailbox.get_mut(&key) {
            let message = queue.pop_front();
            if queue.is_empty() {
                state.mailbox.remove(&key);
            }
            return Ok(message);
        }
        state.check().map(|()| None)
    }
}
