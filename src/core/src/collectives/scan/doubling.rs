//! Rounds of partial results.
#![allow(unsafe_code)]

use super::ScanCall;
use crate::base::Fault;
use crate::team::contribution::{Bytes, HostCall, Kind, signature};
use crate::team::sync_block::WORDS;
use crate::transport::shm::copy::copy;

/// In round r each member hands on the combination of the 2^r contributions that end with its own. The data has at most
/// `INLINE` bytes.
pub fn doubling(args: &ScanCall<'_>) -> Result<(), Fault> {
    let &ScanCall { w, team, dest, source, nelems, kernel, kind } = args;
    let bytes = nelems * kernel.elem;
    // `with_mine` ends with this member's contribution, `before` with the previous member's.
    let mut with_mine = Bytes([0; WORDS]);
    let mut before: Option<Bytes> = None;
    // SAFETY: source was checked for `bytes` bytes, at most INLINE.
    unsafe { copy(with_mine.0.as_mut_ptr().cast(), source, bytes) };
    let combine = |left: Bytes, right: &Bytes| {
        let mut sum = left;
        // SAFETY: both buffers hold nelems elements.
        unsafe { (kernel.combine)(sum.0.as_mut_ptr().cast(), right.0.as_ptr().cast(), nelems) };
        sum
    };
    let mut distance = 1;
    while distance < team.size {
        let call = HostCall::begin(w, team, signature(kind, bytes))?;
        if team.me + distance < team.size {
            call.contribute(&with_mine.0);
        }
        if team.me >= distance {
            let theirs = HostCall::words(call.contribution(team.me - distance)?);
            before = Some(before.map_or(theirs, |b| combine(theirs, &b)));
            with_mine = combine(theirs, &with_mine);
        }
        call.done();
        distance *= 2;
    }
    let result = if kind == Kind::Inscan { with_mine } else { before.unwrap_or(Bytes([0; WORDS])) };
    // SAFETY: dest was checked.
    unsafe { copy(dest, result.0.as_ptr().cast(), bytes) };
    Ok(())
}
