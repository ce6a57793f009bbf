//! Teams whose members are on several hosts: their members on this host meet in shared memory, and one PE of each host
//! meets the other hosts' over the network.
//!
//! Hosts are runs of consecutively numbered PEs and a team is a strided range of them, so the members on a host follow
//! each other in the team as well.

mod call;
mod layout;
mod peers;
mod waits;

pub use call::InterHostCall;
pub use layout::Layout;
pub use peers::{Peers, Ranks};
pub use waits::{Absence, Patience, Waits};

use super::finalizing::Waiting;
use super::mail::Mail;
use super::pe_list::PeList;
use super::{Config, Members, Team, TeamView, World, contribution};
use crate::base::Fault;
use crate::inter_host;
use crate::memory::Map;
use crate::transport::{Channel, Transport};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a team has where it is on several hosts.
#[derive(Debug)]
pub struct Hierarchy {
    /// The members on this host, as a team of their own.
    pub local: Team,
    /// Where its members are.
    pub layout: Layout,
    /// What the team has done.
    pub counter: CallCounter,
}

/// Collectives of a group, as all of its members count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Begun.
    calls: u32,
    /// Of which all members are known to have begun so many.
    synchronized: u32,
}

impl Count {
    fn next(&mut self, synchronized: bool) -> u32 {
        self.calls = self.calls.wrapping_add(1);
        if synchronized {
            self.synchronized = self.calls;
        }
        self.calls
    }

    fn is_ahead(self) -> bool {
        self.calls.wrapping_sub(self.synchronized) >= AHEAD
    }
}

/// See [`Count`]. A program does not run two of them at a time.
#[derive(Debug, Default)]
pub struct CallCounter(Cell<Count>);

/// Collectives in which data goes one way only that may follow each other. Then all meet: messages that a slow member
/// has not taken yet wait in its memory.
const AHEAD: u32 = 16;

/// What the process has for groups that are not teams, and for all of them.
#[derive(Debug)]
pub struct Common {
    /// Counts of active sets and of nonblocking collectives, by their keys.
    groups: Mutex<BTreeMap<u64, Count>>,
    /// Of the puts of collectives.
    channel: OnceLock<Channel>,
    /// What follows each meeting of all PEs.
    after_syncs: Mutex<Option<AfterSync>>,
    /// Messages of nonblocking collectives on this host.
    pub mail: Mail,
}

/// See [`Common::after_syncs`].
pub type AfterSync = fn() -> Result<(), Fault>;

impl Common {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            groups: Mutex::new(BTreeMap::new()),
            channel: OnceLock::new(),
            after_syncs: Mutex::new(None),
            mail: Mail::new(),
        }
    }

    /// Has each meeting of all PEs end with something, or no longer: after `shmem_finalize` any of them may be the last
    /// that a process does.
    pub fn after_syncs(&self, what: Option<AfterSync>) {
        *self.after_syncs.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// Where no more channels are to be had, the default one does, with the program's own operations.
    pub fn channel(&self, transport: &dyn Transport) -> Channel {
        *self.channel.get_or_init(|| transport.open_channel().unwrap_or(Channel::DEFAULT))
    }

    /// Numbers for the parts of the next collective of a group, which `key` names: the first of `parts`.
    /// `synchronized`: whether everyone hears of everyone in it. Gives also whether all members must meet before it,
    /// since data has gone one way only too often; the group counts as synchronized then.
    pub fn begin(&self, key: u64, parts: u32, synchronized: bool) -> (u32, bool) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let count = groups.entry(key).or_default();
        let is_ahead = !synchronized && count.calls.wrapping_sub(count.synchronized) >= AHEAD * parts;
        let first = count.calls.wrapping_add(1);
        count.calls = count.calls.wrapping_add(parts);
        if synchronized || is_ahead {
            count.synchronized = count.calls;
        }
        (first, is_ahead)
    }

    /// The groups that there have been: their keys, and collectives begun.
    pub(super) fn groups(&self) -> Vec<(u64, u32)> {
        let sets = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        sets.iter().map(|(key, count)| (*key, count.calls)).collect()
    }
}

