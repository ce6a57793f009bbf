//! All write to member 0, then read the whole from there.
#![allow(unsafe_code)]

use super::super::barrier;
use super::FcollectCall;
use crate::base::Fault;
use crate::transport::shm::copy::copy;

/// Two meetings and one read, where reading small contributions one by one would take a cache line each.
pub fn leader(args: &FcollectCall<'_>) -> Result<(), Fault> {
    let FcollectCall { call, dest, source, bytes } = args;
    let (w, dest, source, bytes) = (call.w, *dest, *source, *bytes);
    let team = call.team;
    let total = bytes * team.size as usize;
    let there = call.of("dest", dest, total, 0)?;
    // Nobody writes to the leader's dest before the leader is in this call.
    barrier::sync(w, team)?;
    // SAFETY: source and dest were checked by the caller; the leader's dest is mapped.
    unsafe { copy(there.wrapping_add(team.me as usize * bytes), source, bytes) };
    barrier::sync(w, team)?;
    if team.me != 0 {
        // SAFETY: as above.
        unsafe { copy(dest, there, total) };
    }
    call.done();
    call.leave_together()?;
    Ok(())
}
