//! Starting and ending the library, and what a process has once: the [`World`], its network, its launcher, the levels
//! of init.
//!
//! All state of the core that is no part of these is in the statics below, by kind, each in the file that changes it.
//! The suite `sources` compares the list with the sources. (`os/own_code.rs` also declares `BEGIN` and `END`, which the
//! linker makes.) The rest of a thread's state is a variable of C, which costs less to reach: see `os/reentry.rs`.
//!
//! What a process has once, from its first init to its end:
//!
//! | file | statics |
//! |---|---|
//! | `runtime/mod.rs` | `WORLD`, `NETWORK`, `PROCESS`, `WIREUP`, `NESTING` |
//! | `runtime/messages.rs` | `MESSAGES` |
//! | `runtime/thread.rs` | `PROVIDED` |
//! | `runtime/liveness.rs` | `DOOR` |
//! | `runtime/exit.rs` | `LEAVING`, `WORD`, `STATUS`, `ABORT`, `DONE` |
//! | `collectives/spaces/mod.rs` | `JOB` |
//! | `memory/spaces.rs` | `HERE` |
//! | `memory/fork_copy.rs` | `COPY`, `FORKING`, `IN_CHILD` |
//! | `team/mail.rs` | `BEGUN` |
//! | `team/finalizing.rs` | `SHOWN` |
//! | `transport/ofi/process_exit.rs` | `OPEN`, `OPENING`, `PROCESS`, `OPENER`, `CLOSER` |
//! | `os/crash.rs` | `NOTE` |
//! | `os/remains.rs` | `REMAINS` |
//! | `os/interrupt.rs` | `BEFORE`, `CAME` |
//! | `os/last_thread.rs` | `BEGUN`, `MADE`, `ENDED`, `ADOPTED`, `PROCESS` |
//! | `bootstrap/job.rs` | `RELEASE_MARK` |
//!
//! Hooks, which the layer above or a lower one sets: what it is told, or called for.
//!
//! | file | statics |
//! |---|---|
//! | `base/observer.rs` | `OBSERVER` |
//! | `team/chosen.rs` | `TOLD` |
//! | `os/wait.rs` | `HOOK`, `LOOK`, `FIRST_AT` |
//! | `os/meanwhile.rs` | `MEANWHILE` |
//! | `os/beside.rs` | `HOOK`, `SERVED` |
//! | `runtime/exit.rs` | `BEFORE` |
//! | `runtime/messages.rs` | `SCHEDULES` |
//!
//! Registers of handles, and of what is under way:
//!
//! | file | statics |
//! |---|---|
//! | `team/mod.rs` | `SLAB`, `MADE` |
//! | `team/aset.rs` | `SLAB` |
//! | `context/handle.rs` | `SLAB` |
//! | `context/lock_owners.rs` | `OWNERS` |
//! | `collectives/files/mod.rs` | `OPEN` |
//! | `collectives/files/background.rs` | `QUEUE`, `CHANGED` |
//! | `collectives/spaces/mod.rs` | `OPEN` |
//! | `memory/spaces.rs` | `OPEN`, `TABLE` |
//! | `memory/heap.rs` | `AREAS` |
//! | `request/table.rs` | `TABLE` |
//! | `request/schedules.rs` | `RUNNING`, `COUNT`, `AGAIN`, `BY_HELPER`, `LOOKS` |
//! | `request/outcomes.rs` | `ALL`, `COUNT` |
//! | `request/detached.rs` | `ALL`, `COUNT` |
//! | `request/uses.rs` | `ON`, `ALL`, `COUNT` |
//! | `transport/event.rs` | `FAILED`, `FAILURES` |
//! | `os/hold.rs` | `PAGES`, `OWNER` |
//!
//! Caches of what the system or the environment says, and what is done or told once:
//!
//! | file | statics |
//! |---|---|
//! | `base/env.rs` | `PREFERRED` |
//! | `os/own_code.rs` | `PARTS` |
//! | `os/cgroup.rs` | `QUOTA` |
//! | `os/elf.rs` | `FIXED` |
//! | `os/python/mod.rs` | `FILE`, `FOUND` |
//! | `transport/shm/large.rs` | `ANSWER` |
//! | `transport/ofi/mod.rs` | `FORKS` |
//! | `context/session.rs` | `TOLD` |
//! | `runtime/memory.rs` | `TOLD` |
//! | `runtime/init.rs` | `ONE_AT_A_TIME` |
//! | `runtime/helper.rs` | `ONCE` |
//! | `request/schedules.rs` | `ONCE` |
//! | `os/last_thread.rs` | `ONCE` |
//!
//! How waits and threads behave, as the machine and the calls have it:
//!
//! | file | statics |
//! |---|---|
//! | `os/wait.rs` | `IN_PLACE_OF_YIELDS`, `SAVES_TIME`, `HURRY` |
//! | `os/cpu.rs` | `NAPS` |
//! | `base/threads.rs` | `SEVERAL`, `LAST` |
//! | `context/wait.rs` | `CALLS` |
//! | `am/mod.rs` | `FORKED` |
//! | `request/schedules.rs` | `FORKED` |
//! | `transport/ofi/endpoint.rs` | `CHILD` |
//!
//! Of each thread:
//!
//! | file | statics |
//! |---|---|
//! | `base/threads.rs` | `NUMBER` |
//! | `memory/heap.rs` | `WORKS` |
//! | `os/cpu.rs` | `YIELDS` |
//! | `os/readable.rs` | `KNOWN`, `MAIN` |
//! | `os/signal_stack.rs` | `RESERVED` |
//! | `request/uses.rs` | `CALL` |
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

// SAFETY: written once, by the first init, and only read after that. What other threads of the program do until then it
// answers for: it calls routines once an init has returned (Section 9.1), on static objects as well, whose addresses it
// has from the beginning; what lets its threads know of that orders them behind the write. Another init waits for the
// lock. Queries that may come before look at atomics, and threads of the library have nothing to do in a world that has
// no teams yet.
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
