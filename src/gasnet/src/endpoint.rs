//! Endpoints: the primordial one, which has active messages, and further ones for memory.
#![allow(unsafe_code)]

use crate::fail::{refuse, unrestricted};
use crate::segment::Segment;
use crate::start::{self, Client};
use crate::system::error;
use crate::types::{EpIndex, Flags, MAX_EPS, code};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

/// What endpoints can do: `GEX_EP_CAPABILITY_*`.
const AM: u32 = 1 << 1;
const ALL: u32 = 0x1f;

/// An endpoint, never given back.
#[derive(Debug)]
pub struct Endpoint {
    /// Its number; 0: the primordial one.
    pub index: EpIndex,
    flags: Flags,
    cdata: AtomicPtr<c_void>,
    segment: AtomicPtr<Segment>,
}

/// The endpoints of this process.
static ALL_OF_THEM: Mutex<Vec<&'static Endpoint>> = Mutex::new(Vec::new());
static NEXT: AtomicU16 = AtomicU16::new(1);

impl Endpoint {
    fn make(index: EpIndex, flags: Flags) -> &'static Self {
        let made = Self { index, flags, cdata: AtomicPtr::default(), segment: AtomicPtr::default() };
        let made: &'static Self = Box::leak(Box::new(made));
        ALL_OF_THEM.lock().unwrap_or_else(PoisonError::into_inner).push(made);
        made
    }

    /// The endpoint of this process with a number.
    pub fn numbered(index: EpIndex) -> Option<&'static Self> {
        let all = ALL_OF_THEM.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().copied().find(|ep| ep.index == index)
    }

    /// The one that a client begins with.
    pub fn primordial() -> &'static Self {
        Self::make(0, 0)
    }

    /// Its segment.
    pub fn segment(&self) -> Option<&'static Segment> {
        // SAFETY: null, or a segment; those are never given back to the system.
        unsafe { self.segment.load(Ordering::Acquire).as_ref() }
    }

    /// Gives it a segment; false where it has one.
    pub fn bind(&self, segment: &'static Segment) -> bool {
        let new = ptr::from_ref(segment).cast_mut();
        segment.note_endpoint();
        self.segment.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The endpoint that a handle names.
    pub fn of(routine: &'static str, handle: *const Self) -> &'static Self {
        // SAFETY: a handle that the library made, says the caller, or null.
        unsafe { handle.as_ref() }.unwrap_or_else(|| refuse(routine, "ep is GEX_EP_INVALID"))
    }
}

/// `gex_EP_Create`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_EP_Create(
    ep_p: *mut *const Endpoint,
    _: *const Client,
    capabilities: u32,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_EP_Create";
    unrestricted(R);
    if capabilities & ALL == 0 || capabilities & !ALL != 0 {
        return error(R, code::BAD_ARG, "capabilities is not made of GEX_EP_CAPABILITY_ values");
    }
    if capabilities & AM != 0 {
        return error(R, code::BAD_ARG, "only the primordial endpoint has active messages");
    }
    let taken = NEXT
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| (usize::from(next) < MAX_EPS).then_some(next + 1));
    let Ok(index) = taken else { return error(R, code::RESOURCE, "a process has GASNET_MAXEPS endpoints at most") };
    // SAFETY: a place for the handle, says the caller.
    unsafe { ep_p.write(Endpoint::make(index, flags)) };
    code::OK
}

/// `gex_EP_BindSegment`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_BindSegment(ep: *const Endpoint, segment: *const Segment, _: Flags) -> c_int {
    const R: &str = "gex_EP_BindSegment";
    unrestricted(R);
    let ep = Endpoint::of(R, ep);
    let segment = Segment::of(R, segment);
    if ep.index == 0 && !segment.is_own() {
        return error(R, code::BAD_ARG, "memory of the client's own is for endpoints that gex_EP_Create has made");
    }
    if !ep.bind(segment) {
        return error(R, code::BAD_ARG, "the endpoint has a segment already");
    }
    code::OK
}

/// `gex_EP_QueryClient`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_QueryClient(_: *const Endpoint) -> *const Client {
    start::client()
}

/// `gex_EP_QueryFlags`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_QueryFlags(ep: *const Endpoint) -> Flags {
    Endpoint::of("gex_EP_QueryFlags", ep).flags
}

/// `gex_EP_QuerySegment`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_QuerySegment(ep: *const Endpoint) -> *const Segment {
    Endpoint::of("gex_EP_QuerySegment", ep).segment.load(Ordering::Acquire)
}

/// `gex_EP_QueryIndex`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_QueryIndex(ep: *const Endpoint) -> EpIndex {
    Endpoint::of("gex_EP_QueryIndex", ep).index
}

/// `gex_EP_SetCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_SetCData(ep: *const Endpoint, value: *const c_void) {
    Endpoint::of("gex_EP_SetCData", ep).cdata.store(value.cast_mut(), Ordering::Release);
}

/// `gex_EP_QueryCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_EP_QueryCData(ep: *const Endpoint) -> *mut c_void {
    Endpoint::of("gex_EP_QueryCData", ep).cdata.load(Ordering::Acquire)
}
