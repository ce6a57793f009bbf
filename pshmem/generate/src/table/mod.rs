//! The table: every routine of OpenSHMEM 1.6, one row for all its types.
//!
//! A row says what the routine looks like in C, how the profile sees it, and the expression that
//! carries it out. One file holds one group of the specification.
//!
//! Expressions use the parameter names of the row and these words, which the generator replaces: `W`, the bit-copy type
//! of the element; `N`, its number type, and `U`, where nothing is compared and so signed and unsigned numbers are one;
//! `SIZE`, its bytes; `ELEM`, the same, and `KERNEL(sum)`, its reduction kernel, looked up by the number of the
//! routine, so that those which differ in nothing else share what is behind their entries; `CTX`, the context (the
//! default one in the form without a `ctx` argument); `PEER`, the world PE behind `pe`.

mod amo;
mod amo_nbi;
mod aset;
mod cache;
mod collective;
mod ctx;
mod error;
mod file;
mod lock;
mod loss;
mod memory;
mod nbi;
mod ordering;
mod p2p;
mod profiling;
mod request;
mod rma;
mod session;
mod setup;
mod signal;
mod space;
mod team;
mod thread;

use crate::types::Type;

/// Which argument lists a row has.
#[derive(Clone, Copy, PartialEq)]
pub enum Forms {
    /// Only the one written in the row.
    One,
    /// That one, and `shmem_ctx_...` with a leading `shmem_ctx_t ctx`.
    WithCtx,
}

/// How the routine appears among the type-generic macros of C11.
#[derive(Clone, Copy, PartialEq)]
pub enum Generic {
    /// Not at all.
    None,
    /// Under its name without `TYPENAME_`, selected by the type its first pointer points to.
    ByType,
    /// Under this name, selected by the number of arguments.
    ByCount(&'static str),
}

/// One row.
#[derive(Clone, Copy)]
pub struct Row {
    /// As the synopsis writes it: `shmem_TYPENAME_put`, `shmem_putSIZE`, `shmem_putmem`.
    pub name: &'static str,
    /// Return type in C, with `TYPE` for the element.
    pub ret: &'static str,
    /// Parameters in C, with `TYPE` for the element; empty for `void`.
    pub params: &'static str,
    /// The types it comes in; [`crate::types::ONCE`] for a routine without any.
    pub types: &'static [Type],
    /// Argument lists.
    pub forms: Forms,
    /// Section of the specification.
    pub section: &'static str,
    /// Deprecated by the specification.
    pub deprecated: bool,
    /// C11 macro.
    pub generic: Generic,
    /// `pellucid_profile::op::Class`.
    pub class: &'static str,
    /// What the profile cannot know from class, timing and parameters.
    pub traits: &'static [Trait],
    /// `pellucid_profile::op::Timing`.
    pub timing: Timing,
    /// The world PE that the operation goes to; `-1` where there is no one PE.
    pub peer: &'static str,
    /// The address the profile shows, as `usize`.
    pub addr: &'static str,
    /// Bytes that the call moves.
    pub bytes: &'static str,
    /// Condition on the result `r` that counts as an error; empty where a result never does.
    pub failed: &'static str,
    /// The Rust expression, of type `Result<_, Fault>`, that carries it out.
    pub call: &'static str,
}

/// `pellucid_profile::op::Timing`: when the probe reads the clock.
#[derive(Clone, Copy, PartialEq)]
pub enum Timing {
    /// One call in many: calls of a few nanoseconds.
    Sampled,
    /// Sampled up to 1 KiB, every call above.
    Sized,
    /// Every call.
    Timed,
}

/// What a routine does, beyond what follows from its class, its timing and its parameters
/// ([`crate::expand::Routine::traits`]).
#[derive(Clone, Copy, PartialEq)]
pub enum Trait {
    /// It is complete with the next quiet, and not when it returns.
    Nonblocking,
    /// It completes the nonblocking operations before it.
    Completes,
    /// All PEs of a team call it together, and wait for each other in it. Barriers, collectives and calls of the
    /// symmetric heap need not say so.
    Together,
    /// An atomic or a signal that changes nothing.
    ReadsOnly,
    /// It waits until another PE does something, other than to come to a call of all. Waits need not say so.
    Waits,
    /// All PEs of the job call it together, whatever its arguments.
    OfAll,
    /// It initializes the library.
    Initializes,
    /// It finalizes the library.
    Finalizes,
    /// It may be called before initialization and after finalization. Those of class `Setup` and `Control` need not say
    /// so.
    AnyTime,
    /// An atomic that gives back what it replaced, or would have replaced.
    Swaps,
    /// It asks whether something has happened. Tests need not say so.
    Asks,
}

/// What most rows share; a row fills in the rest with `..ROW`.
const ROW: Row = Row {
    name: "",
    ret: "void",
    params: "",
    types: crate::types::ONCE,
    forms: Forms::One,
    section: "",
    deprecated: false,
    generic: Generic::None,
    class: "",
    traits: &[],
    timing: Timing::Timed,
    peer: "-1",
    addr: "0",
    bytes: "0",
    failed: "",
    call: "",
};

/// One group of the specification or of the extensions, one generated file.
pub struct Group {
    /// The group's name in `api-1.6.csv`, and of its generated file.
    pub name: &'static str,
    /// Heading for the headers.
    pub title: &'static str,
    /// What its expressions import.
    pub uses: &'static [&'static str],
    /// Rows in the order of the specification.
    pub rows: &'static [Row],
}

impl Row {
    /// Whether it is no part of the specification: its routines are in `shmemx.h`.
    pub fn is_extension(&self) -> bool {
        self.section.starts_with('X')
    }
}

/// The whole interface, in the order of the specification, then the extensions.
pub const GROUPS: &[Group] = &[
    setup::GROUP,
    thread::GROUP,
    memory::GROUP,
    team::GROUP,
    ctx::GROUP,
    rma::GROUP,
    nbi::GROUP,
    amo::GROUP,
    amo_nbi::GROUP,
    signal::GROUP,
    session::GROUP,
    collective::GROUP,
    p2p::GROUP,
    ordering::GROUP,
    lock::GROUP,
    profiling::GROUP,
    cache::GROUP,
    aset::GROUP,
    request::GROUP,
    file::GROUP,
    space::GROUP,
    error::GROUP,
    loss::GROUP,
];
