//! Segments: memory that peers may reach, and where that of each peer is.
#![allow(unsafe_code)]

use crate::endpoint::Endpoint;
use crate::fail::{refuse, unrestricted};
use crate::start::{self, Client};
use crate::system::error;
use crate::team::Team;
use crate::types::{EpIndex, EventHandle, Flags, PAGE, Rank, Tm, code, flag};
use crate::{coll, op, place, record};
use pellucid_core::runtime;
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// A segment. One that was destroyed is known as such for a while, and then used again, unless an endpoint has it.
#[derive(Debug, Default)]
pub struct Segment {
    base: AtomicUsize,
    bytes: AtomicUsize,
    is_own: AtomicBool,
    /// Made by `gex_Segment_Attach`.
    is_attached: AtomicBool,
    is_bound: AtomicBool,
    is_gone: AtomicBool,
    cdata: AtomicPtr<c_void>,
}

/// First address and bytes.
type Extent = (usize, usize);

/// The segments of this process.
static LIVE: Mutex<Vec<Extent>> = Mutex::new(Vec::new());

/// What peers have published: process and endpoint.
static PUBLISHED: LazyLock<Mutex<HashMap<(i32, EpIndex), Extent>>> = LazyLock::new(Mutex::default);

/// Segments that were destroyed and have no endpoint, the oldest first.
static GONE: Mutex<VecDeque<&'static Segment>> = Mutex::new(VecDeque::new());
/// So many are kept as they are: whoever uses one of them is told that it was destroyed.
const KEPT: usize = 1024;

static ATTACHED: AtomicBool = AtomicBool::new(false);

fn gone() -> MutexGuard<'static, VecDeque<&'static Segment>> {
    GONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn live() -> MutexGuard<'static, Vec<Extent>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether memory lies in a segment of this process.
pub fn contains(addr: usize, bytes: usize) -> bool {
    let within = |(base, len): &Extent| {
        let offset = addr.wrapping_sub(*base);
        offset < *len && bytes <= *len - offset
    };
    bytes == 0 || live().iter().any(within)
}

impl Segment {
    fn make((base, bytes): Extent, is_own: bool, is_attached: bool) -> &'static Self {
        live().push((base, bytes));
        let mut gone = gone();
        let oldest = if gone.len() > KEPT { gone.pop_front() } else { None };
        drop(gone);
        let made = oldest.unwrap_or_else(|| Box::leak(Box::default()));
        made.base.store(base, Ordering::Relaxed);
        made.bytes.store(bytes, Ordering::Relaxed);
        made.is_own.store(is_own, Ordering::Relaxed);
        made.is_attached.store(is_attached, Ordering::Relaxed);
        made.cdata.store(ptr::null_mut(), Ordering::Relaxed);
        made.is_gone.store(false, Ordering::Release);
        made
    }

    fn extent(&self) -> Extent {
        (self.base.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Whether its memory is the library's.
    pub fn is_own(&self) -> bool {
        self.is_own.load(Ordering::Relaxed)
    }

    #[cold]
    fn refuse_gone(&self, routine: &'static str) -> ! {
        refuse(routine, format!("segment {self:p} was destroyed"))
    }

    /// An endpoint has it, and keeps it.
    pub fn note_endpoint(&self) {
        self.is_bound.store(true, Ordering::Release);
    }

    /// The segment that a handle names.
    pub fn of(routine: &'static str, handle: *const Self) -> &'static Self {
        // SAFETY: a handle that the library made, says the caller, or null.
        let segment = unsafe { handle.as_ref() }.unwrap_or_else(|| refuse(routine, "segment is GEX_SEGMENT_INVALID"));
        if segment.is_gone.load(Ordering::Acquire) {
            segment.refuse_gone(routine)
        }
        segment
    }
}

/// `gasnet_getMaxLocalSegmentSize`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_getMaxLocalSegmentSize() -> usize {
    unrestricted("gasnet_getMaxLocalSegmentSize");
    start::room()
}

/// `gasnet_getMaxGlobalSegmentSize`: the area is as large on every PE.
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_getMaxGlobalSegmentSize() -> usize {
    unrestricted("gasnet_getMaxGlobalSegmentSize");
    start::room()
}

/// A function of the client's that is told of its segment: address, bytes.
pub type Hook = Option<unsafe extern "C" fn(*mut c_void, usize)>;

unsafe extern "C" {
    /// Of the client's, or of `shim/hooks.c`.
    static gasnet_client_attach_hook: Hook;
}

/// Takes memory of different sizes on the PEs of the job and tells all of all. `None` where one has no room.
pub fn attach(routine: &'static str, team: &'static Team, bytes: usize) -> Option<&'static Segment> {
    let base = if bytes == 0 { ptr::null_mut() } else { start::allocate(bytes) };
    let fits = bytes == 0 || !base.is_null();
    let words = [base as usize, if fits { bytes } else { usize::MAX }];
    let mine: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let all = coll::gather_all(routine, team, &mine);
    let extents: Vec<Extent> = all.iter().map(|bytes| extent(bytes)).collect();
    if extents.iter().any(|extent| extent.1 == usize::MAX) {
        if !base.is_null() {
            start::release(base as usize);
        }
        return None;
    }
    // SAFETY: a variable of the client's, which it sets before, and a function that takes these.
    if let Some(hook) = unsafe { (&raw const gasnet_client_attach_hook).read() }.filter(|_| !base.is_null()) {
        // SAFETY: as above.
        unsafe { hook(base.cast(), bytes) };
    }
    let mut published = published();
    for (pe, extent) in extents.into_iter().enumerate().filter(|(_, extent)| extent.1 > 0) {
        published.insert((pe as i32, 0), extent);
    }
    drop(published);
    let segment = Segment::make((base as usize, bytes), true, true);
    if bytes > 0 {
        start::endpoint().bind(segment);
    }
    Some(segment)
}

fn published() -> MutexGuard<'static, HashMap<(i32, EpIndex), Extent>> {
    PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The segment that a PE has attached.
pub fn attached(pe: i32) -> Option<(usize, usize)> {
    published().get(&(pe, 0)).copied()
}

fn extent(bytes: &[u8]) -> Extent {
    let word =
        |at: usize| bytes.get(at..at + 8).map_or(0, |word| usize::from_ne_bytes(word.try_into().unwrap_or_default()));
    (word(0), word(8))
}

/// `gex_Segment_Attach`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Segment_Attach(segment_p: *mut *const Segment, tm: Tm, size: usize) -> c_int {
    const R: &str = "gex_Segment_Attach";
    unrestricted(R);
    let team = Team::of(R, tm);
    if !ptr::eq(team, start::client().team) {
        refuse(R, "tm is not the primordial team")
    }
    if size == 0 || !size.is_multiple_of(PAGE) {
        refuse(R, format!("size = {size}: expected a multiple of GASNET_PAGESIZE ({PAGE}), not 0"))
    }
    if ATTACHED.swap(true, Ordering::AcqRel) {
        refuse(R, "a process attaches one segment, and this one has")
    }
    let Some(segment) = record::timed(op!(SEGMENT_ATTACH), -1, 0, size, || attach(R, team, size)) else {
        // All PEs are told so, and may ask for less.
        ATTACHED.store(false, Ordering::Release);
        let why =
            format!("a PE has no room: {size} bytes here, of at most {} (GASNET_MAX_SEGSIZE sets that)", start::room());
        return error(R, code::RESOURCE, &why);
    };
    if !segment_p.is_null() {
        // SAFETY: a place for the handle, says the caller.
        unsafe { segment_p.write(segment) };
    }
    code::OK
}

