//! A page with the times of every series, their change points, and the steps of counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pellucid_profile::report::shown_time;

use super::check::{self, Finding};
use super::store::{Entry, Store};
use super::{of_branch, short};
use crate::compare::metric::PRIMARY;
use crate::html::escape;
use crate::outline::html::{begin, end};
use crate::stats::median;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;
/// Runs in a chart, the newest.
const LONGEST: usize = 400;

/// Runs that a chart has in common: suite, branch, jobs, machine.
type Series<'e> = (&'e str, &'e str, String, &'e str);

fn series(entries: &[Entry]) -> BTreeMap<Series<'_>, Vec<&Entry>> {
    let mut all: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    entries.iter().for_each(|entry| all.entry((&entry.suite, &entry.branch)).or_default().push(entry));
    let mut series: BTreeMap<Series<'_>, Vec<&Entry>> = BTreeMap::new();
    for ((suite, branch), entries) in all {
        for (on, entries) in check::by_jobs(&entries) {
            for entry in entries {
                series.entry((suite, branch, on.clone(), &entry.machine)).or_default().push(entry);
            }
        }
    }
    series
}

/// The page.
///
/// # Errors
/// What could not be read.
pub fn page(store: &Store, entries: &[Entry]) -> Result<String, String> {
    let check::Checked { findings, notes } = check::all(store, entries)?;
    let series = series(entries);
    let mut out = begin("History");
    let runs: usize = series.values().map(Vec::len).sum();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let _ = write!(
        out,
        "<header><p class=\"brand\">Pellucid history</p><h1>{} series \
         <small>{}, {}</small></h1></header>\n<main>\n",
        series.len(),
        plural(runs, "run"),
        plural(findings.len(), "finding")
    );
    out.push_str("<section><h2>Findings</h2>");
    if findings.is_empty() {
        out.push_str("<p class=\"empty\">No commit changed communication or times.</p>");
    }
    for finding in &findings {
        let class = if finding.is_worse && finding.until.is_none() { " class=\"bad\"" } else { "" };
        let _ = write!(out, "<div class=\"finding\"><p{class}>{}</p></div>", escape(&finding.text()));
    }
    for note in &notes {
        let _ = write!(out, "<p class=\"note\">{}</p>", escape(note));
    }
    out.push_str("</section>\n");
    for ((suite, branch, on, machine), entries) in &series {
        let _ = write!(
            out,
            "<section><h2>{}{}{}</h2><p class=\"hint\">{}{}</p><div class=\"charts\">",
            escape(suite),
            escape(on),
            escape(&of_branch(branch)),
            escape(machine),
            if machine.is_empty() {
                "Counts only"
            } else {
                ". Green: median from change to change; grey: counts changed"
            }
        );
        let mut names: Vec<&String> = entries.iter().flat_map(|entry| entry.metrics.keys()).collect();
        names.sort();
        names.dedup();
        names.sort_by_key(|name| PRIMARY.iter().position(|known| known == name).unwrap_or(PRIMARY.len()));
        let is_of = |finding: &&Finding| {
            let is_also = || finding.also.iter().any(|also| also == suite);
            finding.branch == *branch && (finding.suite == *suite && finding.is_on(on) || is_also())
        };
        let of: Vec<&Finding> = findings.iter().filter(is_of).collect();
        let entries = &entries[entries.len().saturating_sub(LONGEST)..];
        names.iter().for_each(|name| chart(&mut out, name, entries, &of));
        out.push_str("</div></section>\n");
    }
    Ok(out + &end())
}

/// What a chart has: where the runs and their times stand.
struct Scale {
    runs: usize,
    low: f64,
    high: f64,
}

impl Scale {
    /// From a little below the least to a little above the greatest; a change of a tenth is to be seen, and noise not
    /// to fill the chart.
    fn new(runs: usize, values: &[(usize, f64)]) -> Scale {
        let ends = |(low, high): (f64, f64), (_, v): &(usize, f64)| (low.min(*v), high.max(*v));
        let (low, high) = values.iter().fold((f64::INFINITY, 0.0), ends);
        let room = 0.15 * (high - low).max(0.3 * high);
        Scale { runs, low: (low - room).max(0.0), high: high + room }
    }

