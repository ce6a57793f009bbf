//! Vectors, index lists and strides: runs of bytes that are contiguous on both sides are put or got one by one.
#![allow(unsafe_code)]

use crate::am::{handler, limits, number};
use crate::event::{Counted, Slot};
use crate::fail::{need, refuse, unrestricted};
use crate::types::{EVENT_INVALID, EventHandle, Flags, Memvec, Rank, Tm, category};
use crate::{nbi, op, place, record, rma, thread};
use pellucid_core::am::Message;
use pellucid_core::runtime;
use pellucid_profile::op::Operation;
use std::ffi::{c_int, c_void};

/// `GEX_VIS_MAX_PEERCOMPLETION`
const MAX_COMPLETION: usize = 256;

/// What the next VIS put of a thread tells its peer.
#[derive(Debug)]
pub struct PeerCompletion {
    handler: u8,
    source: *const c_void,
    bytes: usize,
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Put,
    Get,
}

/// A run on both sides: here, at the peer, bytes.
type Run = (*mut u8, *mut u8, usize);

/// Calls `each` with the runs of two lists of blocks that hold as many bytes.
fn zip(
    routine: &'static str,
    here: impl Iterator<Item = (*mut u8, usize)>,
    there: impl Iterator<Item = (*mut u8, usize)>,
    mut each: impl FnMut(Run),
) {
    let (mut here, mut there) = (here.filter(|block| block.1 > 0), there.filter(|block| block.1 > 0));
    let (mut a, mut b) = (here.next(), there.next());
    loop {
        match (a, b) {
            (Some((local, local_bytes)), Some((remote, remote_bytes))) => {
                let bytes = local_bytes.min(remote_bytes);
                each((local, remote, bytes));
                a = if bytes < local_bytes {
                    Some((local.wrapping_add(bytes), local_bytes - bytes))
                } else {
                    here.next()
                };
                b = if bytes < remote_bytes {
                    Some((remote.wrapping_add(bytes), remote_bytes - bytes))
                } else {
                    there.next()
                };
            }
            (None, None) => return,
            _ => refuse(routine, "source and destination do not have as many bytes"),
        }
    }
}

/// Moves runs to or from a peer. `counted` is asked for where something is not complete at once.
fn transfer(
    routine: &'static str,
    way: Way,
    pe: i32,
    runs: impl FnOnce(&mut dyn FnMut(Run)),
    counted: &mut dyn FnMut() -> &'static Counted,
) {
    runs(&mut |(local, remote, bytes)| {
        // SAFETY: the lists are the client's, who keeps their memory until the operation is complete.
        unsafe {
            match way {
                Way::Put => rma::put(routine, pe, remote, local, bytes, &mut *counted),
                Way::Get => rma::get(routine, pe, local, remote, bytes, &mut *counted),
            };
        }
    });
}

/// How the client hears of the completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Blocking,
    Event,
    Implicit,
}

/// An operation: what is recorded of it, which way its bytes go, how its client hears of the completion.
#[derive(Clone, Copy)]
struct Kind<O> {
    op: O,
    routine: &'static str,
    way: Way,
    how: How,
}

/// A VIS operation on so many bytes, from its runs on.
fn operate<O: Operation>(
    kind: Kind<O>,
    (tm, rank): (Tm, Rank),
    bytes: usize,
    runs: impl FnOnce(&mut dyn FnMut(Run)),
) -> EventHandle {
    unrestricted(kind.routine);
    let pe = place::peer(kind.routine, tm, rank).pe;
    record::timed(kind.op, pe, 0, bytes, || operate_on(kind.routine, kind.way, kind.how, pe, runs))
}

fn operate_on(
    routine: &'static str,
    way: Way,
    how: How,
    pe: i32,
    runs: impl FnOnce(&mut dyn FnMut(Run)),
) -> EventHandle {
    // Gets have none: the next operation, whichever it is, disarms it.
    let completion = take_completion().filter(|_| way == Way::Put);
    if how == How::Implicit && completion.is_none() {
        let category = if way == Way::Put { category::PUT } else { category::GET };
        transfer(routine, way, pe, runs, &mut || nbi::counted(category));
        return EVENT_INVALID;
    }
    let slot = rma::with_slot(|slot| {
        transfer(routine, way, pe, runs, slot);
        false
    });
    match (slot, how, completion) {
        (slot, _, Some(completion)) => {
            // The peer is told of data that is there.
            if let Some(slot) = slot {
                slot.finish(routine, (pe, 0));
            }
            tell(routine, pe, &completion);
            EVENT_INVALID
        }
        (Some(slot), How::Blocking, None) => {
            slot.finish(routine, (pe, 0));
            EVENT_INVALID
        }
        (slot, _, None) => slot.map_or(EVENT_INVALID, Slot::root),
    }
}

