//! Every member reads and combines all before it.
#![allow(unsafe_code)]

use super::ScanCall;
use crate::base::Fault;
use crate::team::contribution::{Bytes, HostCall, INLINE, Kind, signature};
use crate::transport::shm::copy::copy;

/// Small data travels in mailbox slots, larger is read from the sources.
pub fn flat(args: &ScanCall<'_>) -> Result<(), Fault> {
    let &ScanCall { w, team, dest, source, nelems, kernel, kind } = args;
    let bytes = nelems * kernel.elem;
    let call = HostCall::begin(w, team, signature(kind, bytes))?;
    let inline = bytes <= INLINE;
    // SAFETY: source was checked.
    unsafe { call.contribute_bytes(source, if inline { bytes } else { 0 }) };
    let mut result = Vec::<Bytes>::with_capacity(bytes.div_ceil(size_of::<Bytes>()));
    let result = result.as_mut_ptr().cast::<u8>();
    let before = if kind == Kind::Inscan { team.me + 1 } else { team.me };
    if before == 0 {
        // Else it is written before it is read.
        // SAFETY: the buffer has at least `bytes` bytes.
        unsafe { result.write_bytes(0, bytes) };
    }
    for pe in 0..before {
        let slot = call.contribution(pe)?;
        let words = HostCall::words(slot);
        let theirs = if inline { words.0.as_ptr().cast() } else { call.of("source", source, bytes, pe)?.cast_const() };
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source or slot.
        unsafe { if pe == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, nelems) } }
    }
    call.done();
    if !inline {
        // `dest` may be the source that others read.
        call.leave_together()?;
    }
    // SAFETY: dest was checked.
    unsafe { copy(dest, result, bytes) };
    Ok(())
}
