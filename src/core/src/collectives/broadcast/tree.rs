//! Members pass the data on through their contributions.
#![allow(unsafe_code)]

use super::super::FAN;
use super::BroadcastCall;
use crate::base::Fault;
use crate::team::contribution::{Bytes, HostCall};
use crate::team::sync_block::WORDS;
use crate::transport::shm::copy::copy;

/// The data has at most `INLINE` bytes.
pub fn tree(args: &BroadcastCall<'_>) -> Result<(), Fault> {
    let BroadcastCall { call, dest, source, bytes, root, root_too } = args;
    let (dest, source, bytes, root) = (*dest, *source, *bytes, *root);
    let size = call.team.size;
    // Ranks as seen from the root.
    let rank = (call.team.me - root).rem_euclid(size);
    let mut data = Bytes([0; WORDS]);
    if rank == 0 {
        // SAFETY: at most INLINE bytes, says the row.
        unsafe { copy(data.0.as_mut_ptr().cast(), source, bytes) };
    } else {
        data = HostCall::words(call.contribution(((rank - 1) / FAN + root) % size)?);
    }
    if rank * FAN + 1 < size {
        call.contribute(&data.0);
    }
    if rank != 0 || *root_too {
        // SAFETY: as above.
        unsafe { copy(dest, data.0.as_ptr().cast(), bytes) };
    }
    call.done();
    Ok(())
}
