//! What each PE did over time, as a strip a PE.

use std::fmt::Write as _;

use pellucid_profile::merge::{Merged, STRIP_COLUMNS};
use pellucid_profile::report::{shown_pes, shown_time};
use pellucid_profile::timeline::{DATA, MEETINGS, SETUP, UNRECORDED, WAITS};

use crate::html::escape;

/// Kinds of time: name, colour's class, colour, and which it is.
const KINDS: [(&str, &str, &str, usize); 5] = [
    ("put, get, all else in the library", "b", "--acc2", DATA),
    ("waits, locks", "d", "--dim", WAITS),
    ("barriers, collectives", "c", "--warm", MEETINGS),
    ("initialization, finalization", "a", "--acc", SETUP),
    ("not recorded: the level of the profile was 0", "u", "--card", UNRECORDED),
];
/// Pixels of a PE's strip, and of the time that it shows.
const HEIGHT: f64 = 16.0;
const WIDTH: f64 = 490.0;

/// The strips; empty where no PE has recorded what it did over time.
pub(super) fn chart(profile: &Merged) -> String {
    let pes = shown_pes(profile, super::PES).into_iter().map(|at| &profile.pes[at]);
    let all: Vec<_> = pes.filter_map(|pe| Some((pe.pe, pe.strip.as_ref()?))).collect();
    let begin = all.iter().map(|(_, strip)| strip.begin_ns).min().unwrap_or(0);
    let end = all.iter().map(|(_, strip)| strip.end_ns).max().unwrap_or(0);
    if end <= begin {
        return String::new();
    }
    let x = |ns: u64| 64.0 + WIDTH * (ns - begin) as f64 / (end - begin) as f64;
    let height = all.len() as f64 * (HEIGHT + 4.0) + 20.0;
    let mut out = format!("<div class=\"chart\"><h4>over time</h4><svg viewBox=\"0 0 560 {height:.0}\" role=\"img\">");
    for (at, (pe, strip)) in all.iter().enumerate() {
        let y = at as f64 * (HEIGHT + 4.0) + 2.0;
        let _ = write!(out, "<text x=\"56\" y=\"{:.0}\" class=\"end\">PE {pe}</text>", y + 12.0);
        let (from, to) = (x(strip.begin_ns), x(strip.end_ns));
        let _ = write!(
            out,
            "<rect x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{HEIGHT}\" class=\"grid\"/>",
            to - from
        );
        for column in 0..STRIP_COLUMNS {
            let ((begin, end), shares) = (strip.range_ns(column), strip.shares(column));
            let mut bottom = y + HEIGHT;
            for (name, class, _, kind) in KINDS {
                let part = HEIGHT * shares[kind];
                if part < 0.3 {
                    continue;
                }
                bottom -= part;
                let _ = write!(
                    out,
                    "<rect x=\"{:.2}\" y=\"{bottom:.1}\" width=\"{:.2}\" height=\"{part:.1}\" \
                     class=\"{class}\"><title>PE {pe}, from {}: {name} {:.0} %</title></rect>",
                    x(begin),
                    x(end) - x(begin),
                    escape(&shown_time(begin as f64)),
                    100.0 * shares[kind]
                );
            }
        }
    }
    let _ = write!(
        out,
        "<text x=\"64\" y=\"{:.0}\" class=\"dim\">{}</text><text x=\"554\" y=\"{:.0}\" class=\"end \
         dim\">{}</text></svg><p class=\"key\">",
        height - 4.0,
        escape(&shown_time(begin as f64)),
        height - 4.0,
        escape(&shown_time(end as f64))
    );
    let is_there = |kind: usize| kind != UNRECORDED || all.iter().any(|(_, strip)| strip.has(kind));
    for (name, _, colour, _) in KINDS.into_iter().filter(|(.., kind)| is_there(*kind)) {
        let _ = write!(out, "<span><i style=\"background:var({colour})\"></i>{name}</span>");
    }
    out.push_str("<span><i style=\"background:var(--line)\"></i>the program itself</span></p>");
    let _ = write!(out, "{}</div>", super::some_of(profile));
    out
}
