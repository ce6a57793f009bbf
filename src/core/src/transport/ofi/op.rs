//! Records of operations in flight, and the buffers that some of them need.
#![allow(unsafe_code)]

use super::channel::What;
use super::domain::{ACCESS, Domain};
use super::later::Transfer;
use super::message::BUFFER;
use crate::base::Fault;
use crate::transport::{Completion, EventSlot, RemoteAddress, SignalOp};
use libfabric_sys as fi;
use std::ffi::c_void;
use std::ptr;

/// What a record is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A buffer that messages are received in.
    Receive,
    /// An RMA write.
    Write,
    /// An RMA read.
    Read,
    /// An atomic of the provider's.
    Atomic,
    /// A request: a message that is replied to.
    Request,
    /// A reply.
    Reply,
    /// A message of a collective.
    Mail,
    /// An active message, or what belongs to its flow control.
    Active,
}

impl Kind {
    /// What it counts as in a channel; `None`: it does not.
    pub fn what(self) -> Option<What> {
        match self {
            Self::Write | Self::Atomic => Some(What::Writes),
            Self::Read => Some(What::Fetches),
            Self::Request => Some(What::Requests),
            Self::Receive | Self::Reply | Self::Mail | Self::Active => None,
        }
    }

    /// As a fault calls it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Receive => "receiving",
            Self::Write => "a put",
            Self::Read => "a get",
            Self::Atomic => "an atomic operation",
            Self::Request => "a message with puts, gets or atomic operations",
            Self::Reply => "a reply",
            Self::Mail => "a message of a collective",
            Self::Active => "an active message",
        }
    }
}

/// Where a result of a request goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// A word of 4 or 8 bytes.
    Word { to: *mut u8, width: u8 },
    /// Blocks of so many bytes, as far apart.
    Blocks { to: *mut u8, bytes: usize, step: isize, count: usize },
    /// Nowhere: whoever wanted so many words has gone.
    Nowhere { words: usize },
}

impl Wanted {
    /// Words that it takes in a reply.
    pub fn words(&self) -> usize {
        match *self {
            Self::Word { .. } => 1,
            Self::Blocks { bytes, count, .. } => (bytes * count).div_ceil(8),
            Self::Nowhere { words } => words,
        }
    }
}

/// A signal to be sent when a write is complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Then {
    pub signal: RemoteAddress,
    pub value: u64,
    pub op: SignalOp,
    /// The channel's epoch when the write was posted.
    pub epoch: u32,
    /// Whose event counts the signal, too.
    pub when: Completion,
}

/// A record. The provider knows it by its address, which is why it starts with what the provider may use.
#[repr(C)]
pub(super) struct Op {
    pub context: fi::fi_context2,
    pub kind: Kind,
    /// Somebody waits for it and gives it back.
    pub waited: bool,
    /// Its memory is free again and its results are there.
    pub done: bool,
    /// The provider has its transfer.
    pub posted: bool,
    /// A thread hands it to the provider, again and again.
    pub posting: bool,
    /// The provider had no room for it at first.
    pub found_no_room: bool,
    /// Its PE is lost: who counts it has been told, and only the provider may have it still.
    pub abandoned: bool,
    /// Completions still to come: of the transfer, and of a request its reply.
    pub parts: u8,
    /// Its number among the records.
    pub index: u32,
    pub channel: u32,
    pub pe: u32,
    /// The channel's time at its begin.
    pub begun: u64,
    /// Bytes of the transfer or of the message.
    pub bytes: usize,
    /// A request begins with the endpoint address of this PE.
    pub tagged: bool,
    /// Entries of a request.
    pub entries: u32,
    pub buffer: Option<Buffer>,
    /// A registration for this transfer only.
    pub mr: *mut fi::fid_mr,
    /// Bytes of the buffer that go to the caller's memory at the end: from where in the buffer, to where, how many.
    pub copy: (usize, *mut u8, usize),
    pub results: Vec<Wanted>,
    /// Bytes that they take in a reply.
    pub result_bytes: usize,
    pub then: Option<Then>,
    /// Events that its completion counts for.
    pub events: Vec<EventSlot>,
    /// When a message was first refused by the provider, or a transfer left to another thread.
    pub since: Option<std::time::Instant>,
    /// A transfer that was left to another thread.
    pub transfer: Option<Transfer>,
}

