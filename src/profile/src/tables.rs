//! What a PE recorded beside its routines: peers, call sites, regions, synchronisation, nonblocking operations. Plain
//! data.

use crate::segment::lines::LINE_SHIFT;
use crate::timeline::KINDS;

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

/// Calls of one routine from one place of the program in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Return address in the process; 0 where it is not known (no room in the table, or not called through an entry).
    pub address: u64,
    /// C name of the routine; empty for calls that found no room.
    pub routine: String,
    /// Number of the region, an index of [`PeTables::regions`].
    pub region: u8,
    /// Calls. Exact.
    pub calls: u64,
    /// Bytes. Exact.
    pub bytes: u64,
    /// Calls that were timed.
    pub timed_calls: u64,
    /// Time in all calls in nanoseconds: exact where each was timed, else estimated so that sites add up to their
    /// routine. `None` where none was timed.
    pub total_ns: Option<u64>,
    /// Longest timed call in nanoseconds.
    pub max_ns: u64,
}

impl Site {
    /// Adds another thread's calls from the same place.
    pub fn merge(&mut self, other: &Site) {
        self.total_ns = match (self.total_ns, other.total_ns) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            // Calls that were not timed take what the timed ones took.
            (Some(ns), None) => Some(scaled(ns, self.calls, self.calls + other.calls)),
            (None, Some(ns)) => Some(scaled(ns, other.calls, self.calls + other.calls)),
            (None, None) => None,
        };
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.timed_calls = self.timed_calls.saturating_add(other.timed_calls);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

fn scaled(ns: u64, from: u64, to: u64) -> u64 {
    if from == 0 { ns } else { (u128::from(ns) * u128::from(to) / u128::from(from)) as u64 }
}

/// An object that was loaded into the PE's process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// What is added to its file's addresses.
    pub base: u64,
    /// First address of its code.
    pub start: u64,
    /// End of its code.
    pub end: u64,
    /// File.
    pub path: String,
    /// Its build id, in hexadecimal digits; empty where it has none, or the profile does not say.
    pub build_id: String,
}

/// A named region, summed over the threads of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Name; empty for what is outside all regions.
    pub name: String,
    /// How often it was begun.
    pub entries: u64,
    /// From begin to end, in nanoseconds.
    pub total_ns: u64,
    /// The part of it outside inner regions.
    pub own_ns: u64,
    /// Longest time from begin to end.
    pub max_ns: u64,
    /// Begins without an end when the numbers were read.
    pub open: u64,
}

/// Values that the program marked with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marker {
    /// Name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Sum.
    pub sum: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// Last.
    pub last: f64,
}

/// Collectives of a team, on one PE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// World number of its first PE.
    pub start: i32,
    /// Distance between members.
    pub stride: i32,
    /// Members; 0 for teams that found no room.
    pub size: i32,
    /// Number that members agree on.
    pub id: u32,
    /// Barriers, syncs and collectives.
    pub calls: u64,
    /// Time in them in nanoseconds.
    pub ns: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// What tells teams apart: number, first PE, stride, members.
pub type TeamKey = (u32, i32, i32, i32);

impl Team {
    /// What tells teams apart.
    pub fn key(&self) -> TeamKey {
        (self.id, self.start, self.stride, self.size)
    }
}

/// One call of a barrier, sync or collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// The team, an index of [`PeTables::teams`].
    pub team: u8,
    /// Number of the region, an index of [`PeTables::regions`].
    pub region: u8,
    /// Operation id.
    pub op: u16,
    /// Return address.
    pub address: u64,
    /// Its number among the calls of the team.
    pub number: u64,
    /// When the PE arrived, in nanoseconds since the job's start.
    pub arrived_ns: u64,
    /// When it left.
    pub left_ns: u64,
    /// What the thread did before.
    pub phase: Phase,
}

