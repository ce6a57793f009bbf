//! Making and ending teams (Sections 9.4.6 to 9.4.8).
#![allow(unsafe_code)]

use super::aset::{self, Opaque};
use super::check::{Arg, check_matching};
use super::contribution::Kind;
use super::hierarchical;
use super::ids::{Vote, release_id, take_common_id};
use super::pe_list::PeList;
use super::{Config, Handle, MADE, NUM_CONTEXTS, SLAB, Team, TeamView, World, unknown};
use crate::base::{Cause, Fault};
use crate::context::Ctx;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// A team to be made: strided in its parent.
#[derive(Clone, Copy)]
struct StridedTeam {
    start: i32,
    stride: i32,
    size: i32,
}

/// `shmem_team_split_strided`. Gives 0, or nonzero where the arguments describe no team; collective over the parent.
#[allow(clippy::too_many_arguments)] // the specification's own list
pub fn split_strided(
    w: &World,
    parent: Handle,
    start: i32,
    stride: i32,
    size: i32,
    config: *const Config,
    mask: i64,
    new_team: *mut Handle,
) -> Result<i32, Fault> {
    let Some(parent) = begin(w, parent, new_team)? else {
        return Ok(-1);
    };
    let config = read_config(config, mask)?;
    let number = |name, value: i32| (Arg::Number(name), i64::from(value) as u64);
    check_matching(w, parent, Kind::Split, move || {
        [number("start", start), number("stride", stride), number("size", size)]
    })?;
    // A stride of 0 makes a team of one PE only.
    let last = i64::from(start) + i64::from(stride) * (i64::from(size) - 1);
    let inside = |pe: i64| (0..i64::from(parent.size)).contains(&pe);
    if size < 1 || !inside(start.into()) || !inside(last) || (stride == 0 && size != 1) {
        // Every member sees the same arguments and leaves here.
        return Ok(-1);
    }
    // With one member any stride is the same, and it may be too large to compute with.
    let stride = if size == 1 { 1 } else { stride };
    let team = make(w, parent, &[StridedTeam { start, stride, size }], config)?;
    finish(team, new_team)
}

/// `shmemx_team_split_aset`: the members of a set, in its order, all of them of the parent. Gives 0, or nonzero where
/// the set is no strided range of the parent, which teams are; collective over the parent.
pub fn split_aset(
    w: &World,
    parent: Handle,
    set: *const Opaque,
    config: *const Config,
    mask: i64,
    new_team: *mut Handle,
) -> Result<i32, Fault> {
    let Some(parent) = begin(w, parent, new_team)? else {
        return Ok(-1);
    };
    let config = read_config(config, mask)?;
    let set = aset::get(set)?;
    check_matching(w, parent, Kind::Split, || [(Arg::Number("set"), set.name as u64)])?;
    let ranks: Option<Vec<i32>> = set.pes.iter().map(|pe| parent.rank_of(pe)).collect();
    // Every member sees the same set and leaves here.
    let Some(PeList::Strided { start, stride, size }) = ranks.map(|ranks| PeList::of(&ranks)) else {
        return Ok(-1);
    };
    let team = make(w, parent, &[StridedTeam { start, stride, size: size as i32 }], config)?;
    finish(team, new_team)
}

/// `shmem_team_split_2d`: rows of `xrange` PEs, the last one possibly shorter, and columns across them.
#[allow(clippy::too_many_arguments)]
pub fn split_2d(
    w: &World,
    parent: Handle,
    xrange: i32,
    xaxis_config: *const Config,
    xaxis_mask: i64,
    xaxis_team: *mut Handle,
    yaxis_config: *const Config,
    yaxis_mask: i64,
    yaxis_team: *mut Handle,
) -> Result<i32, Fault> {
    let (x, y) = (begin(w, parent, xaxis_team)?, begin(w, parent, yaxis_team)?);
    let (Some(parent), Some(_)) = (x, y) else {
        return Ok(-1);
    };
    // A PE gets both of its teams or none.
    let configs = read_config(xaxis_config, xaxis_mask)?.zip(read_config(yaxis_config, yaxis_mask)?);
    let (x_config, y_config) = configs.unzip();
    check_matching(w, parent, Kind::Split2d, move || [(Arg::Number("xrange"), i64::from(xrange) as u64)])?;
    if xrange < 1 {
        return Ok(-1);
    }
    let xrange = xrange.min(parent.size);
    let rows: Vec<StridedTeam> = (0..parent.size)
        .step_by(xrange as usize)
        .map(|start| StridedTeam { start, stride: 1, size: xrange.min(parent.size - start) })
        .collect();
    let columns: Vec<StridedTeam> = (0..xrange)
        .map(|start| StridedTeam { start, stride: xrange, size: (parent.size - start + xrange - 1) / xrange })
        .collect();
    let row = make(w, parent, &rows, x_config)?;
    let column = make(w, parent, &columns, y_config)?;
    // All PEs of the parent get both of their teams, or none gets any.
    if matches!(row, Made::NoRoom) || matches!(column, Made::NoRoom) {
        discard(w, row);
        discard(w, column);
        return Ok(-1);
    }
    Ok(finish(row, xaxis_team)? | finish(column, yaxis_team)?)
}

