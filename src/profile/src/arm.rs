//! The flag bytes that each entry point tests before it does anything else.
//!
//! `shmem_X` tests `ARM[op]`, `pshmem_X` tests `PARM[op]`: [`OFF`] leads to the routine, [`PROBE`] and [`SITE`] to the probe
//! around it, [`GATE`] to the longer way past stacked tools and callbacks (in the library; this crate only keeps the flags).
//!
//! `PARM` is in use where the program has a foreign strong `shmem_X`, a profiling tool that is compiled in, which goes on to
//! `pshmem_X`: both entries are armed, a call passes one of them, and is recorded once whoever is in between. It leads to
//! the gate, which tells the program's calls from those that the tool makes on its own.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering::Relaxed, Ordering::SeqCst};

use crate::op::{self, COUNT, OPS, Timing};

/// Calls go to the routine.
pub const OFF: u8 = 0;
/// Calls are recorded, as briefly as can be.
pub const PROBE: u8 = 1;
/// Calls are recorded, with the place they come from.
pub const SITE: u8 = 2;
/// Calls go the longer way, which records them where the profile is on.
pub const GATE: u8 = 3;

/// What becomes of calls that arrive through `shmem_X`.
pub static ARM: [AtomicU8; COUNT] = [const { AtomicU8::new(OFF) }; COUNT];

/// What becomes of calls that arrive through `pshmem_X`.
pub static PARM: [AtomicU8; COUNT] = [const { AtomicU8::new(OFF) }; COUNT];

/// Who wants the calls of an operation to pass the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Guest {
    /// A stacked tool.
    Tool = 1,
    /// A callback.
    Callback = 2,
}

static FOREIGN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
static GUESTS: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];
static CLOSED: AtomicBool = AtomicBool::new(false);
static LEVEL: AtomicI32 = AtomicI32::new(0);
static BRIEF: AtomicBool = AtomicBool::new(false);

/// Whether short calls are counted by operation only, which leaves them twice as fast: nobody asked for a profile to be
/// kept. In force from the next change of the level on.
pub fn set_brief(brief: bool) {
    BRIEF.store(brief, SeqCst);
}

/// See [`set_brief`].
#[inline(always)]
pub fn is_brief() -> bool {
    BRIEF.load(Relaxed)
}

/// Tells whether `shmem_X` of this operation is defined by someone else.
pub fn set_foreign(op: u16, foreign: bool) {
    if let Some(flag) = FOREIGN.get(usize::from(op)) {
        flag.store(foreign, SeqCst);
        apply(usize::from(op));
    }
}

/// Whether `shmem_X` of this operation was said to be defined by someone else.
pub fn is_foreign(op: u16) -> bool {
    FOREIGN.get(usize::from(op)).is_some_and(|flag| flag.load(Relaxed))
}

/// Sends the calls of an operation through the gate, or no longer.
pub fn set_guest(op: u16, guest: Guest, wants: bool) {
    if let Some(guests) = GUESTS.get(usize::from(op)) {
        if wants {
            guests.fetch_or(guest as u8, SeqCst);
        } else {
            guests.fetch_and(!(guest as u8), SeqCst);
        }
        apply(usize::from(op));
    }
}

/// Sends the program's calls of all operations that need the library through the gate, which may refuse them, or no longer.
pub fn set_closed(closed: bool) {
    if CLOSED.swap(closed, SeqCst) != closed {
        refresh();
    }
}

/// See [`set_closed`].
pub fn is_closed() -> bool {
    CLOSED.load(Relaxed)
}

/// The profiling level in force: 0 or less is off.
pub fn level() -> i32 {
    LEVEL.load(Relaxed)
}

/// Arms or disarms every entry point. Calls that are already inside a routine finish as they began.
pub fn set_level(level: i32) {
    LEVEL.store(level, SeqCst);
    refresh();
}

/// Arms or disarms every entry point as everyone wants it now.
pub(crate) fn refresh() {
    (0..COUNT).for_each(apply);
}

