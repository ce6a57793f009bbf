//! Who ends waits, which cache lines are contended, who holds locks.

use super::CodePlace;
use crate::op::{self, Class};
use crate::segment::lines::line_of;

/// Who ended waits, and what it did before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Releaser {
    /// World number.
    pub pe: u32,
    /// Where it stored to what was waited for.
    pub place: CodePlace,
    /// The region that it was in, empty outside of all.
    pub region: String,
    /// The wait, barrier, sync or collective that it came from.
    pub from: Option<CodePlace>,
    /// The region in which it was for longest after that, empty outside of all.
    pub worked_in: String,
    /// While it was waited for, after `from`: time outside of the library, in nanoseconds.
    pub work_ns: u64,
    /// The same in the library.
    pub library_ns: u64,
    /// Both, over the waits that were looked at only.
    pub own_ns: u64,
}

/// Waits at one place, by who ended them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// Return address of the wait, in the process.
    pub address: u64,
    /// C name of its routine.
    pub routine: String,
    /// Number of its region, an index of [`super::PeTables::regions`].
    pub region: u8,
    /// Waits that were looked at.
    pub waits: u64,
    /// Time in waits that they stand for, in nanoseconds.
    pub ns: u64,
    /// Who ended them, where that is known.
    pub by: Option<Releaser>,
}

impl Cause {
    /// Whether these are waits at the same place, ended at the same place by the same PE.
    pub fn is_like(&self, other: &Cause) -> bool {
        let by = |cause: &Cause| {
            let of =
                |by: &Releaser| (by.pe, by.place.clone(), by.region.clone(), by.from.clone(), by.worked_in.clone());
            cause.by.as_ref().map(of)
        };
        (self.address, &self.routine, self.region) == (other.address, &other.routine, other.region)
            && by(self) == by(other)
    }

    /// Adds another thread's waits.
    pub fn add(&mut self, other: &Cause) {
        self.waits = self.waits.saturating_add(other.waits);
        self.ns = self.ns.saturating_add(other.ns);
        if let (Some(by), Some(more)) = (&mut self.by, &other.by) {
            by.work_ns = by.work_ns.saturating_add(more.work_ns);
            by.library_ns = by.library_ns.saturating_add(more.library_ns);
            by.own_ns = by.own_ns.saturating_add(more.own_ns);
        }
    }
}

/// Calls of a routine to one cache line, as samples see them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotLine {
    /// World number of the PE that has it.
    pub peer: u32,
    /// The symmetric object of the last sample: (0 heap, 1 static; offset).
    pub object: (u8, u64),
    /// C name.
    pub routine: String,
    /// Calls that samples stand for.
    pub calls: u64,
    /// Their time in nanoseconds.
    pub ns: u64,
}

impl HotLine {
    /// Whether these are calls of the same routine to the same line.
    pub fn is_like(&self, other: &HotLine) -> bool {
        let line = |of: &HotLine| line_of(of.peer, of.object);
        line(self) == line(other) && self.routine == other.routine
    }

    /// Adds another thread's calls.
    pub fn add(&mut self, other: &HotLine) {
        self.object = self.object.min(other.object);
        self.calls = self.calls.saturating_add(other.calls);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// What a PE did with a distributed lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// The symmetric object: (0 heap, 1 static; offset). `None`: locks that found no room.
    pub object: Option<(u8, u64)>,
    /// How often it was taken.
    pub taken: u64,
    /// How often another PE had it meanwhile, as far as is known on the host.
    pub contended: u64,
    /// From asking for it to having it, in nanoseconds; a wait that the end of the PE has cut off, to there.
    pub waited_ns: u64,
    /// From having it to releasing it.
    pub held_ns: u64,
    /// The longest such time.
    pub max_held_ns: u64,
    /// How often it is known when the PE before released it.
    pub handovers: u64,
    /// From that to having it, in nanoseconds.
    pub handover_ns: u64,
}

impl Lock {
    /// Whether a routine of locks, by its C name, returns no sooner than it has one.
    pub fn is_waited_for_in(routine: &str) -> bool {
        op::class_of(routine) == Some(Class::Lock) && op::has(routine, op::WAITS)
    }
}
