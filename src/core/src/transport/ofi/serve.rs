//! What others ask of this PE: requests, and the messages that end this PE's own.
#![allow(unsafe_code)]

use super::address::EndpointAddress;
use super::counters::Counter;
use super::endpoint_state::EndpointState;
use super::message::{BUFFER, Entry, HEADER, Header, MessageType, Places, Reader, decode_entry, decode_tag};
use super::op::{Kind, Op, Wanted};
use super::peers::Peer;
use crate::transport::SegmentId;
use crate::transport::shm::amo::apply;
use crate::transport::shm::copy::copy;
use crate::transport::shm::order;

/// The results of a request in a reply that is being filled.
#[derive(Clone, Copy)]
struct Results {
    op: *mut Op,
    /// Where in it their count is.
    count: usize,
}

impl Wanted {
    /// Takes the result out of a reply.
    ///
    /// # Safety
    /// Whoever wants it has vouched for its memory until this moment.
    unsafe fn take(&self, reader: &mut Reader) -> Option<()> {
        // SAFETY: the caller's.
        unsafe {
            match *self {
                Self::Word { to, width: 4 } => to.cast::<u32>().write_unaligned(reader.u64()? as u32),
                Self::Word { to, .. } => to.cast::<u64>().write_unaligned(reader.u64()?),
                Self::Blocks { to, bytes, step, count } => {
                    let data = reader.bytes(8 * self.words())?;
                    for (i, block) in data.chunks_exact(bytes).take(count).enumerate() {
                        copy(to.wrapping_offset(step.wrapping_mul(i as isize)), block.as_ptr(), bytes);
                    }
                }
                Self::Nowhere { words } => _ = reader.bytes(8 * words)?,
            }
        }
        Some(())
    }
}

impl EndpointState {
    /// A message has come in the buffer of a receive.
    pub fn received(&mut self, op: *mut Op, len: usize) {
        // SAFETY: the provider has written `len` bytes to the buffer, which stays as it is until it is posted again.
        let bytes = unsafe {
            let Some(buffer) = (*op).buffer else { return };
            std::slice::from_raw_parts(buffer.start, len.min(BUFFER))
        };
        if Header::token(bytes) != Some(self.token) {
            return self.stranger();
        }
        self.counters.add(Counter::received, 1);
        self.counters.add(Counter::bytes_in, len as u64);
        let Some((header, body)) = Header::decode(bytes) else { return self.garbled(None) };
        if self.survives && self.is_lost(header.from) {
            // On its way when its sender was lost: what that had to say is settled.
            return;
        }
        let understood = match header.what {
            MessageType::Request => self.request(header, body),
            MessageType::Reply => self.reply(header.from, body),
            MessageType::Mail => self.mail(header, body),
            MessageType::Active => self.active(header, body),
            MessageType::Credit => self.credit(header),
        };
        if understood.is_none() {
            self.garbled(Some(header.from));
        }
    }

    /// A message of somebody who is no PE of this job: nothing in it is looked at, and nobody is answered.
    #[cold]
    fn stranger(&mut self) {
        self.counters.add(Counter::strangers, 1);
        if self.counters.strangers() == 1 {
            (self.directory.note)("a message from outside this job was dropped; others are counted only");
        }
    }

    #[cold]
    fn garbled(&mut self, from: Option<u32>) {
        let why = "its message is not understood: all hosts must run one version of the library";
        let fault = self.fault(from.unwrap_or(self.me), "receiving from", why);
        self.fail(fault);
    }

    fn mail(&mut self, header: Header, body: &[u8]) -> Option<()> {
        let mut reader = Reader(body);
        let tag = decode_tag(&mut reader)?;
        self.mailbox.entry((header.from, tag)).or_default().push_back(reader.0.to_vec());
        Some(())
    }

    /// Requests of one sender are carried out in the order in which it sent them, whatever order the provider keeps.
    fn request(&mut self, header: Header, body: &[u8]) -> Option<()> {
        let seen = self.peers.get(header.from)?.seen;
        if header.number != seen {
            let mut whole = header.encode().to_vec();
            whole.extend(body);
            self.early.insert((header.from, header.number), whole);
            return Some(());
        }
        self.carry_out(header, body)?;
        while !self.early.is_empty() {
            let next = self.peers.get(header.from)?.seen;
            let Some(whole) = self.early.remove(&(header.from, next)) else { break };
            let (header, body) = Header::decode(&whole)?;
            self.carry_out(header, body)?;
        }
        Some(())
    }

