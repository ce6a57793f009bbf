//! Whose call a `pshmem_X` is, where the executable itself defines `shmem_X`: a profiling tool that is compiled in.
//!
//! The program's calls come out of the tool's `shmem_X`; what the tool does on its own (a measurement system that waits
//! in `pshmem_int_g` for its other PEs) does not. A call is the program's where the function that it returns to, or one
//! that called that, is the executable's `shmem_X`. Its call site is where `shmem_X` was called.
//!
//! A `shmem_X` that ends in its call of `pshmem_X` is mostly compiled to a jump, and is no longer on the stack then:
//! the call returns to the program. What tells is the instruction before that address, which calls `shmem_X`
//! ([`pellucid_core::os::instruction`]). Through a register either may have been called: that is taken for the
//! program's, since tools name what they call.
//!
//! What a return address means is found once and kept ([`frames`]), so that most calls cost a look-up.
#![allow(unsafe_code)]

mod frames;

use std::ops::Range;
use std::sync::OnceLock;

use pellucid_core::os::readable::{is_readable, is_readable_stack};
use pellucid_core::os::stack;

use frames::Lost;
pub use frames::Registers;

/// Functions between a tool's `shmem_X` and its `pshmem_X`, at the most, and those below which a tool calls on its own.
const DEPTH: usize = 64;

/// Words of the stack that are looked at above a call from a tool's `shmem_X` of which the compiler tells nothing.
const WORDS: usize = 64;

/// The code of the `shmem_` routines that the executable defines, sorted. Empty where the length is not known.
static DEFINED: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// Says which routines the executable defines, once, before any of them is armed.
pub fn set_defined(mut routines: Vec<Range<usize>>) {
    routines.sort_unstable_by_key(|routine| routine.start);
    routines.dedup();
    _ = DEFINED.set(routines);
    prepare();
}

/// Finds out what the process started with, so that no call has to.
pub fn prepare() {
    frames::prepare();
}

/// What was called where a call returns to this address; 0 where a register said so.
pub fn called(returns_to: usize) -> usize {
    if returns_to == 0 { 0 } else { frames::find(returns_to).called }
}

fn is_defined(address: usize) -> bool {
    let defined = DEFINED.get();
    defined.is_some_and(|defined| defined.binary_search_by_key(&address, |routine| routine.start).is_ok())
}

/// The routine that the executable defines and that has a call that returns to this address; 0: none.
fn defined_around(returns_to: usize) -> usize {
    let defined = DEFINED.get().into_iter().flatten();
    defined
        .filter(|routine| routine.contains(&returns_to.wrapping_sub(1)))
        .map(|routine| routine.start)
        .next()
        .unwrap_or(0)
}

/// Where the program called the routine whose `shmem_X` stands at `routine`, given where its `pshmem_X` returns to and
/// the registers there. `None`: the tool called on its own, or the executable does not define `shmem_X`.
pub fn site(routine: usize, returns_to: usize, mut registers: Registers) -> Option<usize> {
    if !is_defined(routine) {
        return None;
    }
    let mut at = returns_to;
    let mut through_register = false;
    for depth in 0..DEPTH {
        let frame = frames::find(at);
        if frame.called == routine {
            return Some(at);
        }
        if frame.called_defined {
            return None;
        }
        through_register |= depth == 0 && frame.called == 0;
        let next = frame.step(registers);
        if frame.start == routine {
            return Some(next.map_or_else(|_| above(routine, registers).unwrap_or(at), |(caller, _)| caller));
        }
        if frame.start_defined {
            return None;
        }
        match next {
            Ok(next) => (at, registers) = next,
            Err(_) => break,
        }
    }
    through_register.then_some(returns_to)
}

/// What a call of the routine returns to that is on the stack above these registers.
fn above(routine: usize, registers: Registers) -> Option<usize> {
    let places = (0..WORDS).map(|word| registers.stack + word * size_of::<usize>());
    // SAFETY: it can be read.
    let words = places.take_while(|at| is_readable_stack(*at)).map(|at| unsafe { (at as *const usize).read() });
    words.into_iter().find(|word| frames::lasts(*word) && frames::find(*word).called == routine)
}

/// Whether a call that returns to this address came from the executable.
pub fn is_from_executable(returns_to: usize) -> bool {
    frames::is_in_executable(returns_to)
}

/// Where code that `is_inside` was called from elsewhere, given an address in it and the registers there: what the
/// first call that goes there returns to. `None`: not known.
pub fn outside(at: usize, registers: Registers, is_inside: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut at, mut registers) = (at, registers);
    for _ in 0..DEPTH {
        (at, registers) = frames::find(at).step(registers).ok()?;
        if !is_inside(at) {
            return Some(at);
        }
    }
    None
}

/// The addresses that the calls of the calling thread return to, innermost first, as many as fit; gives how many. The
/// unwinder, which takes microseconds, is asked where a frame is none of the usual. They end where what is known of a
/// frame is wrong: the unwinder would follow it.
#[cold]
#[inline(never)]
pub fn calls_into(calls: &mut [usize]) -> usize {
    let (mut at, mut registers) = frames::current_frame();
    for count in 0..calls.len() {
        let frame = frames::find(at);
        if frame.is_outermost {
            return count;
        }
        match frame.step(registers) {
            Ok(next) => (at, registers) = next,
            // The unwinder looks at the code there.
            Err(Lost::Unknown) if is_readable(at) && is_readable(at + size_of::<u64>()) => {
                return stack::calls_into(calls);
            }
            Err(_) => return count,
        }
        calls[count] = at;
    }
    calls.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_is_as_the_unwinder_says() {
        prepare();
        let (mut quick, mut slow) = ([0; 128], [0; 128]);
        // The first time what frames are is found out, the second time it is known.
        for _ in 0..2 {
            let (known, told) = (calls_into(&mut quick), stack::calls_into(&mut slow));
            assert!((4..quick.len()).contains(&known), "{known} frames");
            // The two are called from different places of this function.
            let callers = &quick[1..known];
            assert!(
                slow[..told].windows(callers.len()).any(|calls| calls == callers),
                "{callers:x?} {:x?}",
                &slow[..told]
            );
            let mut few = [0; 3];
            assert_eq!((calls_into(&mut few), few[1..] == quick[1..3]), (3, true));
        }
    }
}