/// What the next VIS operation of the thread tells its peer, which is then disarmed.
pub fn take_completion() -> Option<Box<PeerCompletion>> {
    let thread = thread::get();
    let taken = std::mem::replace(&mut thread.completion, std::ptr::null_mut());
    // SAFETY: what `gex_VIS_SetPeerCompletionHandler` has left here, once.
    (!taken.is_null()).then(|| unsafe { Box::from_raw(taken) })
}

/// `gex_VIS_SetPeerCompletionHandler`
#[unsafe(no_mangle)]
pub extern "C" fn gex_VIS_SetPeerCompletionHandler(handler: u8, source: *const c_void, bytes: usize, _: Flags) {
    const R: &str = "gex_VIS_SetPeerCompletionHandler";
    unrestricted(R);
    drop(take_completion());
    if bytes > MAX_COMPLETION {
        refuse(R, format!("nbytes = {bytes}: at most {MAX_COMPLETION} are possible"))
    }
    if handler != 0 {
        thread::get().completion = Box::into_raw(Box::new(PeerCompletion { handler, source, bytes }));
        thread::release_at_exit();
    }
}

fn tell(routine: &'static str, pe: i32, completion: &PeerCompletion) {
    debug_assert!(MAX_COMPLETION <= limits::medium(routine, pe));
    let data = match completion.bytes {
        0 => &[],
        // SAFETY: the client keeps it until the operation is complete.
        bytes => unsafe { std::slice::from_raw_parts(completion.source.cast::<u8>(), bytes) },
    };
    let args = [i32::from(completion.handler)];
    need(routine, runtime::messages().request_medium(pe, number::VIS_DONE, &args, data));
}

/// A peer tells of a put of its own.
pub fn completion_arrives(message: &mut Message<'_>, _: usize) {
    let Some(index) = message.args().first().and_then(|index| u8::try_from(*index).ok()) else {
        refuse("gex_VIS", format!("a message of rank {} is damaged", message.source()))
    };
    let (data, bytes) = (message.payload_address(), message.payload().len());
    handler::run_completion(index, message, data.cast(), bytes);
}

/// # Safety
/// As many blocks.
unsafe fn vector<'a>(list: *const Memvec, count: usize) -> impl Iterator<Item = (*mut u8, usize)> + 'a {
    // SAFETY: the caller's.
    let list: &'a [Memvec] = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(list, count) } };
    list.iter().map(|block| (block.addr.cast(), block.len))
}

/// Bytes of so many blocks of one length; all that a number can say where they are more, as with [`bytes_of`].
const fn indexed_bytes(count: usize, len: usize) -> usize {
    count.saturating_mul(len)
}

// This package has no unit tests, since the library that is linked from it needs a job: checked where it is compiled.
const _: () = assert!(indexed_bytes(3, 5) == 15 && indexed_bytes(2, usize::MAX / 2 + 1) == usize::MAX);

/// # Safety
/// As many blocks.
unsafe fn bytes_of(list: *const Memvec, count: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { vector(list, count) }.fold(0, |all, block| all.saturating_add(block.1))
}

/// # Safety
/// As many addresses.
unsafe fn indexed<'a>(
    list: *const *mut c_void,
    count: usize,
    bytes: usize,
) -> impl Iterator<Item = (*mut u8, usize)> + 'a {
    // SAFETY: the caller's.
    let list: &'a [*mut c_void] = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(list, count) } };
    list.iter().map(move |addr| (addr.cast(), bytes))
}

