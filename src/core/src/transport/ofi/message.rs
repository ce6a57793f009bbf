//! The messages between fabrics: a header, where it is the first request to a PE the sender's endpoint address, then
//! entries.
//!
//! A header ends with the token of the PE that the message is for, which only PEs of the job know: a message that has
//! another comes from somebody else, and nothing in it is looked at.
//!
//! All hosts of a job have one byte order; fields are written as they are in memory, in words of 8 bytes.

use crate::transport::{AmoOp, Atomic, Blocks, MESSAGE, RemoteAddress, SegmentId, Tag};

/// Bytes of a header.
pub(super) const HEADER: usize = 24;
/// Bytes of an entry before its data or operands.
pub(super) const ENTRY: usize = 16;
/// Bytes of a tag in a message.
pub(super) const TAG: usize = 16;
/// Room for an endpoint address and its length.
pub(super) const HELLO: usize = 416;
/// Bytes of the largest message.
pub(super) const BUFFER: usize = HEADER + HELLO + TAG + MESSAGE;
/// Bytes of entries that a request takes.
pub(super) const ENTRIES: usize = MESSAGE;

/// Bytes of the results of a request: they fit into a reply of their own.
pub(super) const RESULTS: usize = MESSAGE;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum MessageType {
    /// Entries to be carried out, and a reply expected.
    Request = 1,
    /// Which requests were carried out, with their results.
    Reply = 2,
    /// A message for [`crate::transport::Transport::take`].
    Mail = 3,
    /// An active message: `number` holds handler, count of arguments and kind, `hello` says that it is a reply.
    Active = 4,
    /// So many requests (`number`) of the receiver were handled without reply.
    Credit = 5,
}

/// A header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub what: MessageType,
    /// An endpoint address comes before the entries.
    pub hello: bool,
    /// World number of the sender.
    pub from: u32,
    /// Number of a request among those of its sender to this PE.
    pub number: u32,
    /// The sender's name for a request, for the reply.
    pub id: u32,
    /// The token of the PE that it is for.
    pub token: u64,
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[0] = self.what as u8;
        out[1] = u8::from(self.hello);
        out[4..8].copy_from_slice(&self.from.to_ne_bytes());
        out[8..12].copy_from_slice(&self.number.to_ne_bytes());
        out[12..16].copy_from_slice(&self.id.to_ne_bytes());
        out[16..].copy_from_slice(&self.token.to_ne_bytes());
        out
    }

    /// The token in the header of a message; `None` where it is too short to have one.
    #[inline]
    pub fn token(bytes: &[u8]) -> Option<u64> {
        bytes.get(16..HEADER)?.try_into().ok().map(u64::from_ne_bytes)
    }

    /// The header and what follows; `None` where there is none.
    pub fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_at_checked(HEADER)?;
        let token = Self::token(bytes)?;
        let what = match head[0] {
            1 => MessageType::Request,
            2 => MessageType::Reply,
            3 => MessageType::Mail,
            4 => MessageType::Active,
            5 => MessageType::Credit,
            _ => return None,
        };
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        Some((Self { what, hello: head[1] != 0, from: word(4), number: word(8), id: word(12), token }, rest))
    }
}

/// Reads words off the front of a message.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }
}

/// Where blocks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    pub segment: SegmentId,
    /// Of the first.
    pub offset: u64,
    /// From the start of one to the next, in bytes.
    pub step: i64,
    /// Bytes of each.
    pub block: usize,
    pub count: usize,
}

impl Places {
    /// The offset of each.
    pub fn offsets(self) -> impl Iterator<Item = u64> {
        (0..self.count as i64).map(move |i| self.offset.wrapping_add_signed(self.step.wrapping_mul(i)))
    }

    /// Bytes of all; `None` for more than there are in any message, and for blocks of nothing, which nobody asks for.
    pub fn bytes(self) -> Option<usize> {
        self.block.checked_mul(self.count).filter(|&bytes| self.block > 0 && bytes <= MESSAGE)
    }
}

