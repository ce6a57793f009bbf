//! Shared memory: plain loads, stores, copies and CPU atomics on the mapped segments of the PEs of this host.
//!
//! Everything is complete when the call returns, as far as this CPU is concerned; ordering is what [`order`] adds.
//!
//! Routines inline what is here, since a call through [`crate::transport::Transport`] costs more than a small put: the
//! one exception to "everything goes through the trait". [`SharedMemory`] offers the same through it, to those for whom
//! a call more is nothing.

pub mod amo;
pub mod copy;
mod lanes;
mod large;
pub mod order;
pub mod ring;
mod transport;

pub use lanes::{LANES, LaneMemory, Lanes, Sleeper};
pub use transport::{ROW, SharedMemory};
