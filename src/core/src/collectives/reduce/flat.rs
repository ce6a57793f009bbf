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
    if bytes <= size_of::<u64>() {
        return word(args, bytes);
    }
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

/// The same of a word at most, as most reductions are: half of the time is in what is not copied.
#[inline(always)]
fn word(args: &ReduceCall<'_>, bytes: usize) -> Result<(), Fault> {
    let ReduceCall { call, dest, source, nelems, kernel } = args;
    // SAFETY: source was checked.
    unsafe { call.contribute_word(*source, bytes) };
    let mut result = call.contributed_word(0)?;
    for pe in 1..call.team.size {
        let theirs = call.contributed_word(pe)?;
        // SAFETY: both words hold nelems elements.
        unsafe { (kernel.combine)((&raw mut result).cast(), (&raw const theirs).cast(), *nelems) };
    }
    call.all_synchronized();
    // SAFETY: dest was checked.
    unsafe { copy(*dest, (&raw const result).cast(), bytes) };
    call.done();
    Ok(())
}
