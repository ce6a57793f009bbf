//! The flag bytes that each entry point tests before it does anything else.
//!
//! `shmem_X` tests `ARM[op]`, `pshmem_X` tests `PARM[op]`: [`OFF`] leads to the routine, [`PROBE`] and [`SITE`] to
//! the probe around it, [`DISPATCH`] to the longer way past stacked tools and callbacks (in the library; this crate
//! only keeps the flags).
//!
//! `PARM` is in use where the program has a foreign strong `shmem_X`, a profiling tool that is compiled in, which goes
//! on to `pshmem_X`: both entries are armed, a call passes one of them, and is recorded once whoever is in between. It
//! leads to the dispatcher, which tells the program's calls from those that the tool makes on its own.

use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU8, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence,
};

use crate::op::{self, ALL, COUNT, TOTAL, Timing};

/// Calls go to the routine.
pub const OFF: u8 = 0;
/// Calls are recorded, as briefly as can be: only those that go on to the probe have the place they come from.
pub const PROBE: u8 = 1;
/// Calls are recorded, with the place they come from.
pub const SITE: u8 = 2;
/// Calls go the longer way, which records them where the profile is on. Of the flags it is the one with its highest bit
/// set, so that one comparison tells an entry all.
pub const DISPATCH: u8 = 0x81;

/// Flag bytes that are stored together: a change of the level must not take longer than the calls that it is about.
const AT_ONCE: usize = size_of::<u64>();
const WORDS: usize = TOTAL.div_ceil(AT_ONCE);

/// A byte an operation, that of operation 0 first in memory.
pub type Flags = [AtomicU64; WORDS];

/// What becomes of calls that arrive through `shmem_X`. Before the level is known, those that initialize leave their
/// call site: they are recorded after the fact.
pub static ARM: Flags = {
    let mut flags = [const { AtomicU64::new(0) }; WORDS];
    let mut word = 0;
    while word < WORDS {
        flags[word] = AtomicU64::new(SITES_OF_INITIALIZING[word]);
        word += 1;
    }
    flags
};

/// What becomes of calls that arrive through `pshmem_X`.
pub static PARM: Flags = [const { AtomicU64::new(0) }; WORDS];

/// The flag of an operation.
#[inline(always)]
pub fn flag(flags: &Flags, op: u16) -> u8 {
    let op = usize::from(op);
    flags[op / AT_ONCE].load(Relaxed).to_ne_bytes()[op % AT_ONCE]
}

/// The byte of an operation in its word, and the number of that.
fn place(op: usize, byte: u8) -> (usize, u64) {
    let mut bytes = [0; AT_ONCE];
    bytes[op % AT_ONCE] = byte;
    (op / AT_ONCE, u64::from_ne_bytes(bytes))
}

/// Who wants the calls of an operation to pass the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Interceptor {
    /// A stacked tool.
    Tool = 1,
    /// A callback.
    Callback = 2,
    /// Checks of arguments that take long.
    Check = 4,
}

