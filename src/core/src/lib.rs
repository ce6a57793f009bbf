//! The communication runtime of Pellucid.
//!
//! Modules, top to bottom; each may use only those below it (`tests/` checks the `use` lines):
//! [`runtime`] > [`collectives`] > [`team`] > [`context`] > [`memory`], [`transport`] > [`bootstrap`] > [`os`] > [`base`].
#![deny(unsafe_code)]

pub mod base;
pub mod bootstrap;
pub mod collectives;
pub mod context;
pub mod memory;
pub mod os;
pub mod runtime;
pub mod team;
pub mod transport;
