//! Time that PEs lost since another came late.
//!
//! Who came last to a barrier or collective is in the profile. Who ended a wait on a variable is not: it is one of the
//! PEs that store to the waiting one, and there the one that takes longest for something; where none of them does, the
//! one that itself waits longest, and so on from it.

use std::collections::{BTreeMap, BTreeSet};

use super::times::{Deed, Rows, Times, difference};

/// How much of a wait the sender's own delay has to explain for it to be charged; else it is sought further on.
const LEAST: f64 = 0.1;

/// What PEs take longer for each deed than the median of the other PEs does.
pub struct Excess {
    pes: Vec<u32>,
    /// By deed: the differences in the order of the PEs, and the same in ascending order.
    deeds: Vec<(Deed, Vec<f64>, Vec<f64>)>,
}

impl Excess {
    /// Of all deeds but waiting.
    pub fn new(rows: &Rows<'_>, deeds: &[Deed], old: &Times, now: &Times, pes: &BTreeSet<u32>) -> Excess {
        let is_work = |deed: &&Deed| match deed {
            Deed::Row(row) => !rows.is_meeting(*row) && !rows.is_wait(*row),
            Deed::Own(_) => true,
        };
        let pes: Vec<u32> = pes.iter().copied().collect();
        let values = |deed: &Deed| -> (Deed, Vec<f64>, Vec<f64>) {
            let list: Vec<f64> = pes.iter().map(|&pe| difference(deed, old, now, pe)).collect();
            let mut sorted = list.clone();
            sorted.sort_by(f64::total_cmp);
            (deed.clone(), list, sorted)
        };
        let deeds = deeds.iter().filter(is_work).map(values).collect();
        Excess { pes, deeds }
    }

    /// The deeds that make a PE late (`sign` 1) or early (-1), and by how much; small ones are left out.
    pub fn of(&self, pe: u32, sign: f64) -> Vec<(Deed, f64)> {
        let Ok(at) = self.pes.binary_search(&pe) else { return Vec::new() };
        let mut list: Vec<(Deed, f64)> = Vec::new();
        for (deed, values, sorted) in &self.deeds {
            let own = values[at];
            let excess = own - median_without(sorted, own);
            if excess * sign > 0.0 && own * sign > 0.0 {
                list.push((deed.clone(), excess));
            }
        }
        let most = list.iter().map(|(_, excess)| excess.abs()).fold(0.0, f64::max);
        list.retain(|(_, excess)| excess.abs() >= 0.1 * most);
        list
    }

    fn whole(&self, pe: u32, sign: f64) -> f64 {
        self.of(pe, sign).iter().map(|(_, excess)| excess.abs()).sum()
    }
}

/// The median of an ascending list without one of its values; 0 of an empty one.
fn median_without(sorted: &[f64], value: f64) -> f64 {
    let skip = sorted.partition_point(|v| v.total_cmp(&value).is_lt());
    let at = |index: usize| sorted[if index < skip { index } else { index + 1 }];
    match sorted.len().saturating_sub(1) {
        0 => 0.0,
        n if n % 2 == 1 => at(n / 2),
        n => (at(n / 2 - 1) + at(n / 2)) / 2.0,
    }
}

/// What others lost more than before, by row where they waited and PE that was late.
pub type Lost = BTreeMap<(usize, u32), f64>;

/// Finds it, for meetings and for waits.
pub fn lost(rows: &Rows<'_>, old: &Times, now: &Times, pes: &BTreeSet<u32>, excess: &Excess) -> Lost {
    let mut lost = Lost::new();
    for key in old.late.keys().chain(now.late.keys()) {
        let of = |times: &Times| times.late.get(key).copied().unwrap_or(0.0);
        lost.insert(*key, of(now) - of(old));
    }
    let waits: Vec<usize> = (0..rows.pairs.len()).filter(|&row| rows.is_wait(row)).collect();
    if waits.is_empty() {
        return lost;
    }
    let waited: BTreeMap<u32, f64> =
        pes.iter().map(|&pe| (pe, waits.iter().map(|&row| difference(&Deed::Row(row), old, now, pe)).sum())).collect();
    let mut senders: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (from, to) in old.writes.iter().chain(&now.writes).filter(|(from, to)| from != to) {
        senders.entry(*to).or_default().insert(*from);
    }
    for (&pe, &whole) in waited.iter().filter(|(_, whole)| **whole != 0.0) {
        let Some((late, delay)) = culprit(pe, whole, &waited, &senders, excess) else { continue };
        let share = (delay / whole.abs()).min(1.0);
        for &row in &waits {
            let own = difference(&Deed::Row(row), old, now, pe);
            if own * whole > 0.0 {
                *lost.entry((row, late)).or_default() += share * own;
            }
        }
    }
    lost.retain(|_, ns| *ns != 0.0);
    lost
}

/// The PE for which a PE waits, and by how much that one is late.
fn culprit(
    waiter: u32,
    whole: f64,
    waited: &BTreeMap<u32, f64>,
    senders: &BTreeMap<u32, BTreeSet<u32>>,
    excess: &Excess,
) -> Option<(u32, f64)> {
    let (mut at, mut seen) = (waiter, BTreeSet::from([waiter]));
    loop {
        let near: Vec<u32> = senders.get(&at)?.iter().copied().filter(|pe| !seen.contains(pe)).collect();
        let delays = near.iter().map(|&pe| (pe, excess.whole(pe, whole.signum())));
        let (pe, delay) = delays.max_by(|a, b| a.1.total_cmp(&b.1))?;
        if delay >= LEAST * whole.abs() {
            return Some((pe, delay));
        }
        let length = |pe: &u32| waited.get(pe).map_or(0.0, |ns| ns * whole.signum());
        at = near.iter().copied().max_by(|a, b| length(a).total_cmp(&length(b))).filter(|pe| length(pe) > 0.0)?;
        seen.insert(at);
    }
}
