//! Nonblocking collectives on teams and active sets: each starts a schedule and gives its request (extensions, section
//! 3.2.1).
//!
//! Members begin them in the same order on a team, or on a set with a certain `pSync`; they may be complete in any
//! order. Until one is complete, its objects belong to it. Those of a team follow an order of their own, so blocking
//! ones may come in between.

use super::check::check_overlap;
use super::inter_host::FlatCall;
use super::kernel::Kernel;
use crate::base::{Cause, Fault};
use crate::context::nonblocking::deliver;
use crate::context::order;
use crate::memory::Map;
use crate::request::{self, Request};
use crate::team::aset::Aset;
use crate::team::pe_list::PeList;
use crate::team::{Handle, World, finalizing};

/// Who takes part.
#[derive(Debug, Clone, Copy)]
pub enum Group<'a> {
    /// The members of a team.
    Team(Handle),
    /// Those of an active set. The address of the work array, null or symmetric, tells calls on the set apart.
    Set(&'a Aset, *const i64),
}

/// A checked group.
pub(super) struct Members {
    /// Who they are.
    pub pes: PeList,
    /// This PE's number.
    pub me: usize,
    /// Names the group.
    pub key: u64,
    /// Whether a broadcast writes the root's own `dest`: on teams.
    is_team: bool,
}

/// Set in the keys of groups: of explicit sets, and of nonblocking collectives.
const EXPLICIT: u64 = 0b11 << 62;

/// Names a set together with a work array.
pub(super) fn key_of_set(w: &World, aset: &Aset, psync: *const i64) -> u64 {
    let place = if psync.is_null() { 0 } else { super::check::place(&w.map, psync) };
    let name = (aset.name as u64) ^ ((aset.name >> 64) as u64).rotate_left(17);
    EXPLICIT | (name ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(7) >> 2
}

impl Group<'_> {
    /// `None`: `SHMEM_TEAM_INVALID`.
    pub(super) fn members(self, w: &World) -> Result<Option<Members>, Fault> {
        w.map.ready()?;
        match self {
            Self::Team(handle) => {
                let Some(team) = w.team(handle)? else { return Ok(None) };
                let (id, shape) = finalizing::group_of(team);
                let key = EXPLICIT | (shape ^ id.wrapping_mul(0xff51_afd7_ed55_8ccd)).rotate_left(9) >> 2;
                Ok(Some(Members { pes: team.pes(), me: team.me as usize, key, is_team: true }))
            }
            Self::Set(aset, psync) => {
                let size = aset.pes.size();
                let me = aset.me.ok_or_else(|| Fault::from(Cause::NotInSet { size, pe: w.map.me }))?;
                if !psync.is_null() {
                    w.map.local("pSync", psync, size_of::<i64>())?;
                }
                // Not the counter of the set's blocking calls.
                let key = key_of_set(w, aset, psync) ^ 1;
                Ok(Some(Members { pes: aset.pes.clone(), me, key, is_team: false }))
            }
        }
    }
}

impl Members {
    /// Starts the schedule that `steps` makes of the call.
    fn start<F: Future<Output = Result<(), Fault>> + 'static>(
        self,
        w: &'static World,
        goes_one_way: bool,
        steps: impl FnOnce(FlatCall<'static>) -> F,
    ) -> Result<Request, Fault> {
        FlatCall::begin(w, self.pes, self.me, self.key, goes_one_way).start(steps)
    }
}

/// What a nonblocking call gives: nothing for an invalid team.
pub type Begun = Result<Option<Request>, Fault>;

/// All members are here; a barrier also completes what this PE has begun on the default context, before it enters.
pub fn barrier(w: &'static World, group: Group<'_>, quiet: bool) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    if quiet {
        order::quiet_default(&w.map)?;
    }
    members.start(w, false, |call| async move { call.barrier().await }).map(Some)
}

/// Copies from member `root` to all others; on a team to the root's own `dest`, too.
pub fn broadcast(
    w: &'static World,
    group: Group<'_>,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    let (size, is_team, me) = (members.pes.size(), members.is_team, members.me);
    if root as u32 as usize >= size {
        return Err(Fault::from(Cause::BadPe { arg: "PE_root", pe: root.into(), npes: size as i64 }));
    }
    if bytes == 0 {
        return Ok(Some(Request::COMPLETE));
    }
    check_objects(&w.map, (dest, bytes), (source, bytes), !is_team)?;
    members
        .start(w, true, |call| async move {
            if is_team && me == root as usize && dest.cast_const() != source {
                copy_own(dest, source, bytes);
            }
            call.broadcast(dest, source, bytes, root).await
        })
        .map(Some)
}

