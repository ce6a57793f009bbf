//! The call without a stamp that was counted last, and where: the next of the same kind is counted there without a
//! search. Partners that meet again and again wait for each other's counting too, where one comes last every time.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::{bump, bump32};
use super::{hot, tables, tls};
use crate::op::{NONBLOCKING, TRANSFER, traits};
use crate::segment::layout::{END_KEPT, STATE_INSIDE, Slot, current_word};
use crate::segment::tables::{ALGORITHM_OVERFLOW, LastCounted, SITE_OVERFLOW};
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

/// Counts the call at hand, if it is as the last one. False: it is not.
#[inline(always)]
pub(super) fn again(slot: &Slot) -> bool {
    let (current, last) = (&slot.head.current, &slot.tables.last_counted);
    let (word, bytes) = (current.word.load(Relaxed), current.bytes.load(Relaxed));
    let differ = (word ^ last.word.load(Relaxed))
        | (bytes ^ last.bytes.load(Relaxed))
        | (tls::site() ^ last.return_address.load(Relaxed))
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

/// The call whose word was this is counted in these rows.
pub(super) fn note(slot: &Slot, word: u64, bytes: usize, rows: Rows) {
    let (op, peer, last) = (word as u16, (word >> 32) as i32, &slot.tables.last_counted);
    let number = |row: Option<usize>| row.map_or(LastCounted::NONE, |row| row as u32);
    // Rows by peer, and bytes that are counted elsewhere, are more than [`again`] knows of.
    let is_plain = traits(op) & (TRANSFER | NONBLOCKING) == 0
        && peer < 0
        && (bytes == 0 || hot::has_row(slot, op) && !tables::bytes_follow(op, rows.site as usize));
    last.word.store(if is_plain { word } else { 0 }, Relaxed);
    last.bytes.store(bytes as u64, Relaxed);
    last.return_address.store(tls::site(), Relaxed);
    last.region_key.store(slot.head.region_key.load(Relaxed), Relaxed);
    last.site.store(rows.site, Relaxed);
    last.algorithm.store(number(rows.algorithm), Relaxed);
    last.team.store(number(rows.team), Relaxed);
    last.size_class.store(size_class(bytes) as u32, Relaxed);
}
