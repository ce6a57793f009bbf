//! Barriers and collectives that wait for one PE, which is always the same.

use crate::merge::{Late, Merged};
use crate::report::{Symbols, place, shown_time};

use super::{Finding, run_ns};

/// Share of the run time that has to be lost: some is lost at every barrier.
const LOST: f64 = 0.10;
/// Share of it that has to be due to one PE.
const ONE_PE: f64 = 0.7;
/// Meetings from which on it is a habit.
const MEETINGS: u64 = 5;

/// The PE that is late, where the rule speaks: what it does more then is done a bit at a time.
pub(super) fn late_pe(profile: &Merged) -> Option<u32> {
    late(profile).map(|(_, (pe, ..), _)| pe)
}

/// The meetings, the PE that comes late with how often and what it cost, and the share of the run.
fn late(profile: &Merged) -> Option<(&Late, (u32, u64, u64), f64)> {
    let worst = profile.late.iter().find(|late| late.meetings >= MEETINGS)?;
    let (pe, times, lost) = worst.worst()?;
    let share = worst.lost_ns as f64 / run_ns(profile);
    // With two PEs one of both is always the last: it has to be the same one nearly always.
    let often = times as f64 >= 0.8 * worst.meetings as f64;
    let is_one = lost as f64 >= ONE_PE * worst.lost_ns as f64;
    (share >= LOST && is_one && often).then_some((worst, (pe, times, lost), share))
}

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let (worst, (pe, times, lost), share) = late(profile)?;
    let site = worst.place().map_or(String::new(), |site| format!("; most at {}", place(Some(site), symbols)));
    let region = if worst.region.is_empty() { String::new() } else { format!(" in region {}", worst.region) };
    Some(Finding {
        what: format!("{}{region} waits for PE {pe}: it was last {times} of {} times", worst.routine, worst.meetings),
        evidence: format!(
            "the others lost {} by it, up to {} at a time{}",
            shown_time(lost as f64),
            shown_time(worst.max_skew_ns as f64),
            site
        ),
        try_this: "give that PE less work, or the others something to do: a signal to those who need its \
                   data instead of a barrier",
        share,
    })
}
