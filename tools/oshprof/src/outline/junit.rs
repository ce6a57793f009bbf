//! A test report: a case a metric, and one for communication.

use std::fmt::Write as _;

use super::{amounts, place};
use crate::compare::counts::Effect;
use crate::compare::verdict::{Comparison, Verdict};

/// The report.
pub fn report(found: &Comparison) -> String {
    let mut cases: Vec<(String, Option<String>)> = Vec::new();
    let worse: Vec<String> = found
        .changes(Effect::Worse)
        .map(|change| format!("{} at {}: {}", change.op, place(change), amounts(change)))
        .collect();
    let fails = found.verdict == Verdict::Regression && !worse.is_empty();
    cases.push(("communication".to_owned(), fails.then(|| worse.join("\n"))));
    for metric in found.metrics.iter().filter(|metric| metric.primary) {
        let text = (metric.verdict() == "slower").then(|| super::headline(found));
        cases.push((format!("time {}", metric.name), text));
    }
    if found.verdict == Verdict::NotComparable {
        cases.push(("comparable".to_owned(), Some(found.reasons.join("\n"))));
    }
    let failures = cases.iter().filter(|(_, failure)| failure.is_some()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
         <testsuite name=\"pellucid-perf\" tests=\"{}\" failures=\"{failures}\">\n",
        cases.len()
    );
    for (name, failure) in cases {
        let name = xml(&name);
        let _ = match failure {
            None => writeln!(out, "<testcase classname=\"pellucid-perf\" name=\"{name}\"/>"),
            Some(text) => writeln!(
                out,
                "<testcase classname=\"pellucid-perf\" name=\"{name}\"><failure message=\"{}\">{}</failure></testcase>",
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
