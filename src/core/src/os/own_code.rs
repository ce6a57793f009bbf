//! Which calls are this library's where it is part of an executable: no file tells its code from the program's there.
#![allow(unsafe_code)]

use super::elf::{self, Segment};
use super::instruction;
use std::arch::asm;
use std::ops::Range;
use std::sync::OnceLock;

unsafe extern "C" {
    #[link_name = "__start_pellucid_text"]
    static BEGIN: u8;
    #[link_name = "__stop_pellucid_text"]
    static END: u8;
}

/// The section of the static library; empty elsewhere. The static libraries have their code in a section of this name
/// (link_objects of ./x), whose ends the linker tells.
#[inline(never)]
pub fn section() -> Range<usize> {
    // SAFETY: no instruction. It lets the names be undefined, in the object file that this is said in: all that uses
    // them is in this function.
    unsafe {
        asm!(".weak __start_pellucid_text", ".weak __stop_pellucid_text", options(nomem, nostack, preserves_flags));
    }
    (&raw const BEGIN).addr()..(&raw const END).addr()
}

/// What the executable consists of: found before a signal handler asks.
static PARTS: OnceLock<Vec<Segment>> = OnceLock::new();

/// Makes what [`calls`] needs.
pub fn prepare() {
    _ = PARTS.get_or_init(elf::parts);
}

/// Those of the calls under way, innermost first, that are the library's, as bits. Each is an address that is returned
/// to; `interrupted` has the bits of those that a signal has interrupted. A signal handler may ask.
pub fn calls(calls: &[usize], interrupted: u32) -> u32 {
    let (section, parts) = (section(), PARTS.get().map(Vec::as_slice).unwrap_or_default());
    if section.is_empty() {
        return 0;
    }
    let is_loaded = |at: usize| parts.iter().any(|part| (part.addr..part.addr + part.memory).contains(&at));
    let names = |returns_to: usize| instruction::called(returns_to, is_loaded) != 0;
    bits(calls, interrupted, |call| section.contains(&(call - 1)), names)
}

/// What the library calls by name, as the C library's functions for memory, is its own as well: of programs it knows
/// addresses only. `names` tells whether the call that returns to an address is one by name.
fn bits(calls: &[usize], interrupted: u32, is_own: impl Fn(usize) -> bool, names: impl Fn(usize) -> bool) -> u32 {
    let (mut bits, mut by_name) = (0, false);
    for (at, &call) in calls.iter().enumerate().rev() {
        let is_ours = is_own(call) || by_name;
        bits |= u32::from(is_ours) << at;
        by_name = is_ours && interrupted >> at & 1 == 0 && names(call);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses of 100 to 199 are the library's; odd ones are returned to by calls by name.
    fn of(calls: &[usize], interrupted: u32) -> u32 {
        bits(calls, interrupted, |call| (100..200).contains(&call), |call| call % 2 == 1)
    }

    #[test]
    fn what_the_library_calls_by_name_is_its_own() {
        // Copying memory for a routine, and what copies by a function of its own.
        assert_eq!(of(&[500, 101, 301], 0), 0b011);
        assert_eq!(of(&[500, 503, 101, 301], 0), 0b0111);
        // The program has called the C library itself.
        assert_eq!(of(&[500, 301, 303], 0), 0);
        // A handler of the program, by its address, and what that has called; sorting calls one back.
        assert_eq!(of(&[500, 302, 100, 301], 0), 0b0100);
        assert_eq!(of(&[302, 500, 101, 301], 0), 0b0110);
    }

    #[test]
    fn a_signal_handler_is_called_by_nobody() {
        assert_eq!(of(&[302, 500, 101, 301], 0b0100), 0b0100);
    }

    #[test]
    fn a_program_without_the_static_library_has_none() {
        prepare();
        assert!(section().is_empty());
        assert_eq!(calls(&[1, 2], 0), 0);
        assert!(PARTS.get().is_some_and(|parts| !parts.is_empty()));
    }
}
