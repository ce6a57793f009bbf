//! Collectives on active sets: the deprecated ones with `PE_start`, `logPE_stride`, `PE_size` and a `pSync` array, and
//! those on explicit sets of any PEs.
//!
//! A set that is the whole world uses the world team, unless several threads of a PE may be in calls. Any other meets
//! in the caller's `pSync`, whose words are zero (`SHMEM_SYNC_VALUE`) between calls: word 0 on the set's first PE
//! counts arrivals, word 1 on each PE lets it go, words 2 and 3 say how much each gives, and from where. A set with PEs
//! on several hosts meets by messages.
#![allow(unsafe_code)]

use super::check::{
    Arg, check_collected, check_matching, common_arguments, meeting, memory_of, operation, place, place_of_source,
};
use super::contribution::Kind;
use super::gather::rotated;
use super::inter_host::{FlatCall, Strided};
use super::kernel::Kernel;
use super::nonblocking;
use super::{alltoall as team_alltoall, broadcast as team_broadcast, gather, reduce as team_reduce};
use crate::base::{Cause, Fault, threads};
use crate::context::order;
use crate::os::wait;
use crate::team::aset::Aset;
use crate::team::pe_list::PeList;
use crate::team::{Handle, World, finalizing};
use crate::transport::shm::copy::copy;
use std::sync::atomic::{AtomicU64, Ordering};

/// The PEs and the work array that every call gives.
#[derive(Debug, Clone, Copy)]
pub enum ActiveSet<'a> {
    /// As the specification has it.
    Triplet {
        /// World number of the first PE.
        start: i32,
        /// Binary logarithm of the distance between PEs.
        log_stride: i32,
        /// PEs.
        size: i32,
        /// Symmetric work array of longs.
        psync: *mut i64,
    },
    /// A set that was made before, with its work array.
    Explicit(&'a Aset, *mut i64),
}

/// The set of a call, from its arguments.
#[inline(always)]
pub const fn set(start: i32, log_stride: i32, size: i32, psync: *mut i64) -> ActiveSet<'static> {
    ActiveSet::Triplet { start, log_stride, size, psync }
}

/// A checked set that is not the world.
pub(super) struct Set<'w> {
    pub(super) w: &'w World,
    pub(super) pes: PeList,
    pub(super) size: i32,
    pub(super) me: i32,
    pub(super) psync: *mut i64,
    /// Whether it has PEs on other hosts. Its calls are messages then, and the work array is not used.
    spans_hosts: bool,
    /// Different for all groups of a job.
    key: u64,
}

const PSYNC_BYTES: usize = 4 * 8;

impl ActiveSet<'_> {
    fn size(&self) -> i32 {
        match self {
            Self::Triplet { size, .. } => *size,
            Self::Explicit(aset, _) => aset.pes.size() as i32,
        }
    }
}

/// Whether a set of all PEs can be the world team: with several threads, each has a `pSync` of its own, and none of
/// them may be mixed up with another or with a call on the world. The same on all PEs, whichever levels they have.
fn is_world_team() -> bool {
    !threads::are_several()
}

/// `None`: the set is the world.
fn check<'w>(w: &'w World, set: ActiveSet<'_>) -> Result<Option<Set<'w>>, Fault> {
    w.map.ready()?;
    let set = match set {
        ActiveSet::Triplet { start, log_stride, size, psync } => triplet(w, start, log_stride, size, psync)?,
        ActiveSet::Explicit(aset, psync) => explicit(w, aset, psync)?,
    };
    if let Some(set) = &set
        && !set.spans_hosts
    {
        set.check_psync()?;
    }
    Ok(set)
}

