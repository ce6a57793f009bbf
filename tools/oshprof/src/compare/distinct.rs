//! Whether counts that vary from run to run changed all the same: ranges that lie so far apart that it is not chance.

use super::asking::{CLOSE, DEALT_SHARE, ENOUGH, SHARE, Sample, asks, may_ask};
use super::{Amount, Range};

/// How many times further apart than what was seen of either side lies apart, of what asks: a machine that is busy with
/// something else has all runs of a side ask more often.
const ASKS_TIMES: u64 = 16;

impl Sample {
    /// Whether a count is further from all that was seen than what was seen lies apart, and than chance may put it.
    pub fn is_distinct(&self, seen: &Range, now: &Range) -> bool {
        self.is_further(seen, now, 1, SHARE)
    }

    /// Whether two sides that do not agree in themselves, or may not, have other counts all the same.
    pub fn has_changed(&self, op: &str, base: &Range, new: &Range, is_dealt: bool) -> bool {
        let none = Range::default();
        let is_one_none = (*base == none) != (*new == none);
        let some = if *base == none { new } else { base };
        if is_one_none && some.min.calls > 0 && !self.are_few() {
            return true;
        }
        let asks = (asks(op) || may_ask(op, base) && may_ask(op, new)) && !is_one_none;
        let Some(times) = self.times(asks) else { return false };
        let share = if is_dealt && self.are_few() { DEALT_SHARE } else { SHARE };
        self.is_further(base, new, times, share)
    }

    /// How many times further apart than what was seen lies apart they have to be, so that sides of one distribution
    /// rarely are: uniform ones are 16 times as far apart in one of 460 comparisons with two runs of each side, 4 times
    /// as far in one of 1,700 with three, and as far in one of 670 with four.
    fn times(&self, asks: bool) -> Option<u64> {
        match self.runs {
            0 | 1 => None,
            runs if asks => (runs >= ENOUGH).then_some(ASKS_TIMES),
            2 => Some(16),
            3 => Some(4),
            _ => Some(1),
        }
    }

