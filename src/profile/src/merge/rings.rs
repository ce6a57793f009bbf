//! PEs that waited for each other's locks when they ended.
//!
//! A profile does not say who had a lock at the end. But who was in a call since some time has held it at least as long
//! as that: where one PE only has ever held a lock for so long, it is the one.

use std::collections::BTreeMap;

use crate::model::{Pe, Progress};
use crate::op::Class;
use crate::tables::Lock;

/// PEs each of which waited for a lock of the next one, and the last for one of the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rings(pub Vec<Vec<u32>>);

impl Rings {
    /// By PE: whom it waits for.
    pub(super) fn find(next: BTreeMap<u32, u32>) -> Rings {
        let mut rings = Vec::new();
        for &first in next.keys() {
            let mut ring = vec![first];
            // From its lowest number on: so that it is found once.
            while let Some(&pe) = next.get(&ring[ring.len() - 1]).filter(|pe| **pe > first && !ring.contains(pe)) {
                ring.push(pe);
            }
            if next.get(&ring[ring.len() - 1]) == Some(&first) {
                rings.push(ring);
            }
        }
        Rings(rings)
    }

    /// For people; `None` where there is none.
    pub fn text(&self) -> Option<String> {
        let ring = self.0.first()?;
        let list = |pes: &[u32]| pes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let others = if self.0.len() > 1 { ", and others do" } else { "" };
        Some(match ring.as_slice() {
            [one] => format!("PE {one} waits for a lock that it has itself{others}"),
            [first, second] => format!("PEs {first} and {second} wait for each other's locks{others}"),
            all => format!("PEs {} wait for each other's locks in a ring{others}", list(all)),
        })
    }
}

/// Since when a PE was in the call that its end cut off, in nanoseconds; 0 where it was in none, or in several.
fn inside_ns(pe: &Pe) -> u64 {
    let open: Vec<_> = pe.routines.iter().filter(|routine| routine.unfinished > 0).collect();
    match open.as_slice() {
        [one] if one.unfinished == 1 && pe.progress != Progress::Finalized => one.unfinished_ns,
        _ => 0,
    }
}

/// The lock that a PE waited for when it ended, where it can be told from others.
pub(super) fn open_wait(pe: &Pe) -> Option<(u8, u64)> {
    let waits =
        |r: &crate::model::Routine| r.unfinished == 1 && r.class == Class::Lock && Lock::is_waited_for_in(&r.name);
    let ns = inside_ns(pe);
    if ns == 0 || !pe.routines.iter().any(waits) {
        return None;
    }
    let mut long = pe.tables.locks.iter().filter(|lock| lock.waited_ns >= ns);
    long.next().filter(|_| long.next().is_none())?.object
}

/// Whether a PE may have had a lock when it ended.
pub(super) fn may_have_held(pe: &Pe, lock: &Lock) -> bool {
    lock.taken > 0 && lock.max_held_ns >= inside_ns(pe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Merged;
    use crate::model::{End, Job, Profile, Routine};

    const MS: u64 = 1_000_000;

    /// A PE that has had the lock `has` for long, others shortly, and waits for `wants`.
    fn pe(number: u32, has: u64, wants: u64) -> Pe {
        let mut set = Routine::new("shmem_set_lock", Class::Lock);
        (set.calls[0], set.timed_calls, set.total_ns) = (10, 9, 9000);
        (set.unfinished, set.unfinished_ns) = (1, 7900 * MS);
        let lock = |offset: u64| Lock {
            object: Some((1, offset)),
            taken: if offset == wants { 0 } else { 3 },
            waited_ns: if offset == wants { 7900 * MS + 2850 } else { 3000 },
            max_held_ns: if offset == has { 7950 * MS } else { 2000 },
            ..Lock::default()
        };
        let mut pe = Pe { pe: number, progress: Progress::Initialized, end: End::Stopped, ..Pe::default() };
        pe.end_ns = 8000 * MS;
        pe.routines = vec![set];
        pe.tables.locks = [8, 16, 24].map(lock).to_vec();
        pe
    }

    fn rings(pes: Vec<Pe>) -> Merged {
        let job = Job { npes: pes.len() as u32, exit_status: Some(124), ..Job::default() };
        Merged::from(&Profile { job, pes })
    }

    #[test]
    fn who_waits_for_each_others_locks_is_found() {
        let two = rings(vec![pe(0, 8, 16), pe(1, 16, 8), pe(2, 24, 8)]);
        assert_eq!(two.lock_rings, Rings(vec![vec![0, 1]]));
        assert_eq!(two.lock_rings.text().unwrap(), "PEs 0 and 1 wait for each other's locks");
        let lock = |offset| &two.locks.iter().find(|(key, _)| *key == Some((1, offset))).unwrap().1;
        assert_eq!((lock(8).waiting, lock(16).waiting, lock(24).waiting), (2, 1, 0));
        assert_eq!(rings(vec![pe(0, 8, 16), pe(1, 16, 24), pe(2, 24, 8)]).lock_rings, Rings(vec![vec![0, 1, 2]]));
    }

    #[test]
    fn nothing_is_said_of_locks_that_somebody_else_may_have() {
        // PE 2 computes: it may have had the lock all the time.
        let mut computes = pe(2, 24, 8);
        computes.routines[0].unfinished = 0;
        assert_eq!(rings(vec![pe(0, 8, 16), pe(1, 16, 8), computes]).lock_rings, Rings::default());
        // All wait for one that has it and is in no ring.
        let chain = rings(vec![pe(0, 8, 16), pe(1, 16, 24)]);
        assert_eq!(chain.lock_rings, Rings::default());
    }
}