/// `GEX_MK_HOST`
const HOST: usize = 1;

/// `gex_Segment_Create`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Segment_Create(
    segment_p: *mut *const Segment,
    _: *const Client,
    address: *mut c_void,
    length: usize,
    kind: usize,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_Segment_Create";
    unrestricted(R);
    if kind != HOST {
        return error(R, code::BAD_ARG, "kind is not GEX_MK_HOST, the only kind of memory that there is");
    }
    if length == 0 || flags != 0 {
        return error(R, code::BAD_ARG, "length is 0, or flags is not");
    }
    let is_own = address.is_null();
    let bytes = if is_own { length.checked_next_multiple_of(PAGE) } else { Some(length) };
    let Some(bytes) = bytes.filter(|bytes| (address as usize).checked_add(*bytes).is_some()) else {
        return error(R, code::BAD_ARG, &format!("length = {length}: no address space has so much"));
    };
    let base = if is_own { start::allocate(bytes) } else { address.cast() };
    if base.is_null() {
        return error(
            R,
            code::RESOURCE,
            &format!("no room for {length} bytes (GASNET_MAX_SEGSIZE sets how much there is)"),
        );
    }
    // SAFETY: a place for the handle, says the caller.
    unsafe { segment_p.write(Segment::make((base as usize, bytes), is_own, false)) };
    code::OK
}

/// `gex_Segment_Destroy`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_Destroy(segment: *const Segment, _: Flags) {
    const R: &str = "gex_Segment_Destroy";
    unrestricted(R);
    let segment = Segment::of(R, segment);
    if segment.is_attached.load(Ordering::Relaxed) {
        refuse(R, "the segment that gex_Segment_Attach made stays")
    }
    if segment.is_gone.swap(true, Ordering::AcqRel) {
        segment.refuse_gone(R)
    }
    let (base, bytes) = segment.extent();
    let mut all = live();
    if let Some(at) = all.iter().position(|extent| *extent == (base, bytes)) {
        all.swap_remove(at);
    }
    drop(all);
    if segment.is_own() {
        start::release(base);
    }
    if !segment.is_bound.load(Ordering::Acquire) {
        gone().push_back(segment);
    }
}

