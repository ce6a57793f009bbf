//! Spaces: symmetric memory of some PEs alone, apart from the heap (extensions, section 4.1).
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | handles; allocation, which all members of a space do alike |
//! | `create.rs` | what members agree on to make one: a number, an address, memory |
//! | `pages.rs` | the memory of the members of a host |
//!
//! What all members do is made known by words that each sends to each, as calls on files do; these words are the
//! meeting at the end of a call, too.

mod create;
mod pages;

pub use create::{SpaceConfig, create, create_aset};

use super::inter_host::FlatCall;
use super::nonblocking::{Members, complete};
use crate::base::slab::Slab;
use crate::base::{Cause, Fault};
use crate::bootstrap::job::Job;
use crate::context::order;
use crate::memory::allocator::GRANULE;
use crate::memory::spaces::{SPACES, Space};
use crate::team::World;
use crate::team::contribution::Kind;
use crate::team::pe_list::PeList;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

static OPEN: Slab<Arc<Open>, SPACES> = Slab::new();
/// The job's memory file.
static JOB: OnceLock<&'static Job> = OnceLock::new();

/// From now on spaces can be made, of memory of the job.
pub fn open(job: &'static Job) {
    let _ = JOB.set(job);
}

/// `shmemx_space_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct SpaceHandle(usize);

impl SpaceHandle {
    /// `SHMEMX_SPACE_INVALID`.
    pub const INVALID: Self = Self(0);
    /// `SHMEMX_SPACE_DEFAULT`: the symmetric heap.
    pub const DEFAULT: Self = Self(1);
}

/// The members of a space, or of one that is being made.
#[derive(Debug, Clone)]
struct Group {
    pes: PeList,
    me: usize,
    key: u64,
}

/// Set in the keys of groups, which have other collectives beside those on spaces.
const OF_SPACES: u64 = 1 << 60;

impl From<Members> for Group {
    fn from(members: Members) -> Self {
        Self { pes: members.pes, me: members.me, key: members.key ^ OF_SPACES }
    }
}

