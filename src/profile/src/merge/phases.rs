//! What happens between two barriers, syncs or collectives, from place to place of the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::efficiency::{Recorded, Times};
use super::phase_times::{End, Limit, PhaseOfPe, Seen, estimate};
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

    /// Whether a sample of it stands for all of it.
    pub fn is_estimated(&self) -> bool {
        self.by_pe.values().any(|of| of.is_estimated)
    }

    /// Time outside of the library, summed over them, in nanoseconds.
    pub fn work_ns(&self) -> u64 {
        self.sum(|of| of.work_ns)
    }

    /// The same of one of them.
    pub fn work_of(&self, pe: u32) -> u64 {
        self.by_pe.get(&pe).map_or(0, |of| of.work_ns)
    }

    /// Time of one of them in the library before the meeting that ends it, without waits and locks.
    pub fn calls_of(&self, pe: u32) -> u64 {
        self.by_pe.get(&pe).map_or(0, |of| of.library_ns.saturating_sub(of.waits_ns))
    }

    /// Most time outside of the library of a PE, and the first such PE.
    pub fn most(&self) -> (u64, u32) {
        self.by_pe.iter().fold((0, 0), |most, (pe, of)| more(most, (of.work_ns, *pe)))
    }

    /// Time in the library before the meeting that ends it.
    pub fn library_ns(&self) -> u64 {
        self.sum(|of| of.library_ns)
    }

    /// What of that was in waits and locks.
    pub fn waits_ns(&self) -> u64 {
        self.sum(|of| of.waits_ns)
    }

    /// Time in which the PEs that came this way waited for the last to come to the meeting that ends it.
    pub fn waited_ns(&self) -> u64 {
        self.sum(|of| of.waited_ns)
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

    /// The phase that a meeting ends.
    fn phase(&mut self, sync: &Sync) -> PhaseKey {
        let from = sync.phase.from.map(|(address, op)| self.place(address, op));
        (from, Some(self.place(sync.address, sync.op)))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Phases(BTreeMap<PhaseKey, PhaseSum>);

impl Phases {
    /// Adds a PE, once it is known when the last member came to each meeting. Where that is not known of one, as much
    /// of it is waiting as of the others.
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe, recorded: &Recorded) {
        let mut names = Names { pe, paths: BTreeMap::new() };
        let mut own: BTreeMap<PhaseKey, Seen> = BTreeMap::new();
        for sync in pe.tables.syncs.iter().filter(|sync| sync.phase.begin_ns > 0) {
            let (parts, end) = (split(&sync.phase, sync.arrived_ns), end(plan, pe, sync, recorded.until_last()));
            own.entry(names.phase(sync)).or_default().add(is_sample(plan, pe, sync), parts, end);
        }
        for sync in &pe.tables.open_syncs {
            let took = sync.left_ns.saturating_sub(sync.arrived_ns);
            // Nobody has come back from it: until then it is waiting.
            let (parts, end) = (split(&sync.phase, sync.arrived_ns), End { took, waited: took, waiting: took });
            own.entry(names.phase(sync)).or_default().add(false, parts, end);
        }
        for LastPhase { phase, end_ns } in &pe.tables.last_phases {
            let from = phase.from.map(|(address, op)| names.place(address, op));
            own.entry((from, None)).or_default().add(false, split(phase, *end_ns), End::default());
        }
        for (key, elapsed_ns) in plan.late_phases.get(&pe.pe).into_iter().flatten() {
            own.entry(key.clone()).or_default().add(false, [*elapsed_ns, 0, 0], End::default());
        }
        let ends = calls_of_ends(pe, &own, &mut names);
        for (key, of) in estimate(own, &ends, pe.tables.sync_every, Limit::of(pe, recorded)) {
            self.0.entry(key).or_default().put(pe.pe, &of);
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

/// Outside of the library, in it, and of that in waits and locks.
fn split(phase: &Phase, end_ns: u64) -> [u64; 3] {
    let all = end_ns.saturating_sub(phase.begin_ns);
    let library = phase.library_ns.min(all);
    [all - library, library, phase.waits_ns.min(library)]
}

/// Whether a meeting stands for others that were not kept. Those that were long for any PE, and those after the longest
/// phases, are known one by one.
fn is_sample(plan: &Plan, pe: &Pe, sync: &Sync) -> bool {
    let team = pe.tables.teams.get(usize::from(sync.team));
    let is_long = || team.is_some_and(|team| plan.long.contains(&(team.key(), sync.number)));
    pe.tables.stands_for(sync) > 1 && !pe.tables.is_after_longest(sync) && !is_long()
}

/// How often a PE came to each place where phases end.
fn calls_of_ends(pe: &Pe, own: &BTreeMap<PhaseKey, Seen>, names: &mut Names<'_>) -> BTreeMap<Option<Place>, u64> {
    let mut calls: BTreeMap<Option<Place>, u64> = own.keys().map(|(_, to)| (to.clone(), 0)).collect();
    for site in pe.tables.sites.iter().filter(|site| op::meets(&site.routine)) {
        let place = op::find(&site.routine).map(|op| names.place(site.address, op));
        if let Some(of) = calls.get_mut(&place) {
            *of = of.saturating_add(site.calls);
        }
    }
    calls
}

fn end(plan: &Plan, pe: &Pe, sync: &Sync, until_last: f64) -> End {
    let took = sync.left_ns.saturating_sub(sync.arrived_ns);
    let team = pe.tables.teams.get(usize::from(sync.team));
    let last = team.and_then(|team| plan.last_arrivals.get(&(team.key(), sync.number)));
    let waited = last.map(|last| last.saturating_sub(sync.arrived_ns).min(took));
    let waiting = waited.unwrap_or((took as f64 * until_last) as u64);
    End { took, waited: waited.unwrap_or(0), waiting }
}

#[cfg(test)]
mod tests {
    use super::super::efficiency::Parts;
    use super::super::plan::Limits;
    use super::*;
    use crate::model::{Progress, Routine};
    use crate::op::Class;
    use crate::sample;
    use crate::tables::{PeTables, Site, Team};

    fn routine(name: &str, class: Class, total_ns: u64) -> Routine {
        Routine { total_ns, timed_calls: 1, ..Routine::new(name, class) }
    }

    /// Three phases of 1000 ns, each of 300 in the library, and after the first two a barrier of 100.
    fn pe(waits: [u64; 3], class: (&str, Class)) -> Pe {
        let barrier = op::find("shmem_barrier_all").unwrap();
        let phase = |at: usize| Phase {
            from: (at > 0).then_some((1, barrier)),
            begin_ns: 100 + 1100 * at as u64,
            library_ns: 300,
            waits_ns: waits[at],
        };
        let sync = |at: usize| Sync {
            op: barrier,
            address: 1,
            number: at as u64,
            arrived_ns: 1100 * (at as u64 + 1),
            left_ns: 1100 * (at as u64 + 1) + 100,
            phase: phase(at),
            ..Sync::default()
        };
        let all: u64 = waits.iter().sum();
        let tables = PeTables {
            teams: vec![Team { stride: 1, size: 2, ..Team::default() }],
            syncs: (0..2).map(sync).collect(),
            last_phases: vec![LastPhase { phase: phase(2), end_ns: 3300 }],
            sync_every: 1,
            ..PeTables::default()
        };
        let routines = vec![
            routine("shmem_barrier_all", Class::Barrier, 200),
            routine(class.0, class.1, all),
            routine("shmem_putmem", Class::Put, 900 - all),
        ];
        let progress = Progress::Finalized;
        Pe { init_ns: 100, finalize_ns: 3300, end_ns: 3300, threads: 1, progress, routines, tables, ..Pe::default() }
    }

    /// The parts of all phases of a PE together, and those of its run.
    fn sums(pe: &Pe, last: &[(u64, u64)]) -> (Parts, Parts) {
        let mut plan = Plan::of_sums(Limits::default());
        let team = pe.tables.teams[0].key();
        plan.last_arrivals.extend(last.iter().map(|(number, at)| ((team, *number), *at)));
        let recorded = Recorded::new(&plan, pe);
        let mut phases = Phases::default();
        phases.add(&plan, pe, &recorded);
        let mut sum = Parts::default();
        phases.0.values().flat_map(|phase| phase.by_pe.values()).for_each(|of| sum.join(&of.parts));
        (sum, recorded.run(pe))
    }

    #[test]
    fn phases_are_together_what_the_run_is() {
        for (name, class) in [("shmem_long_wait_until", Class::Wait), ("shmem_set_lock", Class::Lock)] {
            let pe = pe([200, 0, 70], (name, class));
            // The last PE came 60 and 30 ns after this one.
            let (phases, run) = sums(&pe, &[(0, 1160), (1, 2230)]);
            assert_eq!(phases, Parts { elapsed_ns: 3200, useful_ns: 2100, waiting_ns: 270 + 90 });
            assert_eq!(phases, run);
            // When it came to the second is not known: as late as to the first.
            let (phases, run) = sums(&pe, &[(0, 1160)]);
            assert_eq!((phases, phases.waiting_ns), (run, 270 + 120));
            let (phases, run) = sums(&pe, &[]);
            assert_eq!((phases, phases.waiting_ns), (run, 270 + 200));
        }
    }

    #[test]
    fn what_moves_data_is_no_waiting() {
        let (phases, run) = sums(&pe([0; 3], ("shmem_long_p", Class::Put)), &[(0, 1100), (1, 2200)]);
        assert_eq!((phases, phases.waiting_ns), (run, 0));
    }

    /// One in 8 of 8,000 barriers is kept, a phase of 1,000 ns before each, but for one of 4 ms: that is the only one
    /// that PE 0 is waited for by PE 1.
    fn rare(pe: u32, is_kept: bool) -> Pe {
        let barrier = op::find("shmem_barrier_all").unwrap();
        let long = (0..8000).filter(|&number| sample::is_kept(number, 3) == is_kept).nth(500).unwrap();
        let begin = |number: u64| 1000 + 1100 * number + if number > long { 4_000_000 } else { 0 };
        let sync = |number: u64| {
            let arrived_ns = begin(number) + if number == long && pe == 0 { 4_001_000 } else { 1000 };
            let phase = Phase { from: Some((1, barrier)), begin_ns: begin(number), ..Phase::default() };
            Sync { op: barrier, address: 1, number, arrived_ns, left_ns: begin(number + 1), phase, ..Sync::default() }
        };
        let is_there = |number: &u64| sample::is_kept(*number, 3) || (pe == 1 && *number == long);
        let in_calls = 8000 * 100 + if pe == 1 { 4_000_000 } else { 0 };
        let site = |routine: &str| Site { address: 1, routine: routine.to_owned(), calls: 8000, ..Site::default() };
        let tables = PeTables {
            teams: vec![Team { stride: 1, size: 2, calls: 8000, ..Team::default() }],
            syncs: (0..8000).filter(is_there).map(sync).collect(),
            sync_every: 8,
            longest_from_ns: 10_000,
            sites: vec![site("shmem_barrier_all")],
            ..PeTables::default()
        };
        let routines = vec![routine("shmem_barrier_all", Class::Barrier, in_calls)];
        let (progress, end_ns) = (Progress::Finalized, begin(8000));
        Pe { pe, init_ns: 1000, finalize_ns: end_ns, end_ns, threads: 1, progress, routines, tables, ..Pe::default() }
    }

    #[test]
    fn rare_long_work_counts_once() {
        for is_kept in [true, false] {
            let pes = [rare(0, is_kept), rare(1, is_kept)];
            let profile = crate::model::Profile { pes: pes.into(), ..Default::default() };
            let merged = super::super::Merged::from(&profile);
            let [(_, sum)] = merged.phases.as_slice() else { panic!("{:?}", merged.phases) };
            assert_eq!((sum.times(), sum.is_estimated()), (16_000, true), "{is_kept}");
            assert_eq!((sum.work_of(0), sum.work_of(1)), (12_000_000, 8_000_000), "{is_kept}");
            let whole = merged.pes.iter().map(|pe| pe.finalize_ns - pe.init_ns).sum::<u64>();
            assert!(sum.spent_ns() <= whole, "{is_kept}: {} of {whole}", sum.spent_ns());
        }
    }
}
