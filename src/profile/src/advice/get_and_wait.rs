//! Data that is fetched after waiting for it, where its producer could send it with a signal.

use crate::merge::PeRow;
use crate::op::{self, Class};
use crate::report::{shown_count, shown_time};

use super::{Case, Finding, WORTH, costliest, run_ns, sum};

const MANY: u64 = 100;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (waits, wait_ns) = sum(profile, |r| r.class == Class::Wait);
    let (gets, get_ns) = sum(profile, |r| r.class == Class::Get && !op::is_nonblocking(&r.name));
    let (signals, _) = sum(profile, |r| r.class == Class::Signal);
    let share = get_ns / run_ns(profile);
    // As many gets as waits, on most PEs: one is fetched after each. One PE that collects results is another matter.
    let fetches = |pe: &&PeRow| {
        let (gets, waits) = (pe.blocking_gets, pe.calls_of(Class::Wait));
        waits >= MANY && (0.5..=2.0).contains(&(gets as f64 / waits as f64))
    };
    let fetching = profile.pes.iter().filter(fetches).count();
    if 2 * fetching <= profile.pes.len() || signals > waits / 10 || share < WORTH {
        return None;
    }
    Some(Finding {
        what: format!("a get after each wait: {} gets, {} waits", shown_count(gets), shown_count(waits)),
        evidence: format!(
            "{} in gets, {} in waits, no put with signal{}",
            shown_time(get_ns),
            shown_time(wait_ns),
            costliest(profile, |name| name.contains("get") || name.ends_with("_g"))
        ),
        try_this: "let the producer send the data with shmem_put_signal: the consumer waits once and finds \
                   it in its memory",
        share,
    })
}
