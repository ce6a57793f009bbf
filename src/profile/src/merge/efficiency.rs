//! The factors of parallel efficiency, of the run and of its regions.
//!
//! They are those of the POP methodology, for what a profile knows: a PE's time is useful outside of the library,
//! waiting for others until the last of them has come to a barrier or collective, and in waits and locks; all else in
//! the library is time in which data moves. What the threads of a PE do in the library counts together, up to the PE's
//! time, but for what others of its threads work meanwhile, as far as the time on cores tells.
//!
//! ```text
//! parallel        mean of the useful time over the longest time of a PE   = balance x communication
//! balance         mean of the useful time over the most
//! communication   most useful time over the longest time                  = transfer x serialisation
//! transfer        longest time without moving data over the longest time
//! serialisation   most useful time over the longest time without moving data
//! ```

use std::collections::{BTreeMap, HashMap};

use super::meetings::Meeting;
use super::plan::Plan;
use crate::model::Pe;
use crate::op::{self, Class};

/// The factors, 0 to 1 each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// `balance` times `communication`.
    pub parallel: f64,
    /// How evenly the time outside of the library is spread.
    pub balance: f64,
    /// `transfer` times `serialisation`.
    pub communication: f64,
    /// What is left without the time in which data moves.
    pub transfer: f64,
    /// What is left without waiting for others.
    pub serialisation: f64,
}

/// Times of one PE, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// All of it.
    pub elapsed_ns: u64,
    /// Outside of the library.
    pub useful_ns: u64,
    /// Waiting for others.
    pub waiting_ns: u64,
}

impl Parts {
    /// Adds more of the same PE.
    pub fn join(&mut self, other: &Parts) {
        self.elapsed_ns = self.elapsed_ns.saturating_add(other.elapsed_ns);
        self.useful_ns = self.useful_ns.saturating_add(other.useful_ns);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
    }
}

/// What the factors follow from, over PEs that are added in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// PEs that took part.
    pub pes: u64,
    /// Longest time of a PE.
    pub elapsed_most: u64,
    /// Useful time of all.
    pub useful_sum: u64,
    /// Most useful time of a PE.
    pub useful_most: u64,
    /// Most of a PE that is useful or waiting.
    still_most: u64,
}

impl Times {
    /// Adds a PE.
    pub fn add(&mut self, of: Parts) {
        let elapsed = of.elapsed_ns;
        let useful = of.useful_ns.min(elapsed);
        let waiting = of.waiting_ns.min(elapsed - useful);
        let pes = u64::from(elapsed > 0);
        self.join(&Times {
            pes,
            elapsed_most: elapsed,
            useful_sum: useful,
            useful_most: useful,
            still_most: useful + waiting,
        });
    }

    /// Adds other PEs.
    pub fn join(&mut self, other: &Times) {
        self.pes += other.pes;
        self.elapsed_most = self.elapsed_most.max(other.elapsed_most);
        self.useful_sum = self.useful_sum.saturating_add(other.useful_sum);
        self.useful_most = self.useful_most.max(other.useful_most);
        self.still_most = self.still_most.max(other.still_most);
    }

    /// Time that `pes` PEs have while the longest takes its own, less what is useful of it.
    pub fn lost_ns(&self, pes: u64) -> u64 {
        self.elapsed_most.saturating_mul(pes).saturating_sub(self.useful_sum)
    }

    /// What would be saved of the longest time at most, in nanoseconds, if the time outside of the library were even,
    /// if data took no time, if nobody waited for others.
    pub fn savings(&self, pes: u64) -> [u64; 3] {
        let mean = self.useful_sum / pes.max(1);
        [
            self.useful_most.saturating_sub(mean),
            self.elapsed_most.saturating_sub(self.still_most),
            self.still_most.saturating_sub(self.useful_most),
        ]
    }

