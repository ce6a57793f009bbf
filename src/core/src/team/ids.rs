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

/// The lowest id that is free in these words.
pub(super) fn lowest_free(used: &[u64]) -> Option<usize> {
    lowest_free_from(used, 0)
}

/// As [`lowest_free`], at least `least`.
fn lowest_free_from(used: &[u64], least: usize) -> Option<usize> {
    let first = least / 64;
    let free = used.iter().enumerate().skip(first).map(|(at, word)| match at == first {
        true => (at, !word & (u64::MAX << (least % 64))),
        false => (at, !word),
    });
    let (at, free) = free.into_iter().find(|(_, free)| *free != 0)?;
    Some(64 * at + free.trailing_zeros() as usize)
}

/// How often the search for an id begins anew where the ids ran out above others that are free.
const SEARCHES: u32 = 4;
/// After so many tries, and then three times as many, the search goes on elsewhere.
const ELSEWHERE: usize = 8;

/// What a member of the parent has to say to a new team.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    /// It is a member, and holds an id.
    Hold,
    /// It is none, and needs no id.
    Abstain,
    /// There is to be no team, for anyone.
    Refuse,
}

/// Takes an id that is free on all members that hold one, and gives them clean sync blocks of it. `None`, on all
/// members: there is none that is free on all, or somebody refuses. Collective over the parent.
///
/// Other threads of the members may be about the same with other teams. So each member holds an id first, which nobody
/// else of its PE can have then, and shows it to the others: it is theirs where all hold the same one, and else all let
/// go and hold one that is no lower than any of these.
pub(super) fn take_common_id(w: &World, parent: &Team, vote: Vote) -> Result<Option<usize>, Fault> {
    let (mut least, mut searches, mut tries, mut elsewhere) = (0, 0, 0, ELSEWHERE);
    loop {
        let held = if vote == Vote::Hold { hold_id(w, least) } else { None };
        let shown = if vote == Vote::Abstain { NOTHING } else { [held.map_or(NONE, |id| id as u64); 2] };
        let all = range_of_all(w, parent, shown);
        if let Ok([lowest, highest]) = all
            && (lowest == highest && lowest != NONE || [lowest, highest] == NOTHING)
        {
            return Ok(Some(held.unwrap_or(0)));
        }
        held.inspect(|id| release_id(w, *id));
        let [lowest, highest] = all?;
        if lowest != NONE {
            (least, tries) = (highest as usize, tries + 1);
            // Two threads could chase each other for ever, from one id to the next; their parents' ids differ.
            if tries == elsewhere && searches + 1 < SEARCHES {
                (least, elsewhere) = ((61 * parent.id + 17 * tries) % TEAMS, 3 * elsewhere);
            }
            continue;
        }
        // Somebody found none; all begin anew, unless all had looked at all ids.
        searches += 1;
        if least == 0 || searches == SEARCHES {
            return Ok(None);
        }
        least = 0;
    }
}

/// In place of an id: none is free, or there is to be no team. It is that of the world, which no other team gets.
const NONE: u64 = 0;
/// What who wants no id shows: neither the lowest nor the highest.
const NOTHING: [u64; 2] = [u64::MAX, 0];

/// The lowest and the highest of what the members show.
fn range_of_all(w: &World, team: &Team, [lowest, highest]: [u64; 2]) -> Result<[u64; 2], Fault> {
    let [lowest, highest] = greatest_of_all(w, team, Kind::Split, [!lowest, highest])?;
    Ok([!lowest, highest])
}

/// The greatest of each word that the members show in a call. No member leaves before all have come.
pub fn greatest_of_all<const N: usize>(w: &World, team: &Team, kind: Kind, mine: [u64; N]) -> Result<[u64; N], Fault> {
    if let Some(hierarchy) = &team.hierarchy {
        return fold_over_hosts(w, team, hierarchy, (kind, mine), greatest);
    }
    let call = HostCall::begin(w, team, signature(kind, 0))?;
    call.contribute(&mine);
    let all = fold_on_host(&call, mine, greatest)?;
    call.done();
    call.all_synchronized();
    Ok(all)
}

/// The words of each member of this host, put together.
fn fold_on_host<const N: usize>(call: &HostCall, mine: [u64; N], combine: Combine) -> Result<[u64; N], Fault> {
    let mut all = mine;
    for member in (0..call.team.size).filter(|member| *member != call.team.me) {
        let slot = call.contribution(member)?;
        let theirs: [u64; N] = std::array::from_fn(|at| slot.words[at].load(Ordering::Relaxed));
        // SAFETY: both are as many words.
        unsafe { combine(all.as_mut_ptr().cast(), theirs.as_ptr().cast(), N) };
    }
    Ok(all)
}

