//! What the profile is told of teams and contexts. Only probes call these: a profile that is off costs nothing.

use std::ffi::c_int;

use pellucid_core::collectives::files::{self, FileHandle};
use pellucid_core::context::Ctx;
use pellucid_core::runtime::spaces;
use pellucid_core::team::pe_list::PeList;
use pellucid_core::team::{self, World, aset};
use pellucid_profile::recorder;
use pellucid_profile::recorder::unstamped::{self, KnownCaller};

use crate::types::{Aset, Space, Team};

/// What members of active sets agree on instead of a team's number: beyond those of teams.
const ACTIVE_SET: usize = 1 << 30;

/// The team of a collective, as the `peer` of its record.
pub fn of_team(world: &World, handle: Team) -> i32 {
    let made = team::made();
    let Ok(Some(team)) = world.team(handle) else { return recorder::NO_TEAM };
    let peer = recorder::team(team.id, team.start, team.stride, team.size);
    unstamped::note_team(handle.bits(), made, peer);
    peer
}

/// The same, where the thread has had a collective on it before.
#[inline(always)]
pub fn team_again(team: Team) -> Option<KnownCaller> {
    unstamped::team_again(team.bits(), team::made())
}

/// The root of a call on a team is this member.
#[inline(always)]
pub fn rooted_again(op: u16, team: Option<KnownCaller>, root: c_int) -> Option<KnownCaller> {
    team.inspect(|_| recorder::rooted(op, root))
}

/// The same for a call of all members on a file.
pub fn of_file(world: &World, file: FileHandle) -> i32 {
    files::team(file).map_or(recorder::NO_TEAM, |team| of_team(world, team))
}

/// As [`of_team`], for an active set.
pub fn of_set(start: c_int, log_stride: c_int, size: c_int) -> i32 {
    recorder::team(ACTIVE_SET, start, 1_i32.checked_shl(log_stride as u32).unwrap_or(0), size)
}

/// As [`of_team`], for an explicit set.
pub fn of_aset(aset: *const Aset) -> i32 {
    let Ok(set) = aset::get(aset) else { return recorder::NO_TEAM };
    of_list(&set.pes, set.name as usize)
}

/// Those that are no strided range are told by a name, first PE and size.
fn of_list(pes: &PeList, name: usize) -> i32 {
    match pes {
        PeList::Strided { start, stride, size } => recorder::team(ACTIVE_SET, *start, *stride, *size as i32),
        PeList::Listed(list) => recorder::team(ACTIVE_SET | (name & 0x3fff_ffff), list[0], 0, list.len() as i32),
    }
}

/// As [`of_team`], for a call of all PEs, where these wait for each other in it.
pub fn of_world(waits: bool) -> i32 {
    if waits { -1 } else { recorder::NO_TEAM }
}

/// The same for one of all members of a space.
pub fn of_space(space: Space, waits: bool) -> i32 {
    if !waits || space == Space::DEFAULT {
        return of_world(waits);
    }
    spaces::members(space).map_or(recorder::NO_TEAM, |(pes, name)| of_list(&pes, name as usize))
}

/// The root of a call on a team, whose `peer` this is, is this member.
#[inline]
pub fn rooted(op: u16, peer: i32, root: c_int) -> i32 {
    recorder::rooted(op, root);
    peer
}

/// Counts a call on a context; gives back its `peer`. The default context's are those that no other has. `op`: one that
/// has the traits of the routine.
#[inline(always)]
pub fn on(ctx: Ctx, op: u16, bytes: usize, peer: i32) -> i32 {
    note(ctx, op, bytes);
    peer
}

/// As [`on`], in a profile that may have counts only.
#[inline(always)]
pub fn note_if_kept(ctx: Ctx, op: u16, bytes: usize) {
    if !recorder::counts_only() {
        note(ctx, op, bytes);
    }
}

/// As [`on`].
#[inline(always)]
pub fn note(ctx: Ctx, op: u16, bytes: usize) {
    if ctx != Ctx::DEFAULT {
        recorder::context(recorder::context_column(op), ctx.number(), bytes);
    } else {
        recorder::context_default(ctx.number());
    }
}
