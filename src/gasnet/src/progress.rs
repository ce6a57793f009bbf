//! Moving things on, and waiting.
#![allow(unsafe_code)]

use crate::fail::{need, unrestricted};
use crate::types::code;
use crate::{coll, thread};
use pellucid_core::os::cpu;
use pellucid_core::os::wait::Backoff;
use pellucid_core::runtime;
use std::ffi::{c_int, c_uint};
use std::time::Duration;

/// Idle turns of a wait for a condition before it yields, and before it naps.
const SPINS: u32 = 2000;
const PATIENCE: u32 = 200_000;

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
    if ready() {
        return;
    }
    let oversubscribed = runtime::map().oversubscribed;
    let mut backoff = Backoff::new(oversubscribed);
    loop {
        let handled = poll(routine);
        if ready() {
            return;
        }
        if handled > 0 {
            backoff.restart(oversubscribed);
        }
        backoff.step();
    }
}

/// `gasnet_AMPoll`. Where PEs outnumber cores, a poll that finds nothing, again, gives its core away: whoever is waited
/// for may need it.
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_AMPoll() -> c_int {
    unrestricted("gasnet_AMPoll");
    crate::fail::initialized("gasnet_AMPoll");
    let found = poll("gasnet_AMPoll") > 0;
    let thread = thread::get();
    thread.idle = if found { 0 } else { thread.idle.saturating_add(1) };
    if thread.idle > 1 && runtime::map().oversubscribed {
        cpu::yield_now();
    }
    code::OK
}

/// One turn of `GASNET_BLOCKUNTIL`, which counts its idle turns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_idle(turns: *mut c_uint) {
    unrestricted("GASNET_BLOCKUNTIL");
    let found = poll("GASNET_BLOCKUNTIL") > 0;
    // SAFETY: a variable of the macro's.
    let turns = unsafe { &mut *turns };
    *turns = if found { 0 } else { turns.saturating_add(1) };
    if *turns > PATIENCE {
        std::thread::sleep(Duration::from_micros(50));
    } else if *turns > SPINS || (*turns > 1 && runtime::map().oversubscribed) {
        cpu::yield_now();
    }
}
