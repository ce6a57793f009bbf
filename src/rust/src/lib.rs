//! OpenSHMEM in safe Rust: symmetric memory, teams, contexts, atomics, signals and collectives of Pellucid's `libsma`.
//!
//! ```
//! # fn main() -> Result<(), pellucid::Error> {
//! let shmem = pellucid::init()?;
//! let world = shmem.world();
//! let (me, right) = (world.me(), world.neighbour(1));
//!
//! // An array of four numbers on every PE; this PE writes to its neighbour's.
//! let numbers = shmem.alloc::<i64>(4)?;
//! shmem.put(&numbers, 0, &[10, 20, 30, me.number() as i64], right);
//! shmem.barrier_all();
//! assert_eq!(numbers.local().to_vec()[..3], [10, 20, 30]);
//! # Ok(())
//! # }
//! ```
//!
//! # Why it is safe
//!
//! - **Symmetric memory is never borrowed.** Other PEs may write to it at any time, which Rust's references exclude. It
//!   is copied in and out, or looked at an element at a time ([`Symmetric::local`]).
//! - **Only plain data is symmetric**: an [`Element`] has a value for every pattern of bits, since other PEs may send
//!   any.
//! - **Indices and PEs are checked** before the library is called, and panic as slices do. All PEs have arrays of the
//!   same length: [`Shmem::alloc`] compares.
//! - **Nothing outlives what it needs**: objects, teams and contexts borrow the [`Shmem`] that finalizes the library.
//! - **Nonblocking operations** borrow their buffers until they are complete ([`Context::nonblocking`]).
//! - **Handles stay on their thread**, as the library is initialized for one. Threads get [`Shmem::share`] where
//!   [`init_threads`] was called: PEs and contexts on them, but no collective calls, which two threads may not make on
//!   one team.
//!
//! What is read while another PE, or another thread of this one, writes it is what memory has then: an element may be
//! of several writes in part. Rust's own memory model calls such accesses of two threads a data race, as that of C does
//! for PEs. They are made by the library, by volatile accesses or by copies of plain data through pointers that nothing
//! is concluded from; no value is wrong for the type. What needs an order has atomics, signals and barriers.
//!
//! Collective calls must be made by all PEs of a team in the same order, as in C; otherwise the job hangs or ends
//! with a message, but memory stays safe. The same holds for dropping what was allocated or split collectively.
//!
//! # Panics and errors of one PE
//!
//! A panic ends the job with status 101 when it comes to what is dropped collectively ([`Symmetric`], [`Team`],
//! [`Shmem`]), also where [`std::panic::catch_unwind`] is further up: other PEs may be in another call, and this one
//! would wait for them. A job of one PE unwinds as other programs do.
//!
//! An `Err` that is returned drops as any return does, and waits for the other PEs. The errors of [`Shmem::alloc`] and
//! of initialization are on all PEs; where an error of one PE leaves a function that has arrays or teams, `expect` it
//! or call [`Shmem::exit_all`] there.
#![deny(unsafe_code)]

mod atomic;
mod collective;
mod context;
mod crash;
mod element;
mod error;
mod ffi;
mod lock;
mod nonblocking;
mod region;
mod runtime;
mod shape;
mod signal;
mod symmetric;
mod team;
mod wait;

pub use context::{Context, Options};
pub use element::{Atomic, AtomicInt, Bits, Element, Number, Ordered, Waitable};
pub use error::Error;
pub use lock::{Guard, Lock};
pub use nonblocking::Nonblocking;
pub use region::region;
pub use runtime::{Shared, Shmem, init, init_threads};
pub use signal::{Signal, SignalOp};
pub use symmetric::{Local, Symmetric};
pub use team::{Members, Pe, Team};
pub use wait::Compare;
