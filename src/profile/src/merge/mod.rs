//! The profile of a job as reports need it: sums over PEs, in memory that does not grow with them but for some hundred
//! bytes each.
//!
//! PEs are read one at a time and added to sums; what a table of all PEs would have too many rows for is folded: the
//! matrix by hosts or ranges, call sites and pairs of PEs to those that count most and the sum of the others, meetings
//! to a sample. The result depends neither on the order of the PEs nor on how they are shared out among threads: every
//! sum is exact, every choice follows from what is chosen among.
//!
//! | module | what it is |
//! |---|---|
//! | `plan` | limits, and what has to be known of all PEs beforehand: their hosts |
//! | `fold` | all sums: a PE is added, two heaps are joined |
//! | `follow` | sums of a job that is looked at again and again |
//! | `strip` | what is kept of a PE's time line |
//! | `pe`, `routines`, `matrix`, `sites`, `regions`, `meetings`, `groups`, `locks`, `addresses`, `rates`, `requests`, `callers`, `counters` | a file a kind of sum |
//! | `counted` | how many meetings there were, where not each is kept |
//! | `cpu_time` | what short calls take at most: each PE comes with that |
//! | `outside` | what a PE did outside of the library: computed, stood in line for a core, was on none |
//! | `open` | meetings that not all had come to when their PEs ended |
//! | `ends` | whether the job came to its end |
//! | `rings` | PEs that waited for each other's locks at its end |
//! | `efficiency` | factors of parallel efficiency: PEs are read again, once it is known who came last to which meeting |
//! | `phases`, `phase_times` | what happens between meetings, at the same reading; what a sample says of all of it |
//! | `causes` | who ended waits; at the second reading, what those PEs did |
//! | `wait_lines` | PEs that wait for one that waits itself |
//! | `exact`, `pool`, `symbol` | sums of fractions in any order; texts by number; where names of objects are found |

mod addresses;
mod callers;
mod causes;
mod counted;
mod counters;
mod cpu_time;
mod efficiency;
mod ends;
mod exact;
mod fold;
mod follow;
mod groups;
mod locks;
mod matrix;
mod meetings;
mod open;
mod outside;
mod pe;
mod phase_times;
mod phases;
mod plan;
mod pool;
mod rates;
mod regions;
mod requests;
mod rings;
mod routines;
mod sites;
mod strip;
mod symbol;
#[cfg(test)]
mod tests;
mod wait_lines;

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub use addresses::AddressSum;
pub(crate) use addresses::MOST as ADDRESSES;
pub use callers::{CallerSums, CodeAddress};
pub use causes::{Because, Cause, Causes};
pub use counters::{Around, CounterKey, CounterSum, CounterSums};
pub(crate) use cpu_time::within_cpu_time;
pub use efficiency::{Efficiencies, Factors, Parts, Times};
pub use follow::Following;
pub use groups::{AlgorithmKey, ContextKey, NetworkSum, TeamSum};
pub use locks::{LockKey, LockSum};
pub use matrix::{LARGEST, LARGEST_CHART, LARGEST_TEXT, Matrix, Pair};
pub use meetings::{Late, MeetingTimes};
pub use outside::{Does, OutsideParts, outside_parts};
pub use pe::{PeRow, SMALL, is_ask, is_blocking_put, is_element_read, is_nbi_put};
pub(crate) use pe::{are_of_many_words, are_of_one_word, is_fetch};
pub use phases::{PhaseKey, PhaseSum, Place};
pub use plan::Limits;
pub use rates::RemoteTime;
pub use regions::{MarkerRow, RegionSum};
pub use rings::Rings;
pub use sites::{SiteRow, SiteSum};
pub use strip::{STRIP_COLUMNS, STRIP_KINDS, Strip};
pub use symbol::Symbol;
pub use wait_lines::{WaitLines, Whose};

use crate::calibration::Calibrations;
use crate::model::{Job, Pe, Profile, Routine};
use crate::tables::{Context, Peer, Rate, Requests, TeamKey};
use fold::Fold;
use plan::Plan;

/// Threads that read.
const THREADS: usize = 4;
/// PEs from which on a second thread is worth starting.
const MANY: usize = 64;

/// What the times at level 0 may differ by at most to be alike, as a share of the longest run that was recorded.
const UNRECORDED_DIFFERS: f64 = 0.05;

/// Where PEs come from: memory, or files of which one is read at a time.
pub trait PeSource: Sync {
    /// The job, where it is known.
    fn job(&self) -> Option<Job>;
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Who is at this place.
    fn head(&self, at: usize) -> Option<Head>;
    /// All of it.
    fn pe(&self, at: usize) -> Option<Cow<'_, Pe>>;
}

