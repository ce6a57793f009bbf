//! Collectives as OTF2 has them: what kind they are, how many bytes each member sends to others and receives from them.

use std::collections::{BTreeMap, HashMap};

use pellucid_profile::file::ReadError;
use pellucid_profile::op::Op;
use pellucid_profile::tables::{TeamKey, place_in};
use pellucid_profile::trace::read::{Call, Trace, What};

use super::super::rows;

// Values of OTF2_Definitions.h: OTF2_CollectiveOp and OTF2_RmaSyncLevel.
const BARRIER: u8 = 0;
const BROADCAST: u8 = 1;
const ALLGATHER: u8 = 6;
const ALLGATHERV: u8 = 7;
const ALLTOALL: u8 = 8;
const ALLREDUCE: u8 = 11;
const SCAN: u8 = 14;
const EXSCAN: u8 = 15;
const PROCESS: u32 = 1;
const MEMORY: u32 = 2;

/// The kind of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing moves; whether stores are complete.
    Meeting {
        memory: bool,
    },
    Broadcast,
    /// Parts of one size.
    Fcollect,
    /// Parts of different sizes.
    Collect,
    Alltoall,
    Reduce,
    Scan {
        inclusive: bool,
    },
}

/// What a routine is, if it is a collective.
pub(super) fn kind(op: &Op) -> Option<Kind> {
    let has = |part: &str| op.name().contains(part);
    match op.class {
        pellucid_profile::op::Class::Barrier => Some(Kind::Meeting { memory: has("barrier") }),
        pellucid_profile::op::Class::Collective => Some(match () {
            () if has("broadcast") => Kind::Broadcast,
            () if has("fcollect") => Kind::Fcollect,
            () if has("collect") => Kind::Collect,
            () if has("alltoall") => Kind::Alltoall,
            () if has("_inscan") => Kind::Scan { inclusive: true },
            () if has("_exscan") => Kind::Scan { inclusive: false },
            () => Kind::Reduce,
        }),
        _ => None,
    }
}

impl Kind {
    /// `OTF2_CollectiveOp`.
    pub(super) fn number(self) -> u8 {
        match self {
            Kind::Meeting { .. } => BARRIER,
            Kind::Broadcast => BROADCAST,
            Kind::Fcollect => ALLGATHER,
            Kind::Collect => ALLGATHERV,
            Kind::Alltoall => ALLTOALL,
            Kind::Reduce => ALLREDUCE,
            Kind::Scan { inclusive: true } => SCAN,
            Kind::Scan { inclusive: false } => EXSCAN,
        }
    }

    /// `OTF2_RmaSyncLevel`: what it brings about.
    pub(super) fn level(self) -> u32 {
        if self == (Kind::Meeting { memory: false }) { PROCESS } else { PROCESS | MEMORY }
    }

    /// Bytes that member `me` of `size` sends to others and receives from them, where the routine was called for
    /// `bytes`. `parts`: what all members gave to a collect of parts.
    fn moved(self, bytes: u64, (me, size): (u64, u64), is_root: bool, parts: Option<u64>) -> (u64, u64) {
        let others = size.saturating_sub(1);
        let all = bytes.saturating_mul(others);
        match self {
            Kind::Meeting { .. } => (0, 0),
            Kind::Broadcast if is_root => (all, 0),
            Kind::Broadcast => (0, bytes),
            Kind::Fcollect | Kind::Alltoall | Kind::Reduce => (all, all),
            Kind::Collect => (all, parts.map_or(all, |parts| parts.saturating_sub(bytes))),
            Kind::Scan { .. } => (bytes.saturating_mul(others.saturating_sub(me)), bytes.saturating_mul(me)),
        }
    }
}

/// The world number of each member of a team.
pub(super) fn members((_, start, stride, size): TeamKey) -> impl Iterator<Item = u32> {
    (0..size).filter_map(move |member| u32::try_from(start.checked_add(stride.checked_mul(member)?)?).ok())
}

/// What all members gave to each collect of parts: known where all of them are in the trace.
#[derive(Default)]
pub(super) struct Parts {
    /// By team, PE and begin of the call.
    all: HashMap<(TeamKey, u32, u64), u64>,
}

