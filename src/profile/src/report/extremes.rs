//! Which PEs are shown where there is no room for all: those that wait most, those that wait least, and those that they
//! wait for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::merge::{Merged, PeRow};
use crate::op::Class;

/// Share of all that was waited for PEs that has to be due to one for it to be shown.
const WORTH: f64 = 0.1;

/// Where these PEs are in [`Merged::pes`], in that order: all, or as many as there is room for. A quarter of the room
/// is for those that others wait for and those that wait least.
pub fn shown_pes(profile: &Merged, room: usize) -> Vec<usize> {
    let pes = &profile.pes;
    if pes.len() <= room {
        return (0..pes.len()).collect();
    }
    let quarter = (room / 4).max(1);
    let waited_for = waited_for(profile);
    let place = |pe: &u32| pes.binary_search_by_key(pe, |row| row.pe).ok();
    let mut kept: BTreeSet<usize> = waited_for.iter().filter_map(place).take(quarter).collect();
    let mut by_waiting: Vec<usize> = (0..pes.len()).collect();
    by_waiting.sort_by_key(|&at| (Reverse(waiting_ns(&pes[at])), pes[at].pe));
    let least = quarter.saturating_sub(kept.len()).max(1);
    for &at in by_waiting.iter().rev().take(least).chain(&by_waiting) {
        if kept.len() < room {
            kept.insert(at);
        }
    }
    kept.into_iter().collect()
}

/// Why there are not all of them, behind a number of PEs.
pub const WHICH: &str = "those that wait most, those that wait least, and those that others wait for";

/// All that a PE waited.
pub(super) fn waiting_ns(pe: &PeRow) -> u64 {
    pe.time_ns(Class::waits)
}

/// PEs that came last to barriers and collectives or ended waits late, where that cost a good part of all that was
/// waited so; the costliest first.
fn waited_for(profile: &Merged) -> Vec<u32> {
    let mut lost: BTreeMap<u32, u64> = BTreeMap::new();
    let late = profile.late.iter().flat_map(|late| late.by_pe.iter().map(|(pe, (_, ns))| (*pe, *ns)));
    let causes = profile.causes.rows.iter().filter_map(|row| Some((row.by.as_ref()?.pe, row.ns)));
    for (pe, ns) in late.chain(causes) {
        let sum = lost.entry(pe).or_default();
        *sum = sum.saturating_add(ns);
    }
    let all = lost.values().copied().fold(0, u64::saturating_add);
    let mut worth: Vec<(u32, u64)> =
        lost.into_iter().filter(|(_, ns)| *ns > 0 && *ns as f64 >= WORTH * all as f64).collect();
    worth.sort_by_key(|&(pe, ns)| (Reverse(ns), pe));
    worth.into_iter().map(|(pe, _)| pe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Late;
    use crate::model::{Pe, Profile, Progress, Routine};

    /// PE 20 waits as long as most do, but it is the one that comes last.
    fn crowd() -> Merged {
        let pe = |number: u32| {
            let mut routine = Routine::new("shmem_barrier_all", Class::Barrier);
            routine.total_ns = 1000 + u64::from(number);
            let progress = Progress::Finalized;
            Pe { pe: number, progress, end_ns: 10_000, routines: vec![routine], ..Pe::default() }
        };
        let profile = Profile { pes: (0..40).map(pe).collect(), ..Profile::default() };
        let late = Late { by_pe: [(20, (9, 900)), (3, (1, 10))].into(), lost_ns: 910, ..Late::default() };
        let mut merged = Merged::from(&profile);
        merged.late = vec![late];
        merged
    }

    #[test]
    fn both_ends_and_the_one_that_is_waited_for() {
        let mut merged = crowd();
        assert_eq!(shown_pes(&merged, 40), (0..40).collect::<Vec<_>>());
        let shown = shown_pes(&merged, 8);
        assert_eq!(shown, [0, 20, 34, 35, 36, 37, 38, 39]);
        assert_eq!(shown_pes(&merged, 2), [0, 20]);
        merged.late.clear();
        assert_eq!(shown_pes(&merged, 8), [0, 1, 34, 35, 36, 37, 38, 39]);
    }
}
