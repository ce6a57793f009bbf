//! A comparison for those who read it: a file a form.

pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod text;

use pellucid_profile::report::{shown_bytes, shown_time};

use crate::compare::Range;
use crate::compare::cause::{Cause, What};
use crate::compare::counts::{Change, Effect};
use crate::compare::metric::Metric;
use crate::compare::verdict::{Comparison, Verdict};
use crate::stats::sequence::{self, TestResult, Tested};

/// A difference in nanoseconds, with its sign.
pub fn signed_time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "+" };
    format!("{sign}{}", shown_time(ns.abs().round()))
}

/// An effect, given as a logarithm.
pub fn percent(effect: f64) -> String {
    format!("{:+.1} %", 100.0 * effect.exp_m1())
}

/// What is known of an effect with 99 % confidence: where one that matters is ruled out the bound that rules it out,
/// else an interval.
pub fn interval(tested: &Tested) -> String {
    match tested.finding {
        TestResult::NoEffect => format!("up to {}", percent(tested.most)),
        _ => format!("{} to {}", percent(tested.interval.0), percent(tested.interval.1)),
    }
}

/// A range of calls or bytes: one number where it is one.
pub fn at_least_to_most(least: u64, most: u64) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// What became of the calls and bytes of a change: `400 -> 800 calls, 64 B each`.
pub fn amounts(change: &Change) -> String {
    let Change { base, new, .. } = change;
    let calls = |range: &Range| at_least_to_most(range.min.calls, range.max.calls);
    let bytes = |range: &Range| at_least_to_most(range.min.bytes, range.max.bytes);
    let mut parts = Vec::new();
    if calls(base) != calls(new) {
        parts.push(format!("{} -> {} calls", calls(base), calls(new)));
    } else {
        parts.push(format!("{} calls", calls(new)));
    }
    match change.bytes_each() {
        (Some(old), Some(now)) if old != now => {
            parts.push(format!("{} -> {} each", shown_bytes(old), shown_bytes(now)));
        }
        // Of one side there are several sizes.
        (Some(_), None) | (None, Some(_)) if base.max.bytes > 0 && new.max.bytes > 0 => {
            let mean = |range: &Range| (range.max.bytes + range.max.calls / 2) / range.max.calls.max(1);
            parts.push(format!("{} -> {} each on average", shown_bytes(mean(base)), shown_bytes(mean(new))));
        }
        (Some(each), _) | (None, Some(each)) => parts.push(format!("{} each", shown_bytes(each))),
        (None, None) => {}
    }
    if bytes(base) != bytes(new) {
        parts.push(format!("{} -> {} bytes", bytes(base), bytes(new)));
    }
    parts.join(", ")
}

/// Where a change is: place and region.
pub fn place(change: &Change) -> String {
    if change.region.is_empty() {
        change.shown.clone()
    } else {
        format!("{} in region {}", change.shown, change.region)
    }
}

/// One sentence of what it comes to.
pub fn headline(found: &Comparison) -> String {
    let mut parts = Vec::new();
    for metric in found.metrics.iter().filter(|metric| metric.primary) {
        if let (Some(t), "slower" | "faster") = (metric.tested, metric.verdict()) {
            let (low, high) = (percent(t.interval.0), percent(t.interval.1));
            parts.push(format!("{} {} ({low} to {high})", metric.name, percent(t.effect)));
        }
    }
    let of = |effect: Effect| found.changes(effect).count();
    let places = |count: usize| format!("{count} place{}", if count == 1 { "" } else { "s" });
    let accepted = found.counts.changed.iter().filter(|change| change.accepted.is_some()).count();
    match (of(Effect::Worse), of(Effect::Better), of(Effect::Same) + of(Effect::Local)) {
        (0, 0, 0) if found.varying_is_worse => {
            parts.push("more of the communication that varies from run to run".to_owned());
        }
        (0, 0, 0) if accepted > 0 => parts.push(format!("communication changed in {}, as accepted", places(accepted))),
        (0, 0, 0) if !found.counts.varying.is_empty() => {
            let varies = found.counts.varying.iter().any(|change| !change.is_stable());
            let varies = if varies { "varies" } else { "may vary" };
            parts.push(format!("communication differs only where it {varies} from run to run"));
        }
        (0, 0, 0) if found.counts.compared > 0 => parts.push("communication is the same".to_owned()),
        (0, 0, 0) => {}
        (0, 0, n) => parts.push(format!("communication changed in {}, no more of it in all", places(n))),
        (0, n, _) => parts.push(format!("less communication in {}", places(n))),
        (n, 0, _) => parts.push(format!("more communication in {}", places(n))),
        (n, m, _) => parts.push(format!("more communication in {}, less in {m}", places(n))),
    }
    let word = match found.verdict {
        Verdict::Regression => "regression",
        Verdict::Improvement => "improvement",
        Verdict::Ok => "no regression",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotComparable => return format!("not comparable: {}", found.reasons.join("; ")),
    };
    if found.verdict == Verdict::Inconclusive {
        parts.extend(
            found
                .metrics
                .iter()
                .filter(|m| m.primary && m.verdict() == "inconclusive")
                .filter_map(|m| unseen(m, found)),
        );
    }
    if !found.metrics.is_empty() && found.metrics.iter().all(|metric| metric.tested.is_none()) {
        parts.push("times were not tested".to_owned());
    }
    if parts.is_empty() { word.to_owned() } else { format!("{word}: {}", parts.join("; ")) }
}

/// What could not be seen of a metric.
pub fn unseen(metric: &Metric, found: &Comparison) -> Option<String> {
    let t = metric.tested?;
    let visible = t.visible(t.pairs, found.min_effect);
    if visible.is_infinite() {
        let able = sequence::ABLE;
        return Some(format!("{}: {} pairs cannot show that it is slower: {able} can", metric.name, t.pairs));
    }
    Some(format!(
        "{}: noise {:.1} %: an effect below {:.1} % cannot be seen with {} pairs",
        metric.name,
        100.0 * t.noise.exp_m1(),
        100.0 * visible.exp_m1(),
        t.pairs
    ))
}

/// A cause, as a sentence without its numbers.
pub fn sentence(cause: &Cause) -> String {
    let region = if cause.region.is_empty() { String::new() } else { format!(" in region {}", cause.region) };
    match (cause.what, cause.late_pe) {
        (What::Own, _) => {
            format!("outside the library{}", if region.is_empty() { ", outside of all regions" } else { &region })
        }
        (What::Late, Some(pe)) => {
            let deed =
                if cause.op.is_empty() { "the program".to_owned() } else { format!("{} at {}", cause.op, cause.shown) };
            let at = cause
                .waited_at
                .as_ref()
                .map_or(String::new(), |(op, place)| format!(", others wait in {op} at {place}"));
            format!("PE {pe}: {deed}{region}{at}")
        }
        (What::Wait, Some(pe)) => format!("{} at {}{region}: PE {pe} comes late", cause.op, cause.shown),
        _ => {
            let after = if cause.is_meeting { ", after the last PE has come" } else { "" };
            format!("{} at {}{region}{after}", cause.op, cause.shown)
        }
    }
}

#[cfg(test)]
mod tests;
