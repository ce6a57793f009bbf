//! What the PEs of a running job do now, and who waits for whom. Reading does not slow them.

mod describe;
pub mod find;
mod inactivity;
mod listed;
mod waits;

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::op::{self, Class};
use crate::segment::layout::{PE_ABSENT, PE_FINALIZED, PE_INITIALIZED, symmetric};
use crate::segment::{CurrentOp, Phase, Segment};

pub use describe::{activity, activity_at, last_operation, object, operation};
pub use inactivity::Inactivity;
pub use listed::{ListedPe, listed};
pub use waits::{For, Wait, Waits};

/// How far a PE is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has not called `shmem_init`.
    #[default]
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
#[derive(Clone, Debug, Default)]
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
    /// Its executable, and what is added to the addresses of that.
    pub program: Option<(String, u64)>,
    /// How long none of its threads has made a call, at least, where somebody has watched it.
    pub quiet_ns: Option<u64>,
    /// It may be longer: nobody has looked before.
    pub at_least: bool,
    /// Whether all of its threads sleep.
    pub asleep: bool,
    /// Where it is outside of the library, as far as somebody has looked.
    pub place: Option<String>,
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
            // The executable is the first of the loaded objects.
            program: region
                .names
                .modules
                .first()
                .filter(|module| module.start.load(Relaxed) != 0)
                .map(|module| (module.path.get(), module.base.load(Relaxed))),
            quiet_ns: None,
            at_least: false,
            asleep: false,
            place: None,
        }
    }

    /// Whether it is not known to be in a call: no thread is in one that may take long.
    pub fn is_outside(&self) -> bool {
        self.pid != 0 && self.threads.iter().all(|current| current.phase != Phase::Inside)
    }

    /// Its process is stopped.
    pub fn stop(&mut self) {
        if self.state != State::Ended {
            self.state = State::Stopped;
        }
    }

    fn absent(pe: u32) -> PeNow {
        PeNow { pe, ..PeNow::default() }
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
        _ => op::has(name, op::TOGETHER | op::OF_ALL | op::INITIALIZES | op::FINALIZES),
    }
}

/// Class and name of an operation.
fn row(current: &CurrentOp) -> (Class, &'static str) {
    (op::get(current.op).map_or(Class::Query, |op| op.class), current.routine)
}

#[cfg(test)]
mod tests;