    /// The factors in a job of `pes` PEs; `None` where no time has passed.
    pub fn factors(&self, pes: u64) -> Option<Factors> {
        let share = |part: u64, whole: f64| if whole > 0.0 { (part as f64 / whole).min(1.0) } else { 1.0 };
        let elapsed = self.elapsed_most as f64;
        if elapsed <= 0.0 || pes == 0 {
            return None;
        }
        let balance = share(self.useful_sum, self.useful_most as f64 * pes as f64);
        let transfer = share(self.still_most, elapsed);
        let serialisation = share(self.useful_most, self.still_most as f64);
        let communication = transfer * serialisation;
        Some(Factors { parallel: balance * communication, balance, communication, transfer, serialisation })
    }
}

/// When the last member came, by meeting.
pub(super) type LastArrivals = HashMap<Meeting, u64>;

/// Times of the run and of its regions, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Efficiencies {
    /// From the end of initialization to the begin of finalization.
    pub run: Times,
    /// Without inner regions; what is outside of all has no name.
    pub regions: BTreeMap<String, Times>,
    /// Calls, and those whose region is known: short calls of a profile that nobody keeps are counted by routine only.
    calls: (u64, u64),
}

impl Efficiencies {
    pub(super) fn add(&mut self, parts: &Recorded, pe: &Pe) {
        self.run.add(parts.run(pe));
        for (number, region) in pe.tables.regions.iter().enumerate() {
            // Threads spend it together: of the PE's time it takes no more than there is.
            let times = parts.region(number, region.own_ns.min(pe.main_ns()));
            if times.elapsed_ns > 0 {
                self.regions.entry(region.name.clone()).or_default().add(times);
            }
        }
        let calls = pe.routines.iter().map(|r| r.all_calls()).fold(0, u64::saturating_add);
        let placed = pe.tables.sites.iter().filter(|site| !site.routine.is_empty());
        let placed = placed.map(|site| site.calls).fold(0, u64::saturating_add);
        self.calls = (self.calls.0.saturating_add(calls), self.calls.1.saturating_add(placed));
    }

    pub(super) fn join(&mut self, other: Efficiencies) {
        self.run.join(&other.run);
        other.regions.into_iter().for_each(|(name, times)| self.regions.entry(name).or_default().join(&times));
        self.calls = (self.calls.0.saturating_add(other.calls.0), self.calls.1.saturating_add(other.calls.1));
    }

    /// Whether the calls of regions are known: all but one in a hundred.
    pub fn has_regions(&self) -> bool {
        self.regions.len() > 1 && self.calls.1 as f64 >= 0.99 * self.calls.0 as f64
    }
}

/// What the time in a routine is.
#[derive(Clone, Copy)]
struct Kind {
    class: Class,
    /// All PEs of a team wait for each other in it.
    meets: bool,
}

impl Kind {
    fn of(routine: &str, class: Class) -> Kind {
        Kind { class, meets: op::meets(routine) }
    }
}

/// Times in the library, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Library {
    /// In all calls but those that begin and end the program.
    all: u64,
    /// In waits and locks.
    waits: u64,
    /// In calls of all PEs of a team that have returned, and in those that have not: there all of it is waiting.
    meetings: u64,
    open_meetings: u64,
    /// Of meetings whose last arrival is known: until it, and all.
    until_last: u64,
    known: u64,
}

impl Library {
    /// Adds time in calls of which some have not returned, and that part of it.
    fn add(&mut self, Kind { class, meets }: Kind, ns: u64, unfinished_ns: u64) {
        if !class.is_library_time() {
            return;
        }
        self.all = self.all.saturating_add(ns);
        if meets {
            self.meetings = self.meetings.saturating_add(ns.saturating_sub(unfinished_ns));
            self.open_meetings = self.open_meetings.saturating_add(unfinished_ns);
        } else if class.is_for_others() {
            self.waits = self.waits.saturating_add(ns);
        }
    }

    /// The share of a meeting in which others were waited for. Where no arrival is known, all of it.
    fn until_last(&self) -> f64 {
        if self.known > 0 { self.until_last as f64 / self.known as f64 } else { 1.0 }
    }

    /// Time in which others were waited for.
    fn waiting(&self) -> u64 {
        let in_meetings = (self.meetings as f64 * self.until_last()) as u64;
        self.waits.saturating_add(in_meetings).saturating_add(self.open_meetings)
    }