    fn carry_out(&mut self, header: Header, body: &[u8]) -> Option<()> {
        let mut reader = Reader(body);
        let from = header.from;
        if header.hello {
            let len = reader.u64()? as usize;
            let endpoint_address = reader.bytes(len.checked_next_multiple_of(8)?)?.get(..len)?;
            self.register_peer(from, endpoint_address);
        }
        let peer = self.peers.get(from)?;
        peer.seen = peer.seen.wrapping_add(1);
        if !peer.has(Peer::KNOWN) {
            return None;
        }
        let mut results = self.begin_reply(from, header.id)?;
        let mut entries = 0;
        while !reader.0.is_empty() {
            entries += 1;
            results = self.entry(decode_entry(&mut reader)?, results)?;
        }
        self.counters.add(Counter::served, entries);
        Some(())
    }

    /// Takes over the endpoint address that a PE sends with its first request.
    fn register_peer(&mut self, from: u32, endpoint_address: &[u8]) {
        if self.peers.get(from).is_none_or(|peer| peer.has(Peer::KNOWN)) {
            return;
        }
        if let Err(fault) = self.learn(from, endpoint_address) {
            self.fail(fault);
        }
    }

    /// Puts a PE into the tables.
    pub fn learn(&mut self, pe: u32, bytes: &[u8]) -> Result<(), crate::base::Fault> {
        let Some(endpoint_address) = EndpointAddress::decode(bytes) else {
            return Err(self.fault(
                pe,
                "cannot reach",
                "its endpoint address is not understood: is its library another version?",
            ));
        };
        let address = match self.domain.insert(&endpoint_address) {
            Ok(address) => address,
            Err(why) => return Err(self.fault(pe, "cannot reach", &why)),
        };
        self.hosts.add(pe, &endpoint_address.name, &endpoint_address.host);
        if let Some(peer) = self.peers.get(pe) {
            peer.learn(address, &endpoint_address);
            self.counters.add(Counter::peers, 1);
        }
        Ok(())
    }

    /// Carries one entry out, and adds what it gives to the results.
    fn entry(&mut self, entry: Entry, results: Results) -> Option<Results> {
        match entry {
            Entry::Put { segment, offset, data } => {
                let to = self.domain.local_address(segment, offset, data.len())?;
                // After what came before it: a fence of the sender's may be between the two.
                order::fence();
                // SAFETY: `local_address` has checked the range; a message is not in a segment.
                unsafe { copy(to, data.as_ptr(), data.len()) };
                Some(results)
            }
            Entry::PutBlocks { places, data } => {
                order::fence();
                for (offset, data) in places.offsets().zip(data.chunks_exact(places.block)) {
                    let to = self.domain.local_address(places.segment, offset, data.len())?;
                    // SAFETY: as above.
                    unsafe { copy(to, data.as_ptr(), data.len()) };
                }
                Some(results)
            }
            Entry::GetBlocks(places) => self.reply_blocks(results, places),
            Entry::Question(question) => {
                let answer = (self.directory.answer)(question);
                self.reply_word(results, answer)
            }
            Entry::Amo { segment, offset, op, width, wanted, operand, compare } => {
                let at = self.word(segment, offset, width)?;
                // SAFETY: `word` has checked range and alignment.
                let before = unsafe { apply(at, op, width, operand, compare) };
                if wanted { self.reply_word(results, before) } else { Some(results) }
            }
        }
    }

    /// Address of a word of a segment.
    fn word(&self, segment: SegmentId, offset: u64, width: u8) -> Option<*mut u8> {
        let at = self.domain.local_address(segment, offset, usize::from(width))?;
        (matches!(width, 4 | 8) && (at as usize).is_multiple_of(usize::from(width))).then_some(at)
    }

    /// A place for the results of a request in a reply to its sender: the record, and where in it the count is.
    fn begin_reply(&mut self, to: u32, id: u32) -> Option<Results> {
        // SAFETY: replies that are being filled are this endpoint's, with buffers of their own; here and below.
        let open = self.replies.iter().copied().find(|op| unsafe { (**op).pe == to && (**op).bytes + 64 <= BUFFER });
        let op = match open {
            Some(op) => op,
            None => self.new_reply(to)?,
        };
        // SAFETY: as above; there is room for 64 bytes.
        unsafe {
            let at = (*op).bytes;
            (*op).buffer?.write(at, &id.to_ne_bytes());
            (*op).buffer?.write(at + 4, &0u32.to_ne_bytes());
            (*op).bytes += 8;
            (*op).entries += 1;
            Some(Results { op, count: at + 4 })
        }
    }

