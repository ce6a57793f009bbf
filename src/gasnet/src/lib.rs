//! GASNet-EX (specification 0.18, 2024.5.0) on the runtime of Pellucid: a second front end beside `pshmem`, which it
//! contains, so that a program may use both on one progress engine. Written from the specification alone.
//!
//! | module | what it is |
//! |---|---|
//! | [`types`] | types and constants of the headers in `include/gasnet` |
//! | [`fail`] | the rules: what may be called where, and what happens otherwise |
//! | [`thread`] | what is kept for each thread |
//! | [`start`], [`local_job`], [`settings`], [`client`], [`exit`], [`system`], [`hosts`] | start and end, the client, the job and its hosts |
//! | [`endpoint`], [`segment`], [`team`] | endpoints, their memory, ordered sets of them |
//! | [`place`] | which PE and memory a call means |
//! | [`am`] | active messages |
//! | [`event`], [`nbi`], [`rma`], [`emulated`] | events and remote memory access |
//! | [`coll`] | barriers, broadcast, reductions |
//! | [`atomic`], [`vis`] | atomics domains; vectors, index lists and strides |
//! | [`lock`] | handler-safe locks |
//! | [`legacy`], [`named_barrier`] | the GASNet-1 interface |
//! | [`kind`] | kinds of memory, of which there is that of hosts |
//! | [`tools`], [`number`], [`debug`] | GASNet tools that are functions |
//! | [`progress`] | moving things on, and waiting |
//! | [`record`], [`site`], [`asked`] | what the profile hears of it, where the client called, whose reply is waited for |
//!
//! # Shape
//! A client's segment is part of the symmetric heap, in an area that `gex_Client_Init` takes. So the PEs of a host
//! reach it by loads and stores and those of others through the transport, as objects of OpenSHMEM. Segments in memory
//! of the client's own are reached by active messages ([`emulated`]).
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]
// The entries take the pointers of a C caller as they come; their contract is the specification's.
#![allow(
    clippy::missing_safety_doc,
    clippy::not_unsafe_ptr_arg_deref,
    clippy::too_many_arguments,
    non_snake_case,
    non_upper_case_globals
)]

// The OpenSHMEM entry points are part of this library.
extern crate sma;

pub mod am;
pub mod asked;
pub mod atomic;
pub mod client;
pub mod coll;
pub mod debug;
pub mod emulated;
pub mod endpoint;
pub mod event;
pub mod exit;
pub mod fail;
pub mod hosts;
pub mod kind;
pub mod legacy;
pub mod local_job;
pub mod lock;
pub mod named_barrier;
pub mod nbi;
pub mod number;
pub mod place;
pub mod progress;
pub mod record;
pub mod rma;
pub mod segment;
pub mod settings;
pub mod site;
pub mod start;
pub mod system;
pub mod team;
pub mod thread;
pub mod tools;
pub mod types;
pub mod vis;
