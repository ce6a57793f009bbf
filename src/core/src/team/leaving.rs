//! How PEs meet in `shmem_finalize`, and how those notice it that wait for one there in another call.
//!
//! The meeting has words of its own, so it completes no barrier. A PE that comes to it shows what it had begun on each of its teams: a
//! collective that it had not begun by then it takes no part in any more, and whoever waits in one gives up. Only what
//! was shown for a finalize that the waiting PE has not come to itself counts: all else is from a meeting that is over.

use super::area::Leaving;
use super::{Config, Members, Present, SLAB, Team, World, spread};
use crate::base::{Cause, Fault};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Internal area of the meeting.
const ID: usize = 2;

/// The meeting of the PEs of this host.
#[derive(Debug)]
pub struct Ending {
    local: Team,
    /// How often this PE has come to it.
    times: Cell<u64>,
}

impl Ending {
    /// The meeting of some PEs, of which this one is number `me`.
    pub const fn new(internal: *const u8, range: (i32, i32, i32), me: i32) -> Self {
        Self { local: Team::new(internal, ID, range, me, Config { num_contexts: 0 }), times: Cell::new(0) }
    }
}

/// Waits until all PEs of the job have come to `shmem_finalize`.
pub fn finalize(w: &World) -> Result<(), Fault> {
    announce(w);
    match &w.world.spread {
        Some(world) => spread::finalize(w, world, &w.ending.local),
        None => Present { w, team: &w.ending.local }.sync(),
    }
}

/// Shows the others what this PE has begun.
fn announce(w: &World) {
    let times = w.ending.times.get() + 1;
    w.ending.times.set(times);
    let show = |team: &Team| {
        let team = on_host(team);
        let Leaving { mark, barriers, posts } = &team.mine().leaving;
        barriers.store(team.progress.barriers.get(), Ordering::Relaxed);
        posts.store(team.progress.posts.get(), Ordering::Relaxed);
        mark.store(mark_of(times, team), Ordering::Release);
    };
    show(&w.world);
    show(&w.shared);
    SLAB.for_each(show);
    total(w).fetch_add(1, Ordering::AcqRel);
}

/// Why a collective of a team, in which this PE waits since a while, will not end: a member is in `shmem_finalize` that has not
/// begun it.
#[cold]
pub fn left_behind(w: &World, team: &Team) -> Option<Fault> {
    let times = w.ending.times.get();
    // All PEs of the host have come as often as this one has: more of them, and somebody has come once more.
    if total(w).load(Ordering::Acquire) <= times * w.ending.local.size as u64 {
        return None;
    }
    let (wanted, progress) = (mark_of(times + 1, team), &team.progress);
    let gone = |pe: &i32| {
        let theirs = &team.area(*pe).leaving;
        theirs.mark.load(Ordering::Acquire) == wanted
            && (theirs.barriers.load(Ordering::Relaxed) < progress.barriers.get()
                || theirs.posts.load(Ordering::Relaxed) < progress.posts.get())
    };
    (0..team.size).find(gone).map(|pe| Fault::from(Cause::Finalizing { pe: team.world(pe) }))
}

/// How often PEs of this host have come to the meeting, all together.
fn total(w: &World) -> &AtomicU64 {
    &w.ending.local.area(0).leaving.mark
}

/// The members of a team that see each other's areas.
fn on_host(team: &Team) -> &Team {
    team.spread.as_ref().map_or(team, |spread| &spread.local)
}

/// Names a finalize and a team: an area can be another team's before all members of the one before have left it.
fn mark_of(times: u64, team: &Team) -> u64 {
    let parts = [team.start, team.stride, team.size].map(|part| u64::from(part as u32));
    parts.into_iter().fold(times, |mark, part| (mark ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)) | 1
}
