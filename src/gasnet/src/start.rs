//! Start-up: joining the job, and the area of the symmetric heap in which clients' segments lie.
#![allow(unsafe_code)]

use crate::am::handler;
use crate::endpoint::Endpoint;
use crate::fail::{need, refuse};
use crate::team::Team;
use crate::types::{Flags, PAGE, Rank};
use crate::{coll, hosts};
use pellucid_core::base::env;
use pellucid_core::memory::allocator::Allocator;
use pellucid_core::memory::heap;
use pellucid_core::os::mmap;
use pellucid_core::{collectives, runtime};
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What the client may do from several threads; the library of each mode has its own entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One thread.
    Seq,
    /// One thread at a time.
    Parsync,
    /// Any.
    Par,
}

/// The client of this process.
#[derive(Debug)]
pub struct Client {
    /// As it named itself.
    pub name: CString,
    /// As it was made.
    pub flags: Flags,
    /// Its mode.
    pub mode: Mode,
    /// The client's data.
    pub cdata: AtomicPtr<c_void>,
    /// The primordial endpoint.
    pub endpoint: &'static Endpoint,
    /// The primordial team.
    pub team: &'static Team,
    heap: SegmentHeap,
    /// First addresses of the PEs' heaps, where they are not all the same.
    bases: Option<Vec<usize>>,
    /// The number of each PE's host ([`crate::hosts`]).
    pub hosts: Vec<Rank>,
}

/// The part of the symmetric heap that clients' segments are taken from. Each PE has its own books of its own part.
#[derive(Debug)]
struct SegmentHeap {
    base: usize,
    books: Mutex<Allocator>,
}

static CLIENT: OnceLock<Client> = OnceLock::new();
/// [`Client::bases`], where there is one: looked at by every transfer.
static BASES: AtomicPtr<Vec<usize>> = AtomicPtr::new(std::ptr::null_mut());
static READY: AtomicBool = AtomicBool::new(false);

/// Bytes of segments at most, unless `GASNET_MAX_SEGSIZE` says otherwise. Memory that nobody touches is none.
const SEGMENT: u64 = 1 << 30;
/// Bytes of symmetric heap that stay for OpenSHMEM.
const REST: u64 = 64 << 20;
/// The heap has as many bytes more, in case the area does not begin where the heap does.
const SLACK: usize = 2 * PAGE;
/// In front of the area: what exits count ([`crate::exit`]).
pub const HEAD: usize = PAGE;

/// Whether there is a client.
#[inline(always)]
pub fn is_initialized() -> bool {
    READY.load(Ordering::Relaxed)
}

/// The client.
pub fn client() -> &'static Client {
    CLIENT.get().unwrap_or_else(|| refuse("gex_Client_Init", "there is no client yet"))
}

/// The primordial endpoint.
pub fn endpoint() -> &'static Endpoint {
    client().endpoint
}

/// First addresses of the PEs' heaps, where they are not all the same.
#[inline(always)]
pub fn heap_bases() -> Option<&'static [usize]> {
    // SAFETY: null, or the client's list, which stays.
    unsafe { BASES.load(Ordering::Acquire).as_ref().map(Vec::as_slice) }
}

fn books(client: &Client) -> MutexGuard<'_, Allocator> {
    client.heap.books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory for a segment: page-aligned, at least as many bytes. Null where there is no room.
pub fn allocate(bytes: usize) -> *mut u8 {
    let client = client();
    let Some(at) = books(client).allocate(bytes, PAGE) else { return std::ptr::null_mut() };
    let start = client.heap.base + at;
    mmap::dump(start, bytes, true);
    start as *mut u8
}

/// Gives memory of [`allocate`] back.
pub fn release(at: usize) {
    let client = client();
    let _ = books(client).release(at - client.heap.base);
}

/// Bytes of a segment at most.
pub fn room() -> usize {
    books(client()).room().largest & !(PAGE - 1)
}

/// A word in front of the area, as the address that it has on this PE and, as an object, on every one.
pub fn word(index: usize) -> *mut AtomicU64 {
    (client().heap.base - HEAD + index * 64) as *mut AtomicU64
}

