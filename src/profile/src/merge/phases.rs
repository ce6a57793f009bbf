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

/// A phase, over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseSum {
    /// PEs that went through it.
    pub pes: u64,
    /// How often, summed over them.
    pub times: u64,
    /// Time outside of the library, summed over them, in nanoseconds.
    pub work_ns: u64,
    /// Most of a PE, and the first such PE.
    pub most: (u64, u32),
    /// Time in the library before the meeting that ends it.
    pub library_ns: u64,
    /// What the factors of parallel efficiency follow from.
    pub parts: Times,
    /// Time in which the PEs that came this way waited for the last to come to the meeting that ends it.
    pub lost_ns: u64,
}

impl PhaseSum {
    fn add(&mut self, other: &PhaseSum) {
        self.pes += other.pes;
        self.times = self.times.saturating_add(other.times);
        self.work_ns = self.work_ns.saturating_add(other.work_ns);
        self.most = more(self.most, other.most);
        self.library_ns = self.library_ns.saturating_add(other.library_ns);
        self.parts.join(&other.parts);
        self.lost_ns = self.lost_ns.saturating_add(other.lost_ns);
    }

    /// Time of all PEs from its begin to the end of the meeting that ends it, as far as it is known.
    pub fn spent_ns(&self) -> u64 {
        self.work_ns.saturating_add(self.library_ns).saturating_add(self.lost_ns)
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

/// One PE's times of a phase, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Own {
    times: u64,
    work: u64,
    library: u64,
    parts: Parts,
}

impl Own {
    /// Adds `weight` times a phase of `work` and `library`, then a meeting that takes `meeting`, of which `waiting` for
    /// others.
    fn add(&mut self, weight: u64, [work, library, meeting, waiting]: [u64; 4]) {
        let times = |ns: u64| ns.saturating_mul(weight);
        self.times = self.times.saturating_add(weight);
        self.work = self.work.saturating_add(times(work));
        self.library = self.library.saturating_add(times(library));
        let elapsed = work.saturating_add(library).saturating_add(meeting);
        self.parts.elapsed_ns = self.parts.elapsed_ns.saturating_add(times(elapsed));
        self.parts.useful_ns = self.parts.useful_ns.saturating_add(times(work));
        self.parts.waiting_ns = self.parts.waiting_ns.saturating_add(times(waiting));
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Phases(BTreeMap<PhaseKey, PhaseSum>);

impl Phases {
    /// Adds a PE, once it is known when the last member came to each meeting.
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        let mut names = Names { pe, paths: BTreeMap::new() };
        // By address and operation: that of a call in this process.
        let mut own: BTreeMap<(Call, Call), Own> = BTreeMap::new();
        for sync in pe.tables.syncs.iter().filter(|sync| sync.phase.begin_ns > 0) {
            let to = Some((sync.address, sync.op));
            own.entry((sync.phase.from, to)).or_default().add(pe.tables.sync_every, times(plan, pe, sync));
        }
        for LastPhase { phase, end_ns } in &pe.tables.last_phases {
            let (work, library) = split(phase, *end_ns);
            own.entry((phase.from, None)).or_default().add(1, [work, library, 0, 0]);
        }
        // Several places of a process are one in the file where they are not known.
        let mut by_place: BTreeMap<PhaseKey, PhaseSum> = BTreeMap::new();
        for ((from, to), own) in own {
            let mut parts = Times::default();
            parts.add(own.parts);
            let (times, work_ns, library_ns) = (own.times, own.work, own.library);
            let sum = PhaseSum {
                pes: 1,
                times,
                work_ns,
                most: (work_ns, pe.pe),
                library_ns,
                parts,
                lost_ns: own.parts.waiting_ns,
            };
            let mut place = |of: Call| of.map(|(address, op)| names.place(address, op));
            let key = (place(from), place(to));
            by_place
                .entry(key)
                .and_modify(|known| {
                    let most = (known.most.0.saturating_add(sum.most.0), pe.pe);
                    known.add(&PhaseSum { pes: 0, ..sum });
                    known.most = most;
                })
                .or_insert(sum);
        }
        by_place.into_iter().for_each(|(key, sum)| self.put(key, &sum));
    }

    fn put(&mut self, key: PhaseKey, sum: &PhaseSum) {
        self.0.entry(key).and_modify(|known| known.add(sum)).or_insert(*sum);
    }

    pub(super) fn join(&mut self, other: Phases) {
        other.0.into_iter().for_each(|(key, sum)| self.put(key, &sum));
    }

    /// Those in which most work is done first: how long the others wait depends on the machine, too.
    pub(super) fn finish(self) -> Vec<(PhaseKey, PhaseSum)> {
        let mut list: Vec<(PhaseKey, PhaseSum)> = self.0.into_iter().collect();
        list.sort_by(|a, b| b.1.work_ns.cmp(&a.1.work_ns).then_with(|| a.0.cmp(&b.0)));
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
