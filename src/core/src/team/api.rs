//! Queries of teams (Sections 9.4.1 to 9.4.5, 9.1.10, 9.5.2).
#![allow(unsafe_code)]

use super::{Config, Handle, NUM_CONTEXTS, World, context_of, forget_context};
use crate::base::{Cause, Fault};
use crate::context::Ctx;
use crate::context::order;
use std::ffi::c_void;

/// This PE's number in a team; -1 for `SHMEM_TEAM_INVALID`.
#[inline]
pub fn my_pe(w: &World, team: Handle) -> Result<i32, Fault> {
    w.map.ready()?;
    Ok(w.team(team)?.map_or(-1, |t| t.me))
}

/// Members of a team; -1 for `SHMEM_TEAM_INVALID`.
#[inline]
pub fn n_pes(w: &World, team: Handle) -> Result<i32, Fault> {
    w.map.ready()?;
    Ok(w.team(team)?.map_or(-1, |t| t.size))
}

/// Writes the fields of a team's configuration that `mask` names. Gives 0, or -1 for an invalid team or mask.
pub fn get_config(w: &World, team: Handle, mask: i64, config: *mut Config) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    if mask & !NUM_CONTEXTS != 0 {
        return Ok(-1);
    }
    if mask & NUM_CONTEXTS != 0 {
        if config.is_null() {
            return Err(Fault::from(Cause::Null { arg: "config", bytes: size_of::<Config>() }));
        }
        // SAFETY: not null; the caller vouches for a structure there.
        unsafe { (*config).num_contexts = team.config.num_contexts };
    }
    Ok(0)
}

/// The number in `dest` of PE `src_pe` of `src`; -1 where there is none.
pub fn translate_pe(w: &World, src: Handle, src_pe: i32, dest: Handle) -> Result<i32, Fault> {
    w.map.ready()?;
    let (Some(src), Some(dest)) = (w.team(src)?, w.team(dest)?) else {
        return Ok(-1);
    };
    if src_pe as u32 >= src.size as u32 {
        return Ok(-1);
    }
    Ok(dest.rank_of(src.world(src_pe)).unwrap_or(-1))
}

/// Where this PE can reach `dest` of a team's PE by load and store; null where it cannot.
pub fn team_ptr(w: &World, team: Handle, dest: *const c_void, pe: i32) -> Result<*mut c_void, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(std::ptr::null_mut());
    };
    if pe as u32 >= team.size as u32 {
        return Err(Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: team.size.into() }));
    }
    Ok(w.map.mapping(dest, 1, team.world(pe)).unwrap_or(std::ptr::null_mut()))
}

/// Makes a context on a team. Gives 0; nonzero, and `SHMEM_CTX_INVALID`, for an invalid team or too many contexts.
pub fn create_ctx(w: &World, team: Handle, options: i64, ctx: *mut Ctx) -> Result<i32, Fault> {
    w.map.ready()?;
    if ctx.is_null() {
        return Err(Fault::from(Cause::Null { arg: "ctx", bytes: size_of::<Ctx>() }));
    }
    let (value, status) = match w.team(team)? {
        Some(t) if options & !7 == 0 => context_of(&w.map, t, team, options).map_or((Ctx::INVALID, -1), |ctx| (ctx, 0)),
        _ => (Ctx::INVALID, -1),
    };
    // SAFETY: not null; the caller vouches for a handle there.
    unsafe { ctx.write(value) };
    Ok(status)
}

/// Makes a context on the world (Section 9.5.1).
pub fn ctx_create(w: &World, options: i64, ctx: *mut Ctx) -> Result<i32, Fault> {
    create_ctx(w, Handle::WORLD, options, ctx)
}

/// Completes and ends a context (Section 9.5.3).
pub fn ctx_destroy(w: &World, ctx: Ctx) -> Result<(), Fault> {
    let later = order::told_later(order::quiet(&w.map, ctx))?;
    if let Ok(team) = ctx.team()
        && let Ok(Some(team)) = w.team(Handle(team))
    {
        forget_context(team, ctx);
    }
    ctx.destroy()?;
    order::told(later)
}

/// The team of a context (Section 9.5.4). Gives 0; nonzero, and `SHMEM_TEAM_INVALID`, for an invalid context.
pub fn ctx_get_team(w: &World, ctx: Ctx, team: *mut Handle) -> Result<i32, Fault> {
    w.map.ready()?;
    if team.is_null() {
        return Err(Fault::from(Cause::Null { arg: "team", bytes: size_of::<Handle>() }));
    }
    let (value, status) = match ctx {
        Ctx::INVALID => (Handle::INVALID, -1),
        Ctx::DEFAULT => (Handle::WORLD, 0),
        _ => (Handle(ctx.team()?), 0),
    };
    // SAFETY: not null; the caller vouches for a handle there.
    unsafe { team.write(value) };
    Ok(status)
}
