//! Charts as SVG in the page.

mod strip;

use std::fmt::Write as _;

use pellucid_profile::merge::{LARGEST_CHART, Matrix, Merged, PeRow};
use pellucid_profile::model::Routine;
use pellucid_profile::op::Class;
use pellucid_profile::report::grid::{Cell, Grid};
use pellucid_profile::report::{Bars, Chart, WHICH, distinct_names, shown_bytes, shown_count, shown_pes, shown_time};
use pellucid_profile::size::size_bounds;

use super::escape;

/// Bars of a chart.
const BARS: usize = 12;
/// PEs that have a bar each; with more, see [`shown_pes`].
const PES: usize = 24;

/// The charts of a view; empty where a table says it better.
pub fn of(chart: &Chart, profile: &Merged, grids: &[Grid]) -> String {
    match chart {
        Chart::None => String::new(),
        Chart::Bars(bars) => grids.first().map_or_else(String::new, |grid| bars_of(grid, bars)),
        Chart::Routines => format!("<div class=\"charts\">{}{}</div>", routines(profile), time(profile)),
        Chart::Strips => strip::chart(profile),
        Chart::Sizes => sizes(profile),
        Chart::Matrix => matrix(profile),
        Chart::LatePes => late_pes(profile),
    }
}

/// One labelled bar.
struct Bar {
    label: String,
    value: f64,
    shown: String,
}

fn bars(title: &str, class: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let height = bars.len() * 24 + 4;
    let mut out =
        format!("<div class=\"chart\"><h4>{}</h4><svg viewBox=\"0 0 560 {height}\" role=\"img\">", escape(title));
    for (at, bar) in bars.iter().enumerate() {
        let (y, width) = (at * 24 + 2, (bar.value / most * 270.0).max(1.0));
        let label = shortened(&within_file(&bar.label), 27);
        let _ = write!(
            out,
            "<text x=\"206\" y=\"{}\" class=\"end\">{}<title>{}</title></text>\
             <rect x=\"214\" y=\"{y}\" width=\"{width:.1}\" height=\"17\" rx=\"3\" class=\"{class}\"/>\
             <text x=\"{:.1}\" y=\"{}\" class=\"dim\">{}</text>",
            y + 13,
            escape(&label),
            escape(&bar.label),
            220.0 + width,
            y + 13,
            escape(&bar.shown)
        );
    }
    out.push_str("</svg></div>");
    out
}

/// From a line to another one of the same file, whose name then stands once.
fn within_file(label: &str) -> String {
    let lines =
        label.split_once(" to ").and_then(|(from, to)| Some((from, from.rsplit_once(':')?, to.rsplit_once(':')?)));
    match lines {
        Some((from, (file, _), (other, line))) if file == other => format!("{from} to {line}"),
        _ => label.to_owned(),
    }
}

fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end: String = text.chars().skip(count - (most - 1)).collect();
    format!("\u{2026}{end}")
}

fn bars_of(grid: &Grid, of: &Bars) -> String {
    let Some(value) = grid.at(of.value) else { return String::new() };
    let label = |row: &[Cell]| {
        let shown = |at: usize| row[at].shown(grid.columns[at].kind);
        (of.label)(&|column| grid.at(column).map_or_else(String::new, shown))
    };
    let bar = |row: &Vec<Cell>| {
        let shown = row[value].shown(grid.columns[value].kind);
        Bar { label: label(row), value: row[value].number(), shown }
    };
    let mut list: Vec<Bar> = grid.rows.iter().map(bar).filter(|bar| bar.value > 0.0).collect();
    list.sort_by(|a, b| b.value.total_cmp(&a.value));
    list.truncate(BARS);
    bars(of.title, "a", &list)
}

fn routines(profile: &Merged) -> String {
    let mut list: Vec<&Routine> = profile.routines.iter().collect();
    list.sort_by_key(|r| std::cmp::Reverse(r.spent_ns()));
    let list: Vec<Bar> = list
        .iter()
        .take(10)
        .filter(|r| r.spent_ns() > 0)
        .map(|r| Bar { label: r.name.clone(), value: r.spent_ns() as f64, shown: shown_time(r.spent_ns() as f64) })
        .collect();
    bars("time by routine, all PEs", "a", &list)
}