/// A PE and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// World number.
    pub pe: u32,
    /// Host.
    pub host: String,
}

impl PeSource for Profile {
    fn job(&self) -> Option<Job> {
        Some(self.job.clone())
    }

    fn len(&self) -> usize {
        self.pes.len()
    }

    fn head(&self, at: usize) -> Option<Head> {
        self.pes.get(at).map(|pe| Head { pe: pe.pe, host: pe.host.clone() })
    }

    fn pe(&self, at: usize) -> Option<Cow<'_, Pe>> {
        self.pes.get(at).map(|pe| within_cpu_time(Cow::Borrowed(pe)))
    }
}

/// A profile, summed over PEs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// The job as a whole.
    pub job: Job,
    /// What is kept of each PE, by number.
    pub pes: Vec<PeRow>,
    /// Routines, in the order of first appearance.
    pub routines: Vec<Routine>,
    /// By routine in that order: most time of a PE, and the first such PE.
    pub most: Vec<(u64, u32)>,
    matrices: Vec<Matrix>,
    /// Pairs of PEs with traffic, most bytes first.
    pub pairs: Vec<Pair>,
    /// How many pairs are left out, and their sum.
    pub other_pairs: (u64, Peer),
    /// Call sites, by file, address, routine and region.
    pub sites: Vec<SiteRow>,
    /// Sum of the call sites that are left out.
    pub other_sites: SiteSum,
    /// Regions, by name.
    pub regions: Vec<(String, RegionSum)>,
    /// Markers, by PE.
    pub markers: Vec<MarkerRow>,
    /// Barriers and collectives, most lost first.
    pub late: Vec<Late>,
    /// One in so many of them is known.
    pub every: u64,
    /// What those that are known took, and all.
    pub meeting_times: MeetingTimes,
    /// Teams whose members have recorded different numbers of them: who was late is not known there.
    pub unpaired: usize,
    /// Contexts: handle and team; PEs, and their traffic.
    pub contexts: Vec<(ContextKey, (u64, Context))>,
    /// Teams.
    pub teams: Vec<(TeamKey, TeamSum)>,
    /// What the network says of itself.
    pub network: Vec<(String, NetworkSum)>,
    /// Algorithms of collectives, by routine and name: how often.
    pub algorithms: Vec<(AlgorithmKey, u64)>,
    /// Hardware and software counters.
    pub counters: CounterSums,
    /// Times that the factors of parallel efficiency follow from.
    pub efficiencies: Efficiencies,
    /// What happens between meetings, most work first.
    pub phases: Vec<(PhaseKey, PhaseSum)>,
    /// Who ended waits, and why he was late.
    pub causes: Causes,
    /// Distributed locks, waited for longest first.
    pub locks: Vec<(LockKey, LockSum)>,
    /// PEs that waited for each other's locks when they ended.
    pub lock_rings: Rings,
    /// Words that short calls go to, those that take most first.
    pub addresses: Vec<AddressSum>,
    /// How fast puts, gets and atomics were, by routine, size class and distance.
    pub rates: Vec<Rate>,
    /// How long those to other hosts took, by the host that they come from.
    pub remote_times: Vec<RemoteTime>,
    /// Requests by routine, those under way longest first.
    pub requests: Vec<Requests>,
    /// Calls that could not be carried out: the code of the error without its sign, and how many.
    pub errors: Vec<(u32, u64)>,
    /// Who called the functions that call the library.
    pub callers: CallerSums,
    /// What calls take where nothing holds them up, as far as somebody measured it; put there by whoever makes reports.
    pub calibrations: Calibrations,
    /// Executables and libraries by path, and the build id of each: empty where it is not known.
    pub builds: Vec<(String, String)>,
    /// Libraries with call sites that were unloaded before others were loaded at their addresses.
    pub replaced: Vec<String>,
}

impl Merged {
    /// What was waited for PEs that came late to calls of the routines that `of` picks, over all PEs, in nanoseconds.
    pub fn lost_to_late_ns(&self, of: impl Fn(&str) -> bool) -> u64 {
        self.late.iter().filter(|late| of(&late.routine)).map(|late| late.lost_ns).fold(0, u64::saturating_add)
    }

    /// Whether it has what profiles have that are kept: call sites, and all that is by place or object.
    pub fn is_detailed(&self) -> bool {
        !self.sites.is_empty() || self.other_sites.calls > 0
    }

