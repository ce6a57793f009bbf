//! What is moved: by peer, by context, by size, and in the background.

use super::TeamKey;

/// Calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls.
    pub calls: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Traffic {
    /// Adds another count.
    pub fn add(&mut self, other: Traffic) {
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Traffic with one peer: puts and signals, gets, atomics. Exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// World number; `None` for those that found no room in the table.
    pub pe: Option<u32>,
    /// Puts and signals.
    pub put: Traffic,
    /// Gets.
    pub get: Traffic,
    /// Atomics.
    pub amo: Traffic,
}

impl Peer {
    /// All kinds together.
    pub fn all(&self) -> Traffic {
        let mut all = self.put;
        all.add(self.get);
        all.add(self.amo);
        all
    }

    /// Adds another thread's traffic with the same peer.
    pub fn merge(&mut self, other: &Peer) {
        self.put.add(other.put);
        self.get.add(other.get);
        self.amo.add(other.amo);
    }
}

/// Nonblocking operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nbi {
    /// Operations issued.
    pub issued: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Batches: what was issued between two completions.
    pub batches: u64,
    /// Operations in them; the others were not completed when the numbers were read.
    pub completed: u64,
    /// From the first issue of a batch to the return of the call that completed it, in nanoseconds, over all batches.
    pub ns: u64,
    /// The part of it in the completing calls.
    pub blocked_ns: u64,
    /// Longest batch.
    pub max_ns: u64,
    /// The part of [`Self::blocked_ns`] in barriers, where others are waited for, too.
    pub met_ns: u64,
}

/// Traffic on one context that the program made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Its handle; 0 for contexts that found no room.
    pub handle: u64,
    /// Puts and signals.
    pub put: Traffic,
    /// Gets.
    pub get: Traffic,
    /// Atomics.
    pub amo: Traffic,
    /// Fences and quiets.
    pub orders: u64,
    /// Its team, where known.
    pub team: Option<TeamKey>,
}

/// Calls of one routine, size class and distance: how fast they were, and what held them up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// C name.
    pub routine: String,
    /// Size class ([`crate::size`]).
    pub class: u8,
    /// Distance, by number.
    pub distance: u8,
    /// Calls that were timed, and those that samples stand for.
    pub calls: u64,
    /// Their time in nanoseconds.
    pub ns: u64,
    /// Calls that those stand for which were looked at more closely.
    pub looks: u64,
    /// Page faults in these.
    pub faults: u64,
    /// Those of them beside which another thread or PE of the host moved data.
    pub busy: u64,
    /// Those of them in which the thread lost its core.
    pub preempted: u64,
}

impl Rate {
    /// Adds those of another thread or PE.
    pub fn add(&mut self, other: &Rate) {
        let Rate { calls, ns, looks, faults, busy, preempted, .. } = self;
        let theirs = [other.calls, other.ns, other.looks, other.faults, other.busy, other.preempted];
        for (mine, theirs) in [calls, ns, looks, faults, busy, preempted].into_iter().zip(theirs) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// Requests that a routine began and the program has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// C name; empty: not known, or of several that found no room.
    pub routine: String,
    /// How many.
    pub ended: u64,
    /// From their begin to their completion, in nanoseconds.
    pub open_ns: u64,
    /// The part of it in which the program waited for them.
    pub waited_ns: u64,
}

impl Requests {
    /// Adds those of another thread or PE.
    pub fn add(&mut self, other: &Requests) {
        self.ended = self.ended.saturating_add(other.ended);
        self.open_ns = self.open_ns.saturating_add(other.open_ns);
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
    }
}
