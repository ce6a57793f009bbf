//! The communication runtime of Pellucid.
//!
//! Modules, top to bottom; each may use only those below it (`tests/` checks the `use` lines): [`runtime`] >
//! [`collectives`] > [`team`] > [`context`], [`am`] > [`request`] > [`memory`], [`transport`], [`inter_host`] >
//! [`bootstrap`] > [`os`] > [`base`].
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]
// The routines take the pointers of a C caller as they come: what can be checked of them is checked, and the rest of
// their contract is the specification's, which the `unsafe extern "C"` entries of pshmem stand for.
#![allow(clippy::not_unsafe_ptr_arg_deref)]

pub mod am;
pub mod base;
pub mod bootstrap;
pub mod collectives;
pub mod context;
pub mod inter_host;
pub mod memory;
pub mod os;
pub mod request;
pub mod runtime;
pub mod team;
pub mod transport;
