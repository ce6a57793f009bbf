//! Active messages to a handler, as [`crate::transport::message`] has them.
//!
//! Messages never wait for their receiver's program: whoever looks at the completion queue there takes them in, and
//! they stay in a list until the program takes them. So that the list stays short, a PE sends another one no more than
//! [`CREDITS`] requests whose handlers have not run. A reply gives the credit of its request back, once its own handler
//! has run; requests without one are told of in messages of their own, many at a time.
#![allow(unsafe_code)]

use super::counters::Counter;
use super::endpoint::{self, Endpoint};
use super::endpoint_state::EndpointState;
use super::message::{HEADER, Header, MessageType, Reader};
use super::op::Kind;
use crate::base::Fault;
use crate::transport::{
    Incoming, Lane, LongTarget, MAX_ARGS, MESSAGE, MessageKind, MessageLimits, Outgoing, Owned, SegmentId,
};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;

/// Requests to a PE whose handlers have not run.
const CREDITS: u32 = 64;
/// Requests without reply that are told of at once.
const RETURNED: u32 = CREDITS / 2;
/// Bytes of a long message's target.
const TARGET: usize = 24;
/// Bytes of arguments.
const ARGS: usize = 4 * MAX_ARGS;

const _: () = assert!(HEADER + TARGET + ARGS + MESSAGE <= super::message::BUFFER);

/// What is between this PE and another one.
#[derive(Debug, Default, Clone, Copy)]
struct Flow {
    /// Requests sent whose credit has not come back.
    used: u32,
    /// Requests handled whose sender has not been told.
    owed: u32,
}

impl Flow {
    /// Whether the other PE has handled all that was sent; `None`: that is not known, since it tells of many requests
    /// without reply at a time.
    fn is_handled(self) -> Option<bool> {
        match self.used {
            0 => Some(true),
            RETURNED.. => Some(false),
            _ => None,
        }
    }
}

/// Active messages of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Active {
    arrived: [VecDeque<(u32, Owned)>; 2],
    flows: HashMap<u32, Flow>,
    /// Requests of this PE whose credit has not come back.
    used: u64,
    /// The end is near: credits are given back at once.
    pub eager: bool,
}

impl Active {
    fn returned(&mut self, from: u32, credits: u32) {
        let flow = self.flows.entry(from).or_default();
        let credits = credits.min(flow.used);
        flow.used -= credits;
        self.used -= u64::from(credits);
    }

    /// A PE is lost, and handles nothing any more.
    pub fn lose(&mut self, pe: u32) {
        if let Some(flow) = self.flows.remove(&pe) {
            self.used -= u64::from(flow.used);
        }
    }
}

impl EndpointState {
    /// A message to a handler has come.
    pub fn active(&mut self, header: Header, body: &[u8]) -> Option<()> {
        let mut reader = Reader(body);
        let lane = if header.hello { Lane::Reply } else { Lane::Request };
        let kind = MessageKind::from_number(header.number as u8)?;
        let (handler, args) = ((header.number >> 16) as u16, usize::from((header.number >> 8) as u8));
        let mut target = LongTarget::NONE;
        if kind == MessageKind::Long {
            let (bytes, offset, segment) = (reader.u64()?, reader.u64()?, reader.u64()?);
            target = LongTarget { segment: SegmentId(u16::try_from(segment).ok()?), offset, bytes };
        }
        if args > MAX_ARGS {
            return None;
        }
        let args: Option<Vec<i32>> = (0..args).map(|_| reader.u32().map(|arg| arg as i32)).collect();
        let message = Outgoing { kind, handler, args: &args?, payload: reader.0, target };
        self.peers.get(header.from)?;
        self.active.arrived[lane as usize].push_back((header.from, Owned::new(&message)));
        self.counters.add(Counter::active_received, 1);
        Some(())
    }

    /// A PE tells how many requests of this one it has handled.
    pub fn credit(&mut self, header: Header) -> Option<()> {
        self.active.returned(header.from, header.number);
        Some(())
    }

    /// Sends a message to a handler. The PE is known.
    fn send_active(&mut self, lane: Lane, to: u32, message: &Outgoing<'_>) -> Result<(), Fault> {
        let note = message.kind as u32 | (message.args.len() as u32) << 8 | u32::from(message.handler) << 16;
        let (hello, token) = (lane == Lane::Reply, self.token_of(to));
        let header = Header { what: MessageType::Active, hello, from: self.me, number: note, id: 0, token };
        let mut bytes = Vec::with_capacity(HEADER + TARGET + ARGS + message.payload.len());
        bytes.extend(header.encode());
        if message.kind == MessageKind::Long {
            let LongTarget { segment, offset, bytes: length } = message.target;
            for word in [length, offset, segment.0.into()] {
                bytes.extend(word.to_ne_bytes());
            }
        }
        for arg in message.args {
            bytes.extend(arg.to_ne_bytes());
        }
        bytes.extend(message.payload);
        self.counters.add(Counter::active_sent, 1);
        self.send_bytes(to, &bytes)
    }