/// What a thread did between two calls of barriers, syncs and collectives, or before the first or after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Return address and operation of the call before it; `None`: it begins with the end of initialization.
    pub from: Option<(u64, u16)>,
    /// When it began, in nanoseconds since the job's start; 0: not known, as in profiles of earlier versions.
    pub begin_ns: u64,
    /// Time in the library, in nanoseconds.
    pub library_ns: u64,
}

/// What a thread did after its last barrier, sync or collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastPhase {
    /// What it did.
    pub phase: Phase,
    /// Begin of finalization, or when it was seen last, in nanoseconds since the job's start.
    pub end_ns: u64,
}

/// A place of a program that calls the library.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// C name of the routine.
    pub routine: String,
    /// File; empty where not known.
    pub path: String,
    /// Address of the return, in it.
    pub address: u64,
}

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
    /// Number of its region, an index of [`PeTables::regions`].
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
        let by =
            |cause: &Cause| cause.by.as_ref().map(|by| (by.pe, by.place.clone(), by.region.clone(), by.from.clone()));
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
        let line = |of: &HotLine| (of.peer, of.object.0, of.object.1 >> LINE_SHIFT);
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
    /// From asking for it to having it, in nanoseconds.
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

/// How often the calls of a routine have taken an algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithm {
    /// C name of the routine; empty for what found no room.
    pub routine: String,
    /// Collective and name, as in `SHMEM_COLLECTIVES`; empty for what found no room.
    pub name: String,
    /// How often. A call may take several, each more than once.
    pub calls: u64,
}

/// A hardware or software counter of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Name.
    pub name: String,
    /// Whether the system has it.
    pub available: bool,
    /// Why it is not available, or what is missing of it; may be empty.
    pub remark: String,
    /// All threads from initialization to the last reading, also those that never call the library.
    pub total: u64,
    /// Nanoseconds for which it was wanted.
    pub wanted_ns: u64,
    /// Nanoseconds for which the processor had room for it; where that is less, its values are estimates.
    pub counted_ns: u64,
}

/// What counters counted in the timed calls of a routine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRoutine {
    /// C name.
    pub routine: String,
    /// Timed calls.
    pub calls: u64,
    /// A value of each of [`Counters::list`].
    pub values: Vec<u64>,
}

/// What counters counted in a region, without inner ones, by threads that call the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRegion {
    /// Number of the region, an index of [`PeTables::regions`].
    pub region: u8,
    /// A value of each of [`Counters::list`].
    pub values: Vec<u64>,
    /// The part of it in timed calls.
    pub library: Vec<u64>,
}

/// Hardware and software counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Those that were asked for.
    pub list: Vec<Counter>,
    /// By routine.
    pub routines: Vec<CounterRoutine>,
    /// By region.
    pub regions: Vec<CounterRegion>,
}

/// What a PE did over time, summed over its threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Begin of the first slice, in nanoseconds since the job's start.
    pub begin_ns: u64,
    /// Width of a slice in nanoseconds.
    pub width_ns: u64,
    /// Time in the library in each slice by kind, in nanoseconds: moving data, waits and locks, barriers and
    /// collectives.
    pub slices: Vec<[u64; KINDS]>,
}

/// What the system gave the PE, and what its process took of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// Processors of the host; 0 where not known, as in profiles of earlier versions.
    pub cores: u32,
    /// Those of them that the PE may run on.
    pub allowed: u32,
    /// Lives of the threads that call the library, between initialization and finalization, in nanoseconds.
    pub threads_ns: u64,
    /// How long these threads stood in a run queue, ready to run and without a processor, in nanoseconds; `None` where
    /// the kernel does not say.
    pub queued_ns: Option<u64>,
    /// First address and bytes of the symmetric heap, then of the static objects.
    pub memory: [u64; 4],
    /// Bytes in objects of the symmetric heap, and the most there ever were.
    pub heap_used: u64,
    /// See [`Self::heap_used`].
    pub heap_most: u64,
    /// What the kernel counted for the process, as of the last look at it.
    pub usage: Usage,
}

