//! How data reaches another PE: [`Transport`] is what contexts, teams and collectives see of it.
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | the trait, and what its operations are made of |
//! | `registry.rs` | a row a transport, and which of them a job takes |
//! | `event.rs` | completion events |
//! | `message.rs` | active messages, as transports carry them |
//! | `open.rs` | what a transport is told when it is opened, and what it tells of itself |
//! | `shm` | shared memory of one host: copies, atomics and fences, inlined into the routines |
//! | `ofi` | libfabric, for PEs of other hosts |
//!
//! PEs are world numbers. Symmetric objects are named by segment and offset, which are the same on every PE. Callers
//! have checked that an object lies in its segment as it is here; the transport checks nothing again on the way out.

#![allow(unsafe_code)]

pub mod event;
pub mod message;
pub mod ofi;
pub mod open;
pub mod registry;
pub mod shm;

pub use event::{Event, EventSlot};
pub use message::{Incoming, Lane, LongTarget, MAX_ARGS, MessageKind, MessageLimits, Outgoing, Owned};
pub use open::{Atomics, Description, Directory, Mapping, OpenRequest};
pub use shm::LaneMemory;

use crate::base::Fault;
use std::fmt::Debug;
use std::net::IpAddr;

/// The number under which a segment of symmetric memory is registered; the same on every PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SegmentId(pub u16);

impl SegmentId {
    /// The symmetric heap.
    pub const HEAP: Self = Self(0);
    /// Static objects of the executable.
    pub const DATA: Self = Self(1);
    /// The first number that others may register segments under.
    pub const FREE: Self = Self(2);
}

/// An object in the symmetric memory of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteAddress {
    /// World number.
    pub pe: i32,
    /// Where it lies.
    pub segment: SegmentId,
    /// Bytes from the start of the segment.
    pub offset: usize,
}

impl RemoteAddress {
    /// So many bytes further on.
    pub fn after(self, bytes: isize) -> RemoteAddress {
        RemoteAddress { offset: self.offset.wrapping_add_signed(bytes), ..self }
    }
}

/// Blocks of a strided transfer.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    /// Bytes of each.
    pub bytes: usize,
    /// How many.
    pub count: usize,
    /// From the start of one to the next in this PE's memory, in bytes.
    pub here: isize,
    /// The same in the other PE's.
    pub there: isize,
}

impl Blocks {
    /// The same in parts of at most `most` (not 0): each with the bytes from the first of all to its first, there and
    /// here. There is none of blocks without bytes.
    pub fn parts(self, most: usize) -> impl Iterator<Item = (Blocks, isize, isize)> {
        let count = if self.bytes == 0 { 0 } else { self.count };
        (0..count).step_by(most).map(move |first| {
            let part = Blocks { count: most.min(count - first), ..self };
            (part, self.there.wrapping_mul(first as isize), self.here.wrapping_mul(first as isize))
        })
    }
}

/// What is ordered and completed together: each context has one, the default context [`Channel::DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel(pub u32);

impl Channel {
    /// Of `SHMEM_CTX_DEFAULT`, and of the library's own traffic that a context has no part in.
    pub const DEFAULT: Self = Self(0);
}

/// When an operation gives its local memory back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// At return: the source of a put may be changed, the result of a get is there.
    Local,
    /// With the next quiet of the channel at the latest.
    Deferred,
    /// When the event says so, or with the next quiet of the channel; the operation is complete at its target then.
    Event(EventSlot),
}

/// The source of a put of at most this many bytes is copied at once, whatever [`Completion`] says.
pub const COPIED: usize = 64;

/// An atomic operation on a word of 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // named as the routines
pub enum AmoOp {
    Fetch,
    Set,
    Swap,
    CompareSwap,
    Add,
    And,
    Or,
    Xor,
}

/// One atomic operation. Values are bits: the low `width` bytes count.
#[derive(Debug, Clone, Copy)]
pub struct Atomic {
    /// Which.
    pub op: AmoOp,
    /// Bytes of the word: 4 or 8.
    pub width: u8,
    /// The value given.
    pub operand: u64,
    /// What [`AmoOp::CompareSwap`] compares with.
    pub compare: u64,
    /// Where the value before goes; null where nobody wants it.
    pub result: *mut u8,
}

impl Atomic {
    /// The update of a signal.
    pub fn of_signal(op: SignalOp, value: u64) -> Self {
        Self { op: op.amo(), width: 8, operand: value, compare: 0, result: std::ptr::null_mut() }
    }
}

/// How a signal is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOp {
    /// Written.
    Set,
    /// Added to.
    Add,
}

