//! The inline functions of libfabric's headers: calls through the tables of a provider.
//!
//! # Safety
//! All are as safe as their C originals: objects are open, pointers point to what the manual page says, and buffers
//! live until the operation is complete.
#![allow(unsafe_code)]
// What each does is in libfabric's manual pages; what it needs is said above.
#![allow(missing_docs, clippy::missing_safety_doc)]

use crate::bindings::*;
use std::ffi::{c_int, c_void};
use std::ptr;

/// What a table of an older provider does not have.
const ENOSYS: isize = -(FI_ENOSYS as isize);

/// Calls an entry of a table with its own object as first argument.
macro_rules! call {
    ($object:expr, $table:ident . $entry:ident ( $($argument:expr),* )) => {{
        // SAFETY: the object is open, says the caller, so its table is there.
        let entry = unsafe { (*(*$object).$table).$entry };
        match entry {
            // SAFETY: the caller's.
            Some(entry) => unsafe { entry($object, $($argument),*) },
            None => ENOSYS as _,
        }
    }};
}

pub unsafe fn fi_close(object: *mut fid) -> c_int {
    call!(object, ops.close())
}

pub unsafe fn fi_control(object: *mut fid, command: u32, argument: *mut c_void) -> c_int {
    call!(object, ops.control(command as c_int, argument))
}

pub unsafe fn fi_domain(fabric: *mut fid_fabric, info: *mut fi_info, domain: *mut *mut fid_domain) -> c_int {
    call!(fabric, ops.domain(info, domain, ptr::null_mut()))
}

pub unsafe fn fi_trywait(fabric: *mut fid_fabric, fids: *mut *mut fid, count: c_int) -> c_int {
    call!(fabric, ops.trywait(fids, count))
}

pub unsafe fn fi_cq_open(domain: *mut fid_domain, attr: *mut fi_cq_attr, cq: *mut *mut fid_cq) -> c_int {
    call!(domain, ops.cq_open(attr, cq, ptr::null_mut()))
}

pub unsafe fn fi_av_open(domain: *mut fid_domain, attr: *mut fi_av_attr, av: *mut *mut fid_av) -> c_int {
    call!(domain, ops.av_open(attr, av, ptr::null_mut()))
}

pub unsafe fn fi_endpoint(domain: *mut fid_domain, info: *mut fi_info, ep: *mut *mut fid_ep) -> c_int {
    call!(domain, ops.endpoint(info, ep, ptr::null_mut()))
}

