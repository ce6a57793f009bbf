//! Where the client called, for the profile: found by going up the stack from where a call is recorded, to the first
//! address outside of this library. What each address on the way means is found once and kept, so that this is a
//! look-up a function, of which there are two or three.
#![allow(unsafe_code)]

use pellucid_profile::recorder;
use sma::caller::{self, Registers};
use sma::stack::objects::{self, Object};
use std::sync::OnceLock;

/// This library, where it is a shared one; in a static program nothing tells it from its client.
fn library() -> Option<&'static Object> {
    static LIBRARY: OnceLock<Option<Object>> = OnceLock::new();
    let find = || {
        let here = note as *const () as usize;
        objects::all().into_iter().find(|object| object.contains(here)).filter(|object| object.name().is_some())
    };
    LIBRARY.get_or_init(find).as_ref()
}

/// An address in the function that this becomes part of, and the registers there.
#[inline(always)]
fn here() -> (usize, Registers) {
    let (at, stack, frame): (usize, usize, usize);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads registers.
    unsafe {
        core::arch::asm!(
            "lea {at}, [rip]", "mov {stack}, rsp", "mov {frame}, rbp",
            at = out(reg) at, stack = out(reg) stack, frame = out(reg) frame,
            options(nomem, preserves_flags)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads registers.
    unsafe {
        core::arch::asm!(
            "adr {at}, .", "mov {stack}, sp", "mov {frame}, x29",
            at = out(reg) at, stack = out(reg) stack, frame = out(reg) frame,
            options(nomem, preserves_flags)
        );
    }
    (at, Registers { stack, frame })
}

/// Notes where the client called, for the call that is recorded next.
#[inline(never)]
pub fn note() {
    let (at, registers) = here();
    let site = library().and_then(|library| caller::outside(at, registers, |address| library.contains(address)));
    recorder::set_site(site.unwrap_or(0) as u64);
}
