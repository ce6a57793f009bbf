//! What goes on in a team whose PEs are lost: the others agree, and make a team of their own (extensions, section 4.2).
#![allow(unsafe_code)]

use super::agreement::{For, exchange, over_hosts};
use super::ids::{clean, lowest_free, take_id, used_ids};
use super::pe_list::PeList;
use super::split::{Made, begin, duplicate, finish};
use super::{Handle, SLAB, Team, World};
use crate::base::{Cause, Fault};

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
    let both = match &team.hierarchy {
        Some(hierarchy) => over_hosts(w, team, hierarchy, mine)?,
        None => exchange(w, team, For::Flag, mine)?.into_iter().flatten().fold(u64::MAX, |both, word| both & word),
    };
    // SAFETY: as above.
    unsafe { flag.write_unaligned((both as u32).cast_signed()) };
    Ok(0)
}

/// `shmemx_team_shrink`: makes a team of the members that are left, in their order. Collective over these. Gives 0;
/// nonzero, and `SHMEM_TEAM_INVALID`, for an invalid team and where there are too many teams.
pub fn shrink(w: &World, parent: Handle, survivors: *mut Handle) -> Result<i32, Fault> {
    let Some((parent, config)) = begin(w, parent, std::ptr::null(), 0, survivors)? else { return Ok(-1) };
    // Members on several hosts end with each other: all are left.
    let made = if parent.hierarchy.is_some() { duplicate(w, parent, config)? } else { make(w, parent)? };
    finish(made, survivors)
}

fn make(w: &World, parent: &Team) -> Result<Made, Fault> {
    // Between the two agreements no member changes its set of ids, so all find the same one free everywhere.
    let here = exchange(w, parent, For::Members, 1)?;
    let members: Vec<i32> = (0..parent.size).filter(|member| here[*member as usize].is_some()).collect();
    let id = lowest_free(&used_ids(w, parent));
    if let Some(id) = id {
        // A clean sync block before anyone can write to it: members do so after the second agreement only.
        clean(w, id);
    }
    exchange(w, parent, For::Team, 1)?;
    let (Some(id), Some(rank)) = (id, members.iter().position(|member| *member == parent.me)) else {
        return Ok(Made::NoRoom);
    };
    take_id(w, id);
    let pes: Vec<i32> = members.iter().map(|member| parent.world(*member)).collect();
    if let Some(losses) = w.map.losses {
        // The program knows of those that the team is made without.
        let lost = (0..parent.size).filter(|member| here[*member as usize].is_none());
        lost.for_each(|member| losses.acknowledge(parent.world(member)));
    }
    let team = Team::of(w.internal, id, PeList::of(&pes), rank as i32, parent.config);
    Ok(SLAB.insert(team).map_or(Made::NoRoom, |handle| Made::Member(Handle(handle))))
}