/// What the kernel counted for a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a processor in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Pages that were found in memory, and pages that were read.
    pub page_faults: u64,
    /// How often it gave its processor away by itself: to wait, to yield.
    pub voluntary_switches: u64,
    /// How often another process took its processor.
    pub involuntary_switches: u64,
}

/// What recording costs, measured when the PE started, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// A call that is only counted.
    pub counted_ns: f64,
    /// The same of an atomic operation, and of a copy of a kilobyte or more; zeros where that was not measured.
    pub beside_ns: [f64; 2],
    /// A call that is timed.
    pub timed_ns: f64,
    /// A sample.
    pub sample_ns: f64,
}

impl Cost {
    /// A call that is timed in full.
    pub fn longest_ns(&self) -> f64 {
        self.timed_ns.max(self.sample_ns)
    }
}

/// One way to a call site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callers {
    /// Where the call returns to, as in [`Site`].
    pub address: u64,
    /// C name of the routine.
    pub routine: String,
    /// Region, by number.
    pub region: u8,
    /// Where the function that has the call returns to, where that one returns to, and so on.
    pub returns: Vec<u64>,
    /// How often it was seen.
    pub times: u64,
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

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeTables {
    /// By peer, in the order of their numbers.
    pub peers: Vec<Peer>,
    /// By call site.
    pub sites: Vec<Site>,
    /// Loaded objects.
    pub modules: Vec<Module>,
    /// Regions by number; 0 is what is outside of all.
    pub regions: Vec<Region>,
    /// Markers.
    pub markers: Vec<Marker>,
    /// Teams.
    pub teams: Vec<Team>,
    /// Calls that all PEs of a team make together, by team and number.
    pub syncs: Vec<Sync>,
    /// Of how many of those calls one is kept.
    pub sync_every: u64,
    /// What its threads did after the last of those calls.
    pub last_phases: Vec<LastPhase>,
    /// Who ended waits, longest first.
    pub causes: Vec<Cause>,
    /// Distributed locks.
    pub locks: Vec<Lock>,
    /// Words that short calls go to, those that take most first.
    pub lines: Vec<HotLine>,
    /// How fast puts, gets and atomics were.
    pub rates: Vec<Rate>,
    /// Who called the functions that call the library.
    pub callers: Vec<Callers>,
    /// Nonblocking operations.
    pub nbi: Nbi,
    /// Requests by routine; empty in profiles of earlier versions.
    pub requests: Vec<Requests>,
    /// Calls that could not be carried out: the code of the error without its sign, and how many; so, too.
    pub errors: Vec<(u32, u64)>,
    /// Contexts.
    pub contexts: Vec<Context>,
    /// Hardware and software counters.
    pub counters: Counters,
    /// What the network says of itself: name and value.
    pub network: Vec<(String, u64)>,
    /// Algorithms of collectives; empty in profiles of earlier versions.
    pub algorithms: Vec<Algorithm>,
    /// What recording costs.
    pub cost: Cost,
    /// Begins and ends of regions, and markers, that could not be kept.
    pub region_errors: u32,
    /// Where the first of them returns to, in the memory of the process; 0 where that is not known.
    pub region_error: u64,
    /// Events that its trace does not have.
    pub trace_dropped: u64,
    /// What the system gave.
    pub system: System,
    /// What it did over time; empty in profiles of earlier versions.
    pub timeline: Timeline,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untimed_calls_take_the_mean_of_timed_ones() {
        let mut a = Site { calls: 10, timed_calls: 10, total_ns: Some(100), ..Site::default() };
        a.merge(&Site { calls: 30, ..Site::default() });
        assert_eq!((a.calls, a.total_ns, a.timed_calls), (40, Some(400), 10));
        let mut b = Site { calls: 1, ..Site::default() };
        b.merge(&Site { calls: 1, ..Site::default() });
        assert_eq!(b.total_ns, None);
    }
}
