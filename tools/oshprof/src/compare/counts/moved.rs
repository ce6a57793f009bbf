//! Calls that are made from elsewhere, as often as before.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Moved};
use crate::compare::Range;

/// Takes out what is called from elsewhere as often as before: first site by site, then what adds up to the same.
pub fn take(different: &mut Vec<Change>, moved: &mut Vec<Moved>) {
    let none = Range::default();
    let mut at = 0;
    while at < different.len() {
        let gone = &different[at];
        let is_same = |to: &Change| to.op == gone.op && to.base == none && to.new.overlaps(&gone.base);
        let same_region = different.iter().position(|to| is_same(to) && to.region == gone.region);
        let found = same_region.or_else(|| different.iter().position(is_same));
        match found.filter(|_| gone.new == none && gone.base != none) {
            None => at += 1,
            Some(to) => {
                let to_change = different.remove(to);
                at -= usize::from(to < at);
                let from = different.remove(at);
                let (calls, bytes) = to_change.delta();
                moved.push(Moved { from, to: to_change, calls, bytes });
            }
        }
    }
    shifts(different, moved);
}

/// Routines of which as many calls and bytes were taken out as were put in: what each place lost is handed out to those
/// that gained, one after the other, so that all rows together have as many calls as moved.
fn shifts(different: &mut Vec<Change>, moved: &mut Vec<Moved>) {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    let varying: BTreeSet<&str> = different.iter().filter(|c| !c.is_stable()).map(|c| c.op.as_str()).collect();
    for change in different.iter().filter(|change| !varying.contains(change.op.as_str())) {
        let (calls, bytes) = change.delta();
        let sum = sums.entry(&change.op).or_default();
        *sum = (sum.0 + calls, sum.1 + bytes);
    }
    let even: Vec<String> = sums.iter().filter(|(_, sum)| **sum == (0, 0)).map(|(op, _)| (*op).to_owned()).collect();
    for op in even {
        let (of, others): (Vec<Change>, Vec<Change>) = std::mem::take(different).into_iter().partition(|c| c.op == op);
        *different = others;
        let (gain, lose): (Vec<Change>, Vec<Change>) = of.into_iter().partition(|c| c.delta() > (0, 0));
        // Calls here, bytes there: nobody moved.
        if gain.is_empty() || lose.is_empty() {
            different.extend(gain.into_iter().chain(lose));
            continue;
        }
        moved.extend(handed_out(&gain, &lose));
    }
}

/// Calls that were made from places that lost some and are made from those that gained: the lesser of what is left of
/// each.
fn handed_out(gain: &[Change], lose: &[Change]) -> Vec<Moved> {
    let (mut rows, mut to, mut from) = (Vec::new(), gain.iter(), lose.iter());
    let begin = |change: Option<&Change>| change.map(|change| (change.clone(), change.delta()));
    let (mut gained, mut lost) = (begin(to.next()), begin(from.next()));
    while let (Some((to_change, more)), Some((from_change, less))) = (&mut gained, &mut lost) {
        // What is lost counts below 0.
        let (more_calls, less_calls) = (more.0, -less.0);
        let (calls, bytes) = if more_calls <= less_calls { *more } else { (less_calls, -less.1) };
        rows.push(Moved { from: from_change.clone(), to: to_change.clone(), calls, bytes });
        (*more, *less) = ((more.0 - calls, more.1 - bytes), (less.0 + calls, less.1 + bytes));
        if more_calls <= less_calls {
            gained = begin(to.next());
        }
        if less_calls <= more_calls {
            lost = begin(from.next());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Amount;

    fn change(function: &str, base: u64, new: u64) -> Change {
        let range = |calls| Range::of([Amount { calls, bytes: 8 * calls }]);
        let site = Some(function.to_owned());
        Change { op: "shmem_p".to_owned(), site, base: range(base), new: range(new), ..Change::default() }
    }

    fn told(changes: &[Change]) -> Vec<(String, i64, i64)> {
        let (mut different, mut moved) = (changes.to_vec(), Vec::new());
        take(&mut different, &mut moved);
        let row = |row: &Moved| {
            let name = |change: &Change| change.site.clone().unwrap_or_default();
            (format!("{} {}", name(&row.from), name(&row.to)), row.calls, row.bytes)
        };
        assert!(different.is_empty(), "{different:?}");
        moved.iter().map(row).collect()
    }

    #[test]
    fn each_call_moves_once() {
        let row = |names: &str, calls: i64| (names.to_owned(), calls, 8 * calls);
        assert_eq!(told(&[change("a", 10, 0), change("b", 0, 10)]), [row("a b", 10)]);
        let split = [change("a", 20, 0), change("b", 0, 15), change("c", 0, 5)];
        assert_eq!(told(&split), [row("a b", 15), row("a c", 5)]);
        let joined = [change("a", 15, 0), change("b", 9, 4), change("c", 2, 22)];
        assert_eq!(told(&joined), [row("a c", 15), row("b c", 5)]);
        let across = [change("a", 10, 3), change("b", 8, 2), change("c", 1, 5), change("d", 0, 9)];
        assert_eq!(told(&across), [row("a c", 4), row("a d", 3), row("b d", 6)]);
    }
}
