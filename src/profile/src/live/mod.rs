//! What the PEs of a running job do now, and who waits for whom. Reading does not slow them.

mod describe;
mod waits;

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::op::{self, Class};
use crate::segment::layout::{PE_ABSENT, PE_FINALIZED, PE_INITIALIZED, symmetric};
use crate::segment::{CurrentOp, Segment};

pub use describe::{activity, activity_at, object, operation};
pub use waits::{For, Wait, Waits};

/// How far a PE is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not called `shmem_init`.
    Absent,
    /// Within `shmem_init`.
    Starting,
    /// Between initialization and finalization.
    Running,
    /// After finalization.
    Finalized,
    /// Its process has ended.
    Ended,
    /// Its process is stopped: by a signal, or by a debugger.
    Stopped,
}

/// A PE now.
#[derive(Clone, Debug)]
pub struct PeNow {
    /// World number.
    pub pe: u32,
    /// Process id; 0: not known.
    pub pid: u32,
    /// How far it is.
    pub state: State,
    /// Whether its calls are recorded. Where they are not, only long waits are seen.
    pub recorded: bool,
    /// What its threads do, those inside a routine first.
    pub threads: Vec<CurrentOp>,
    /// Locks that it holds: addresses here.
    pub locks: Vec<u64>,
    /// First address and bytes of heap and static objects.
    pub memory: [u64; 4],
    /// Bytes of its heap in use, now and at most.
    pub heap: (u64, u64),
}

/// An object in symmetric memory, the same on every PE: (0 heap, 1 static; offset).
pub type Object = (u8, u64);

impl PeNow {
    /// Looks at one PE. `runs`: whether its process does.
    pub fn look(segment: &Segment, pe: u32, runs: bool) -> PeNow {
        let Some(region) = segment.region(pe) else { return PeNow::absent(pe) };
        let head = &region.head;
        let state = match head.state.load(Acquire) {
            _ if !runs => State::Ended,
            PE_ABSENT => State::Absent,
            PE_INITIALIZED => State::Running,
            PE_FINALIZED => State::Finalized,
            _ => State::Starting,
        };
        PeNow {
            pe,
            pid: head.pid.load(Relaxed),
            state,
            recorded: head.level.load(Relaxed) > 0,
            threads: segment.current(pe),
            locks: head.locks.iter().map(|lock| lock.load(Relaxed)).filter(|&lock| lock != 0).collect(),
            memory: std::array::from_fn(|i| head.memory[i].load(Relaxed)),
            heap: (head.heap_used.load(Relaxed), head.heap_most.load(Relaxed)),
        }
    }

    /// Its process is stopped.
    pub fn stop(&mut self) {
        if self.state != State::Ended {
            self.state = State::Stopped;
        }
    }

    fn absent(pe: u32) -> PeNow {
        let (threads, locks) = (Vec::new(), Vec::new());
        PeNow { pe, pid: 0, state: State::Absent, recorded: false, threads, locks, memory: [0; 4], heap: (0, 0) }
    }

    /// The symmetric object at an address of this PE.
    pub fn symmetric(&self, addr: u64) -> Option<Object> {
        symmetric(self.memory, addr)
    }
}

/// Whether all PEs (or all of a team) take part in calls of this class.
fn is_collective(class: Class, name: &str) -> bool {
    match class {
        Class::Barrier | Class::Collective | Class::Team => true,
        Class::Memory => ["malloc", "calloc", "align", "free", "realloc"].iter().any(|word| name.contains(word)),
        Class::Io => !name.contains("_at") || name.ends_with("_at_all"),
        Class::Setup => name.contains("init") || name.contains("finalize") || name == "start_pes",
        _ => false,
    }
}

/// Class and name of an operation.
fn row(current: &CurrentOp) -> (Class, &'static str) {
    (op::get(current.op).map_or(Class::Query, |op| op.class), current.routine)
}

#[cfg(test)]
mod tests;
