//! Which PE, endpoint and memory a call means.
#![allow(unsafe_code)]

use crate::fail::{is_unrestricted, refuse};
use crate::start;
use crate::team::{self, Team};
use crate::types::{EpIndex, Flags, Rank, Tm, flag};
use pellucid_core::memory::Map;
use pellucid_core::runtime;
use pellucid_core::transport::{RemoteAddress, SegmentId, Transport};

/// Where memory of a peer is for this PE.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Mapped, or its own.
    Here(*mut u8),
    /// Behind the network.
    Network(&'static dyn Transport, RemoteAddress),
    /// In a segment that only its owner can reach.
    Owner {
        /// The owner.
        pe: i32,
        /// The address there.
        addr: usize,
    },
}

/// A peer that a team or a pair of endpoints, and a rank, name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The process.
    pub pe: i32,
    /// Its endpoint.
    pub ep: EpIndex,
}

/// The peer of a call.
#[inline(always)]
pub fn peer(routine: &'static str, tm: Tm, rank: Rank) -> Peer {
    if let Some(index) = team::pair_index(tm) {
        if rank >= runtime::map().npes as u32 {
            bad_rank(routine, rank, runtime::map().npes as u32)
        }
        return Peer { pe: rank as i32, ep: index };
    }
    let team = Team::of(routine, tm);
    match team.member(rank) {
        Some(peer) => peer,
        None => bad_rank(routine, rank, team.size()),
    }
}

/// As [`peer`], for a transfer whose flags may assert who the peer is not.
#[inline(always)]
pub fn transfer_peer(routine: &'static str, tm: Tm, rank: Rank, flags: Flags) -> i32 {
    let pe = peer(routine, tm, rank).pe;
    if flags & (flag::PEER_NEVER_SELF | flag::PEER_NEVER_NBRHD) != 0 {
        check_assertion(routine, rank, pe, flags);
    }
    pe
}

#[cold]
fn check_assertion(routine: &'static str, rank: Rank, pe: i32, flags: Flags) {
    let m = runtime::map();
    if pe == m.me {
        refuse(routine, format!("rank = {rank} is this process, which GEX_FLAG_PEER_NEVER_SELF or _NBRHD rules out"))
    }
    if flags & flag::PEER_NEVER_NBRHD != 0 && ((pe - m.first_pe) as u32) < m.local_pes {
        refuse(routine, format!("rank = {rank} is of this neighbourhood, which GEX_FLAG_PEER_NEVER_NBRHD rules out"))
    }
}

/// As [`peer`], for a message.
#[inline(always)]
pub fn am_peer(routine: &'static str, tm: Tm, rank: Rank) -> i32 {
    let peer = peer(routine, tm, rank);
    if peer.ep != 0 {
        refuse(
            routine,
            format!("endpoint {} of rank {rank} has no active messages: only the primordial one has", peer.ep),
        )
    }
    peer.pe
}

/// Refuses a rank that a team does not have.
#[cold]
pub fn bad_rank(routine: &'static str, rank: Rank, size: Rank) -> ! {
    refuse(routine, format!("rank = {rank} is no rank of the team: valid are 0 to {}", size.wrapping_sub(1)))
}

/// The address here of the object that lies at `addr` in the heap of a PE, whose heap may be elsewhere.
#[inline(always)]
fn as_mine(m: &Map, pe: i32, addr: usize) -> usize {
    match start::heap_bases() {
        None => addr,
        Some(bases) => addr.wrapping_sub(bases[pe as usize]).wrapping_add(m.heap_base),
    }
}

/// The PE of a transfer, and where its memory is mapped here, for most transfers. `None` where more is to be looked at,
/// or something is wrong: [`crate::fail::unrestricted`], [`transfer_peer`] and [`locate`] do so and tell.
#[inline(always)]
pub fn at_hand(tm: Tm, rank: Rank, addr: *mut u8, bytes: usize, flags: Flags) -> Option<(i32, *mut u8)> {
    let asserts = flags & (flag::PEER_NEVER_SELF | flag::PEER_NEVER_NBRHD) != 0;
    if asserts || !is_unrestricted() || start::heap_bases().is_some() {
        return None;
    }
    let pe = team::usual_member(tm, rank)?;
    Some((pe, runtime::map().heap_mapping(addr, bytes, pe)?))
}

/// Where `bytes` bytes at `addr` of a PE are.
#[inline(always)]
pub fn locate(routine: &'static str, pe: i32, addr: *mut u8, bytes: usize) -> Place {
    let m = runtime::map();
    let mine = as_mine(m, pe, addr as usize);
    if mine.wrapping_sub(m.heap_base) < m.heap_len {
        if let Some(at) = m.local_mapping(mine as *const u8, bytes, pe) {
            return Place::Here(at);
        }
        return remote_place(routine, m, pe, mine, bytes);
    }
    if pe == m.me {
        return Place::Here(addr);
    }
    Place::Owner { pe, addr: addr as usize }
}

#[cold]
fn remote_place(routine: &'static str, m: &Map, pe: i32, mine: usize, bytes: usize) -> Place {
    match m.remote_address("address", mine as *const u8, bytes, pe) {
        Ok((transport, address)) => Place::Network(transport, address),
        Err(fault) => runtime::fail(routine, fault),
    }
}

/// The object that lies at `addr` in the segment of a PE, as active messages name it; `None` where it lies in no memory
/// of the library's.
#[inline]
pub fn in_heap(pe: i32, addr: usize, bytes: usize) -> Option<RemoteAddress> {
    let m = runtime::map();
    let offset = as_mine(m, pe, addr).wrapping_sub(m.heap_base);
    let inside = offset < m.heap_len && bytes <= m.heap_len - offset;
    inside.then_some(RemoteAddress { pe, segment: SegmentId::HEAP, offset })
}

/// Where an object of a PE of this host is mapped here.
pub fn local_address(pe: i32, addr: usize, bytes: usize) -> *mut u8 {
    let m = runtime::map();
    let mine = as_mine(m, pe, addr);
    if mine.wrapping_sub(m.heap_base) >= m.heap_len {
        return if pe == m.me { addr as *mut u8 } else { std::ptr::null_mut() };
    }
    m.local_mapping(mine as *const u8, bytes, pe).unwrap_or(std::ptr::null_mut())
}
