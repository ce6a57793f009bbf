//! Checksums of heads and chunks, as bytes.

use std::mem::offset_of;

use crc32fast::Hasher;

use super::format::{CLOSED, ChunkHead, TraceHead, WITH_REASONS};

/// The fields of a head that change while the PE runs, as ranges of bytes; then those that close it.
const CHANGING: [(usize, usize); 3] = [
    (offset_of!(TraceHead, offset_ns), offset_of!(TraceHead, dropped)),
    (offset_of!(TraceHead, dropped), offset_of!(TraceHead, chunks)),
    (offset_of!(TraceHead, check), offset_of!(TraceHead, lost) + 24),
];

/// What [`TraceHead::check`] has to be in a file of this version.
pub(super) fn head(bytes: &[u8], version: u32) -> u32 {
    let mut hasher = Hasher::new();
    let mut at = 0;
    for (begin, end) in CHANGING {
        hasher.update(&bytes[at..begin]);
        at = end;
    }
    if version < WITH_REASONS {
        at = offset_of!(TraceHead, end_check) + 4;
    }
    hasher.update(&bytes[at..]);
    hasher.finalize()
}

/// What [`TraceHead::end_check`] has to be.
pub(super) fn closed_head(bytes: &[u8]) -> u32 {
    around(bytes, offset_of!(TraceHead, end_check), 4)
}

/// What [`ChunkHead::closed`] has to be.
pub(super) fn chunk(bytes: &[u8]) -> u64 {
    u64::from(CLOSED) << 32 | u64::from(around(bytes, offset_of!(ChunkHead, closed), 8))
}

/// Of all bytes but some.
fn around(bytes: &[u8], at: usize, length: usize) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&bytes[..at]);
    hasher.update(&bytes[at + length..]);
    hasher.finalize()
}
