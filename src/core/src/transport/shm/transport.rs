//! Shared memory as a [`Transport`].
#![allow(unsafe_code)]

use super::lanes::{LaneMemory, Lanes};
use super::{amo, copy, order};
use crate::base::{Cause, Fault};
use crate::transport::registry::{Open, Row};
use crate::transport::{
    Atomic, Capabilities, Channel, Completion, Description, Incoming, Lane, Mapping, MessageLimits, OpenRequest,
    Outgoing, RemoteAddress, SegmentId, SignalOp, Tag, Transport,
};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// See [`crate::transport::registry`].
pub const ROW: Row = Row {
    name: "shm",
    doc: "Shared memory: PEs of this host, by loads and stores.",
    probe: || Ok(()),
    open: Open::WithinHost(SharedMemory::new),
    leave: || (),
    counters: Vec::new,
};

#[cold]
fn has_none(pe: i32, what: &str) -> Fault {
    Fault::from(Cause::Network(format!("to PE {pe}: PEs of one host meet in memory, which has no {what}")))
}

/// The PEs of this host, reached through the trait.
pub struct SharedMemory {
    mapping: Mapping,
    me: i32,
    npes: u32,
    /// Where the rings of active messages are; nobody touches them before the first message.
    memory: Option<LaneMemory>,
    lanes: OnceLock<Lanes>,
    /// Numbers of this PE's segments.
    registered: Mutex<BTreeSet<SegmentId>>,
}

impl fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedMemory")
    }
}

impl SharedMemory {
    /// Reaches what the request maps.
    ///
    /// # Safety
    /// As [`Open`].
    pub unsafe fn new(request: OpenRequest) -> Self {
        Self {
            mapping: request.mapping,
            me: request.pe as i32,
            npes: request.npes,
            memory: request.lanes,
            lanes: OnceLock::new(),
            registered: Mutex::new(request.segments.iter().map(|segment| segment.0).collect()),
        }
    }

    /// The rings of active messages, where there are any.
    #[inline(always)]
    pub fn lanes(&self) -> Option<&Lanes> {
        self.lanes.get().or_else(|| self.first_lanes())
    }

    #[cold]
    fn first_lanes(&self) -> Option<&Lanes> {
        // SAFETY: what `new` was given.
        self.memory.map(|memory| self.lanes.get_or_init(|| unsafe { Lanes::new(memory, self.me) }))
    }

    /// As [`Self::lanes`], for a message to a PE.
    fn lanes_to(&self, pe: i32) -> Result<&Lanes, Fault> {
        self.lanes()
            .filter(|lanes| lanes.reaches(pe))
            .ok_or_else(|| Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: self.npes.into() }))
    }

    /// Where an object of some bytes is mapped here.
    fn at(&self, object: RemoteAddress, bytes: usize) -> Result<*mut u8, Fault> {
        let inside = |(base, len): (usize, usize)| {
            let room = len.checked_sub(object.offset)?;
            (bytes <= room).then_some((base + object.offset) as *mut u8)
        };
        (self.mapping)(object.pe, object.segment).and_then(inside).ok_or_else(|| self.unreachable(object, bytes))
    }

    #[cold]
    fn unreachable(&self, object: RemoteAddress, bytes: usize) -> Fault {
        let RemoteAddress { pe, segment, offset } = object;
        if pe as u32 >= self.npes {
            return Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: self.npes.into() });
        }
        Fault::from(Cause::Network(format!(
            "{bytes} bytes at {offset} of segment {} of PE {pe} are not mapped here",
            segment.0
        )))
    }
}

