//! Nonblocking collectives on teams and active sets: each starts a schedule and gives its request (extensions, section
//! 3.2.1).
//!
//! Members begin them in the same order on a team, or on a set with a certain `pSync`; they may be complete in any
//! order. Until one is complete, its objects belong to it. Those of a team follow an order of their own, so blocking
//! ones may come in between.

use super::check::{Arg, check_overlap, meeting, operation, place};
use super::contribution::Kind;
use super::inter_host::FlatCall;
use super::kernel::Kernel;
use crate::base::{Cause, Fault};
use crate::context::nonblocking::deliver;
use crate::context::order;
use crate::inter_host::both;
use crate::memory::Map;
use crate::request::uses::{self, Access, Use};
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
    let name = (aset.name as u64) ^ ((aset.name >> 64) as u64).rotate_left(17);
    EXPLICIT | with_psync(w, name, psync) >> 2
}

/// What tells calls with this work array from others of the same set, which other threads may be in.
pub(super) fn with_psync(w: &World, set: u64, psync: *const i64) -> u64 {
    let place = if psync.is_null() { 0 } else { super::check::place(&w.map, psync) };
    (set ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(7)
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
        shown: &Shown,
        goes_one_way: bool,
        steps: impl FnOnce(FlatCall<'static>) -> F + 'static,
    ) -> Result<Request, Fault> {
        let call = FlatCall::begin(w, self.pes, self.me, self.key, goes_one_way);
        if !w.map.check {
            return call.start(steps);
        }
        let (kind, args) = (shown.kind, shown.args.clone());
        call.start(move |call| async move { both(call.clone().compare(kind, args), steps(call)).await })
    }

    /// A call that moves nothing: the others are told of it with `--check` only.
    fn nothing(self, w: &'static World, shown: &Shown) -> Result<Request, Fault> {
        if w.map.check { self.start(w, shown, false, |_| async { Ok(()) }) } else { Ok(Request::COMPLETE) }
    }
}

/// A call, as the other members have to make it, too: compared with `--check`.
struct Shown {
    kind: Kind,
    args: Vec<(Arg, u64)>,
    uses: [Use; 2],
}

impl Shown {
    fn new(m: &Map, kind: Kind, dest: (*mut u8, usize), source: (*const u8, usize), number: (Arg, u64)) -> Self {
        let (addr, bytes, access) = (source.0.addr(), source.1, Access::Read);
        let from = Use { arg: "source", pe: m.me, addr, bytes, access };
        let to = Use { arg: "dest", addr: dest.0.addr(), bytes: dest.1, access: Access::Write, ..from };
        let mut args = Vec::new();
        if m.check {
            args.push(number);
        }
        if m.check && !dest.0.is_null() {
            args.push((Arg::Object("dest"), place(m, dest.0)));
            // Blocks of different sizes may come from anywhere.
            if kind != Kind::Collect {
                args.extend([(Arg::Number("bytes"), bytes as u64), (Arg::Object("source"), place(m, source.0))]);
            }
        }
        Self { kind, args, uses: [to, from] }
    }

    /// Keeps what the call uses, with `--check`.
    fn hold(&self, begun: Result<Request, Fault>) -> Begun {
        begun
            .map(|request| if uses::are_kept() { uses::hold(request, &self.uses, None, true) } else { request })
            .map(Some)
    }
}

/// What a nonblocking call gives: nothing for an invalid team.
pub type Begun = Result<Option<Request>, Fault>;

/// All members are here; a barrier also completes what this PE has begun on the default context, before it enters.
pub fn barrier(w: &'static World, group: Group<'_>, quiet: bool) -> Begun {
    // A group that there is not has nothing to complete.
    if quiet && group.members(w)?.is_some() {
        order::tell(order::quiet_before(&w.map)?);
    }
    synchronize(w, group, quiet)
}

/// All members are here; `completes`: in a barrier, which has completed what it has to.
pub(super) fn synchronize(w: &'static World, group: Group<'_>, completes: bool) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    let none = (std::ptr::null_mut(), 0);
    let [number] = meeting(completes);
    let shown = Shown::new(&w.map, Kind::Barrier, none, (none.0, 0), number);
    shown.hold(members.start(w, &shown, false, |call| async move { call.barrier().await }))
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
    let number = (Arg::Number("PE_root"), root as u64);
    let mut shown = Shown::new(&w.map, Kind::Broadcast, (dest, bytes), (source, bytes), number);
    if bytes == 0 {
        return shown.hold(members.nothing(w, &shown));
    }
    check_objects(&w.map, (dest, bytes), (source, bytes), !is_team)?;
    // Of the two the root of a set uses its source, the others their dest.
    let is_root = me == root as usize;
    let unused = usize::from(!is_root);
    if !(is_root && is_team) {
        shown.uses[unused].bytes = 0;
    }
    shown.hold(members.start(w, &shown, true, move |call| async move {
        if !(is_team && is_root && dest.cast_const() != source) {
            return call.broadcast(dest, source, bytes, root).await;
        }
        let own = async {
            call.left().await;
            copy_own(dest, source, bytes);
            Ok(())
        };
        both(call.broadcast(dest, source, bytes, root), own).await
    }))
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
    let to = (dest, bytes.saturating_mul(members.pes.size()));
    let shown = Shown::new(&w.map, Kind::Fcollect, to, (source, bytes), (Arg::Op, 0));
    if bytes == 0 {
        return shown.hold(members.nothing(w, &shown));
    }
    check_objects(&w.map, to, (source, bytes), false)?;
    shown.hold(members.start(w, &shown, false, move |call| async move { call.fcollect(dest, source, bytes).await }))
}

