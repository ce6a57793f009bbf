//! All read from the root.
#![allow(unsafe_code)]

use super::BroadcastCall;
use crate::base::Fault;
use crate::team::contribution::{HostCall, INLINE};
use crate::transport::shm::copy::copy;

/// Small data is the root's contribution; larger is read from its `source`.
pub fn flat(args: &BroadcastCall<'_>) -> Result<(), Fault> {
    let BroadcastCall { call, dest, source, bytes, root, root_too } = args;
    let (dest, source, bytes, root) = (*dest, *source, *bytes, *root);
    if call.team.me == root {
        // SAFETY: source and dest were checked for `bytes` bytes.
        unsafe {
            call.contribute_bytes(source, if bytes <= INLINE { bytes } else { 0 });
            if *root_too && dest.cast_const() != source {
                std::ptr::copy(source, dest, bytes);
            }
        }
        call.done();
        if bytes > INLINE {
            // The others read from `source`, which the caller may change after this.
            call.wait_for_others()?;
        }
    } else {
        let slot = call.contribution(root)?;
        // SAFETY: dest was checked; the root's source is mapped for as many bytes.
        unsafe {
            if bytes <= INLINE {
                HostCall::copy_contribution(slot, dest, bytes);
            } else {
                copy(dest, call.of("source", source, bytes, root)?, bytes);
            }
        }
        call.done();
    }
    Ok(())
}
