//! What goes on in a team whose PEs are lost: the others agree, and make a team of their own (extensions, section 4.2).
#![allow(unsafe_code)]

use super::agreement::{For, by_launcher, exchange, over_hosts};
use super::ids::{clean, lowest_free, release_id, try_hold, used_ids};
use super::pe_list::PeList;
use super::split::{Made, begin, duplicate, finish, keep};
use super::{Handle, Team, World};
use crate::base::{Cause, Fault};
use crate::bootstrap::agreement::Agreement;
use crate::memory::losses::Losses;
use std::sync::atomic::Ordering;

/// `shmemx_agree`: the bitwise and of the members' flags, the same for all who return, whoever is lost meanwhile. The
/// flag of a member that was lost before it gave it does not count. Gives 0, or -1 for an invalid team.
pub fn agreement(w: &World, team: Handle, flag: *mut i32) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else { return Ok(-1) };
    if flag.is_null() {
        return Err(Fault::from(Cause::Null { arg: "flag", bytes: size_of::<i32>() }));
    }
    // SAFETY: not null; the caller vouches for a number there.
    let mine = unsafe { flag.read_unaligned() };
    let mine = u64::from(mine.cast_unsigned());
    let both = match (&team.hierarchy, w.map.losses) {
        // What all have is what none lacks.
        (Some(_), Some(losses)) => !first(&by_launcher(w, losses, team, For::Flag, vec![!mine])?),
        (Some(hierarchy), None) => over_hosts(w, team, hierarchy, mine)?,
        (None, _) => exchange(w, team, For::Flag, mine)?.into_iter().flatten().fold(u64::MAX, |both, word| both & word),
    };
    // SAFETY: as above.
    unsafe { flag.write_unaligned((both as u32).cast_signed()) };
    Ok(0)
}

/// `shmemx_team_shrink`: makes a team of the members that are left, in their order. Collective over these. Gives 0;
/// nonzero, and `SHMEM_TEAM_INVALID`, for an invalid team and where there are too many teams.
pub fn shrink(w: &World, parent: Handle, survivors: *mut Handle) -> Result<i32, Fault> {
    let Some((parent, config)) = begin(w, parent, std::ptr::null(), 0, survivors)? else { return Ok(-1) };
    let made = match (&parent.hierarchy, w.map.losses) {
        // Members on several hosts end with each other: all are left.
        (Some(_), None) => duplicate(w, parent, config)?,
        (hierarchy, losses) => make(w, parent, losses.filter(|_| hierarchy.is_some()))?,
    };
    finish(made, survivors)
}

/// The first word of an outcome.
fn first(outcome: &Agreement) -> u64 {
    outcome.words.first().copied().unwrap_or(0)
}

/// Which members of a team are left, and the ids that they use.
fn look_around(w: &World, parent: &Team, by: Option<&Losses>) -> Result<(Vec<bool>, Vec<u64>), Fault> {
    let Some(losses) = by else {
        let here = exchange(w, parent, For::Members, 1)?;
        return Ok((here.iter().map(Option::is_some).collect(), used_ids(w, parent).to_vec()));
    };
    let mine = w.world.mine().ids.iter().map(|word| word.load(Ordering::Acquire)).collect();
    let outcome = by_launcher(w, losses, parent, For::Members, mine)?;
    let is_here = |member| !outcome.missing.contains(&(parent.world(member) as u32));
    Ok(((0..parent.size).map(is_here).collect(), outcome.words))
}

/// Whether all members that are left hold this id (`None`: this one holds none). `by`: who makes the agreement, where
/// the members do not share memory.
fn all_hold(w: &World, parent: &Team, by: Option<&Losses>, id: Option<usize>) -> Result<bool, Fault> {
    let word = id.map_or(0, |id| id as u64);
    Ok(match by {
        // What comes together is an or: that is one id and the complement of one only where all hold the same.
        Some(losses) => {
            by_launcher(w, losses, parent, For::Team, vec![word, !word])?.words == [word, !word] && word != 0
        }
        None => exchange(w, parent, For::Team, word)?.into_iter().flatten().all(|theirs| theirs == word && word != 0),
    })
}

/// How often it is tried to find an id that other threads of the members do not take meanwhile.
const TRIES: usize = 64;

/// `by`: who makes the agreements, where the members do not share memory.
fn make(w: &World, parent: &Team, by: Option<&Losses>) -> Result<Made, Fault> {
    for _ in 0..TRIES {
        let (here, used) = look_around(w, parent, by)?;
        let Some(id) = lowest_free(&used) else { return Ok(Made::NoRoom) };
        let held = Some(id).filter(|id| try_hold(w, *id));
        // A clean sync block before anyone can write to it: members do so after the second agreement only.
        held.inspect(|id| clean(w, *id));
        match all_hold(w, parent, by, held) {
            Ok(true) => return Ok(of_those_left(w, parent, id, &here)),
            tried => {
                held.inspect(|id| release_id(w, *id));
                tried?;
            }
        }
    }
    Ok(Made::NoRoom)
}

/// The team of those members that are left, under an id that all of them hold.
fn of_those_left(w: &World, parent: &Team, id: usize, here: &[bool]) -> Made {
    let members: Vec<i32> = (0..parent.size).filter(|member| here[*member as usize]).collect();
    let Some(rank) = members.iter().position(|member| *member == parent.me) else {
        release_id(w, id);
        return Made::NoRoom;
    };
    let pes: Vec<i32> = members.iter().map(|member| parent.world(*member)).collect();
    if let Some(losses) = w.map.losses {
        // The program knows of those that the team is made without.
        let lost = (0..parent.size).filter(|member| !here[*member as usize]);
        lost.for_each(|member| losses.acknowledge(parent.world(member), w.map.transport));
    }
    keep(Team::placed(&w.hosts, w.internal, id, PeList::of(&pes), rank as i32, parent.config))
}
