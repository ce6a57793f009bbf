//! Sessions (Section 9.9): hints that many operations are about to come.
//!
//! Shared memory completes every operation at once, so there is nothing to batch; arguments are checked.

use super::Ctx;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use std::sync::atomic::AtomicBool;

/// `shmem_ctx_session_config_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct SessionConfig {
    /// Operations that the session will have at most.
    pub total_ops: usize,
}

/// `SHMEM_CTX_SESSION_BATCH`, the only option.
const OPTIONS: i64 = 1;
/// `SHMEM_CTX_SESSION_TOTAL_OPS`, the only bit of a mask.
const TOTAL_OPS: i64 = 1;

/// Begins a session on a context; on an invalid one there is nothing to do. Bits that are not known are ignored, since
/// "no combination of options [...] results in undefined behavior".
pub fn session_start(m: &Map, ctx: Ctx, options: i64, config: *const SessionConfig, mask: i64) -> Result<(), Fault> {
    live(m, ctx)?;
    if mask & TOTAL_OPS != 0 && config.is_null() {
        return Err(Fault::from(Cause::Null { arg: "config", bytes: size_of_val(&config) }));
    }
    static TOLD: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    let routine = "shmem_ctx_session_start";
    m.tell_unknown(routine, "options", (options, OPTIONS), &TOLD[0]);
    m.tell_unknown(routine, "config_mask", (mask, TOTAL_OPS), &TOLD[1]);
    Ok(())
}

/// Ends a session.
pub fn session_stop(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    live(m, ctx)
}

fn live(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    m.ready()?;
    if ctx == Ctx::DEFAULT || ctx == Ctx::INVALID { Ok(()) } else { ctx.check_live() }
}
