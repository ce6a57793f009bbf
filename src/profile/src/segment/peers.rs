//! Traffic of a thread: by peer, and by context.

use std::sync::atomic::AtomicU64;

use crate::op::{Operation, TRANSFER_SHIFT};

/// Rows of the peer table: jobs of as many PEs have a row a peer, found at the first look.
pub const PEERS: usize = 4096;
/// The row of peers that found no row.
pub const PEER_OVERFLOW: usize = PEERS;
/// Contexts of a thread; the last stands for all that found no room.
pub const CONTEXTS: usize = 64;

/// What kind of transfer a call is, as an index of [`Peer::kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Put, signal.
    Put,
    /// Get.
    Get,
    /// Atomic operation.
    Amo,
}

/// Number of [`Transfer`]s.
pub const TRANSFERS: usize = 3;

/// What kind of transfer an operation is, as an index of [`Peer::kinds`].
#[inline(always)]
pub fn transfer(op: impl Operation) -> usize {
    (op.traits() >> TRANSFER_SHIFT & 3) as usize % TRANSFERS
}

/// Calls and bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Traffic {
    /// Calls.
    pub calls: AtomicU64,
    /// Bytes.
    pub bytes: AtomicU64,
}

/// Traffic with one peer.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Peer {
    /// World number plus 1; 0 where the row is free.
    pub tag: AtomicU64,
    /// By [`Transfer`].
    pub kinds: [Traffic; TRANSFERS],
}

/// What a thread did with one context.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ContextRow {
    /// Handle; 0 where the row is free.
    pub handle: AtomicU64,
    /// By [`Transfer`].
    pub kinds: [Traffic; TRANSFERS],
    /// Fences and quiets.
    pub orders: AtomicU64,
}

const _: () = assert!(size_of::<Peer>() == 64 && size_of::<ContextRow>() == 64 && PEERS.is_power_of_two());