impl Transport for SharedMemory {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reaches_other_hosts: false, puts_at_once: true, atomics_with_cpu: true }
    }

    fn describe(&self) -> Description {
        Description { rows: vec![("memory", "of this host".into(), "mapped by every PE of it".into())] }
    }

    fn progress(&self) -> bool {
        false
    }

    // Nothing is ever outstanding: all channels are one.
    fn open_channel(&self) -> Option<Channel> {
        Some(Channel::DEFAULT)
    }

    fn close_channel(&self, _: Channel) {}

    // Where segments are is what the mapping says: their keys are empty.
    unsafe fn register(&self, segment: SegmentId, _: *mut u8, _: usize) -> Result<Vec<u8>, Fault> {
        let is_new = self.registered.lock().unwrap_or_else(PoisonError::into_inner).insert(segment);
        if is_new {
            return Ok(Vec::new());
        }
        Err(Fault::from(Cause::Network(format!("segment {}: the number is taken", segment.0))))
    }

    fn deregister(&self, segment: SegmentId) {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).remove(&segment);
    }

    fn introduce(&self, pe: i32, segment: SegmentId, key: &[u8]) -> Result<(), Fault> {
        if key.is_empty() {
            return Ok(());
        }
        let text = format!("{} bytes are no key of segment {} of PE {pe}", key.len(), segment.0);
        Err(Fault::from(Cause::Network(text)))
    }

    unsafe fn put(
        &self,
        _: Channel,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        _: Completion,
    ) -> Result<(), Fault> {
        let to = self.at(to, bytes)?;
        // SAFETY: mapped; the source is the caller's word.
        unsafe { copy::copy(to, source, bytes) };
        Ok(())
    }

    unsafe fn get(
        &self,
        _: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        _: Completion,
    ) -> Result<(), Fault> {
        let from = self.at(from, bytes)?;
        // SAFETY: as in `put`.
        unsafe { copy::copy(dest, from, bytes) };
        Ok(())
    }

    unsafe fn atomic(&self, _: Channel, at: RemoteAddress, atomic: Atomic, _: Completion) -> Result<(), Fault> {
        let width = usize::from(atomic.width);
        let word = self.at(at, width)?;
        if !matches!(width, 4 | 8) || !(word as usize).is_multiple_of(width) {
            return Err(Fault::from(Cause::Misaligned { arg: "dest", addr: word as usize, align: width }));
        }
        // SAFETY: mapped and aligned; the result is the caller's word.
        unsafe {
            let before = amo::apply(word, atomic.op, atomic.width, atomic.operand, atomic.compare);
            if !atomic.result.is_null() {
                copy::copy(atomic.result, before.to_ne_bytes().as_ptr(), width);
            }
        }
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
        completion: Completion,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's.
        unsafe {
            self.put(channel, to, source, bytes, completion)?;
            order::fence();
            self.atomic(channel, signal, Atomic::of_signal(op, value), completion)
        }
    }

    fn fence(&self, _: Channel) -> Result<(), Fault> {
        order::fence();
        Ok(())
    }

    fn quiet(&self, _: Channel) -> Result<(), Fault> {
        order::quiet();
        Ok(())
    }

    fn quiet_pes(&self, _: Channel, _: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        order::quiet();
        Ok(())
    }

    fn message_limits(&self) -> MessageLimits {
        self.lanes().map(Lanes::limits).unwrap_or_default()
    }

    fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        Ok(self.lanes_to(to)?.try_send(lane, to, message))
    }

    fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        self.lanes().map_or(Ok(0), |lanes| lanes.deliver(lane, most, run))
    }

    fn all_messages_handled(&self) -> Result<bool, Fault> {
        Ok(self.lanes().is_none_or(|lanes| lanes.all_handled(|_| false)))
    }

    fn messages_handled_by(&self, pe: i32) -> Option<bool> {
        Some(self.lanes().is_none_or(|lanes| !lanes.reaches(pe) || lanes.is_handled_by(pe)))
    }

    fn ask(&self, _: Channel, pe: i32, _: [u64; 3]) -> Result<u64, Fault> {
        Err(has_none(pe, "questions"))
    }

    fn send(&self, pe: i32, _: Tag, _: &[u8]) -> Result<(), Fault> {
        Err(has_none(pe, "messages by tag"))
    }

    fn take(&self, pe: i32, _: Tag) -> Result<Option<Vec<u8>>, Fault> {
        Err(has_none(pe, "messages by tag"))
    }
}
