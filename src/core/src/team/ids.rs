//! Which of the internal areas a team uses: ids, of which each PE knows its own.
#![allow(unsafe_code)]

use super::area::{AREA, Area, TEAMS};
use super::post::{Kind, Turn, signature};
use super::spread::{Call, Spread};
use super::{Team, World};
use crate::base::Fault;
use crate::group::{self, Buffer, Fold};
use crate::memory::segments::INTERNAL;
use std::sync::atomic::{AtomicU64, Ordering};

/// The words of team ids that members on this host have in use.
fn used_ids(w: &World, team: &Team) -> [u64; TEAMS / 64] {
    std::array::from_fn(|word| {
        (0..team.size)
            .map(|pe| w.world.area(team.world(pe)).ids[word].load(Ordering::Acquire))
            .fold(0, |all, one| all | one)
    })
}

/// The lowest team id that no member has in use.
pub(super) fn common_free_id(w: &World, parent: &Team) -> Result<Option<usize>, Fault> {
    let used = match &parent.spread {
        Some(spread) => return spread_free_id(w, parent, spread),
        None => used_ids(w, parent),
    };
    Ok(lowest_free(&used))
}

fn lowest_free(used: &[u64]) -> Option<usize> {
    used.iter().position(|word| *word != u64::MAX).map(|word| word * 64 + used[word].trailing_ones() as usize)
}

/// As [`common_free_id`]: the first members of the hosts find it together and tell the others.
fn spread_free_id(w: &World, parent: &Team, spread: &Spread) -> Result<Option<usize>, Fault> {
    let call = Call::begin(w, parent, spread, signature(Kind::Split, 0))?;
    let turn = Turn::begin(w, &spread.local, signature(Kind::Split, 0))?;
    if call.leads() {
        let mut used = Buffer::new(TEAMS / 8);
        for (to, word) in used.bytes().chunks_exact_mut(8).zip(used_ids(w, &spread.local)) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        group::fold_doubling(&call.hosts()?, &used.object(), Fold { elem: 8, combine: or })?;
        let used = used.bytes().chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or([0xff; 8])));
        let free = lowest_free(&used.collect::<Vec<_>>());
        turn.show(&[free.map_or(NONE, |id| id as u64)]);
    }
    let free = Turn::words(turn.see(0)?).0[0];
    turn.done();
    call.all_heard();
    Ok((free != NONE).then_some(free as usize))
}

/// No team id is free.
const NONE: u64 = u64::MAX;

/// Bitwise or of words.
unsafe fn or(acc: *mut u8, src: *const u8, n: usize) {
    for i in 0..n {
        // SAFETY: both have n words, says the caller.
        unsafe {
            let at = acc.cast::<u64>().add(i);
            at.write_unaligned(at.read_unaligned() | src.cast::<u64>().add(i).read_unaligned());
        }
    }
}

/// Ids that are never free: those of the world, of the shared team, and of the meeting of `shmem_finalize`.
pub const ALWAYS: u64 = 0b111;

/// No team but those that are always there.
pub(super) fn forget_ids(w: &World) {
    w.world
        .mine()
        .ids
        .iter()
        .enumerate()
        .for_each(|(i, word)| word.store(if i == 0 { ALWAYS } else { 0 }, Ordering::Release));
}

pub(super) fn take_id(w: &World, id: usize) {
    w.world.mine().ids[id / 64].fetch_or(1 << (id % 64), Ordering::AcqRel);
}

pub(super) fn release_id(w: &World, id: usize) {
    w.world.mine().ids[id / 64].fetch_and(!(1 << (id % 64)), Ordering::AcqRel);
}

/// Zeroes this PE's area of a team id.
pub(super) fn clean(w: &World, id: usize) {
    let area = w.internal.wrapping_add(w.map.me as usize * INTERNAL + id * AREA).cast::<AtomicU64>();
    // SAFETY: the areas of a PE follow each other, AREA bytes apart, and consist of words; no one uses this one now.
    let words = unsafe { std::slice::from_raw_parts(area, size_of::<Area>() / 8) };
    words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
}
