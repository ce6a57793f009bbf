//! What collectives of teams on several hosts share: they go in shared memory within a host, by one PE of each host
//! ([`crate::inter_host`]) between them. Arguments have been checked.
//!
//! `dest == source` is allowed where the specification allows it, and a collective may begin while another member is
//! still in the one before.
#![allow(unsafe_code)]

mod flat;

pub(super) use super::alltoall::inter_host::Strided;
pub(super) use flat::FlatCall;

use super::kernel::Kernel;
use crate::inter_host::{Fold, Object};

/// An object of the call that other members may write to.
///
/// # Safety
/// It was checked for `bytes` bytes. One that is `const` in the call is not written to.
pub(super) unsafe fn object(at: *const u8, bytes: usize) -> Object {
    // SAFETY: symmetric memory is readable and writable.
    unsafe { Object::new(at.cast_mut(), bytes) }
}

pub(super) fn fold(kernel: Kernel) -> Fold {
    Fold { elem: kernel.elem, combine: kernel.combine }
}
