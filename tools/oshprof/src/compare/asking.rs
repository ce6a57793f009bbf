//! Which counts depend on time: those of calls that ask whether something has happened, or try until it has. Whoever
//! polls asks once more or less from run to run, and few runs agree by chance.

use pellucid_profile::op::{Class, class_of};

use super::{Amount, Range};

/// Runs of a side from which on their agreement is none by chance. Where a loop asks once in one half of all runs and
/// twice in the other, two runs of each side agree, and differ from the other side, once in 8 times, five once in 512.
pub const ENOUGH: usize = 5;
/// Calls of a PE by which two sides may differ by chance: what varies by more does not agree in two runs of each.
const CLOSE: u64 = 4;
/// Or one of so many calls, where what is asked depends on who came first: a table that PEs fill together is probed as
/// often in two runs where they happened to fill it in the same order.
const SHARE: u64 = 20;
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
fn may_ask(op: &str, range: &Range) -> bool {
    let Amount { calls, bytes } = range.max;
    let name = op.strip_suffix("_nbi").unwrap_or(op);
    match class_of(op) {
        Some(Class::Get) => bytes <= calls.saturating_mul(WORD),
        Some(Class::Amo) => name.ends_with("swap"),
        _ => false,
    }
}

/// Whether two counts, of so many runs of each side at least, may differ only by how long something took: there are a
/// few calls of each PE or a few per cent more or less, of as many bytes each. A loop that asks does so once at least:
/// none is no chance.
pub fn is_chance(op: &str, base: &Range, new: &Range, runs: usize, pes: u32) -> bool {
    let (a, b) = (base.max, new.max);
    let close = (CLOSE * u64::from(pes.max(1))).max(a.calls.max(b.calls) / SHARE);
    let is_close = a.calls.abs_diff(b.calls) <= close;
    let are_alike = u128::from(a.bytes) * u128::from(b.calls) == u128::from(b.bytes) * u128::from(a.calls);
    runs < ENOUGH
        && a.calls > 0
        && b.calls > 0
        && is_close
        && are_alike
        && (asks(op) || may_ask(op, base) && may_ask(op, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::place::Place;
    use crate::compare::run::{Run, SiteKey};
    use crate::compare::verdict::{Rules, Verdict, compare};

    fn range(calls: u64, each: u64) -> Range {
        let amount = Amount { calls, bytes: each * calls };
        Range { min: amount, max: amount }
    }

    #[test]
    fn what_depends_on_time_may_differ_by_chance() {
        let of = |op: &str| is_chance(op, &range(5, 8), &range(6, 8), 2, 2);
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
    fn what_is_far_apart_is_no_chance() {
        let of = |base: Range, new: Range, runs| is_chance("shmem_long_g", &base, &new, runs, 2);
        assert!(of(range(5, 8), range(13, 8), 2) && !of(range(5, 8), range(14, 8), 2), "four calls of each PE");
        assert!(!of(range(0, 0), range(1, 8), 2), "a call that was not there");
        assert!(!of(range(5, 8), range(5, 4), 2) && !of(range(5, 4), range(6, 8), 2), "other sizes");
        assert!(!of(range(5, 512), range(6, 512), 2), "no word");
        assert!(of(range(5, 8), range(6, 8), 4) && !of(range(5, 8), range(6, 8), 5), "enough runs");
    }
}
