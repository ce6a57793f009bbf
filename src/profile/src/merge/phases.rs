//! What happens between two barriers, syncs or collectives, from place to place of the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::efficiency::{Parts, Times};
use super::plan::Plan;
use super::sites::more;
use crate::model::Pe;
use crate::op;
use crate::tables::{LastPhase, Phase, Sync};

/// A place of the program where meetings are called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// File; empty where not known.
    pub path: Arc<str>,
    /// Address in it.
    pub address: u64,
    /// C name of the routine.
    pub routine: &'static str,
}

impl Place {
    /// File and address in it, where known.
    pub fn file(&self) -> Option<(&str, u64)> {
        (!self.path.is_empty()).then_some((&*self.path, self.address))
    }
}

/// From where (`None`: the end of initialization) to where (`None`: finalization, or the end of the PE).
pub type PhaseKey = (Option<Place>, Option<Place>);

/// A phase, by PE: several phases of a profile are one where their places are of one line, and may have PEs in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseSum {
    by_pe: BTreeMap<u32, PhaseOfPe>,
}

impl PhaseSum {
    /// Adds another phase of the same line.
    pub fn add(&mut self, other: &PhaseSum) {
        other.by_pe.iter().for_each(|(pe, of)| self.put(*pe, of));
    }

    fn put(&mut self, pe: u32, of: &PhaseOfPe) {
        self.by_pe.entry(pe).or_default().join(of);
    }

    fn sum(&self, of: impl Fn(&PhaseOfPe) -> u64) -> u64 {
        self.by_pe.values().map(of).fold(0, u64::saturating_add)
    }

    /// PEs that went through it.
    pub fn pes(&self) -> u64 {
        self.by_pe.len() as u64
    }

    /// How often, summed over them.
    pub fn times(&self) -> u64 {
        self.sum(|of| of.times)
    }

    /// Time outside of the library, summed over them, in nanoseconds.
    pub fn work_ns(&self) -> u64 {
        self.sum(|of| of.work_ns)
    }

    /// Most time outside of the library of a PE, and the first such PE.
    pub fn most(&self) -> (u64, u32) {
        self.by_pe.iter().fold((0, 0), |most, (pe, of)| more(most, (of.work_ns, *pe)))
    }

    /// Time in the library before the meeting that ends it.
    pub fn library_ns(&self) -> u64 {
        self.sum(|of| of.library_ns)
    }

    /// Time in which the PEs that came this way waited for the last to come to the meeting that ends it.
    pub fn waited_ns(&self) -> u64 {
        self.sum(|of| of.parts.waiting_ns)
    }

    /// What the factors of parallel efficiency follow from.
    pub fn parts(&self) -> Times {
        let mut times = Times::default();
        self.by_pe.values().for_each(|of| times.add(of.parts));
        times
    }

    /// Time of all PEs from its begin to the end of the meeting that ends it, as far as it is known.
    pub fn spent_ns(&self) -> u64 {
        self.work_ns().saturating_add(self.library_ns()).saturating_add(self.waited_ns())
    }
}

/// One PE's times of a phase, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PhaseOfPe {
    times: u64,
    work_ns: u64,
    library_ns: u64,
    parts: Parts,
}

impl PhaseOfPe {
    /// Adds `weight` times a phase of `work` and `library`, then a meeting that takes `meeting`, of which `waiting` for
    /// others.
    fn add(&mut self, weight: u64, [work, library, meeting, waiting]: [u64; 4]) {
        let times = |ns: u64| ns.saturating_mul(weight);
        let elapsed = work.saturating_add(library).saturating_add(meeting);
        self.join(&PhaseOfPe {
            times: weight,
            work_ns: times(work),
            library_ns: times(library),
            parts: Parts { elapsed_ns: times(elapsed), useful_ns: times(work), waiting_ns: times(waiting) },
        });
    }

