//! Contributions travel in mailbox slots; everyone combines all of them.
#![allow(unsafe_code)]

use super::ReduceCall;
use crate::base::Fault;
use crate::team::contribution::{Bytes, HostCall};
use crate::team::sync_block::WORDS;
use crate::transport::shm::copy::copy;

/// The data has at most `INLINE` bytes.
pub fn flat(args: &ReduceCall<'_>) -> Result<(), Fault> {
    let ReduceCall { call, dest, source, nelems, kernel } = args;
    let bytes = nelems * kernel.elem;
    // SAFETY: source was checked.
    unsafe { call.contribute_bytes(*source, bytes) };
    let mut result = Bytes([0; WORDS]);
    for pe in 0..call.team.size {
        let theirs = HostCall::words(call.contribution(pe)?);
        if pe == 0 {
            result = theirs;
        } else {
            // SAFETY: both buffers hold nelems elements.
            unsafe { (kernel.combine)(result.0.as_mut_ptr().cast(), theirs.0.as_ptr().cast(), *nelems) };
        }
    }
    call.all_synchronized();
    // SAFETY: dest was checked.
    unsafe { copy(*dest, result.0.as_ptr().cast(), bytes) };
    call.done();
    Ok(())
}
