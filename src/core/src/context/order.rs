//! Memory ordering (Section 9.12).
//!
//! On shared memory the operations of all contexts are the same stores, so ordering one context orders them all.
#![allow(unsafe_code)]

use super::Ctx;
use crate::base::Fault;
use crate::memory::Map;
use crate::transport::shm::order;

/// A live context, the default one, or an invalid one, for which there is nothing to do.
#[inline(always)]
fn check(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    m.ready()?;
    if ctx == Ctx::DEFAULT || ctx == Ctx::INVALID { Ok(()) } else { ctx.context().map(drop) }
}

/// Orders earlier operations to each PE before later ones.
#[inline(always)]
pub fn fence(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    check(m, ctx)?;
    order::fence();
    Ok(())
}

/// Completes all earlier operations.
#[inline(always)]
pub fn quiet(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    check(m, ctx)?;
    order::quiet();
    Ok(())
}

/// Completes all earlier operations to some PEs, numbered in the context's team.
#[inline(always)]
pub fn pe_quiet(m: &Map, ctx: Ctx, target_pes: *const i32, npes: usize) -> Result<(), Fault> {
    check(m, ctx)?;
    if ctx == Ctx::INVALID {
        return Ok(());
    }
    if npes > 0 && target_pes.is_null() {
        return Err(super::rma::null("target_pes", super::bytes::<i32>(npes)));
    }
    for i in 0..npes {
        // SAFETY: the caller vouches for npes entries.
        let pe = ctx.world_pe(unsafe { *target_pes.add(i) })?;
        m.check_pe("target_pes", pe)?;
    }
    order::quiet();
    Ok(())
}
