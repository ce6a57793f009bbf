//! All of it in one file for a browser: no network, no other files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pellucid_profile::model::Routine;
use pellucid_profile::report::shown_time;

use super::{amounts, headline, interval, percent, place, sentence, signed_time, unseen};
use crate::compare::counts::{Change, Effect};
use crate::compare::remarks::Remark;
use crate::compare::run::Run;
use crate::compare::verdict::{Comparison, Verdict};
use crate::html::{escape, style};

/// Begin of a page; `title` is for the window.
pub fn begin(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{} - Pellucid</title><style>{}{STYLE}</style></head><body>\n",
        escape(title),
        style::CSS
    )
}

/// End of a page.
pub fn end() -> String {
    format!("</main>\n<footer>Made by oshprof (Pellucid {}).</footer>\n</body></html>\n", env!("CARGO_PKG_VERSION"))
}

/// What pages of comparisons have beside those of profiles.
const STYLE: &str = "
.bad{color:var(--warm)}.good{color:var(--acc2)}.verdict{font-size:1.15rem;margin:.4rem 0 1rem}
td.wide{white-space:normal}th{cursor:default}th.n{text-align:right}
.line{fill:none;stroke:var(--acc);stroke-width:2}.axis{stroke:var(--line)}.cut{stroke:var(--warm);stroke-dasharray:4 3}
.step{stroke:var(--acc2);stroke-width:2.5}.counts{stroke:var(--dim);stroke-dasharray:2 3}
.dot{fill:var(--acc)}.dot.bad{fill:var(--warm)}.dot.good{fill:var(--acc2)}.base{fill:var(--dim);opacity:.55}
";

/// The page.
pub fn page(found: &Comparison, base: &[&Run], new: &[&Run]) -> String {
    let mut out = begin(&format!("{}: {}", found.sides[1].program, found.verdict.name()));
    let class = match found.verdict {
        Verdict::Regression | Verdict::NotComparable => "bad",
        Verdict::Improvement | Verdict::Ok => "good",
        Verdict::Inconclusive => "",
    };
    let about = &found.sides[1];
    let _ = write!(
        out,
        "<header><p class=\"brand\">Pellucid comparison</p><h1>{} <small>{}</small></h1>\
         <p class=\"where\">{} against {}</p>\
         <p class=\"verdict {class}\">{}</p></header>\n<main>\n",
        escape(&about.program),
        escape(&about.shape.arguments),
        escape(&about.name),
        escape(&found.sides[0].name),
        escape(&headline(found))
    );
    communication(&mut out, found);
    times(&mut out, found);
    causes(&mut out, found);
    timeline(&mut out, base, new);
    shift(&mut out, base, new);
    list(&mut out, "What else differs", found.remarks.iter().map(Remark::text));
    list(&mut out, "Notes", found.notes.iter().cloned());
    out + &end()
}

fn list(out: &mut String, title: &str, rows: impl Iterator<Item = String>) {
    let rows: String = rows.map(|row| format!("<li>{}</li>", escape(&row))).collect();
    if !rows.is_empty() {
        let _ = writeln!(out, "<section><h2>{title}</h2><ul>{rows}</ul></section>");
    }
}

fn table(out: &mut String, titles: &[&str], rows: &[Vec<String>]) {
    // A column of numbers, with its title, stands at the right.
    let class = |at: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_empty()).peekable();
        if cells.peek().is_some() && cells.all(|cell| is_number(cell)) { "n" } else { "wide" }
    };
    let classes: Vec<&str> = (0..titles.len()).map(class).collect();
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    for (title, class) in titles.iter().zip(&classes) {
        let _ = write!(out, "<th class=\"{class}\">{}</th>", escape(title));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        let cells: String = row
            .iter()
            .zip(&classes)
            .map(|(cell, class)| format!("<td class=\"{class}\">{}</td>", escape(cell)))
            .collect();
        let _ = writeln!(out, "<tr>{cells}</tr>");
    }
    out.push_str("</tbody></table></div>\n");
}

/// Whether a cell is a number with its unit, which stands at the right and is not broken.
fn is_number(cell: &str) -> bool {
    cell.len() < 12 && cell.starts_with(|c: char| c.is_ascii_digit() || "+-~".contains(c))
}

fn communication(out: &mut String, found: &Comparison) {
    let counts = &found.counts;
    let row = |what: &str, change: &Change| vec![what.to_owned(), change.op.clone(), place(change), amounts(change)];
    let word = |change: &Change| match change.effect {
        _ if change.accepted.is_some() => "accepted",
        Effect::Worse => "more",
        Effect::Better => "fewer",
        Effect::Same => "other",
        Effect::Local => "local",
    };
    let mut rows: Vec<Vec<String>> = counts.changed.iter().map(|change| row(word(change), change)).collect();
    rows.extend(counts.varying.iter().map(|change| row("varying", change)));
    rows.extend(counts.moved.iter().map(|moved| {
        let from = format!("{} calls from {}", moved.calls, place(&moved.from));
        vec!["moved".into(), moved.to.op.clone(), place(&moved.to), from]
    }));
    out.push_str("<section><h2>Communication</h2>");
    if rows.is_empty() {
        let _ = write!(out, "<p class=\"empty\">The same, at {} call sites.</p>", counts.compared);
    } else {
        table(out, &["what", "routine", "where", "before and now"], &rows);
    }
    out.push_str("</section>\n");
}

