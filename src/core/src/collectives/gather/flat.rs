//! All read from all.
#![allow(unsafe_code)]

use super::{FcollectCall, rotated};
use crate::base::Fault;
use crate::team::contribution::{HostCall, INLINE};
use crate::transport::shm::copy::copy;

/// Small data travels in mailbox slots, larger is read from the sources.
pub fn flat(args: &FcollectCall<'_>) -> Result<(), Fault> {
    let FcollectCall { call, dest, source, bytes } = args;
    let (dest, source, bytes) = (*dest, *source, *bytes);
    let team = call.team;
    let inline = bytes <= INLINE;
    // SAFETY: source was checked for `bytes` bytes.
    unsafe { call.contribute_bytes(source, if inline { bytes } else { 0 }) };
    for pe in rotated(team.me, team.size) {
        let slot = call.contribution(pe)?;
        let to = dest.wrapping_add(pe as usize * bytes);
        // SAFETY: dest was checked for `bytes` bytes a member; the member's source is mapped.
        unsafe {
            if inline {
                HostCall::copy_contribution(slot, to, bytes);
            } else {
                copy(to, call.of("source", source, bytes, pe)?, bytes);
            }
        }
    }
    call.all_synchronized();
    call.done();
    if !inline {
        call.leave_together()?;
    }
    Ok(())
}