/// Begins: the job, the area, the primordial endpoint and team. Collective over the job.
pub fn begin(routine: &'static str, name: CString, flags: Flags, mode: Mode) -> &'static Client {
    if CLIENT.get().is_some() {
        refuse(routine, "there is a client already: a process has one")
    }
    check_alone(routine);
    crate::settings::check(routine);
    let most = crate::settings::max_segment(routine);
    if !runtime::query_initialized() {
        crate::local_job::begin_again_if_asked(routine);
        env::prefer_symmetric_size(most.unwrap_or(SEGMENT).saturating_add(REST + (HEAD + SLACK) as u64));
    }
    let level = match mode {
        Mode::Seq => 0,
        Mode::Parsync => 2,
        Mode::Par => 3,
    };
    need(routine, sma::init::init_within(level));
    if runtime::map().losses.is_some() {
        refuse(routine, "this job goes on without PEs that are lost (oshrun --survive), which GASNet-EX cannot")
    }
    if crate::settings::is_on("GASNET_BACKTRACE") {
        runtime::show_stack_at_faults();
    }
    crate::settings::tell();
    handler::register_own();
    runtime::advance_in_waits(coll::advance_in_waits);
    crate::asked::begin(runtime::map().npes);
    runtime::messages().observe(crate::record::waits_for_room);
    let heap = segment_heap(routine, most);
    let map = runtime::map();
    let endpoint = Endpoint::primordial();
    let team = Team::world(endpoint, map.npes as u32, map.me as u32);
    let (bases, hosts) = bases_and_hosts(routine, team);
    let client = Client { name, flags, mode, cdata: AtomicPtr::default(), endpoint, team, heap, bases, hosts };
    let client = CLIENT.get_or_init(|| client);
    if let Some(bases) = &client.bases {
        BASES.store(std::ptr::from_ref(bases).cast_mut(), Ordering::Release);
    }
    need(routine, collectives::barrier_all(runtime::world()));
    if mode == Mode::Seq {
        crate::fail::only_this_thread();
    }
    crate::exit::tell_by_quit();
    crate::exit::end_with_the_process();
    READY.store(true, Ordering::Release);
    client
}

/// Takes most of what the heap has left, where that is not more than clients are to have.
fn segment_heap(routine: &'static str, most: Option<u64>) -> SegmentHeap {
    let free = runtime::memory::largest_gap();
    let rest = (REST as usize).min(free / 4);
    let left = free.saturating_sub(rest + SLACK) & !(PAGE - 1);
    let most = most.map_or(usize::MAX, |most| (most as usize).saturating_add(HEAD));
    let bytes = left.min(most).max(HEAD + PAGE);
    heap::note_allocator(bytes);
    let base = need(routine, runtime::memory::align(PAGE, bytes));
    if base.is_null() {
        refuse(
            routine,
            "the symmetric heap has no room for a segment: SHMEM_SYMMETRIC_SIZE or GASNET_MAX_SEGSIZE has to be larger",
        )
    }
    // Core files have the segments that are made of it.
    mmap::dump(base as usize, bytes, false);
    let books = Mutex::new(Allocator::new(bytes - HEAD));
    SegmentHeap { base: base as usize + HEAD, books }
}

/// Heaps are at one address where the kernel allows; where not, each PE has to know all. With that go the hosts.
fn bases_and_hosts(routine: &'static str, team: &'static Team) -> (Option<Vec<usize>>, Vec<Rank>) {
    let mine = [runtime::map().heap_base as u64, hosts::identity()];
    let mine: Vec<u8> = mine.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let all = coll::gather_all(routine, team, &mine);
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_ne_bytes(*word))
    };
    let bases: Vec<usize> = all.iter().map(|bytes| word(bytes, 0) as usize).collect();
    let identities: Vec<u64> = all.iter().map(|bytes| word(bytes, 8)).collect();
    let differ = bases.iter().any(|base| *base != runtime::map().heap_base);
    (differ.then_some(bases), hosts::number(&identities))
}

/// This library holds OpenSHMEM, too. A libsma of Pellucid's in front of it would be another job.
fn check_alone(routine: &'static str) {
    let Some(other) = sma::stack::copies::in_front() else { return };
    let name = other.name().map_or("the program".into(), std::ffi::CStr::to_string_lossy);
    refuse(
        routine,
        format!(
            "the program finds shmem_ routines in {name} first: libgasnet-pellucid has them too, and is to be linked \
             before it (or instead)"
        ),
    )
}
