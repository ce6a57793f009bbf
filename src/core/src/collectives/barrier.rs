//! Barriers and synchronization (Sections 9.10.1 to 9.10.4).

use super::check::{check_matching, meeting};
use super::contribution::Kind;
use crate::base::{Fault, report};
use crate::context::order;
use crate::team::finalizing::{self, Leaves};
use crate::team::{Handle, World};

/// Completes all stores of this PE and waits for all PEs to arrive.
#[inline]
pub fn barrier_all(w: &World) -> Result<(), Fault> {
    barrier_in(w, Kind::Barrier)
}

/// The meeting of the last `shmem_finalize`: completes all stores of this PE and waits for all PEs to come to it, too.
pub fn finalize(w: &World) -> Result<(), Fault> {
    w.map.ready()?;
    // In a job that goes on without PEs that are lost, those that are left meet, however they have come here.
    if w.map.losses.is_none() {
        check_matching(w, &w.world, Kind::Finalize, || [])?;
    }
    quiet_with_those_left(w)?;
    finalizing::finalize(w, Leaves::All)
}

/// Completes all stores of this PE. What went to a PE that is lost is over.
fn quiet_with_those_left(w: &World) -> Result<(), Fault> {
    loop {
        match order::quiet_all(&w.map) {
            // Once for each PE that is lost, and context.
            Err(fault) if fault.is_loss() => {}
            Err(fault) if fault.is_result() => _ = report::tell(&fault),
            quiet => return quiet,
        }
    }
}

/// The meeting of one that is not the last, and ends nothing: as [`barrier_all`], but it is no part of a barrier that
/// others are in. In a job that goes on without PEs that are lost, those that are left meet.
pub fn finalize_nested(w: &World) -> Result<(), Fault> {
    w.map.ready()?;
    if w.map.losses.is_some() {
        quiet_with_those_left(w)?;
        return finalizing::finalize(w, Leaves::World);
    }
    check_matching(w, &w.world, Kind::Finalize, || [])?;
    let later = order::quiet_before(&w.map)?;
    finalizing::finalize(w, Leaves::World)?;
    order::told(later)
}

/// As [`barrier_all`], on behalf of a routine that is more than a barrier.
#[inline]
pub fn barrier_in(w: &World, kind: Kind) -> Result<(), Fault> {
    w.map.ready()?;
    check_matching(w, &w.world, kind, || meeting(true))?;
    let later = order::quiet_before(&w.map)?;
    sync(w, &w.world)?;
    order::told(later)
}

/// Waits for all PEs to arrive.
#[inline]
pub fn sync_all(w: &World) -> Result<(), Fault> {
    w.map.ready()?;
    check_matching(w, &w.world, Kind::Barrier, || meeting(false))?;
    sync(w, &w.world)
}

/// Waits for all members to arrive. Gives 0, or -1 for `SHMEM_TEAM_INVALID`.
#[inline]
pub fn team_sync(w: &World, team: Handle) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    check_matching(w, team, Kind::Barrier, || meeting(false))?;
    sync(w, team)?;
    Ok(0)
}

/// As [`sync_all`], where the PEs have compared their calls already.
#[inline]
pub fn sync_unchecked(w: &World) -> Result<(), Fault> {
    sync(w, &w.world)
}

pub(super) use crate::team::sync;
