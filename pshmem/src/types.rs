//! Types of the C signatures.
#![allow(unsafe_code)]

pub use crate::errors::Error as ErrorInfo;
/// `shmemx_file_t`.
pub use pellucid_core::collectives::files::FileHandle as File;
pub use pellucid_core::context::SessionConfig;
/// `shmemx_req_h`, as the committee's draft calls a request.
pub use pellucid_core::request::Request as ReqHandle;
/// `shmemx_request_handle_t`, as the paper calls it.
pub use pellucid_core::request::Request as RequestHandle;
/// `shmemx_space_t` and `shmemx_space_config_t`.
pub use pellucid_core::runtime::spaces::{SpaceConfig, SpaceHandle as Space};
pub use pellucid_core::team::aset::{OffsetFunction, Opaque as Aset};
pub use pellucid_core::team::{Config as TeamConfig, Handle as Team};

/// `off_t`.
pub type Offset = i64;

/// `ssize_t`.
pub type SignedSize = isize;

/// `shmemx_errhandler_t`: a function, or one of a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct ErrorHandler(pub usize);

/// C `long double`: carried, never computed with.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct LongDouble([u64; 2]);

/// Fortran `REAL*16`: carried, never computed with.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Real16([u64; 2]);

/// C `double _Complex`, C++ `std::complex<double>`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ComplexDouble([f64; 2]);

/// C `float _Complex`, C++ `std::complex<float>`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ComplexFloat([f32; 2]);

/// Sixteen bytes to copy. Not `u128`: an element of a 128-bit transfer need not be aligned to more than 8 bytes.
pub type W128 = [u64; 2];

/// The same bits as another type of the same size.
#[inline(always)]
pub fn word<A: Copy, B: Copy>(value: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>()) };
    // SAFETY: both types are of one size, and this crate instantiates it with plain numbers only, for which every bit
    // pattern is a value.
    unsafe { std::mem::transmute_copy(&value) }
}
