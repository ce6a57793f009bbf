//! FFI to libfabric.
//!
//! The library is opened at run time ([`Library`]): a program that uses this crate links to nothing but the C library.
//! Types and constants ([`bindings`]) are generated from libfabric's headers by `regenerate`. What the headers define
//! as inline functions, which call through tables of a provider, is in [`calls`]; names are the headers' own
//! everywhere.
#![deny(unsafe_code)]

#[allow(
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    non_upper_case_globals,
    dead_code,
    unsafe_code,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
#[rustfmt::skip]
pub mod bindings;
pub mod calls;
mod library;

pub use bindings::*;
pub use calls::*;
pub use library::{Library, OpenError};

/// An address vector entry that names nobody (`FI_ADDR_UNSPEC` of the headers).
pub const FI_ADDR_UNSPEC: fi_addr_t = u64::MAX;
/// The key of a region that has none that can be sent in 64 bits (`FI_KEY_NOTAVAIL` of the headers).
pub const FI_KEY_NOTAVAIL: u64 = u64::MAX;
/// What calls return when they are to be made again later.
pub const EAGAIN: isize = -(FI_EAGAIN as isize);
/// What reading a completion queue returns when an error is to be read first.
pub const EAVAIL: isize = -(FI_EAVAIL as isize);

/// `FI_VERSION` of the headers.
pub const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

/// The interface version of the bindings: what is passed to [`Library::getinfo`].
pub const VERSION: u32 = version(FI_MAJOR_VERSION as u32, FI_MINOR_VERSION as u32);
