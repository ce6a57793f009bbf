//! Aligned columns.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Columns of a report, unless set otherwise: those of a terminal.
const USUAL: usize = 80;
/// What it may be set to: below, tables would be torn; above, lines are hard to follow.
const WIDTHS: std::ops::RangeInclusive<usize> = 80..=200;

/// The same of sentences, which are broken between any two words.
const PROSE: std::ops::RangeInclusive<usize> = 40..=200;

/// Blanks before a text.
const GAP: usize = 2;

/// No line is as long.
const WIDE: usize = 10_000;

static WIDTH: AtomicUsize = AtomicUsize::new(USUAL);
static PROSE_WIDTH: AtomicUsize = AtomicUsize::new(USUAL);

/// Makes reports as text as wide as the terminal that they go to.
pub fn set_width(columns: usize) {
    WIDTH.store(columns.clamp(*WIDTHS.start(), *WIDTHS.end()), Relaxed);
    PROSE_WIDTH.store(columns.clamp(*PROSE.start(), *PROSE.end()), Relaxed);
}

/// Makes reports as text as wide as they need to be: every column is there.
pub fn set_wide() {
    WIDTH.store(WIDE, Relaxed);
    PROSE_WIDTH.store(WIDE, Relaxed);
}

/// Width that a report keeps to.
pub(super) fn width() -> usize {
    WIDTH.load(Relaxed)
}

/// Width that sentences of a report keep to.
fn prose_width() -> usize {
    PROSE_WIDTH.load(Relaxed)
}

/// How many columns of a terminal a text takes: names of files and functions may be in any script.
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// A text with blanks up to a width.
pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The begin of a text that takes no more than so many columns.
pub(super) fn begin_of(text: &str, width: usize) -> &str {
    let fits = |end: &usize| columns(&text[..*end]) <= width;
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    &text[..ends.take_while(fits).last().unwrap_or(0)]
}

/// Lines of a text, broken between words where they are too long.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    wrapped_to(text, prose_width())
}

/// As [`wrapped`], for lines of this width.
pub(super) fn wrapped_to(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut rest = String::new();
        for word in line.split(' ') {
            if !rest.is_empty() && columns(&rest) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut rest));
            }
            if !rest.is_empty() {
                rest.push(' ');
            }
            rest.push_str(word);
        }
        lines.push(rest);
    }
    lines
}

/// A text that goes on below itself, further right, where it is too long for a line.
pub(super) fn hanging(text: &str) -> String {
    if columns(text) <= prose_width() { text.to_owned() } else { wrapped_to(text, prose_width() - 4).join("\n    ") }
}

/// A text whose lines are broken between words where they are too long.
pub fn filled(text: &str) -> String {
    wrapped(text).iter().map(|line| format!("{line}\n")).collect()
}

/// A text behind a begin of its line, below itself where it is too long.
pub fn below(begin: &str, text: &str) -> String {
    let indent = columns(begin);
    let rest = format!("\n{}", " ".repeat(indent));
    format!("{begin}{}\n", wrapped_to(text, prose_width().saturating_sub(indent)).join(&rest))
}

/// A table: the first column flush left, the others flush right unless they are texts.
pub(super) struct Table {
    /// Of the first column, if there is room.
    longest_first: usize,
    /// Of the other columns at least.
    widths: Vec<usize>,
    /// Which of these are flush left.
    texts: Vec<bool>,
    lines: Vec<Line>,
}

/// What a table is made of.
enum Line {
    Row(String, Vec<String>),
    Text(String),
}

impl Table {
    /// Columns by title and least width; the first takes what is left of [`width`], but no more than it needs.
    pub(super) fn new(first: &str, longest_first: usize, others: &[(&str, usize)]) -> Table {
        let mut table = Table {
            longest_first: longest_first.max(columns(first)),
            widths: others.iter().map(|&(_, width)| width).collect(),
            texts: vec![false; others.len()],
            lines: Vec::new(),
        };
        let titles: Vec<String> = others.iter().map(|(title, _)| (*title).to_owned()).collect();
        table.row(first, &titles);
        table
    }