/// `shmem_team_destroy`: collective over the team; ends the contexts that were made from it.
pub fn destroy(w: &World, handle: Handle) -> Result<(), Fault> {
    w.map.ready()?;
    let Some(team) = w.team(handle)? else {
        return Ok(());
    };
    if handle.is_predefined() {
        return Err(Fault::from(Cause::BadValue {
            arg: "team",
            value: handle.0 as i64,
            expected: "a team that split_strided or split_2d made",
        }));
    }
    let met = check_matching(w, team, Kind::Destroy, || []).and_then(|()| {
        // Nobody polls another PE's sync block after this: the last collective on the team waits in the callers' own
        // sync blocks.
        synchronize(w, team)
    });
    // Who has lost a member ends the team alone, and keeps its sync block, where others may be in a call still.
    let is_met = match met {
        Err(fault) if fault.is_loss() => false,
        met => met.map(|()| true)?,
    };
    let (id, contexts) = (team.id, std::mem::take(&mut *team.contexts.lock().unwrap_or_else(PoisonError::into_inner)));
    for ctx in contexts {
        // One that the program destroyed itself, as it must destroy private ones, is dead already.
        let _ = Ctx::from_bits(ctx).destroy_of(handle.0);
    }
    if !SLAB.remove(handle.0) {
        return Err(unknown(handle.0));
    }
    if is_met {
        release_id(w, id);
    }
    Ok(())
}

/// Checks what all splits share and sets the result to `SHMEM_TEAM_INVALID`. `None`: an invalid parent, which has no
/// members to agree with.
pub(super) fn begin(w: &World, parent: Handle, new_team: *mut Handle) -> Result<Option<&Team>, Fault> {
    w.map.ready()?;
    if new_team.is_null() {
        return Err(Fault::from(Cause::Null { arg: "new_team", bytes: size_of::<Handle>() }));
    }
    // SAFETY: not null; the caller vouches for a handle there.
    unsafe { new_team.write(Handle::INVALID) };
    w.team(parent)
}

/// The configuration that a PE gives. `None`: one that no team can have, which the other members do not know of: who
/// gives it takes part in the agreement on the team all the same, and refuses there.
fn read_config(config: *const Config, mask: i64) -> Result<Option<Config>, Fault> {
    let mut wanted = Config::default();
    if mask & NUM_CONTEXTS != 0 {
        if config.is_null() {
            return Err(Fault::from(Cause::Null { arg: "config", bytes: size_of::<Config>() }));
        }
        // SAFETY: not null; the caller vouches for a structure there.
        wanted.num_contexts = unsafe { (*config).num_contexts };
    }
    Ok((mask & !NUM_CONTEXTS == 0 && wanted.num_contexts >= 0).then_some(wanted))
}

/// A team of all members of the parent, as it is where none of them can be lost.
pub(super) fn duplicate(w: &World, parent: &Team) -> Result<Made, Fault> {
    make(w, parent, &[StridedTeam { start: 0, stride: 1, size: parent.size }], Some(Config::default()))
}

/// What a member of the parent gets: its new team, nothing, or no room for one more.
pub(super) enum Made {
    Member(Handle),
    Outside,
    NoRoom,
}

/// Gives a team that was made its handle.
pub(super) fn keep(team: Team) -> Made {
    MADE.fetch_add(1, Ordering::Relaxed);
    SLAB.insert(team).map_or(Made::NoRoom, |handle| Made::Member(Handle(handle)))
}

pub(super) fn finish(made: Made, new_team: *mut Handle) -> Result<i32, Fault> {
    match made {
        Made::Member(handle) => {
            // SAFETY: checked by begin.
            unsafe { new_team.write(handle) };
            Ok(0)
        }
        Made::Outside => Ok(0),
        Made::NoRoom => Ok(-1),
    }
}

/// Takes back a team that no collective was made on yet.
fn discard(w: &World, made: Made) {
    if let Made::Member(handle) = made
        // SAFETY: a number is read; the program does not know the handle yet.
        && let Some(id) = unsafe { SLAB.get(handle.0) }.map(|team| team.id)
    {
        SLAB.remove(handle.0);
        release_id(w, id);
    }
}

/// Makes disjoint teams out of a parent; all of them use one id. Collective over the parent. Where a member has no
/// configuration for its team, there is none for any member.
fn make(w: &World, parent: &Team, wanted: &[StridedTeam], config: Option<Config>) -> Result<Made, Fault> {
    let mine = wanted.iter().find_map(|t| {
        let offset = parent.me - t.start;
        let rank = offset / t.stride;
        (offset == rank * t.stride && (rank as u32) < t.size as u32).then_some((t, rank))
    });
    let vote = match config {
        None => Vote::Refuse,
        Some(_) if mine.is_none() => Vote::Abstain,
        Some(_) => Vote::Hold,
    };
    let (Some(id), Some(config)) = (take_common_id(w, parent, vote)?, config) else { return Ok(Made::NoRoom) };
    let Some((t, rank)) = mine else {
        return Ok(Made::Outside);
    };
    let pes = if parent.list.is_some() {
        let pes: Vec<i32> = (0..t.size).map(|member| parent.world(t.start + t.stride * member)).collect();
        PeList::of(&pes)
    } else {
        let (start, stride) = (parent.world(t.start), parent.stride * t.stride);
        PeList::Strided { start, stride, size: t.size as usize }
    };
    let team = Team::placed(&w.hosts, w.internal, id, pes, rank, config);
    Ok(keep(team))
}

/// Waits for all members. They wait on words of their own sync blocks only.
fn synchronize(w: &World, team: &Team) -> Result<(), Fault> {
    match &team.hierarchy {
        Some(hierarchy) => hierarchical::sync_by(w, team, hierarchy, |local| super::dissemination(local, || {})),
        None => super::dissemination(&TeamView { w, team }, || {}),
    }
}
