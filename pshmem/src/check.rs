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

/// The words that a routine looks at or changes: what the argument is called that names them, and the bytes of one.
fn word(op: &Op, id: u16) -> Option<(&'static str, usize)> {
    match op.class {
        Class::Signal => Some(("sig_addr", size_of::<u64>())),
        Class::Wait | Class::Test => Some(("ivar", op::elem(id).max(1))),
        Class::Lock => Some(("lock", size_of::<u64>())),
        _ => None,
    }
}

/// Whether what a call says to be its payload is all that it uses of each object. The elements of a strided transfer
/// are apart, and what the members of some collectives give together is more: of these, where it begins is known here.
fn has_all_bytes(op: &Op) -> bool {
    let is_one_of = |kinds: &[&str]| kinds.iter().any(|kind| op.name().contains(kind));
    match op.class {
        Class::Collective => is_one_of(&["_reduce", "_to_all", "broadcast", "scan"]),
        _ => !is_one_of(&["_iput", "_iget", "_ibput", "_ibget"]),
    }
}

fn is_checked(op: &Op, id: u16) -> bool {
    is_transfer(op) || has_handle(op) || word(op, id).is_some() || op.class == Class::Collective
}

/// From now on transfers are checked.
pub fn begin() {
    ON.store(true, Relaxed);
    uses::keep_with(|op, site| {
        let place = fault_site::name_of(site);
        format!("{} ({place})", OPS[usize::from(op)].name())
    });
    let checked = (0..).zip(OPS.iter()).filter(|(id, op)| is_checked(op, *id));
    checked.for_each(|(id, _)| arm::set_interceptor(id, Interceptor::Check, true));
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
    if let Some((arg, bytes)) = word(op, call.op).filter(|_| call.addr != 0) {
        memory::check_object(arg, call.addr, bytes)?;
    }
    let is_transfer = is_transfer(op);
    if call.bytes == 0 || !is_transfer && op.class != Class::Collective {
        return Ok(());
    }
    let has_all_bytes = has_all_bytes(op);
    let bytes = if has_all_bytes { call.bytes } else { 1 };
    for (arg, addr) in [("dest", call.dest), ("source", call.source)] {
        if addr != 0 {
            memory::check_object(arg, addr, bytes)?;
        }
    }
    if !is_transfer {
        return Ok(());
    }
    let (dest, source) = (call.dest, call.source);
    // Those with a handle are checked where their own memory is known.
    if !has_handle(op) {
        uses::check(&used(op, call, bytes))?;
    }
    let overlaps = dest < source.saturating_add(bytes) && source < dest.saturating_add(bytes);
    // An object that is copied to itself stays what it is.
    if call.peer == runtime::map().me && dest != 0 && source != 0 && dest != source && has_all_bytes && overlaps {
        let cause = Cause::Overlap { dest, dest_bytes: bytes, source, source_bytes: bytes, in_place: false };
        return Err(Fault::from(cause));
    }
    Ok(())
}
