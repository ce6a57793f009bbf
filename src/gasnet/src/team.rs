//! Teams: ordered sets of endpoints. A handle is the address of a team, or a pair of endpoints as an odd number.
#![allow(unsafe_code)]

use crate::coll::Schedule;
use crate::coll::barrier::{Barrier, Name};
use crate::endpoint::Endpoint;
use crate::fail::{refuse, unrestricted};
use crate::place::Peer;
use crate::start::{self, Client};
use crate::types::{EpIndex, Flags, Location, MAX_EPS, Memvec, RANK_INVALID, Rank, Tm, flag};
use crate::{coll, op, progress, record};
use pellucid_core::runtime;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Who is in a team, by rank.
#[derive(Debug)]
enum Members {
    /// Primordial endpoints of a run of PEs with a stride.
    Strided {
        start: u32,
        stride: u32,
        size: u32,
    },
    List(Vec<Peer>),
}

impl Members {
    fn new(list: Vec<Peer>) -> Self {
        let stride = if list.len() > 1 { list[1].pe.wrapping_sub(list[0].pe) } else { 1 };
        let is_regular = stride > 0
            && list.iter().enumerate().all(|(rank, peer)| peer.ep == 0 && peer.pe == list[0].pe + rank as i32 * stride);
        match list.first() {
            Some(first) if is_regular => {
                Self::Strided { start: first.pe as u32, stride: stride as u32, size: list.len() as u32 }
            }
            _ => Self::List(list),
        }
    }
}

/// The members of a team that is a run of primordial endpoints, for calls that have no time for more.
#[derive(Debug)]
struct Run {
    /// 0: the team is another one, or was destroyed.
    size: AtomicU32,
    start: u32,
    stride: u32,
}

impl Run {
    fn of(members: &Members) -> Self {
        match *members {
            Members::Strided { start, stride, size } => Self { size: AtomicU32::new(size), start, stride },
            Members::List(_) => Self { size: AtomicU32::new(0), start: 0, stride: 0 },
        }
    }
}

/// The PE of a member, where that is found at once. `None` where more is to be looked at, or something is wrong:
/// [`crate::place::peer`] does so and tells. A pair's rank may be none of the job's.
#[inline(always)]
pub fn usual_member(tm: Tm, rank: Rank) -> Option<i32> {
    if pair_index(tm).is_some() {
        return Some(rank as i32);
    }
    // SAFETY: null, or a handle that the library made, says the caller.
    let run = &unsafe { (tm as *const Team).as_ref() }?.run;
    (rank < run.size.load(Ordering::Relaxed)).then(|| (run.start + rank * run.stride) as i32)
}

/// A team, as one of its members sees it.
#[derive(Debug)]
#[repr(align(16))]
pub struct Team {
    run: Run,
    /// By which messages of its collectives are told apart: the same for all members.
    pub id: u64,
    members: Members,
    rank: Rank,
    endpoint: &'static Endpoint,
    flags: Flags,
    scratch: Option<Memvec>,
    cdata: AtomicPtr<c_void>,
    /// Collectives begun.
    collectives: AtomicU32,
    /// Teams made of it.
    made: AtomicU32,
    /// It was destroyed.
    is_gone: AtomicBool,
}

/// Teams that were destroyed, of which the last ones are kept, to tell of calls that use them.
static GONE: Mutex<VecDeque<Box<Team>>> = Mutex::new(VecDeque::new());
const MOST_GONE: usize = 64;

// SAFETY: the scratch memory is the client's, and only its address is kept.
unsafe impl Send for Team {}
// SAFETY: as above.
unsafe impl Sync for Team {}