fn times(out: &mut String, found: &Comparison) {
    if found.metrics.is_empty() {
        return;
    }
    out.push_str("<section><h2>Times</h2>");
    let rows: Vec<Vec<String>> = found
        .metrics
        .iter()
        .map(|metric| {
            let [base, new] = metric.medians().map(f64::round);
            let ratio = if base > 0.0 && new > 0.0 { percent((new / base).ln()) } else { String::new() };
            let tested = metric.tested.map_or([ratio, String::new(), String::new()], |t| {
                [percent(t.effect), interval(&t), format!("{:.4}", t.p.min(t.p_faster))]
            });
            let [effect, interval, p] = tested;
            let name = if metric.primary { format!("{} *", metric.name) } else { metric.name.clone() };
            vec![name, shown_time(base), shown_time(new), effect, interval, p, metric.verdict().to_owned()]
        })
        .collect();
    table(out, &["metric", "base", "new", "vs base", "99 % interval", "p", "verdict"], &rows);
    for text in
        found.metrics.iter().filter(|m| m.primary && m.verdict() == "inconclusive").filter_map(|m| unseen(m, found))
    {
        let _ = write!(out, "<p class=\"note\">{}</p>", escape(&text));
    }
    out.push_str("</section>\n");
}

fn causes(out: &mut String, found: &Comparison) {
    let causes = &found.causes;
    if let Some(why) = causes.why_not() {
        let delta = signed_time(causes.delta_ns);
        let _ =
            writeln!(out, "<section><h2>Difference</h2><p class=\"hint\">{delta} over all PEs. {why}</p></section>");
    }
    if !causes.are_told() {
        return;
    }
    let _ = write!(
        out,
        "<section><h2>Where the difference comes from</h2>\
        <p class=\"hint\">{} over all PEs: count, cost and mix of a row add up \
        to its difference, the rows to the whole. Waiting is charged to the PE that came late.</p>",
        signed_time(causes.delta_ns)
    );
    let mut rows: Vec<Vec<String>> = causes
        .rows
        .iter()
        .map(|cause| {
            let parts = &cause.parts;
            let [sum, count, cost, mix, waited] =
                [parts.sum(), parts.count, parts.cost, parts.mix, cause.waited_ns].map(unless_none);
            vec![sum, sentence(cause), count, cost, mix, waited, format!("{:.0} %", 100.0 * cause.agree)]
        })
        .collect();
    let mut rest = vec![signed_time(causes.others_ns), "(others)".to_owned()];
    rest.resize(7, String::new());
    rows.push(rest);
    table(out, &["difference", "what", "count", "cost", "mix", "of it waited", "pairs agree"], &rows);
    out.push_str("</section>\n");
}

/// A part of a difference; nothing where it is none.
fn unless_none(ns: f64) -> String {
    if ns.abs() < 0.5 { String::new() } else { signed_time(ns) }
}

/// What each PE did with its time, before and now: a bar each.
fn timeline(out: &mut String, base: &[&Run], new: &[&Run]) {
    const SHOWN: usize = 32;
    let sides = [shares(base), shares(new)];
    let most = sides.iter().flatten().map(|(_, parts)| parts.iter().sum::<f64>()).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    out.push_str("<section><h2>Time of each PE, before and now</h2><div class=\"chart\">");
    let pes: Vec<u32> = sides[1].iter().map(|(pe, _)| *pe).take(SHOWN).collect();
    let _ = write!(out, "<svg viewBox=\"0 0 620 {}\" role=\"img\" style=\"max-width:900px\">", 30 * pes.len() + 22);
    for (row, pe) in pes.iter().enumerate() {
        let top = 30 * row;
        let _ = write!(out, "<text class=\"dim end\" x=\"46\" y=\"{}\">PE {pe}</text>", top + 18);
        for (half, side) in sides.iter().enumerate() {
            let Some((_, parts)) = side.iter().find(|(of, _)| of == pe) else { continue };
            let mut x = 52.0;
            for (part, class) in parts.iter().zip(["d", "a", "c"]) {
                let width = 500.0 * part.max(0.0) / most;
                let opacity = if half == 0 { 0.5 } else { 1.0 };
                let y = top + 3 + 12 * half;
                let title = format!("{} {}", ["base", "new"][half], shown_time(part.round()));
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" opacity=\"{opacity}\" x=\"{x:.1}\" y=\"{y}\" \
                     width=\"{width:.1}\" height=\"11\"><title>{title}</title></rect>"
                );
                x += width;
            }
        }
    }
    out.push_str(
        "</svg><div class=\"key\"><span><i class=\"d\" style=\"background:var(--dim)\"></i>outside the library</span>\
        <span><i style=\"background:var(--acc)\"></i>calls</span>\
        <span><i style=\"background:var(--warm)\"></i>waiting</span>\
        <span>upper bar: base, lower bar: new</span></div></div></section>\n",
    );
}