impl Op {
    /// Counts for the event of an operation, where that has one.
    pub fn count_for(&mut self, when: Completion) {
        if let Completion::Event(slot) = when {
            slot.begin();
            self.events.push(slot);
        }
    }

    /// The provider has no room for it. Gives whether that is the first time: it counts once, however often the
    /// provider is asked again.
    pub fn is_first_without_room(&mut self) -> bool {
        !std::mem::replace(&mut self.found_no_room, true)
    }
}

/// All records of a fabric. Their addresses never change.
#[derive(Default)]
pub(super) struct Ops {
    all: Vec<*mut Op>,
    free: Vec<*mut Op>,
}

impl Ops {
    /// A fresh record.
    pub fn take(&mut self, kind: Kind, channel: u32, pe: u32) -> *mut Op {
        let op = self.free.pop().unwrap_or_else(|| {
            let op = Box::into_raw(Box::new(Op {
                context: fi::fi_context2 { internal: [ptr::null_mut(); 8] },
                kind,
                waited: false,
                done: false,
                posted: false,
                posting: false,
                found_no_room: false,
                abandoned: false,
                parts: 0,
                index: self.all.len() as u32,
                channel: 0,
                pe: 0,
                begun: 0,
                bytes: 0,
                tagged: false,
                entries: 0,
                buffer: None,
                mr: ptr::null_mut(),
                copy: (0, ptr::null_mut(), 0),
                results: Vec::new(),
                result_bytes: 0,
                then: None,
                events: Vec::new(),
                since: None,
                transfer: None,
            }));
            self.all.push(op);
            op
        });
        // SAFETY: records live as long as self, and this one is nobody else's now.
        let record = unsafe { &mut *op };
        record.kind = kind;
        record.channel = channel;
        record.pe = pe;
        record.parts = 1;
        op
    }

    /// Gives a record back.
    ///
    /// # Safety
    /// It is of this fabric, and neither the provider nor anybody else uses it any more; its buffer has been taken out.
    pub unsafe fn give(&mut self, op: *mut Op) {
        // SAFETY: the caller's.
        let record = unsafe { &mut *op };
        record.waited = false;
        record.done = false;
        record.posted = false;
        record.posting = false;
        record.found_no_room = false;
        record.abandoned = false;
        record.parts = 0;
        record.bytes = 0;
        record.entries = 0;
        record.copy = (0, ptr::null_mut(), 0);
        record.results.clear();
        record.result_bytes = 0;
        record.then = None;
        record.events.clear();
        record.since = None;
        record.transfer = None;
        self.free.push(op);
    }

    /// Somebody will wait for a record, and give it back.
    pub fn await_it(&mut self, op: *mut Op) {
        // SAFETY: an operation that is being posted, whose record is this endpoint's.
        unsafe { (*op).waited = true };
    }

    /// Gives a record back that somebody waits for, once it is done; gives whether its PE is lost.
    pub fn reap(&mut self, op: *mut Op) -> Option<bool> {
        // SAFETY: a record that is waited for is given back by its waiter only, here; or, where the provider has it
        // still, at the end of its transfer.
        unsafe {
            if !(*op).done {
                return None;
            }
            let abandoned = (*op).abandoned;
            if (*op).posted {
                (*op).waited = false;
            } else {
                self.give(op);
            }
            Some(abandoned)
        }
    }

    /// Whoever waits for an operation gives up, while it goes on: its results go nowhere. Gives whether only the
    /// provider can still write to memory of whoever has waited.
    pub fn disown(&mut self, op: *mut Op) -> bool {
        // SAFETY: a record that is waited for, as in `reap`.
        let record = unsafe { &mut *op };
        if record.done {
            self.reap(op);
            return false;
        }
        record.waited = false;
        record.copy = (0, ptr::null_mut(), 0);
        for wanted in &mut record.results {
            *wanted = Wanted::Nowhere { words: wanted.words() };
        }
        record.kind == Kind::Read && record.buffer.is_none()
    }

