//! Routines of which there are more calls than before, or fewer, though no call site says so: what varies there hides
//! it. So it is where work is dealt out among sites, and where of some runs the lines are known and of others they are
//! not: each of their sites has calls in some of the runs only.

use std::collections::BTreeSet;

use super::{Change, both};
use crate::compare::asking::Sample;
use crate::compare::place::ALL_PLACES;
use crate::compare::side::Side;

/// Takes out the sites of routines whose calls in all changed by something else than these sites tell, and gives a row
/// for each such routine; what varies joins the varying ones, where nothing there tells of it.
pub fn take(base: &Side, new: &Side, different: &mut Vec<Change>, varying: &mut Vec<Change>) -> Vec<Change> {
    let sample = Sample::of(base, new);
    let (mut rows, mut loose) = (Vec::new(), Vec::new());
    for (op, old, now) in both(&base.totals, &new.totals) {
        if !base.knows_total(&op) || !new.knows_total(&op) {
            continue;
        }
        let is_dealt = base.is_dealt(&op) || new.is_dealt(&op);
        let row = Change { op, shown: ALL_PLACES.to_owned(), is_dealt, base: old, new: now, ..Change::default() };
        let told = || different.iter().chain(varying.iter()).filter(|change| change.op == row.op);
        let is_stable = base.is_stable(&row.op, &old) && new.is_stable(&row.op, &now);
        if !is_stable || sample.is_chance(&row.op, &old, &now, is_dealt) {
            let has_changed = sample.has_changed(&row.op, &old, &now, is_dealt);
            let is_more = |change: &Change| change.delta() > (0, 0);
            let is_told = different.iter().any(|change| change.op == row.op && is_more(change) == is_more(&row));
            if has_changed && !is_told {
                rows.push(row);
            } else if told().next().is_none() && !old.overlaps(&now) {
                loose.push(row);
            }
            continue;
        }
        let exact = told().filter(|change| change.is_stable());
        let sum = exact.map(Change::delta).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if sum != row.delta() {
            rows.push(row);
        }
    }
    let taken: BTreeSet<&str> = rows.iter().map(|row| row.op.as_str()).collect();
    different.retain(|change| !taken.contains(change.op.as_str()));
    varying.retain(|change| !taken.contains(change.op.as_str()));
    varying.extend(loose);
    rows
}

#[cfg(test)]
mod tests {
    use crate::compare::Amount;
    use crate::compare::place::Place;
    use crate::compare::run::{Run, SiteKey};
    use crate::compare::verdict::{Comparison, Rules, Verdict, compare};

    fn run(op: &str, sites: &[(&str, u64)]) -> Run {
        let amount = |calls| Amount { calls, bytes: 8 * calls };
        let key = |function: &str| SiteKey {
            op: op.to_owned(),
            place: Place { function: function.to_owned(), ..Place::default() },
            region: String::new(),
        };
        Run { sites: sites.iter().map(|(function, calls)| (key(function), amount(*calls))).collect(), ..Run::default() }
    }

    fn compared(op: &str, base: [&[(&str, u64)]; 2], new: [&[(&str, u64)]; 2]) -> Comparison {
        let sides = [base, new].map(|side| side.map(|sites| run(op, sites)));
        let [base, new] = sides.each_ref().map(|side| side.iter().collect::<Vec<_>>());
        compare(&base, &new, false, &Rules::default())
    }

    #[test]
    fn more_calls_are_more_wherever_they_are_made() {
        let put = |base, new| compared("shmem_long_put", base, new);
        // Of one run the lines are not known.
        let more = put([&[("f", 100)], &[("f", 100)]], [&[("f", 102)], &[("(g)", 102)]]);
        let [row] = &more.counts.changed[..] else { panic!("{:?}", more.counts) };
        assert_eq!((more.verdict, row.base.max.calls, row.new.max.calls), (Verdict::Regression, 100, 102));
        assert_eq!((row.key().as_str(), more.counts.varying.len()), ("shmem_long_put@*", 0));
        let of_base = put([&[("f", 100)], &[("(g)", 100)]], [&[("f", 102)], &[("f", 102)]]);
        assert_eq!((of_base.verdict, of_base.counts.changed.len()), (Verdict::Regression, 1));
        assert_eq!(put([&[("f", 100)], &[("(g)", 100)]], [&[("f", 90)], &[("f", 90)]]).verdict, Verdict::Improvement);
        // Work that is dealt out.
        let dealt = put([&[("f", 60), ("h", 40)], &[("f", 50), ("h", 50)]], [&[("f", 55), ("h", 50)]; 2]);
        assert_eq!(dealt.verdict, Verdict::Regression);
        let same = put([&[("f", 60), ("h", 40)], &[("f", 50), ("h", 50)]], [&[("f", 100)], &[("(g)", 100)]]);
        assert_eq!((same.verdict, same.counts.changed.len()), (Verdict::Ok, 0), "{:?}", same.counts);
    }

    #[test]
    fn what_sites_tell_is_told_by_them() {
        let put = |base, new| compared("shmem_long_put", base, new);
        let found = put([&[("f", 10), ("h", 5)]; 2], [&[("f", 20), ("h", 5)]; 2]);
        let [row] = &found.counts.changed[..] else { panic!("{:?}", found.counts) };
        assert_eq!(row.site.as_deref(), Some("f"));
        assert_eq!(put([&[("f", 10)]; 2], [&[("h", 10)]; 2]).counts.moved.len(), 1);
        // Whoever asks may ask more often.
        let asked = compared("shmem_long_g", [&[("f", 10)], &[("h", 10)]], [&[("f", 11)], &[("h", 11)]]);
        assert_eq!(asked.verdict, Verdict::Ok, "{:?}", asked.counts);
    }

    #[test]
    fn what_varies_in_all_is_told() {
        let found = compared("shmem_long_put", [&[("f", 9)], &[("h", 10)]], [&[("f", 12)], &[("h", 13)]]);
        let [row] = &found.counts.varying[..] else { panic!("{:?}", found.counts) };
        assert_eq!((row.base.min.calls, row.new.max.calls, found.verdict), (9, 13, Verdict::Ok));
    }
}