fn triplet(w: &World, start: i32, log_stride: i32, size: i32, psync: *mut i64) -> Result<Option<Set<'_>>, Fault> {
    let bad = |arg, value: i32, expected| Err(Fault::from(Cause::BadValue { arg, value: value.into(), expected }));
    if !(0..31).contains(&log_stride) {
        return bad("logPE_stride", log_stride, "0 to 30");
    }
    let stride = 1i64 << log_stride;
    if size < 1 {
        return bad("PE_size", size, "at least 1");
    }
    let last = i64::from(start) + stride * i64::from(size - 1);
    if start < 0 || last >= i64::from(w.map.npes) {
        return Err(Fault::from(Cause::BadPe { arg: "last PE of the active set", pe: last, npes: w.map.npes.into() }));
    }
    if size == w.map.npes && is_world_team() {
        // The work array is not used: programs that have it on the stack run, unless checks are asked for.
        if w.map.check {
            w.map.local("pSync", psync, PSYNC_BYTES)?;
        }
        return Ok(None);
    }
    w.map.local("pSync", psync, PSYNC_BYTES)?;
    let offset = i64::from(w.map.me - start);
    if offset < 0 || offset % stride != 0 || offset / stride >= size.into() {
        return Err(Fault::from(Cause::NotInActiveSet { start, log_stride, size, pe: w.map.me }));
    }
    let local = |pe: i64| ((pe as i32).wrapping_sub(w.map.first_pe) as u32) < w.map.local_pes;
    // The last PE is one of the job: the product has 31 bits at most.
    let shape = ((size as u64 - 1) << (log_stride + 1)) | 1 << log_stride;
    Ok(Some(Set {
        w,
        pes: PeList::Strided { start, stride: stride as i32, size: size as usize },
        size,
        me: (offset / stride) as i32,
        psync,
        spans_hosts: !(local(start.into()) && local(last)),
        key: 1 << 63 | nonblocking::with_psync(w, (start as u64) << 32 | shape, psync) >> 1,
    }))
}

fn explicit<'w>(w: &'w World, aset: &Aset, psync: *mut i64) -> Result<Option<Set<'w>>, Fault> {
    w.map.local("pSync", psync, PSYNC_BYTES)?;
    let size = aset.pes.size();
    let me = aset.me.ok_or_else(|| Fault::from(Cause::NotInSet { size, pe: w.map.me }))?;
    if aset.is_world && is_world_team() {
        return Ok(None);
    }
    Ok(Some(Set {
        w,
        pes: aset.pes.clone(),
        size: size as i32,
        me: me as i32,
        psync,
        spans_hosts: aset.spans_hosts,
        key: nonblocking::key_of_set(w, aset, psync),
    }))
}

