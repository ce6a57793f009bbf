//! Moving things on, and waiting.
#![allow(unsafe_code)]

use crate::fail::{need, unrestricted};
use crate::record::Whom;
use crate::types::code;
use crate::{asked, coll, op, record, thread};
use pellucid_core::os::cpu;
use pellucid_core::os::wait::Backoff;
use pellucid_core::runtime;
use pellucid_profile::recorder::{self, Shown};
use std::ffi::c_int;
use std::ptr;
use std::time::{Duration, Instant};

/// Idle turns of a wait for a condition before it yields, and before it naps.
const SPINS: u32 = 2000;
const PATIENCE: u32 = 200_000;
/// Nanoseconds of a turn that yields, where nobody else wants the core.
const YIELD_NS: u64 = 200;
/// Idle polls between looks at the clock.
const LOOKS: u32 = 256;
/// From when on a thread whose polls find nothing waits.
const LONG: Duration = Duration::from_millis(200);

/// Runs handlers of messages that have come and moves collectives on. Gives how many handlers.
#[inline]
pub fn poll(routine: &'static str) -> usize {
    let handled = need(routine, runtime::messages().poll());
    coll::advance();
    handled
}

/// Waits, running handlers meanwhile.
#[inline]
pub fn until(routine: &'static str, mut ready: impl FnMut() -> bool) {
    until_of(routine, &mut (), |()| ready(), |()| None);
}

/// As [`until`], for something that lacks what a PE does, which `whom` may know.
pub fn until_of<T: ?Sized>(
    routine: &'static str,
    what: &mut T,
    mut ready: impl FnMut(&mut T) -> bool,
    whom: impl Fn(&T) -> Whom,
) {
    if ready(what) {
        return;
    }
    let oversubscribed = runtime::map().oversubscribed;
    let mut backoff = Backoff::new(oversubscribed);
    let mut shown: Option<Shown> = None;
    let mut last: Option<Whom> = None;
    loop {
        let handled = poll(routine);
        if ready(what) {
            break;
        }
        if handled > 0 {
            backoff.restart(oversubscribed);
        }
        if backoff.becomes_long() {
            let whom = whom(what).or_else(unanswered);
            shown = record::long_wait(routine, Duration::ZERO, whom);
            last = Some(whom);
        } else if handled > 0
            && let Some(before) = last
        {
            // What was awaited may have come, and not be all.
            let whom = whom(what).or_else(unanswered);
            if whom != before {
                record::goes_on(whom);
                last = Some(whom);
            }
        }
        backoff.step();
    }
    if let Some(shown) = shown {
        recorder::stall_over(&shown);
    }
}

/// A thread whose polls find nothing, for long.
#[derive(Debug)]
pub struct Stalled {
    since: Instant,
    /// Once that is shown: what was shown before.
    shown: Option<Shown>,
}

/// A poll of the client's has found something, or nothing. Where PEs outnumber cores, one that finds nothing, again,
/// gives its core away: whoever is waited for may need it.
#[inline]
fn polled(found: bool) {
    let thread = thread::get();
    if found {
        thread.idle = 0;
        if !thread.stalled.is_null() {
            over(thread);
        }
        return;
    }
    thread.idle = thread.idle.saturating_add(1);
    if thread.idle.is_multiple_of(LOOKS) {
        stall(thread);
    }
    if thread.idle > 1 && runtime::map().oversubscribed {
        cpu::yield_now();
    }
}

#[cold]
fn stall(thread: &mut thread::Thread) {
    if thread.stalled.is_null() {
        thread.stalled = Box::into_raw(Box::new(Stalled { since: Instant::now(), shown: None }));
        thread::release_at_exit();
    }
    // SAFETY: the thread's own, made above or before.
    let stalled = unsafe { &mut *thread.stalled };
    if stalled.shown.is_some() {
        if !record::goes_on(awaited()) {
            // The client has made other calls.
            (stalled.since, stalled.shown) = (Instant::now(), None);
        }
    } else if stalled.since.elapsed() > LONG {
        stalled.shown = record::long_wait("gasnet_AMPoll", stalled.since.elapsed(), awaited());
    }
}

/// What a client that polls may wait for.
fn awaited() -> Whom {
    coll::lacking_of_any().or_else(unanswered)
}

/// A request that may be without a reply.
fn unanswered() -> Whom {
    asked::unanswered().map(|(pe, awaited)| (pe, awaited.address()))
}

/// A thread's polls find something again, or it ends.
#[cold]
pub fn over(thread: &mut thread::Thread) {
    let stalled = std::mem::replace(&mut thread.stalled, ptr::null_mut());
    // SAFETY: made by `stall`, and taken once.
    let stalled = unsafe { Box::from_raw(stalled) };
    if let Some(shown) = stalled.shown {
        recorder::stall_over(&shown);
    }
}

/// `gasnet_AMPoll`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_AMPoll() -> c_int {
    const R: &str = "gasnet_AMPoll";
    unrestricted(R);
    crate::fail::initialized(R);
    polled(record::polled(op!(POLL), || poll(R) > 0));
    code::OK
}

/// What the calling thread has tried again and again has come.
#[inline]
pub fn found() {
    polled(true);
}

/// Looks for messages on behalf of a call that tries something, and finds it not to be complete: as a poll.
pub fn try_once(routine: &'static str) {
    polled(poll(routine) > 0);
}

/// A wait of `GASNET_BLOCKUNTIL`, in the macro's frame.
#[derive(Debug)]
#[repr(C)]
pub struct Block {
    /// Idle turns.
    turns: u64,
    /// What the profile needs once it is over: [`NOT_BEGUN`], [`NOT_RECORDED`], or its start and [`RECORDED`].
    start: u64,
}

const NOT_BEGUN: u64 = 0;
const NOT_RECORDED: u64 = 1;
/// Time stamps are far smaller.
const RECORDED: u64 = 1 << 63;
/// The idle turn at which a wait is stamped: before, it is a short one, of which samples are timed.
const STAMPED: u64 = 16;

/// One turn of `GASNET_BLOCKUNTIL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_idle(block: *mut Block) {
    const R: &str = "GASNET_BLOCKUNTIL";
    unrestricted(R);
    // SAFETY: a variable of the macro's.
    let block = unsafe { &mut *block };
    if block.start == NOT_BEGUN {
        block.start = record::enter(op!(BLOCKUNTIL), -1).map_or(NOT_RECORDED, |start| start | RECORDED);
    }
    let found = poll(R) > 0;
    let before = block.turns;
    block.turns = if found { 0 } else { block.turns + 1 };
    if block.turns == if runtime::map().oversubscribed { 1 } else { STAMPED } && block.start != NOT_RECORDED {
        recorder::wait_begins();
    }
    if block.turns > u64::from(PATIENCE) {
        std::thread::sleep(Duration::from_micros(50));
    } else if block.turns > u64::from(SPINS) || (block.turns > 1 && runtime::map().oversubscribed) {
        let begun = Instant::now();
        cpu::yield_now();
        // Others may have had the core for as long as many turns take.
        block.turns += begun.elapsed().as_nanos() as u64 / YIELD_NS;
    }
    if before <= u64::from(PATIENCE) && block.turns > u64::from(PATIENCE) {
        record::long_wait(R, Duration::ZERO, awaited());
    }
}

/// `GASNET_BLOCKUNTIL` is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_idle_over(block: *const Block) {
    // SAFETY: as above.
    let start = unsafe { (*block).start };
    if start & RECORDED != 0 {
        record::leave(op!(BLOCKUNTIL), start & !RECORDED);
    }
}
