//! Teams (Section 9.4): handles, the world, translation of PE numbers.
//!
//! Every team that the specification can make is a strided range of the world's PEs, so a team is three numbers, a
//! sync block of its own and its place in it. What is left of one whose PEs are lost ([`mod@shrink`]) may be any list.
#![allow(unsafe_code)]

mod agreement;
pub mod algorithm;
mod api;
pub mod aset;
mod barrier;
pub mod check;
mod chosen;
pub mod contribution;
pub mod finalizing;
pub mod hierarchical;
mod ids;
pub mod mail;
pub mod members;
mod shrink;
mod split;
pub mod sync_block;

pub use crate::base::pe_list;
pub use api::{create_ctx, ctx_create, ctx_destroy, ctx_get_team, get_config, my_pe, n_pes, team_ptr, translate_pe};
pub use barrier::{central_counter, dissemination, flat};
use chosen::tell_algorithm;
pub use chosen::tell_algorithms;
pub use ids::{ALWAYS, NUMA_ID, greatest_of_all};
pub use members::{Members, TeamView};
pub use shrink::{agreement, shrink};
pub use split::{destroy, split_2d, split_aset, split_strided};

use crate::base::slab::Slab;
use crate::base::{Cause, Fault, observer};
use crate::context::Ctx;
use crate::memory::Map;
use crate::memory::segments::INTERNAL;
use pe_list::PeList;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use sync_block::{SYNC_BLOCK, SyncBlock, TEAMS};

/// Teams that programs make. There are never more than ids, of which each PE's teams have different ones.
static SLAB: Slab<Team, TEAMS> = Slab::new();
/// How many teams this process has made so far, or tried to.
static MADE: AtomicU64 = AtomicU64::new(0);

/// `shmem_team_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Handle(pub(crate) usize);

impl Handle {
    /// `SHMEM_TEAM_INVALID`.
    pub const INVALID: Self = Self(0);
    /// `SHMEM_TEAM_WORLD`.
    pub const WORLD: Self = Self(1);
    /// `SHMEM_TEAM_SHARED`.
    pub const SHARED: Self = Self(2);
    /// `SHMEMX_TEAM_NUMA`.
    pub const NUMA: Self = Self(3);

    /// Whether it is of a team that is always there.
    pub fn is_predefined(self) -> bool {
        [Self::WORLD, Self::SHARED, Self::NUMA].contains(&self)
    }

    /// The handle that is this number.
    pub const fn from_bits(bits: usize) -> Self {
        Self(bits)
    }

    /// Its number.
    pub const fn bits(self) -> usize {
        self.0
    }
}

/// `shmem_team_config_t`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// Contexts that the program means to have at a time.
    pub num_contexts: i32,
}

/// `SHMEM_TEAM_NUM_CONTEXTS`.
pub const NUM_CONTEXTS: i64 = 1;

/// A team, as one of its members sees it.
#[derive(Debug)]
pub struct Team {
    /// Which of the sync blocks is its own; the same on all members.
    pub id: usize,
    /// World number of its PE 0, distance between members, members.
    pub start: i32,
    /// See [`Self::start`].
    pub stride: i32,
    /// See [`Self::start`].
    pub size: i32,
    /// This PE's number in the team.
    pub me: i32,
    /// World numbers of the members, where they are no strided range; then the stride is 0.
    list: Option<Arc<[i32]>>,
    /// Of the members on this host of a team on several: all members of that.
    whole: Option<PeList>,
    config: Config,
    /// Contexts made from this team that live: they end with it (Section 9.4.8).
    contexts: Mutex<BTreeSet<usize>>,
    /// Address of world PE 0's copy of this team's sync block.
    sync_blocks: *const u8,
    /// What collectives have done so far.
    pub progress: Progress,
    /// Where members are on several hosts: what it does instead.
    pub hierarchy: Option<Box<hierarchical::Hierarchy>>,
}

/// Counters of this PE on one team. Collectives on a team do not run concurrently (Section 9.10), so plain cells do.
#[derive(Debug)]
pub struct Progress {
    /// Barriers and syncs begun.
    pub barriers: Cell<u64>,
    /// Collectives begun that use contributions.
    pub contributions: Cell<u64>,
    /// Every member is known to have finished this many of them.
    pub all_done: Cell<u64>,
    /// Agreements begun.
    pub agreements: Cell<u64>,
}

