//! Barriers and synchronization (Sections 9.10.1 to 9.10.4).

use super::post::{Kind, Turn, signature};
use crate::base::Fault;
use crate::team::{Handle, Members, Present, Team, World};
use crate::transport::shm::order;

/// Completes all stores of this PE and waits for all PEs to arrive.
#[inline]
pub fn barrier_all(w: &World) -> Result<(), Fault> {
    w.map.ready()?;
    order::quiet();
    sync(w, &w.world);
    Ok(())
}

/// Waits for all PEs to arrive.
#[inline]
pub fn sync_all(w: &World) -> Result<(), Fault> {
    w.map.ready()?;
    sync(w, &w.world);
    Ok(())
}

/// Waits for all members to arrive. Gives 0, or -1 for `SHMEM_TEAM_INVALID`.
#[inline]
pub fn team_sync(w: &World, team: Handle) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    sync(w, team);
    Ok(0)
}

#[inline]
pub(super) fn sync(w: &World, team: &Team) {
    Present { w, team }.sync();
}

/// Checks that all PEs make a collective call with the same number (an allocation's size); only where `SHMEM_DEBUG` asks.
pub fn agree(w: &World, number: usize) -> Result<(), Fault> {
    if !w.map.check {
        return Ok(());
    }
    let turn = Turn::begin(w, &w.world, signature(Kind::Agree, number));
    turn.show(&[]);
    for pe in 0..w.world.size {
        turn.see(pe)?;
    }
    turn.all_heard();
    turn.done();
    Ok(())
}
