//! Collectives of teams on several hosts: in shared memory within a host, by one PE of each host
//! ([`crate::inter_host`]) between them. Arguments have been checked.
//!
//! `dest == source` is allowed where the specification allows it, and a collective may begin while another member is
//! still in the one before.
#![allow(unsafe_code)]

mod alltoall;
mod broadcast;
mod flat;
mod gather;
mod reduce;
mod scan;

pub(super) use alltoall::{Strided, alltoall, alltoalls};
pub(super) use broadcast::broadcast;
pub(super) use flat::FlatCall;
pub(super) use gather::{collect, fcollect};
pub(super) use reduce::reduce;
pub(super) use scan::scan;

use super::kernel::Kernel;
use crate::inter_host::{Fold, Object};

/// An object of the call that other members may write to.
///
/// # Safety
/// It was checked for `bytes` bytes. One that is `const` in the call is not written to.
unsafe fn object(at: *const u8, bytes: usize) -> Object {
    // SAFETY: symmetric memory is readable and writable.
    unsafe { Object::new(at.cast_mut(), bytes) }
}

fn fold(kernel: Kernel) -> Fold {
    Fold { elem: kernel.elem, combine: kernel.combine }
}
