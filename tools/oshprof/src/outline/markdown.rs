//! For a pull request: a comment that a bot finds again by its first line, short enough for GitHub.

use std::fmt::Write as _;

use pellucid_profile::report::{shown_text, shown_time};

use super::{amounts, headline, interval, percent, place, sentence, signed_time, unseen};
use crate::compare::counts::{Change, Effect};
use crate::compare::verdict::{Comparison, Verdict};

/// Most bytes: GitHub takes 65,536 characters.
pub const MOST: usize = 60_000;
/// Rows that are shown without being opened.
const ROWS: usize = 10;

/// The comment.
pub fn comment(found: &Comparison, id: &str) -> String {
    let id: String = id.replace("--", "-").replace(['>', '\n'], "").chars().take(LONGEST).collect();
    let mut out = format!("<!-- pellucid-perf:{id} -->\n");
    let sign = match found.verdict {
        Verdict::Regression => "❌",
        Verdict::Improvement => "🎉",
        Verdict::Ok => "✅",
        Verdict::Inconclusive => "❔",
        Verdict::NotComparable => "⛔",
    };
    let _ = writeln!(out, "### {sign} {}\n", text(&headline(found)));
    let mut rows: Vec<String> = Vec::new();
    changes(found, &mut rows);
    let (first, rest) = rows.split_at(rows.len().min(ROWS));
    table(&mut out, first);
    metrics(&mut out, found);
    let mut more = String::new();
    if !rest.is_empty() {
        table(&mut more, rest);
    }
    causes(&mut more, found);
    about(&mut more, found);
    let room = MOST.saturating_sub(out.len() + 200);
    if more.len() > room {
        let cut = more[..floor(&more, room)].rfind('\n').unwrap_or(0);
        more.truncate(cut);
        more.push_str("\n\n... and more: the JSON form has all of it.\n");
    }
    let _ = write!(out, "<details><summary>Details</summary>\n\n{more}\n</details>\n");
    out
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Most characters of a cell: names of C++ functions may have thousands.
const LONGEST: usize = 300;

/// Text of a program as Markdown has it, cut where it is very long.
fn text(plain: &str) -> String {
    let shown = shown_text(plain);
    let mut out = String::new();
    for (at, c) in shown.chars().enumerate() {
        if at == LONGEST {
            out.push('…');
            break;
        }
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '#' | '~' | '\\' => out.extend(['\\', c]),
            // Nobody is to be called by the name of a function.
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    out
}

fn table(out: &mut String, rows: &[String]) {
    if !rows.is_empty() {
        out.push_str("| communication | where | before and now |\n|---|---|---|\n");
        rows.iter().for_each(|row| out.push_str(row));
        out.push('\n');
    }
}

fn changes(found: &Comparison, rows: &mut Vec<String>) {
    let row = |sign: &str, change: &Change, end: &str| {
        format!(
            "| {sign} {} | {} | {}{} |\n",
            text(&change.op),
            text(&place(change)),
            text(&amounts(change)),
            text(end)
        )
    };
    for change in &found.counts.changed {
        let sign = match change.effect {
            _ if change.accepted.is_some() => "accepted:",
            Effect::Worse => "**more:**",
            Effect::Better => "fewer:",
            Effect::Same | Effect::Local => "other:",
        };
        let reason = change.accepted.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
        rows.push(row(sign, change, &reason));
    }
    for change in &found.counts.varying {
        rows.push(row("varying:", change, ""));
    }
    for moved in &found.counts.moved {
        let (from, to) = (text(&place(&moved.from)), text(&place(&moved.to)));
        let _ = writeln!(rows_end(rows), "| moved: {} | {to} | from {from} |", text(&moved.to.op));
    }
}

fn rows_end(rows: &mut Vec<String>) -> &mut String {
    rows.push(String::new());
    rows.last_mut().expect("one was added")
}

fn metrics(out: &mut String, found: &Comparison) {
    let shown: Vec<_> = found.metrics.iter().filter(|metric| metric.tested.is_some()).collect();
    if shown.is_empty() {
        return;
    }
    out.push_str("| time | base | new | vs base | 99 % interval | p, pairs |\n|---|--:|--:|--:|--:|--:|\n");
    for metric in shown.into_iter().take(ROWS) {
        let Some(t) = metric.tested else { continue };
        let versus = if matches!(metric.verdict(), "slower" | "faster") { percent(t.effect) } else { "~".to_owned() };
        let name = if metric.primary { format!("**{}**", text(&metric.name)) } else { text(&metric.name) };
        let [base, new] = metric.medians().map(f64::round);
        let interval = interval(&t);
        let p = t.p.min(t.p_faster);
        let (base, new) = (shown_time(base), shown_time(new));
        let _ = writeln!(out, "| {name} | {base} | {new} | {versus} | {interval} | {p:.4}, {} |", t.pairs);
    }
    out.push('\n');
    for metric in found.metrics.iter().filter(|m| m.primary && m.verdict() == "inconclusive") {
        unseen(metric, found).iter().for_each(|line| out.push_str(&format!("{}  \n", text(line))));
    }
    out.push('\n');
}

fn causes(out: &mut String, found: &Comparison) {
    let causes = &found.causes;
    if causes.rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "Difference over all PEs: {}\n", signed_time(causes.delta_ns));
    if let Some(why) = causes.why_not() {
        let _ = writeln!(out, "{}\n", text(&why));
        return;
    }
    out.push_str("| difference | count | cost | mix | where |\n|--:|--:|--:|--:|---|\n");
    for cause in &causes.rows {
        let [sum, count, cost, mix] =
            [cause.parts.sum(), cause.parts.count, cause.parts.cost, cause.parts.mix].map(signed_time);
        let _ = writeln!(out, "| {sum} | {count} | {cost} | {mix} | {} |", text(&sentence(cause)));
    }
    let _ = writeln!(out, "| {} | | | | (others) |\n", signed_time(causes.others_ns));
}

fn about(out: &mut String, found: &Comparison) {
    for (name, side) in ["base", "new"].iter().zip(&found.sides) {
        let shape = &side.shape;
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let (pes, runs) = (shape.npes, side.runs);
        let (pes_end, runs_end) = (plural(pes as usize), plural(runs));
        let program = format!("{} {}", side.program, shape.arguments);
        let line = format!("{name}: {pes} PE{pes_end}, {runs} run{runs_end}: {}", program.trim());
        let _ = writeln!(out, "{}  ", text(&line));
    }
    for remark in &found.remarks {
        let _ = writeln!(out, "- {}", text(&remark.text()));
    }
    for note in &found.notes {
        let _ = writeln!(out, "- {}", text(note));
    }
}
