//! Neighbourhoods, whose PEs share memory, and the hosts that they are on. A host has several where its PEs are reached
//! over the network alone (`SHMEM_TRANSPORT=ofi`), or by a launcher that counts it as several.
#![allow(unsafe_code)]

use crate::fail::initialized;
use crate::start;
use crate::types::{Rank, RankInfo};
use pellucid_core::os::machine;
use pellucid_core::runtime;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What each PE says of its machine, so that all find the same hosts.
pub fn identity() -> u64 {
    pellucid_profile::hash::fnv1a(&machine::identity())
}

/// The number of each PE's host, in the order of their first PEs, from what the PEs have said. A neighbourhood is of
/// the host of its first PE.
pub fn number(identities: &[u64]) -> Vec<Rank> {
    let mut known: BTreeMap<u64, Rank> = BTreeMap::new();
    let firsts = &runtime::world().hosts;
    let number = |pe: usize| {
        let first = firsts[neighbourhood(pe as Rank) as usize] as usize;
        let next = known.len() as Rank;
        *known.entry(identities[first]).or_insert(next)
    };
    (0..identities.len()).map(number).collect()
}

/// The number of a PE's neighbourhood: they are known by their first PEs, in order.
fn neighbourhood(pe: Rank) -> Rank {
    runtime::world().hosts.partition_point(|first| *first <= pe).saturating_sub(1) as Rank
}

/// The PEs that this one shares memory with.
fn neighbours() -> &'static [RankInfo] {
    static ALL: OnceLock<Vec<RankInfo>> = OnceLock::new();
    ALL.get_or_init(|| {
        let m = runtime::map();
        (m.first_pe..m.first_pe + m.local_pes as i32).map(|pe| RankInfo { jobrank: pe as Rank }).collect()
    })
}

/// The PEs of this one's host.
fn of_host() -> &'static [RankInfo] {
    static ALL: OnceLock<Vec<RankInfo>> = OnceLock::new();
    let (hosts, me) = (&start::client().hosts, runtime::map().me as usize);
    ALL.get_or_init(|| {
        let mine = hosts.iter().enumerate().filter(|(_, host)| **host == hosts[me]);
        mine.map(|(pe, _)| RankInfo { jobrank: pe as Rank }).collect()
    })
}

/// The number of a PE's host, and that of its neighbourhood.
pub fn position(pe: Rank) -> (Rank, Rank) {
    (start::client().hosts[pe as usize], neighbourhood(pe))
}

unsafe fn tell(all: &'static [RankInfo], info_p: *mut *const RankInfo, count_p: *mut Rank, mine_p: *mut Rank) {
    let me = runtime::map().me as Rank;
    // SAFETY: places for the answers or null, says the caller.
    unsafe {
        if !info_p.is_null() {
            info_p.write(all.as_ptr());
        }
        if !count_p.is_null() {
            count_p.write(all.len() as Rank);
        }
        if !mine_p.is_null() {
            mine_p.write(all.partition_point(|info| info.jobrank < me) as Rank);
        }
    }
}

/// `gex_System_QueryNbrhdInfo`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_System_QueryNbrhdInfo(
    info_p: *mut *const RankInfo,
    count_p: *mut Rank,
    mine_p: *mut Rank,
) {
    initialized("gex_System_QueryNbrhdInfo");
    // SAFETY: the caller's.
    unsafe { tell(neighbours(), info_p, count_p, mine_p) };
}

/// `gex_System_QueryHostInfo`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_System_QueryHostInfo(info_p: *mut *const RankInfo, count_p: *mut Rank, mine_p: *mut Rank) {
    initialized("gex_System_QueryHostInfo");
    // SAFETY: the caller's.
    unsafe { tell(of_host(), info_p, count_p, mine_p) };
}

/// `gex_System_QueryMyPosition`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_System_QueryMyPosition(
    nbrhds_p: *mut Rank,
    nbrhd_p: *mut Rank,
    hosts_p: *mut Rank,
    host_p: *mut Rank,
) {
    initialized("gex_System_QueryMyPosition");
    let (host, neighbourhood) = position(runtime::map().me as Rank);
    let hosts = start::client().hosts.iter().max().map_or(1, |last| last + 1);
    let neighbourhoods = runtime::world().hosts.len() as Rank;
    for (place, value) in [(nbrhds_p, neighbourhoods), (nbrhd_p, neighbourhood), (hosts_p, hosts), (host_p, host)] {
        if !place.is_null() {
            // SAFETY: a place for the answer, says the caller.
            unsafe { place.write(value) };
        }
    }
}