/// 0xff where `shmem_X` is someone else's.
static FOREIGN: Flags = [const { AtomicU64::new(0) }; WORDS];
/// Whether it is anywhere.
static ANY_FOREIGN: AtomicBool = AtomicBool::new(false);
/// Whether somebody has wanted calls of any to pass the dispatcher.
static ANY_GATED: AtomicBool = AtomicBool::new(false);
/// Who wants calls to pass the dispatcher.
static INTERCEPTORS: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];
/// [`DISPATCH`] where somebody does, else 0.
static GATED: Flags = [const { AtomicU64::new(0) }; WORDS];
/// [`DISPATCH`] where the library is closed and calls need it, else 0.
static CLOSED: Flags = [const { AtomicU64::new(0) }; WORDS];
/// 0xff where call sites are those of samples.
static SAMPLED: Flags = [const { AtomicU64::new(0) }; WORDS];
static IS_CLOSED: AtomicBool = AtomicBool::new(false);
static LEVEL: AtomicI32 = AtomicI32::new(0);
static IS_LEVEL_KNOWN: AtomicBool = AtomicBool::new(false);
static COUNTS_ONLY: AtomicBool = AtomicBool::new(false);
/// Grows with each change of what is above.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// What the flags are while the profile is on: each call with its place.
const ALL_SITES: [u64; WORDS] = [u64::from_ne_bytes([SITE; AT_ONCE]); WORDS];
/// The same in a profile of counts only.
const COUNTS_ONLY_SITES: [u64; WORDS] = {
    let mut words = ALL_SITES;
    let mut op = 0;
    while op < TOTAL {
        if !matches!(ALL[op].timing, Timing::Timed) {
            let mut bytes = words[op / AT_ONCE].to_ne_bytes();
            bytes[op % AT_ONCE] = PROBE;
            words[op / AT_ONCE] = u64::from_ne_bytes(bytes);
        }
        op += 1;
    }
    words
};
const NO_SITES: [u64; WORDS] = [0; WORDS];
/// What they are before the level is known.
const SITES_OF_INITIALIZING: [u64; WORDS] = {
    let mut words = NO_SITES;
    let mut op = 0;
    while op < COUNT {
        if op::traits(op as u16) & op::INITIALIZES != 0 {
            let mut bytes = words[op / AT_ONCE].to_ne_bytes();
            bytes[op % AT_ONCE] = SITE;
            words[op / AT_ONCE] = u64::from_ne_bytes(bytes);
        }
        op += 1;
    }
    words
};
/// A word of calls of which samples have their place.
const SAMPLED_SITES: u64 = u64::from_ne_bytes([PROBE; AT_ONCE]);
/// A word of calls that pass the dispatcher.
const GATES: u64 = u64::from_ne_bytes([DISPATCH; AT_ONCE]);

/// Whether short calls are counted by operation only, which leaves them twice as fast: nobody asked for a profile to be
/// kept.
pub fn set_counts_only(counts_only: bool) {
    if COUNTS_ONLY.swap(counts_only, SeqCst) != counts_only {
        refresh();
    }
}

/// See [`set_counts_only`].
#[inline(always)]
pub fn counts_only() -> bool {
    COUNTS_ONLY.load(Relaxed)
}

/// From now on, call sites of the operation are those of samples, or not.
pub(crate) fn sample_sites(op: u16, only_samples: bool) {
    let op = usize::from(op);
    if op < TOTAL {
        assign(&SAMPLED, op, 0xff, only_samples);
        change(op / AT_ONCE..op / AT_ONCE + 1);
    }
}

/// See [`sample_sites`].
pub(crate) fn samples_sites(op: u16) -> bool {
    usize::from(op) < TOTAL && flag(&SAMPLED, op) != 0
}

/// Each call has its site again.
pub(crate) fn forget_sampled_sites() {
    SAMPLED.iter().for_each(|word| word.store(0, SeqCst));
    refresh();
}

/// Sets or clears bits of an operation's byte.
fn assign(flags: &Flags, op: usize, bits: u8, on: bool) {
    let (word, bits) = place(op, bits);
    if on {
        flags[word].fetch_or(bits, SeqCst);
    } else {
        flags[word].fetch_and(!bits, SeqCst);
    }
}

/// Tells whether `shmem_X` of this operation is defined by someone else.
pub fn set_foreign(op: u16, foreign: bool) {
    if usize::from(op) >= COUNT {
        return;
    }
    assign(&FOREIGN, op.into(), 0xff, foreign);
    // Once there was one, the flags of `pshmem_X` are kept.
    ANY_FOREIGN.fetch_or(foreign, SeqCst);
    change(usize::from(op) / AT_ONCE..usize::from(op) / AT_ONCE + 1);
}

/// Whether `shmem_X` of this operation was said to be defined by someone else.
pub fn is_foreign(op: u16) -> bool {
    usize::from(op) < COUNT && flag(&FOREIGN, op) != 0
}

