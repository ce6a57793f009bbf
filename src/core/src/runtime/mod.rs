//! Starting and ending the library, and what a process has once: the [`World`], its network, its launcher, the levels
//! of init. (Statics elsewhere are caches, registers of handles, and the [observer](crate::base::observer).)
#![allow(unsafe_code)]

mod death;
mod exit;
mod helper;
mod init;
mod kills;
mod liveness;
mod losses;
pub mod memory;
mod messages;
mod network;
mod report;
pub mod spaces;
mod states;
mod thread;

pub use exit::{
    abort, before_faults, fail, finalize, global_exit, is_ending, left, show_stack_at_faults, status_at_exit,
};
pub use init::{Start, forget_init, init_thread, my_pe, n_pes, query_initialized, uses};
pub use messages::{advance_in_waits, messages, register_handler};
pub use network::{network_counters, transport_name};
pub use states::{failed_pes, job_state, pe_state};
pub use thread::{Level, query_thread};

use crate::bootstrap::job::Job;
use crate::bootstrap::wireup::Wireup;
use crate::memory::Map;
use crate::memory::heap::Heap;
use crate::team::World;
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

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

/// What reaches PEs of other hosts, in a job that has any.
static NETWORK: OnceLock<network::Network> = OnceLock::new();

/// What one process has for its life.
struct Process {
    job: Job,
    pe: u32,
    heap: Heap,
    /// Of the process that initialized the library: a forked child has another.
    id: i32,
}

/// Set by the first init, for the life of the process.
static PROCESS: OnceLock<&'static Process> = OnceLock::new();

fn process() -> Option<&'static Process> {
    PROCESS.get().copied()
}

/// Another's launcher, which has to hear how this process ends. Set before anything can go wrong after.
static WIREUP: OnceLock<Arc<dyn Wireup>> = OnceLock::new();

/// `shmem_init` calls without their `shmem_finalize`: the first of them once it is complete. Whoever asks whether the
/// library is initialized, or ends the job, does not wait for an initialization under way.
static NESTING: AtomicU32 = AtomicU32::new(0);