/// Kinds of time: name, colour, routines.
type Part = (&'static str, &'static str, fn(Class) -> bool);

const PARTS: [Part; 3] = [
    ("put, get, atomics", "b", |c| matches!(c, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order)),
    ("waiting", "c", Class::waits),
    ("other library", "d", |c| {
        let moves = matches!(c, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order);
        !c.waits() && !moves && c != Class::Setup
    }),
];

/// Where each PE spends its time.
fn time(profile: &Merged) -> String {
    let pes: Vec<&PeRow> = shown_pes(profile, PES).into_iter().map(|at| &profile.pes[at]).collect();
    if pes.is_empty() {
        return String::new();
    }
    let height = pes.len() * 20 + 4;
    let mut out = format!(
        "<div class=\"chart\"><h4>where each PE spends its time</h4><svg viewBox=\"0 0 560 {height}\" \
         role=\"img\">"
    );
    for (at, pe) in pes.iter().enumerate() {
        let y = at * 20 + 2;
        // Threads may be in the library at the same time for longer than the PE runs.
        let wall = pe.main_ns().max(pe.library_ns()).max(1) as f64;
        let _ = write!(out, "<text x=\"56\" y=\"{}\" class=\"end\">PE {}</text>", y + 12, pe.pe);
        let _ = write!(out, "<rect x=\"64\" y=\"{y}\" width=\"490\" height=\"15\" rx=\"2\" class=\"grid\"/>");
        let mut x = 64.0;
        for (name, class, of) in PARTS {
            let ns = pe.time_ns(of) as f64;
            let width = (ns / wall * 490.0).min(554.0 - x);
            if width > 0.2 {
                let _ = write!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"15\" class=\"{class}\"><title>PE {}: \
                     {name} {} ({:.1} %)</title></rect>",
                    pe.pe,
                    escape(&shown_time(ns)),
                    100.0 * ns / wall
                );
                x += width;
            }
        }
    }
    out.push_str("</svg><p class=\"key\">");
    for (name, colour) in [
        ("put, get, atomics", "--acc2"),
        ("waiting", "--warm"),
        ("other library", "--dim"),
        ("the program itself", "--line"),
    ] {
        let _ = write!(out, "<span><i style=\"background:var({colour})\"></i>{name}</span>");
    }
    let _ = write!(out, "</p>{}</div>", some_of(profile));
    out
}

/// Which PEs a chart has, where it has no room for all.
fn some_of(profile: &Merged) -> String {
    let all = profile.pes.len();
    if all > PES { format!("<p class=\"note\">{PES} of {all} PEs: {WHICH}.</p>") } else { String::new() }
}

fn sizes(profile: &Merged) -> String {
    let mut classes = std::collections::BTreeMap::<u8, (u64, u64)>::new();
    // What is allocated does not move.
    let moving = profile.routines.iter().filter(|r| r.class != Class::Memory);
    for size in moving.flat_map(|r| &r.sizes) {
        let sum = classes.entry(size.class).or_default();
        *sum = (sum.0.saturating_add(size.calls), sum.1.saturating_add(size.bytes));
    }
    let label = |class: u8| {
        let (low, high) = size_bounds(usize::from(class));
        if high == u64::MAX {
            format!("from {}", shown_bytes(low))
        } else {
            format!("{} to < {}", shown_bytes(low), shown_bytes(high + 1))
        }
    };
    let chart = |title: &str, class: &str, value: fn(&(u64, u64)) -> u64, shown: fn(u64) -> String| {
        let list: Vec<Bar> = classes
            .iter()
            .map(|(class, sum)| Bar { label: label(*class), value: value(sum) as f64, shown: shown(value(sum)) })
            .collect();
        bars(title, class, &list)
    };
    format!(
        "<div class=\"charts\">{}{}</div>",
        chart("calls by message size", "a", |sum| sum.0, shown_count),
        chart("bytes by message size", "b", |sum| sum.1, shown_bytes)
    )
}