    /// The parts of a PE's time. What its threads do in the library counts together, since a thread that is outside may
    /// do nothing but wait for those that are not; where they are there at a time, what they wait has its share.
    fn of(&self, elapsed_ns: u64) -> Parts {
        let most = (elapsed_ns as f64 / self.all.max(1) as f64).min(1.0);
        let waiting_ns = (self.waiting() as f64 * most) as u64;
        Parts { elapsed_ns, useful_ns: elapsed_ns.saturating_sub(self.all), waiting_ns }
    }
}

/// What a PE recorded, as a whole and by number of the region.
pub(super) struct Recorded {
    whole: Library,
    regions: Vec<Library>,
}

impl Recorded {
    pub(super) fn new(plan: &Plan, pe: &Pe) -> Recorded {
        let mut whole = Library::default();
        pe.routines.iter().for_each(|r| whole.add(Kind::of(&r.name, r.class), r.spent_ns(), r.unfinished_ns));
        let mut regions = vec![Library::default(); pe.tables.regions.len()];
        let mut kinds: HashMap<&str, Option<Kind>> = HashMap::new();
        for site in &pe.tables.sites {
            let kind = kinds.entry(&site.routine);
            let kind = kind.or_insert_with_key(|name| Some(Kind::of(name, op::class_of(name)?)));
            if let (Some(kind), Some(region)) = (*kind, regions.get_mut(usize::from(site.region))) {
                region.add(kind, pe.site_ns(site).unwrap_or(0), site.unfinished_ns);
            }
        }
        for sync in &pe.tables.syncs {
            let team = pe.tables.teams.get(usize::from(sync.team));
            let last = team.and_then(|team| plan.last_arrivals.get(&(team.key(), sync.number)));
            let Some(&last) = last.filter(|_| sync.left_ns > sync.arrived_ns) else { continue };
            let (took, until_last) =
                (sync.left_ns - sync.arrived_ns, last.clamp(sync.arrived_ns, sync.left_ns) - sync.arrived_ns);
            let region = regions.get_mut(usize::from(sync.region));
            let times = |ns: u64| ns.saturating_mul(pe.tables.stands_for(sync));
            for of in region.into_iter().chain([&mut whole]) {
                of.known = of.known.saturating_add(times(took));
                of.until_last = of.until_last.saturating_add(times(until_last));
            }
        }
        Recorded { whole, regions }
    }

    /// Of the time in barriers and collectives, the share in which others were waited for.
    pub(super) fn until_last(&self) -> f64 {
        self.whole.until_last()
    }

    /// The whole run. Of several threads some may work while others are in the library: then what they did outside of
    /// it tells. Profiles of earlier versions know the time on cores of all of them only, and of those in the library
    /// at most what they did not wait without a core.
    pub(super) fn run(&self, pe: &Pe) -> Parts {
        let parts = self.whole.of(pe.main_ns());
        if pe.threads <= 1 {
            return parts;
        }
        let system = &pe.tables.system;
        let on_core = system.usage.user_ns.saturating_add(system.usage.system_ns);
        let in_library = self.whole.all.saturating_sub(system.off_core_ns);
        let work_ns = system.outside.map_or(on_core.saturating_sub(in_library), |outside| outside.work_ns);
        let useful_ns = parts.useful_ns.max(work_ns).min(parts.elapsed_ns);
        Parts { useful_ns, waiting_ns: parts.waiting_ns.min(parts.elapsed_ns - useful_ns), ..parts }
    }

