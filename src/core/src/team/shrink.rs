//! What goes on in a team whose PEs are lost: the others agree, and make a team of their own (extensions, section 4.2).
#![allow(unsafe_code)]

use super::agreement::{For, by_launcher, exchange, over_hosts};
use super::ids::{clean, lowest_free, take_id, used_ids};
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

/// `by`: who makes the agreements, where the members do not share memory.
fn make(w: &World, parent: &Team, by: Option<&Losses>) -> Result<Made, Fault> {
    // Between the two agreements no member changes its set of ids, so all find the same one free everywhere.
    let (here, used) = look_around(w, parent, by)?;
    let members: Vec<i32> = (0..parent.size).filter(|member| here[*member as usize]).collect();
    let id = lowest_free(&used);
    if let Some(id) = id {
        // A clean sync block before anyone can write to it: members do so after the second agreement only.
        clean(w, id);
    }
    match by {
        Some(losses) => drop(by_launcher(w, losses, parent, For::Team, Vec::new())?),
        None => drop(exchange(w, parent, For::Team, 1)?),
    }
    let (Some(id), Some(rank)) = (id, members.iter().position(|member| *member == parent.me)) else {
        return Ok(Made::NoRoom);
    };
    take_id(w, id);
    let pes: Vec<i32> = members.iter().map(|member| parent.world(*member)).collect();
    if let Some(losses) = w.map.losses {
        // The program knows of those that the team is made without.
        let lost = (0..parent.size).filter(|member| !here[*member as usize]);
        lost.for_each(|member| losses.acknowledge(parent.world(member), w.map.transport));
    }
    let team = Team::placed(&w.hosts, w.internal, id, PeList::of(&pes), rank as i32, parent.config);
    Ok(keep(team))
}
