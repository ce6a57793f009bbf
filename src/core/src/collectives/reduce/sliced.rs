//! Every member combines one slice and writes it to all.
#![allow(unsafe_code)]

use super::ReduceCall;
use crate::base::Fault;
use crate::team::contribution::Bytes;
use crate::transport::shm::copy::copy;

/// Bytes of a slice that are combined at a time: source, partial result and copies stay in the first-level cache.
const BLOCK: usize = 8192;

/// Each member combines one slice of the array and writes it to everybody's `dest`. No other member reads that slice of
/// any source, so that `dest` may be `source`.
pub fn sliced(args: &ReduceCall<'_>) -> Result<(), Fault> {
    let ReduceCall { call, dest, source, nelems, kernel } = args;
    call.contribute(&[]);
    let (me, size, elem) = (call.team.me as usize, call.team.size as usize, kernel.elem);
    let bytes = nelems * elem;
    for pe in 0..call.team.size {
        call.contribution(pe)?;
    }
    call.all_synchronized();
    let (first, last) = (nelems * me / size, nelems * (me + 1) / size);
    let per_block = (BLOCK / elem).max(1);
    // Not on the stack: threads may have little of it. Written before it is read, so not cleared.
    let mut block = Vec::<Bytes>::with_capacity(BLOCK / size_of::<Bytes>() + 1);
    let block = block.as_mut_ptr().cast::<u8>();
    let mut at = first;
    while at < last {
        let n = per_block.min(last - at);
        for pe in 0..call.team.size {
            let theirs = call.of("source", *source, bytes, pe)?.wrapping_add(at * elem);
            // SAFETY: the block holds per_block elements; the member's source has elements at..at + n.
            unsafe { if pe == 0 { copy(block, theirs, n * elem) } else { (kernel.combine)(block, theirs, n) } }
        }
        for pe in 0..call.team.size {
            let to = call.of("dest", *dest, bytes, pe)?.wrapping_add(at * elem);
            // SAFETY: as above, for the member's dest.
            unsafe { copy(to, block, n * elem) };
        }
        at += n;
    }
    call.done();
    call.leave_together()?;
    Ok(())
}
