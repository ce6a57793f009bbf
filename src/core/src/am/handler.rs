//! Handlers: the table of them, and what one sees of its message.

use super::{Messages, medium, short};
use crate::base::{Cause, Fault};
use crate::transport::{Incoming, Lane, MessageKind, Outgoing, RemoteAddress};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Numbers under which handlers can be registered: 0 to this less one.
pub const HANDLERS: u16 = 512;
/// The number of the library's own.
pub(super) const OWN: u16 = HANDLERS;

/// A handler.
#[derive(Clone, Copy)]
pub struct Handler {
    /// Its name, for messages.
    pub name: &'static str,
    /// What it does, with `context`.
    pub run: fn(&mut Message<'_>, usize),
    /// Whatever its owner wants to have with each call.
    pub context: usize,
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All handlers of a PE.
#[derive(Debug)]
pub(super) struct Table([AtomicPtr<Handler>; OWN as usize + 1]);

impl Table {
    pub const fn new() -> Self {
        Self([const { AtomicPtr::new(ptr::null_mut()) }; OWN as usize + 1])
    }

    /// Handlers that were registered are never given back: another thread may be about to run one.
    pub fn set(&self, number: u16, handler: Handler) -> Result<(), Fault> {
        let Some(slot) = self.0[..usize::from(HANDLERS)].get(usize::from(number)) else {
            let value = number.into();
            return Err(Fault::from(Cause::BadValue { arg: "handler", value, expected: "a number below 512" }));
        };
        slot.store(Box::into_raw(Box::new(handler)), Ordering::Release);
        Ok(())
    }

    /// The library's own.
    pub fn set_own(&self, handler: Handler) {
        self.0[usize::from(OWN)].store(Box::into_raw(Box::new(handler)), Ordering::Release);
    }

    #[inline]
    pub fn get(&self, number: u16) -> Option<&Handler> {
        let handler = self.0.get(usize::from(number))?.load(Ordering::Acquire);
        // SAFETY: null or made by `set`, and never given back.
        unsafe { handler.as_ref() }
    }

    #[cold]
    pub fn unknown(&self, number: u16, source: i32) -> Fault {
        Fault::from(Cause::Message(format!(
            "an active message of PE {source} is for handler {number}, and none is registered here: all PEs register \
             their handlers, then synchronize, before anyone sends"
        )))
    }

    /// A handler does what it must not. `number`: as the thread notes it, one more than the handler's.
    #[cold]
    pub fn refuse(&self, number: u32, what: &str) -> Fault {
        let number = number.saturating_sub(1) as u16;
        let name = self.get(number).map_or("", |handler| handler.name);
        Fault::from(Cause::Message(format!("handler {number} ({name}) of an active message {what}")))
    }
}

/// A message, as its handler sees it.
#[derive(Debug)]
pub struct Message<'a> {
    messages: &'a Messages,
    source: i32,
    kind: MessageKind,
    handler: u16,
    args: &'a [i32],
    payload: *mut u8,
    bytes: usize,
    lane: Lane,
    replied: bool,
}

impl<'a> Message<'a> {
    /// `data`: where that of a long message is.
    #[inline]
    pub(super) fn new<'b: 'a>(
        messages: &'a Messages,
        incoming: &'a mut Incoming<'b>,
        lane: Lane,
        data: Option<(*mut u8, usize)>,
    ) -> Self {
        let (payload, bytes) = data.unwrap_or((incoming.payload.as_mut_ptr(), incoming.payload.len()));
        Self {
            messages,
            source: incoming.source,
            kind: incoming.kind,
            handler: incoming.handler,
            args: incoming.args,
            payload,
            bytes,
            lane,
            replied: false,
        }
    }

    /// World number of the sender.
    pub fn source(&self) -> i32 {
        self.source
    }

    /// What it brings.
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The number that it was sent to.
    pub fn handler(&self) -> u16 {
        self.handler
    }

    /// Whether this is a request, which may be replied to.
    pub fn is_request(&self) -> bool {
        self.lane == Lane::Request
    }

    /// The arguments.
    #[inline]
    pub fn args(&self) -> &'a [i32] {
        self.args
    }

    /// Address of the payload; of a long message, in this PE's segment.
    pub fn payload_address(&self) -> *mut u8 {
        self.payload
    }

    /// The payload. That of a long message lies where other PEs may write at any time: it is to be looked at while they
    /// have agreed not to.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: the transport's buffer, which is this message's while the handler runs, or memory of a segment that
        // was checked.
        unsafe { std::slice::from_raw_parts(self.payload, self.bytes) }
    }

    /// Sends a short reply.
    ///
    /// Fault: this is a reply itself, or has been replied to; the arguments' number; the network fails. So for the
    /// other kinds.
    #[inline]
    pub fn reply_short(&mut self, handler: u16, args: &[i32]) -> Result<(), Fault> {
        self.reply(&short(handler, args))
    }

    /// Sends a reply with a payload of at most [`super::MessageLimits::medium`] bytes.
    pub fn reply_medium(&mut self, handler: u16, args: &[i32], payload: &[u8]) -> Result<(), Fault> {
        self.reply(&medium(handler, args, payload))
    }

    /// Copies data to a segment of the sender's (`to.pe` is not looked at), then sends a reply that finds it there.
    pub fn reply_long(&mut self, handler: u16, args: &[i32], data: &[u8], to: RemoteAddress) -> Result<(), Fault> {
        self.may_reply()?;
        let (payload, target) = self.messages.job()?.place(data, RemoteAddress { pe: self.source, ..to })?;
        self.reply(&Outgoing { kind: MessageKind::Long, handler, args, payload, target })
    }

    fn may_reply(&self) -> Result<(), Fault> {
        let refuse = |what| Err(self.messages.handlers.refuse(u32::from(self.handler) + 1, what));
        match (self.lane, self.replied) {
            (Lane::Reply, _) => refuse("replies to a reply: only requests are replied to"),
            (_, true) => refuse("replies a second time: a request has one reply at most"),
            _ => Ok(()),
        }
    }

    #[inline]
    fn reply(&mut self, message: &Outgoing<'_>) -> Result<(), Fault> {
        self.may_reply()?;
        self.messages.reply(self.source, message)?;
        self.replied = true;
        Ok(())
    }

    pub(super) fn has_replied(&self) -> bool {
        self.replied
    }
}