    /// What a message to a PE that is known has to have.
    fn token_of(&mut self, pe: u32) -> u64 {
        self.peers.get(pe).map_or(0, |peer| peer.token)
    }

    fn send_bytes(&mut self, to: u32, bytes: &[u8]) -> Result<(), Fault> {
        let buffer = self.buffer()?;
        let op = self.ops.take(Kind::Active, 0, to);
        // SAFETY: a fresh record, and a buffer that has room for the largest message.
        unsafe {
            buffer.write(0, bytes);
            (*op).buffer = Some(buffer);
            (*op).bytes = bytes.len();
        }
        self.send(op);
        self.check()
    }

    /// A request of a PE has been handled without a reply.
    fn handled(&mut self, from: u32) -> Result<(), Fault> {
        let eager = self.active.eager;
        let flow = self.active.flows.entry(from).or_default();
        flow.owed += 1;
        if !eager && flow.owed < RETURNED {
            return Ok(());
        }
        self.tell(from)
    }

    /// Gives credits back.
    fn tell(&mut self, to: u32) -> Result<(), Fault> {
        let flow = self.active.flows.entry(to).or_default();
        let number = std::mem::take(&mut flow.owed);
        if number == 0 {
            return Ok(());
        }
        let token = self.token_of(to);
        let header = Header { what: MessageType::Credit, hello: false, from: self.me, number, id: 0, token };
        self.send_bytes(to, &header.encode())
    }
}

impl Endpoint {
    /// See [`crate::transport::Transport::message_limits`].
    pub fn message_limits(&self) -> MessageLimits {
        MessageLimits { medium: MESSAGE }
    }

    /// See [`crate::transport::Transport::try_send_message`].
    pub fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        let mut state = match self.reach(to) {
            // The handler that replies does not know.
            Err(fault) if fault.is_loss() && lane == Lane::Reply => return Ok(true),
            reached => reached?,
        };
        let pe = to as u32;
        if lane == Lane::Request {
            let replies = state.active.arrived[Lane::Reply as usize].len();
            let flow = state.active.flows.entry(pe).or_default();
            if flow.used >= CREDITS || replies >= 16 * CREDITS as usize {
                return Ok(false);
            }
            flow.used += 1;
            state.active.used += 1;
        }
        state.send_active(lane, pe, message)?;
        Ok(true)
    }

    /// See [`crate::transport::Transport::deliver_messages`].
    pub fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        if endpoint::is_child() || self.counters.active_received() == self.active_taken.load(Ordering::Acquire) {
            return Ok(0);
        }
        let mut count = 0;
        while count < most {
            let mut state = self.lock()?;
            let Some((from, mut owned)) = state.active.arrived[lane as usize].pop_front() else { break };
            self.active_taken.fetch_add(1, Ordering::AcqRel);
            drop(state);
            let mut message = owned.arrive(from as i32);
            run(&mut message)?;
            let replied = message.replied;
            count += 1;
            if lane == Lane::Reply {
                self.lock()?.active.returned(from, 1);
            } else if !replied {
                match self.reach(from as i32) {
                    Ok(mut state) => state.handled(from)?,
                    // It need not be told.
                    Err(fault) if fault.is_loss() => {}
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(count)
    }

    /// See [`crate::transport::Transport::messages_handled_by`].
    pub fn messages_handled_by(&self, pe: i32) -> Option<bool> {
        let flow = self.lock().ok().and_then(|state| state.active.flows.get(&(pe as u32)).copied());
        flow.unwrap_or_default().is_handled()
    }

    /// See [`crate::transport::Transport::all_messages_handled`].
    pub fn all_messages_handled(&self) -> Result<bool, Fault> {
        if endpoint::is_child() {
            return Ok(true);
        }
        let mut state = self.lock()?;
        state.check()?;
        if !state.active.eager {
            state.active.eager = true;
        }
        let owed: Vec<u32> = state.active.flows.iter().filter(|(_, flow)| flow.owed > 0).map(|(pe, _)| *pe).collect();
        for pe in owed {
            state.tell(pe)?;
        }
        Ok(state.active.used == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handled_is_known_but_for_what_is_told_of_later() {
        let known = |used| Flow { used, owed: 0 }.is_handled();
        assert_eq!((known(0), known(1), known(RETURNED - 1)), (Some(true), None, None));
        assert_eq!((known(RETURNED), known(CREDITS)), (Some(false), Some(false)));
    }
}