/// `gex_EP_PublishBoundSegment`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_EP_PublishBoundSegment(
    tm: Tm,
    eps: *const *const Endpoint,
    count: usize,
    _: Flags,
) -> c_int {
    const R: &str = "gex_EP_PublishBoundSegment";
    unrestricted(R);
    let team = Team::of(R, tm);
    // SAFETY: as many handles, says the caller.
    let eps = unsafe { if count == 0 { &[] } else { std::slice::from_raw_parts(eps, count) } };
    let mut mine = Vec::new();
    for ep in eps.iter().map(|ep| Endpoint::of(R, *ep)) {
        let Some(segment) = ep.segment() else { continue };
        let (base, bytes) = segment.extent();
        for word in [base, bytes, ep.index.into()] {
            mine.extend(word.to_ne_bytes());
        }
    }
    let all = record::timed(op!(PUBLISH), -1, 0, 0, || coll::gather_all(R, team, &mine));
    let mut published = published();
    for (rank, theirs) in all.iter().enumerate() {
        let pe = team.member(rank as Rank).map_or(-1, |peer| peer.pe);
        for record in theirs.chunks_exact(24) {
            let index = extent(&record[8..]).1 as EpIndex;
            published.insert((pe, index), extent(record));
        }
    }
    code::OK
}

/// What is known of the segment of a peer.
fn bound(routine: &'static str, tm: Tm, rank: Rank) -> Option<(place::Peer, Extent)> {
    let peer = place::peer(routine, tm, rank);
    let extent = published().get(&(peer.pe, peer.ep)).copied();
    extent.map(|extent| (peer, extent))
}

unsafe fn answer(
    found: Option<(place::Peer, Extent)>,
    owner: *mut *mut c_void,
    local: *mut *mut c_void,
    size: *mut usize,
) {
    let (owner_at, local_at, bytes) = match found {
        Some((peer, (base, bytes))) => {
            let local = if peer.ep == 0 || peer.pe == runtime::map().me {
                place::local_address(peer.pe, base, bytes)
            } else {
                ptr::null_mut()
            };
            (base as *mut c_void, local.cast::<c_void>(), bytes)
        }
        None => (ptr::null_mut(), ptr::null_mut(), 0),
    };
    // SAFETY: places for the answers or null, says the caller.
    unsafe {
        if !owner.is_null() {
            owner.write(owner_at);
        }
        if !local.is_null() {
            local.write(local_at);
        }
        if !size.is_null() {
            size.write(bytes);
        }
    }
}

/// `gex_EP_QueryBoundSegmentNB`: what is known is known at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_EP_QueryBoundSegmentNB(
    tm: Tm,
    rank: Rank,
    owner_p: *mut *mut c_void,
    local_p: *mut *mut c_void,
    size_p: *mut usize,
    flags: Flags,
) -> EventHandle {
    const R: &str = "gex_EP_QueryBoundSegmentNB";
    if flags & flag::IMMEDIATE == 0 {
        unrestricted(R);
    }
    let found = bound(R, tm, rank).or_else(|| own(R, tm, rank));
    // SAFETY: the caller's.
    unsafe { answer(found, owner_p, local_p, size_p) };
    0
}

/// The segment of an endpoint of this process, which need not be published.
fn own(routine: &'static str, tm: Tm, rank: Rank) -> Option<(place::Peer, Extent)> {
    let peer = place::peer(routine, tm, rank);
    let segment = Endpoint::numbered(peer.ep).filter(|_| peer.pe == runtime::map().me)?.segment()?;
    Some((peer, segment.extent()))
}

/// `gex_Segment_QueryBound`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Segment_QueryBound(
    tm: Tm,
    rank: Rank,
    owner_p: *mut *mut c_void,
    local_p: *mut *mut c_void,
    size_p: *mut usize,
) -> c_int {
    const R: &str = "gex_Segment_QueryBound";
    unrestricted(R);
    let found = bound(R, tm, rank).or_else(|| own(R, tm, rank));
    if found.is_none() {
        return 1;
    }
    // SAFETY: the caller's.
    unsafe { answer(found, owner_p, local_p, size_p) };
    0
}

/// `gex_Segment_QueryClient`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_QueryClient(_: *const Segment) -> *const Client {
    start::client()
}

/// `gex_Segment_QueryFlags`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_QueryFlags(_: *const Segment) -> Flags {
    0
}

/// `gex_Segment_QueryAddr`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_QueryAddr(segment: *const Segment) -> *mut c_void {
    Segment::of("gex_Segment_QueryAddr", segment).extent().0 as *mut c_void
}

/// `gex_Segment_QuerySize`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_QuerySize(segment: *const Segment) -> usize {
    Segment::of("gex_Segment_QuerySize", segment).extent().1
}

/// `gex_Segment_SetCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_SetCData(segment: *const Segment, value: *const c_void) {
    Segment::of("gex_Segment_SetCData", segment).cdata.store(value.cast_mut(), Ordering::Release);
}

/// `gex_Segment_QueryCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Segment_QueryCData(segment: *const Segment) -> *mut c_void {
    Segment::of("gex_Segment_QueryCData", segment).cdata.load(Ordering::Acquire)
}
