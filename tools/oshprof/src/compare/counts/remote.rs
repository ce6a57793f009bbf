//! What goes to other hosts. As many calls of a routine as before may go to other PEs than before, and what crosses the
//! network takes longer than what stays in a host.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_profile::size::Distance;

use super::{Change, effects};
use crate::compare::Range;
use crate::compare::asking::Sample;
use crate::compare::side::Side;

/// Calls and bytes of a routine: to other hosts, and in all.
type Traffic = (Range, Range);

/// Whether a row of calls over a distance tells what goes to other hosts, and that by no chance. Jobs of other numbers
/// of PEs have other neighbours on other hosts by what they are.
pub fn is_judged(base: &Side, new: &Side, distance: u8, row: &Change) -> bool {
    let is_remote = usize::from(distance) == Distance::Remote as usize && base.shape.npes == new.shape.npes;
    is_remote && !Sample::of(base, new).is_chance(&row.op, &row.base, &row.new, false)
}

/// Rows for routines of which call sites tell a change that is none of what goes to other hosts: `others` has rows for
/// those of which they tell none.
pub fn rows(base: &Side, new: &Side, different: &[Change], others: &[Change]) -> Vec<Change> {
    if base.shape.npes != new.shape.npes {
        return Vec::new();
    }
    let (old, now, sample) = (traffic(base), traffic(new), Sample::of(base, new));
    let ops: BTreeSet<&str> = different.iter().map(|change| change.op.as_str()).collect();
    // Of what varies nobody knows where it went.
    let is_known = |op: &str, row: &Change| {
        let is_stable = base.is_stable(op, &row.base) && new.is_stable(op, &row.new);
        let is_dealt = sample.are_few() && (base.is_dealt(op) || new.is_dealt(op));
        let is_chance = sample.is_chance(op, &row.base, &row.new, false);
        row.base != row.new
            && !is_dealt
            && (is_stable && !is_chance || sample.has_changed(op, &row.base, &row.new, false))
    };
    let (mut rows, mut kinds) = (Vec::new(), BTreeSet::new());
    kinds.extend(others.iter().filter(|change| change.is_remote).filter_map(|change| effects::kind(&change.op)));
    for op in ops {
        let of = |side: &BTreeMap<&str, Traffic>| side.get(op).copied().unwrap_or_default();
        let (before, after) = (of(&old), of(&now));
        let row = |base: Range, new: Range| Change {
            op: op.to_owned(),
            shown: "to remote".to_owned(),
            detail: Some("to remote".to_owned()),
            is_remote: true,
            base,
            new,
            ..Change::default()
        };
        let (remote, all) = (row(before.0, after.0), row(before.1, after.1));
        if is_known(op, &remote) {
            kinds.extend(effects::kind(op).filter(|_| !is_explained(remote.delta(), all.delta())));
            rows.push(remote);
        }
    }
    // Where one routine of a kind needs to be told of, so do those that may make up for it.
    rows.retain(|row| effects::kind(&row.op).is_some_and(|kind| kinds.contains(&kind)));
    rows
}

/// Whether no more was added than in all, and no more taken out.
fn is_explained(remote: (i64, i64), all: (i64, i64)) -> bool {
    let is_part = |part: i64, whole: i64| (whole.min(0)..=whole.max(0)).contains(&part);
    is_part(remote.0, all.0) && is_part(remote.1, all.1)
}