/// Sends the calls of an operation through the dispatcher, or no longer.
pub fn set_interceptor(op: u16, interceptor: Interceptor, wants: bool) {
    let Some(interceptors) = INTERCEPTORS.get(usize::from(op)) else { return };
    ANY_GATED.fetch_or(wants, SeqCst);
    if wants {
        interceptors.fetch_or(interceptor as u8, SeqCst);
    } else {
        interceptors.fetch_and(!(interceptor as u8), SeqCst);
    }
    loop {
        let wanted = interceptors.load(SeqCst) != 0;
        assign(&GATED, op.into(), DISPATCH, wanted);
        if (interceptors.load(SeqCst) != 0) == wanted {
            break;
        }
    }
    change(usize::from(op) / AT_ONCE..usize::from(op) / AT_ONCE + 1);
}

/// Sends the program's calls of all operations that need the library through the dispatcher, which may refuse them, or
/// no longer.
pub fn set_closed(closed: bool) {
    if IS_CLOSED.swap(closed, SeqCst) == closed {
        return;
    }
    for op in (0..COUNT).filter(|op| op::needs_library(*op as u16)) {
        assign(&CLOSED, op, DISPATCH, closed);
    }
    refresh();
}

/// See [`set_closed`].
pub fn is_closed() -> bool {
    IS_CLOSED.load(Relaxed)
}

/// The profiling level in force: 0 or less is off.
#[inline]
pub fn level() -> i32 {
    LEVEL.load(Relaxed)
}

/// Arms or disarms every entry point. Calls that are already inside a routine finish as they began.
pub fn set_level(level: i32) {
    LEVEL.store(level, SeqCst);
    IS_LEVEL_KNOWN.store(true, SeqCst);
    refresh();
}

/// Arms or disarms every entry point as everyone wants it now.
pub(crate) fn refresh() {
    change(0..WORDS);
}

/// All bits of the bytes of which the lowest one is set.
const fn all_of_bytes(word: u64) -> u64 {
    (word & u64::from_ne_bytes([1; AT_ONCE])) * 0xff
}

/// Puts what is wanted of some words of operations into their flags. Threads may do so at once, and a signal handler in
/// between: who finds that something changed meanwhile does it again.
fn change(words: std::ops::Range<usize>) {
    CHANGES.fetch_add(1, SeqCst);
    loop {
        let number = CHANGES.load(SeqCst);
        let on = LEVEL.load(SeqCst) > 0;
        let each_traced = crate::trace::takes_all();
        let wanted = match (on, counts_only() && !each_traced) {
            (false, _) if !IS_LEVEL_KNOWN.load(SeqCst) => &SITES_OF_INITIALIZING,
            (false, _) => &NO_SITES,
            (true, true) => &COUNTS_ONLY_SITES,
            (true, false) => &ALL_SITES,
        };
        let may_sample = on && !counts_only() && !each_traced;
        let foreign = ANY_FOREIGN.load(SeqCst);
        // Of most programs, all calls of an operation go the same way.
        let is_plain = !may_sample && !foreign && !ANY_GATED.load(SeqCst) && !is_closed();
        if is_plain {
            let flags = ARM[words.clone()].iter().zip(&wanted[words.clone()]);
            flags.for_each(|(flags, wanted)| flags.store(*wanted, Relaxed));
        } else {
            words.clone().for_each(|word| change_word(word, (wanted[word], may_sample), foreign.then_some(on)));
        }
        fence(SeqCst);
        if CHANGES.load(SeqCst) == number {
            return;
        }
    }
}