pub unsafe fn fi_query_atomic(
    domain: *mut fid_domain,
    datatype: fi_datatype,
    op: fi_op,
    attr: *mut fi_atomic_attr,
    flags: u64,
) -> c_int {
    // SAFETY: the domain is open, says the caller.
    if unsafe { (*(*domain).ops).size } <= std::mem::offset_of!(fi_ops_domain, query_atomic) {
        return ENOSYS as c_int;
    }
    call!(domain, ops.query_atomic(datatype, op, attr, flags))
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn fi_mr_reg(
    domain: *mut fid_domain,
    start: *const c_void,
    len: usize,
    access: u64,
    requested_key: u64,
    mr: *mut *mut fid_mr,
) -> c_int {
    // SAFETY: the domain is open, says the caller; its registration functions take its fid.
    unsafe {
        match (*(*domain).mr).reg {
            Some(reg) => reg(&raw mut (*domain).fid, start, len, access, 0, requested_key, 0, mr, ptr::null_mut()),
            None => ENOSYS as c_int,
        }
    }
}

/// Binds a region to an endpoint or an endpoint to a queue or an address vector.
pub unsafe fn fi_bind(object: *mut fid, to: *mut fid, flags: u64) -> c_int {
    call!(object, ops.bind(to, flags))
}

pub unsafe fn fi_enable(ep: *mut fid_ep) -> c_int {
    // SAFETY: an endpoint begins with its fid.
    unsafe { fi_control(&raw mut (*ep).fid, FI_ENABLE, ptr::null_mut()) }
}

pub unsafe fn fi_mr_enable(mr: *mut fid_mr) -> c_int {
    // SAFETY: a region begins with its fid.
    unsafe { fi_control(&raw mut (*mr).fid, FI_ENABLE, ptr::null_mut()) }
}

pub unsafe fn fi_getname(ep: *mut fid_ep, address: *mut c_void, len: *mut usize) -> c_int {
    // SAFETY: the endpoint is open, says the caller; its table takes its fid.
    unsafe {
        match (*(*ep).cm).getname {
            Some(getname) => getname(&raw mut (*ep).fid, address, len),
            None => ENOSYS as c_int,
        }
    }
}

pub unsafe fn fi_av_insert(av: *mut fid_av, address: *const c_void, count: usize, to: *mut fi_addr_t) -> c_int {
    call!(av, ops.insert(address, count, to, 0, ptr::null_mut()))
}

pub unsafe fn fi_av_lookup(av: *mut fid_av, of: fi_addr_t, address: *mut c_void, len: *mut usize) -> c_int {
    call!(av, ops.lookup(of, address, len))
}

pub unsafe fn fi_cq_read(cq: *mut fid_cq, entries: *mut c_void, count: usize) -> isize {
    call!(cq, ops.read(entries, count))
}

pub unsafe fn fi_cq_readerr(cq: *mut fid_cq, entry: *mut fi_cq_err_entry) -> isize {
    call!(cq, ops.readerr(entry, 0))
}

/// The provider's own text of an error, in a buffer of the caller's or of its own.
pub unsafe fn fi_cq_strerror(
    cq: *mut fid_cq,
    prov_errno: c_int,
    data: *const c_void,
    text: *mut std::ffi::c_char,
    len: usize,
) -> *const std::ffi::c_char {
    // SAFETY: the queue is open, says the caller.
    unsafe {
        match (*(*cq).ops).strerror {
            Some(strerror) => strerror(cq, prov_errno, data, text, len),
            None => ptr::null(),
        }
    }
}

pub unsafe fn fi_recv(
    ep: *mut fid_ep,
    start: *mut c_void,
    len: usize,
    desc: *mut c_void,
    context: *mut c_void,
) -> isize {
    call!(ep, msg.recv(start, len, desc, crate::FI_ADDR_UNSPEC, context))
}

pub unsafe fn fi_sendmsg(ep: *mut fid_ep, message: *const fi_msg, flags: u64) -> isize {
    call!(ep, msg.sendmsg(message, flags))
}

pub unsafe fn fi_inject(ep: *mut fid_ep, start: *const c_void, len: usize, to: fi_addr_t) -> isize {
    call!(ep, msg.inject(start, len, to))
}

pub unsafe fn fi_writemsg(ep: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    call!(ep, rma.writemsg(message, flags))
}

pub unsafe fn fi_readmsg(ep: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    call!(ep, rma.readmsg(message, flags))
}

pub unsafe fn fi_atomicmsg(ep: *mut fid_ep, message: *const fi_msg_atomic, flags: u64) -> isize {
    call!(ep, atomic.writemsg(message, flags))
}

pub unsafe fn fi_fetch_atomicmsg(
    ep: *mut fid_ep,
    message: *const fi_msg_atomic,
    result: *mut fi_ioc,
    desc: *mut *mut c_void,
    count: usize,
    flags: u64,
) -> isize {
    call!(ep, atomic.readwritemsg(message, result, desc, count, flags))
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn fi_compare_atomicmsg(
    ep: *mut fid_ep,
    message: *const fi_msg_atomic,
    compare: *const fi_ioc,
    compare_desc: *mut *mut c_void,
    compare_count: usize,
    result: *mut fi_ioc,
    desc: *mut *mut c_void,
    count: usize,
    flags: u64,
) -> isize {
    call!(ep, atomic.compwritemsg(message, compare, compare_desc, compare_count, result, desc, count, flags))
}
