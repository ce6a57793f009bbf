//! What is noted of calls that wait long, for reports on jobs that hang: whether the profile is on or not.
//!
//! A call of a routine that may wait has left its number and its arguments where its thread finds them ([`thread`]).
//! The others (a quiet or a get over the network) leave nothing, since they take nanoseconds without one: their routine
//! is looked for on the stack.

use std::time::Instant;

use pellucid_core::base::observer::{Before, Condition, WaitObserver};
use pellucid_core::os::meanwhile::Meanwhile;
use pellucid_core::os::stack;
use pellucid_core::os::wait;
use pellucid_profile::{recorder, segment};

use crate::caller;
use crate::dispatcher;
use crate::entry;
use crate::generated::addresses::{BODIES_COUNT, BODY};
use crate::thread;

/// Has long waits noted.
pub const OBSERVER: WaitObserver = WaitObserver { begin, condition, end: recorder::stall_over };

/// Has waits stamped that are not over at once, calls counted while they wait, and what they show kept from calls in
/// signal handlers.
pub fn keep() {
    let meanwhile = Meanwhile {
        first: recorder::wait_counts,
        later: |kept| {
            recorder::wait_begins();
            recorder::wait_looks(kept);
        },
        slow: |kept| {
            recorder::wait_looks(kept);
            recorder::wait_goes_on();
        },
        over: recorder::wait_looks,
    };
    recorder::stamps_come_after(wait::meanwhile(meanwhile));
}

fn begin(since: Instant, pe: Option<u32>) -> Option<Before> {
    let noted = |op, (peer, addr, bytes)| recorder::stall(op, peer, addr, bytes, since.elapsed());
    if !recorder::may_stall() {
        return None;
    }
    if let Some((op, operands)) = thread::waiting() {
        return noted(op, operands);
    }
    let op = recorder::current_op().or_else(on_stack)?;
    noted(op, (pe.map_or(-1, |pe| pe as i32), 0, 0))
}

fn condition(condition: &Condition) {
    let Condition { addr, bytes, signed, cmp, wanted, found, set } = *condition;
    recorder::waits_for(&segment::Condition {
        addr: addr as u64,
        bytes: bytes as u8,
        signed,
        cmp: cmp as u8,
        wanted,
        found,
        set: set.map(|(of, all)| (of.try_into().unwrap_or(u32::MAX), all)),
    });
}

/// The body that begins at an address.
pub fn body(begin: usize) -> Option<usize> {
    (0..BODIES_COUNT).find(|body| dispatcher::imp(*body).addr() == begin)
}

/// The routine that the calling thread is in, by its stack.
fn on_stack() -> Option<u16> {
    let (body, returns_to) = stack::function(body)?;
    // Routines that are alike have one body: the call tells which it was. Where a register had its address, it was one
    // of them.
    let has_it = |op: &usize| BODY.get(*op).is_some_and(|of| usize::from(*of) == body);
    let op = entry::op(caller::called(returns_to)).filter(has_it).or_else(|| (0..BODY.len()).find(has_it))?;
    u16::try_from(op).ok()
}
