//! The calls without a stamp that were counted last, and where: the next of the same kind is counted there without a
//! search. Partners that meet again and again wait for each other's counting, too.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::{bump, bump32};
use super::{hot, tables, tls};
use crate::op::{NONBLOCKING, TRANSFER, traits};
use crate::segment::layout::{END_KEPT, STATE_INSIDE, Slot, current_word};
use crate::segment::tables::{ALGORITHM_OVERFLOW, LAST_COUNTED, LastCounted, SITE_OVERFLOW};
use crate::size::{Distance, SIZE_CLASSES, size_class};

/// The rows that a call was counted in.
pub(super) struct Rows {
    /// Of call sites.
    pub site: u32,
    /// Of algorithms.
    pub algorithm: Option<usize>,
    /// Of teams.
    pub team: Option<usize>,
}

/// What is kept of the last call that returned to this address, or to another of its place.
#[inline(always)]
fn last_to(slot: &Slot, return_address: u64) -> &LastCounted {
    &slot.tables.last_counted[(return_address ^ return_address >> 4) as usize % LAST_COUNTED]
}

/// [`LastCounted::call`]: the bits of a peer below -1, which is a row of teams, are all set where the algorithm is.
#[inline(always)]
fn call(word: u64, algorithm: Option<u8>) -> u64 {
    word ^ algorithm.map_or(0, |algorithm| u64::from(algorithm) + 1) << 40
}

/// Counts the call at hand, if it is as the last one from there. False: it is not.
#[inline(always)]
pub(super) fn again(slot: &Slot, algorithm: Option<u8>) -> bool {
    let return_address = tls::site();
    let (current, last) = (&slot.head.current, last_to(slot, return_address));
    let (word, bytes) = (current.word.load(Relaxed), current.bytes.load(Relaxed));
    let differ = (call(word, algorithm) ^ last.call.load(Relaxed))
        | (bytes ^ last.bytes.load(Relaxed))
        | (return_address ^ last.return_address.load(Relaxed))
        | (slot.head.region_key.load(Relaxed) ^ last.region_key.load(Relaxed));
    if differ != 0 {
        return false;
    }
    let (op, peer) = (word as u16, (word >> 32) as i32);
    let at = last.site.load(Relaxed);
    let (site, cell) = (&slot.tables.sites[(at as usize).min(SITE_OVERFLOW)], slot.cell(op));
    slot.head.site.store(at, Relaxed);
    bump(&site.calls, 1);
    bump32(&cell.countdown, u32::MAX);
    if bytes == 0 {
        bump(&cell.calls[Distance::None as usize], 1);
    } else {
        let class = last.size_class.load(Relaxed) as usize % SIZE_CLASSES;
        let size = &slot.row(cell.row.load(Relaxed)).sizes[class][Distance::None as usize];
        bump(&site.bytes, bytes);
        bump(&size.calls, 1);
        bump(&size.bytes, bytes);
    }
    let (algorithm, team) = (last.algorithm.load(Relaxed), last.team.load(Relaxed));
    if algorithm != LastCounted::NONE {
        bump(&slot.tables.algorithms[(algorithm as usize).min(ALGORITHM_OVERFLOW)].calls, 1);
    }
    let is_end_kept = team != LastCounted::NONE && tables::met_in_passing(slot, team as usize, bytes as usize);
    current.word.store(current_word(op, STATE_INSIDE, peer) | if is_end_kept { END_KEPT } else { 0 }, Relaxed);
    true
}

/// The call whose word was this, by this algorithm, is counted in these rows.
pub(super) fn note(slot: &Slot, (word, algorithm): (u64, Option<u8>), bytes: usize, rows: Rows) {
    let (op, peer, return_address) = (word as u16, (word >> 32) as i32, tls::site());
    let last = last_to(slot, return_address);
    let number = |row: Option<usize>| row.map_or(LastCounted::NONE, |row| row as u32);
    // Rows by peer, and bytes that are counted elsewhere, are more than [`again`] knows of.
    let is_plain = traits(op) & (TRANSFER | NONBLOCKING) == 0
        && peer < 0
        && (bytes == 0 || hot::has_row(slot, op) && !tables::bytes_follow(op, rows.site as usize));
    last.call.store(if is_plain { call(word, algorithm) } else { 0 }, Relaxed);
    last.bytes.store(bytes as u64, Relaxed);
    last.return_address.store(return_address, Relaxed);
    last.region_key.store(slot.head.region_key.load(Relaxed), Relaxed);
    last.site.store(rows.site, Relaxed);
    last.algorithm.store(number(rows.algorithm), Relaxed);
    last.team.store(number(rows.team), Relaxed);
    last.size_class.store(size_class(bytes) as u32, Relaxed);
}