impl Team {
    fn make(
        id: u64,
        members: Members,
        rank: Rank,
        endpoint: &'static Endpoint,
        flags: Flags,
        scratch: Option<Memvec>,
    ) -> &'static Self {
        Box::leak(Box::new(Self {
            run: Run::of(&members),
            id,
            members,
            rank,
            endpoint,
            flags,
            scratch,
            cdata: AtomicPtr::default(),
            collectives: AtomicU32::new(0),
            made: AtomicU32::new(0),
            is_gone: AtomicBool::new(false),
        }))
    }

    /// The primordial one.
    pub fn world(endpoint: &'static Endpoint, size: u32, me: u32) -> &'static Self {
        Self::make(1, Members::Strided { start: 0, stride: 1, size }, me, endpoint, 0, None)
    }

    /// The team that a handle names.
    #[inline(always)]
    pub fn of(routine: &'static str, tm: Tm) -> &'static Self {
        if tm == 0 || tm & 1 != 0 {
            no_team(routine, tm)
        }
        // SAFETY: a handle that the library made, says the caller.
        let team = unsafe { &*(tm as *const Self) };
        if team.is_gone.load(Ordering::Relaxed) {
            gone(routine, tm)
        }
        team
    }

    /// Its handle.
    pub fn handle(&self) -> Tm {
        ptr::from_ref(self) as Tm
    }

    /// Members.
    #[inline]
    pub fn size(&self) -> Rank {
        match &self.members {
            Members::Strided { size, .. } => *size,
            Members::List(list) => list.len() as Rank,
        }
    }

    /// This member.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// A member.
    #[inline(always)]
    pub fn member(&self, rank: Rank) -> Option<Peer> {
        match &self.members {
            Members::Strided { start, stride, size } => {
                (rank < *size).then(|| Peer { pe: (start + rank * stride) as i32, ep: 0 })
            }
            Members::List(list) => list.get(rank as usize).copied(),
        }
    }

    /// First PE, stride and members, where they are primordial endpoints of a run of PEs.
    pub fn run(&self) -> Option<(u32, u32, u32)> {
        match self.members {
            Members::Strided { start, stride, size } => Some((start, stride, size)),
            Members::List(_) => None,
        }
    }

    /// The rank of the first endpoint of a process.
    pub fn rank_of(&self, pe: Rank) -> Option<Rank> {
        match &self.members {
            Members::Strided { start, stride, size } => {
                let offset = pe.checked_sub(*start)?;
                (offset.is_multiple_of(*stride) && offset / stride < *size).then_some(offset / stride)
            }
            Members::List(list) => list.iter().position(|peer| peer.pe == pe as i32).map(|rank| rank as Rank),
        }
    }

    /// The number of a collective that begins.
    pub fn next_collective(&self) -> u32 {
        self.collectives.fetch_add(1, Ordering::Relaxed)
    }

    /// The id of a team that is made of this one: all who call, in the same order, compute the same.
    fn child_id(&self, made: u32, members: &[Peer]) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.id, made).hash(&mut hasher);
        members.iter().for_each(|peer| (peer.pe, peer.ep).hash(&mut hasher));
        hasher.finish()
    }
}

#[cold]
fn gone(routine: &'static str, tm: Tm) -> ! {
    refuse(routine, format!("tm = {tm:#x} was destroyed"))
}

#[cold]
fn no_team(routine: &'static str, tm: Tm) -> ! {
    let why = if tm == 0 { "tm is GEX_TM_INVALID" } else { "tm is a pair of endpoints: the call takes a team" };
    refuse(routine, why)
}

/// The remote endpoint's number, where a handle is that of a pair.
#[inline(always)]
pub fn pair_index(tm: Tm) -> Option<EpIndex> {
    (tm & 1 != 0).then_some((tm >> 32) as EpIndex)
}

/// `gex_TM_Pair`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_Pair(local: *const Endpoint, remote: EpIndex) -> Tm {
    let local = Endpoint::of("gex_TM_Pair", local);
    usize::from(remote) << 32 | usize::from(local.index) << 16 | 1
}

/// Bytes that are asked for as scratch space: the library needs none, and clients must give some.
const SCRATCH: usize = 64;
const SIZES: Flags = flag::TM_SCRATCH_SIZE_RECOMMENDED | flag::TM_SCRATCH_SIZE_MIN;

fn scratch(addr: *mut c_void, bytes: usize, flags: Flags) -> Option<Memvec> {
    (flags & flag::TM_NO_SCRATCH == 0 && !addr.is_null()).then_some(Memvec { addr, len: bytes })
}