    fn x(&self, at: usize) -> f64 {
        70.0 + (WIDTH - 90.0) * at as f64 / (self.runs.max(2) - 1) as f64
    }

    fn y(&self, value: f64) -> f64 {
        14.0 + (HEIGHT - 40.0) * (1.0 - (value - self.low) / (self.high - self.low))
    }
}

fn chart(out: &mut String, name: &str, entries: &[&Entry], findings: &[&Finding]) {
    let known = |(at, entry): (usize, &&Entry)| Some((at, *entry.metrics.get(name).filter(|ns| **ns > 0.0)?));
    let points: Vec<(usize, f64)> = entries.iter().enumerate().filter_map(known).collect();
    if points.is_empty() {
        return;
    }
    let scale = Scale::new(entries.len(), &points);
    let (zero, end) = (scale.y(scale.low), WIDTH - 20.0);
    let (high, low) = (shown_time(scale.high.round()), shown_time(scale.low.round()));
    let _ = write!(
        out,
        "<div class=\"chart\"><h4>{}</h4><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\
         <line class=\"axis\" x1=\"70\" y1=\"{zero:.1}\" x2=\"{end}\" y2=\"{zero:.1}\"/>\
         <text class=\"dim end\" x=\"64\" y=\"18\">{high}</text>\
         <text class=\"dim end\" x=\"64\" y=\"{:.1}\">{low}</text>",
        escape(name),
        zero + 4.0
    );
    let line: Vec<String> =
        points.iter().map(|(at, value)| format!("{:.1},{:.1}", scale.x(*at), scale.y(*value))).collect();
    let _ = write!(out, "<polyline class=\"line\" opacity=\"0.45\" points=\"{}\"/>", line.join(" "));
    let cuts = cuts(out, name, entries, findings, &scale);
    levels(out, &points, &cuts, &scale);
    for (at, value) in points {
        let commit = escape(short(&entries[at].commit));
        let _ = write!(
            out,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"><title>{commit}: {}</title></circle>",
            scale.x(at),
            scale.y(value),
            shown_time(value.round())
        );
    }
    out.push_str("</svg></div>");
}

/// Lines at the commits that changed something, with their names; gives the runs where this time changed.
fn cuts(out: &mut String, name: &str, entries: &[&Entry], findings: &[&Finding], scale: &Scale) -> Vec<usize> {
    let mut cuts = Vec::new();
    // A name that would stand on another is left to its line's title.
    let mut taken: Vec<f64> = Vec::new();
    for finding in findings {
        // Counts have steps in all charts of the series, a time in its own.
        let is_time = finding.times.iter().any(|(of, _)| of == name);
        let is_here = is_time || finding.times.is_empty();
        let Some(at) = entries.iter().position(|entry| entry.commit == finding.commit).filter(|_| is_here) else {
            continue;
        };
        if is_time {
            cuts.push(at);
        }
        let (x, low, title) = (scale.x(at), scale.y(scale.low), escape(&finding.text()));
        let class = if is_time { "cut" } else { "counts" };
        let _ = write!(
            out,
            "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"8\" x2=\"{x:.1}\" y2=\"{low:.1}\"><title>{title}</title></line>"
        );
        if taken.iter().all(|other| (other - x).abs() > 90.0) {
            taken.push(x);
            let anchor = if x > WIDTH - 120.0 { "end" } else { "mid" };
            let (y, commit) = (HEIGHT - 8.0, escape(short(&finding.commit)));
            let _ = write!(out, "<text class=\"dim {anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{commit}</text>");
        }
    }
    cuts.sort_unstable();
    cuts
}

/// The median from one change to the next.
fn levels(out: &mut String, points: &[(usize, f64)], cuts: &[usize], scale: &Scale) {
    let ends = cuts.iter().copied().chain([scale.runs]);
    let mut begin = 0;
    for end in ends {
        let of: Vec<f64> = points.iter().filter(|(at, _)| (begin..end).contains(at)).map(|(_, value)| *value).collect();
        if !of.is_empty() && !cuts.is_empty() {
            let (from, to, y) = (scale.x(begin), scale.x(end.saturating_sub(1).max(begin)), scale.y(median(&of)));
            let _ = write!(out, "<line class=\"step\" x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{y:.1}\"/>");
        }
        begin = end;
    }
}