    /// Whether the meetings that are kept do not stand for the others: a few took much longer than most, and are left
    /// out or count as many.
    pub fn meetings_differ(&self) -> bool {
        self.every > 1 && !self.meeting_times.are_near()
    }

    /// Whether the level was 0 for about as long on all PEs: else what they did in the time that was recorded cannot be
    /// compared.
    pub fn is_recorded_evenly(&self) -> bool {
        let unrecorded = || self.pes.iter().map(|pe| pe.system.unrecorded_ns);
        let differ = unrecorded().max().unwrap_or(0) - unrecorded().min().unwrap_or(0);
        differ as f64 <= UNRECORDED_DIFFERS * self.longest_ns() as f64
    }

    /// Adds up the PEs of `source`, and tells `progress` how many of how many are done.
    pub fn new(source: &dyn PeSource, progress: impl FnMut(usize, usize)) -> Merged {
        Merged::with_limits(source, Limits::default(), progress)
    }

    /// As [`Merged::new`], keeping as much as said.
    pub fn with_limits(source: &dyn PeSource, limits: Limits, mut progress: impl FnMut(usize, usize)) -> Merged {
        let job = source.job();
        let (npes, host) = job.as_ref().map_or((0, ""), |job| (job.npes, job.host.as_str()));
        let mut plan = Plan::new(source, npes, host, limits);
        let mut fold = fold_all(source, &plan, Fold::add, &mut progress);
        let (selection, told) = (fold.selection(), fold.told());
        let mut sums = fold.finish(job);
        plan.sites = selection;
        plan.take(told);
        plan.releasers = sums.causes.releasers();
        let again = fold_all(source, &plan, Fold::add_again, &mut progress);
        let causes = sums.causes.finish(again.work());
        sums.pes.iter_mut().for_each(|pe| pe.nbi_waiting_ns = again.nbi_waiting_ns(pe.pe));
        let again = again.finish(None);
        let mut sums = Merged { causes, efficiencies: again.efficiencies, phases: again.phases, ..sums };
        if plan.sites.is_some() {
            (sums.sites, sums.other_sites) = (again.sites, again.other_sites);
        }
        if sums.every > 1 {
            let mut met = sums.teams.iter().filter(|(_, team)| team.calls > 0).map(|(key, _)| *key);
            let only = met.next().filter(|_| met.next().is_none() && sums.unpaired == 0);
            counted::count(&mut sums.late, &sums.sites, only);
        }
        sums
    }

    /// Time of the PE that ran longest, between initialization and finalization, in nanoseconds, 1 at least. The run
    /// takes as long: what one PE does is a share of that, also where it came to its own end early.
    pub fn longest_ns(&self) -> u64 {
        self.pes.iter().map(PeRow::main_ns).max().unwrap_or(0).max(1)
    }

    /// Most time of a PE in a routine, and the first such PE.
    pub fn most_of(&self, routine: &str) -> Option<(u64, u32)> {
        let at = self.routines.iter().position(|r| r.name == routine)?;
        self.most.get(at).copied().filter(|most| most.0 > 0)
    }

    /// The matrix with at most `largest` rows: one of [`LARGEST`], [`LARGEST_CHART`], [`LARGEST_TEXT`].
    pub fn matrix(&self, largest: usize) -> Matrix {
        let at = matrix::SIZES.iter().position(|&size| size == largest).unwrap_or(0);
        self.matrices.get(at).cloned().unwrap_or_default()
    }
}

impl From<&Profile> for Merged {
    fn from(profile: &Profile) -> Merged {
        Merged::new(profile, |_, _| {})
    }
}

/// Adds up all PEs, each thread those that come next.
fn fold_all<'p>(
    source: &dyn PeSource,
    plan: &'p Plan,
    add: fn(&mut Fold<'p>, &Pe),
    progress: &mut dyn FnMut(usize, usize),
) -> Fold<'p> {
    let all = source.len();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(THREADS).min(all / MANY).max(1);
    let next = AtomicUsize::new(0);
    let work = |told: &mut dyn FnMut(usize)| {
        let mut fold = Fold::new(plan);
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= all {
                return fold;
            }
            told(at);
            if let Some(pe) = source.pe(at) {
                add(&mut fold, &pe);
            }
        }
    };
    let others = Mutex::new(Vec::new());
    let mut fold = std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where there can be no more threads, this one does it all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || {
                let fold = work(&mut |_| {});
                others.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(fold);
            });
        }
        work(&mut |at| progress(at, all))
    });
    let others = others.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    others.into_iter().for_each(|other| fold.join(other));
    progress(all, all);
    fold
}
