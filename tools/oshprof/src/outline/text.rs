//! For a terminal: tables in the manner of benchstat.

use std::fmt::Write as _;

use pellucid_profile::report::grid::{Cell, Column, Grid, Kind, column};
use pellucid_profile::report::{shown_text, shown_time};

use super::{amounts, headline, interval, percent, place, sentence, signed_time, unseen};
use crate::compare::counts::{Change, Effect};
use crate::compare::metric::Metric;
use crate::compare::verdict::{Comparison, SideSummary};
use crate::stats::sequence::TestResult;

/// Causes that are shown.
const CAUSES: usize = 10;

/// The whole.
pub fn page(found: &Comparison) -> String {
    let mut out = String::new();
    let [base, new] = &found.sides;
    let _ = writeln!(out, "base: {}\nnew:  {}\n", side(base), side(new));
    if found.reasons.is_empty() {
        communication(&mut out, found);
        times(&mut out, found);
        causes(&mut out, found);
        remarks(&mut out, found);
    }
    for note in &found.notes {
        let _ = writeln!(out, "note: {}", shown_text(note));
    }
    let _ = writeln!(out, "{}", shown_text(&headline(found)));
    out
}

fn side(about: &SideSummary) -> String {
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let shape = &about.shape;
    let program = format!("{} {}", about.program, shape.arguments);
    let text = format!(
        "{} ({}, {}: {})",
        about.name,
        plural(about.runs, "run"),
        plural(shape.npes as usize, "PE"),
        program.trim()
    );
    shown_text(&text)
}

fn communication(out: &mut String, found: &Comparison) {
    let counts = &found.counts;
    if counts.changed.is_empty() && counts.moved.is_empty() && counts.varying.is_empty() {
        if counts.compared > 0 {
            let _ = writeln!(out, "communication: the same, at {} call sites\n", counts.compared);
        }
        return;
    }
    out.push_str("communication\n");
    for change in &counts.changed {
        let _ = writeln!(out, "  {} {}", mark(change), shown_text(&line(change)));
        if let Some(reason) = &change.accepted {
            let _ = writeln!(out, "      accepted: {}", shown_text(reason));
        }
    }
    for moved in &counts.moved {
        let (from, to) = (place(&moved.from), place(&moved.to));
        let text = format!("{}: moved from {from} to {to}, {} calls", moved.to.op, moved.calls);
        let _ = writeln!(out, "  ~ {}", shown_text(&text));
    }
    for change in &counts.varying {
        let _ = writeln!(out, "  ? {} ({} from run to run)", shown_text(&line(change)), varies(change));
    }
    out.push('\n');
}

/// Whether runs of a side were seen to differ, or only few were seen.
fn varies(change: &Change) -> &'static str {
    if change.is_stable() { "may vary" } else { "varies" }
}

fn line(change: &Change) -> String {
    let key = if change.detail.is_none() { format!("  [{}]", change.key()) } else { String::new() };
    format!("{} at {}: {}{key}", change.op, place(change), amounts(change))
        .replace(" at from ", " from ")
        .replace(" at to ", " to ")
        .replace(" at algorithm ", ", algorithm ")
}

/// A sign for what a change is to the verdict.
fn mark(change: &Change) -> char {
    match change.effect {
        _ if change.accepted.is_some() => '=',
        Effect::Worse => '+',
        Effect::Better => '-',
        Effect::Same => '~',
        Effect::Local => '.',
    }
}

const COLUMNS: [Column; 6] = [
    column("metric", "time", Kind::Text),
    column("base", "base", Kind::Text),
    column("new", "new", Kind::Text),
    column("vs", "vs base", Kind::Text),
    column("interval", "99 % interval", Kind::Text),
    column("p", "p, pairs", Kind::Text),
];

