//! What the profile is told of teams and contexts. Only probes call these: a profile that is off costs nothing.

use std::ffi::c_int;

use pellucid_core::context::Ctx;
use pellucid_core::team::World;
use pellucid_profile::recorder;

use crate::types::Team;

/// What members of active sets agree on instead of a team's number: beyond those of teams.
const ACTIVE_SET: usize = 1 << 30;

/// The team of a collective, as the `peer` of its record.
#[inline]
pub fn of_team(world: &World, team: Team) -> i32 {
    match world.team(team) {
        Ok(Some(team)) => recorder::team(team.id, team.start, team.stride, team.size),
        _ => -1,
    }
}

/// As [`of_team`], for an active set.
#[inline]
pub fn of_set(start: c_int, log_stride: c_int, size: c_int) -> i32 {
    recorder::team(ACTIVE_SET, start, 1_i32.checked_shl(log_stride as u32).unwrap_or(0), size)
}

/// The root of a call on a team, whose `peer` this is, is this member.
#[inline]
pub fn rooted(op: u16, peer: i32, root: c_int) -> i32 {
    recorder::rooted(op, root);
    peer
}

/// Counts a call on a context; gives back its `peer`. The default context's are those that no other has.
#[inline]
pub fn on(ctx: Ctx, op: u16, bytes: usize, peer: i32) -> i32 {
    if ctx != Ctx::DEFAULT {
        recorder::context(op, ctx.number(), bytes);
    } else {
        recorder::context_default(ctx.number());
    }
    peer
}
