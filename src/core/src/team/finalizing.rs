//! How PEs meet in `shmem_finalize`, and how those notice it that wait for one there in another call.
//!
//! The meeting has words of its own, so it completes no barrier. A PE that comes to it shows what it had begun on each
//! of its teams: a collective that it had not begun by then it takes no part in any more, and whoever waits in one
//! gives up. Only what was shown for a finalize that the waiting PE has not come to itself counts: all else is from a
//! meeting that is over.
//!
//! A finalize that is not the last ends nothing: other threads go on with collectives on other teams, and begin new
//! ones. There it shows what it had begun on the world only, where no call is beside another.
//!
//! Members on other hosts do not see sync blocks. Whoever waits for a message of one asks it, once the wait is slow: a
//! PE in `shmem_finalize` answers how many collectives of the group it had begun. It makes no other, so that nothing is
//! decided by time.

use super::agreement::For;
use super::sync_block::FinalizeMark;
use super::{Config, Members, SLAB, Team, TeamView, World, hierarchical};
use crate::base::{Cause, Fault};
use crate::bootstrap::agreement::Proposal;
use crate::memory::losses::Losses;
use crate::os::wait;
use crate::transport::{Channel, Transport};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sync block of the meeting.
const ID: usize = 2;

/// The meeting of the PEs of this host.
#[derive(Debug)]
pub struct FinalizeBarrier {
    local: Team,
    /// How often this PE has come to it. Other threads look, where it was not for the last time.
    times: AtomicU64,
}

impl FinalizeBarrier {
    /// The meeting of some PEs, of which this one is number `me`.
    pub const fn new(internal: *const u8, range: (i32, i32, i32), me: i32) -> Self {
        Self { local: Team::new(internal, ID, range, me, Config { num_contexts: 0 }), times: AtomicU64::new(0) }
    }

    fn times(&self) -> u64 {
        self.times.load(Ordering::Relaxed)
    }
}

/// What a PE is through with that has come to `shmem_finalize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// This was the last one.
    All,
    /// Another one is to come.
    World,
}

/// Waits until all PEs of the job have come to `shmem_finalize`.
pub fn finalize(w: &World, what: Leaves) -> Result<(), Fault> {
    announce(w, what);
    if let Some(losses) = w.map.losses {
        if w.world.hierarchy.is_some() {
            return barrier_by_launcher(w, losses, For::Finalize, what);
        }
        barrier_of_survivors(w, losses);
        return Ok(());
    }
    match &w.world.hierarchy {
        Some(world) => hierarchical::finalize(w, world, &w.finalize_barrier.local),
        None => TeamView { w, team: &w.finalize_barrier.local }.sync(),
    }
}

/// The PEs that are left of a job on several hosts meet, once all they have sent has come: the last time for those that
/// do not begin again.
pub fn barrier_at_end(w: &World, losses: &Losses) -> Result<(), Fault> {
    barrier_by_launcher(w, losses, For::Leave, Leaves::All)
}

/// The PEs that are left of a job on several hosts meet.
fn barrier_by_launcher(w: &World, losses: &Losses, what: For, then: Leaves) -> Result<(), Fault> {
    let proposal = Proposal {
        group: (u64::MAX, what as u64),
        number: w.finalize_barrier.times(),
        what: what as u8,
        leaves: then == Leaves::All,
        pes: w.world.pes(),
        words: Vec::new(),
    };
    losses.decide(w.map.oversubscribed, proposal).map(drop)
}

/// Waits until all PEs of this host have come, but those that are lost: each has a word that says how often it has.
fn barrier_of_survivors(w: &World, losses: &Losses) {
    let (local, times) = (&w.finalize_barrier.local, w.finalize_barrier.times());
    let word = |member: i32| &local.sync_block(member).told[0].0;
    word(local.me).store(times, Ordering::Release);
    for member in 0..local.size {
        let has_come = || word(member).load(Ordering::Acquire) >= times || losses.is_lost(local.world(member));
        wait::until(w.map.oversubscribed, || has_come().then_some(()));
    }
}

/// Shows the others what this PE has begun.
fn announce(w: &World, what: Leaves) {
    let times = w.finalize_barrier.times.fetch_add(1, Ordering::Relaxed) + 1;
    let is_last = what == Leaves::All;
    let show = |team: &Team| {
        let team = on_host(team);
        let FinalizeMark { mark, barriers, contributions } = &team.mine().finalize_mark;
        barriers.store(team.progress.barriers.get(), Ordering::Relaxed);
        contributions.store(team.progress.contributions.get(), Ordering::Relaxed);
        mark.store(mark_of(times, team) & if is_last { !0 } else { !LAST }, Ordering::Release);
    };
    show(&w.world);
    // Not collected, which sorts: 5 KB of the library for it.
    let mut begun: BTreeMap<Group, u32> = BTreeMap::new();
    let mut hierarchy = |team: &Team| {
        begun.extend(team.hierarchy.as_ref().map(|hierarchy| (group_of(team), hierarchy.counter.calls())))
    };
    hierarchy(&w.world);
    if is_last {
        show(&w.shared);
        show(&w.numa);
        // SAFETY: neither ends a team, and no call of another thread's that does meets the last finalize.
        unsafe {
            SLAB.for_each(show);
            SLAB.for_each(hierarchy);
        }
        begun.extend(w.common.groups().into_iter().map(|(key, calls)| ((key, 0), calls)));
    }
    *shown() = Shown { times, is_last, begun };
    total(w).fetch_add(1, Ordering::AcqRel);
}

