//! Aligned columns.

/// Width that a report keeps to.
pub(super) const WIDTH: usize = 100;

/// A table: the first column flush left, the others flush right.
pub(super) struct Table {
    widths: Vec<usize>,
    lines: Vec<String>,
}

impl Table {
    /// Columns by title and width; the first takes what is left of [`WIDTH`], but no more than it needs.
    pub(super) fn new(first: &str, longest_first: usize, others: &[(&str, usize)]) -> Table {
        let taken: usize = others.iter().map(|(_, width)| width).sum();
        let left = longest_first.max(first.chars().count()).min(WIDTH - taken);
        let widths = std::iter::once(left).chain(others.iter().map(|&(_, width)| width)).collect();
        let mut table = Table { widths, lines: Vec::new() };
        let titles: Vec<String> = others.iter().map(|(title, _)| (*title).to_owned()).collect();
        table.row(first, &titles);
        table
    }

    /// Adds a row. A first cell that is too long gets a line of its own.
    pub(super) fn row(&mut self, first: &str, others: &[String]) {
        let mut line = format!("{first:<width$}", width = self.widths[0]);
        if first.chars().count() > self.widths[0] {
            self.lines.push(line);
            line = " ".repeat(self.widths[0]);
        }
        for (cell, width) in others.iter().zip(&self.widths[1..]) {
            line.push_str(&format!("{cell:>width$}"));
        }
        self.line(&line);
    }

    /// Adds a line of text.
    pub(super) fn line(&mut self, text: &str) {
        self.lines.push(text.trim_end().to_owned());
    }

    /// The table as text.
    pub(super) fn finish(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }
}
