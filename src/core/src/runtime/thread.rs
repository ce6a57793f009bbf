//! Thread levels (Section 9.2). The library supports every level at no cost, so it provides what is asked for.

use crate::base::{Cause, Fault, threads};
use crate::team::contribution::Kind;
use crate::team::{World, greatest_of_all};
use std::sync::atomic::{AtomicI32, Ordering};

/// `SHMEM_THREAD_*`, in increasing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Level {
    /// One thread.
    Single = 0,
    /// Only the main thread calls the library.
    Funneled = 1,
    /// One thread at a time.
    Serialized = 2,
    /// Any thread at any time.
    Multiple = 3,
}

static PROVIDED: AtomicI32 = AtomicI32::new(Level::Single as i32);

/// Checks that a level exists.
pub fn check_thread(requested: i32) -> Result<(), Fault> {
    if (Level::Single as i32..=Level::Multiple as i32).contains(&requested) {
        return Ok(());
    }
    Err(Fault::from(Cause::BadValue {
        arg: "requested",
        value: requested.into(),
        expected: "SHMEM_THREAD_SINGLE (0), SHMEM_THREAD_FUNNELED (1), SHMEM_THREAD_SERIALIZED (2) or \
            SHMEM_THREAD_MULTIPLE (3)",
    }))
}

/// Sets the level in force and gives it: the one asked for. A library that initializes once more, `nested`, does not
/// take away what the program was given.
pub fn set_thread(asked: i32, nested: bool) -> i32 {
    let level = if nested { asked.max(query_thread()) } else { asked };
    PROVIDED.store(level, Ordering::Relaxed);
    level
}

/// Tells all PEs of the job the highest level that any of them has: PEs may ask for different ones, and some calls take
/// a way that all of them have to take. Collective over the job.
pub fn compare_thread(w: &World) -> Result<(), Fault> {
    let [highest] = greatest_of_all(w, &w.world, Kind::Init, [query_thread() as u64])?;
    threads::set_several(highest == Level::Multiple as u64);
    Ok(())
}

/// The level in force.
pub fn query_thread() -> i32 {
    PROVIDED.load(Ordering::Relaxed)
}