impl Progress {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { barriers: Cell::new(0), contributions: Cell::new(0), all_done: Cell::new(0), agreements: Cell::new(0) }
    }

    /// Begins a barrier; gives its number.
    #[inline(always)]
    pub fn next_barrier(&self) -> u64 {
        let number = self.barriers.get() + 1;
        self.barriers.set(number);
        number
    }
}

// SAFETY: the cells are used by collectives only, which a program must not run concurrently on one team; the rest is
// constant, atomic or behind a mutex.
unsafe impl Sync for Team {}
// SAFETY: as above.
unsafe impl Send for Team {}

impl Team {
    /// A team of PEs of this host, whose sync blocks are clean on every member.
    pub const fn new(internal: *const u8, id: usize, range: (i32, i32, i32), me: i32, config: Config) -> Self {
        let (start, stride, size) = range;
        Self {
            id,
            start,
            stride,
            size,
            me,
            list: None,
            whole: None,
            config,
            contexts: Mutex::new(BTreeSet::new()),
            sync_blocks: internal.wrapping_add(id * SYNC_BLOCK),
            progress: Progress::new(),
            hierarchy: None,
        }
    }

    /// As [`Self::new`], of any PEs.
    fn of(internal: *const u8, id: usize, pes: PeList, me: i32, config: Config) -> Self {
        match pes {
            PeList::Strided { start, stride, size } => {
                Self::new(internal, id, (start, stride, size as i32), me, config)
            }
            PeList::Listed(list) => {
                let range = (list[0], 0, list.len() as i32);
                Self { list: Some(list), ..Self::new(internal, id, range, me, config) }
            }
        }
    }

    /// World number of a member. `pe` is in range.
    #[inline(always)]
    pub fn world(&self, pe: i32) -> i32 {
        match &self.list {
            None => self.start + self.stride * pe,
            Some(list) => list[pe as usize],
        }
    }

    /// World numbers of all members.
    pub fn pes(&self) -> PeList {
        match &self.list {
            None => PeList::Strided { start: self.start, stride: self.stride, size: self.size as usize },
            Some(list) => PeList::Listed(list.clone()),
        }
    }

    /// A member's number from its world number.
    pub fn rank_of(&self, world: i32) -> Option<i32> {
        if let Some(list) = &self.list {
            return list.iter().position(|pe| *pe == world).map(|rank| rank as i32);
        }
        let offset = world - self.start;
        if self.size == 1 || self.stride == 0 {
            return (offset == 0).then_some(0);
        }
        let rank = offset / self.stride;
        (offset % self.stride == 0 && (rank as u32) < self.size as u32).then_some(rank)
    }

    /// A member's sync block of this team.
    #[inline(always)]
    pub fn sync_block(&self, pe: i32) -> &SyncBlock {
        debug_assert!((pe as u32) < self.size as u32);
        // SAFETY: the sync blocks of all PEs of the host are mapped, INTERNAL bytes apart; all of their fields are
        // atomic.
        unsafe { &*self.sync_blocks.wrapping_add(self.world(pe) as usize * INTERNAL).cast() }
    }

    /// This PE's sync block of this team.
    #[inline(always)]
    pub fn mine(&self) -> &SyncBlock {
        self.sync_block(self.me)
    }
}

/// What exists while the library is initialized: the map and the teams.
#[derive(Debug)]
#[repr(C)]
pub struct World {
    /// Address translation.
    pub map: Map,
    /// `SHMEM_TEAM_WORLD`.
    pub world: Team,
    /// `SHMEM_TEAM_SHARED`: its own team, though all PEs of this host are in it.
    pub shared: Team,
    /// `SHMEMX_TEAM_NUMA`.
    pub numa: Team,
    /// The meeting of `shmem_finalize`.
    pub finalize_barrier: finalizing::FinalizeBarrier,
    /// Where the sync block of world PE 0 lies or, where it is on another host, would lie; the others' follow.
    pub internal: *const u8,
    /// What the environment says of algorithms.
    pub algorithms: algorithm::Forced,
    /// The barriers among members on this host: every call of a team takes the same.
    pub barriers: algorithm::Barriers,
    /// First PEs of all hosts, ascending.
    pub hosts: Vec<u32>,
    /// Of groups of PEs on several hosts.
    pub common: hierarchical::Common,
}