    /// A region, in which the PE spends `own_ns`.
    pub(super) fn region(&self, number: usize, own_ns: u64) -> Parts {
        self.regions.get(number).copied().unwrap_or_default().of(own_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Limits;
    use super::*;
    use crate::model::Progress;

    /// A thread that waits while others of its PE work costs nothing.
    #[test]
    fn who_works_beside_a_thread_that_waits_is_useful() {
        let mut pe = Pe { threads: 4, end_ns: 1000, progress: Progress::Initialized, ..Pe::default() };
        let waits = crate::model::Routine {
            total_ns: 990,
            timed_calls: 1,
            ..crate::model::Routine::new("shmem_long_wait_until", Class::Wait)
        };
        pe.routines.push(waits);
        let useful = |pe: &Pe| Recorded::new(&Plan::of_sums(Limits::default()), pe).run(pe).useful_ns;
        // It looks all the time, and the others are on no core.
        pe.tables.system.usage.user_ns = 990;
        assert_eq!(useful(&pe), 10);
        pe.tables.system.usage.user_ns = 2500;
        assert_eq!(useful(&pe), 1000);
        // It sleeps, and one other works for half of the time.
        (pe.tables.system.usage.user_ns, pe.tables.system.off_core_ns) = (500, 990);
        assert_eq!(useful(&pe), 500);
        pe.threads = 1;
        assert_eq!(useful(&pe), 10);
    }

    fn times(pes: &[(u64, u64, u64)]) -> Times {
        let mut times = Times::default();
        for &(elapsed_ns, useful_ns, waiting_ns) in pes {
            times.add(Parts { elapsed_ns, useful_ns, waiting_ns });
        }
        times
    }

    #[test]
    fn factors_of_known_times() {
        // One PE computes all the time, the other half of it and then waits.
        let factors = times(&[(100, 100, 0), (100, 50, 50)]).factors(2).unwrap();
        assert_eq!((factors.balance, factors.communication, factors.parallel), (0.75, 1.0, 0.75));
        assert_eq!(times(&[(100, 100, 0), (100, 50, 50)]).savings(2), [25, 0, 0]);
        assert_eq!(times(&[(100, 40, 20), (90, 50, 0)]).savings(2), [5, 40, 10]);
        // Both compute half of the time; one moves data in the other half, for which its peer waits.
        let factors = times(&[(100, 50, 0), (100, 50, 50)]).factors(2).unwrap();
        assert_eq!((factors.balance, factors.transfer, factors.serialisation), (1.0, 1.0, 0.5));
        // Both move data at the same time.
        let factors = times(&[(100, 40, 0), (100, 40, 0)]).factors(2).unwrap();
        assert_eq!((factors.transfer, factors.serialisation, factors.parallel), (0.4, 1.0, 0.4));
        // Nothing of it is useful.
        let factors = times(&[(100, 0, 100)]).factors(1).unwrap();
        assert_eq!((factors.balance, factors.transfer, factors.serialisation, factors.parallel), (1.0, 1.0, 0.0, 0.0));
        assert_eq!(times(&[]).factors(2), None);
        // A PE that took no part is idle.
        assert_eq!(times(&[(100, 100, 0)]).factors(4).unwrap().parallel, 0.25);
    }

    /// Whatever was recorded, sound or not.
    #[test]
    fn factors_multiply_up_and_lie_between_0_and_1() {
        let mut random = 1_u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        for round in 0..20_000 {
            let most = [2, 1000, 1 << 31][round % 3];
            let pes = 1 + next(8);
            let mut all = Times::default();
            let mut halves = [Times::default(); 2];
            for pe in 0..pes {
                let of = Parts { elapsed_ns: next(most), useful_ns: next(most), waiting_ns: next(most) };
                all.add(of);
                halves[(pe % 2) as usize].add(of);
            }
            let [mut first, second] = halves;
            first.join(&second);
            assert_eq!(first, all, "the order does not matter");
            let Some(f) = all.factors(pes) else { continue };
            for factor in [f.parallel, f.balance, f.communication, f.transfer, f.serialisation] {
                assert!((0.0..=1.0).contains(&factor), "{f:?} of {all:?}");
            }
            assert!((f.parallel - f.balance * f.communication).abs() < 1e-12, "{f:?}");
            assert!((f.communication - f.transfer * f.serialisation).abs() < 1e-12, "{f:?}");
            let whole = all.useful_sum as f64 / (pes as f64 * all.elapsed_most as f64);
            assert!((f.parallel - whole).abs() < 1e-9, "{f:?} of {all:?}");
        }
    }
}
