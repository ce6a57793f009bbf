//! With `SHMEM_DEBUG`: what is checked of transfers before they are made, where that would cost too much otherwise.
//! Their calls take the longer way ([`crate::dispatcher`]), so that those of other jobs have no test for it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pellucid_core::base::{Cause, Fault};
use pellucid_core::runtime::{self, memory};
use pellucid_profile::arm::{self, Interceptor};
use pellucid_profile::op::{Class, OPS, Op};

use crate::dispatcher::Call;

static ON: AtomicBool = AtomicBool::new(false);

fn is_transfer(op: &Op) -> bool {
    matches!(op.class, Class::Put | Class::Get | Class::Amo | Class::Signal)
}

/// From now on transfers are checked.
pub fn begin() {
    ON.store(true, Relaxed);
    let transfers = OPS.iter().enumerate().filter(|(_, op)| is_transfer(op));
    transfers.for_each(|(id, _)| arm::set_interceptor(id as u16, Interceptor::Check, true));
}

/// Checks a call; one that is wrong ends the job.
#[inline]
pub fn call(call: &Call) {
    if ON.load(Relaxed)
        && let Err(fault) = check(call)
    {
        runtime::fail(OPS[usize::from(call.op)].name(), fault);
    }
}

fn check(call: &Call) -> Result<(), Fault> {
    let op = &OPS[usize::from(call.op)];
    if !is_transfer(op) || call.bytes == 0 || !runtime::query_initialized() {
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
    let overlaps = dest < source.saturating_add(bytes) && source < dest.saturating_add(bytes);
    // An object that is copied to itself stays what it is.
    if call.peer == runtime::map().me && dest != 0 && source != 0 && dest != source && !is_strided && overlaps {
        let cause = Cause::Overlap { dest, dest_bytes: bytes, source, source_bytes: bytes, in_place: false };
        return Err(Fault::from(cause));
    }
    Ok(())
}