impl SignalOp {
    /// As the atomic operation that it is.
    pub fn amo(self) -> AmoOp {
        match self {
            Self::Set => AmoOp::Set,
            Self::Add => AmoOp::Add,
        }
    }
}

/// Names a message among those of its sender: both sides compute it from the calls that they make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag {
    /// Whose traffic: a team or an active set.
    pub group: u64,
    /// Number of the collective in it.
    pub number: u32,
    /// Step of its algorithm.
    pub step: u32,
}

/// Bytes of a message at most.
pub const MESSAGE: usize = 8192;

/// What a transport can do beyond what all of them do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// It reaches PEs of other hosts.
    pub reaches_other_hosts: bool,
    /// A put is visible to all at its return, and needs no quiet.
    pub puts_at_once: bool,
    /// Its atomics exclude those of this host's CPUs.
    pub atomics_with_cpu: bool,
}

/// One counter of a transport: its name, what it counts, and how often that has happened.
pub type CounterRow = (&'static str, &'static str, u64);

/// The way from this PE to others.
///
/// All functions may be called from any thread, from `shmem_init` until the process ends. A fault says which peer it is
/// about, with its host. What has a default is done without where a transport has nothing better. So are the ends of
/// the job and of PEs, where all operations are complete when their call returns: then nothing is on its way, nor
/// outstanding to a PE that is lost. The rest is no less than what the callers rely on, also where there is nothing to
/// do.
pub trait Transport: Send + Sync + Debug {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// What other PEs have to know to reach this one: what [`Directory::address`] gives there. At most 400 bytes.
    fn endpoint_address(&self) -> &[u8] {
        &[]
    }

    /// The address at which other hosts reach this one, where it is one of the internet protocol.
    fn internet_address(&self) -> Option<IpAddr> {
        None
    }

    /// What is in use and why, for people.
    fn describe(&self) -> Description {
        Description::default()
    }

    /// What it has done so far: the counters of its row.
    fn counters(&self) -> Vec<CounterRow> {
        Vec::new()
    }

    /// All that this PE has sent so far has come, which the PEs have found out another way: nobody need be asked for it
    /// when the process ends.
    fn all_arrived(&self) {}

    /// To be called when the process is about to end: makes sure that messages of this PE have come since
    /// [`Self::all_arrived`], then ends the transport's threads. All calls go on working, but nobody serves other PEs
    /// except those who wait here.
    fn drain(&self) {}

    /// The job goes on without PEs that are lost: a connection that ends is no reason to end with it, until it is clear
    /// that the PE at its other end is there still.
    fn survive(&self) {}

    /// A PE is lost: what is outstanding to it ends with this fault, and so does all that follows. `with_host`: nothing
    /// of its host is there any more.
    fn lose(&self, _pe: i32, _fault: &Fault, _with_host: bool) {}

    /// No quiet tells any more that something was outstanding to a PE that is lost.
    fn forget_lost(&self, _pe: i32) {}

    /// Moves things on; never blocks. Gives whether anything happened. Whoever waits calls this.
    fn progress(&self) -> bool;

    /// A new channel; `None` where too many live.
    fn open_channel(&self) -> Option<Channel>;

    /// Ends a channel that is quiet.
    fn close_channel(&self, channel: Channel);

    /// Registers a further segment of this PE, under a number from [`SegmentId::FREE`] on. Gives its key, which the PEs
    /// that are to reach it have to be told with [`Self::introduce`].
    ///
    /// Fault: the number is taken, or the network refuses the memory.
    ///
    /// # Safety
    /// The memory is mapped until [`Self::deregister`], and whoever else uses it expects others to write there at any
    /// time.
    unsafe fn register(&self, segment: SegmentId, start: *mut u8, bytes: usize) -> Result<Vec<u8>, Fault>;

    /// Ends the registration of a segment that nobody uses any more. One that is not registered is left alone.
    fn deregister(&self, segment: SegmentId);

    /// Takes over the key of a segment of another PE, from then on in the place of the one before.
    ///
    /// Fault: it is no key of this transport.
    fn introduce(&self, pe: i32, segment: SegmentId, key: &[u8]) -> Result<(), Fault>;

    /// Copies `bytes` bytes from here to a PE.
    ///
    /// # Safety
    /// `source` is readable for `bytes` bytes, until the time that `completion` says.
    unsafe fn put(
        &self,
        channel: Channel,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        completion: Completion,
    ) -> Result<(), Fault>;

