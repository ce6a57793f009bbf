//! What a PE did while it was outside of the library: it computed, stood in line for a core, or was on none, since it
//! slept, read a file or waited for something that is not of the library.

use std::collections::BTreeSet;

use super::{Merged, PeRow};

/// Time outside of the library by what threads did there, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutsideParts {
    /// On a core.
    pub computed_ns: f64,
    /// In line for one.
    pub in_line_ns: f64,
    /// Neither, with no thread of the PE on a core: at least so long.
    pub off_core_ns: f64,
    /// What threads that never call the library were on cores: how long these stood in line for one is not known.
    pub helpers_ns: f64,
    /// Whether they may have stood in line for long: PEs of the host did.
    pub cores_are_taken: bool,
    /// On a core, in the library as well, and the share of the run in line for one, there as well.
    pub on_core_ns: f64,
    /// See [`Self::on_core_ns`].
    pub line_share: f64,
}

/// What most of some time was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It computed, or nothing else is known.
    Computes,
    /// It computed more than others, and stood in line for a core for as long for each second of that as they do.
    ComputesInLine,
    /// It stood in line for a core.
    InLine,
    /// It was on no core, and did not stand in line for one.
    OffCore,
    /// Threads that call the library were on no core, while others of the PE computed, or may have stood in line for
    /// one.
    Beside,
    /// Some of each.
    Mixed,
}

/// Share of some time from which on it is most of it.
const MOST: f64 = 0.5;
/// Share of the time outside of the library that a PE that computes may be without a core.
const COMPUTES: f64 = 0.75;
/// What helpers compute, of the time on no core, from which on it may be them that it is spent for.
const BESIDE: f64 = 0.1;
/// The same in nanoseconds, where they may have stood in line: it is the rest that they lacked a core for. Threads that
/// only begin and end take some hundred microseconds.
const BESIDE_NS: f64 = 2e6;
/// How much longer than the others in the mean a PE is on a core for it to have more to do, where they stand in line,
/// too.
const MORE: f64 = 1.5;
/// Share of the run that a PE stands in line for a core, from which on cores are taken.
const TAKEN: f64 = 0.1;

impl OutsideParts {
    fn off_core(&self, ns: f64) -> Does {
        let least = if self.cores_are_taken { BESIDE_NS } else { BESIDE * ns };
        if self.helpers_ns > least { Does::Beside } else { Does::OffCore }
    }

    /// What most of all this time was.
    pub fn most(&self) -> Does {
        let all = self.computed_ns + self.in_line_ns + self.off_core_ns;
        let is_most = |ns: f64| ns > MOST * all;
        match () {
            () if self.computed_ns >= COMPUTES * all => Does::Computes,
            () if is_most(self.off_core_ns) => self.off_core(self.off_core_ns),
            () if is_most(self.in_line_ns) => Does::InLine,
            () => Does::Mixed,
        }
    }

    /// What a PE that spends so much more time outside of the library than others does in most of it. `mean`: what
    /// these do there.
    pub fn most_of_excess(&self, mean: &OutsideParts, excess_ns: f64) -> Does {
        let off_core = self.off_core_ns - mean.off_core_ns;
        let is_most = |ns: f64| ns > MOST * excess_ns;
        // Where cores are taken, whoever has more to do stands in line for longer as well: what counts is what it does
        // beyond what the others do for as much.
        let for_as_much = match mean.computed_ns {
            none if none <= 0.0 => mean.in_line_ns,
            computed => mean.in_line_ns * (self.computed_ns / computed).max(1.0),
        };
        // Who waits gets a core sooner than who goes on computing, and what it stands in line for while it works is
        // known as far as it does not wait: how long it is on cores is known in any case.
        let has_more = mean.line_share > TAKEN && self.on_core_ns >= MORE * mean.on_core_ns;
        match () {
            () if is_most(off_core) => self.off_core(off_core),
            () if is_most(self.in_line_ns - for_as_much) && !has_more => Does::InLine,
            () if is_most(self.in_line_ns - mean.in_line_ns) => Does::ComputesInLine,
            () => Does::Computes,
        }
    }

    /// The mean of several.
    pub fn mean(all: impl Iterator<Item = OutsideParts>) -> OutsideParts {
        let (mut sum, mut count) = (OutsideParts::default(), 0.0);
        for parts in all {
            sum.computed_ns += parts.computed_ns;
            sum.in_line_ns += parts.in_line_ns;
            sum.off_core_ns += parts.off_core_ns;
            sum.helpers_ns += parts.helpers_ns;
            sum.cores_are_taken |= parts.cores_are_taken;
            sum.on_core_ns += parts.on_core_ns;
            sum.line_share += parts.line_share;
            count += 1.0;
        }
        let part = |ns: f64| if count > 0.0 { ns / count } else { 0.0 };
        OutsideParts {
            computed_ns: part(sum.computed_ns),
            in_line_ns: part(sum.in_line_ns),
            off_core_ns: part(sum.off_core_ns),
            helpers_ns: part(sum.helpers_ns),
            cores_are_taken: sum.cores_are_taken,
            on_core_ns: part(sum.on_core_ns),
            line_share: part(sum.line_share),
        }
    }
}

/// What the threads of each PE did outside of the library.
pub fn outside_parts(profile: &Merged) -> impl Fn(&PeRow) -> OutsideParts + use<> {
    let in_line = |pe: &&PeRow| pe.queued_ns().unwrap_or(0) as f64 > TAKEN * profile.longest_ns() as f64;
    let taken: BTreeSet<_> = profile.pes.iter().filter(in_line).map(|pe| pe.host.clone()).collect();
    move |pe| OutsideParts { cores_are_taken: taken.contains(&pe.host), ..pe.outside_parts() }
}

