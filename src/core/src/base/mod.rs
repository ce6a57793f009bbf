//! What everything else stands on: faults, the environment table, sizes.

pub mod env;
pub mod fault;
pub mod fifo;
pub mod observer;
pub mod pe_list;
pub mod report;
pub mod say;
pub mod size;
pub mod slab;
pub mod text;
pub mod threads;
pub mod unknown_env;
pub mod word;

pub use fault::{Cause, Fault, OfSpace};
