//! Kinds of memory. That of hosts is the only one.
#![allow(unsafe_code)]

use crate::fail::unrestricted;
use crate::start::Client;
use crate::system::error;
use crate::types::{Flags, code};
use std::ffi::{c_int, c_uint};

/// The begin of `gex_MK_Create_args_t`.
#[derive(Debug)]
#[repr(C)]
pub struct Arguments {
    flags: u64,
    class: c_uint,
}

/// `GEX_MK_CLASS_HOST`
const HOST: c_uint = 0;
/// `GEX_MK_HOST`
const MK_HOST: usize = 1;

/// `gex_MK_Create`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_MK_Create(
    kind_p: *mut usize,
    _: *const Client,
    args: *const Arguments,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_MK_Create";
    unrestricted(R);
    if kind_p.is_null() || args.is_null() || flags != 0 {
        return error(R, code::BAD_ARG, "kind_p or args is NULL, or flags is not 0");
    }
    // SAFETY: arguments, says the caller.
    let args = unsafe { &*args };
    if args.flags != 0 || args.class != HOST {
        return error(R, code::BAD_ARG, "only GEX_MK_CLASS_HOST is there: no kind of device memory was compiled in");
    }
    // SAFETY: a place for the handle, says the caller.
    unsafe { kind_p.write(MK_HOST) };
    code::OK
}

/// `gex_MK_Destroy`: the kind of host memory stays.
#[unsafe(no_mangle)]
pub extern "C" fn gex_MK_Destroy(_: usize, _: Flags) {
    unrestricted("gex_MK_Destroy");
}
