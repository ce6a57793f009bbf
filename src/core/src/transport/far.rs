//! What a transport to PEs of other hosts offers to the layers above: the interface between contexts and collectives, and
//! [`super::ofi`] or another fabric.
//!
//! PEs are world numbers. Symmetric objects are named by segment and offset, which are the same on every PE. Callers have
//! checked that an object lies in its segment as it is here; the fabric checks nothing again on the way out.

#![allow(unsafe_code)]

use crate::base::Fault;
use std::fmt::Debug;

/// A symmetric segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Segment {
    /// The symmetric heap.
    Heap = 0,
    /// Static objects of the executable.
    Data = 1,
}

/// A symmetric object of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// World number.
    pub pe: i32,
    /// Where it lies.
    pub segment: Segment,
    /// Bytes from the start of the segment.
    pub offset: usize,
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
pub enum When {
    /// At return: the source of a put may be changed, the result of a get is there.
    Return,
    /// With the next quiet of the channel at the latest.
    Quiet,
}

/// The source of a put of at most this many bytes is copied at once, whatever [`When`] says.
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

/// How a signal is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOp {
    /// Written.
    Set,
    /// Added to.
    Add,
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

/// A fabric that reaches PEs of other hosts; PEs of this host too, where something wants that.
///
/// All functions may be called from any thread, from `shmem_init` until the process ends. A fault says which peer it is
/// about, with its host.
pub trait Far: Send + Sync + Debug {
    /// Moves things on; never blocks. Gives whether anything happened. Whoever waits calls this.
    fn poll(&self) -> bool;

    /// A new channel; `None` where too many live.
    fn open(&self) -> Option<Channel>;

    /// Ends a channel that is quiet.
    fn close(&self, channel: Channel);

    /// Copies `bytes` bytes from here to a PE.
    ///
    /// # Safety
    /// `source` is readable for `bytes` bytes, until the time that `when` says.
    unsafe fn put(&self, channel: Channel, to: Place, source: *const u8, bytes: usize, when: When)
    -> Result<(), Fault>;

    /// Copies `bytes` bytes from a PE to here.
    ///
    /// # Safety
    /// `dest` is writable for `bytes` bytes, until the time that `when` says.
    unsafe fn get(&self, channel: Channel, dest: *mut u8, from: Place, bytes: usize, when: When) -> Result<(), Fault>;

    /// An atomic operation, exclusive of all others on the word, whoever makes them.
    ///
    /// # Safety
    /// `atomic.result` is null or writable for `atomic.width` bytes, until the time that `when` says.
    unsafe fn atomic(&self, channel: Channel, at: Place, atomic: Atomic, when: When) -> Result<(), Fault>;

    /// Copies data to a PE, then updates a signal there: nobody sees the signal before the data.
    ///
    /// # Safety
    /// As [`Self::put`].
    #[allow(clippy::too_many_arguments)]
    unsafe fn put_signal(
        &self,
        channel: Channel,
        to: Place,
        source: *const u8,
        bytes: usize,
        signal: Place,
        value: u64,
        op: SignalOp,
        when: When,
    ) -> Result<(), Fault>;

    /// Orders the channel's puts, atomics and signals to each PE before later ones to the same PE.
    fn fence(&self, channel: Channel) -> Result<(), Fault>;

    /// Completes everything on a channel: results are here, stores are visible there.
    fn quiet(&self, channel: Channel) -> Result<(), Fault>;

    /// As [`Self::quiet`], for operations to some PEs (world numbers).
    fn quiet_pes(&self, channel: Channel, pes: &mut dyn Iterator<Item = i32>) -> Result<(), Fault>;

    /// Sends a message of at most [`MESSAGE`] bytes. Messages never wait for their receiver: it takes them in whatever it
    /// does. They are not ordered with the operations of channels.
    fn send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<(), Fault>;

    /// Takes a message out of those that have come; `None` where it has not.
    fn take(&self, pe: i32, tag: Tag) -> Result<Option<Vec<u8>>, Fault>;
}
