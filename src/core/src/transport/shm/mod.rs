//! Shared memory: plain loads, stores, copies and CPU atomics on the mapped segments of the PEs of this host.
//!
//! Everything is complete when the call returns, as far as this CPU is concerned; ordering is what [`order`] adds.

pub mod amo;
pub mod copy;
mod large;
pub mod order;
pub mod strided;