impl Team {
    /// A team of PEs, in ascending or descending order, that are on this host, or, where `hosts` (the first PEs of all
    /// hosts, ascending) says that they are not, on several. Areas are clean on every member.
    pub fn placed(hosts: &[u32], internal: *const u8, id: usize, pes: PeList, me: i32, config: Config) -> Self {
        let layout = Layout::of(hosts, &pes, me);
        let mut team = Self::of(internal, id, pes, me, config);
        if layout.heads.len() > 1 {
            let ranks = layout.ranks(layout.host);
            let here: Vec<i32> = ranks.clone().map(|rank| team.world(rank as i32)).collect();
            // The team itself has no use for its sync block.
            let mut local = Self::of(internal, id, PeList::of(&here), me - ranks.start as i32, config);
            local.whole = Some(team.pes());
            team.hierarchy = Some(Box::new(Hierarchy { local, layout, counter: CallCounter::default() }));
        }
        team
    }
}

/// First PEs of all hosts of a job, for a launcher that does not tell. Collective over the job, before anything else.
pub fn hosts(map: &Map, transport: &dyn Transport) -> Result<Vec<u32>, Fault> {
    let size = map.npes as usize;
    let peers = Peers {
        map,
        transport: Some(transport),
        mail: None,
        channel: Channel::DEFAULT,
        ranks: Ranks::All(PeList::Strided { start: 0, stride: 1, size }),
        pes: PeList::Strided { start: 0, stride: 1, size },
        me: map.me as usize,
        group: u64::MAX,
        number: 0,
        signature: contribution::signature(contribution::Kind::Init, 0),
        waiting: Waiting { times: u64::MAX, group: (u64::MAX, 0), number: 0 },
        event: None,
        waits: Arc::default(),
    };
    peers.run(inter_host::hosts(&peers, map.first_pe as usize))
}

/// Waits for all members of a team.
#[cold]
#[inline(never)]
pub fn sync(w: &World, team: &Team, hierarchy: &Hierarchy) -> Result<(), Fault> {
    sync_by(w, team, hierarchy, |local| local.sync())?;
    let after = *w.common.after_syncs.lock().unwrap_or_else(PoisonError::into_inner);
    after.filter(|_| team.id == w.world.id).map_or(Ok(()), |after| after())
}

/// The meeting of `shmem_finalize`, in the place of a [`sync`] of the world: PEs of other hosts that are in another
/// call notice that, and those of this host meet as `local`.
pub(super) fn finalize(w: &World, world: &Hierarchy, local: &Team) -> Result<(), Fault> {
    let call = InterHostCall::next(w, &w.world, world, contribution::signature(contribution::Kind::Finalize, 0));
    synchronize(&call, local, |local| local.sync())
}

/// As [`sync`], with a certain way to meet within a host.
pub(super) fn sync_by(w: &World, team: &Team, hierarchy: &Hierarchy, way: Way) -> Result<(), Fault> {
    synchronize(
        &InterHostCall::next(w, team, hierarchy, contribution::signature(contribution::Kind::Barrier, 0)),
        &hierarchy.local,
        way,
    )
}

/// How the members on a host meet.
type Way = fn(&TeamView<'_>) -> Result<(), Fault>;

/// All members of a team meet, those of this host as `local`.
fn synchronize(call: &InterHostCall<'_>, local: &Team, way: Way) -> Result<(), Fault> {
    let local = TeamView { w: call.w, team: local };
    way(&local)?;
    if call.leads() {
        let hosts = call.hosts()?;
        hosts.run(inter_host::dissemination(&hosts))?;
    }
    way(&local)?;
    call.all_synchronized();
    Ok(())
}

impl CallCounter {
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

    fn all_synchronized(&self) {
        let mut count = self.0.get();
        count.synchronized = count.calls;
        self.0.set(count);
    }

    /// Whether all must meet before the next collective.
    fn is_ahead(&self) -> bool {
        self.0.get().is_ahead()
    }
}
