//! The GASNet-1 interface: what its header cannot do by calls of the GASNet-EX interface.
#![allow(unsafe_code)]

use crate::am::handler;
use crate::endpoint::Endpoint;
use crate::fail::{Section, refuse, unrestricted};
use crate::place::{self, Place};
use crate::rma;
use crate::segment::{self, Segment};
use crate::start::{self, Client, Mode};
use crate::types::{AmEntry, Rank, Tm, code, flag};
use crate::{coll, hosts, op, record, system, thread};
use pellucid_core::runtime;
use pellucid_profile::recorder::Stamp;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// `gasnet_handlerentry_t`
#[derive(Debug)]
#[repr(C)]
pub struct HandlerEntry {
    index: u8,
    function: *const c_void,
}

fn init(mode: Mode) -> c_int {
    const R: &str = "gasnet_init";
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::AcqRel) {
        return system::error(R, code::RESOURCE, "it was called before");
    }
    let began = Stamp::now();
    NEEDS_ATTACH.store(true, Ordering::Relaxed);
    start::begin(R, c"GASNET1".to_owned(), flag::USES_GASNET1, mode);
    record::since(pellucid_profile::op::gasnet::GASNET_INIT, began);
    code::OK
}

macro_rules! entries {
    ($($name:ident, $mode:ident;)*) => { $(
        /// `gasnet_init` of a mode's library.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> c_int {
            init(Mode::$mode)
        }
    )* };
}

entries! {
    gasnet_init_of_the_SEQ_library, Seq;
    gasnet_init_of_the_PARSYNC_library, Parsync;
    gasnet_init_of_the_PAR_library, Par;
}

/// `gasnet_attach`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_attach(table: *mut HandlerEntry, count: c_int, bytes: usize, _offset: usize) -> c_int {
    const R: &str = "gasnet_attach";
    static DONE: AtomicBool = AtomicBool::new(false);
    if !start::is_initialized() {
        return system::error(R, code::NOT_INIT, "gasnet_init comes first");
    }
    unrestricted(R);
    if DONE.load(Ordering::Acquire) {
        return system::error(R, code::RESOURCE, "it was called before");
    }
    if !bytes.is_multiple_of(crate::types::PAGE) {
        return system::error(R, code::BAD_ARG, "segsize is no multiple of GASNET_PAGESIZE");
    }
    if DONE.swap(true, Ordering::AcqRel) {
        return system::error(R, code::RESOURCE, "it was called before");
    }
    // SAFETY: as many entries, says the caller.
    let given = unsafe { if count <= 0 { &mut [] } else { std::slice::from_raw_parts_mut(table, count as usize) } };
    let any = flag::AM_SHORT | flag::AM_MEDIUM | flag::AM_LONG | flag::AM_REQUEST | flag::AM_REPLY;
    let entry = |entry: &HandlerEntry| AmEntry {
        index: entry.index,
        function: entry.function,
        flags: any,
        nargs: handler::ANY_ARGS,
        cdata: ptr::null(),
        name: ptr::null(),
    };
    let mut entries: Vec<AmEntry> = given.iter().map(entry).collect();
    let team = start::client().team;
    let attach = || {
        segment::attach(R, team, bytes)?;
        let registered = handler::register(R, &mut entries);
        // Whoever has come back from here may send messages to all.
        coll::gather_all(R, team, &[]);
        Some(registered)
    };
    let Some(registered) = record::timed(op!(GASNET_ATTACH), -1, 0, bytes, attach) else {
        // All PEs are told so, and may ask for less.
        DONE.store(false, Ordering::Release);
        return system::error(
            R,
            code::RESOURCE,
            "a PE has no room for its segment (GASNET_MAX_SEGSIZE sets how much there is)",
        );
    };
    given.iter_mut().zip(&entries).for_each(|(given, entry)| given.index = entry.index);
    if registered == code::OK {
        NEEDS_ATTACH.store(false, Ordering::Relaxed);
    }
    registered
}

/// Set by `gasnet_init` and `gasnet_attach`.
static NEEDS_ATTACH: AtomicBool = AtomicBool::new(false);

/// Refuses a call between `gasnet_init` and `gasnet_attach`.
pub fn attached(routine: &'static str) {
    if NEEDS_ATTACH.load(Ordering::Relaxed) {
        refuse(
            routine,
            "called before gasnet_attach: until then gasnet_mynode, gasnet_nodes, gasnet_getMaxLocalSegmentSize, \
             gasnet_getMaxGlobalSegmentSize, gasnet_getenv and gasnet_exit may be",
        )
    }
}