impl Group {
    /// Some words of each member, in order; all are in the call when it returns.
    fn exchange(&self, w: &'static World, kind: Kind, mine: Vec<u64>) -> Result<Vec<u64>, Fault> {
        let all = Arc::new(Mutex::new(Vec::new()));
        let result = all.clone();
        let call = FlatCall::begin(w, self.pes.clone(), self.me, self.key, false);
        let request = call.start(|call| async move {
            let words = call.words(0, kind, &mine).await?;
            *result.lock().unwrap_or_else(PoisonError::into_inner) = words;
            Ok(())
        })?;
        complete(w, Ok(Some(request)))?;
        Ok(std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The first member whose words differ from this one's, which `mine` says in words.
    fn same(&self, all: &[u64], count: usize, call: &str, mine: &str) -> Result<(), Fault> {
        let of = |member: usize| &all[count * member..][..count];
        match (0..self.pes.size()).find(|member| of(*member) != of(self.me)) {
            None => Ok(()),
            Some(member) => {
                let theirs = format!("{call} of another space, or with other arguments");
                Err(Fault::from(Cause::Mismatch { mine: mine.into(), theirs, pe: self.pes.world(member) }))
            }
        }
    }
}

/// A live space.
#[derive(Debug)]
struct Open {
    space: Arc<Space>,
    group: Group,
    /// What this PE has taken of the job's file for all members of its host; `None`: another one has, or they are in a
    /// file of their own.
    extent: Option<Range<usize>>,
}

#[inline]
#[allow(unsafe_code)]
fn get(handle: SpaceHandle) -> Result<Arc<Open>, Fault> {
    // SAFETY: it is counted once more and not used beyond that. A program does not destroy a space that another thread
    // is just giving to a call.
    unsafe { OPEN.get(handle.0) }.cloned().ok_or_else(|| unknown(handle))
}

/// The members of a space that this PE has, and what tells their group from others.
pub fn members(handle: SpaceHandle) -> Option<(PeList, u64)> {
    get(handle).ok().map(|open| (open.group.pes.clone(), open.group.key))
}

#[cold]
fn unknown(handle: SpaceHandle) -> Fault {
    Fault::from(Cause::BadSpace { handle: handle.0, gone: OPEN.was_used(handle.0) })
}

/// What a call on a space asks for.
#[derive(Debug, Clone, Copy)]
struct SpaceCall {
    kind: Kind,
    routine: &'static str,
    arguments: [u64; 2],
}

/// All members make the same call, and what they have stored before on their default contexts is there.
fn synchronize(w: &'static World, open: &Open, asked: SpaceCall) -> Result<(), Fault> {
    let later = order::quiet_before(&w.map)?;
    let [first, second] = asked.arguments;
    let words = vec![u64::from(open.space.segment.0), first, second];
    let all = open.group.exchange(w, asked.kind, words)?;
    let mine = format!("{} of space {:?} ({first}, {second})", asked.routine, open.space.name);
    open.group.same(&all, 3, asked.routine, &mine)?;
    order::tell(later);
    Ok(())
}

/// `size` bytes at a multiple of `align`; null where there is no room. 0 bytes: null, and no meeting.
fn allocate(w: &'static World, handle: SpaceHandle, size: usize, align: usize, zeroed: bool) -> Result<*mut u8, Fault> {
    let open = get(handle)?;
    if size == 0 {
        return Ok(null_mut());
    }
    let heap = &open.space.heap;
    let object = if zeroed { heap.allocate_zeroed(size) } else { heap.allocate(size, align) };
    let routine = if zeroed { "shmemx_space_calloc" } else { "shmemx_space_malloc" };
    synchronize(w, &open, SpaceCall { kind: Kind::SpaceMemory, routine, arguments: [size as u64, align as u64] })?;
    Ok(object)
}

/// `size` bytes of a space; null where there is no room.
pub fn malloc(w: &'static World, space: SpaceHandle, size: usize) -> Result<*mut u8, Fault> {
    allocate(w, space, size, GRANULE, false)
}

/// `count * size` zeroed bytes; null where there is no room or the product does not fit.
pub fn calloc(w: &'static World, space: SpaceHandle, count: usize, size: usize) -> Result<*mut u8, Fault> {
    allocate(w, space, count.saturating_mul(size), GRANULE, true)
}

/// `size` bytes at a multiple of `alignment`, which has been checked.
pub fn align(w: &'static World, space: SpaceHandle, alignment: usize, size: usize) -> Result<*mut u8, Fault> {
    allocate(w, space, size, alignment.max(GRANULE), false)
}

/// Gives an object a new size, as `shmem_realloc` does.
pub fn realloc(w: &'static World, handle: SpaceHandle, object: *mut u8, size: usize) -> Result<*mut u8, Fault> {
    if object.is_null() {
        return malloc(w, handle, size);
    }
    if size == 0 {
        return free(w, handle, object).map(|()| null_mut());
    }
    let open = get(handle)?;
    let at = object as usize;
    open.space.heap.check(at)?;
    let arguments = [(at - open.space.base) as u64, size as u64];
    let asked = SpaceCall { kind: Kind::SpaceMemory, routine: "shmemx_space_realloc", arguments };
    // What other members still do with it must be complete before it moves.
    synchronize(w, &open, asked)?;
    let object = open.space.heap.resize(at, size)?;
    synchronize(w, &open, asked)?;
    Ok(object)
}

/// Waits for all members, then releases an object. Null does nothing.
pub fn free(w: &'static World, handle: SpaceHandle, object: *mut u8) -> Result<(), Fault> {
    let open = get(handle)?;
    if object.is_null() {
        return Ok(());
    }
    let at = object as usize;
    open.space.heap.check(at)?;
    let arguments = [(at - open.space.base) as u64, 0];
    synchronize(w, &open, SpaceCall { kind: Kind::SpaceFree, routine: "shmemx_space_free", arguments })?;
    open.space.heap.release(at)
}

/// Ends a space on all members, with all that is allocated there.
pub fn destroy(w: &'static World, handle: SpaceHandle) -> Result<i32, Fault> {
    let open = get(handle)?;
    let asked = SpaceCall { kind: Kind::SpaceDestroy, routine: "shmemx_space_destroy", arguments: [0; 2] };
    let met = synchronize(w, &open, asked);
    // Where a member is lost, each of the others ends it alone; its memory stays for those that still use it.
    if met.as_ref().err().is_none_or(Fault::is_loss) {
        OPEN.remove(handle.0);
        end(w, &open, met.is_ok());
    }
    met.map(|()| 0)
}

/// Takes a space of this PE's down, and gives its memory back where nobody else uses it.
fn end(w: &World, open: &Open, is_unused: bool) {
    if let Some(transport) = w.map.transport {
        transport.deregister(open.space.segment);
    }
    if let Some(spaces) = w.map.spaces {
        spaces.remove(&open.space);
    }
    if is_unused {
        pages::give_back(open.extent.clone());
    }
}

/// The program's handle of the space that an address lies in.
pub fn of(w: &World, addr: usize) -> Option<SpaceHandle> {
    w.map.space_of(addr).map(|(_, space)| SpaceHandle(space.handle.load(Ordering::Relaxed)))
}

/// Ends all spaces: what a program leaves behind at its last finalize.
#[allow(unsafe_code)]
pub fn forget_all(w: &World) {
    let mut left = Vec::new();
    // SAFETY: they are counted once more. This is the last finalize, which no call of another thread meets.
    unsafe { OPEN.for_each(|open| left.push(open.clone())) };
    OPEN.clear();
    left.iter().for_each(|open| end(w, open, true));
}