/// A strided region, from the contiguous elements up.
struct Strided<'a> {
    here: (*mut u8, &'a [isize]),
    there: (*mut u8, &'a [isize]),
    bytes: usize,
    count: &'a [usize],
}

impl Strided<'_> {
    /// Calls `each` with the runs; dimensions that continue each other on both sides are one run.
    fn runs(&self, each: &mut dyn FnMut(Run)) {
        let (mut bytes, mut first) = (self.bytes, 0);
        while first < self.count.len() {
            let adjoins = |strides: &[isize]| strides[first] == bytes as isize;
            if self.count[first] != 1 && !(adjoins(self.here.1) && adjoins(self.there.1)) {
                break;
            }
            bytes *= self.count[first];
            first += 1;
        }
        self.walk(self.count.len(), first, (self.here.0, self.there.0), bytes, each);
    }

    fn walk(
        &self,
        level: usize,
        first: usize,
        (here, there): (*mut u8, *mut u8),
        bytes: usize,
        each: &mut dyn FnMut(Run),
    ) {
        if level == first {
            return each((here, there, bytes));
        }
        let (local, remote) = (self.here.1[level - 1], self.there.1[level - 1]);
        for i in 0..self.count[level - 1] as isize {
            let at = (here.wrapping_offset(i * local), there.wrapping_offset(i * remote));
            self.walk(level - 1, first, at, bytes, each);
        }
    }
}

/// # Safety
/// As many entries.
unsafe fn entries<'a, T>(list: *const T, count: usize) -> &'a [T] {
    // SAFETY: the caller's.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(list, count) } }
}

unsafe fn strided<O: Operation>(
    kind: Kind<O>,
    peer: (Tm, Rank),
    here: (*mut c_void, *const isize),
    there: (*mut c_void, *const isize),
    bytes: usize,
    (count, levels): (*const usize, usize),
) -> EventHandle {
    // SAFETY: as many counts as levels, says the caller, and where there are no bytes, nothing.
    let counts = if bytes == 0 { &[] } else { unsafe { entries(count, levels) } };
    // Then no other argument means anything, the peer neither: there is nobody to tell.
    if bytes == 0 || counts.contains(&0) {
        unrestricted(kind.routine);
        drop(take_completion());
        return EVENT_INVALID;
    }
    // SAFETY: as many strides as levels, says the caller.
    let (here, there) =
        unsafe { ((here.0.cast(), entries(here.1, levels)), (there.0.cast(), entries(there.1, levels))) };
    let count = counts;
    let region = Strided { here, there, bytes, count };
    let all = count.iter().fold(bytes, |all, count| all.saturating_mul(*count));
    operate(kind, peer, all, |each| region.runs(each))
}

