//! Teams whose members are on several hosts: their members on this host meet in shared memory, and one PE of each host meets
//! the other hosts' over the network.
//!
//! Hosts are runs of consecutively numbered PEs and a team is a strided range of them, so the members on a host follow each
//! other in the team as well.

mod call;
mod layout;
mod peers;

pub use call::Call;
pub use layout::Layout;
pub use peers::{Peers, Ranks};

use super::leaving::Waiting;
use super::{Config, Members, Present, Team, World, post};
use crate::base::Fault;
use crate::group;
use crate::memory::Map;
use crate::transport::{Channel, Transport};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a team has where it is on several hosts.
#[derive(Debug)]
pub struct Spread {
    /// The members on this host, as a team of their own.
    pub local: Team,
    /// Where its members are.
    pub layout: Layout,
    /// What the team has done.
    pub turns: Turns,
}

/// Collectives of a group, as all of its members count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Begun.
    calls: u32,
    /// Of which all members are known to have begun so many.
    heard: u32,
}

impl Count {
    fn next(&mut self, heard: bool) -> u32 {
        self.calls = self.calls.wrapping_add(1);
        if heard {
            self.heard = self.calls;
        }
        self.calls
    }

    fn far_ahead(self) -> bool {
        self.calls.wrapping_sub(self.heard) >= AHEAD
    }
}

/// See [`Count`]. A program does not run two of them at a time.
#[derive(Debug, Default)]
pub struct Turns(Cell<Count>);

/// Collectives in which data goes one way only that may follow each other. Then all meet: messages that a slow member has not
/// taken yet wait in its memory.
const AHEAD: u32 = 16;

/// What the process has for groups that are not teams, and for all of them.
#[derive(Debug)]
pub struct Common {
    /// Counts of active sets, by their keys.
    sets: Mutex<BTreeMap<u64, Count>>,
    /// Of the puts of collectives.
    channel: OnceLock<Channel>,
    /// What follows each meeting of all PEs.
    after_syncs: Mutex<Option<AfterSync>>,
}

/// See [`Common::after_syncs`].
pub type AfterSync = fn() -> Result<(), Fault>;

impl Common {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { sets: Mutex::new(BTreeMap::new()), channel: OnceLock::new(), after_syncs: Mutex::new(None) }
    }

    /// Has each meeting of all PEs end with something, or no longer: after `shmem_finalize` any of them may be the last that a
    /// process does.
    pub fn after_syncs(&self, what: Option<AfterSync>) {
        *self.after_syncs.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// Where no more channels are to be had, the default one does, with the program's own operations.
    fn channel(&self, transport: &dyn Transport) -> Channel {
        *self.channel.get_or_init(|| transport.open_channel().unwrap_or(Channel::DEFAULT))
    }

    /// Begins the next collective of an active set, which `key` names. `heard`: whether everyone hears of everyone in
    /// it. `finalize`: which one this PE comes to next.
    #[allow(clippy::too_many_arguments)]
    pub fn begin<'a>(
        &self,
        map: &'a Map,
        key: u64,
        ranks: Ranks<'a>,
        me: usize,
        signature: u64,
        heard: bool,
        finalize: u64,
    ) -> Result<Peers<'a>, Fault> {
        let transport = call::transport(map)?;
        let number = self.set(key, |count| count.next(heard));
        let (channel, waiting) = (self.channel(transport), Waiting { times: finalize, group: (key, 0), number });
        Ok(Peers { map, transport, channel, ranks, me, group: key, number, signature, waiting })
    }

    /// The active sets that there have been: their keys, and collectives begun.
    pub(super) fn sets(&self) -> Vec<(u64, u32)> {
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.iter().map(|(key, count)| (*key, count.calls)).collect()
    }

    /// Whether all members of an active set must meet before the next collective in which data goes one way.
    pub fn far_ahead(&self, key: u64) -> bool {
        self.set(key, |count| count.far_ahead())
    }

    fn set<R>(&self, key: u64, with: impl FnOnce(&mut Count) -> R) -> R {
        with(self.sets.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
    }
}

