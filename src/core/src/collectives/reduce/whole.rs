//! Every member reads and combines all sources.
#![allow(unsafe_code)]

use super::ReduceCall;
use crate::base::Fault;
use crate::team::contribution::Bytes;
use crate::transport::shm::copy::copy;

/// In memory of its own, since `dest` may be the source that others read.
pub fn whole(args: &ReduceCall<'_>) -> Result<(), Fault> {
    let ReduceCall { call, dest, source, nelems, kernel } = args;
    let bytes = nelems * kernel.elem;
    call.contribute(&[]);
    // Written before it is read, so not cleared.
    let mut result = Vec::<Bytes>::with_capacity(bytes.div_ceil(size_of::<Bytes>()));
    let result = result.as_mut_ptr().cast::<u8>();
    for pe in 0..call.team.size {
        call.contribution(pe)?;
        let theirs = call.of("source", *source, bytes, pe)?;
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source.
        unsafe { if pe == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, *nelems) } }
    }
    call.all_synchronized();
    call.done();
    call.leave_together()?;
    // Only now: `dest` may be the source that others were reading.
    // SAFETY: dest was checked.
    unsafe { copy(*dest, result, bytes) };
    Ok(())
}
