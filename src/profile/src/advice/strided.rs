//! Strided transfers of tiny elements.

use crate::model::Routine;
use crate::report::{is_strided, shown_count};
use crate::size::Distance;

use super::{Case, Finding, WORTH, core_ns, costliest, shown_sum, sum};

/// Calls of a PE before they are many.
const MANY: u64 = 1000;
/// Bytes of a call of blocks below which it is more effort than data. Elements are tiny however many there are.
const SMALL: u64 = 4096;
/// What blocks in place of elements save within a host, where each element is a store, as `./x proof` measures it.
const OF_STORES: f64 = 0.6;

/// Whether a routine moves blocks of several elements.
fn is_of_blocks(r: &Routine) -> bool {
    r.name.contains("_ibput") || r.name.contains("_ibget")
}

fn is_tiny(r: &Routine) -> bool {
    is_strided(&r.name) && (!is_of_blocks(r) || r.all_bytes() < SMALL.saturating_mul(r.all_calls()))
}

/// Share of the calls of a routine that go over the network.
fn remote(r: &Routine) -> f64 {
    r.calls[Distance::Remote as usize] as f64 / r.all_calls().max(1) as f64
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (calls, ns) = sum(profile, is_tiny);
    let routines = || profile.routines.iter().filter(|r| is_tiny(r));
    let bytes = routines().map(|r| r.all_bytes()).fold(0, u64::saturating_add);
    let share = (ns / core_ns(profile)).min(1.0);
    if calls / (profile.pes.len() as u64).max(1) < MANY || share < 2.0 * WORTH {
        return None;
    }
    let remote_ns = routines().map(|r| remote(r) * r.spent_ns() as f64).sum::<f64>();
    let saved = remote_ns + OF_STORES * (ns - remote_ns);
    let names: Vec<&str> = routines().map(|r| &*r.name).collect();
    Some(Finding {
        what: format!("{} strided transfers of {} bytes", shown_count(calls), bytes / calls.max(1)),
        evidence: format!(
            "{} in them over all PEs{}",
            shown_sum(profile, is_tiny),
            costliest(profile, |name| names.contains(&name))
        ),
        try_this: if 2.0 * remote_ns > ns {
            "shmem_ibput or shmem_ibget for blocks in place of single elements; over the network, pack the elements \
             into a buffer that goes in one put or get, and unpack them on the other side"
        } else {
            "shmem_ibput or shmem_ibget for blocks in place of single elements, or data that goes together stored \
             together: one put. Within a host each element is a store: packing them adds a copy on either side"
        },
        share: share * saved / ns,
    })
}
