//! Which counts depend on time: those of calls that ask whether something has happened, or try until it has, and those
//! of work that is dealt out as the program runs. Whoever polls asks once more or less from run to run, and few runs
//! agree by chance.

use pellucid_profile::op::{Class, class_of};

use super::side::Side;
use super::{Amount, Range};

/// Runs of a side from which on their agreement is none by chance. Where a loop asks once in one half of all runs and
/// twice in the other, two runs of each side agree, and differ from the other side, once in 8 times, five once in 512.
pub const ENOUGH: usize = 5;
/// Calls of a PE by which two sides may differ by chance: what varies by more does not agree in two runs of each.
pub const CLOSE: u64 = 4;
/// Or one of so many calls, where what is asked depends on who came first: a table that PEs fill together is probed as
/// often in two runs where they happened to fill it in the same order.
pub const SHARE: u64 = 20;
/// The same where PEs have other counts in one run than in another, though all together agree: whatever buffers, rounds
/// or tries the shares of the work make of it varies with them.
pub const DEALT_SHARE: u64 = 4;
/// Bytes of a word that is asked for.
const WORD: u64 = 8;

/// Whether a routine does nothing but ask whether something has happened.
pub fn asks(op: &str) -> bool {
    let name = op.strip_suffix("_nbi").unwrap_or(op);
    let is_fetch = class_of(op) == Some(Class::Amo) && name.ends_with("_fetch");
    is_fetch || class_of(op) == Some(Class::Test) || ["shmem_test_lock", "shmem_signal_fetch"].contains(&op)
}

/// Whether a routine that has other purposes, too, may ask: reads of a word at a time, and swaps, by which a lock is
/// taken or an update tried again. Sums, counters and bits are changed as often as there is something to change.
pub fn may_ask(op: &str, range: &Range) -> bool {
    let Amount { calls, bytes } = range.max;
    let name = op.strip_suffix("_nbi").unwrap_or(op);
    match class_of(op) {
        Some(Class::Get) => bytes <= calls.saturating_mul(WORD),
        Some(Class::Amo) => name.ends_with("swap"),
        _ => false,
    }
}

/// What two sides that are compared have in common.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Runs of each side, at least.
    pub runs: usize,
    /// PEs.
    pub pes: u32,
}

impl Sample {
    /// Of these sides.
    pub fn of(base: &Side, new: &Side) -> Sample {
        Sample { runs: base.runs.min(new.runs), pes: base.shape.npes.max(new.shape.npes) }
    }

    /// Whether runs are so few that they agree by chance.
    pub fn are_few(&self) -> bool {
        self.runs < ENOUGH
    }

    /// Whether two counts may differ only by how long something took: there are a few calls of each PE or a few per
    /// cent more or less, of as many bytes each. A loop that asks does so once at least: none is no chance. What is
    /// dealt out has other sizes as well.
    pub fn is_chance(&self, op: &str, base: &Range, new: &Range, is_dealt: bool) -> bool {
        let (a, b) = (base.max, new.max);
        if !self.are_few() || a.calls == 0 || b.calls == 0 {
            return false;
        }
        let are_alike = u128::from(a.bytes) * u128::from(b.calls) == u128::from(b.bytes) * u128::from(a.calls);
        let asks = asks(op) || may_ask(op, base) && may_ask(op, new);
        is_dealt && self.are_close(a, b, DEALT_SHARE) || asks && are_alike && self.are_close(a, b, SHARE)
    }