/// By PE: outside the library, in calls, waiting; means over the runs.
fn shares(runs: &[&Run]) -> Vec<(u32, [f64; 3])> {
    let mut sums: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    let share = 1.0 / runs.len().max(1) as f64;
    for run in runs {
        for ((_, pe), ns) in &run.own {
            sums.entry(*pe).or_default()[0] += share * *ns as f64;
        }
        for ((site, pe), cell) in &run.cells {
            let waits = pellucid_profile::op::class_of(&run.keys[*site].op).is_some_and(|class| class.waits());
            sums.entry(*pe).or_default()[if waits { 2 } else { 1 }] += share * cell.ns as f64;
        }
    }
    sums.into_iter().collect()
}

/// Quantiles of the latency of the routines that took most, new against base: on the diagonal nothing changed.
fn shift(out: &mut String, base: &[&Run], new: &[&Run]) {
    let (old, now) = (routines(base), routines(new));
    let mut names: Vec<(&String, u64)> =
        now.iter().filter(|(name, _)| old.contains_key(*name)).map(|(n, r)| (n, r.total_ns)).collect();
    names.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    if names.is_empty() {
        return;
    }
    out.push_str(
        "<section><h2>Shift of latencies</h2>\
        <p class=\"hint\">Quantiles of a call's time, new (upwards) against base (to the right), \
        both logarithmic: above the line calls became slower.</p><div class=\"charts\">",
    );
    for (name, _) in names.into_iter().take(6) {
        let (a, b) = (&old[name], &now[name]);
        let points: Vec<(f64, f64)> = (1..=16)
            .map(|k| f64::from(k) / 17.0)
            .map(|q| ((a.quantile_ns(q).max(1) as f64).log10(), (b.quantile_ns(q).max(1) as f64).log10()))
            .collect();
        let all = points.iter().flat_map(|(x, y)| [*x, *y]);
        let low = all.clone().fold(f64::INFINITY, f64::min).floor();
        let high = all.fold(f64::NEG_INFINITY, f64::max).ceil().max(low + 1.0);
        let at = |value: f64| 180.0 * (value - low) / (high - low);
        let _ = write!(
            out,
            "<div class=\"chart\"><h4>{}</h4><svg viewBox=\"0 0 260 215\" role=\"img\" style=\"max-width:320px\">\
            <line class=\"axis\" x1=\"60\" y1=\"185\" x2=\"240\" y2=\"5\" stroke-width=\"1.5\"/>\
            <line class=\"axis\" x1=\"60\" y1=\"185\" x2=\"240\" y2=\"185\"/>\
            <line class=\"axis\" x1=\"60\" y1=\"185\" x2=\"60\" y2=\"5\"/>",
            escape(name)
        );
        for (label, x, y, class) in
            [(low, 60, 203, "mid"), (high, 232, 203, "mid"), (low, 54, 188, "end"), (high, 54, 14, "end")]
        {
            let _ = write!(
                out,
                "<text class=\"dim {class}\" x=\"{x}\" y=\"{y}\">{}</text>",
                shown_time(10_f64.powf(label).round())
            );
        }
        for (x, y) in points {
            let class = if y > x + 0.02 {
                "dot bad"
            } else if y < x - 0.02 {
                "dot good"
            } else {
                "dot"
            };
            let _ = write!(
                out,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                60.0 + at(x),
                185.0 - at(y)
            );
        }
        out.push_str("</svg></div>");
    }
    out.push_str("</div></section>\n");
}

fn routines(runs: &[&Run]) -> BTreeMap<String, Routine> {
    let mut sums: BTreeMap<String, Routine> = BTreeMap::new();
    for routine in runs.iter().flat_map(|run| &run.routines) {
        sums.entry(routine.name.clone()).and_modify(|sum| sum.merge(routine)).or_insert_with(|| routine.clone());
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_stand_right_with_their_titles() {
        let mut out = String::new();
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        table(&mut out, &["time", "base", "note"], &[row(["run", "1.2 ms", ""]), row(["waiting", "", "7 of 9 pairs"])]);
        assert!(
            out.contains("<th class=\"wide\">time</th><th class=\"n\">base</th><th class=\"wide\">note</th>"),
            "{out}"
        );
        assert!(out.contains("<td class=\"n\">1.2 ms</td><td class=\"wide\"></td>"), "{out}");
        // Nothing happens where one is clicked at.
        assert!(STYLE.contains("th{cursor:default}"));
    }
}
