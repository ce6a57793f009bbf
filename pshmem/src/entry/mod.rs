//! The first instructions of every routine.
//!
//! `shmem_X` is weak, so that a tool's strong `shmem_X` replaces it in static and dynamic links alike. It tests one
//! byte, `ARM[op]`, and jumps to the routine, to what counts the call, or to `pellucid_site_X`, with all arguments
//! where the caller put them. That one goes to the dispatcher that stacked tools and callbacks stand behind
//! ([`crate::dispatcher`]), where the byte says so; or it leaves the return address, which is the call site, in the
//! second word of the thread-local variable of `src/profile/shim/slot.c`, and goes to the probe, or to what is in front
//! of it where each call has its site. What counts a call without its site goes on to the probe by `pellucid_placed_X`,
//! which leaves the site then; a routine with arguments on the stack cannot jump there, and leaves it before
//! (`pellucid_counted_X`). `pshmem_X` is strong and tests `PARM[op]`: set where a tool in the executable defines
//! `shmem_X` and calls `pshmem_X` (see [`crate::tool`]). It has the dispatcher find out whose call it is
//! ([`crate::caller`]).
//!
//! Routines that are alike share what is behind their entries (`pshmem/generate/src/body.rs`). Each entry then says
//! in a register that has no argument which routine it is: its operation, and above that [`STATE_ENTERED`], as the
//! profile notes it of a call ([`NUMBERS`]).
//!
//! Entries are in assembly, one line a routine (`generated/entries.s`), of macros that each processor has a file for.
//! They are in a section of their own, in the order of the table and of one width: near each other, recognizable by
//! address, and found by number.
#![allow(unsafe_code)]

use pellucid_profile::arm::{ARM, PARM};
use pellucid_profile::op::{COUNT, entered};
use pellucid_profile::segment::layout::STATE_ENTERED;

use crate::{dispatcher, frame};

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    include_str!("x86_64.s"),
    include_str!("../generated/entries.s"),
    ".popsection",
    arm = sym ARM,
    parm = sym PARM,
    numbers = sym NUMBERS,
    dispatcher = sym frame::dispatcher,
    state = const STATE_ENTERED << 16,
    strong = const dispatcher::STRONG,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    include_str!("aarch64.s"),
    include_str!("../generated/entries.s"),
    ".popsection",
    arm = sym ARM,
    parm = sym PARM,
    dispatcher = sym frame::dispatcher,
    state = const STATE_ENTERED,
    strong = const dispatcher::STRONG,
    site = const pellucid_profile::arm::SITE,
);

/// Bytes from an entry to its twin, and from that to the next entry: as in the file of the processor.
const WIDTH: usize = if cfg!(target_arch = "x86_64") { 32 } else { 64 };

unsafe extern "C" {
    // The linker defines these for every section whose name is a C identifier.
    #[link_name = "__start_pellucid_entry"]
    static START: u8;
    #[link_name = "__stop_pellucid_entry"]
    static STOP: u8;
}

/// What entries say of themselves, by operation.
pub static NUMBERS: [u32; COUNT] = {
    let mut numbers = [0; COUNT];
    let mut op = 0;
    while op < COUNT {
        numbers[op] = entered(op as u16);
        op += 1;
    }
    numbers
};

/// What tells a body which routine it is: what an entry has left, or the operation where it is one routine's.
pub trait Number: Copy {
    /// As in [`NUMBERS`].
    fn word(self) -> u32;

    /// The operation of the routine.
    #[inline(always)]
    fn op(self) -> u16 {
        self.word() as u16
    }
}

impl Number for u16 {
    #[inline(always)]
    fn word(self) -> u32 {
        entered(self)
    }
}

impl Number for u32 {
    #[inline(always)]
    fn word(self) -> u32 {
        self
    }
}

/// In a register for floating-point numbers, whose upper half means nothing.
impl Number for f64 {
    #[inline(always)]
    fn word(self) -> u32 {
        self.to_bits() as u32
    }
}

/// Where the entries begin.
pub fn first() -> usize {
    (&raw const START).addr()
}

/// This library's `shmem_X`.
pub fn weak(op: usize) -> usize {
    first() + 2 * WIDTH * op
}

/// This library's `pshmem_X`.
pub fn strong(op: usize) -> usize {
    weak(op) + WIDTH
}

/// The operation whose entry or twin is at an address.
pub fn op(address: usize) -> Option<usize> {
    is_entry(address).then(|| (address - first()) / (2 * WIDTH))
}

/// Whether the address is one of this library's entries.
pub fn is_entry(address: usize) -> bool {
    (first()..(&raw const STOP).addr()).contains(&address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::addresses::{BODIES_COUNT, BODY, BOUND};
    use pellucid_profile::op::{ONE_ELEMENT, OPS, traits};

    #[test]
    fn entries_are_where_their_numbers_say() {
        assert_eq!(weak(COUNT), (&raw const STOP).addr().next_multiple_of(2 * WIDTH));
        for (at, row) in OPS.iter().enumerate() {
            assert_eq!(BOUND[at].0.addr(), weak(at), "{}", row.name());
            assert_eq!((op(weak(at)), op(strong(at))), (Some(at), Some(at)), "{}", row.name());
        }
        assert_eq!((op(first() - 1), op((&raw const STOP).addr())), (None, None));
    }

    #[test]
    fn the_profile_takes_routines_with_one_body_alike() {
        for body in 0..BODIES_COUNT {
            let mut routines = (0..COUNT).filter(|op| usize::from(BODY[*op]) == body);
            let first = routines.next().expect("a body is a routine's");
            // The size of an element counts where the bytes of a call follow from it.
            let elem = |op: usize| if traits(op as u16) & ONE_ELEMENT != 0 { OPS[op].elem } else { 0 };
            let told = |op: usize| (OPS[op].class, OPS[op].timing, elem(op), traits(op as u16));
            for op in routines {
                assert_eq!(told(op), told(first), "{} and {}", OPS[op].name(), OPS[first].name());
            }
        }
    }
}