// SAFETY: the map is constant once published, the teams are Sync, the sync blocks atomic.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

/// Transfers need the map only.
impl std::ops::Deref for World {
    type Target = Map;

    #[inline(always)]
    fn deref(&self) -> &Map {
        &self.map
    }
}

impl World {
    /// The world of a process that is not initialized: its map refuses everything.
    pub const fn empty() -> Self {
        Self {
            map: Map::empty(),
            world: Team::new(std::ptr::null(), 0, (0, 1, 0), 0, Config { num_contexts: 0 }),
            shared: Team::new(std::ptr::null(), 1, (0, 1, 0), 0, Config { num_contexts: 0 }),
            numa: Team::new(std::ptr::null(), NUMA_ID, (0, 1, 0), 0, Config { num_contexts: 0 }),
            finalize_barrier: finalizing::FinalizeBarrier::new(std::ptr::null(), (0, 1, 0), 0),
            internal: std::ptr::null(),
            algorithms: algorithm::Forced::AUTO,
            barriers: algorithm::Barriers::LAST,
            hosts: Vec::new(),
            common: hierarchical::Common::new(),
        }
    }

    /// The team behind a handle. `None` for `SHMEM_TEAM_INVALID`.
    #[inline(always)]
    pub fn team(&self, handle: Handle) -> Result<Option<&Team>, Fault> {
        match handle.0 {
            1 => Ok(Some(&self.world)),
            0 => Ok(None),
            2 => Ok(Some(&self.shared)),
            3 => Ok(Some(&self.numa)),
            // SAFETY: a program destroys a team when no call on it is under way (Section 9.4.8); the call that destroys
            // it, and the last finalize, do not use it after that.
            _ => unsafe { SLAB.get(handle.0) }.map(Some).ok_or_else(|| unknown(handle.0)),
        }
    }

    /// The fault of a collective on a team one of whose members is lost: then it has none any more.
    #[inline]
    pub fn lost_member(&self, team: &Team) -> Option<Fault> {
        match &team.whole {
            Some(whole) => self.map.lost_among(whole.iter()),
            None => self.map.lost_among((0..team.size).map(|member| team.world(member))),
        }
    }

    /// As [`Self::team`], where a team must be given.
    #[inline(always)]
    pub fn valid_team(&self, handle: Handle) -> Result<&Team, Fault> {
        self.team(handle)?.ok_or_else(|| unknown(0))
    }
}

/// How many teams this process has made so far, or tried to: a handle may be that of another team once there are more.
#[inline(always)]
pub fn made() -> u64 {
    MADE.load(Relaxed)
}

#[cold]
pub(crate) fn unknown(handle: usize) -> Fault {
    Fault::from(Cause::BadTeam { handle, gone: SLAB.was_used(handle) })
}

/// Waits for all members of a team, by the algorithm in force.
#[inline]
pub fn sync(w: &World, team: &Team) -> Result<(), Fault> {
    match &team.hierarchy {
        Some(hierarchy) => hierarchical::sync(w, team, hierarchy),
        None => TeamView { w, team }.sync(),
    }
}

/// Ends all teams that programs made, and all contexts: what a program leaves behind at its last finalize.
pub(crate) fn forget_all(w: &World) {
    crate::context::forget_all();
    crate::request::forget_all();
    aset::forget_all();
    SLAB.clear();
    ids::forget_ids(w);
}

/// Context creation on a team: numbers are the team's.
pub(crate) fn context_of(m: &Map, team: &Team, handle: Handle, options: i64) -> Option<Ctx> {
    let ctx = Ctx::create(m, team.pes(), options, handle.0)?;
    if let Some(observer) = observer::get() {
        (observer.context_made)(ctx.number(), team.id, (team.start, team.stride, team.size));
    }
    // The teams that are always there need not know theirs.
    if !handle.is_predefined() {
        team.contexts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(ctx.bits());
    }
    Some(ctx)
}

/// A program destroys a context: its team need not remember it.
pub(crate) fn forget_context(team: &Team, ctx: Ctx) {
    team.contexts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&ctx.bits());
}