impl PeRow {
    /// What its threads did outside of the library. Where the system did not say how long they were on cores or stood
    /// in line for one, all of it counts as computing.
    fn outside_parts(&self) -> OutsideParts {
        let outside = self.outside_ns();
        let on_core = self.on_core_ns();
        let Some(queued) = self.queued_ns().filter(|_| on_core > 0) else {
            return OutsideParts { computed_ns: outside as f64, ..OutsideParts::default() };
        };
        let in_line = self.queued_outside_ns().unwrap_or(0);
        let without = self.main_ns().saturating_sub(on_core);
        // A thread that waits in the library is on no core either; it may stand in line then, and elsewhere.
        let off_core = without.saturating_sub(self.system.off_core_ns).saturating_sub(queued).min(outside);
        let in_library = self.library_ns().saturating_sub(self.system.off_core_ns);
        let computed = match self.system.outside {
            Some(outside) => outside.work_ns.saturating_sub(in_line),
            None => on_core.saturating_sub(in_library).min(self.threads_ns()),
        };
        OutsideParts {
            computed_ns: computed as f64,
            in_line_ns: in_line as f64,
            off_core_ns: off_core as f64,
            helpers_ns: self.system.helpers_ns as f64,
            cores_are_taken: false,
            on_core_ns: on_core as f64,
            line_share: queued as f64 / self.main_ns().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Progress, Routine};
    use crate::op::Class;

    const MS: u64 = 1_000_000;

    /// A PE of 1 s that waits for 200 ms in the library, 150 ms of it on no core.
    fn pe(on_core_ms: u64, queued_ms: u64) -> PeRow {
        let mut wait = Routine::new("shmem_barrier_all", Class::Barrier);
        (wait.calls[0], wait.timed_calls, wait.total_ns) = (10, 10, 200 * MS);
        let mut pe = Pe { progress: Progress::Initialized, end_ns: 1000 * MS, routines: vec![wait], ..Pe::default() };
        let system = &mut pe.tables.system;
        (system.usage.user_ns, system.queued_ns) = (on_core_ms * MS, Some(queued_ms * MS));
        system.off_core_ns = 150 * MS;
        PeRow::from(&pe)
    }

    #[test]
    fn what_a_pe_did_outside_is_told_apart() {
        let ms = |row: &PeRow| {
            let parts = row.outside_parts();
            [parts.computed_ns, parts.in_line_ns, parts.off_core_ns].map(|ns| (ns / 1e6) as u64)
        };
        let does = |row: &PeRow| row.outside_parts().most();
        // 50 ms on a core in the library, the rest outside.
        let (computes, sleeps, in_line) = (pe(850, 0), pe(150, 0), pe(250, 750));
        assert_eq!((ms(&computes), does(&computes)), ([800, 0, 0], Does::Computes));
        assert_eq!((ms(&sleeps), does(&sleeps)), ([100, 0, 700], Does::OffCore));
        assert_eq!((ms(&in_line), does(&in_line)), ([200, 600, 0], Does::InLine));
        assert_eq!(does(&pe(450, 0)), Does::Mixed);
        // A thread that never calls the library computes for the one that does, or stands in line for a core.
        let mut helped = sleeps.clone();
        helped.system.helpers_ns = 80 * MS;
        assert_eq!(does(&helped), Does::Beside);
        // Where cores are taken, it may have stood in line for nearly all of it.
        helped.system.helpers_ns = 3 * MS;
        let parts = |cores_are_taken| OutsideParts { cores_are_taken, ..helped.outside_parts() };
        assert_eq!((parts(false).most(), parts(true).most()), (Does::OffCore, Does::Beside));
        // To begin and to end threads takes some time as well.
        helped.system.helpers_ns = MS;
        let parts = OutsideParts { cores_are_taken: true, ..helped.outside_parts() };
        assert_eq!(parts.most(), Does::OffCore);
        // What is not known is taken for computing.
        let mut old = sleeps;
        old.system.queued_ns = None;
        assert_eq!((ms(&old), does(&old)), ([800, 0, 0], Does::Computes));
    }

    #[test]
    fn what_a_pe_does_more_than_others_counts() {
        let (computes, sleeps, both) = (pe(850, 0), pe(450, 0), pe(650, 0));
        let more = |one: &PeRow, mean: &PeRow, ms: u64| {
            one.outside_parts().most_of_excess(&mean.outside_parts(), (ms * MS) as f64)
        };
        assert_eq!(more(&sleeps, &computes, 400), Does::OffCore);
        assert_eq!(more(&sleeps, &both, 500), Does::Computes, "the others sleep as well");
        assert_eq!(more(&pe(450, 550), &computes, 400), Does::InLine);
        // Where cores are taken, time in line grows with what is computed: here with 250 ms for 200 and 500 for 400.
        assert_eq!(more(&pe(450, 650), &pe(250, 400), 450), Does::ComputesInLine);
        assert_eq!(more(&pe(250, 750), &pe(250, 400), 250), Does::InLine, "it computes as much as they do");
        // The others stand in line while they wait: 100 ms of it on no core there, as far as is known.
        assert_eq!(more(&pe(390, 600), &pe(200, 150), 450), Does::ComputesInLine);
        assert_eq!(more(&pe(290, 700), &pe(200, 150), 450), Does::InLine);
        let mean = OutsideParts::mean([&computes, &sleeps].into_iter().map(PeRow::outside_parts));
        assert!((mean.off_core_ns - 200e6).abs() < 1.0, "{mean:?}");
    }
}
