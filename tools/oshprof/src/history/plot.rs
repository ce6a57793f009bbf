//! A page with the times of every series, their change points, and the steps of counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pellucid_profile::report::shown_time;

use super::check::{self, Finding};
use super::short;
use super::store::{Entry, Store};
use crate::html::escape;
use crate::outline::html::{begin, end};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;

/// The page.
///
/// # Errors
/// What could not be read.
pub fn page(store: &Store) -> Result<String, String> {
    let findings = check::all(store)?;
    let mut series: BTreeMap<(String, String), Vec<Entry>> = BTreeMap::new();
    for entry in store.all()? {
        series.entry((entry.suite.clone(), entry.machine.clone())).or_default().push(entry);
    }
    let mut out = begin("History");
    let runs: usize = series.values().map(Vec::len).sum();
    let _ = write!(
        out,
        "<header><p class=\"brand\">Pellucid history</p><h1>{} series <small>{runs} runs, {} findings</small></h1></header>\n<main>\n",
        series.len(),
        findings.len()
    );
    out.push_str("<section><h2>Findings</h2>");
    if findings.is_empty() {
        out.push_str("<p class=\"empty\">No commit changed communication or times.</p>");
    }
    for finding in &findings {
        let class = if finding.is_worse { " class=\"bad\"" } else { "" };
        let _ = write!(out, "<div class=\"finding\"><p{class}>{}</p></div>", escape(&finding.text()));
    }
    out.push_str("</section>\n");
    for ((suite, machine), entries) in &series {
        let _ = write!(
            out,
            "<section><h2>{}</h2><p class=\"hint\">{}</p><div class=\"charts\">",
            escape(suite),
            escape(machine)
        );
        let mut names: Vec<&String> = entries.iter().flat_map(|entry| entry.metrics.keys()).collect();
        names.sort();
        names.dedup();
        let of: Vec<&Finding> = findings.iter().filter(|finding| finding.suite == *suite).collect();
        names.iter().for_each(|name| chart(&mut out, name, entries, &of));
        out.push_str("</div></section>\n");
    }
    Ok(out + &end())
}

fn chart(out: &mut String, name: &str, entries: &[Entry], findings: &[&Finding]) {
    let values: Vec<Option<f64>> = entries.iter().map(|entry| entry.metrics.get(name).copied()).collect();
    let most = values.iter().flatten().fold(0.0_f64, |most, value| most.max(*value));
    if most <= 0.0 {
        return;
    }
    let x = |at: usize| 70.0 + (WIDTH - 90.0) * at as f64 / (entries.len().max(2) - 1) as f64;
    let y = |value: f64| 14.0 + (HEIGHT - 40.0) * (1.0 - value / (1.1 * most));
    let (zero, end) = (y(0.0), WIDTH - 20.0);
    let (name_shown, top, bottom) = (escape(name), y(most) + 4.0, zero + 4.0);
    let _ = write!(
        out,
        "<div class=\"chart\"><h4>{name_shown}</h4><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\
         <line class=\"axis\" x1=\"70\" y1=\"{zero:.1}\" x2=\"{end}\" y2=\"{zero:.1}\"/>\
         <text class=\"dim end\" x=\"64\" y=\"{top:.1}\">{}</text>\
         <text class=\"dim end\" x=\"64\" y=\"{bottom:.1}\">0</text>",
        shown_time(most.round())
    );
    for finding in findings {
        // Counts have steps in all charts of the series, a time in its own.
        let is_here = !finding.changes.is_empty() || finding.times.iter().any(|(of, _)| of == name);
        if let Some(at) = entries.iter().position(|entry| entry.commit == finding.commit).filter(|_| is_here) {
            let at = x(at);
            let (top, low, anchor) = (HEIGHT - 8.0, y(0.0), if at > WIDTH - 120.0 { "end" } else { "mid" });
            let commit = escape(short(&finding.commit));
            let _ = write!(
                out,
                "<line class=\"cut\" x1=\"{at:.1}\" y1=\"8\" x2=\"{at:.1}\" y2=\"{low:.1}\"/><text class=\"dim {anchor}\" x=\"{at:.1}\" y=\"{top:.1}\">{commit}</text>"
            );
        }
    }
    let points: Vec<(usize, f64)> = values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    let line: Vec<String> = points.iter().map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value))).collect();
    let _ = write!(out, "<polyline class=\"line\" points=\"{}\"/>", line.join(" "));
    for (at, value) in points {
        let commit = escape(short(&entries[at].commit));
        let _ = write!(
            out,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"><title>{commit}: {}</title></circle>",
            x(at),
            y(value),
            shown_time(value.round())
        );
    }
    out.push_str("</svg></div>");
}
