//! Starting and ending the library, and the only global state: the [`World`].
#![allow(unsafe_code)]

mod exit;
mod init;
pub mod memory;
mod report;
mod thread;

pub use exit::{fail, finalize, global_exit};
pub use init::{Start, init_thread, my_pe, n_pes, query_initialized, uses};
pub use thread::{Level, query_thread};

use crate::bootstrap::job::Job;
use crate::memory::Map;
use crate::memory::heap::Heap;
use crate::team::World;
use std::cell::UnsafeCell;
use std::sync::Mutex;

struct WorldCell(UnsafeCell<World>);

// SAFETY: written once, by the first init, before the program can have symmetric addresses to pass to any routine; only
// read after that.
unsafe impl Sync for WorldCell {}

static WORLD: WorldCell = WorldCell(UnsafeCell::new(World::empty()));

/// Everything that collectives and teams need. Before `shmem_init` its map refuses every PE and address.
#[inline(always)]
pub fn world() -> &'static World {
    // SAFETY: see WorldCell.
    unsafe { &*WORLD.0.get() }
}

/// What transfers need.
#[inline(always)]
pub fn map() -> &'static Map {
    &world().map
}

/// What start-up made, and how often it was asked for.
struct State {
    /// `shmem_init` calls without their `shmem_finalize`.
    nesting: u32,
    /// Set by the first init, for the life of the process.
    process: Option<&'static Process>,
}

/// What one process has for its life.
struct Process {
    job: Job,
    pe: u32,
    heap: Heap,
}

static STATE: Mutex<State> = Mutex::new(State { nesting: 0, process: None });

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
