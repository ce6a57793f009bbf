//! With `SHMEM_DEBUG`: what is checked of transfers before they are made, where that would cost too much otherwise.
//! Their calls take the longer way ([`crate::dispatcher`]), so that those of other jobs have no test for it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pellucid_core::base::{Cause, Fault};
use pellucid_core::request::uses::{self, Access, Use};
use pellucid_core::runtime::{self, memory};
use pellucid_profile::arm::{self, Interceptor};
use pellucid_profile::op::{self, Class, OPS, Op};

use crate::dispatcher::Call;
use crate::fault_site;
use crate::thread;

static ON: AtomicBool = AtomicBool::new(false);

/// A routine that gives a handle, which the library keeps with the place of the call.
fn has_handle(op: &Op) -> bool {
    op.name().starts_with("shmemx_") && op.name().ends_with("_nb")
}

fn is_transfer(op: &Op) -> bool {
    matches!(op.class, Class::Put | Class::Get | Class::Amo | Class::Signal)
}

/// What the argument is called that names the words which a routine looks at or changes, and the bytes of one; 0: of an
/// element.
fn word(op: &Op) -> Option<(&'static str, usize)> {
    match op.class {
        Class::Signal => Some(("sig_addr", size_of::<u64>())),
        Class::Wait | Class::Test => Some(("ivar", 0)),
        Class::Lock => Some(("lock", size_of::<u64>())),
        _ => None,
    }
}

fn is_checked(op: &Op) -> bool {
    is_transfer(op) || has_handle(op) || word(op).is_some() || op.class == Class::Collective
}

/// From now on transfers are checked.
pub fn begin() {
    ON.store(true, Relaxed);
    uses::keep_with(|op, site| {
        let place = fault_site::name_of(site);
        format!("{} ({place})", OPS[usize::from(op)].name())
    });
    let checked = OPS.iter().enumerate().filter(|(_, op)| is_checked(op));
    checked.for_each(|(id, _)| arm::set_interceptor(id as u16, Interceptor::Check, true));
}

/// Checks a call; one that is wrong ends the job.
#[inline]
pub fn call(call: &Call) {
    if ON.load(Relaxed) {
        uses::in_call(call.op, thread::get().site.get());
        if let Err(fault) = check(call) {
            runtime::fail(OPS[usize::from(call.op)].name(), fault);
        }
    }
}

/// The memory that a transfer uses.
fn used(op: &Op, call: &Call, bytes: usize) -> [Use; 2] {
    let (me, peer) = (runtime::map().me, call.peer);
    let (dest_pe, source_pe) = if op.class == Class::Get { (me, peer) } else { (peer, me) };
    let access = if op.class == Class::Amo { Access::Atomic } else { Access::Write };
    let size = |addr: usize| if addr == 0 { 0 } else { bytes };
    [
        Use { arg: "dest", pe: dest_pe, addr: call.dest, bytes: size(call.dest), access },
        Use { arg: "source", pe: source_pe, addr: call.source, bytes: size(call.source), access: Access::Read },
    ]
}

fn check(call: &Call) -> Result<(), Fault> {
    let op = &OPS[usize::from(call.op)];
    if !runtime::query_initialized() {
        return Ok(());
    }
    if let Some((arg, bytes)) = word(op).filter(|_| call.addr != 0) {
        let bytes = if bytes > 0 { bytes } else { op::elem(call.op).max(1) };
        memory::check_object(arg, call.addr, bytes)?;
    }
    if call.bytes == 0 {
        return Ok(());
    }
    if op.class == Class::Collective {
        return check_collective(op, call);
    }
    if !is_transfer(op) {
        return Ok(());
    }
    // The elements of a strided transfer are apart: only where it begins is known here.
    let is_strided = ["_iput", "_iget", "_ibput", "_ibget"].iter().any(|kind| op.name().contains(kind));
    let bytes = if is_strided { 1 } else { call.bytes };
    for (arg, addr) in [("dest", call.dest), ("source", call.source)] {
        if addr != 0 {
            memory::check_object(arg, addr, bytes)?;
        }
    }
    let (dest, source) = (call.dest, call.source);
    // Those with a handle are checked where their own memory is known.
    if !has_handle(op) {
        uses::check(&used(op, call, bytes))?;
    }
    let overlaps = dest < source.saturating_add(bytes) && source < dest.saturating_add(bytes);
    // An object that is copied to itself stays what it is.
    if call.peer == runtime::map().me && dest != 0 && source != 0 && dest != source && !is_strided && overlaps {
        let cause = Cause::Overlap { dest, dest_bytes: bytes, source, source_bytes: bytes, in_place: false };
        return Err(Fault::from(cause));
    }
    Ok(())
}

/// Objects of a collective. What the members give together is larger than what one gives: of such, where it begins is
/// checked.
fn check_collective(op: &Op, call: &Call) -> Result<(), Fault> {
    let is_of_one = ["_reduce", "_to_all", "broadcast", "scan"].iter().any(|kind| op.name().contains(kind));
    let bytes = if is_of_one { call.bytes } else { 1 };
    for (arg, addr) in [("dest", call.dest), ("source", call.source)] {
        if addr != 0 {
            memory::check_object(arg, addr, bytes)?;
        }
    }
    Ok(())
}
