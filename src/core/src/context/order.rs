//! Memory ordering (Section 9.12).
//!
//! On shared memory the operations of all contexts are the same stores, so ordering one context orders them all. Over a
//! network each context has a channel.
#![allow(unsafe_code)]

use super::Ctx;
use crate::base::{Fault, report};
use crate::memory::Map;
use crate::request::{self, uses};
use crate::transport::shm::order;
use crate::transport::{Channel, Transport};

/// Whether there is something to do: not for an invalid context. A context that does not live is a fault.
#[inline(always)]
fn check(m: &Map, ctx: Ctx) -> Result<bool, Fault> {
    m.ready()?;
    match ctx {
        Ctx::DEFAULT => Ok(true),
        Ctx::INVALID => Ok(false),
        _ => ctx.check_live().map(|()| true),
    }
}

/// Orders earlier operations to each PE before later ones.
#[inline(always)]
pub fn fence(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    let live = check(m, ctx)?;
    order::fence();
    match m.transport {
        Some(transport) if live => {
            let channel = ctx.channel()?;
            transport.fence(channel)?;
            if m.atomic_pes < m.local_pes { fence_before_stores(m, transport, channel) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

/// Where atomics and signals to this host's PEs go through the provider, and puts are stores: those do not wait for
/// these by themselves.
#[cold]
fn fence_before_stores(m: &Map, transport: &dyn Transport, channel: Channel) -> Result<(), Fault> {
    let near = m.first_pe..m.first_pe + m.local_pes as i32;
    transport.quiet_pes(channel, &mut { near })
}

/// Completes what nobody holds a request of: of no context that the program has made.
#[inline(always)]
fn complete_detached(m: &Map) -> Result<(), Fault> {
    if request::has_detached() { request::complete_detached(m.oversubscribed) } else { Ok(()) }
}

/// Completes all earlier operations. What one of them came to is told once all are complete.
#[inline(always)]
pub fn quiet(m: &Map, ctx: Ctx) -> Result<(), Fault> {
    let live = check(m, ctx)?;
    order::quiet();
    if uses::are_kept() {
        uses::quiet(ctx.bits());
    }
    let detached = if ctx == Ctx::DEFAULT || uses::are_kept() { complete_detached(m) } else { Ok(()) };
    let done = match m.transport {
        Some(transport) if live => transport.quiet(ctx.channel()?),
        _ => Ok(()),
    };
    done.and(detached)
}

/// Completes all earlier operations of the default context, for routines that do so on the way to telling others that
/// they are there: stores to memory of this host are complete for whoever has seen what it is told by.
#[inline(always)]
pub fn quiet_default(m: &Map) -> Result<(), Fault> {
    order::fence();
    if uses::are_kept() {
        uses::quiet(Ctx::DEFAULT.bits());
    }
    let detached = complete_detached(m);
    let done = match m.transport {
        Some(transport) => transport.quiet(Channel::DEFAULT),
        None => Ok(()),
    };
    done.and(detached)
}

/// As [`quiet_default`], of all contexts.
pub fn quiet_all(m: &Map) -> Result<(), Fault> {
    let default = quiet_default(m);
    let others = if m.transport.is_some() { super::handle::quiet_all() } else { Ok(()) };
    default.and(others)
}

/// What earlier operations came to, where that is to be told at the end of a call which they do not concern: other PEs
/// wait for the call, or something is to be let go. Error: the call cannot go on.
#[inline(always)]
pub fn told_later(quiet: Result<(), Fault>) -> Result<Option<Fault>, Fault> {
    match quiet {
        Ok(()) => Ok(None),
        Err(fault) if fault.is_result() || fault.is_loss() => Ok(Some(fault)),
        Err(fault) => Err(fault),
    }
}

/// [`quiet_default`] at the begin of such a call.
#[inline(always)]
pub fn quiet_before(m: &Map) -> Result<Option<Fault>, Fault> {
    told_later(quiet_default(m))
}

/// The end of such a call whose own result says something else: it tells beside that.
pub fn tell(later: Option<Fault>) {
    later.iter().for_each(|fault| _ = report::tell(fault));
}

/// The end of such a call, whose own result is the error.
#[inline(always)]
pub fn told(later: Option<Fault>) -> Result<(), Fault> {
    later.map_or(Ok(()), Err)
}

/// Completes all earlier operations to some PEs, numbered in the context's team.
#[inline(always)]
pub fn pe_quiet(m: &Map, ctx: Ctx, target_pes: *const i32, npes: usize) -> Result<(), Fault> {
    if !check(m, ctx)? {
        return Ok(());
    }
    if npes > 0 && target_pes.is_null() {
        return Err(super::rma::null("target_pes", super::bytes(size_of::<i32>(), npes)));
    }
    // SAFETY: the caller vouches for npes entries.
    let target = |i| ctx.world_pe(unsafe { *target_pes.add(i) });
    for i in 0..npes {
        m.check_pe("target_pes", target(i)?)?;
    }
    order::quiet();
    if uses::are_kept() {
        (0..npes).filter_map(|i| target(i).ok()).for_each(|pe| uses::quiet_pe(ctx.bits(), pe, m.me));
    }
    match m.transport {
        Some(transport) => transport.quiet_pes(ctx.channel()?, &mut (0..npes).filter_map(|i| target(i).ok())),
        None => Ok(()),
    }
}