    /// A reply without entries.
    pub fn new_reply(&mut self, to: u32) -> Option<*mut Op> {
        let buffer = match self.buffer() {
            Ok(buffer) => buffer,
            Err(fault) => {
                self.fail(fault);
                return None;
            }
        };
        let op = self.ops.take(Kind::Reply, 0, to);
        let token = self.peers.get(to)?.token;
        let header = Header { what: MessageType::Reply, hello: false, from: self.me, number: 0, id: 0, token };
        // SAFETY: a fresh record and a buffer for it.
        unsafe {
            buffer.write(0, &header.encode());
            (*op).buffer = Some(buffer);
            (*op).bytes = HEADER;
        }
        self.reply_buffers += 1;
        self.replies.push(op);
        self.counters.add(Counter::replies, 1);
        Some(op)
    }

    /// Adds a word to the results.
    fn reply_word(&mut self, results: Results, value: u64) -> Option<Results> {
        let (results, place) = self.reply_words(results, 1)?;
        // SAFETY: a word of the reply.
        unsafe { place.cast::<u64>().write_unaligned(value) };
        Some(results)
    }

    /// Adds blocks to the results, one behind the other.
    fn reply_blocks(&mut self, results: Results, places: Places) -> Option<Results> {
        let (results, place) = self.reply_words(results, places.bytes()?.div_ceil(8))?;
        for (i, offset) in places.offsets().enumerate() {
            let from = self.domain.local_address(places.segment, offset, places.block)?;
            // SAFETY: `local_address` has checked the range; the reply has room for all blocks, and is in no segment.
            unsafe { copy(place.add(i * places.block), from, places.block) };
        }
        Some(results)
    }

    /// Adds words to the results, which are still to be written. Those of one request always fit a reply of their own:
    /// one that is full already is left to what it has, and the results move to a new one.
    fn reply_words(&mut self, results: Results, words: usize) -> Option<(Results, *mut u8)> {
        let Results { mut op, mut count } = results;
        // SAFETY: as in `begin_reply`; `count` is the place of the last count in the record, and what is behind it are
        // its results.
        unsafe {
            if (*op).bytes + 8 * words > BUFFER {
                let begin = count - 4;
                let part = (*op).bytes - begin;
                let fresh = self.new_reply((*op).pe)?;
                let (from, to) = ((*op).buffer?, (*fresh).buffer?);
                std::ptr::copy_nonoverlapping(from.start.add(begin), to.start.add(HEADER), part);
                (*op).bytes = begin;
                (*fresh).bytes = HEADER + part;
                (op, count) = (fresh, HEADER + 4);
                if (*op).bytes + 8 * words > BUFFER {
                    return None;
                }
            }
            let buffer = (*op).buffer?;
            let place = buffer.start.add((*op).bytes);
            (*op).bytes += 8 * words;
            let counted = buffer.start.add(count).cast::<u32>();
            counted.write_unaligned(counted.read_unaligned() + words as u32);
            Some((Results { op, count }, place))
        }
    }

    /// Requests of this PE have been carried out by the PE that they were sent to.
    fn reply(&mut self, from: u32, body: &[u8]) -> Option<()> {
        let mut reader = Reader(body);
        while !reader.0.is_empty() {
            let (id, count) = (reader.u32()?, reader.u32()?);
            let op = self.ops.request(id)?;
            // SAFETY: a request, of this endpoint.
            let (channel, pe) = unsafe { ((*op).channel, (*op).pe) };
            if pe != from || self.channel(channel).to(pe).open == op {
                return None;
            }
            // SAFETY: a request in flight, of this endpoint; the caller of each operation in it vouched for the memory
            // of its result until this moment.
            unsafe {
                let results = std::mem::take(&mut (*op).results);
                if results.iter().map(Wanted::words).sum::<usize>() != count as usize {
                    return None;
                }
                for wanted in &results {
                    wanted.take(&mut reader)?;
                }
                // The memory of the list serves again.
                (*op).results = results;
                (*op).results.clear();
            }
            self.complete_part(op);
        }
        Some(())
    }
}