    /// Whether an operation that was disowned is over.
    pub fn is_over(&self, op: *mut Op) -> bool {
        // SAFETY: records live as long as self.
        unsafe { (*op).parts == 0 }
    }

    /// Records of operations to a PE that are in flight.
    pub fn to(&self, pe: u32) -> Vec<*mut Op> {
        // SAFETY: records live as long as self.
        let is_to = |op: &&*mut Op| unsafe { (***op).pe == pe && (***op).parts > 0 && (***op).kind != Kind::Receive };
        self.all.iter().filter(is_to).copied().collect()
    }

    /// The record of a number that a message names, where it is a request in flight.
    pub fn request(&self, index: u32) -> Option<*mut Op> {
        let op = *self.all.get(index as usize)?;
        // SAFETY: records live as long as self.
        let record = unsafe { &*op };
        (record.kind == Kind::Request && record.parts > 0).then_some(op)
    }

    /// Whether an address is that of a record.
    pub fn contains(&self, op: *mut Op) -> bool {
        self.all.contains(&op)
    }

    /// Records in use.
    pub fn in_flight(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

impl Drop for Ops {
    fn drop(&mut self) {
        for op in self.all.drain(..) {
            // SAFETY: made by Box::into_raw, and the provider is closed.
            drop(unsafe { Box::from_raw(op) });
        }
    }
}

/// Memory for one message, or for data on their way. Of [`Pool`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffer {
    pub start: *mut u8,
    pub descriptor: *mut c_void,
}

impl Buffer {
    /// Writes bytes at a place.
    ///
    /// # Safety
    /// `at + bytes.len()` is at most [`BUFFER`], and the bytes are not of this buffer.
    pub unsafe fn write(&self, at: usize, bytes: &[u8]) {
        // SAFETY: the caller's.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) };
    }
}

/// Buffers, registered where the provider wants that.
#[derive(Default)]
pub(super) struct Pool {
    slabs: Vec<(Box<[u64]>, *mut fi::fid_mr)>,
    free: Vec<Buffer>,
    lent: usize,
}

/// Buffers of a slab.
const SLAB: usize = 16;
/// Buffers are apart by whole cache lines.
const STRIDE: usize = BUFFER.next_multiple_of(64);

impl Pool {
    /// A buffer.
    pub fn take(&mut self, domain: &mut Domain) -> Result<Buffer, Fault> {
        if self.free.is_empty() {
            let mut slab = vec![0u64; SLAB * STRIDE / 8].into_boxed_slice();
            let start = slab.as_mut_ptr().cast::<u8>();
            let mr = if domain.local { domain.register(start, SLAB * STRIDE, ACCESS)? } else { ptr::null_mut() };
            // SAFETY: just registered.
            let descriptor = unsafe { domain.descriptor_of(mr) };
            for i in (0..SLAB).rev() {
                self.free.push(Buffer { start: start.wrapping_add(i * STRIDE), descriptor });
            }
            self.slabs.push((slab, mr));
        }
        self.lent += 1;
        Ok(self.free.pop().unwrap_or(Buffer { start: ptr::null_mut(), descriptor: ptr::null_mut() }))
    }

    /// Gives one back.
    pub fn give(&mut self, buffer: Buffer) {
        self.lent -= 1;
        self.free.push(buffer);
    }

    /// Buffers in use.
    pub fn lent(&self) -> usize {
        self.lent
    }

    /// Ends all registrations, when nothing is in flight any more.
    pub fn release(&mut self, domain: &Domain) {
        for (_, mr) in self.slabs.iter_mut().filter(|slab| !slab.1.is_null()) {
            // SAFETY: of this port, and no transfer uses it.
            unsafe { domain.release(*mr) };
            *mr = ptr::null_mut();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_without_room_counts_once() {
        let mut ops = Ops::default();
        let op = ops.take(Kind::Write, 0, 1);
        // SAFETY: a record of these, which nobody else has.
        let first = || unsafe { (*op).is_first_without_room() };
        assert_eq!([first(), first(), first()], [true, false, false]);
        // SAFETY: as above.
        unsafe { ops.give(op) };
        assert_eq!(ops.take(Kind::Write, 0, 1), op);
        assert!(first());
    }
}