/// One thing that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// Bytes to be written.
    Put { segment: SegmentId, offset: u64, data: &'a [u8] },
    /// Blocks to be written.
    PutBlocks { places: Places, data: &'a [u8] },
    /// Blocks to be read.
    GetBlocks(Places),
    /// A question ([`crate::transport::Transport::ask`]).
    Question([u64; 3]),
    /// An atomic operation; the value before is wanted or not.
    Amo { segment: SegmentId, offset: u64, op: AmoOp, width: u8, wanted: bool, operand: u64, compare: u64 },
}

const PUT: u8 = 1;
const AMO: u8 = 2;
const QUESTION: u8 = 3;
const PUT_BLOCKS: u8 = 4;
const GET_BLOCKS: u8 = 5;

/// Bytes of a put in a request.
pub(super) const fn put_bytes(data: usize) -> usize {
    ENTRY + data.next_multiple_of(8)
}

/// Bytes of an atomic operation in a request, of a question, and of what says where blocks are.
pub(super) const AMO_BYTES: usize = ENTRY + 16;

/// A segment's number fills what its entry has free: bytes 4 and 5 of an atomic operation, 2 and 3 of others.
fn segment_at(head: &[u8], at: usize) -> SegmentId {
    SegmentId(u16::from_ne_bytes([head[at], head[at + 1]]))
}

const OPS: [AmoOp; 8] =
    [AmoOp::Fetch, AmoOp::Set, AmoOp::Swap, AmoOp::CompareSwap, AmoOp::Add, AmoOp::And, AmoOp::Or, AmoOp::Xor];

/// Writes the head of a put of `data` bytes; the data follow it, up to the next multiple of 8.
pub(super) fn encode_put(segment: SegmentId, offset: u64, data: usize) -> [u8; ENTRY] {
    let mut out = [0; ENTRY];
    out[0] = PUT;
    out[2..4].copy_from_slice(&segment.0.to_ne_bytes());
    out[4..8].copy_from_slice(&(data as u32).to_ne_bytes());
    out[8..].copy_from_slice(&offset.to_ne_bytes());
    out
}

/// Writes an atomic operation.
pub(super) fn encode_amo(segment: SegmentId, offset: u64, atomic: &Atomic) -> [u8; AMO_BYTES] {
    let mut out = [0; AMO_BYTES];
    out[0] = AMO;
    out[4..6].copy_from_slice(&segment.0.to_ne_bytes());
    out[2] = atomic.op as u8;
    out[3] = atomic.width | if atomic.result.is_null() { 0 } else { 0x80 };
    out[8..16].copy_from_slice(&offset.to_ne_bytes());
    out[16..24].copy_from_slice(&atomic.operand.to_ne_bytes());
    out[24..].copy_from_slice(&atomic.compare.to_ne_bytes());
    out
}

/// Writes what asks for blocks, or the head of blocks that follow it, one behind the other, up to the next multiple of
/// 8. The bytes of each are less than 2^32.
pub(super) fn encode_blocks(are_put: bool, first: RemoteAddress, blocks: Blocks) -> [u8; AMO_BYTES] {
    let mut out = [0; AMO_BYTES];
    out[0] = if are_put { PUT_BLOCKS } else { GET_BLOCKS };
    out[2..4].copy_from_slice(&first.segment.0.to_ne_bytes());
    out[4..8].copy_from_slice(&(blocks.bytes as u32).to_ne_bytes());
    out[8..16].copy_from_slice(&(first.offset as u64).to_ne_bytes());
    out[16..24].copy_from_slice(&(blocks.there as i64).to_ne_bytes());
    out[24..].copy_from_slice(&(blocks.count as u64).to_ne_bytes());
    out
}

/// Writes a question.
pub(super) fn encode_question(question: [u64; 3]) -> [u8; AMO_BYTES] {
    let mut out = [0; AMO_BYTES];
    out[0] = QUESTION;
    for (place, word) in out[8..].chunks_exact_mut(8).zip(question) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    out
}

/// The next entry of a request; `None` where what is there is none.
pub(super) fn decode_entry<'a>(reader: &mut Reader<'a>) -> Option<Entry<'a>> {
    let head = reader.bytes(8)?;
    let offset = reader.u64()?;
    match head[0] {
        PUT => {
            let segment = segment_at(head, 2);
            let len = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]) as usize;
            let data = reader.bytes(len.checked_next_multiple_of(8)?)?;
            Some(Entry::Put { segment, offset, data: data.get(..len)? })
        }
        kind @ (PUT_BLOCKS | GET_BLOCKS) => {
            let block = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]) as usize;
            let (step, count) = (reader.u64()?.cast_signed(), reader.u64()? as usize);
            let places = Places { segment: segment_at(head, 2), offset, step, block, count };
            let bytes = places.bytes()?;
            if kind == GET_BLOCKS {
                return Some(Entry::GetBlocks(places));
            }
            let data = reader.bytes(bytes.next_multiple_of(8))?;
            Some(Entry::PutBlocks { places, data: &data[..bytes] })
        }
        QUESTION => Some(Entry::Question([offset, reader.u64()?, reader.u64()?])),
        AMO => {
            let segment = segment_at(head, 4);
            let (operand, compare) = (reader.u64()?, reader.u64()?);
            let op = *OPS.get(usize::from(head[2]))?;
            Some(Entry::Amo {
                segment,
                offset,
                op,
                width: head[3] & 0x7f,
                wanted: head[3] & 0x80 != 0,
                operand,
                compare,
            })
        }
        _ => None,
    }
}

