//! Recording by call site and by peer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::hot::{bump, bump32};
use super::{callers, flows, modules, nbi, release, tls};
use crate::arm;
use crate::op::{self, ALLOCATES, NONBLOCKING, Operation, SIGNALS, STORES, TRANSFER, traits};
use crate::segment::layout::Slot;
use crate::segment::peers::{PEER_OVERFLOW, PEERS, transfer};
use crate::segment::sites::{PROBES, SITE_OVERFLOW, SITES, Site, key, site_index};

/// Most bytes of a word that can be waited for.
const WORD_BYTES: usize = 8;

/// As [`note`], for a put, get or routine of nanoseconds: left out where the profile has counts only. `is_sampled`:
/// samples stand for its calls. Where only samples have call sites, such a call is not counted here
/// ([`note_sample`]).
#[inline(always)]
pub(super) fn note_short(
    slot: &Slot,
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
    is_sampled: bool,
) -> u32 {
    if arm::counts_only() {
        if op.traits() & NONBLOCKING != 0 {
            nbi::issue_unseen(slot);
        }
        return SITE_OVERFLOW as u32;
    }
    if is_sampled && arm::samples_sites(op.id()) {
        return note_uncounted(slot, op, (peer, addr, bytes));
    }
    if is_sampled {
        flows::begin(slot, op, (peer, bytes));
    }
    note(slot, op, peer, addr, bytes)
}

/// The row of the call site of a call that is not counted there.
#[cold]
#[inline(never)]
fn note_uncounted<O: Operation>(slot: &Slot, op: O, (peer, addr, bytes): (i32, usize, usize)) -> u32 {
    let key = key(tls::site(), op.id(), slot.head.region_key.load(Relaxed));
    if op.traits() & TRANSFER != 0 && peer >= 0 && is_release(op, bytes) {
        release::note(slot, peer, addr, key);
    }
    if op.traits() & NONBLOCKING != 0 {
        nbi::issue(slot);
    }
    site_row(slot, key) as u32
}

/// Counts the calls that a sample stands for at its call site and its peer.
#[cold]
#[inline(never)]
pub(super) fn note_sample(slot: &Slot, op: u16, (peer, bytes): (i32, u64), calls: u64) {
    let at = (slot.tables.look.site.load(Relaxed) as usize).min(SITE_OVERFLOW);
    let (site, bytes) = (&slot.tables.sites[at], bytes.saturating_mul(calls));
    bump(&site.calls, calls);
    if !bytes_follow(op, at) {
        bump(&site.bytes, bytes);
    }
    if traits(op) & TRANSFER != 0 && peer >= 0 {
        let kind = &slot.tables.peers[peer_row(slot, peer as u64 + 1)].kinds[transfer(op)];
        bump(&kind.calls, calls);
        bump(&kind.bytes, bytes);
    }
}

/// Counts a call by call site and by peer. Returns the row of the call site.
#[inline(always)]
pub(super) fn note(slot: &Slot, op: impl Operation, peer: i32, addr: usize, bytes: usize) -> u32 {
    let traits = op.traits();
    let key = key(tls::site(), op.id(), slot.head.region_key.load(Relaxed));
    let first = site_index(key);
    let at = if slot.tables.sites[first].key.load(Relaxed) == key { first } else { site_row(slot, key) };
    let site = &slot.tables.sites[at];
    bump(&site.calls, 1);
    if bytes != 0 && has_bytes(op, at) {
        bump(&site.bytes, bytes as u64);
    }
    if traits & TRANSFER != 0 && peer >= 0 {
        let first = peer as usize & (PEERS - 1);
        let tag = peer as u64 + 1;
        let row = if slot.tables.peers[first].tag.load(Relaxed) == tag { first } else { peer_row(slot, tag) };
        let kind = &slot.tables.peers[row].kinds[transfer(op)];
        bump(&kind.calls, 1);
        bump(&kind.bytes, bytes as u64);
        if is_release(op, bytes) {
            release::note(slot, peer, addr, key);
        }
    }
    if traits & NONBLOCKING != 0 {
        nbi::issue(slot);
    }
    at as u32
}

/// Whether a call stores to a word for which its peer may wait.
#[inline(always)]
pub(super) fn is_release(op: impl Operation, bytes: usize) -> bool {
    op.traits() & STORES != 0 && (bytes <= WORD_BYTES || op.traits() & SIGNALS != 0)
}

/// Whether the bytes in a call site's row follow from its calls: not in the row that all operations share.
#[inline(always)]
pub(super) fn bytes_follow(op: impl Operation, at: usize) -> bool {
    op::bytes_follow(op) && at != SITE_OVERFLOW
}

/// Whether the bytes of a call are added to its call site's row as it begins.
#[inline(always)]
fn has_bytes(op: impl Operation, at: usize) -> bool {
    op.traits() & ALLOCATES == 0 && !bytes_follow(op, at)
}