    /// Which of the other columns are texts.
    pub(super) fn with_texts(self, texts: Vec<bool>) -> Table {
        Table { texts, ..self }
    }

    /// Adds a row. A first cell that is too long gets a line of its own.
    pub(super) fn row(&mut self, first: &str, others: &[String]) {
        // A space before each.
        for (width, cell) in self.widths.iter_mut().zip(others) {
            *width = (*width).max(columns(cell) + 1);
        }
        self.lines.push(Line::Row(first.to_owned(), others.to_vec()));
    }

    /// Adds a line of text, as several where it is too long.
    pub(super) fn line(&mut self, text: &str) {
        self.lines.extend(wrapped(text.trim_end()).into_iter().map(Line::Text));
    }

    /// The table as text.
    pub(super) fn finish(self) -> String {
        let taken: usize = self.widths.iter().sum();
        let left = self.longest_first.min(width().saturating_sub(taken));
        let mut out = String::new();
        for line in self.lines {
            let (first, others) = match line {
                Line::Row(first, others) => (first, others),
                Line::Text(text) => (text, Vec::new()),
            };
            let mut line = padded(&first, left);
            if columns(&first) > left && !others.is_empty() {
                out.push_str(&format!("{}\n", hanging(&first)));
                line = " ".repeat(left);
            }
            for ((cell, width), is_text) in others.iter().zip(&self.widths).zip(&self.texts) {
                let begin = width.saturating_sub(GAP);
                let gap = if *is_text { GAP } else { width.saturating_sub(columns(cell)) };
                line.push_str(&" ".repeat(gap));
                line.push_str(&if *is_text { padded(cell, begin) } else { cell.clone() });
            }
            out.push_str(&format!("{}\n", line.trim_end()));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let word = "x".repeat(25);
        let line = [word.as_str(); 4].join(" ");
        assert_eq!(wrapped(&format!("{line}\nshort")), [[word.as_str(); 3].join(" "), word.clone(), "short".into()]);
        assert_eq!(wrapped(&"y".repeat(150)), ["y".repeat(150)], "a word is not broken");
    }

    #[test]
    fn texts_begin_below_each_other() {
        let mut table = Table::new("call site", 9, &[("routine", 10), ("calls", 7)]).with_texts(vec![true, false]);
        table.row("a.c:1", &["put".into(), "7".into()]);
        assert_eq!(table.finish(), "call site  routine   calls\na.c:1      put           7\n");
    }

    /// Ideographs take two columns each, combining marks none.
    #[test]
    fn columns_are_those_of_the_terminal() {
        let mut table = Table::new("call site", 9, &[("routine", 10), ("calls", 7)]).with_texts(vec![true, false]);
        table.row("\u{8a08}\u{7b97}:1", &["\u{9001}\u{4fe1}".into(), "7".into()]);
        table.row("e\u{301}:1", &["put".into(), "7".into()]);
        let rows = ["\u{8a08}\u{7b97}:1     \u{9001}\u{4fe1}          7", "e\u{301}:1        put           7"];
        assert_eq!(table.finish(), format!("call site  routine   calls\n{}\n", rows.join("\n")));
        let words = ["\u{8a08}\u{7b97}"; 3].join(" ");
        assert_eq!(wrapped_to(&words, 9), ["\u{8a08}\u{7b97} \u{8a08}\u{7b97}", "\u{8a08}\u{7b97}"]);
        assert_eq!((begin_of(&words, 3), begin_of(&words, 9), begin_of("ab", 9)), ("\u{8a08}", &words[..13], "ab"));
    }

    #[test]
    fn what_is_wider_than_its_column_widens_it() {
        let mut table = Table::new("PE", 4, &[("calls", 8), ("bytes", 8)]);
        table.row("0", &["100000000".into(), "7".into()]);
        table.line("no more");
        assert_eq!(table.finish(), "PE       calls   bytes\n0    100000000       7\nno more\n");
    }
}
