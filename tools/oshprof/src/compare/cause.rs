//! The difference in time, divided up so that the parts add up to it.
//!
//! The run of a PE is the time outside the library, by region, and the time in calls, by site. The difference of that,
//! summed over PEs, is divided up by site; what PEs lost by waiting for one that came late is taken from the barrier
//! or collective where they waited, or from their wait on a variable, and charged to that PE, there to what it took
//! longer for than the others did.
//!
//! The difference of a site is `count + cost + mix`: calls that were added at the old mean, calls of each size at
//! their new mean less their old one, and the rest, which comes from other shares of the sizes.
//!
//! | module | what it is |
//! |---|---|
//! | `parts` | count, cost and mix of a site |
//! | `times` | what PEs do, and how long it takes them |
//! | `lost` | who was late, and what others lost by it |
//! | `divide` | the difference, divided up by who did what |

mod divide;
mod lost;
mod parts;
mod times;

use std::collections::BTreeSet;

use super::run::Run;
use super::side::Side;
use divide::divide;
use lost::{Excess, Lost};
pub use parts::Parts;
use times::{Deed, Rows, Times, difference};

/// What a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Calls from a site, without what others waited for.
    Call,
    /// Time outside the library in a region.
    Own,
    /// What one PE did, and the time that others waited for it.
    Late,
    /// The time that others waited for a PE which did nothing longer than they did.
    Wait,
}

/// One part of the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// What it is.
    pub what: What,
    /// The routine; empty for time outside the library.
    pub op: String,
    /// Function.
    pub site: String,
    /// Function, file and line.
    pub shown: String,
    /// Region; empty outside of all.
    pub region: String,
    /// The PE that came late.
    pub late_pe: Option<u32>,
    /// How the difference divides up.
    pub parts: Parts,
    /// The part of it that others waited.
    pub waited_ns: f64,
    /// Where they waited most: routine and place.
    pub waited_at: Option<(String, String)>,
    /// The share of pairs in which it has this sign.
    pub agree: f64,
    /// Whether it is a barrier or collective: its row is what it took after the last PE had arrived.
    pub is_meeting: bool,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// Largest first.
    pub rows: Vec<Cause>,
    /// The sum of those that are not shown, as their sign differs from pair to pair or they are small.
    pub others_ns: f64,
    /// The difference: nanoseconds of all PEs together.
    pub delta_ns: f64,
    /// The same of the base.
    pub base_ns: f64,
    /// Pairs of runs that it is known from.
    pub pairs: usize,
}

impl Causes {
    /// Whether there are so many pairs that a row whose sign is the same in most of them is no chance. With fewer, rows
    /// are how two runs happened to differ: a number for programs, no cause for people.
    pub fn are_told(&self) -> bool {
        self.pairs >= ENOUGH_PAIRS && !self.rows.is_empty()
    }

    /// What people are told in place of rows.
    pub fn why_not(&self) -> Option<String> {
        (!self.rows.is_empty() && !self.are_told()).then(|| {
            format!(
                "Where it comes from takes {ENOUGH_PAIRS} pairs of runs or more (oshprof gate, or --pair): two \
                 runs always differ somewhere."
            )
        })
    }
}

/// Rows that are shown at most.
const MOST: usize = 50;
/// What a row must have of the largest difference to be shown.
const LEAST_SHARE: f64 = 0.002;
/// In how many of the pairs the sign has to be the same.
const CONSISTENT: f64 = 0.8;
/// Pairs from which on that is asked for.
const ENOUGH_PAIRS: usize = 5;

/// Finds the causes of the difference between the runs of two sides; those with the same place are pairs.
pub fn find(base_runs: &[&Run], new_runs: &[&Run], base: &Side, new: &Side) -> Causes {
    let rows = Rows::new(base, new);
    let (old, now) = (rows.times(0, base_runs), rows.times(1, new_runs));
    let pes: BTreeSet<u32> = old.own.keys().chain(now.own.keys()).map(|(_, pe)| *pe).collect();
    let mut found = divide(&rows, &old, &now, &pes);
    let pairs: Vec<(Times, Times)> =
        base_runs.iter().zip(new_runs).map(|(base, new)| (rows.times(0, &[*base]), rows.times(1, &[*new]))).collect();
    let sum = |times: &Times| -> f64 {
        times.cells.values().map(|cell| cell.2).sum::<f64>() + times.own.values().sum::<f64>()
    };
    let of_pairs: Vec<Lost> = pairs.iter().map(|(old, now)| lost_of(&rows, old, now, &pes)).collect();
    for (deed, cause) in &mut found {
        let signs =
            pairs.iter().zip(&of_pairs).map(|((old, now), lost)| deed_difference(deed, cause, old, now, lost, &pes));
        let same = signs.filter(|d| *d != 0.0 && d.signum() == cause.parts.sum().signum()).count();
        cause.agree = same as f64 / pairs.len().max(1) as f64;
    }
    let delta_ns = sum(&now) - sum(&old);
    let largest = found.iter().map(|(_, cause)| cause.parts.sum().abs()).fold(0.0, f64::max);
    let mut causes: Vec<Cause> = found.into_iter().map(|(_, cause)| cause).collect();
    causes.sort_by(|a, b| b.parts.sum().abs().total_cmp(&a.parts.sum().abs()));
    causes.retain(|cause| {
        cause.parts.sum().abs() > LEAST_SHARE * largest && (pairs.len() < ENOUGH_PAIRS || cause.agree >= CONSISTENT)
    });
    causes.truncate(MOST);
    let shown: f64 = causes.iter().map(|cause| cause.parts.sum()).sum();
    Causes { rows: causes, others_ns: delta_ns - shown, delta_ns, base_ns: sum(&old), pairs: pairs.len() }
}

fn lost_of(rows: &Rows<'_>, old: &Times, now: &Times, pes: &BTreeSet<u32>) -> Lost {
    let deeds = divide::deeds(rows, old, now);
    lost::lost(rows, old, now, pes, &Excess::new(rows, &deeds, old, now, pes))
}

/// What a PE, or all of them, took longer for a deed.
fn deed_difference(deed: &Deed, cause: &Cause, old: &Times, now: &Times, lost: &Lost, pes: &BTreeSet<u32>) -> f64 {
    match (cause.what, deed, cause.late_pe) {
        (What::Wait, Deed::Row(row), Some(pe)) => lost.get(&(*row, pe)).copied().unwrap_or(0.0),
        (_, deed, Some(pe)) => difference(deed, old, now, pe),
        (_, deed, None) => {
            pes.iter().map(|&pe| difference(deed, old, now, pe)).sum::<f64>() - divide::lost_at(lost, deed)
        }
    }
}

#[cfg(test)]
mod tests;