/// Adds the bytes of the timed call that was the last to return.
#[cold]
pub(super) fn add_bytes(slot: &Slot, bytes: usize) {
    let at = (slot.head.site.load(Relaxed) as usize).min(SITE_OVERFLOW);
    bump(&slot.tables.sites[at].bytes, bytes as u64);
}

/// As [`add_bytes`], for a thread that shares its slot with others.
#[cold]
pub(super) fn add_bytes_shared(slot: &Slot, op: u16, bytes: usize) {
    let at = site_row(slot, key(tls::site(), op, 0));
    slot.tables.sites[at].bytes.fetch_add(bytes as u64, Relaxed);
}

/// As [`note`], for a thread that shares its slot with others.
#[cold]
pub(super) fn note_shared(slot: &Slot, op: u16, peer: i32, bytes: usize) {
    let at = site_row(slot, key(tls::site(), op, 0));
    let site = &slot.tables.sites[at];
    site.calls.fetch_add(1, Relaxed);
    if has_bytes(op, at) {
        site.bytes.fetch_add(bytes as u64, Relaxed);
    }
    if traits(op) & TRANSFER != 0 && peer >= 0 {
        let row = &slot.tables.peers[peer_row(slot, peer as u64 + 1)];
        let kind = &row.kinds[transfer(op)];
        kind.calls.fetch_add(1, Relaxed);
        kind.bytes.fetch_add(bytes as u64, Relaxed);
    }
}

/// Finds or takes the row of a call site. Serves the shared slot too.
#[cold]
#[inline(never)]
fn site_row(slot: &Slot, key: u64) -> usize {
    let first = site_index(key);
    let places = || (0..PROBES).map(|k| (first + k) & (SITES - 1));
    let key_at = |at: usize| &slot.tables.sites[at].key;
    let known = places().find(|&at| key_at(at).load(Relaxed) == key);
    let take = || {
        // Where there is room for one more place: what it is a place of may have been loaded just now.
        places().find(|&at| key_at(at).load(Relaxed) == 0)?;
        modules::look();
        places().find(|&at| is_mine(key_at(at), key))
    };
    let at = known.or_else(take).unwrap_or(SITE_OVERFLOW);
    if at != SITE_OVERFLOW && slot.tables.sites[at].calls.load(Relaxed) == 0 {
        callers::note(slot, key);
    }
    at
}

#[cold]
#[inline(never)]
fn peer_row(slot: &Slot, tag: u64) -> usize {
    let first = (tag - 1) as usize & (PEERS - 1);
    let found = (0..PROBES).map(|k| (first + k) & (PEERS - 1)).find(|&at| is_mine(&slot.tables.peers[at].tag, tag));
    found.unwrap_or(PEER_OVERFLOW)
}

/// Whether a row has this key, or was free and has it now.
pub(super) fn is_mine(word: &AtomicU64, key: u64) -> bool {
    let found = word.load(Relaxed);
    found == key
        || (found == 0 && word.compare_exchange(0, key, Relaxed, Relaxed).map_or_else(|now| now == key, |_| true))
}

/// The key of the call site in a row.
pub(super) fn site_key(slot: &Slot, row: u64) -> u64 {
    slot.tables.sites[(row as usize).min(SITE_OVERFLOW)].key.load(Relaxed)
}

/// Adds a timed call to the call site that it was entered with.
#[inline(always)]
pub(super) fn add_exact(slot: &Slot, ns: u64) {
    add_exact_at(slot, slot.head.site.load(Relaxed), ns);
}

/// As [`add_exact`], at the call site in this row.
#[inline(always)]
pub(super) fn add_exact_at(slot: &Slot, site: u32, ns: u64) {
    let site = &slot.tables.sites[(site as usize).min(SITE_OVERFLOW)];
    bump(&site.exact_calls, 1);
    bump(&site.exact_ns, ns);
    if !arm::counts_only() {
        let calls = u32::try_from(site.exact_calls.load(Relaxed)).unwrap_or(u32::MAX);
        callers::sampled(slot, site.key.load(Relaxed), calls, 1);
    }
    note_longest(site, ns);
}

#[inline(always)]
fn note_longest(site: &Site, ns: u64) {
    let bits = (ns as f32).to_bits();
    if bits > site.max_ns.load(Relaxed) {
        site.max_ns.store(bits, Relaxed);
    }
}

/// Adds a sample to the call site in this row: `claimed_ns` for each of `weight` calls, with what timing takes; it took
/// `ns` itself.
pub(super) fn add_sample(slot: &Slot, site: u32, claimed_ns: u64, weight: u64, ns: u64) {
    let site = &slot.tables.sites[(site as usize).min(SITE_OVERFLOW)];
    bump32(&site.samples, 1);
    bump(&site.sample_weight, weight);
    bump(&site.sample_ns, claimed_ns.saturating_mul(weight));
    callers::sampled(slot, site.key.load(Relaxed), site.samples.load(Relaxed), weight);
    note_longest(site, ns);
}