/// `gasnet_hold_interrupts`: no handler interrupts anything here, and what the rules prohibit is told of.
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_hold_interrupts() {
    let thread = thread::get();
    if thread.locks > 0 || !thread.token.is_null() {
        return;
    }
    if thread.section == Section::NoInterrupt as u32 {
        refuse("gasnet_hold_interrupts", "called in a No-Interrupt Section: they do not nest")
    }
    if thread.restricted == 0 {
        thread.section = Section::NoInterrupt as u32;
        thread.restricted += 1;
    }
}

/// `gasnet_resume_interrupts`; in a handler, or with a lock, of no effect, as its counterpart.
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_resume_interrupts() {
    let thread = thread::get();
    if thread.section == Section::NoInterrupt as u32 && thread.locks == 0 {
        thread.section = Section::None as u32;
        thread.restricted -= 1;
    } else if thread.restricted == 0 {
        refuse("gasnet_resume_interrupts", "called without gasnet_hold_interrupts before")
    }
}

/// The team that GASNet-1 calls mean.
#[unsafe(no_mangle)]
pub extern "C" fn pellucid_gex_primordial_tm() -> Tm {
    attached("gasnet_");
    let client = start::client();
    if client.flags & flag::USES_GASNET1 == 0 {
        refuse("gasnet_", "GASNet-1 calls need gasnet_init, or GEX_FLAG_USES_GASNET1 at gex_Client_Init")
    }
    client.team.handle()
}

/// `gasnet_QueryGexObjects`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_QueryGexObjects(
    client_p: *mut *const Client,
    ep_p: *mut *const Endpoint,
    tm_p: *mut Tm,
    segment_p: *mut *const Segment,
) {
    let client = start::client();
    let segment = client.endpoint.segment().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: places for the answers or null, says the caller.
    unsafe {
        if !client_p.is_null() {
            client_p.write(client);
        }
        if !ep_p.is_null() {
            ep_p.write(client.endpoint);
        }
        if !tm_p.is_null() {
            tm_p.write(client.team.handle());
        }
        if !segment_p.is_null() {
            segment_p.write(segment);
        }
    }
}

/// `gasnet_getSegmentInfo`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_getSegmentInfo(table: *mut (usize, usize), count: c_int) -> c_int {
    unrestricted("gasnet_getSegmentInfo");
    attached("gasnet_getSegmentInfo");
    let npes = runtime::map().npes;
    for pe in 0..count.min(npes) {
        // SAFETY: as many entries, says the caller.
        unsafe { table.add(pe as usize).write(segment::attached(pe).unwrap_or_default()) };
    }
    code::OK
}

/// `gasnet_nodeinfo_t`
#[derive(Debug)]
#[repr(C)]
pub struct NodeInfo {
    host: Rank,
    supernode: Rank,
    offset: isize,
}

/// `gasnet_getNodeInfo`: PEs of a supernode share memory; where the segment of one of mine is mapped here, less where
/// it is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_getNodeInfo(table: *mut NodeInfo, count: c_int) -> c_int {
    unrestricted("gasnet_getNodeInfo");
    for pe in 0..count.min(runtime::map().npes) {
        let (host, supernode) = hosts::position(pe as Rank);
        let (base, bytes) = segment::attached(pe).unwrap_or_default();
        let local = place::local_address(pe, base, bytes) as usize;
        let offset = if local == 0 { 0 } else { local.wrapping_sub(base) as isize };
        // SAFETY: as many entries, says the caller.
        unsafe { table.add(pe as usize).write(NodeInfo { host, supernode, offset }) };
    }
    code::OK
}

/// `gasnet_memset`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_memset(node: Rank, dest: *mut c_void, value: c_int, bytes: usize) {
    const R: &str = "gasnet_memset";
    unrestricted(R);
    let pe = place::peer(R, pellucid_gex_primordial_tm(), node).pe;
    record::sized(op!(MEMSET), pe, dest as usize, bytes, || match place::locate(R, pe, dest.cast(), bytes.max(1)) {
        // SAFETY: mapped.
        Place::Here(at) => unsafe { at.write_bytes(value as u8, bytes) },
        _ => {
            let data = vec![value as u8; bytes];
            // SAFETY: the data live until the put is complete.
            let slot = rma::with_slot(|slot| unsafe { rma::put(R, pe, dest.cast(), data.as_ptr(), bytes, slot) });
            if let Some(slot) = slot {
                slot.finish(R, (pe, dest as usize));
            }
        }
    });
}

/// `gasnet_set_waitmode`: a hint; waits spin, yield and nap by themselves.
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_set_waitmode(mode: c_int) -> c_int {
    if (0..=2).contains(&mode) { code::OK } else { system::error("gasnet_set_waitmode", code::BAD_ARG, "no such mode") }
}
