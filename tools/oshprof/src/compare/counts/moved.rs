//! Calls that are made from elsewhere, as often as before.

use std::collections::BTreeMap;

use super::{Change, Moved};
use crate::compare::Range;

/// Takes out what is called from elsewhere as often as before: first site by site, then what adds up to the same.
pub fn take(different: &mut Vec<Change>, moved: &mut Vec<Moved>) {
    let none = Range::default();
    let mut at = 0;
    while at < different.len() {
        let gone = &different[at];
        let is_same = |to: &Change| to.op == gone.op && to.base == none && to.new == gone.base;
        let same_region = different.iter().position(|to| is_same(to) && to.region == gone.region);
        let found = same_region.or_else(|| different.iter().position(is_same));
        match found.filter(|_| gone.new == none && gone.base != none) {
            None => at += 1,
            Some(to) => {
                let to_change = different.remove(to);
                at -= usize::from(to < at);
                let from = different.remove(at);
                moved.push(Moved { from, to: to_change });
            }
        }
    }
    shifts(different, moved);
}

/// Routines of which as many calls and bytes were taken out as were put in: one row for each place that gained.
fn shifts(different: &mut Vec<Change>, moved: &mut Vec<Moved>) {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for change in different.iter() {
        let (calls, bytes) = change.delta();
        let sum = sums.entry(&change.op).or_default();
        *sum = (sum.0 + calls, sum.1 + bytes);
    }
    let even: Vec<String> = sums.iter().filter(|(_, sum)| **sum == (0, 0)).map(|(op, _)| (*op).to_owned()).collect();
    for op in even {
        let (of, others): (Vec<Change>, Vec<Change>) = std::mem::take(different).into_iter().partition(|c| c.op == op);
        *different = others;
        let (gain, lose): (Vec<Change>, Vec<Change>) = of.into_iter().partition(|c| c.delta() > (0, 0));
        match (gain.len(), lose.len()) {
            // Calls here, bytes there: nobody moved.
            (0, _) | (_, 0) => different.extend(gain.into_iter().chain(lose)),
            _ => {
                let from = lose.iter().cycle();
                let rows = gain.len().max(lose.len());
                let pairs = gain.iter().cycle().zip(from).take(rows);
                moved.extend(pairs.map(|(to, from)| Moved { from: from.clone(), to: to.clone() }));
            }
        }
    }
}