/// The words of each member of a team on several hosts, put together: those of a host tell its first member, which
/// meets those of the other hosts and tells them.
pub(super) fn fold_over_hosts<const N: usize>(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    (kind, mine): (Kind, [u64; N]),
    combine: Combine,
) -> Result<[u64; N], Fault> {
    let what = signature(kind, 0);
    let call = InterHostCall::begin(w, team, hierarchy, what)?;
    let told = HostCall::begin(w, &hierarchy.local, what)?;
    told.contribute(&mine);
    let all = match call.leads() {
        true => Some(of_hosts(&call, fold_on_host(&told, mine, combine)?, combine)?),
        false => None,
    };
    told.done();
    let answered = HostCall::begin(w, &hierarchy.local, what)?;
    if let Some(all) = all {
        answered.contribute(&all);
    }
    let slot = answered.contribution(0)?;
    let all = std::array::from_fn(|at| slot.words[at].load(Ordering::Relaxed));
    answered.done();
    call.all_synchronized();
    Ok(all)
}

/// Words of all hosts put together, each given by the first of its members.
fn of_hosts<const N: usize>(call: &InterHostCall, words: [u64; N], combine: Combine) -> Result<[u64; N], Fault> {
    let mut buffer = Buffer::new(8 * N);
    for (to, word) in buffer.bytes().chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    let hosts = call.hosts()?;
    hosts.run(inter_host::fold_doubling(&hosts, &buffer.object(), Fold { elem: 8, combine }))?;
    let mut all = [u64::MAX; N];
    for (to, word) in all.iter_mut().zip(buffer.bytes().chunks_exact(8)) {
        *to = u64::from_ne_bytes(word.try_into().unwrap_or([0xff; 8]));
    }
    Ok(all)
}

/// See [`Fold::combine`].
pub(super) type Combine = unsafe fn(*mut u8, *const u8, usize);

/// Bitwise or of words.
pub(super) unsafe fn or(acc: *mut u8, src: *const u8, n: usize) {
    // SAFETY: so says the caller.
    unsafe { each_word(acc, src, n, |a, b| a | b) }
}

/// Greater words.
unsafe fn greatest(acc: *mut u8, src: *const u8, n: usize) {
    // SAFETY: so says the caller.
    unsafe { each_word(acc, src, n, u64::max) }
}

/// # Safety
/// Both have `n` words, wherever they lie.
unsafe fn each_word(acc: *mut u8, src: *const u8, n: usize, combine: impl Fn(u64, u64) -> u64) {
    for i in 0..n {
        // SAFETY: both have n words, says the caller.
        unsafe {
            let at = acc.cast::<u64>().add(i);
            at.write_unaligned(combine(at.read_unaligned(), src.cast::<u64>().add(i).read_unaligned()));
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

/// Holds an id, unless this PE has it in use. Its sync block is clean then, before anyone can write to it: others do so
/// once they know that it is this one.
pub(super) fn try_hold(w: &World, id: usize) -> bool {
    let is_free = w.world.mine().ids[id / 64].fetch_or(1 << (id % 64), Ordering::AcqRel) & 1 << (id % 64) == 0;
    if is_free {
        clean(w, id);
    }
    is_free
}

/// Holds the lowest id from `least` on that this PE does not have in use.
pub(super) fn hold_id(w: &World, least: usize) -> Option<usize> {
    let ids = &w.world.mine().ids;
    loop {
        let used: [u64; TEAMS / 64] = std::array::from_fn(|word| ids[word].load(Ordering::Acquire));
        let id = lowest_free_from(&used, least)?;
        // Another thread may have been first.
        if try_hold(w, id) {
            return Some(id);
        }
    }
}

pub(super) fn release_id(w: &World, id: usize) {
    w.world.mine().ids[id / 64].fetch_and(!(1 << (id % 64)), Ordering::AcqRel);
}

/// Zeroes this PE's sync block of a team id.
fn clean(w: &World, id: usize) {
    let block = w.internal.wrapping_add(w.map.me as usize * INTERNAL + id * SYNC_BLOCK).cast::<AtomicU64>();
    // SAFETY: the sync blocks of a PE follow each other, SYNC_BLOCK bytes apart, and consist of words; no one uses this
    // one now.
    let words = unsafe { std::slice::from_raw_parts(block, size_of::<SyncBlock>() / 8) };
    words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
}
