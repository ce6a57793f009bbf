//! The next call of a kind that was counted a moment ago ([`super::recent`]). Partners that meet again and again wait
//! for each other's counting, too.

use std::sync::atomic::Ordering::{Relaxed, Release};

use super::hot::{bump, bump32};
use super::recent::Rows;
use super::{hot, meetings, sites, tls};
use crate::op::{NONBLOCKING, TRANSFER, traits};
use crate::segment::algorithms::AlgorithmRow;
use crate::segment::layout::{END_KEPT, STATE_INSIDE, Slot, current_word};
use crate::segment::meetings::TeamRow;
use crate::segment::sites::SITE_OVERFLOW;
use crate::size::{Distance, size_class};

/// [`super::recent::RecentCall::call`]: the bits of a peer below -1, which is a row of teams, are all set where the
/// algorithm is.
#[inline(always)]
fn call(word: u64, algorithm: Option<u8>) -> u64 {
    word ^ algorithm.map_or(0, |algorithm| u64::from(algorithm) + 1) << 40
}

/// Counts the call at hand, if it is as the last one from there, or false. One that is counted already is not: what is
/// kept are words of calls that were not.
#[inline(always)]
pub(super) fn again(slot: &Slot, algorithm: Option<u8>) -> bool {
    let Some(recent) = tls::recent() else { return false };
    let return_address = tls::site();
    let (current, last) = (&slot.head.current, recent.call(return_address));
    let (word, bytes) = (current.word.load(Relaxed), current.bytes.load(Relaxed));
    let differ = (call(word, algorithm) ^ last.call.get())
        | (bytes ^ last.bytes.get())
        | (return_address ^ last.return_address.get())
        | (slot.head.region_key.load(Relaxed) ^ last.region_key.get());
    let (0, Some(rows)) = (differ, last.rows.get()) else { return false };
    slot.head.site.store(rows.site_number, Relaxed);
    bump(&rows.site.calls, 1);
    bump32(&rows.cell.countdown, u32::MAX);
    if let Some(size) = rows.size {
        bump(&rows.site.bytes, bytes);
        bump(&size.calls, 1);
        bump(&size.bytes, bytes);
    } else {
        bump(&rows.cell.calls[Distance::None as usize], 1);
    }
    if let Some(algorithm) = rows.algorithm {
        bump(&algorithm.calls, 1);
    }
    let is_end_kept = rows.team.is_some_and(|team| meetings::met_in_passing(slot, team, bytes, rows.site_number));
    let (op, peer) = (word as u16, (word >> 32) as i32);
    current.word.store(current_word(op, STATE_INSIDE, peer) | if is_end_kept { END_KEPT } else { 0 }, Release);
    true
}

/// Where a call was counted: number of the call site's row, rows of the algorithm and of the team.
pub(super) type Places = (u32, Option<&'static AlgorithmRow>, Option<&'static TeamRow>);

/// The call whose word was this, by this algorithm, is counted there.
pub(super) fn note(slot: &'static Slot, (word, chosen): (u64, Option<u8>), bytes: usize, places: Places) {
    let Some(recent) = tls::recent() else { return };
    let ((site, algorithm, team), op, return_address) = (places, word as u16, tls::site());
    let last = recent.call(return_address);
    // Rows by peer, and bytes that are counted elsewhere, are more than [`again`] knows of.
    let is_plain = traits(op) & (TRANSFER | NONBLOCKING) == 0
        && ((word >> 32) as i32) < 0
        && (bytes == 0 || hot::has_row(slot, op) && !sites::bytes_follow(op, site as usize));
    last.call.set(if is_plain { call(word, chosen) } else { 0 });
    last.bytes.set(bytes as u64);
    last.return_address.set(return_address);
    last.region_key.set(slot.head.region_key.load(Relaxed));
    let cell = slot.cell(op);
    let size = || slot.row(cell.row.load(Relaxed)).size(size_class(bytes), Distance::None as usize);
    last.rows.set(is_plain.then(|| Rows {
        cell,
        size: (bytes != 0).then(size),
        site: &slot.tables.sites[(site as usize).min(SITE_OVERFLOW)],
        site_number: site,
        algorithm,
        team,
    }));
}