macro_rules! entries {
    ($($how:ident, $result:ty, $vector_put:ident $vp:ident, $vector_get:ident $vg:ident,
       $indexed_put:ident $ip:ident, $indexed_get:ident $ig:ident,
       $strided_put:ident $sp:ident, $strided_get:ident $sg:ident;)*) => { $(
        #[doc = concat!("`", stringify!($vector_put), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $vector_put(
            tm: Tm, rank: Rank, dst_count: usize, dst: *const Memvec, src_count: usize, src: *const Memvec, _: Flags,
        ) -> $result {
            let kind = Kind { op: op!($vp), routine: stringify!($vector_put), way: Way::Put, how: How::$how };
            // SAFETY: lists of as many blocks, says the caller; so below.
            let (here, there) = unsafe { (vector(src, src_count), vector(dst, dst_count)) };
            // SAFETY: see above.
            let bytes = unsafe { bytes_of(src, src_count) };
            operate(kind, (tm, rank), bytes, |each| zip(kind.routine, here, there, each)) as $result
        }

        #[doc = concat!("`", stringify!($vector_get), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $vector_get(
            tm: Tm, dst_count: usize, dst: *const Memvec, rank: Rank, src_count: usize, src: *const Memvec, _: Flags,
        ) -> $result {
            let kind = Kind { op: op!($vg), routine: stringify!($vector_get), way: Way::Get, how: How::$how };
            // SAFETY: see above.
            let (here, there) = unsafe { (vector(dst, dst_count), vector(src, src_count)) };
            // SAFETY: see above.
            let bytes = unsafe { bytes_of(src, src_count) };
            operate(kind, (tm, rank), bytes, |each| zip(kind.routine, here, there, each)) as $result
        }

        #[doc = concat!("`", stringify!($indexed_put), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $indexed_put(
            tm: Tm, rank: Rank, dst_count: usize, dst: *const *mut c_void, dst_len: usize,
            src_count: usize, src: *const *mut c_void, src_len: usize, _: Flags,
        ) -> $result {
            let kind = Kind { op: op!($ip), routine: stringify!($indexed_put), way: Way::Put, how: How::$how };
            // SAFETY: see above.
            let (here, there) = unsafe { (indexed(src, src_count, src_len), indexed(dst, dst_count, dst_len)) };
            let bytes = indexed_bytes(src_count, src_len);
            operate(kind, (tm, rank), bytes, |each| zip(kind.routine, here, there, each)) as $result
        }

        #[doc = concat!("`", stringify!($indexed_get), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $indexed_get(
            tm: Tm, dst_count: usize, dst: *const *mut c_void, dst_len: usize,
            rank: Rank, src_count: usize, src: *const *mut c_void, src_len: usize, _: Flags,
        ) -> $result {
            let kind = Kind { op: op!($ig), routine: stringify!($indexed_get), way: Way::Get, how: How::$how };
            // SAFETY: see above.
            let (here, there) = unsafe { (indexed(dst, dst_count, dst_len), indexed(src, src_count, src_len)) };
            let bytes = indexed_bytes(src_count, src_len);
            operate(kind, (tm, rank), bytes, |each| zip(kind.routine, here, there, each)) as $result
        }

        #[doc = concat!("`", stringify!($strided_put), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $strided_put(
            tm: Tm, rank: Rank, dst: *mut c_void, dst_strides: *const isize,
            src: *mut c_void, src_strides: *const isize,
            bytes: usize, count: *const usize, levels: usize, _: Flags,
        ) -> $result {
            let (here, there) = ((src, src_strides), (dst, dst_strides));
            let kind = Kind { op: op!($sp), routine: stringify!($strided_put), way: Way::Put, how: How::$how };
            // SAFETY: see above.
            unsafe { strided(kind, (tm, rank), here, there, bytes, (count, levels)) as $result }
        }

        #[doc = concat!("`", stringify!($strided_get), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $strided_get(
            tm: Tm, dst: *mut c_void, dst_strides: *const isize, rank: Rank,
            src: *mut c_void, src_strides: *const isize,
            bytes: usize, count: *const usize, levels: usize, _: Flags,
        ) -> $result {
            let (here, there) = ((dst, dst_strides), (src, src_strides));
            let kind = Kind { op: op!($sg), routine: stringify!($strided_get), way: Way::Get, how: How::$how };
            // SAFETY: see above.
            unsafe { strided(kind, (tm, rank), here, there, bytes, (count, levels)) as $result }
        }
    )* };
}

entries! {
    Blocking, c_int, gex_VIS_VectorPutBlocking VECTOR_PUT_BLOCKING, gex_VIS_VectorGetBlocking VECTOR_GET_BLOCKING,
        gex_VIS_IndexedPutBlocking INDEXED_PUT_BLOCKING, gex_VIS_IndexedGetBlocking INDEXED_GET_BLOCKING,
        gex_VIS_StridedPutBlocking STRIDED_PUT_BLOCKING, gex_VIS_StridedGetBlocking STRIDED_GET_BLOCKING;
    Event, EventHandle, gex_VIS_VectorPutNB VECTOR_PUT_NB, gex_VIS_VectorGetNB VECTOR_GET_NB,
        gex_VIS_IndexedPutNB INDEXED_PUT_NB, gex_VIS_IndexedGetNB INDEXED_GET_NB,
        gex_VIS_StridedPutNB STRIDED_PUT_NB, gex_VIS_StridedGetNB STRIDED_GET_NB;
    Implicit, c_int, gex_VIS_VectorPutNBI VECTOR_PUT_NBI, gex_VIS_VectorGetNBI VECTOR_GET_NBI,
        gex_VIS_IndexedPutNBI INDEXED_PUT_NBI, gex_VIS_IndexedGetNBI INDEXED_GET_NBI,
        gex_VIS_StridedPutNBI STRIDED_PUT_NBI, gex_VIS_StridedGetNBI STRIDED_GET_NBI;
}