/// As [`fcollect`], with a size that may differ between members and may be 0.
pub fn collect(w: &'static World, group: Group<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    if bytes > 0 {
        w.map.local("source", source, bytes)?;
        check_overlap(&w.map, dest, bytes, source, bytes, false)?;
    }
    // Of dest, what this member's own block takes is known.
    let shown = Shown::new(&w.map, Kind::Collect, (dest, bytes), (source, bytes), (Arg::Op, 0));
    shown.hold(members.start(w, &shown, false, move |call| async move { call.collect(dest, source, bytes).await }))
}

/// Block `i` of each member's `source` goes to member `i`.
pub fn alltoall(w: &'static World, group: Group<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Begun {
    let Some(members) = group.members(w)? else { return Ok(None) };
    let total = bytes.saturating_mul(members.pes.size());
    let shown = Shown::new(&w.map, Kind::Alltoall, (dest, total), (source, total), (Arg::Op, 0));
    if bytes == 0 {
        return shown.hold(members.nothing(w, &shown));
    }
    check_objects(&w.map, (dest, total), (source, total), false)?;
    shown.hold(members.start(w, &shown, false, move |call| async move { call.alltoall(dest, source, bytes).await }))
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
    let bytes = nelems.saturating_mul(kernel.elem);
    let number = operation(&kernel);
    let shown = Shown::new(&w.map, Kind::Reduce, (dest, bytes), (source, bytes), number);
    if nelems == 0 {
        return shown.hold(members.nothing(w, &shown));
    }
    check_objects(&w.map, (dest, bytes), (source, bytes), true)?;
    shown.hold(members.start(
        w,
        &shown,
        false,
        move |call| async move { call.reduce(dest, source, nelems, kernel).await },
    ))
}

/// The count of a reduction in the old routines' type.
pub fn count(nreduce: i32) -> Result<usize, Fault> {
    usize::try_from(nreduce).map_err(|_| {
        Fault::from(Cause::BadValue { arg: "nreduce", value: nreduce.into(), expected: "a count of at least 0" })
    })
}

/// Writes the request of a call where the caller has a place for it; without one, the next quiet or barrier completes
/// the call. Gives 0, or -1 for an invalid team, where the place says that there is no request.
pub fn give(place: *mut Request, begun: Begun) -> Result<i32, Fault> {
    let Some(request) = begun? else { return deliver(place, Request::INVALID).map(|()| -1) };
    if place.is_null() {
        uses::without_handle(request);
        request::detach(request);
    }
    deliver(place, request).map(|()| 0)
}

/// Runs a call to its end: a collective on a set without a work array.
pub fn complete(w: &World, begun: Begun) -> Result<(), Fault> {
    begun?.map_or(Ok(()), |request| super::requests::wait_by_value(w, request))
}

/// As [`complete`], of a call on a file.
pub fn complete_file(w: &World, begun: Begun) -> Result<(), Fault> {
    begun?.map_or(Ok(()), |request| super::requests::wait_for_file(w, request))
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
