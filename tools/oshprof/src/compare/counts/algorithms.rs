//! Collectives that take other algorithms than before.

use std::collections::BTreeMap;

use super::both;
use crate::compare::Range;

/// A routine and an algorithm of its calls: collective and name.
pub type Key = (String, String);

/// What a routine and a part of its work take.
type Part<'k> = (&'k str, &'k str);

/// Algorithms that a routine takes more or less often, though it needs one for the same collective as often as before;
/// and those that one side does not take at all, where it needs more or fewer. More calls, and meetings that an
/// algorithm brings with it, are no other choice.
pub fn changed(base: &BTreeMap<Key, Range>, new: &BTreeMap<Key, Range>) -> Vec<(Key, Range, Range)> {
    let (before, after) = (totals(base), totals(new));
    let mut rows = both(base, new);
    rows.retain(|(key, old, now)| match (before.get(&part(key)), after.get(&part(key))) {
        (Some(a), Some(b)) if a.1 && b.1 => a.0 == b.0 || (*old == Range::default()) != (*now == Range::default()),
        _ => false,
    });
    rows
}

fn part(key: &Key) -> Part<'_> {
    (&key.0, key.1.split_once(':').map_or("", |(collective, _)| collective))
}

/// How often, and whether that is the same in all runs.
fn totals(side: &BTreeMap<Key, Range>) -> BTreeMap<Part<'_>, (u64, bool)> {
    let mut totals = BTreeMap::new();
    for (key, range) in side {
        let sum = totals.entry(part(key)).or_insert((0_u64, true));
        *sum = (sum.0.saturating_add(range.max.calls), sum.1 && range.is_stable());
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Amount;

    fn side(rows: &[(&str, &str, u64)]) -> BTreeMap<Key, Range> {
        let amount = |calls| Range::of([Amount { calls, bytes: 0 }]);
        rows.iter().map(|&(op, name, calls)| ((op.to_owned(), name.to_owned()), amount(calls))).collect()
    }

    fn names(base: &[(&str, &str, u64)], new: &[(&str, &str, u64)]) -> Vec<String> {
        changed(&side(base), &side(new)).into_iter().map(|((_, name), _, _)| name).collect()
    }

    #[test]
    fn another_choice_is_told_and_more_calls_are_not() {
        let flat = [("sum", "reduce:flat", 10), ("fetch", "fcollect:flat", 5)];
        let whole = [("sum", "reduce:whole", 10), ("sum", "barrier:counter", 20), ("fetch", "fcollect:flat", 5)];
        assert_eq!(names(&flat, &whole), ["reduce:flat", "reduce:whole"]);
        assert_eq!(names(&flat, &flat), [""; 0]);
        assert_eq!(names(&flat, &[("sum", "reduce:flat", 20)]), [""; 0], "more calls, and a routine that is gone");
        assert_eq!(names(&flat, &[("sum", "reduce:flat", 20), ("sum", "reduce:tree", 1)]), ["reduce:tree"]);
        assert_eq!(
            names(&[("sum", "reduce:flat", 9), ("sum", "reduce:tree", 1)], &flat),
            ["reduce:flat", "reduce:tree"]
        );
    }

    #[test]
    fn what_varies_is_no_choice() {
        let mut varying = side(&[("sum", "reduce:tree", 10)]);
        varying.values_mut().for_each(|range| range.min.calls = 3);
        assert!(changed(&side(&[("sum", "reduce:flat", 10)]), &varying).is_empty());
    }
}