/// `gex_TM_Split`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_TM_Split(
    new_p: *mut Tm,
    parent: Tm,
    color: c_int,
    key: c_int,
    scratch_addr: *mut c_void,
    scratch_size: usize,
    flags: Flags,
) -> usize {
    const R: &str = "gex_TM_Split";
    unrestricted(R);
    let parent = Team::of(R, parent);
    if flags & SIZES != 0 {
        return if new_p.is_null() { 0 } else { SCRATCH };
    }
    // Who makes no team may give any color.
    if color < 0 && !new_p.is_null() {
        refuse(R, format!("color = {color}: expected 0 or more"))
    }
    let made = parent.made.fetch_add(1, Ordering::Relaxed);
    let mine: Vec<u8> = [i32::from(!new_p.is_null()), color, key].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let all = record::timed(op!(TM_SPLIT), -1, 0, 0, || coll::gather_all(R, parent, &mine));
    if new_p.is_null() {
        return 0;
    }
    let word = |bytes: &[u8], i: usize| i32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap_or_default());
    let mut chosen: Vec<(c_int, Rank)> = Vec::new();
    for (rank, theirs) in all.iter().enumerate().filter(|(_, theirs)| theirs.len() == 12) {
        if word(theirs, 0) == 1 && word(theirs, 1) == color {
            chosen.push((word(theirs, 2), rank as Rank));
        }
    }
    chosen.sort_unstable();
    let rank = chosen.iter().position(|(_, rank)| *rank == parent.rank).unwrap_or(0) as Rank;
    let members: Vec<Peer> = chosen.iter().filter_map(|(_, rank)| parent.member(*rank)).collect();
    let id = parent.child_id(made, &members);
    let scratch = scratch(scratch_addr, scratch_size, flags);
    let team = Team::make(id, Members::new(members), rank, parent.endpoint, flags, scratch);
    // SAFETY: a place for the handle, says the caller.
    unsafe { new_p.write(team.handle()) };
    0
}

/// The process and endpoint of a location.
fn located(routine: &'static str, parent: &Team, location: &Location, flags: Flags) -> Peer {
    let pe = if flags & flag::RANK_IS_JOBRANK != 0 {
        (location.rank < runtime::map().npes as u32).then_some(location.rank as i32)
    } else {
        parent.member(location.rank).map(|peer| peer.pe)
    };
    let pe = pe.unwrap_or_else(|| refuse(routine, format!("args names rank {}, which is none", location.rank)));
    Peer { pe, ep: location.index }
}

/// A barrier over each of these teams, all at once: a process may be several members of one.
fn synchronize(routine: &'static str, teams: &[&'static Team]) {
    let mut under_way: Vec<Barrier> = teams.iter().map(|team| Barrier::new(team, Name::Anonymous).0).collect();
    let advance = |under_way: &mut Vec<Barrier>| {
        under_way.retain_mut(|barrier| !barrier.advance());
        under_way.is_empty()
    };
    progress::until_of(routine, &mut under_way, advance, |under_way| under_way.first().and_then(coll::whom));
}

/// `gex_TM_Create`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_TM_Create(
    new_p: *mut Tm,
    new_count: usize,
    parent: Tm,
    args: *const Location,
    count: usize,
    scratch_addrs: *const *mut c_void,
    scratch_size: usize,
    flags: Flags,
) -> usize {
    const R: &str = "gex_TM_Create";
    unrestricted(R);
    let parent = Team::of(R, parent);
    if flags & SIZES != 0 {
        return if count == 0 { 0 } else { SCRATCH };
    }
    let made = parent.made.fetch_add(1, Ordering::Relaxed);
    if count == 0 {
        return 0;
    }
    let most = runtime::map().npes as usize * MAX_EPS;
    if count > most {
        refuse(R, format!("numargs = {count}: the job has {most} endpoints at most"))
    }
    // SAFETY: as many locations, says the caller.
    let args = unsafe { std::slice::from_raw_parts(args, count) };
    let members: Vec<Peer> = args.iter().map(|location| located(R, parent, location, flags)).collect();
    let me = runtime::map().me;
    let mine: Vec<usize> = (0..count).filter(|rank| members[*rank].pe == me).collect();
    if mine.len() != new_count {
        refuse(R, format!("num_new_tms = {new_count}: args names {} endpoints of this process", mine.len()))
    }
    let id = parent.child_id(made, &members);
    let mut made_here = Vec::with_capacity(count.min(mine.len()));
    for (i, rank) in mine.iter().enumerate() {
        let Some(endpoint) = Endpoint::numbered(members[*rank].ep) else {
            refuse(R, format!("args names endpoint {} of this process, which it has not", members[*rank].ep))
        };
        let place = match flags {
            _ if flags & flag::TM_NO_SCRATCH != 0 || scratch_addrs.is_null() => None,
            _ if flags & flag::TM_LOCAL_SCRATCH != 0 => Some(i),
            _ if flags & flag::TM_GLOBAL_SCRATCH != 0 => Some(*rank),
            _ => Some(0),
        };
        // SAFETY: as many addresses as the flag says, and places for as many handles.
        unsafe {
            let scratch = place.and_then(|at| scratch(*scratch_addrs.add(at), scratch_size, flags));
            let team = Team::make(id, Members::new(members.clone()), *rank as Rank, endpoint, flags, scratch);
            new_p.add(i).write(team.handle());
            made_here.push(team);
        }
    }
    record::timed(op!(TM_CREATE), -1, 0, 0, || {
        if flags & flag::TM_LOCAL_SCRATCH != 0 {
            synchronize(R, &made_here);
        }
    });
    0
}

