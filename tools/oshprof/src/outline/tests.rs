//! Forms hold whatever a program is called and however much changed.

use super::{junit, markdown};
use crate::compare::Amount;
use crate::compare::Range;
use crate::compare::counts::{Change, Effect};
use crate::compare::metric::Metric;
use crate::compare::verdict::{Comparison, Verdict};
use crate::stats::sequence::{TestResult, Tested};

/// So many changes at functions with long and evil names.
fn comparison(changes: usize) -> Comparison {
    let evil = "f<a|b>`*_[x](y)@all \u{1b}[31m\u{0}\u{fffe}\"&'<!--".repeat(40);
    let change = |at: usize| {
        let new = Amount { calls: at as u64 + 1, bytes: 8 };
        Change {
            op: "shmem_long_put".into(),
            site: Some(format!("{evil}{at}")),
            shown: format!("{evil}{at}"),
            region: evil.clone(),
            new: Range { min: new, max: new },
            effect: Effect::Worse,
            ..Change::default()
        }
    };
    let mut found = Comparison { verdict: Verdict::Regression, exit: 3, ..Comparison::default() };
    found.counts.changed = (0..changes).map(change).collect();
    found.sides.iter_mut().for_each(|side| side.shape.arguments = evil.repeat(100));
    found.notes = vec![evil.repeat(100); 100];
    found
}

#[test]
fn a_comment_is_never_too_long() {
    for (changes, reasons) in [(0, 0), (1, 0), (3000, 0), (3, 1)] {
        let mut found = comparison(changes);
        if reasons > 0 {
            found.verdict = Verdict::NotComparable;
            found.reasons = vec!["arguments ".repeat(100_000); 3];
        }
        let comment = markdown::comment(&found, &"id".repeat(5000));
        assert!(comment.len() <= markdown::MOST, "{} bytes for {changes} changes", comment.len());
        assert!(comment.starts_with("<!-- pellucid-perf:id") && comment.ends_with("</details>\n"), "{comment}");
        let rows = comment.lines().filter(|line| line.starts_with("| **more:**"));
        // Cells of a table are as many in each row, whatever is in them.
        rows.for_each(|row| assert_eq!(row.replace("\\|", "").matches('|').count(), 4, "{row}"));
        assert!(!comment.contains("@all") && !comment.contains('\u{1b}') && !comment.contains('\u{0}'));
    }
}

#[test]
fn a_test_report_is_xml() {
    let report = junit::report(&comparison(50));
    assert!(report.contains("tests=\"1\" failures=\"1\"") && report.ends_with("</testsuites>\n"), "{report}");
    assert!(report.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{fffe}'));
    // Nothing of a name is taken for markup.
    let tags = report.matches('<').count();
    assert_eq!((tags, report.matches('>').count()), (9, 9), "{report}");
}

#[test]
fn what_fails_the_gate_fails_in_the_test_report() {
    let more = comparison(1).counts.changed;
    let mut found =
        Comparison { verdict: Verdict::Regression, exit: 3, varying_is_worse: true, ..Comparison::default() };
    (found.counts.varying, found.counts.compared) = (more, 1);
    assert!(junit::report(&found).contains("tests=\"1\" failures=\"1\""));
    assert_eq!(super::headline(&found), "regression: more of the communication that varies from run to run");
    let tested = Tested {
        finding: TestResult::Open,
        pairs: 10,
        effect: 0.0,
        interval: (-0.1, 0.1),
        p: 1.0,
        p_faster: 1.0,
        p_below: 1.0,
        alpha: 0.05,
        noise: 0.1,
    };
    for (exit, counted) in [(0, "failures=\"0\" skipped=\"1\""), (4, "failures=\"1\" skipped=\"0\"")] {
        let run = Metric { name: "run".into(), primary: true, tested: Some(tested), ..Metric::default() };
        let found = Comparison { verdict: Verdict::Inconclusive, exit, metrics: vec![run], ..Comparison::default() };
        let report = junit::report(&found);
        assert!(report.contains(counted), "{exit}: {report}");
    }
}

#[test]
fn a_time_that_was_not_tested_has_not_passed() {
    let run = Metric { name: "run".into(), primary: true, values: vec![(1.0, 9.0)], ..Metric::default() };
    let report = junit::report(&Comparison { metrics: vec![run], ..Comparison::default() });
    assert!(report.contains("tests=\"2\" failures=\"0\" skipped=\"1\""), "{report}");
    assert!(report.contains("name=\"time run\"><skipped message=\"not tested"), "{report}");
}
