//! Forms hold whatever a program is called and however much changed.

use serde_json::json;

use super::{json, junit, markdown, text};
use crate::compare::Amount;
use crate::compare::Range;
use crate::compare::counts::{Change, Effect};
use crate::compare::metric::Metric;
use crate::compare::run::Run;
use crate::compare::verdict::{Comparison, CountsMode, Rules, Verdict, compare};
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
fn what_was_accepted_is_not_the_same() {
    let mut found = comparison(2);
    (found.verdict, found.exit, found.counts.compared) = (Verdict::Ok, 0, 5);
    found.counts.changed.iter_mut().for_each(|change| change.accepted = Some("known".into()));
    assert_eq!(super::headline(&found), "no regression: communication changed in 2 places, as accepted");
    found.counts.changed.clear();
    assert_eq!(super::headline(&found), "no regression: communication is the same");
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

fn tested(finding: TestResult, p: f64) -> Tested {
    Tested {
        finding,
        pairs: 10,
        effect: 0.0,
        interval: (-0.1, 0.1),
        most: 0.015,
        p,
        p_faster: 1.0,
        p_below: 1.0,
        alpha: 0.05,
        noise: 0.1,
    }
}

/// That a difference is below what matters is no lack of one.
#[test]
fn what_is_below_the_least_effect_is_said_to_be() {
    let page = |finding| {
        let sides = [vec![100e6; 10], vec![101e6; 10]];
        let tested = Some(tested(finding, 0.0001));
        let run = Metric { name: "run".into(), primary: true, sides, tested, ..Metric::default() };
        let found = Comparison { metrics: vec![run], min_effect: 0.02, ..Comparison::default() };
        text::page(&found)
    };
    let (below, open) = (page(TestResult::NoEffect), page(TestResult::Open));
    // The bound that says so, and not another interval.
    assert!(below.contains("below 2 %  up to +1.5 %") && !below.contains("+10.5 %"), "{below}");
    assert!(open.contains("-9.5 % to +10.5 %"), "{open}");
    assert!(open.contains("vs base ~") && !open.contains("vs base below"), "{open}");
}

#[test]
fn what_fails_the_gate_fails_in_the_test_report() {
    let more = comparison(1).counts.changed;
    let mut found =
        Comparison { verdict: Verdict::Regression, exit: 3, varying_is_worse: true, ..Comparison::default() };
    (found.counts.varying, found.counts.compared) = (more, 1);
    assert!(junit::report(&found).contains("tests=\"1\" failures=\"1\""));
    assert_eq!(super::headline(&found), "regression: more of the communication that varies from run to run");
    let tested = tested(TestResult::Open, 1.0);
    for (exit, counted) in [(0, "failures=\"0\" skipped=\"1\""), (4, "failures=\"1\" skipped=\"0\"")] {
        let run = Metric { name: "run".into(), primary: true, tested: Some(tested), ..Metric::default() };
        let found = Comparison { verdict: Verdict::Inconclusive, exit, metrics: vec![run], ..Comparison::default() };
        let report = junit::report(&found);
        assert!(report.contains(counted), "{exit}: {report}");
    }
}

/// Where nothing was measured in pairs, somebody strict has no answer: that is the failure.
#[test]
fn what_a_strict_gate_could_not_test_fails_in_the_test_report() {
    let run = Metric { name: "run".into(), primary: true, sides: [vec![1.0], vec![9.0]], ..Metric::default() };
    let mut found = Comparison { metrics: vec![run], ..Comparison::default() };
    for (strict, exit, counted) in
        [(true, 4, "failures=\"1\" skipped=\"0\""), (false, 0, "failures=\"0\" skipped=\"1\"")]
    {
        found.decide(&Rules { strict, ..Rules::default() }, false);
        let report = junit::report(&found);
        assert!(found.exit == exit && report.contains(counted), "{exit}: {report}");
    }
}

/// A time is slower, and more calls are no failure.
#[test]
fn counts_that_are_remarks_have_passed_whatever_else_fails() {
    let mut found = comparison(2);
    for (counts, verdict, failed) in
        [(CountsMode::Fail, Verdict::Regression, "failures=\"1\""), (CountsMode::Warn, Verdict::Ok, "failures=\"0\"")]
    {
        found.decide(&Rules { counts, ..Rules::default() }, false);
        let report = junit::report(&found);
        assert!(found.verdict == verdict && report.contains(failed), "{counts:?}: {report}");
    }
    found.verdict = Verdict::Regression;
    assert!(junit::report(&found).contains("name=\"communication\"/>"));
}

/// Two runs of one side and one of the other are no pair: the table has what all of them say.
#[test]
fn medians_are_those_of_all_runs() {
    let run = |ns: u64| Run { run_ns: ns, ..Run::default() };
    let (base, new) = ([run(100), run(300)], [run(500)]);
    let found = compare(&base.each_ref(), &new.each_ref(), false, &Rules::default());
    let metric = json::object(&found)["metrics"][0].clone();
    assert_eq!(
        (&metric["name"], &metric["base_median"], &metric["new_median"]),
        (&json!("run"), &json!(200.0), &json!(500.0))
    );
    assert_eq!((&metric["pairs"], &metric["base_values"]), (&json!(1), &json!([100, 300])));
    let page = text::page(&found);
    assert!(page.contains("Medians of 2 and 1 runs, not tested") && page.contains("n=2 and 1"), "{page}");
}

#[test]
fn a_time_that_was_not_tested_has_not_passed() {
    let run = Metric { name: "run".into(), primary: true, sides: [vec![1.0], vec![9.0]], ..Metric::default() };
    let report = junit::report(&Comparison { metrics: vec![run], ..Comparison::default() });
    assert!(report.contains("tests=\"2\" failures=\"0\" skipped=\"1\""), "{report}");
    assert!(report.contains("name=\"time run\"><skipped message=\"not tested"), "{report}");
}

/// The mean of calls of several sizes is no size of each.
#[test]
fn calls_of_several_sizes_have_a_mean() {
    let told = |base: (u64, u64), new: (u64, u64)| {
        let range = |(calls, bytes)| Range::of([Amount { calls, bytes }]);
        super::amounts(&Change { base: range(base), new: range(new), ..Change::default() })
    };
    assert_eq!(told((60, 48000), (60, 47840)), "60 calls, 800 B -> 797 B each on average, 48000 -> 47840 bytes");
    assert_eq!(told((60, 47840), (30, 24000)), "60 -> 30 calls, 797 B -> 800 B each on average, 47840 -> 24000 bytes");
    assert_eq!(told((60, 48000), (30, 24000)), "60 -> 30 calls, 800 B each, 48000 -> 24000 bytes");
    assert_eq!(told((60, 48000), (0, 0)), "60 -> 0 calls, 800 B each, 48000 -> 0 bytes");
}
