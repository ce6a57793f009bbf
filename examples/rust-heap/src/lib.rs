//! A small safe interface over the C functions of OpenSHMEM.
//!
//! What makes it safe: symmetric memory is never borrowed, as other PEs may write to it at any time, but copied in and
//! out; only types of which every bit pattern is a value can be in it; indices and PE numbers are checked here, so that
//! the library is never asked for something that it would end the job for; objects cannot outlive the library; and
//! handles stay on the thread that initialized it.
#![deny(unsafe_code)]

mod ffi;
mod heap;
mod plain;

pub use heap::{Counter, Slice};
pub use plain::Plain;

use std::marker::PhantomData;

/// The library, initialized; finalized when dropped, with all PEs.
pub struct Shmem {
    /// Not `Send`: `shmem_init` gives the thread level `SHMEM_THREAD_SINGLE`.
    _here: PhantomData<*const ()>,
}

/// A PE of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pe(i32);

impl Pe {
    /// Its number.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// Why memory was not allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom {
    /// Bytes that were asked for.
    pub bytes: usize,
}

impl std::fmt::Display for NoRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no room for {} bytes in the symmetric heap (SHMEM_SYMMETRIC_SIZE)", self.bytes)
    }
}

impl std::error::Error for NoRoom {}

#[allow(unsafe_code)]
impl Shmem {
    /// Initializes the library, with all PEs. Initializations nest.
    #[allow(clippy::new_without_default)] // a collective call
    pub fn new() -> Self {
        // SAFETY: may be called at any time.
        unsafe { ffi::shmem_init() };
        Self { _here: PhantomData }
    }

    /// This PE.
    pub fn me(&self) -> Pe {
        // SAFETY: initialized, as self is there; so in all functions here.
        Pe(unsafe { ffi::shmem_my_pe() })
    }

    /// Number of PEs.
    pub fn pes(&self) -> usize {
        // SAFETY: see me.
        unsafe { ffi::shmem_n_pes() as usize }
    }

    /// The PE with a number. `None`: there is none.
    pub fn pe(&self, number: usize) -> Option<Pe> {
        (number < self.pes()).then_some(Pe(number as i32))
    }

    /// The PE some places after this one, in a ring of all.
    pub fn neighbour(&self, distance: usize) -> Pe {
        Pe(((self.me().number() + distance) % self.pes()) as i32)
    }

    /// Waits for all PEs and completes what this one has stored.
    pub fn barrier(&self) {
        // SAFETY: see me.
        unsafe { ffi::shmem_barrier_all() };
    }

    /// Completes what this PE has stored.
    pub fn quiet(&self) {
        // SAFETY: see me.
        unsafe { ffi::shmem_quiet() };
    }

    /// Ends the job with a status.
    pub fn exit_all(&self, status: i32) -> ! {
        // SAFETY: see me.
        unsafe { ffi::shmem_global_exit(status) }
    }
}

#[allow(unsafe_code)]
impl Drop for Shmem {
    fn drop(&mut self) {
        // SAFETY: matches the initialization in new; no object is left, as they borrow self.
        unsafe { ffi::shmem_finalize() };
    }
}
