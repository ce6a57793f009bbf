//! Counts by call site and by peer where samples only have them: they are made to add up to those of the routine, which
//! are exact.
//!
//! What is apart are the calls since the last sample of each thread, and those that had their site counted within the
//! gap in which sampling began: few beside the calls of a routine whose sites are sampled.

use std::collections::BTreeMap;

use crate::model::Routine;
use crate::op::{TRANSFER, traits};
use crate::order;
use crate::segment::peers::{TRANSFERS, transfer};
use crate::tables::{Peer, Traffic};

/// Adds what is missing from `total` to the largest of the parts, or takes what is too much from the largest ones.
pub(crate) fn add_up(parts: &mut [&mut u64], total: u64) {
    order::sort_by_key(parts, |part| std::cmp::Reverse(**part));
    let sum: u64 = parts.iter().map(|part| **part).sum();
    if let (true, Some(largest)) = (sum < total, parts.first_mut()) {
        **largest += total - sum;
    }
    let mut excess = sum.saturating_sub(total);
    for part in parts {
        let taken = excess.min(**part);
        (**part, excess) = (**part - taken, excess - taken);
    }
}

/// Makes traffic with peers add up to that of the routines, by kind, where the sites of one of them are sampled.
pub(crate) fn peers_add_up(peers: &mut [Peer], routines: &BTreeMap<u16, Routine>) {
    for kind in 0..TRANSFERS {
        let of_kind = || routines.iter().filter(|(op, _)| traits(**op) & TRANSFER != 0 && transfer(**op) == kind);
        if !of_kind().any(|(_, routine)| routine.sampled_sites) {
            continue;
        }
        // What goes to no PE, as a fetch of one's own signal, is of no row.
        let total = |of: fn(&Routine) -> &[u64]| of_kind().flat_map(|(_, routine)| &of(routine)[1..]).sum();
        let mut parts: Vec<&mut Traffic> = peers.iter_mut().map(|peer| traffic_of(peer, kind)).collect();
        add_up(&mut parts.iter_mut().map(|part| &mut part.calls).collect::<Vec<_>>(), total(|routine| &routine.calls));
        add_up(&mut parts.iter_mut().map(|part| &mut part.bytes).collect::<Vec<_>>(), total(|routine| &routine.bytes));
    }
}

/// Traffic of this [`crate::segment::peers::Transfer`].
pub(super) fn traffic_of(peer: &mut Peer, kind: usize) -> &mut Traffic {
    match kind {
        0 => &mut peer.put,
        1 => &mut peer.get,
        _ => &mut peer.amo,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op;

    fn added_up<const N: usize>(mut parts: [u64; N], total: u64) -> [u64; N] {
        add_up(&mut parts.iter_mut().collect::<Vec<_>>(), total);
        parts
    }

    #[test]
    fn parts_add_up() {
        assert_eq!(added_up([5, 90, 5], 110), [5, 100, 5]);
        assert_eq!(added_up([5, 90, 5], 95), [5, 85, 5]);
        assert_eq!(added_up([3, 4, 2], 2), [0, 0, 2]);
        assert_eq!(added_up([3, 4], 7), [3, 4]);
        assert_eq!(added_up([], 7), [0_u64; 0]);
    }

    #[test]
    fn peers_add_up_to_the_routines_of_a_kind() {
        let of = |name: &str, calls: u64, sampled_sites: bool| {
            let op = op::find(name).unwrap();
            let mut routine = Routine::new(name, op::get(op).unwrap().class);
            (routine.calls[2], routine.bytes[2], routine.sampled_sites) = (calls, 8 * calls, sampled_sites);
            (op, routine)
        };
        let traffic = |calls| Traffic { calls, bytes: 8 * calls };
        let peer = |pe, put, amo| Peer { pe: Some(pe), put: traffic(put), amo: traffic(amo), ..Peer::default() };
        let mut peers = [peer(0, 40, 7), peer(1, 55, 7)];
        let (fetch, mut fetches) = of("shmem_signal_fetch", 0, true);
        fetches.calls[0] = 1000;
        let exact = [of("shmem_long_p", 60, false), of("shmem_long_atomic_inc", 15, false)];
        peers_add_up(&mut peers, &exact.into_iter().collect());
        assert_eq!(peers.each_ref().map(|peer| peer.put.calls), [40, 55]);
        let others = [of("shmem_int_p", 40, false), of("shmem_long_atomic_inc", 15, false)];
        let sampled = [of("shmem_long_p", 60, true), (fetch, fetches)].into_iter().chain(others);
        peers_add_up(&mut peers, &sampled.collect());
        assert_eq!(peers.each_ref().map(|peer| (peer.put.calls, peer.amo.calls)), [(40, 7), (60, 7)]);
        assert_eq!(peers.each_ref().map(|peer| peer.put.bytes), [320, 480]);
    }
}