/// A tag as bytes.
pub(super) fn encode_tag(tag: Tag) -> [u8; TAG] {
    let mut out = [0; TAG];
    out[..8].copy_from_slice(&tag.group.to_ne_bytes());
    out[8..12].copy_from_slice(&tag.number.to_ne_bytes());
    out[12..].copy_from_slice(&tag.step.to_ne_bytes());
    out
}

/// A tag from bytes.
pub(super) fn decode_tag(reader: &mut Reader) -> Option<Tag> {
    Some(Tag { group: reader.u64()?, number: reader.u32()?, step: reader.u32()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_went() {
        let mut bytes = Vec::new();
        bytes.extend(encode_put(SegmentId::DATA, 77, 5));
        bytes.extend(*b"hello\0\0\0");
        for (i, op) in OPS.into_iter().enumerate() {
            let mut word = 0u64;
            let result = if i % 2 == 0 { std::ptr::null_mut() } else { (&raw mut word).cast() };
            bytes.extend(encode_amo(
                SegmentId::HEAP,
                8 * i as u64,
                &Atomic { op, width: 4, operand: 9, compare: 3, result },
            ));
        }
        bytes.extend(encode_question([7, 1 << 63, 5]));
        let first = RemoteAddress { pe: 4, segment: SegmentId(513), offset: 1 << 40 };
        let blocks = Blocks { bytes: 12, count: 300, here: 99, there: -36 };
        bytes.extend(encode_blocks(false, first, blocks));
        bytes.extend(encode_blocks(true, first, Blocks { bytes: 3, count: 2, ..blocks }));
        bytes.extend(*b"abcdef\0\0");
        let mut reader = Reader(&bytes);
        assert_eq!(
            decode_entry(&mut reader),
            Some(Entry::Put { segment: SegmentId::DATA, offset: 77, data: b"hello" })
        );
        for (i, op) in OPS.into_iter().enumerate() {
            let entry = Entry::Amo {
                segment: SegmentId::HEAP,
                offset: 8 * i as u64,
                op,
                width: 4,
                wanted: i % 2 == 1,
                operand: 9,
                compare: 3,
            };
            assert_eq!(decode_entry(&mut reader), Some(entry));
        }
        assert_eq!(decode_entry(&mut reader), Some(Entry::Question([7, 1 << 63, 5])));
        let places = Places { segment: SegmentId(513), offset: 1 << 40, step: -36, block: 12, count: 300 };
        assert_eq!(decode_entry(&mut reader), Some(Entry::GetBlocks(places)));
        let places = Places { block: 3, count: 2, ..places };
        assert_eq!(decode_entry(&mut reader), Some(Entry::PutBlocks { places, data: b"abcdef" }));
        assert_eq!(places.offsets().collect::<Vec<_>>(), [1 << 40, (1 << 40) - 36]);
        assert_eq!(decode_entry(&mut reader), None);
    }

    #[test]
    fn broken_messages_are_none() {
        assert_eq!(Header::decode(&[9; HEADER]), None);
        assert_eq!(Header::decode(&[1; HEADER - 1]), None);
        let mut put = encode_put(SegmentId::HEAP, 0, 100).to_vec();
        put.extend([0; 50]);
        assert_eq!(decode_entry(&mut Reader(&put)), None);
        let first = RemoteAddress { pe: 0, segment: SegmentId::HEAP, offset: 0 };
        for (bytes, count) in [(usize::MAX >> 33, 8), (8, usize::MAX), (64, MESSAGE), (0, 1)] {
            let entry = encode_blocks(false, first, Blocks { bytes, count, here: 0, there: 8 });
            assert_eq!(decode_entry(&mut Reader(&entry)), None);
        }
        let cut = encode_blocks(true, first, Blocks { bytes: 8, count: 2, here: 0, there: 8 });
        assert_eq!(decode_entry(&mut Reader(&cut)), None);
        let header = Header { what: MessageType::Reply, hello: true, from: 3, number: 4, id: 5, token: u64::MAX / 3 };
        assert_eq!(Header::decode(&header.encode()), Some((header, &[][..])));
        assert_eq!(Header::token(&header.encode()), Some(header.token));
        assert_eq!(Header::token(&header.encode()[..HEADER - 1]), None);
        let tag = Tag { group: 1 << 40, number: 2, step: 3 };
        assert_eq!(decode_tag(&mut Reader(&encode_tag(tag))), Some(tag));
    }
}