/// `calls` are what `shmem_X` has where nobody wants otherwise, and whether call sites may be those of samples;
/// `foreign` whether the profile is on, where some `shmem_X` are someone else's.
fn change_word(word: usize, calls: (u64, bool), foreign: Option<bool>) {
    let sampled = if calls.1 { SAMPLED[word].load(SeqCst) } else { 0 };
    let recorded = calls.0 & !sampled | SAMPLED_SITES & sampled;
    let gates = GATED[word].load(Relaxed) | CLOSED[word].load(Relaxed);
    // Whatever else is wanted of those that pass the dispatcher.
    ARM[word].store(recorded & !all_of_bytes(gates) | gates, Relaxed);
    if let Some(on) = foreign {
        let gates = if on { GATES } else { GATED[word].load(Relaxed) };
        PARM[word].store(gates & FOREIGN[word].load(Relaxed), Relaxed);
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
            for op in 0..TOTAL {
                let armed = (flag(&ARM, op as u16), flag(&PARM, op as u16));
                assert_eq!(armed, if op == usize::from(foreign) { (SITE, DISPATCH) } else { (SITE, OFF) });
            }
        }
        for off in [0, -1, i32::MIN] {
            set_level(off);
            assert!(ARM.iter().chain(&PARM).all(|flags| flags.load(Relaxed) == 0));
        }
        set_foreign(foreign, false);
    }

    #[test]
    fn a_profile_of_counts_only_leaves_the_call_sites_of_short_calls_out() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        set_counts_only(true);
        set_level(1);
        for (id, op) in ALL.iter().enumerate() {
            assert_eq!(flag(&ARM, id as u16), if op.timing == Timing::Timed { SITE } else { PROBE }, "{}", op.name());
        }
        set_counts_only(false);
        set_level(0);
    }

    #[test]
    fn a_library_that_is_closed_sends_what_needs_it_through_the_gate() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Before it is known, those that initialize leave their site.
        set_level(0);
        let gated = |name| op::find(name).map(|op| flag(&ARM, op) == DISPATCH);
        set_closed(true);
        assert!(["shmem_long_p", "shmem_barrier_all", "shmem_free"].iter().all(|name| gated(name) == Some(true)));
        let at_any_time = (0..COUNT as u16).filter(|op| op::traits(*op) & op::ANY_TIME != 0);
        let names: Vec<_> = at_any_time.map(|op| ALL[usize::from(op)].name()).collect();
        assert!(names.len() == 8 && names.contains(&"shmem_my_pe"), "{names:?}");
        for name in names.into_iter().chain(["shmem_init", "shmem_finalize", "shmem_pcontrol"]) {
            assert_eq!(gated(name), Some(false), "{name}");
        }
        set_closed(false);
        assert!(ARM.iter().all(|flags| flags.load(Relaxed) == 0));
    }

    #[test]
    fn what_passes_the_dispatcher_does_so_whatever_its_sites_are() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        set_counts_only(false);
        set_level(1);
        [2, 3].into_iter().for_each(|op| sample_sites(op, true));
        set_interceptor(3, Interceptor::Tool, true);
        let flags = || [1, 2, 3].map(|op| flag(&ARM, op));
        assert_eq!(flags(), [SITE, PROBE, DISPATCH]);
        set_interceptor(3, Interceptor::Tool, false);
        assert_eq!(flags(), [SITE, PROBE, PROBE]);
        sample_sites(2, false);
        assert_eq!(flags(), [SITE, SITE, PROBE]);
        set_level(0);
        assert_eq!(flags(), [OFF; 3]);
        forget_sampled_sites();
    }

    #[test]
    fn interceptors_send_calls_through_the_dispatcher_at_any_level() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let flags = |op: u16| (flag(&ARM, op), flag(&PARM, op));
        set_foreign(3, true);
        for interceptor in [Interceptor::Tool, Interceptor::Callback] {
            set_interceptor(2, interceptor, true);
            set_interceptor(3, interceptor, true);
        }
        set_interceptor(COUNT as u16, Interceptor::Tool, true);
        for level in [0, 1, 0] {
            set_level(level);
            assert_eq!((flags(2), flags(3)), ((DISPATCH, OFF), (DISPATCH, DISPATCH)));
        }
        set_interceptor(2, Interceptor::Tool, false);
        assert_eq!(flags(2), (DISPATCH, OFF));
        set_interceptor(2, Interceptor::Callback, false);
        assert_eq!(flags(2), (OFF, OFF));
        for interceptor in [Interceptor::Tool, Interceptor::Callback] {
            set_interceptor(3, interceptor, false);
        }
        set_foreign(3, false);
        assert_eq!(flags(3), (OFF, OFF));
    }
}
