//! Teams on several hosts, without a network: PEs are threads, hosts share memory among theirs, and a fabric in memory
//! delivers late and in no order.
#![allow(unsafe_code)]

mod counting;
mod errors;
mod fabric;
mod growth;
mod job;
mod nonblocking;
mod random;
mod sequence;
mod sets;
mod teams;
