//! What goes on in a team whose PEs are lost: the others agree, and make a team of their own (extensions, section 4.2).
#![allow(unsafe_code)]

use super::agreement::{For, by_launcher, exchange, over_hosts};
use super::ids::{hold_id, lowest_free, release_id, try_hold};
use super::pe_list::PeList;
use super::split::{Made, begin, duplicate, finish, keep};
use super::{Handle, Team, World};
use crate::base::{Cause, Fault, report};
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
    let Some(parent) = begin(w, parent, survivors)? else {
        return Ok(report::no_team());
    };
    let made = match (&parent.hierarchy, w.map.losses) {
        // Members on several hosts end with each other: all are left.
        (Some(_), None) => duplicate(w, parent)?,
        (hierarchy, losses) => make(w, parent, losses.filter(|_| hierarchy.is_some()))?,
    };
    finish(made, survivors)
}

/// The first word of an outcome.
fn first(outcome: &Agreement) -> u64 {
    outcome.words.first().copied().unwrap_or(0)
}

/// Which members of a team are left, and the id that all of them hold; `None`: they hold different ones.
type LiveMembers = (Vec<bool>, Option<usize>);

/// On one host: each member holds an id from `least` on, and shows it. `least` becomes the highest of those shown, or 0
/// where one of them found none.
fn hold_here(w: &World, parent: &Team, least: &mut usize) -> Result<LiveMembers, Fault> {
    let held = hold_id(w, *least);
    let shown = exchange(w, parent, For::Members, held.map_or(0, |id| id as u64));
    let of_all = |words: &[Option<u64>]| words.iter().flatten().all(|word| held.is_some_and(|id| id as u64 == *word));
    if let Ok(words) = &shown
        && of_all(words)
    {
        return Ok((words.iter().map(Option::is_some).collect(), held));
    }
    held.inspect(|id| release_id(w, *id));
    let words = shown?;
    let found = || words.iter().flatten();
    *least = if found().any(|word| *word == 0) { 0 } else { found().max().map_or(0, |word| *word as usize) };
    Ok((Vec::new(), None))
}

/// Where the launcher makes the agreements, which are the same for all: it tells which ids are in use, and then whether
/// all hold the lowest other one. `None` in place of all: there is no other one.
fn hold_by_launcher(w: &World, parent: &Team, losses: &Losses) -> Result<Option<LiveMembers>, Fault> {
    let mine = w.world.mine().ids.iter().map(|word| word.load(Ordering::Acquire)).collect();
    let outcome = by_launcher(w, losses, parent, For::Members, mine)?;
    let is_here = |member| !outcome.missing.contains(&(parent.world(member) as u32));
    let here = (0..parent.size).map(is_here).collect();
    let Some(id) = lowest_free(&outcome.words) else { return Ok(None) };
    let held = Some(id).filter(|id| try_hold(w, *id));
    // What comes together is an or: that is a number and its complement only where all give the same.
    let word = held.map_or(0, |id| id as u64);
    match by_launcher(w, losses, parent, For::Team, vec![word, !word]) {
        Ok(all) if all.words == [word, !word] && word != 0 => Ok(Some((here, held))),
        tried => {
            held.inspect(|id| release_id(w, *id));
            tried.map(|_| Some((here, None)))
        }
    }
}

/// How often it is tried to find an id that other threads of the members do not take meanwhile.
const TRIES: usize = 1 << 12;

/// `by`: who makes the agreements, where the members do not share memory.
fn make(w: &World, parent: &Team, by: Option<&Losses>) -> Result<Made, Fault> {
    let mut least = 0;
    for _ in 0..TRIES {
        let began_at = least;
        let (here, held) = match by {
            Some(losses) => match hold_by_launcher(w, parent, losses)? {
                Some(held) => held,
                None => break,
            },
            None => hold_here(w, parent, &mut least)?,
        };
        if let Some(id) = held {
            return Ok(of_those_left(w, parent, id, &here));
        }
        // All had looked at all ids.
        if by.is_none() && (began_at, least) == (0, 0) {
            break;
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
