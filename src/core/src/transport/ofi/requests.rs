//! Requests: puts, gets, atomics and signals that the target's CPU carries out, in messages that hold many of them.
//!
//! A request to a PE goes at once where nothing is under way to it on the same channel. Otherwise what comes is
//! collected, and goes when the reply to the one before has come, when a message is full, or when somebody waits for
//! it: a lone operation is not delayed, a stream of them shares messages, and nothing stays behind when the PE
//! computes, since the reply comes to the progress thread too.
#![allow(unsafe_code)]

use super::counters::Counter;
use super::endpoint_state::EndpointState;
use super::message::{
    AMO_BYTES, BUFFER, ENTRIES, HEADER, HELLO, Header, MessageType, RESULTS, encode_amo, encode_blocks, encode_put,
    encode_question, put_bytes,
};
use super::op::{Kind, Op, Then, Wanted};
use super::peers::Peer;
use crate::base::Fault;
use crate::transport::{Atomic, Blocks, Completion, RemoteAddress};

impl EndpointState {
    /// A request to a PE that has room for entries of `room` bytes, and whose reply has room for `results` bytes.
    fn open_request(&mut self, channel: u32, pe: u32, room: usize, results: usize) -> Result<*mut Op, Fault> {
        let open = self.channel(channel).to(pe).open;
        if !open.is_null() {
            // SAFETY: a request that is being filled is this endpoint's.
            let (bytes, result_bytes) = unsafe { ((*open).bytes, (*open).result_bytes) };
            if bytes + room <= HEADER + HELLO + ENTRIES && result_bytes + results <= RESULTS {
                return Ok(open);
            }
            self.flush(channel, pe);
        }
        let buffer = self.buffer()?;
        let op = self.ops.take(Kind::Request, channel, pe);
        // SAFETY: a fresh record.
        let record = unsafe { &mut *op };
        record.parts = 2;
        record.buffer = Some(buffer);
        record.bytes = HEADER;
        record.tagged = false;
        if self.peers.get(pe).is_some_and(|peer| !peer.has(Peer::GREETED)) {
            // The endpoint address goes with the first request, so that the target can reply without looking anything
            // up.
            record.tagged = true;
            // SAFETY: a buffer has room for an endpoint address of 400 bytes and its length.
            unsafe {
                buffer.write(HEADER, &(self.endpoint_address.len() as u64).to_ne_bytes());
                buffer.write(HEADER + 8, &self.endpoint_address);
            }
            record.bytes = HEADER + 8 + self.endpoint_address.len().next_multiple_of(8);
        }
        record.begun = self.channel(channel).begin(pe, op);
        Ok(op)
    }

    /// Adds a put to a request.
    ///
    /// # Safety
    /// `source` is readable for `bytes` bytes.
    pub unsafe fn add_put(
        &mut self,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        more: usize,
    ) -> Result<*mut Op, Fault> {
        let op = self.open_request(channel, to.pe as u32, put_bytes(bytes) + more, 0)?;
        // SAFETY: `open_request` has made room; the source is the caller's word. The bytes up to the multiple of 8 are
        // whatever the buffer held before: initialized memory of this process, and the target does not look at them.
        unsafe {
            let record = &mut *op;
            if let Some(buffer) = record.buffer {
                buffer.write(record.bytes, &encode_put(to.segment, to.offset as u64, bytes));
                let data = buffer.start.add(record.bytes + super::message::ENTRY);
                std::ptr::copy_nonoverlapping(source, data, bytes);
            }
            record.bytes += put_bytes(bytes);
            record.entries += 1;
        }
        Ok(op)
    }

    /// Adds an atomic operation to a request.
    pub fn add_amo(&mut self, channel: u32, at: RemoteAddress, atomic: &Atomic) -> Result<*mut Op, Fault> {
        let wanted = (!atomic.result.is_null()).then_some(Wanted::Word { to: atomic.result, width: atomic.width });
        self.add_entry(channel, at.pe as u32, &encode_amo(at.segment, at.offset as u64, atomic), wanted)
    }

    /// Asks for blocks, which fit into a reply, to be read to `dest`.
    pub fn add_get(
        &mut self,
        channel: u32,
        dest: *mut u8,
        from: RemoteAddress,
        blocks: Blocks,
    ) -> Result<*mut Op, Fault> {
        let wanted = Wanted::Blocks { to: dest, bytes: blocks.bytes, step: blocks.here, count: blocks.count };
        debug_assert!(8 * wanted.words() <= RESULTS);
        self.add_entry(channel, from.pe as u32, &encode_blocks(false, from, blocks), Some(wanted))
    }

    /// Adds blocks, which fit into a request.
    ///
    /// # Safety
    /// All at `source` are readable.
    pub unsafe fn add_put_blocks(
        &mut self,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        blocks: Blocks,
    ) -> Result<*mut Op, Fault> {
        let bytes = AMO_BYTES + (blocks.bytes * blocks.count).next_multiple_of(8);
        debug_assert!(bytes <= ENTRIES);
        let op = self.open_request(channel, to.pe as u32, bytes, 0)?;
        // SAFETY: `open_request` has made room; the source is the caller's word. What fills up to the multiple of 8 is
        // as in `add_put`.
        unsafe {
            let record = &mut *op;
            if let Some(buffer) = record.buffer {
                buffer.write(record.bytes, &encode_blocks(true, to, blocks));
                let data = buffer.start.add(record.bytes + AMO_BYTES);
                for i in 0..blocks.count {
                    let from = source.wrapping_offset(blocks.here.wrapping_mul(i as isize));
                    std::ptr::copy_nonoverlapping(from, data.add(i * blocks.bytes), blocks.bytes);
                }
            }
            record.bytes += bytes;
            record.entries += 1;
        }
        Ok(op)
    }