impl Parts {
    /// Reads the trace once, where it has such collectives.
    pub(super) fn find(trace: &Trace, problems: &mut Vec<ReadError>) -> Parts {
        let mut given: BTreeMap<TeamKey, BTreeMap<u32, Vec<(u64, u64)>>> = BTreeMap::new();
        trace.for_each(problems, |file, event| {
            if let What::Call(Call { team: Some(team), bytes, .. }) = &event.what
                && let What::Call(call) = &event.what
                && kind(rows::routine(call)) == Some(Kind::Collect)
            {
                let calls = given.entry(*team).or_default().entry(file.facts.pe).or_default();
                calls.push((event.start_ns, *bytes));
            }
        });
        let mut parts = Parts::default();
        for (team, mut by_pe) in given {
            by_pe.values_mut().for_each(|calls| calls.sort_unstable());
            let count = by_pe.values().map(Vec::len).max().unwrap_or(0);
            if !members(team).all(|pe| by_pe.get(&pe).is_some_and(|calls| calls.len() == count)) {
                continue;
            }
            for number in 0..count {
                let sum = by_pe.values().map(|calls| calls[number].1).fold(0, u64::saturating_add);
                for (&pe, calls) in &by_pe {
                    parts.all.insert((team, pe, calls[number].0), sum);
                }
            }
        }
        parts
    }

    /// Bytes that a PE sends and receives in a collective that began at `start`.
    pub(super) fn moved(&self, kind: Kind, call: &Call, team: TeamKey, pe: u32, start: u64) -> (u64, u64) {
        let me = place_in(team, pe).unwrap_or(0);
        let parts = self.all.get(&(team, pe, start)).copied();
        kind.moved(call.bytes, (me, u64::from(team.3.unsigned_abs())), call.root == Some(pe), parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_profile::op;

    #[test]
    fn every_collective_has_its_kind() {
        let of = |name: &str| kind(op::get(op::find(name).unwrap_or_else(|| panic!("{name}"))).unwrap());
        for (name, expected) in [
            ("shmem_barrier_all", Kind::Meeting { memory: true }),
            ("shmem_barrier", Kind::Meeting { memory: true }),
            ("shmem_team_sync", Kind::Meeting { memory: false }),
            ("shmem_broadcast64", Kind::Broadcast),
            ("shmem_int_fcollect", Kind::Fcollect),
            ("shmem_collectmem", Kind::Collect),
            ("shmem_long_alltoalls", Kind::Alltoall),
            ("shmem_long_sum_reduce", Kind::Reduce),
            ("shmem_int_max_to_all", Kind::Reduce),
            ("shmem_long_sum_inscan", Kind::Scan { inclusive: true }),
            ("shmem_long_sum_exscan", Kind::Scan { inclusive: false }),
        ] {
            assert_eq!(of(name), Some(expected), "{name}");
        }
        for name in ["shmem_malloc", "shmem_quiet", "shmem_long_put"] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_sent_is_received() {
        let sizes = [8_u64, 24, 0];
        for kind in [Kind::Broadcast, Kind::Fcollect, Kind::Alltoall, Kind::Reduce, Kind::Scan { inclusive: true }] {
            let moved = (0..4).map(|me| kind.moved(16, (me, 4), me == 2, None));
            let (sent, received) = moved.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            assert!(sent == received && sent > 0, "{kind:?}: {sent} {received}");
        }
        let all = sizes.iter().sum();
        let collect = (0..3).zip(sizes).map(|(me, bytes)| Kind::Collect.moved(bytes, (me, 3), false, Some(all)));
        assert_eq!(collect.collect::<Vec<_>>(), [(16, 24), (48, 8), (0, 32)]);
    }

    #[test]
    fn members_of_a_team() {
        assert_eq!(members((5, 1, 2, 3)).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(members((5, 4, -2, 3)).collect::<Vec<_>>(), [4, 2, 0]);
        assert_eq!([4, 2, 0, 1, 6].map(|pe| place_in((5, 4, -2, 3), pe)), [Some(0), Some(1), Some(2), None, None]);
        assert_eq!([1, 3, 5, 7, 2].map(|pe| place_in((5, 1, 2, 3), pe)), [Some(0), Some(1), Some(2), None, None]);
    }
}
