//! One PE that most of the traffic goes to or comes from.

use std::collections::BTreeMap;

use crate::op::Class;
use crate::report::{shown_bytes, shown_count};

use super::room::{is_transfer, room};
use super::{Case, Finding, core_ns, polling, shown_sum, usual_sum};

/// Share of the traffic of others that has to meet at one PE.
const MOST: f64 = 0.6;
/// Share of the run that transfers or waits have to take.
const DOMINATES: f64 = 0.10;
const MANY: u64 = 1000;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let pes = profile.pes.len();
    // With two PEs each is the other's only peer, and of three it is soon most.
    if pes < 4 {
        return None;
    }
    let moves = |class| matches!(class, Class::Put | Class::Get | Class::Signal);
    let (_, ns) = usual_sum(profile, |r| moves(r.class));
    let mut of: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
    for (from, to) in &profile.pairs {
        let Some(target) = to.pe.filter(|target| target != from) else { continue };
        // Atomics have a rule of their own.
        let mut all = to.put;
        all.add(to.get);
        let sum = of.entry(target).or_default();
        *sum = (sum.0.saturating_add(all.calls), sum.1.saturating_add(all.bytes), sum.2 + 1);
    }
    let (calls, bytes) = of.values().fold((0_u64, 0_u64), |sum, of| (sum.0 + of.0, sum.1.saturating_add(of.1)));
    let (&pe, &(its_calls, its_bytes, from)) = of.iter().max_by_key(|(pe, of)| (of.0, std::cmp::Reverse(**pe)))?;
    let share = (ns / core_ns(profile)).min(room(profile, is_transfer));
    // A word that is asked for again and again is another rule's.
    if polling::is_most(profile)
        || calls < MANY
        || from < 3
        || (its_calls as f64) < MOST * calls as f64
        || share < DOMINATES
    {
        return None;
    }
    Some(Finding {
        what: format!("PE {pe} is the target of {} of {} transfers", shown_count(its_calls), shown_count(calls)),
        evidence: format!(
            "{} of {} from {from} PEs; {} in transfers over all PEs",
            shown_bytes(its_bytes),
            shown_bytes(bytes),
            shown_sum(profile, |r| moves(r.class))
        ),
        try_this: "spread what they need over the PEs, or give each its own copy; a collective instead of \
                   all asking one",
        share,
    })
}
