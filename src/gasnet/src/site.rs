//! Where the client called, for the profile: found by going up the stack from where a call is recorded, to the first
//! address outside of this library. What each address on the way means is found once and kept, so that this is a
//! look-up a function, of which there are two or three.
#![allow(unsafe_code)]

use pellucid_core::os::own_code;
use pellucid_profile::recorder;
use sma::caller::{self, Registers};
use sma::stack::objects::{self, Object};
use std::ops::Range;
use std::sync::OnceLock;

/// Where this library's code is.
enum Code {
    /// A shared library's.
    Shared(Object),
    /// In a section of its own of a static program.
    Static(Range<usize>),
}

impl Code {
    fn contains(&self, address: usize) -> bool {
        match self {
            Self::Shared(object) => object.contains(address),
            Self::Static(range) => range.contains(&address),
        }
    }

    fn find() -> Option<Self> {
        let here = note as *const () as usize;
        let range = own_code::section();
        if range.contains(&here) {
            return Some(Self::Static(range));
        }
        let object = objects::all().into_iter().find(|object| object.contains(here))?;
        object.name().is_some().then_some(Self::Shared(object))
    }
}

/// This library; none where nothing tells it from its client.
fn library() -> Option<&'static Code> {
    static LIBRARY: OnceLock<Option<Code>> = OnceLock::new();
    LIBRARY.get_or_init(Code::find).as_ref()
}

/// An address in the function that this becomes part of, and the registers there.
#[inline(always)]
fn current_frame() -> (usize, Registers) {
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
    let (at, registers) = current_frame();
    let site = library().and_then(|library| caller::outside(at, registers, |address| library.contains(address)));
    recorder::set_site(site.unwrap_or(0) as u64);
}