impl Team {
    /// A team of PEs that are on this host, or, where `hosts` (the first PEs of all hosts, ascending) says that they are not,
    /// of PEs on several. Areas are clean on every member.
    pub fn placed(
        hosts: &[u32],
        internal: *const u8,
        id: usize,
        range: (i32, i32, i32),
        me: i32,
        config: Config,
    ) -> Self {
        let mut team = Self::new(internal, id, range, me, config);
        let layout = Layout::of(hosts, range, me);
        if layout.heads.len() > 1 {
            let ranks = layout.ranks(layout.host);
            let (first, size) = (ranks.start as i32, ranks.len() as i32);
            let range = (team.world(first), team.stride, size);
            // The team itself has no use for its area.
            let local = Self::new(internal, id, range, me - first, config);
            team.spread = Some(Box::new(Spread { local, layout, turns: Turns::default() }));
        }
        team
    }
}

/// First PEs of all hosts of a job, for a launcher that does not tell. Collective over the job, before anything else.
pub fn hosts(map: &Map, transport: &dyn Transport) -> Result<Vec<u32>, Fault> {
    let size = map.npes as usize;
    let peers = Peers {
        map,
        transport,
        channel: Channel::DEFAULT,
        ranks: Ranks::All { start: 0, stride: 1, size },
        me: map.me as usize,
        group: u64::MAX,
        number: 0,
        signature: post::signature(post::Kind::Init, 0),
        waiting: Waiting { times: u64::MAX, group: (u64::MAX, 0), number: 0 },
    };
    group::hosts(&peers, map.first_pe as usize)
}

/// Waits for all members of a team.
#[cold]
#[inline(never)]
pub fn sync(w: &World, team: &Team, spread: &Spread) -> Result<(), Fault> {
    sync_by(w, team, spread, |local| local.sync())?;
    let after = *w.common.after_syncs.lock().unwrap_or_else(PoisonError::into_inner);
    after.filter(|_| team.id == w.world.id).map_or(Ok(()), |after| after())
}

/// The meeting of `shmem_finalize`, in the place of a [`sync`] of the world: PEs of other hosts that are in another call notice
/// that, and those of this host meet as `local`.
pub(super) fn finalize(w: &World, world: &Spread, local: &Team) -> Result<(), Fault> {
    let call = Call::next(w, &w.world, world, post::signature(post::Kind::Finalize, 0));
    meet(&call, local, |local| local.sync())
}

/// As [`sync`], with a certain way to meet within a host.
pub(super) fn sync_by(w: &World, team: &Team, spread: &Spread, way: Way) -> Result<(), Fault> {
    meet(&Call::next(w, team, spread, post::signature(post::Kind::Barrier, 0)), &spread.local, way)
}

/// How the members on a host meet.
type Way = fn(&Present<'_>) -> Result<(), Fault>;

/// All members of a team meet, those of this host as `local`.
fn meet(call: &Call<'_>, local: &Team, way: Way) -> Result<(), Fault> {
    let local = Present { w: call.w, team: local };
    way(&local)?;
    if call.leads() {
        group::meet(&call.hosts()?)?;
    }
    way(&local)?;
    call.all_heard();
    Ok(())
}

impl Turns {
    /// Collectives begun.
    pub(super) fn calls(&self) -> u32 {
        self.0.get().calls
    }

    fn next(&self) -> u32 {
        let mut count = self.0.get();
        let number = count.next(false);
        self.0.set(count);
        number
    }

    fn all_heard(&self) {
        let mut count = self.0.get();
        count.heard = count.calls;
        self.0.set(count);
    }

    /// Whether all must meet before the next collective.
    fn far_ahead(&self) -> bool {
        self.0.get().far_ahead()
    }
}