    fn join(&mut self, other: &PhaseOfPe) {
        self.times = self.times.saturating_add(other.times);
        self.work_ns = self.work_ns.saturating_add(other.work_ns);
        self.library_ns = self.library_ns.saturating_add(other.library_ns);
        self.parts.join(&other.parts);
    }
}

/// Return address and operation of a meeting in a process; `None` at either end of the run.
type Call = Option<(u64, u16)>;

/// Names of the files and addresses of a PE's process.
struct Names<'a> {
    pe: &'a Pe,
    paths: BTreeMap<&'a str, Arc<str>>,
}

impl<'a> Names<'a> {
    fn place(&mut self, address: u64, op: u16) -> Place {
        let (path, address) = self.pe.in_file(address).unwrap_or_default();
        let path = self.paths.entry(path).or_insert_with(|| path.into()).clone();
        Place { path, address, routine: op::get(op).map_or("", |row| row.name()) }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Phases(BTreeMap<PhaseKey, PhaseSum>);

impl Phases {
    /// Adds a PE, once it is known when the last member came to each meeting.
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        let mut names = Names { pe, paths: BTreeMap::new() };
        // By address and operation: that of a call in this process.
        let mut own: BTreeMap<(Call, Call), PhaseOfPe> = BTreeMap::new();
        for sync in pe.tables.syncs.iter().filter(|sync| sync.phase.begin_ns > 0) {
            let to = Some((sync.address, sync.op));
            own.entry((sync.phase.from, to)).or_default().add(pe.tables.stands_for(sync), times(plan, pe, sync));
        }
        for sync in &pe.tables.open_syncs {
            let (work, library) = split(&sync.phase, sync.arrived_ns);
            let meeting = sync.left_ns.saturating_sub(sync.arrived_ns);
            // Nobody has come back from it: until then it is waiting.
            own.entry((sync.phase.from, Some((sync.address, sync.op))))
                .or_default()
                .add(1, [work, library, meeting, meeting]);
        }
        for LastPhase { phase, end_ns } in &pe.tables.last_phases {
            let (work, library) = split(phase, *end_ns);
            own.entry((phase.from, None)).or_default().add(1, [work, library, 0, 0]);
        }
        for ((from, to), own) in own {
            let mut place = |of: Call| of.map(|(address, op)| names.place(address, op));
            self.0.entry((place(from), place(to))).or_default().put(pe.pe, &own);
        }
    }

    pub(super) fn join(&mut self, other: Phases) {
        other.0.into_iter().for_each(|(key, sum)| self.0.entry(key).or_default().add(&sum));
    }

    /// Those in which most work is done first: how long the others wait depends on the machine, too.
    pub(super) fn finish(self) -> Vec<(PhaseKey, PhaseSum)> {
        let mut list: Vec<(PhaseKey, PhaseSum)> = self.0.into_iter().collect();
        list.sort_by_cached_key(|(key, sum)| (std::cmp::Reverse(sum.work_ns()), key.clone()));
        list
    }
}

/// Outside of the library, and in it.
fn split(phase: &Phase, end_ns: u64) -> (u64, u64) {
    let all = end_ns.saturating_sub(phase.begin_ns);
    let library = phase.library_ns.min(all);
    (all - library, library)
}

/// Outside of the library, in it, in the meeting that ends the phase, and the part of that in which others were waited
/// for.
fn times(plan: &Plan, pe: &Pe, sync: &Sync) -> [u64; 4] {
    let (work, library) = split(&sync.phase, sync.arrived_ns);
    let meeting = sync.left_ns.saturating_sub(sync.arrived_ns);
    let team = pe.tables.teams.get(usize::from(sync.team));
    let last = team.and_then(|team| plan.last_arrivals.get(&(team.key(), sync.number)));
    let waiting = last.map_or(0, |last| last.saturating_sub(sync.arrived_ns).min(meeting));
    [work, library, meeting, waiting]
}
