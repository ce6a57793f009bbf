//! Many small blocking puts to one PE.

use pellucid_profile::model::Profile;
use pellucid_profile::report::{Symbols, shown_count, shown_time};
use pellucid_profile::size::size_bounds;

use super::{Finding, WORTH, busiest, is_put, run_ns, sum};

/// What counts as small, in bytes.
const SMALL: u64 = 256;
/// Calls a PE makes before they are many.
const MANY: u64 = 10_000;
/// Share of a PE's puts that go to one peer.
const ONE_PEER: f64 = 0.5;

/// See the module.
pub fn find(profile: &Profile, symbols: &dyn Symbols) -> Option<Finding> {
    let (_, ns) = sum(profile, is_put);
    let share = ns / run_ns(profile);
    let small = |pe: &pellucid_profile::model::Pe| -> u64 {
        let sizes = pe.routines.iter().filter(|r| is_put(r)).flat_map(|r| &r.sizes);
        sizes.filter(|s| size_bounds(usize::from(s.class)).1 < SMALL).map(|s| s.calls).sum()
    };
    let worst = profile.pes.iter().max_by_key(|pe| (small(pe), std::cmp::Reverse(pe.pe)))?;
    let calls = small(worst);
    let all: u64 = worst.detail.peers.iter().map(|p| p.put.calls).sum();
    let most = worst.detail.peers.iter().max_by_key(|p| (p.put.calls, std::cmp::Reverse(p.pe)))?;
    // Scattered small puts are a program's nature; a run of them to one peer can be one message.
    if share < WORTH || calls < MANY || (most.put.calls as f64) < ONE_PEER * all as f64 || Some(worst.pe) == most.pe {
        return None;
    }
    let to = most.pe.map_or("others".to_owned(), |pe| format!("PE {pe}"));
    let bytes = most.put.bytes / most.put.calls.max(1);
    Some(Finding {
        what: format!("many small puts to one PE: PE {} makes {} to {to}", worst.pe, shown_count(most.put.calls)),
        evidence: format!(
            "{bytes} bytes each on average, {} in puts over all PEs{}",
            shown_time(ns),
            busiest(profile, symbols, |name| name.contains("put") || name.ends_with("_p"))
        ),
        try_this: "collect them in a buffer and send it with one put, or use shmem_iput for a stride",
        share,
    })
}
