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
    if bytes <= size_of::<u64>() {
        return words(args);
    }
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
                copy(to, HostCall::words(slot).0.as_ptr().cast(), bytes);
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

/// The same of a word at most of each member.
#[inline(always)]
fn words(args: &FcollectCall<'_>) -> Result<(), Fault> {
    let FcollectCall { call, dest, source, bytes } = args;
    // SAFETY: source was checked.
    unsafe { call.contribute_word(*source, *bytes) };
    for pe in rotated(call.team.me, call.team.size) {
        let theirs = call.contributed_word(pe)?;
        // SAFETY: dest was checked for `bytes` bytes a member.
        unsafe { copy(dest.wrapping_add(pe as usize * bytes), (&raw const theirs).cast(), *bytes) };
    }
    call.all_synchronized();
    call.done();
    Ok(())
}