impl<'w> Set<'w> {
    /// The call as one of a group on several hosts, where the set is one.
    fn inter_host(&self, goes_one_way: bool) -> Option<FlatCall<'w>> {
        self.spans_hosts.then(|| FlatCall::begin(self.w, self.pes.clone(), self.me as usize, self.key, goes_one_way))
    }

    /// World number of a member.
    #[inline]
    pub(super) fn world(&self, member: i32) -> i32 {
        self.pes.world(member as usize)
    }

    fn of<T>(&self, arg: &'static str, addr: *const T, bytes: usize, member: i32) -> Result<*mut T, Fault> {
        self.w.map.remote(arg, addr, bytes, self.world(member))
    }

    pub(super) fn word(&self, index: usize, member: i32) -> Result<&AtomicU64, Fault> {
        let at = self.of("pSync", self.psync.wrapping_add(index), 8, member)?;
        // SAFETY: mapped, and a long of the work array is accessed by these routines only while a call is under way.
        Ok(unsafe { AtomicU64::from_ptr(at.cast()) })
    }

    /// Compares a call with those of the other members, where `SHMEM_DEBUG` asks for it.
    #[inline(always)]
    fn check_matching<const N: usize>(&self, kind: Kind, args: impl FnOnce() -> [(Arg, u64); N]) -> Result<(), Fault> {
        if self.w.map.alert.load(Ordering::Relaxed) { self.look(kind, &args()) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn look(&self, kind: Kind, args: &[(Arg, u64)]) -> Result<(), Fault> {
        if let Some(fault) = self.w.map.lost_among(self.pes.iter()) {
            return Err(fault);
        }
        if self.w.map.check && !self.spans_hosts { self.compare(kind, args) } else { Ok(()) }
    }

    /// A work array that was never initialized, or that another call still uses, would let members go at once or never.
    fn check_psync(&self) -> Result<(), Fault> {
        let arrivals = self.word(0, 0)?.load(Ordering::Relaxed);
        let go = self.word(1, self.me)?.load(Ordering::Relaxed);
        for (arg, value, most) in [("pSync[0]", arrivals, self.size as u64 - 1), ("pSync[1]", go, 0)] {
            if value > most {
                let expected = "SHMEM_SYNC_VALUE in all elements, and no other call that uses the array";
                return Err(Fault::from(Cause::BadValue { arg, value: value as i64, expected }));
            }
        }
        Ok(())
    }

    /// A fault where one of some members is in `shmem_finalize`, or any is lost.
    #[cold]
    fn gone(&self, members: std::ops::Range<i32>) -> Option<Fault> {
        if let Some(fault) = self.w.map.lost_among(self.pes.iter()) {
            return Some(fault);
        }
        let mut pes = members.map(|member| self.world(member));
        pes.find(|pe| finalizing::is_finalizing(self.w, *pe)).map(|pe| Fault::from(Cause::Finalizing { pe }))
    }

    /// Returns when every member is here. The words are zero again when this PE leaves.
    pub(super) fn synchronize(&self) -> Result<(), Fault> {
        let oversubscribed = self.w.map.oversubscribed;
        let arrivals = self.word(0, 0)?;
        if self.me == 0 {
            let others = self.size as u64 - 1;
            let all = || (arrivals.load(Ordering::Acquire) == others).then_some(());
            // Nobody leaves this meeting before this PE lets it: who is in finalize has not come.
            wait::until_or(oversubscribed, all, || self.gone(1..self.size))?;
            arrivals.store(0, Ordering::Relaxed);
            for member in 1..self.size {
                self.word(1, member)?.store(1, Ordering::Release);
            }
        } else {
            arrivals.fetch_add(1, Ordering::AcqRel);
            let go = self.word(1, self.me)?;
            let free = || (go.load(Ordering::Acquire) == 1).then_some(());
            // Who has let this PE go may be in finalize already.
            wait::until_or(oversubscribed, free, || self.gone(0..1).filter(|_| free().is_none()))?;
            go.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Completes all stores and waits for the set.
pub fn barrier(w: &World, set: ActiveSet<'_>) -> Result<(), Fault> {
    w.map.ready()?;
    let later = order::quiet_before(&w.map)?;
    synchronize(w, set, true)?;
    order::told(later)
}

/// Waits for the set.
pub fn sync(w: &World, set: ActiveSet<'_>) -> Result<(), Fault> {
    synchronize(w, set, false)
}

/// As [`sync`]; `completes`: in a barrier.
pub(super) fn synchronize(w: &World, set: ActiveSet<'_>, completes: bool) -> Result<(), Fault> {
    match check(w, set)? {
        None => {
            check_matching(w, &w.world, Kind::Barrier, || meeting(completes))?;
            super::barrier::sync(w, &w.world)?;
        }
        Some(set) => {
            set.check_matching(Kind::Barrier, || meeting(completes))?;
            match set.inter_host(false) {
                Some(call) => call.run(call.barrier())?,
                None => set.synchronize()?,
            }
        }
    }
    Ok(())
}

/// Copies from member `root` to all others; the root's own `dest` is not written.
pub fn broadcast(
    w: &World,
    active: ActiveSet<'_>,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
) -> Result<(), Fault> {
    if root as u32 >= active.size() as u32 {
        return Err(Fault::from(Cause::BadPe { arg: "PE_root", pe: root.into(), npes: active.size().into() }));
    }
    let Some(set) = check(w, active)? else {
        return team_broadcast::run(w, &w.world, dest, source, bytes, root, false);
    };
    set.check_matching(Kind::Broadcast, move || {
        let [size, to, from] = common_arguments(w, dest, source, bytes);
        [size, (Arg::Number("PE_root"), root as u64), to, from]
    })?;
    if bytes == 0 {
        return Ok(());
    }
    w.map.local("dest", dest, bytes)?;
    if let Some(call) = set.inter_host(true) {
        w.map.local("source", source, bytes)?;
        return call.run(call.broadcast(dest, source, bytes, root));
    }
    set.synchronize()?;
    if set.me != root {
        // SAFETY: both were checked for `bytes` bytes.
        unsafe { copy(dest, set.of("source", source, bytes, root)?, bytes) };
    }
    set.synchronize()
}

/// Concatenates `bytes` bytes of each member.
pub fn fcollect(w: &World, active: ActiveSet<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
    let Some(set) = check(w, active)? else {
        return gather::fcollect(w, Handle::WORLD, dest, source, bytes).map(drop);
    };
    set.check_matching(Kind::Fcollect, move || common_arguments(w, dest, source, bytes))?;
    if bytes == 0 {
        return Ok(());
    }
    w.map.local("dest", dest, bytes.saturating_mul(set.size as usize))?;
    if let Some(call) = set.inter_host(false) {
        w.map.local("source", source, bytes)?;
        return call.run(call.fcollect(dest, source, bytes));
    }
    set.synchronize()?;
    for member in rotated(set.me, set.size) {
        let from = set.of("source", source, bytes, member)?;
        // SAFETY: both were checked.
        unsafe { copy(dest.wrapping_add(member as usize * bytes), from, bytes) };
    }
    set.synchronize()
}

/// Concatenates what each member gives; sizes may differ and be 0.
pub fn collect(w: &World, active: ActiveSet<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
    let Some(set) = check(w, active)? else {
        return gather::collect(w, Handle::WORLD, dest, source, bytes).map(drop);
    };
    set.check_matching(Kind::Collect, move || [(Arg::Object("dest"), place(&w.map, dest))])?;
    if let Some(call) = set.inter_host(false) {
        if bytes > 0 {
            w.map.local("source", source, bytes)?;
        }
        return call.run(call.collect(dest, source, bytes));
    }
    if bytes > 0 {
        w.map.local("source", source, bytes)?;
        set.word(3, set.me)?.store(place_of_source(&w.map, source), Ordering::Relaxed);
    }
    set.word(2, set.me)?.store(bytes as u64, Ordering::Release);
    set.synchronize()?;
    if w.map.check {
        let sizes = (0..set.size).map(|member| Ok(set.word(2, member)?.load(Ordering::Acquire) as usize));
        check_collected(&w.map, dest, sizes.sum::<Result<usize, Fault>>()?)?;
    }
    let mut offset = 0usize;
    for member in 0..set.size {
        let count = set.word(2, member)?.load(Ordering::Acquire) as usize;
        if count == 0 {
            continue;
        }
        let to = dest.wrapping_add(offset);
        w.map.local("dest", to, count)?;
        let place = set.word(3, member)?.load(Ordering::Relaxed);
        let from = memory_of(&w.map, "source", place, count, set.world(member))?;
        // SAFETY: both were checked.
        unsafe { copy(to, from, count) };
        offset += count;
    }
    set.synchronize()?;
    set.word(2, set.me)?.store(0, Ordering::Release);
    set.word(3, set.me)?.store(0, Ordering::Release);
    Ok(())
}

/// Block `i` of each member's `source` goes to member `i`.
pub fn alltoall(w: &World, active: ActiveSet<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
    let Some(set) = check(w, active)? else {
        return team_alltoall::alltoall(w, Handle::WORLD, dest, source, bytes).map(drop);
    };
    set.check_matching(Kind::Alltoall, move || common_arguments(w, dest, source, bytes))?;
    if bytes == 0 {
        return Ok(());
    }
    let total = bytes.saturating_mul(set.size as usize);
    w.map.local("dest", dest, total)?;
    if let Some(call) = set.inter_host(false) {
        w.map.local("source", source, total)?;
        return call.run(call.alltoall(dest, source, bytes));
    }
    set.synchronize()?;
    for member in rotated(set.me, set.size) {
        let from = set.of("source", source, total, member)?.wrapping_add(set.me as usize * bytes);
        // SAFETY: both were checked for `total` bytes.
        unsafe { copy(dest.wrapping_add(member as usize * bytes), from, bytes) };
    }
    set.synchronize()
}

/// As [`alltoall`], strided.
#[allow(clippy::too_many_arguments)] // the specification's own list
pub fn alltoalls(
    w: &World,
    active: ActiveSet<'_>,
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    nelems: usize,
    elem: usize,
) -> Result<(), Fault> {
    let Some(set) = check(w, active)? else {
        return team_alltoall::alltoalls(w, Handle::WORLD, dest, source, dst, sst, nelems, elem).map(drop);
    };
    set.check_matching(Kind::Alltoalls, move || {
        let [bytes, to, from] = common_arguments(w, dest, source, nelems.saturating_mul(elem));
        [bytes, (Arg::Number("dst"), dst as u64), (Arg::Number("sst"), sst as u64), to, from]
    })?;
    if nelems == 0 {
        return Ok(());
    }
    let count = nelems.saturating_mul(set.size as usize);
    w.map.local("dest", dest, team_alltoall::extent("dst", dst, count, elem)?)?;
    let reach = team_alltoall::extent("sst", sst, count, elem)?;
    if let Some(call) = set.inter_host(false) {
        w.map.local("source", source, reach)?;
        return call.run(call.alltoalls(dest, source, Strided { dst, sst, nelems, elem }));
    }
    set.synchronize()?;
    for member in rotated(set.me, set.size) {
        let from = set.of("source", source, reach, member)?;
        // SAFETY: both extents were checked.
        unsafe { team_alltoall::block(dest, from, dst, sst, nelems, elem, member as usize, set.me as usize) };
    }
    set.synchronize()
}

/// Combines elements of all members into `dest` on each; `dest` may be `source`.
pub fn reduce(
    w: &World,
    active: ActiveSet<'_>,
    dest: *mut u8,
    source: *const u8,
    nreduce: i32,
    kernel: Kernel,
) -> Result<(), Fault> {
    let nreduce = usize::try_from(nreduce).map_err(|_| {
        Fault::from(Cause::BadValue { arg: "nreduce", value: nreduce.into(), expected: "a count of at least 0" })
    })?;
    let Some(set) = check(w, active)? else {
        return team_reduce::reduce(w, Handle::WORLD, dest, source, nreduce, kernel).map(drop);
    };
    set.check_matching(Kind::Reduce, move || {
        let [size, to, from] = common_arguments(w, dest, source, nreduce.saturating_mul(kernel.elem));
        [size, operation(&kernel), to, from]
    })?;
    if nreduce == 0 {
        return Ok(());
    }
    let bytes = nreduce.saturating_mul(kernel.elem);
    w.map.local("dest", dest, bytes)?;
    w.map.local("source", source, bytes)?;
    if let Some(call) = set.inter_host(false) {
        return call.run(call.reduce(dest, source, nreduce, kernel));
    }
    set.synchronize()?;
    // Written before it is read, so not cleared.
    let mut result = Vec::<u128>::with_capacity(bytes.div_ceil(16));
    let result = result.as_mut_ptr().cast::<u8>();
    for member in 0..set.size {
        let theirs = set.of("source", source, bytes, member)?;
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source.
        unsafe { if member == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, nreduce) } }
    }
    set.synchronize()?;
    // Only now: `dest` may be the source that others were reading.
    // SAFETY: dest was checked.
    unsafe { copy(dest, result, bytes) };
    Ok(())
}