    /// Copies `bytes` bytes from a PE to here.
    ///
    /// # Safety
    /// `dest` is writable for `bytes` bytes, until the time that `completion` says.
    unsafe fn get(
        &self,
        channel: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        completion: Completion,
    ) -> Result<(), Fault>;

    /// Copies blocks from here to a PE; their memory here may be used again at the return.
    ///
    /// # Safety
    /// All blocks at `source` are readable.
    unsafe fn put_blocks(
        &self,
        channel: Channel,
        to: RemoteAddress,
        source: *const u8,
        blocks: Blocks,
    ) -> Result<(), Fault> {
        // A small block is copied at once, and several travel together.
        let when = if blocks.bytes <= COPIED { Completion::Deferred } else { Completion::Local };
        for (block, there, here) in blocks.parts(1) {
            // SAFETY: the caller's.
            unsafe { self.put(channel, to.after(there), source.wrapping_offset(here), block.bytes, when)? };
        }
        Ok(())
    }

    /// Copies blocks from a PE to here; complete when the channel is quiet.
    ///
    /// # Safety
    /// All blocks at `dest` are writable until then.
    unsafe fn get_blocks(
        &self,
        channel: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        blocks: Blocks,
    ) -> Result<(), Fault> {
        for (block, there, here) in blocks.parts(1) {
            let (to, from) = (dest.wrapping_offset(here), from.after(there));
            // SAFETY: the caller's.
            unsafe { self.get(channel, to, from, block.bytes, Completion::Deferred)? };
        }
        Ok(())
    }

    /// An atomic operation, exclusive of all others on the word, whoever makes them.
    ///
    /// # Safety
    /// `atomic.result` is null or writable for `atomic.width` bytes, until the time that `completion` says.
    unsafe fn atomic(
        &self,
        channel: Channel,
        at: RemoteAddress,
        atomic: Atomic,
        completion: Completion,
    ) -> Result<(), Fault>;

    /// Copies data to a PE, then updates a signal there: nobody sees the signal before the data.
    ///
    /// # Safety
    /// As [`Self::put`].
    #[allow(clippy::too_many_arguments)]
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
    ) -> Result<(), Fault>;

    /// Orders the channel's puts, atomics and signals to each PE before later ones to the same PE.
    fn fence(&self, channel: Channel) -> Result<(), Fault>;

    /// Completes everything on a channel: results are here, stores are visible there.
    fn quiet(&self, channel: Channel) -> Result<(), Fault>;

    /// As [`Self::quiet`], for operations to some PEs (world numbers).
    fn quiet_pes(&self, channel: Channel, pes: &mut dyn Iterator<Item = i32>) -> Result<(), Fault>;

    /// What fits into an active message.
    fn message_limits(&self) -> MessageLimits;

    /// Sends an active message that the caller has checked against the limits; false where it would have to wait, which
    /// replies never have to. Never blocks for room.
    fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault>;

    /// Gives up to `most` active messages of a lane that have come to `run`, in the calling thread, and gives back how
    /// many. A fault of `run` is given on.
    fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault>;

    /// Whether every request of this PE has been handled, and its reply too or is with this PE. Whoever asks is about
    /// to end, and from now on tells others at once what has been handled of theirs.
    fn all_messages_handled(&self) -> Result<bool, Fault>;

    /// Whether every request of this PE to another one has been handled; `None`: that is not known. For whoever looks
    /// at a wait.
    fn messages_handled_by(&self, pe: i32) -> Option<bool>;

    /// Asks a PE something that it answers whatever it does, and waits for the answer: a number, 0 where there is none.
    /// What the words mean is between those who ask and those who answer.
    fn ask(&self, channel: Channel, pe: i32, question: [u64; 3]) -> Result<u64, Fault>;

    /// Sends a message of at most [`MESSAGE`] bytes. Messages never wait for their receiver: it takes them in whatever
    /// it does. They are not ordered with the operations of channels. What does not reach other hosts has none.
    ///
    /// Fault: there are none, or the message is too long.
    fn send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<(), Fault>;

    /// The program goes on without waiting for what it has begun here: whoever serves beside it has to look after that
    /// from now on.
    fn progress_beside(&self) {}

    /// Messages ([`Self::send`]) are of an operation that the program does not wait for, from now on, or not any more:
    /// whoever serves beside the program may send them.
    fn leave_messages(&self, _leave: bool) {}

    /// Whether that is so now.
    fn leaves_messages(&self) -> bool {
        false
    }

    /// Takes a message out of those that have come; `None` where it has not.
    fn take(&self, pe: i32, tag: Tag) -> Result<Option<Vec<u8>>, Fault>;
}
