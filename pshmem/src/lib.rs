//! The OpenSHMEM 1.6 interface: `shmem_` and `pshmem_` entry points over `pellucid-core`, seen by `pellucid-profile`.
//!
//! | module | what it is |
//! |---|---|
//! | [`entry`] | the first instructions of every routine: one flag test, then the routine or its probe |
//! | [`routine`] | what is behind an entry: the implementation, and the probe around it |
//! | [`generated`] | the routines themselves, from the table in `generate/` |
//! | [`types`] | types of the C signatures |
//! | [`dispatcher`] | the longer way of a call: past stacked tools and callbacks |
//! | [`frame`] | the arguments of a call on that way |
//! | [`stack`] | loads the tools of `SHMEM_TOOLS` and puts them in a row |
//! | [`errors`], `abort` | what becomes of a call that cannot be carried out; the end of the job because a PE says so |
//! | [`callbacks`], [`variables`] | `shmemx.h`: events, counters and controls for tools |
//! | [`fortran`] | what the Fortran interface (`src/fortran`) does not have from a C routine |
//! | [`finale`] | refuses calls after the last `shmem_finalize` |
//! | [`init`], [`info`], [`control`] | start and end, answers about the library, `shmem_pcontrol` |
//! | [`seen`] | what the profile is told of teams and contexts |
//! | [`tool`] | who else defines `shmem_` routines in this process |
//! | `handles` | what the profile is told of requests |
//! | `check` | what is checked of transfers with `SHMEM_DEBUG` |
//! | [`thread`] | what is kept for each thread, and calls in calls |
//! | `stall` | what is noted of calls that wait long |
//! | [`shim`] | the C side: what stable Rust cannot sign or compute |
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]
// Pointers come from C callers; the entries that pass them on are `unsafe extern "C"`.
#![allow(clippy::not_unsafe_ptr_arg_deref)]

pub mod entry;
#[macro_use]
pub mod routine;

mod abort;
pub mod callbacks;
pub mod caller;
mod check;
pub mod control;
pub mod dispatcher;
pub mod errors;
mod fault_site;
pub mod finale;
pub mod fortran;
pub mod frame;
mod handles;
mod identity;
pub mod info;
pub mod init;
mod line;
pub mod locking;
mod metrics;
mod places;
mod profile_files;
pub mod seen;
pub mod shim;
pub mod stack;
mod stall;
pub mod thread;
pub mod tool;
pub mod types;
pub mod variables;

// What the specification documents is not documented again. Expressions of the table fit every type, so some convert
// to the same type. A test of the generator sees to it that every parameter is used.
#[allow(
    unsafe_code,
    missing_docs,
    non_snake_case,
    unused_unsafe,
    unused_variables,
    clashing_extern_declarations,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks
)]
pub mod generated;
