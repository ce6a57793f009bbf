//! Contributions go up a tree, whose members combine those of their branches, and the result comes down.
#![allow(unsafe_code)]

use super::super::FAN;
use super::ReduceCall;
use crate::base::Fault;
use crate::team::contribution::{Bytes, HostCall, Kind, signature};
use crate::team::sync_block::WORDS;
use crate::transport::shm::copy::copy;

/// The data has at most `INLINE` bytes.
pub fn tree(args: &ReduceCall<'_>) -> Result<(), Fault> {
    let ReduceCall { call: up, dest, source, nelems, kernel } = args;
    let bytes = nelems * kernel.elem;
    let (team, me) = (up.team, up.team.me);
    let children = (me * FAN + 1..=me * FAN + FAN).take_while(|child| *child < team.size);
    let mut result = Bytes([0; WORDS]);
    // SAFETY: source was checked for `bytes` bytes, at most INLINE.
    unsafe { copy(result.0.as_mut_ptr().cast(), *source, bytes) };
    for child in children.clone() {
        let theirs = HostCall::words(up.contribution(child)?);
        // SAFETY: both buffers hold nelems elements.
        unsafe { (kernel.combine)(result.0.as_mut_ptr().cast(), theirs.0.as_ptr().cast(), *nelems) };
    }
    if me != 0 {
        up.contribute(&result.0);
    }
    up.done();
    let down = HostCall::begin(up.w, team, signature(Kind::Reduce, bytes))?;
    if me != 0 {
        result = HostCall::words(down.contribution((me - 1) / FAN)?);
    }
    if children.clone().next().is_some() {
        down.contribute(&result.0);
    }
    // SAFETY: dest was checked.
    unsafe { copy(*dest, result.0.as_ptr().cast(), bytes) };
    down.done();
    // The result holds everyone's contribution, so everyone is past the collective before `up`.
    up.all_synchronized();
    Ok(())
}
