//! Tokens: what a handler may ask of its message, and what it replies with.
#![allow(unsafe_code)]

use super::handler::Entry;
use crate::fail::refuse;
use crate::start;
use crate::thread;
use crate::types::{Rank, TokenInfo, code};
use pellucid_core::am::{Message, MessageKind};
use std::ffi::c_int;

/// A message whose handler runs.
#[derive(Debug)]
pub struct Token {
    message: *mut Message<'static>,
    entry: &'static Entry,
    source: Rank,
    is_request: bool,
    is_long: bool,
}

impl Token {
    /// Of a message, for as long as its handler runs.
    pub fn new(message: &mut Message<'_>, entry: &Entry, kind: MessageKind) -> Self {
        let (source, is_request) = (message.source() as Rank, message.is_request());
        // SAFETY: entries are never given back.
        let entry = unsafe { &*std::ptr::from_ref(entry) };
        Self {
            message: std::ptr::from_mut(message).cast(),
            entry,
            source,
            is_request,
            is_long: kind == MessageKind::Long,
        }
    }

    /// Of the completion of a VIS put, which is handled as a reply.
    pub fn completion(message: &mut Message<'_>, entry: &Entry) -> Self {
        Self { is_request: false, ..Self::new(message, entry, MessageKind::Medium) }
    }

    /// The handler.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Whether it may be replied to.
    pub fn is_request(&self) -> bool {
        self.is_request
    }

    /// Who sent it.
    pub fn source(&self) -> Rank {
        self.source
    }

    /// The token of the handler that runs in this thread.
    pub fn running(routine: &'static str, token: *const Token) -> &'static Self {
        let thread = thread::get();
        if thread.token.is_null() || !std::ptr::eq(token, thread.token) {
            refuse(
                routine,
                format!("the token is not that of the handler that runs here: called {}", crate::fail::context()),
            )
        }
        // SAFETY: the running handler's token, see `new`.
        unsafe { &*token }
    }

    /// The message of the handler that runs in this thread, to reply to.
    #[allow(clippy::mut_from_ref)] // the token is the proof that the message is this thread's
    pub fn request(routine: &'static str, token: *mut Token) -> &'static mut Message<'static> {
        let thread = thread::get();
        let token = Self::running(routine, token);
        if !token.is_request {
            refuse(routine, format!("{} is a reply handler: only requests are replied to", token.describe()))
        }
        if thread.locks > 0 {
            refuse(routine, format!("called {}: they are to be unlocked before a reply", crate::fail::context()))
        }
        // SAFETY: the message lives while its handler runs, and nobody else has it.
        unsafe { &mut *token.message }
    }

    /// In words, for messages of faults.
    pub fn describe(&self) -> String {
        let name = if self.entry.name.is_empty() { String::new() } else { format!(" ({})", self.entry.name) };
        let way = if self.is_request { "a request" } else { "a reply" };
        format!("in handler {}{name} of {way} of rank {}", self.entry.gex.index, self.source)
    }
}

/// `gex_Token_Info`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Token_Info(token: *const Token, info: *mut TokenInfo, _mask: u32) -> u32 {
    let token = Token::running("gex_Token_Info", token);
    // SAFETY: room for the answer, says the caller.
    unsafe {
        info.write(TokenInfo {
            source: token.source,
            ep: std::ptr::from_ref(start::endpoint()).cast(),
            entry: &raw const token.entry.gex,
            is_request: token.is_request.into(),
            is_long: token.is_long.into(),
        });
    }
    31
}

/// `gasnet_AMGetMsgSource`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_AMGetMsgSource(token: *const Token, source: *mut Rank) -> c_int {
    let token = Token::running("gasnet_AMGetMsgSource", token);
    // SAFETY: as above.
    unsafe { source.write(token.source) };
    code::OK
}
