//! What a PE's phases take, where a sample of them is known.
//!
//! Each that is known one by one counts once. The others stand for those that were not kept, as many as the calls that
//! end them tell. A sample of a few has rare long ones too often or not at all; but what all phases of a PE take
//! together is known, outside of the library and in it. So those of the sample are scaled to what is left for them.

use std::collections::BTreeMap;

use super::efficiency::{Parts, Recorded};
use super::phases::{PhaseKey, Place};
use crate::model::Pe;

/// One PE's times of a phase, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PhaseOfPe {
    pub times: u64,
    pub work_ns: u64,
    pub library_ns: u64,
    pub waits_ns: u64,
    pub waited_ns: u64,
    pub parts: Parts,
    /// Some of it stands for what was not kept.
    pub is_estimated: bool,
}

/// A meeting that ends a phase, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub(super) struct End {
    pub took: u64,
    /// Until the last PE came, where it is known when that was.
    pub waited: u64,
    /// The same, else the share of it that this is of other meetings.
    pub waiting: u64,
}

impl PhaseOfPe {
    pub fn join(&mut self, other: &PhaseOfPe) {
        self.times = self.times.saturating_add(other.times);
        self.work_ns = self.work_ns.saturating_add(other.work_ns);
        self.library_ns = self.library_ns.saturating_add(other.library_ns);
        self.waits_ns = self.waits_ns.saturating_add(other.waits_ns);
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
        self.parts.join(&other.parts);
        self.is_estimated |= other.is_estimated;
    }

    /// Time in the library, the meeting that ends it included.
    fn in_library(&self) -> u64 {
        self.parts.elapsed_ns.saturating_sub(self.parts.useful_ns)
    }

    /// So many times it, what is outside of the library and what is in it.
    fn scaled(&self, times: f64, [work, library]: [f64; 2]) -> PhaseOfPe {
        let scale = |ns: u64, by: f64| (ns as f64 * by).round() as u64;
        let (work_ns, in_library) = (scale(self.work_ns, times * work), scale(self.in_library(), times * library));
        PhaseOfPe {
            times: scale(self.times, times),
            work_ns,
            library_ns: scale(self.library_ns, times * library),
            waits_ns: scale(self.waits_ns, times * library),
            waited_ns: scale(self.waited_ns, times * library),
            parts: Parts {
                elapsed_ns: work_ns.saturating_add(in_library),
                useful_ns: work_ns,
                waiting_ns: scale(self.parts.waiting_ns, times * library),
            },
            is_estimated: self.is_estimated,
        }
    }
}

/// What is known of a PE's phases from one place to another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Those that are known one by one.
    whole: PhaseOfPe,
    /// Those that stand for others, too.
    sample: PhaseOfPe,
}

impl Seen {
    /// Adds one that takes so long outside of the library, in it, and of that in waits and locks. These are waiting for
    /// others as in the run ([`super::efficiency`]).
    pub fn add(&mut self, is_sample: bool, [work_ns, library_ns, waits_ns]: [u64; 3], end: End) {
        let elapsed_ns = work_ns.saturating_add(library_ns).saturating_add(end.took);
        let waiting_ns = waits_ns.saturating_add(end.waiting);
        let to = if is_sample { &mut self.sample } else { &mut self.whole };
        to.join(&PhaseOfPe {
            times: 1,
            work_ns,
            library_ns,
            waits_ns,
            waited_ns: end.waited,
            parts: Parts { elapsed_ns, useful_ns: work_ns, waiting_ns },
            is_estimated: is_sample,
        });
    }
}

/// What all phases of a PE take together, in nanoseconds.
pub(super) enum Limit {
    /// Outside of the library and in it.
    Is([u64; 2]),
    /// Both, at most: of several threads it is not known which have phases.
    AtMost(u64),
}

impl Limit {
    pub fn of(pe: &Pe, recorded: &Recorded) -> Limit {
        if pe.threads > 1 {
            return Limit::AtMost(pe.main_ns().max(pe.tables.system.threads_ns));
        }
        let run = recorded.run(pe);
        Limit::Is([run.useful_ns, run.elapsed_ns.saturating_sub(run.useful_ns)])
    }

    /// By what those that are known one by one and those of the sample are multiplied, outside of the library and in
    /// it, of whom these are the sums.
    fn factors(&self, whole: [u64; 2], sample: [f64; 2]) -> [[f64; 2]; 2] {
        let of = match self {
            Limit::Is(all) => [0, 1].map(|at| factors(all[at] as f64, whole[at] as f64, sample[at])),
            Limit::AtMost(most) => {
                let all = whole[0] as f64 + whole[1] as f64 + sample[0] + sample[1];
                [[(*most as f64 / all.max(1.0)).min(1.0); 2]; 2]
            }
        };
        [[of[0][0], of[1][0]], [of[0][1], of[1][1]]]
    }
}

/// By what sums of known ones and of a sample are multiplied to be `all` together: where there is room for what is
/// known, only the sample.
fn factors(all: f64, whole: f64, sample: f64) -> [f64; 2] {
    match (whole <= all, sample > 0.0) {
        (true, true) => [1.0, (all - whole) / sample],
        (true, false) => [1.0, 1.0],
        (false, _) => [all / (whole + sample); 2],
    }
}

/// The phases of a PE that keeps one in `every`. `calls`: how often it came to the places that end them, 0 where that
/// is not known.
pub(super) fn estimate(
    seen: BTreeMap<PhaseKey, Seen>,
    calls: &BTreeMap<Option<Place>, u64>,
    every: u64,
    limit: Limit,
) -> Vec<(PhaseKey, PhaseOfPe)> {
    let mut ends: BTreeMap<&Option<Place>, [u64; 2]> = BTreeMap::new();
    for ((_, to), of) in &seen {
        let [whole, sample] = ends.entry(to).or_default();
        (*whole, *sample) = (*whole + of.whole.times, *sample + of.sample.times);
    }
    let stands_for = |to: &Option<Place>| match (ends.get(to), calls.get(to)) {
        (Some([whole, sample]), Some(&calls)) if *sample > 0 && calls > 0 => {
            (calls.saturating_sub(*whole) as f64 / *sample as f64).max(1.0)
        }
        _ => every.max(1) as f64,
    };
    let (mut whole, mut sample) = ([0_u64; 2], [0.0; 2]);
    for ((_, to), of) in &seen {
        let times = stands_for(to);
        whole = [whole[0] + of.whole.work_ns, whole[1] + of.whole.in_library()];
        sample[0] += times * of.sample.work_ns as f64;
        sample[1] += times * of.sample.in_library() as f64;
    }
    // What is all known one by one takes what it takes.
    let is_sampled = seen.values().any(|of| of.sample.times > 0);
    let [of_whole, of_sample] = if is_sampled { limit.factors(whole, sample) } else { [[1.0; 2]; 2] };
    let sum = |to: &Option<Place>, of: &Seen| {
        let mut sum = of.whole.scaled(1.0, of_whole);
        sum.join(&of.sample.scaled(stands_for(to), of_sample));
        sum
    };
    seen.iter().map(|(key, of)| (key.clone(), sum(&key.1, of))).collect()
}
