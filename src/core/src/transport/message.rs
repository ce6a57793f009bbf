//! Active messages as transports carry them: what goes into one, and what comes out.
//!
//! A message names a handler of its receiver by a number and brings it arguments and, by its kind, a payload. There are
//! two lanes: requests, and replies, which only the handler of a request sends, at most one. Flow control rests on
//! that: a transport takes a request into its hands only where there will be room for the reply, so that replies never
//! wait, and a receiver that is slow holds up those who send it requests and nobody else.

use super::SegmentId;

/// Arguments of a message at most.
pub const MAX_ARGS: usize = 16;

/// Requests and replies are carried apart: neither waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Lane {
    /// Begins an exchange; may have to wait for room.
    Request = 0,
    /// Ends one; never waits.
    Reply = 1,
}

/// What a message brings beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MessageKind {
    /// Nothing.
    Short = 0,
    /// A payload in memory of the library, there while the handler runs.
    Medium = 1,
    /// A payload in a segment of the receiver's, complete when the handler runs.
    Long = 2,
}

impl MessageKind {
    /// From its number; `None` where there is none.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Short, Self::Medium, Self::Long].into_iter().find(|kind| *kind as u8 == number)
    }
}

/// Where the payload of a long message lies at its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongTarget {
    /// The segment.
    pub segment: SegmentId,
    /// Bytes from its start.
    pub offset: u64,
    /// Bytes of the payload.
    pub bytes: u64,
}

impl LongTarget {
    /// Of messages that are not long.
    pub const NONE: Self = Self { segment: SegmentId::HEAP, offset: 0, bytes: 0 };
}

/// A message on its way out.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// What it brings.
    pub kind: MessageKind,
    /// Number of the receiver's handler.
    pub handler: u16,
    /// At most [`MAX_ARGS`].
    pub args: &'a [i32],
    /// Of a medium message, and of a long one whose data travels with it: at most [`MessageLimits::medium`] bytes.
    pub payload: &'a [u8],
    /// Of a long message.
    pub target: LongTarget,
}

/// A message that has come. The transport has checked that its parts fit each other.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// World number of its sender.
    pub source: i32,
    /// What it brings.
    pub kind: MessageKind,
    /// Number of the handler.
    pub handler: u16,
    /// The arguments.
    pub args: &'a [i32],
    /// As in [`Outgoing::payload`].
    pub payload: &'a mut [u8],
    /// Of a long message.
    pub target: LongTarget,
    /// Set by whoever runs the handler of a request: it has sent its reply.
    pub replied: bool,
}

/// What a transport can carry in one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageLimits {
    /// Bytes of a medium payload at most, of requests and of replies.
    pub medium: usize,
}

/// A message that waits for room.
#[derive(Debug)]
pub struct Owned {
    kind: MessageKind,
    handler: u16,
    args: Vec<i32>,
    payload: Vec<u8>,
    target: LongTarget,
}

impl Owned {
    /// A copy.
    pub fn new(message: &Outgoing<'_>) -> Self {
        Self {
            kind: message.kind,
            handler: message.handler,
            args: message.args.to_vec(),
            payload: message.payload.to_vec(),
            target: message.target,
        }
    }

    /// The message again.
    pub fn message(&self) -> Outgoing<'_> {
        Outgoing {
            kind: self.kind,
            handler: self.handler,
            args: &self.args,
            payload: &self.payload,
            target: self.target,
        }
    }

    /// The same as it comes out at `source`'s peer.
    pub fn arrive(&mut self, source: i32) -> Incoming<'_> {
        Incoming {
            source,
            kind: self.kind,
            handler: self.handler,
            args: &self.args,
            payload: &mut self.payload,
            target: self.target,
            replied: false,
        }
    }
}
