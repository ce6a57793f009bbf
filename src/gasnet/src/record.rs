//! What the profile hears of calls and handlers. Rows and their numbers: `pellucid_profile::op::gasnet`.
//!
//! A call is recorded as its flag byte says, as the entry points of OpenSHMEM are: not at all, briefly, or by call
//! site, which [`site`] finds.

use crate::{asked, site, thread};
use pellucid_profile::arm::{self, ARM, OFF, PROBE};
use pellucid_profile::op::gasnet::Awaited;
use pellucid_profile::op::{self, Operation};
use pellucid_profile::recorder::{self, Shown, Stamp, count};
use std::time::Duration;

/// `op!(ROW)`: the operation of a row, whose traits are known when this is compiled.
#[macro_export]
macro_rules! op {
    ($row:ident) => {{
        use pellucid_profile::op;
        const ROW: u16 = op::gasnet::$row;
        const WORD: u32 = op::entered(ROW);
        op::With::<{ op::traits(ROW) }>(WORD)
    }};
}

/// Whether calls of an operation are recorded.
#[inline(always)]
fn is_on(flag: u8) -> bool {
    flag != OFF && arm::level() > 0
}

/// Whether nothing is left to record of a call: it is not recorded, or counted `briefly`, where that is possible.
#[inline(always)]
fn is_counted(op: impl Operation, briefly: impl FnOnce() -> bool) -> bool {
    let flag = arm::flag(&ARM, op.id());
    let is_counted = match flag {
        OFF => true,
        PROBE => briefly(),
        _ => false,
    };
    is_counted || !is_on(flag)
}

/// Whether a short call needs nothing recorded but that there was one, which is so now. False: nothing was recorded.
#[inline(always)]
pub fn is_only_counted(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> bool {
    is_counted(op, || count::sampled::<false, _>(op, (peer, addr, bytes), || ()).is_some())
}

/// Runs a short call that moves nothing, or one element.
#[inline(always)]
pub fn sampled<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl FnOnce() -> R) -> R {
    if is_only_counted(op, peer, addr, bytes) { f() } else { sampled_fully(op, (peer, addr, bytes), f) }
}

#[inline(never)]
fn sampled_fully<R>(op: impl Operation, (peer, addr, bytes): (i32, usize, usize), f: impl FnOnce() -> R) -> R {
    site::note();
    recorder::sampled_after(op, (peer, addr, bytes), f, waited)
}

/// As [`sampled`], of a call by which a client waits that makes it again and again: once that has become a wait which
/// is shown, it stays to be seen.
#[inline(always)]
pub fn polled<R>(op: impl Operation, f: impl FnOnce() -> R) -> R {
    if thread::get().stalled.is_null() { sampled(op, -1, 0, 0, f) } else { polled_in_wait(op, f) }
}

#[inline(never)]
fn polled_in_wait<R>(op: impl Operation, f: impl FnOnce() -> R) -> R {
    if !is_on(arm::flag(&ARM, op.id())) {
        return f();
    }
    site::note();
    recorder::sampled_in_wait(op, f)
}

/// Runs a put, a get, or a message with a payload.
#[inline(always)]
pub fn sized<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl FnOnce() -> R) -> R {
    if is_only_sized(op, peer, addr, bytes) { f() } else { sized_fully(op, (peer, addr, bytes), f) }
}

/// As [`is_only_counted`], of what [`sized`] runs.
#[inline(always)]
pub fn is_only_sized(op: impl Operation, peer: i32, addr: usize, bytes: usize) -> bool {
    is_counted(op, || count::sized::<false, _>(op, (peer, addr, bytes), || ()).is_some())
}

#[inline(never)]
fn sized_fully<R>(op: impl Operation, (peer, addr, bytes): (i32, usize, usize), f: impl FnOnce() -> R) -> R {
    site::note();
    recorder::sized_after(op, (peer, addr, bytes), f, waited)
}

/// Runs a call that may take long.
#[inline]
pub fn timed<R>(op: impl Operation, peer: i32, addr: usize, bytes: usize, f: impl FnOnce() -> R) -> R {
    if !is_on(arm::flag(&ARM, op.id())) {
        return f();
    }
    site::note();
    recorder::timed(op, peer, addr, bytes, f)
}

/// Records a call that began before there was anything to record into.
pub fn since(op: u16, began: Stamp) {
    if is_on(arm::flag(&ARM, op)) {
        site::note();
        recorder::record(op, -1, 0, 0, began);
    }
}

/// Begins a call that may take long; gives what [`leave`] needs, nothing where it is not recorded.
pub fn enter(op: impl Operation, peer: i32) -> Option<u64> {
    if !is_on(arm::flag(&ARM, op.id())) {
        return None;
    }
    site::note();
    Some(recorder::enter(op, peer, 0, 0))
}

/// Ends it.
pub fn leave(op: impl Operation, start: u64) {
    recorder::leave(op, start, -1);
}

/// Runs a handler, for a message of a PE. It runs within another call, which the thread shows again afterwards.
#[inline]
pub fn handler<R>(number: u8, source: i32, bytes: usize, f: impl FnOnce() -> R) -> R {
    match op::gasnet::handler(number.into()) {
        Some(op) if is_on(arm::flag(&ARM, op)) => recorder::nested(|| sampled(op, source, 0, bytes, f)),
        _ => f(),
    }
}

/// A request waits for room: that is a call of its own, whose time is not that of the one that sends it. Where that is
/// timed whether it waits or not, it has the time.
pub fn waits_for_room(pe: i32, wait: &mut dyn FnMut()) {
    let awaited = asked::last(pe).map_or(0, Awaited::address);
    if recorder::is_in_timed_call() {
        recorder::wait_begins();
        let shown = recorder::stall(op::gasnet::NO_ROOM, pe, awaited, 0, Duration::ZERO);
        wait();
        shown.iter().for_each(recorder::stall_over);
    } else {
        thread::get().waited = recorder::exclusive_wait(|| timed(op!(NO_ROOM), pe, awaited, 0, wait));
    }
}

/// When the thread's last wait for room was over.
fn waited() -> u64 {
    thread::get().waited
}

/// For whom a wait is, and the address that it is shown with: [`Awaited::address`] of a PE that lacks in a collective,
/// or of a request without reply; of a transfer, the memory of its peer.
pub type Whom = Option<(i32, usize)>;

/// As what the wait is shown.
fn words(whom: Whom) -> (i32, usize) {
    whom.unwrap_or((-1, 0))
}

/// As which row a routine's wait is shown.
fn row_of(routine: &str) -> Option<u16> {
    let shared = || match routine {
        "gex_Event_WaitSome" | "gex_Event_WaitAll" => Some(op::gasnet::EVENT_WAIT),
        "gasnet_coll_barrier_wait" => Some(op::gasnet::OLD_WAIT),
        _ => routine.starts_with("gasnet_coll_").then_some(op::gasnet::OLD_COLL),
    };
    op::find(routine).or_else(shared)
}

/// A wait has become long: shows for whom it is. Gives what is to be shown again once it is over.
#[cold]
pub fn long_wait(routine: &str, waited: Duration, whom: Whom) -> Option<Shown> {
    let (peer, addr) = words(whom);
    if !recorder::may_stall() {
        recorder::waits_on(peer, addr);
        return None;
    }
    recorder::stall(row_of(routine)?, peer, addr, 0, waited)
}

/// A long wait goes on, and is for somebody else now. False: it is not shown any more.
#[cold]
pub fn goes_on(whom: Whom) -> bool {
    let (peer, addr) = words(whom);
    recorder::waits_on(peer, addr)
}