    /// Whether they are a few calls of each PE, or one of `share` calls, apart, and as few bytes.
    fn are_close(&self, a: Amount, b: Amount, share: u64) -> bool {
        let few = CLOSE * u64::from(self.pes.max(1));
        let each = (a.bytes / a.calls.max(1)).max(b.bytes / b.calls.max(1));
        let close = |a: u64, b: u64, few: u64| a.abs_diff(b) <= few.max(a.max(b) / share);
        close(a.calls, b.calls, few) && close(a.bytes, b.bytes, few.saturating_mul(each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::place::Place;
    use crate::compare::run::{Cell, Run, SiteKey};
    use crate::compare::verdict::{Rules, Verdict, compare};

    fn range(calls: u64, each: u64) -> Range {
        let amount = Amount { calls, bytes: each * calls };
        Range { min: amount, max: amount }
    }

    #[test]
    fn what_depends_on_time_may_differ_by_chance() {
        let few = Sample { runs: 2, pes: 2 };
        let of = |op: &str| few.is_chance(op, &range(5, 8), &range(6, 8), false);
        for op in
            ["shmem_long_g", "shmem_ctx_int_get", "shmem_getmem_nbi", "shmem_long_atomic_fetch", "shmem_long_fetch"]
        {
            assert!(of(op), "{op}");
        }
        for op in ["shmem_int_test", "shmem_test_lock", "shmem_signal_fetch", "shmem_long_atomic_fetch_nbi"] {
            assert!(of(op), "{op}");
        }
        for op in ["shmem_long_atomic_compare_swap", "shmem_long_cswap", "shmem_ctx_long_atomic_swap_nbi"] {
            assert!(of(op), "{op}");
        }
        for op in ["shmem_long_p", "shmem_long_put", "shmem_quiet", "shmem_barrier_all", "shmem_long_sum_reduce"] {
            assert!(!of(op), "{op}");
        }
        for op in ["shmem_long_atomic_fetch_add", "shmem_long_atomic_fetch_inc", "shmem_set_lock", "shmem_my_pe", ""] {
            assert!(!of(op), "{op}");
        }
    }

    /// Two runs of each side that agree, of a program that polls: no regression, and said to be uncertain.
    #[test]
    fn few_runs_that_agree_by_chance_are_no_regression() {
        let verdict = |op: &str, calls: [u64; 2], runs: usize| {
            let sides = calls.map(|calls| {
                let key = SiteKey { op: op.to_owned(), place: Place::default(), region: String::new() };
                let run = Run { sites: [(key, range(calls, 8).max)].into(), ..Run::default() };
                vec![run; runs]
            });
            let [base, new] = sides.each_ref().map(|side| side.iter().collect::<Vec<_>>());
            let found = compare(&base, &new, false, &Rules::default());
            (found.verdict, found.counts.changed.len(), found.counts.varying.len())
        };
        assert_eq!(verdict("shmem_long_g", [5, 6], 2), (Verdict::Ok, 0, 1));
        assert_eq!(verdict("shmem_long_g", [5, 5], 2), (Verdict::Ok, 0, 0));
        assert_eq!(verdict("shmem_long_g", [5, 50], 2), (Verdict::Regression, 1, 0));
        assert_eq!(verdict("shmem_long_g", [5, 6], ENOUGH), (Verdict::Regression, 1, 0));
        assert_eq!(verdict("shmem_long_p", [5, 6], 2), (Verdict::Regression, 1, 0));
        // Probes of a table that three PEs fill together.
        assert_eq!(verdict("shmem_ulong_g", [9215, 9383], 2), (Verdict::Ok, 0, 1));
        assert_eq!(verdict("shmem_ulong_atomic_fetch", [9383, 9215], 2), (Verdict::Ok, 0, 1));
        assert_eq!(verdict("shmem_ulong_g", [9215, 9383], ENOUGH), (Verdict::Regression, 1, 0));
        assert_eq!(verdict("shmem_ulong_g", [9215, 9800], 2), (Verdict::Regression, 1, 0));
    }

    #[test]
    fn one_run_of_a_side_tells_nothing_of_what_may_ask() {
        let verdict = |op: &str, calls: [u64; 2]| {
            let key = SiteKey { op: op.to_owned(), ..SiteKey::default() };
            let run = |calls| Run { sites: [(key.clone(), range(calls, 8).max)].into(), ..Run::default() };
            let [base, new] = calls.map(run);
            let found = compare(&[&base], &[&new], false, &Rules::default());
            (found.verdict, found.counts.varying.len())
        };
        assert_eq!(verdict("shmem_long_g", [413, 13618]), (Verdict::Ok, 1));
        assert_eq!(verdict("shmem_long_atomic_fetch", [413, 13618]), (Verdict::Ok, 1));
        assert_eq!(verdict("shmem_long_p", [413, 414]), (Verdict::Regression, 0));
    }

    /// A run whose PEs have so many puts each, of so many bytes.
    fn dealt(by_pe: [u64; 2], each: u64) -> Run {
        let key = SiteKey { op: "shmem_long_put".to_owned(), ..SiteKey::default() };
        let amount = |calls| Amount { calls, bytes: each * calls };
        let cell = |pe: u32| ((0, pe), Cell { amount: amount(by_pe[pe as usize]), ns: 0 });
        Run {
            sites: [(key.clone(), amount(by_pe.iter().sum()))].into(),
            keys: vec![key],
            cells: [cell(0), cell(1)].into(),
            ..Run::default()
        }
    }

    /// Of a put and the counter that says where to there are as many; of one of them it shows by chance only.
    #[test]
    fn calls_of_one_function_are_dealt_out_together() {
        let run = |by_pe: [u64; 2]| {
            let mut run = dealt(by_pe, 400);
            let all = 2 * by_pe.iter().sum::<u64>();
            for op in ["shmem_long_atomic_fetch_add", "shmem_barrier_all"] {
                let key = SiteKey { op: op.to_owned(), ..SiteKey::default() };
                run.sites.insert(key, Amount { calls: all, bytes: 0 });
            }
            run
        };
        let (base, new) = ([run([3, 1]), run([2, 2])], [run([4, 2]), run([3, 3])]);
        let found = compare(&base.each_ref(), &new.each_ref(), false, &Rules::default());
        let ops = |rows: &[crate::compare::counts::Change]| rows.iter().map(|row| row.op.clone()).collect::<Vec<_>>();
        assert_eq!(ops(&found.counts.changed), ["shmem_barrier_all"]);
        assert_eq!(ops(&found.counts.varying), ["shmem_long_put", "shmem_long_atomic_fetch_add"]);
    }

    #[test]
    fn work_that_is_dealt_out_agrees_in_all_by_chance() {
        let of = |base: [[u64; 2]; 2], new: [[u64; 2]; 2], each: [u64; 2], runs: usize| {
            let [base, new] = [(base, each[0]), (new, each[1])]
                .map(|(side, each)| side.map(|by_pe| dealt(by_pe, each)).into_iter().cycle().take(runs));
            let (base, new): (Vec<Run>, Vec<Run>) = (base.collect(), new.collect());
            let [base, new] = [&base, &new].map(|side| side.iter().collect::<Vec<_>>());
            compare(&base, &new, false, &Rules::default())
        };
        let buffers = of([[3, 1], [2, 2]], [[4, 2], [4, 2]], [400; 2], 2);
        assert_eq!((buffers.verdict, buffers.counts.varying.len()), (Verdict::Ok, 1));
        let said = "calls of shmem_long_put by single PEs vary from run to run, and those of all PEs together may by \
                    chance: give five runs of each side";
        assert_eq!(buffers.notes, [said]);
        let verdict = |base, new, each, runs| of(base, new, each, runs).verdict;
        assert_eq!(verdict([[3, 1], [2, 2]], [[4, 2], [4, 2]], [400; 2], ENOUGH), Verdict::Regression);
        assert_eq!(verdict([[3, 1], [3, 1]], [[4, 2], [4, 2]], [400; 2], 2), Verdict::Regression, "dealt to nobody");
        let (few, many) = ([[90, 110], [105, 95]], [[190, 210], [205, 195]]);
        assert_eq!(verdict(few, many, [400; 2], 2), Verdict::Regression, "twice the puts");
        assert_eq!(verdict(few, few, [400, 800], 2), Verdict::Regression, "twice the bytes");
        assert_eq!(verdict(few, [[95, 107], [100, 102]], [400; 2], 2), Verdict::Ok);
    }

    #[test]
    fn how_many_runs_tell_is_said() {
        let notes = |calls: [u64; 2]| {
            let key = SiteKey { op: "shmem_long_g".to_owned(), ..SiteKey::default() };
            let run = |calls| Run { sites: [(key.clone(), range(calls, 8).max)].into(), ..Run::default() };
            let [base, new] = calls.map(run);
            compare(&[&base, &base], &[&new, &new], false, &Rules::default()).notes
        };
        let said = "shmem_long_g may be called more or less often by chance: give five runs of each side";
        assert_eq!(notes([100, 104]), [said]);
        assert_eq!((notes([100, 100]), notes([100, 200])), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_is_distinct_apart_is_no_chance() {
        let of = |base: Range, new: Range, runs| Sample { runs, pes: 2 }.is_chance("shmem_long_g", &base, &new, false);
        assert!(of(range(5, 8), range(13, 8), 2) && !of(range(5, 8), range(14, 8), 2), "four calls of each PE");
        assert!(!of(range(0, 0), range(1, 8), 2), "a call that was not there");
        assert!(!of(range(5, 8), range(5, 4), 2) && !of(range(5, 4), range(6, 8), 2), "other sizes");
        assert!(!of(range(5, 512), range(6, 512), 2), "no word");
        assert!(of(range(5, 8), range(6, 8), 4) && !of(range(5, 8), range(6, 8), 5), "enough runs");
    }
}