    fn is_further(&self, seen: &Range, now: &Range, times: u64, share: u64) -> bool {
        let few = CLOSE * u64::from(self.pes.max(1));
        let most = |range: &Range| range.max.bytes / range.max.calls.max(1);
        let each = most(seen).max(most(now));
        let far = |of: fn(&Amount) -> u64, few: u64| {
            let [seen, now] = [seen, now].map(|range| (of(&range.min), of(&range.max)));
            let apart = now.0.saturating_sub(seen.1).max(seen.0.saturating_sub(now.1));
            let widest = (seen.1 - seen.0).max(now.1 - now.0);
            apart > few.max(widest.saturating_mul(times)).max(seen.1.max(now.1) / share)
        };
        far(|amount| amount.calls, few) || far(|amount| amount.bytes, few.saturating_mul(each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::place::Place;
    use crate::compare::run::{Run, SiteKey};
    use crate::compare::verdict::{Comparison, Rules, Verdict, compare};
    use crate::outline::headline;

    /// Runs of a routine on two PEs, each with so many calls at each of these functions.
    fn side(op: &str, functions: &[&str], runs: &[&[u64]]) -> Vec<Run> {
        let key = |function: &&str| SiteKey {
            op: op.to_owned(),
            place: Place { function: (*function).to_owned(), ..Place::default() },
            region: String::new(),
        };
        let amount = |calls: &u64| Amount { calls: *calls, bytes: 8 * calls };
        let run = |calls: &&[u64]| {
            let sites = functions.iter().map(key).zip(calls.iter().map(amount));
            let mut run = Run { sites: sites.filter(|(_, amount)| amount.calls > 0).collect(), ..Run::default() };
            run.shape.npes = 2;
            run
        };
        runs.iter().map(run).collect()
    }

    fn compared(base: &[Run], new: &[Run]) -> Comparison {
        compare(&base.iter().collect::<Vec<_>>(), &new.iter().collect::<Vec<_>>(), false, &Rules::default())
    }

    /// Of one call site.
    fn of(op: &str, base: &[u64], new: &[u64]) -> Comparison {
        let [base, new] = [base, new].map(|side| side.iter().map(|calls| vec![*calls]).collect::<Vec<_>>());
        let [base, new] =
            [&base, &new].map(|runs| side(op, &["f"], &runs.iter().map(|run| &run[..]).collect::<Vec<_>>()));
        compared(&base, &new)
    }

    fn told(found: &Comparison) -> (Verdict, usize, usize) {
        (found.verdict, found.counts.changed.len(), found.counts.varying.len())
    }

    /// What is said of the communication.
    fn said(found: &Comparison) -> String {
        headline(found).split("; ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_varies_far_from_before_changed() {
        let put = |base: &[u64], new: &[u64]| told(&of("shmem_long_put", base, new));
        let (few, many) = ([200, 201, 204, 202, 203], [4200, 4202, 4203, 4201, 4200]);
        assert_eq!(put(&few, &many), (Verdict::Regression, 1, 0));
        assert_eq!(put(&many, &few), (Verdict::Improvement, 1, 0));
        assert_eq!(put(&[200; 5], &many), (Verdict::Regression, 1, 0), "the same in all runs before");
        assert_eq!(put(&[0; 5], &many), (Verdict::Regression, 1, 0), "never called before");
        assert_eq!(put(&[0; 5], &[1, 2, 1, 3, 1]), (Verdict::Regression, 1, 0), "never called before");
        assert_eq!(put(&few, &[4200, 4202]), (Verdict::Regression, 1, 0), "two runs of a side");
        assert_eq!(put(&few, &[210, 211, 213, 212, 211]), (Verdict::Ok, 0, 1), "four calls a PE");
        assert_eq!(put(&few, &[220, 221, 223, 222, 221]), (Verdict::Regression, 1, 0));
        let widely = [1000, 1100, 1800, 1400, 1500];
        assert_eq!(put(&widely, &[2000, 2100, 2600, 2200, 2100]), (Verdict::Ok, 0, 1), "nearer than runs of a side");
    }

    #[test]
    fn few_runs_have_to_be_further_apart() {
        let put = |base: &[u64], new: &[u64]| told(&of("shmem_long_put", base, new));
        assert_eq!(put(&[100, 120], &[400, 410]), (Verdict::Ok, 0, 1));
        assert_eq!(put(&[100, 120], &[500, 510]), (Verdict::Regression, 1, 0));
        assert_eq!(put(&[100, 120, 110], &[180, 190, 185]), (Verdict::Ok, 0, 1));
        assert_eq!(put(&[100, 120, 110], &[210, 220, 215]), (Verdict::Regression, 1, 0));
        assert_eq!(put(&[200], &[4200, 4202]), (Verdict::Ok, 0, 1), "of one run nobody knows");
    }

    /// A machine that has more to do has a program ask more often in all of its runs.
    #[test]
    fn what_asks_more_often_is_no_change() {
        let get = |base: &[u64], new: &[u64]| told(&of("shmem_long_g", base, new));
        let (quiet, busy) = ([100, 300, 150, 160, 220], [5000, 9000, 6000, 7000, 5500]);
        assert_eq!(get(&quiet, &busy), (Verdict::Ok, 0, 1));
        assert_eq!(get(&[413, 430], &[13618, 13700]), (Verdict::Ok, 0, 1));
        assert_eq!(get(&[200, 201, 204, 202, 203], &[4200, 4202, 4203, 4201, 4200]), (Verdict::Regression, 1, 0));
        assert_eq!(get(&[0; 5], &busy), (Verdict::Regression, 1, 0), "never called before");
    }

    #[test]
    fn what_varies_and_moves_is_no_more_in_all() {
        let run = |runs: &[&[u64]]| side("shmem_long_put", &["f", "h"], runs);
        let base = run(&[&[60, 40], &[62, 38], &[61, 39], &[60, 40], &[61, 39]]);
        let dealt = compared(&base, &run(&[&[20, 80], &[22, 78], &[21, 79], &[20, 80], &[22, 78]]));
        assert_eq!(told(&dealt), (Verdict::Ok, 2, 0));
        assert_eq!(said(&dealt), "no regression: communication changed in 2 places, no more of it in all");
        let (before, after) = (run(&[&[200, 0], &[202, 0], &[201, 0]]), run(&[&[0, 201], &[0, 200], &[0, 203]]));
        let renamed = compared(&before, &after);
        assert_eq!((told(&renamed), renamed.counts.moved.len()), ((Verdict::Ok, 0, 0), 1));
    }

    #[test]
    fn calls_in_all_that_lie_far_apart_changed() {
        let run = |runs: &[&[u64]]| side("shmem_long_put", &["f", "(g)"], runs);
        let base = run(&[&[200, 0], &[0, 202], &[201, 0], &[0, 203], &[200, 0]]);
        let found = compared(&base, &run(&[&[900, 0], &[0, 903], &[0, 905], &[901, 0], &[0, 902]]));
        let [row] = &found.counts.changed[..] else { panic!("{:?}", found.counts) };
        assert_eq!((found.verdict, row.key().as_str()), (Verdict::Regression, "shmem_long_put@*"));
    }

    #[test]
    fn what_differs_where_it_varies_is_not_called_the_same() {
        let found = of("shmem_long_put", &[100, 120], &[200, 210]);
        assert_eq!(said(&found), "no regression: communication differs only where it varies from run to run");
        assert_eq!(found.notes, ["calls of shmem_long_put vary from run to run: give five runs of each side"]);
        let found = of("shmem_long_g", &[5, 5], &[6, 6]);
        assert_eq!(said(&found), "no regression: communication differs only where it may vary from run to run");
        let found = of("shmem_long_put", &[100, 120], &[110, 130]);
        assert_eq!(said(&found), "no regression: communication is the same");
    }
}