/// The flags of `shmem_X` and `pshmem_X` as everyone wants them now.
fn wanted(op: usize) -> (u8, u8) {
    let flag = match (GUESTS[op].load(SeqCst), LEVEL.load(SeqCst) > 0) {
        (0, false) => OFF,
        (0, true) if is_brief() && !crate::trace::takes_all() && OPS[op].timing != Timing::Timed => PROBE,
        (0, true) => SITE,
        _ => GATE,
    };
    let own = if CLOSED.load(SeqCst) && op::needs_library(op as u16) { GATE } else { flag };
    (own, if FOREIGN[op].load(SeqCst) && flag != OFF { GATE } else { OFF })
}

/// Puts what is wanted of an operation into its flags. Threads may do so at once: who stored something else than is wanted
/// by then stores again.
fn apply(op: usize) {
    loop {
        let flags = wanted(op);
        ARM[op].store(flags.0, SeqCst);
        PARM[op].store(flags.1, SeqCst);
        if wanted(op) == flags {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_armed_where_its_calls_arrive() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (own, foreign) = (0, 1);
        set_foreign(foreign, true);
        set_foreign(COUNT as u16, true);
        assert!(is_foreign(foreign) && !is_foreign(own) && !is_foreign(COUNT as u16));
        for on in [1, 2, 7] {
            set_level(on);
            assert_eq!(level(), on);
            for op in 0..COUNT {
                let armed = (ARM[op].load(Relaxed), PARM[op].load(Relaxed));
                assert_eq!(armed, if op == usize::from(foreign) { (SITE, GATE) } else { (SITE, OFF) });
            }
        }
        for off in [0, -1, i32::MIN] {
            set_level(off);
            assert!(ARM.iter().chain(&PARM).all(|flag| flag.load(Relaxed) == 0));
        }
        set_foreign(foreign, false);
    }

    #[test]
    fn a_brief_profile_leaves_the_call_sites_of_short_calls_out() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        set_brief(true);
        set_level(1);
        for (op, flag) in OPS.iter().zip(&ARM) {
            assert_eq!(flag.load(Relaxed), if op.timing == Timing::Timed { SITE } else { PROBE }, "{}", op.name);
        }
        set_brief(false);
        set_level(0);
    }

    #[test]
    fn a_library_that_is_closed_sends_what_needs_it_through_the_gate() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let gated = |name| op::find(name).map(|op| ARM[usize::from(op)].load(Relaxed) == GATE);
        set_closed(true);
        assert!(["shmem_long_p", "shmem_barrier_all", "shmem_free"].iter().all(|name| gated(name) == Some(true)));
        for name in super::op::AT_ANY_TIME.into_iter().chain(["shmem_init", "shmem_finalize", "shmem_pcontrol"]) {
            assert_eq!(gated(name), Some(false), "{name}");
        }
        set_closed(false);
        assert!(ARM.iter().all(|flag| flag.load(Relaxed) == OFF));
    }

    #[test]
    fn guests_send_calls_through_the_gate_at_any_level() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let flags = |op: u16| (ARM[usize::from(op)].load(Relaxed), PARM[usize::from(op)].load(Relaxed));
        set_foreign(3, true);
        for guest in [Guest::Tool, Guest::Callback] {
            set_guest(2, guest, true);
            set_guest(3, guest, true);
        }
        set_guest(COUNT as u16, Guest::Tool, true);
        for level in [0, 1, 0] {
            set_level(level);
            assert_eq!((flags(2), flags(3)), ((GATE, OFF), (GATE, GATE)));
        }
        set_guest(2, Guest::Tool, false);
        assert_eq!(flags(2), (GATE, OFF));
        set_guest(2, Guest::Callback, false);
        assert_eq!(flags(2), (OFF, OFF));
        for guest in [Guest::Tool, Guest::Callback] {
            set_guest(3, guest, false);
        }
        set_foreign(3, false);
        assert_eq!(flags(3), (OFF, OFF));
    }
}