fn times(out: &mut String, found: &Comparison) {
    if found.metrics.is_empty() {
        return;
    }
    let mut grid = Grid::new("metrics", "Times", &COLUMNS, "no times");
    for metric in &found.metrics {
        grid.row(cells(metric, found));
    }
    out.push_str(&grid.text());
    let tested = found.metrics.iter().any(|metric| metric.tested.is_some());
    if !tested {
        let runs = runs(found);
        let plural = if runs == "1" { "" } else { "s" };
        let _ = writeln!(
            out,
            "Medians of {runs} run{plural}, not tested: that takes pairs of runs (oshprof gate, or --pair and 12 of \
             each)."
        );
    } else {
        out.push_str("* decides. ~: not known. library, waiting: as a share of the run.\n");
        for text in
            found.metrics.iter().filter(|m| m.primary && m.verdict() == "inconclusive").filter_map(|m| unseen(m, found))
        {
            let _ = writeln!(out, "{text}");
        }
    }
    out.push('\n');
}

fn cells(metric: &Metric, found: &Comparison) -> Vec<Cell> {
    let star = if metric.primary { " *" } else { "" };
    let spread = metric.tested.map_or(String::new(), |t| format!(" ± {:.0} %", 100.0 * t.noise.exp_m1()));
    let [base, new] = metric.medians();
    let side = |median: f64| format!("{}{spread}", shown_time(median.round()));
    let (versus, interval, p) = match metric.tested {
        None => {
            let ratio = if base > 0.0 && new > 0.0 { percent((new / base).ln()) } else { "-".to_owned() };
            (ratio, "-".to_owned(), format!("n={}", runs(found)))
        }
        Some(t) => {
            let versus = match t.finding {
                TestResult::Slower | TestResult::Faster => percent(t.effect),
                TestResult::NoEffect => format!("below {}", share(found.min_effect)),
                TestResult::Open => "~".to_owned(),
            };
            let p = format!("p={:.4} n={}", t.p.min(t.p_faster), t.pairs);
            (versus, interval(&t), p)
        }
    };
    let name = shown_text(&metric.name);
    vec![format!("{name}{star}").into(), side(base).into(), side(new).into(), versus.into(), interval.into(), p.into()]
}

/// A share in per cent, with no more digits than it has.
fn share(share: f64) -> String {
    let percent = (1e4 * share).round() / 1e2;
    format!("{percent} %")
}

/// How many runs the sides have: one number where it is one.
fn runs(found: &Comparison) -> String {
    match found.sides.each_ref().map(|side| side.runs) {
        [base, new] if base == new => base.to_string(),
        [base, new] => format!("{base} and {new}"),
    }
}

fn causes(out: &mut String, found: &Comparison) {
    let causes = &found.causes;
    let share = if causes.base_ns > 0.0 {
        format!(" ({:+.1} %)", 100.0 * causes.delta_ns / causes.base_ns)
    } else {
        String::new()
    };
    if let Some(why) = causes.why_not() {
        let _ = writeln!(out, "difference: {}{share} over all PEs\n{why}\n", signed_time(causes.delta_ns));
    }
    if !causes.are_told() {
        return;
    }
    let _ = writeln!(out, "where the difference comes from: {}{share} over all PEs", signed_time(causes.delta_ns));
    for cause in causes.rows.iter().take(CAUSES) {
        let parts = [("count", cause.parts.count), ("cost", cause.parts.cost), ("mix", cause.parts.mix)];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(name, ns)| ns.abs() >= 0.5 && !(cause.op.is_empty() && *name == "cost"))
            .map(|(name, ns)| format!("{name} {}", signed_time(*ns)))
            .collect();
        let waited = (cause.waited_ns != 0.0).then(|| format!("waited for {}", signed_time(cause.waited_ns)));
        let detail: Vec<String> = parts.into_iter().chain(waited).collect();
        let detail = if detail.is_empty() { String::new() } else { format!("  ({})", detail.join(", ")) };
        let _ = writeln!(out, "  {:>9}  {}{detail}", signed_time(cause.parts.sum()), shown_text(&sentence(cause)));
    }
    let rest: f64 = causes.rows.iter().skip(CAUSES).map(|cause| cause.parts.sum()).sum();
    let _ = writeln!(out, "  {:>9}  (others)\n", signed_time(rest + causes.others_ns));
}

fn remarks(out: &mut String, found: &Comparison) {
    if found.remarks.is_empty() {
        return;
    }
    out.push_str("what else differs\n");
    for remark in &found.remarks {
        let _ = writeln!(out, "  {}", shown_text(&remark.text()));
    }
    out.push('\n');
}
