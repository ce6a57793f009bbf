//! What a PE recorded beside its routines: peers, call sites, regions, synchronisation, nonblocking operations. Plain
//! data.

mod counters;
mod meetings;
mod process;
mod sites;
mod traffic;
mod waits;

pub use counters::{Counter, CounterRegion, CounterRoutine, Counters};
pub use meetings::{Algorithm, LastPhase, Phase, Sync, Team, TeamKey, place_in};
pub use process::{Cost, Marker, Outside, Region, System, Timeline, Usage};
pub use sites::{Callers, CodePlace, Module, Site};
pub use traffic::{Context, Nbi, Peer, Rate, Requests, Traffic};
pub use waits::{Cause, HotLine, Lock, Releaser};

use crate::sample;

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
    /// Those that had not returned when the numbers were read: they end with the PE. They have the team's next number,
    /// or the largest number that there is, where that is not known.
    pub open_syncs: Vec<Sync>,
    /// Of how many of the calls that have returned one is kept.
    pub sync_every: u64,
    /// In nanoseconds: of those that the PE was in for so long or longer all are kept. 0: as many as of the others.
    pub longest_from_ns: u64,
    /// In nanoseconds: of those after a phase of so long or longer most are kept, by a thread that mostly waits in
    /// them. The largest number: of none. 0: those were not looked for, as in profiles of earlier versions.
    pub longest_phase_from_ns: u64,
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
    /// Calls of `pshmem_X` that came from the executable itself: they are nowhere else.
    pub left_out: u64,
    /// Events that its trace does not have.
    pub trace_dropped: u64,
    /// What the system gave.
    pub system: System,
    /// What it did over time; empty in profiles of earlier versions.
    pub timeline: Timeline,
}

impl PeTables {
    /// Whether the PE was in a call for so long that all of that kind are kept.
    pub fn is_among_longest(&self, sync: &Sync) -> bool {
        self.longest_from_ns > 0 && sync.left_ns.saturating_sub(sync.arrived_ns) >= self.longest_from_ns
    }

    /// Whether most of that kind are kept since what the PE did before took so long.
    pub fn is_after_longest(&self, sync: &Sync) -> bool {
        let phase_ns = sync.arrived_ns.saturating_sub(sync.phase.begin_ns);
        self.longest_phase_from_ns > 0 && sync.phase.from.is_some() && phase_ns >= self.longest_phase_from_ns
    }

    /// Whether it is known by itself, and stands for no other.
    pub fn is_alone(&self, sync: &Sync) -> bool {
        let is_of_sample = || sample::is_kept(sync.number, self.sync_every.max(1).trailing_zeros());
        self.is_among_longest(sync) || (self.longest_phase_from_ns > 0 && !is_of_sample())
    }

    /// How many calls of the PE one that is kept stands for.
    pub fn stands_for(&self, sync: &Sync) -> u64 {
        if self.is_alone(sync) { 1 } else { self.sync_every.max(1) }
    }
}