fn matrix(profile: &Merged) -> String {
    let m = &profile.matrix(LARGEST_CHART);
    if m.calls.iter().flatten().all(|&calls| calls == 0) {
        return String::new();
    }
    format!(
        "<div class=\"charts\">{}{}</div>",
        heat(m, "bytes", &m.bytes, shown_bytes),
        heat(m, "calls", &m.calls, shown_count)
    )
}

/// One matrix: a square a cell, of a stronger colour for more.
fn heat(m: &Matrix, title: &str, rows: &[Vec<u64>], shown: fn(u64) -> String) -> String {
    let count = rows.len();
    let cell = cell_side(count);
    let side = cell * count as f64;
    let mut out = format!(
        "<div class=\"chart\"><h4>{title}, from (row) to (column)</h4><svg viewBox=\"0 0 470 {:.0}\" role=\"img\">",
        side + 26.0
    );
    // As many labels as there is room for.
    let every = (count as f64 * 14.0 / side).ceil().max(1.0) as usize;
    let labels = distinct_names(&m.labels, if m.by_pe { 6 } else { 9 }, "\u{2026}");
    for at in (0..count).step_by(every) {
        let middle = (at as f64 + 0.5) * cell;
        let label = &labels[at];
        let _ = write!(out, "<text x=\"62\" y=\"{:.1}\" class=\"end dim\">{}</text>", middle + 26.0, escape(label));
        if m.by_pe && (every == 1 && cell >= 18.0 || at % (every * 2) == 0) {
            let _ = write!(out, "<text x=\"{:.1}\" y=\"14\" class=\"mid dim\">{}</text>", 70.0 + middle, escape(label));
        }
    }
    cells(&mut out, m, rows, shown);
    let unit = if m.by_pe { "PE" } else { "group of PEs" };
    let _ = write!(
        out,
        "</svg><p class=\"key\"><span><i class=\"none\"></i>nothing</span><span><i class=\"some\"></i>to</span>\
         <span><i class=\"most\"></i>{} from one {unit} to one</span></p></div>",
        escape(&shown(most(rows) as u64))
    );
    out
}

fn cells(out: &mut String, m: &Matrix, rows: &[Vec<u64>], shown: fn(u64) -> String) {
    let (side, most) = (cell_side(rows.len()), most(rows));
    for (from, row) in rows.iter().enumerate() {
        for (to, &value) in row.iter().enumerate() {
            // By the logarithm: a matrix has cells that differ by powers of ten.
            let shade = if value == 0 { 0.0 } else { 0.12 + 0.88 * (value as f64).ln_1p() / most.ln_1p() };
            let (class, shade) = if value == 0 { ("grid", 0.5) } else { ("a", shade) };
            let _ = write!(
                out,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" class=\"{class}\" \
                 opacity=\"{shade:.2}\"><title>{} to {}: {}</title></rect>",
                70.0 + to as f64 * side,
                22.0 + from as f64 * side,
                side * 0.96,
                side * 0.96,
                escape(&m.labels[from]),
                escape(&m.labels[to]),
                shown(value)
            );
        }
    }
}

fn cell_side(count: usize) -> f64 {
    (380.0 / count as f64).min(48.0)
}

fn most(rows: &[Vec<u64>]) -> f64 {
    rows.iter().flatten().copied().max().unwrap_or(1).max(1) as f64
}

/// What each PE made the others lose.
fn late_pes(profile: &Merged) -> String {
    let mut by_pe = std::collections::BTreeMap::<u32, u64>::new();
    for late in &profile.late {
        for (&pe, (_, lost)) in &late.by_pe {
            let sum = by_pe.entry(pe).or_default();
            *sum = sum.saturating_add(*lost);
        }
    }
    let mut list: Vec<Bar> = by_pe
        .iter()
        .map(|(pe, &lost)| Bar { label: format!("PE {pe}"), value: lost as f64, shown: shown_time(lost as f64) })
        .collect();
    list.sort_by(|a, b| b.value.total_cmp(&a.value));
    list.truncate(BARS);
    bars("what the others lost by waiting for", "c", &list)
}