    /// Adds a question, the answer to which goes to `to`.
    pub fn add_question(&mut self, channel: u32, pe: u32, question: [u64; 3], to: *mut u64) -> Result<*mut Op, Fault> {
        let wanted = Wanted::Word { to: to.cast(), width: 8 };
        self.add_entry(channel, pe, &encode_question(question), Some(wanted))
    }

    fn add_entry(
        &mut self,
        channel: u32,
        pe: u32,
        entry: &[u8; AMO_BYTES],
        wanted: Option<Wanted>,
    ) -> Result<*mut Op, Fault> {
        let results = wanted.map_or(0, |wanted| 8 * wanted.words());
        let op = self.open_request(channel, pe, AMO_BYTES, results)?;
        // SAFETY: `open_request` has made room.
        unsafe {
            let record = &mut *op;
            if let Some(buffer) = record.buffer {
                buffer.write(record.bytes, entry);
            }
            record.bytes += AMO_BYTES;
            record.entries += 1;
            record.results.extend(wanted);
            record.result_bytes += results;
        }
        Ok(op)
    }

    /// Begins a request without entries, or takes the one that is open: its reply says that the target has seen
    /// everything that was posted before.
    pub fn add_nothing(&mut self, channel: u32, pe: u32) -> Result<(), Fault> {
        self.open_request(channel, pe, 0, 0)?;
        self.flush(channel, pe);
        Ok(())
    }

    /// Sends a request without entries behind the writes to a PE whose completions do not say that their data have
    /// arrived. Under one hold of the lock it is begun and the PE is no longer on the list of those that need one:
    /// another thread's quiet finds it there, or waits for the request.
    pub fn flush_writes(&mut self, channel: u32, pe: u32) -> Result<(), Fault> {
        let behind = self.domain.send_after_write;
        let channel_state = self.channel(channel);
        if !channel_state.is_dirty(pe) {
            return Ok(());
        }
        // The request may overtake what another thread has begun to write: the PE stays on the list for that.
        if behind || channel_state.to(pe).writes == 0 {
            channel_state.clean(pe);
        }
        self.add_nothing(channel, pe)
    }

    /// Sends the signal of a put that is complete, and that was begun at some time: who waits for the put waits for its
    /// signal, too.
    pub fn signal(&mut self, channel: u32, then: Then, begun: u64) {
        match self.add_amo(channel, then.signal, &Atomic::of_signal(then.op, then.value)) {
            Ok(op) => {
                // SAFETY: the record is being filled.
                let record = unsafe { &mut *op };
                record.count_for(then.when);
                let (pe, joined) = (record.pe, record.begun);
                let channel_state = self.channel(channel);
                channel_state.to(pe).signal_follows(then.epoch);
                record.begun = channel_state.follow(pe, joined, begun);
                self.flush(channel, then.signal.pe as u32);
            }
            Err(fault) => self.fail(fault),
        }
    }

    /// Sends the request to a PE that is being filled, if there is one.
    pub fn flush(&mut self, channel: u32, pe: u32) {
        let op = self.channel(channel).end(pe);
        if op.is_null() {
            return;
        }
        let me = self.me;
        let Some(peer) = self.peers.get(pe) else { return };
        let number = peer.sent;
        peer.sent = number.wrapping_add(1);
        peer.flags |= Peer::GREETED;
        let token = peer.token;
        // SAFETY: the request was being filled until now, and is this endpoint's.
        unsafe {
            let record = &mut *op;
            let header =
                Header { what: MessageType::Request, hello: record.tagged, from: me, number, id: record.index, token };
            if let Some(buffer) = record.buffer {
                buffer.write(0, &header.encode());
            }
            debug_assert!(record.bytes <= BUFFER);
            self.counters.add(Counter::requests, 1);
            self.counters.add(Counter::request_entries, u64::from(record.entries));
        }
        self.send(op);
    }

    /// Sends the request to a PE that is being filled where nothing else is under way to it.
    pub fn flush_if_idle(&mut self, channel: u32, pe: u32) {
        if self.channel(channel).to(pe).requests == 1 {
            self.flush(channel, pe);
        }
    }

    /// As [`Self::flush_if_idle`]; what has an event is left to the progress thread where that is there for it.
    pub fn flush_or_leave(&mut self, channel: u32, pe: u32, when: Completion) {
        self.leaves = self.is_left(when);
        self.flush_if_idle(channel, pe);
        self.leaves = false;
    }

    /// Sends all requests of a channel that are being filled.
    pub fn flush_all(&mut self, channel: u32) {
        while let Some(pe) = self.channel(channel).any_open() {
            self.flush(channel, pe);
        }
    }
}