fn traffic(side: &Side) -> BTreeMap<&str, Traffic> {
    let mut traffic: BTreeMap<&str, Traffic> = BTreeMap::new();
    let add = |sum: &mut Range, range: &Range| {
        sum.min.add(range.min);
        sum.max.add(range.max);
    };
    for ((op, distance, _), range) in &side.sizes {
        let (remote, all) = traffic.entry(op).or_default();
        add(all, range);
        if usize::from(*distance) == Distance::Remote as usize {
            add(remote, range);
        }
    }
    traffic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Amount;
    use crate::compare::accept::{Accept, apply};
    use crate::compare::counts::Effect;
    use crate::compare::place::Place;
    use crate::compare::run::{Run, SiteKey};
    use crate::compare::verdict::{Comparison, Rules, Verdict, compare};

    /// A run on two hosts: of each routine so many calls within the host and to the other one, of 64 bytes each.
    fn run(calls: &[(&str, u64, u64)]) -> Run {
        let mut run = Run::default();
        run.shape.npes = 4;
        for &(op, host, remote) in calls {
            let amount = |calls: u64| Amount { calls, bytes: 64 * calls };
            let place = Place { function: "f".to_owned(), ..Place::default() };
            let key = SiteKey { op: op.to_owned(), place, region: String::new() };
            run.sites.insert(key, amount(host + remote));
            for (distance, calls) in [(Distance::Host, host), (Distance::Remote, remote)] {
                if calls > 0 {
                    run.sizes.insert((op.to_owned(), distance as u8, 7), amount(calls));
                }
            }
        }
        run
    }

    fn compared(base: &[(&str, u64, u64)], new: &[(&str, u64, u64)]) -> Comparison {
        let (base, new) = (run(base), run(new));
        compare(&[&base, &base.clone()], &[&new, &new.clone()], false, &Rules::default())
    }

    fn told(found: &Comparison) -> (Verdict, Vec<(&str, Effect)>) {
        let rows = found.counts.changed.iter();
        (found.verdict, rows.map(|row| (row.detail.as_deref().unwrap_or_default(), row.effect)).collect())
    }

    const PUT: &str = "shmem_putmem";

    #[test]
    fn as_many_calls_that_go_to_another_host_are_more() {
        let found = compared(&[(PUT, 800, 0)], &[(PUT, 0, 800)]);
        let (host, remote) = ("64 to 127 bytes, to host", "64 to 127 bytes, to remote");
        let mut rows = told(&found);
        rows.1.sort_by_key(|row| row.0);
        assert_eq!(rows, (Verdict::Regression, vec![(host, Effect::Same), (remote, Effect::Worse)]));
        assert_eq!(compared(&[(PUT, 0, 800)], &[(PUT, 800, 0)]).verdict, Verdict::Improvement);
        assert_eq!(compared(&[(PUT, 10, 20)], &[(PUT, 10, 20)]).verdict, Verdict::Ok);
    }

    #[test]
    fn another_routine_of_the_kind_makes_up_for_it() {
        let other = "shmem_long_put";
        let found = compared(&[(PUT, 0, 50), (other, 50, 0)], &[(PUT, 50, 0), (other, 0, 50)]);
        assert_eq!(found.verdict, Verdict::Ok);
        let found = compared(&[(PUT, 0, 50), ("shmem_getmem", 50, 0)], &[(PUT, 50, 0), ("shmem_getmem", 0, 50)]);
        assert_eq!(found.verdict, Verdict::Regression);
        // One of them has fewer calls in all, too.
        let found = compared(&[(PUT, 0, 60), (other, 50, 0)], &[(PUT, 50, 0), (other, 0, 50)]);
        assert_eq!(found.verdict, Verdict::Improvement, "{:?}", told(&found));
    }

    #[test]
    fn what_the_calls_tell_is_told_once() {
        let more = compared(&[(PUT, 10, 20)], &[(PUT, 10, 30)]);
        assert_eq!(told(&more), (Verdict::Regression, vec![("", Effect::Worse)]));
        // Fewer calls, and more of them to the other host.
        let found = compared(&[(PUT, 800, 0)], &[(PUT, 0, 790)]);
        assert_eq!(told(&found), (Verdict::Regression, vec![("to remote", Effect::Worse), ("", Effect::Better)]));
        let mut counts = found.counts;
        let accept =
            Accept { key: "shmem_putmem@*".to_owned(), reason: "new".to_owned(), until: "2999-01-01".to_owned() };
        apply(&[accept], &mut counts, "2026-01-01");
        assert!(counts.changed.iter().all(|row| row.accepted.is_some()), "{:?}", counts.changed);
    }
}
