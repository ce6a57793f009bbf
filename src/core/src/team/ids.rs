//! Which of the sync blocks a team uses: ids, of which each PE knows its own.
#![allow(unsafe_code)]

use super::contribution::{HostCall, Kind, signature};
use super::hierarchical::{Hierarchy, InterHostCall};
use super::sync_block::{SYNC_BLOCK, SyncBlock, TEAMS};
use super::{Team, World};
use crate::base::Fault;
use crate::inter_host::{self, Buffer, Fold};
use crate::memory::segments::INTERNAL;
use std::sync::atomic::{AtomicU64, Ordering};

/// The words of team ids that members on this host have in use.
pub(super) fn used_ids(w: &World, team: &Team) -> [u64; TEAMS / 64] {
    std::array::from_fn(|word| {
        (0..team.size)
            .map(|pe| w.world.sync_block(team.world(pe)).ids[word].load(Ordering::Acquire))
            .fold(0, |all, one| all | one)
    })
}

/// The lowest team id that no member has in use.
pub(super) fn common_free_id(w: &World, parent: &Team) -> Result<Option<usize>, Fault> {
    let used = match &parent.hierarchy {
        Some(hierarchy) => return inter_host_free_id(w, parent, hierarchy),
        None => used_ids(w, parent),
    };
    Ok(lowest_free(&used))
}

pub(super) fn lowest_free(used: &[u64]) -> Option<usize> {
    used.iter().position(|word| *word != u64::MAX).map(|word| word * 64 + used[word].trailing_ones() as usize)
}

/// As [`common_free_id`]: the first members of the hosts find it together and tell the others.
fn inter_host_free_id(w: &World, parent: &Team, hierarchy: &Hierarchy) -> Result<Option<usize>, Fault> {
    let call = InterHostCall::begin(w, parent, hierarchy, signature(Kind::Split, 0))?;
    let local_call = HostCall::begin(w, &hierarchy.local, signature(Kind::Split, 0))?;
    if call.leads() {
        let free = lowest_free(&or_of_hosts(&call, used_ids(w, &hierarchy.local))?);
        local_call.contribute(&[free.map_or(NONE, |id| id as u64)]);
    }
    let free = local_call.contributed_word(0)?;
    local_call.done();
    call.all_synchronized();
    Ok((free != NONE).then_some(free as usize))
}

/// The bitwise or of words of all hosts, each given by the first of its members.
pub(super) fn or_of_hosts<const N: usize>(call: &InterHostCall, words: [u64; N]) -> Result<[u64; N], Fault> {
    let mut buffer = Buffer::new(8 * N);
    for (to, word) in buffer.bytes().chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    let hosts = call.hosts()?;
    hosts.run(inter_host::fold_doubling(&hosts, &buffer.object(), Fold { elem: 8, combine: or }))?;
    let mut all = [u64::MAX; N];
    for (to, word) in all.iter_mut().zip(buffer.bytes().chunks_exact(8)) {
        *to = u64::from_ne_bytes(word.try_into().unwrap_or([0xff; 8]));
    }
    Ok(all)
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

/// Sync block of the PEs of a NUMA node.
pub const NUMA_ID: usize = 3;
/// Ids that are never free: those of the world, of the shared team, of the meeting of `shmem_finalize`, and of the PEs
/// of a NUMA node.
pub const ALWAYS: u64 = 0b1111;

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

/// Zeroes this PE's sync block of a team id.
pub(super) fn clean(w: &World, id: usize) {
    let block = w.internal.wrapping_add(w.map.me as usize * INTERNAL + id * SYNC_BLOCK).cast::<AtomicU64>();
    // SAFETY: the sync blocks of a PE follow each other, SYNC_BLOCK bytes apart, and consist of words; no one uses this
    // one now.
    let words = unsafe { std::slice::from_raw_parts(block, size_of::<SyncBlock>() / 8) };
    words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
}