/// `gex_TM_Destroy`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_TM_Destroy(tm: Tm, scratch_p: *mut Memvec, _: Flags) -> c_int {
    const R: &str = "gex_TM_Destroy";
    unrestricted(R);
    let team = Team::of(R, tm);
    if ptr::eq(team, start::client().team) {
        refuse(R, "the primordial team stays")
    }
    let scratch = team.scratch.filter(|_| !scratch_p.is_null());
    if let Some(scratch) = scratch {
        // SAFETY: a place for it, says the caller.
        unsafe { scratch_p.write(scratch) };
    }
    team.run.size.store(0, Ordering::Relaxed);
    team.is_gone.store(true, Ordering::Relaxed);
    // SAFETY: made by `Team::make`, and quiet: the caller uses it no more.
    let team = unsafe { Box::from_raw(tm as *mut Team) };
    let mut gone = GONE.lock().unwrap_or_else(PoisonError::into_inner);
    gone.push_back(team);
    if gone.len() > MOST_GONE {
        gone.pop_front();
    }
    scratch.is_some().into()
}

/// `gex_TM_QueryClient`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_QueryClient(tm: Tm) -> *const Client {
    Team::of("gex_TM_QueryClient", tm);
    start::client()
}

/// `gex_TM_QueryEP`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_QueryEP(tm: Tm) -> *const Endpoint {
    Team::of("gex_TM_QueryEP", tm).endpoint
}

/// `gex_TM_QueryFlags`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_QueryFlags(tm: Tm) -> Flags {
    Team::of("gex_TM_QueryFlags", tm).flags
}

/// `gex_TM_QueryRank`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_QueryRank(tm: Tm) -> Rank {
    Team::of("gex_TM_QueryRank", tm).rank
}

/// `gex_TM_QuerySize`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_QuerySize(tm: Tm) -> Rank {
    Team::of("gex_TM_QuerySize", tm).size()
}

fn member(routine: &'static str, tm: Tm, rank: Rank) -> Peer {
    let team = Team::of(routine, tm);
    let found = team.member(rank);
    found.unwrap_or_else(|| {
        refuse(routine, format!("rank = {rank} is no rank of the team: it has {} members", team.size()))
    })
}

/// `gex_TM_TranslateRankToJobrank`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_TranslateRankToJobrank(tm: Tm, rank: Rank) -> Rank {
    const R: &str = "gex_TM_TranslateRankToJobrank";
    unrestricted(R);
    member(R, tm, rank).pe as Rank
}

/// `gex_TM_TranslateJobrankToRank`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_TranslateJobrankToRank(tm: Tm, jobrank: Rank) -> Rank {
    const R: &str = "gex_TM_TranslateJobrankToRank";
    unrestricted(R);
    Team::of(R, tm).rank_of(jobrank).unwrap_or(RANK_INVALID)
}

/// `gex_TM_TranslateRankToEP`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_TranslateRankToEP(tm: Tm, rank: Rank, _: Flags) -> Location {
    const R: &str = "gex_TM_TranslateRankToEP";
    unrestricted(R);
    let peer = member(R, tm, rank);
    Location { rank: peer.pe as Rank, index: peer.ep }
}

/// `gex_TM_SetCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_SetCData(tm: Tm, value: *const c_void) {
    Team::of("gex_TM_SetCData", tm).cdata.store(value.cast_mut(), Ordering::Release);
}

/// `gex_TM_QueryCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_TM_QueryCData(tm: Tm) -> *mut c_void {
    Team::of("gex_TM_QueryCData", tm).cdata.load(Ordering::Acquire)
}