/// Why a collective of a team, in which this PE waits since a while, will not end: a member is in `shmem_finalize` that
/// has not begun it.
#[cold]
pub fn absent_member(w: &World, team: &Team) -> Option<Fault> {
    let times = w.finalize_barrier.times();
    // All PEs of the host have come as often as this one has: more of them, and somebody has come once more.
    if total(w).load(Ordering::Acquire) <= times * w.finalize_barrier.local.size as u64 {
        return None;
    }
    let (wanted, progress) = (mark_of(times + 1, team), &team.progress);
    let gone = |pe: &i32| {
        let theirs = &team.sync_block(*pe).finalize_mark;
        theirs.mark.load(Ordering::Acquire) | LAST == wanted
            && (theirs.barriers.load(Ordering::Relaxed) < progress.barriers.get()
                || theirs.contributions.load(Ordering::Relaxed) < progress.contributions.get())
    };
    (0..team.size).find(gone).map(|pe| Fault::from(Cause::Finalizing { pe: team.world(pe) }))
}

/// Whether a PE of this host is in its last `shmem_finalize`, and this one has not come to that.
#[cold]
pub fn is_finalizing(w: &World, pe: i32) -> bool {
    let world = on_host(&w.world);
    let wanted = mark_of(next(w), world);
    world.rank_of(pe).is_some_and(|rank| world.sync_block(rank).finalize_mark.mark.load(Ordering::Acquire) == wanted)
}

/// A team, by id and shape, since ids are used again; or an active set, by its key.
type Group = (u64, u64);

/// The group of a team.
pub fn group_of(team: &Team) -> Group {
    (team.id as u64, mark_of(0, team))
}

/// What PEs of other hosts are told.
struct Shown {
    /// How often this PE has come to the meeting.
    times: u64,
    /// Whether it was for the last time: of groups that are not among the others, it had begun nothing then.
    is_last: bool,
    /// Collectives of groups on several hosts that it had begun then.
    begun: BTreeMap<Group, u32>,
}

static SHOWN: Mutex<Shown> = Mutex::new(Shown { times: 0, is_last: false, begun: BTreeMap::new() });

fn shown() -> MutexGuard<'static, Shown> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What this PE tells one of another host that waits for it in its collective of a group, and has not come to a certain
/// finalize: 1 and the number of collectives that this PE had begun when it came to that; 0 where it has not, or may
/// begin more of them there.
pub fn answer([times, id, shape]: [u64; 3]) -> u64 {
    let shown = shown();
    if shown.times != times {
        return 0;
    }
    match shown.begun.get(&(id, shape)) {
        Some(begun) => 1 + u64::from(*begun),
        None => u64::from(shown.is_last),
    }
}

/// A wait for a message of a PE of another host.
pub struct PeerQuery {
    next: Option<Instant>,
    pause: Duration,
}

/// Which collective somebody waits in.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// The finalize that this PE comes to next.
    pub times: u64,
    /// The group.
    pub group: Group,
    /// Number of the collective in it.
    pub number: u32,
}

impl PeerQuery {
    /// Before the first question, and at most between two.
    const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

    /// At the begin of a wait.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { next: None, pause: Self::PAUSE.0 }
    }

    /// Asks the PE that is waited for, where it is time to. Fault: it will not come.
    #[cold]
    pub fn look(
        &mut self,
        transport: &dyn Transport,
        channel: Channel,
        pe: i32,
        waiting: &Waiting,
    ) -> Result<(), Fault> {
        let now = Instant::now();
        if now < *self.next.get_or_insert(now + self.pause) {
            return Ok(());
        }
        let answer = transport.ask(channel, pe, [waiting.times, waiting.group.0, waiting.group.1])?;
        // Numbers begin again after 2^32.
        let missed = |begun: u64| (waiting.number.wrapping_sub(begun as u32) as i32) > 0;
        if answer.checked_sub(1).is_some_and(missed) {
            return Err(Fault::from(Cause::Finalizing { pe }));
        }
        self.pause = (self.pause * 2).min(Self::PAUSE.1);
        self.next = Some(Instant::now() + self.pause);
        Ok(())
    }
}

/// The finalize that this PE comes to next.
pub fn next(w: &World) -> u64 {
    w.finalize_barrier.times() + 1
}

/// How often PEs of this host have come to the meeting, all together.
fn total(w: &World) -> &AtomicU64 {
    &w.finalize_barrier.local.sync_block(0).finalize_mark.mark
}

/// The members of a team that see each other's sync blocks.
fn on_host(team: &Team) -> &Team {
    team.hierarchy.as_ref().map_or(team, |hierarchy| &hierarchy.local)
}

/// Names a finalize and a team: a sync block can be another team's before all members of the one before have left it.
fn mark_of(times: u64, team: &Team) -> u64 {
    let listed = team.list.iter().flat_map(|list| list.iter().copied());
    let parts = [team.start, team.stride, team.size].into_iter().chain(listed).map(|part| u64::from(part as u32));
    parts.fold(times, |mark, part| (mark ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)) | LAST
}

/// In a mark: of a finalize that is the last one.
const LAST: u64 = 1;