/// Both objects are symmetric and share no memory, unless they are one and that is allowed.
fn check_objects(m: &Map, dest: (*mut u8, usize), source: (*const u8, usize), in_place: bool) -> Result<(), Fault> {
    check_overlap(m, dest.0, dest.1, source.0, source.1, in_place)?;
    m.local("dest", dest.0, dest.1)?;
    m.local("source", source.0, source.1)
}

/// The root's own copy.
#[allow(unsafe_code)]
fn copy_own(dest: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: both were checked for `bytes` bytes.
    unsafe { std::ptr::copy(source, dest, bytes) };
}

/// Concatenates `bytes` bytes of every member.
pub fn fcollect(w: &'static World, group: Group<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    if bytes == 0 {
        return Ok(Some(Request::COMPLETE));
    }
    check_objects(&w.map, (dest, bytes.saturating_mul(members.pes.size())), (source, bytes), false)?;
    members.start(w, false, |call| async move { call.fcollect(dest, source, bytes).await }).map(Some)
}

/// As [`fcollect`], with a size that may differ between members and may be 0.
pub fn collect(w: &'static World, group: Group<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    if bytes > 0 {
        w.map.local("source", source, bytes)?;
    }
    members.start(w, false, |call| async move { call.collect(dest, source, bytes).await }).map(Some)
}

/// Block `i` of each member's `source` goes to member `i`.
pub fn alltoall(w: &'static World, group: Group<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    if bytes == 0 {
        return Ok(Some(Request::COMPLETE));
    }
    let total = bytes.saturating_mul(members.pes.size());
    check_objects(&w.map, (dest, total), (source, total), false)?;
    members.start(w, false, |call| async move { call.alltoall(dest, source, bytes).await }).map(Some)
}

/// Combines elements of all members into `dest` on each; `dest` may be `source`.
pub fn reduce(
    w: &'static World,
    group: Group<'_>,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    if nelems == 0 {
        return Ok(Some(Request::COMPLETE));
    }
    let bytes = nelems.saturating_mul(kernel.elem);
    check_objects(&w.map, (dest, bytes), (source, bytes), true)?;
    members.start(w, false, |call| async move { call.reduce(dest, source, nelems, kernel).await }).map(Some)
}

/// The count of a reduction in the old routines' type.
pub fn count(nreduce: i32) -> Result<usize, Fault> {
    usize::try_from(nreduce).map_err(|_| {
        Fault::from(Cause::BadValue { arg: "nreduce", value: nreduce.into(), expected: "a count of at least 0" })
    })
}

/// Writes the request of a call where the caller has a place for it; without one, the next quiet or barrier completes
/// the call. Gives 0, or -1 for an invalid team.
pub fn give(place: *mut Request, begun: Begun) -> Result<i32, Fault> {
    let Some(request) = begun? else { return Ok(-1) };
    if place.is_null() {
        request::detach(request);
    }
    deliver(place, request).map(|()| 0)
}

/// Runs a call to its end: a collective on a set without a work array.
pub fn complete(w: &World, begun: Begun) -> Result<(), Fault> {
    begun?.map_or(Ok(()), |request| super::requests::wait_by_value(w, request))
}

/// [`barrier`] of a team, with the place of its request; gives 0, or -1 for an invalid team. So for the next ones.
pub fn team_sync(w: &'static World, team: Handle, request: *mut Request) -> Result<i32, Fault> {
    give(request, barrier(w, Group::Team(team), false))
}

/// [`broadcast`] of a team.
pub fn team_broadcast(
    w: &'static World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    request: *mut Request,
) -> Result<i32, Fault> {
    give(request, broadcast(w, Group::Team(team), dest, source, bytes, root))
}

/// [`reduce`] of a team.
pub fn team_reduce(
    w: &'static World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    request: *mut Request,
) -> Result<i32, Fault> {
    give(request, reduce(w, Group::Team(team), dest, source, nelems, kernel))
}

macro_rules! of_teams {
    ($($name:ident, $of:ident;)*) => { $(
        #[doc = concat!("[`", stringify!($of), "`] of a team.")]
        pub fn $name(
            w: &'static World,
            team: Handle,
            dest: *mut u8,
            source: *const u8,
            bytes: usize,
            request: *mut Request,
        ) -> Result<i32, Fault> {
            give(request, $of(w, Group::Team(team), dest, source, bytes))
        }
    )* };
}

of_teams! {
    team_alltoall, alltoall;
    team_collect, collect;
    team_fcollect, fcollect;
}
