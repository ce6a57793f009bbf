//! A test report: a case a metric, and one for communication.

use std::fmt::Write as _;

use super::{amounts, place};
use crate::compare::counts::Effect;
use crate::compare::verdict::{Comparison, Verdict};
use crate::stats::sequence::TestResult;

/// How a case ended.
enum CaseOutcome {
    Passed,
    /// Nobody can say.
    Skipped(&'static str),
    Failed(String),
}

/// The report.
pub fn report(found: &Comparison) -> String {
    let mut cases: Vec<(String, CaseOutcome)> = Vec::new();
    let varying = found.more_that_varies().filter(|_| found.varying_is_worse);
    let worse: Vec<String> = found
        .changes(Effect::Worse)
        .chain(varying)
        .map(|change| format!("{} at {}: {}", change.op, place(change), amounts(change)))
        .collect();
    let fails = found.verdict == Verdict::Regression && !found.counts_are_remarks && !worse.is_empty();
    let ended = match fails {
        true => CaseOutcome::Failed(worse.join("\n")),
        false if found.verdict == Verdict::NotComparable => CaseOutcome::Skipped("not compared"),
        false => CaseOutcome::Passed,
    };
    cases.push(("communication".to_owned(), ended));
    // What is not known fails where that is what the comparison comes to, and somebody is strict.
    let is_strict = found.verdict == Verdict::Inconclusive && found.exit != 0;
    for metric in found.metrics.iter().filter(|metric| metric.primary) {
        let ended = match metric.tested.map(|tested| tested.finding) {
            Some(TestResult::Slower) => CaseOutcome::Failed(super::headline(found)),
            Some(TestResult::Faster | TestResult::NoEffect) => CaseOutcome::Passed,
            Some(TestResult::Open) | None if is_strict => CaseOutcome::Failed(super::headline(found)),
            Some(TestResult::Open) => CaseOutcome::Skipped("inconclusive: that takes more pairs of runs"),
            None => CaseOutcome::Skipped("not tested: that takes more pairs of runs"),
        };
        cases.push((format!("time {}", metric.name), ended));
    }
    if found.verdict == Verdict::NotComparable {
        cases.push(("comparable".to_owned(), CaseOutcome::Failed(found.reasons.join("\n"))));
    }
    let failures = cases.iter().filter(|(_, ended)| matches!(ended, CaseOutcome::Failed(_))).count();
    let skipped = cases.iter().filter(|(_, ended)| matches!(ended, CaseOutcome::Skipped(_))).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
         <testsuite name=\"pellucid-perf\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">\n",
        cases.len()
    );
    for (name, ended) in cases {
        let case = format!("<testcase classname=\"pellucid-perf\" name=\"{}\"", xml(&name));
        let _ = match ended {
            CaseOutcome::Passed => writeln!(out, "{case}/>"),
            CaseOutcome::Skipped(why) => writeln!(out, "{case}><skipped message=\"{why}\"/></testcase>"),
            CaseOutcome::Failed(text) => writeln!(
                out,
                "{case}><failure message=\"{}\">{}</failure></testcase>",
                xml(text.lines().next().unwrap_or_default()),
                xml(&text)
            ),
        };
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Text as XML has it; what XML has not at all is left out.
fn xml(text: &str) -> String {
    let is_text = |c: &char| *c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    let text: String = text.chars().filter(is_text).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
