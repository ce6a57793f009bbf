//! A table of values with their units: shown as text, CSV, JSON and HTML alike.

use serde_json::{Map, Value, json};

use super::table::{self, Table};
use super::units;
use crate::text::visible;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A number of something.
    Count,
    /// Bytes.
    Bytes,
    /// The largest number of bytes that belongs here: shown as the first that does not.
    Below,
    /// Nanoseconds.
    Time,
    /// A share, 0 to 1.
    Share,
    /// A plain number with a fraction.
    Number,
    /// Bytes in a nanosecond.
    Rate,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name in CSV and JSON: the unit is part of it.
    pub name: &'static str,
    /// Title for people; empty: not shown as text, for lack of room.
    pub title: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// Makes a column.
pub const fn column(name: &'static str, title: &'static str, kind: Kind) -> Column {
    Column { name, title, kind }
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Not known.
    None,
    /// No value: for people a word why. As `None` for programs.
    Absent(&'static str),
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// The number of a PE: as it is, however large.
    Pe(u32),
    /// A number with a fraction.
    Real(f64),
    /// A number that is estimated: for people with a mark.
    About(Box<Cell>),
}

impl From<u64> for Cell {
    fn from(value: u64) -> Cell {
        Cell::Whole(value)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Cell {
        Cell::Whole(value.into())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::Real(value)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::None, Into::into)
    }
}

impl Cell {
    /// The same as an estimate.
    pub fn about(self) -> Cell {
        if matches!(self, Cell::Whole(_) | Cell::Real(_)) { Cell::About(Box::new(self)) } else { self }
    }

    /// As a number; 0 where it is none.
    pub fn number(&self) -> f64 {
        match self {
            Cell::Whole(value) => *value as f64,
            Cell::Real(value) => *value,
            Cell::Pe(pe) => f64::from(*pe),
            Cell::About(cell) => cell.number(),
            Cell::None | Cell::Absent(_) | Cell::Text(_) => 0.0,
        }
    }

    /// For people.
    pub fn shown(&self, kind: Kind) -> String {
        match (self, kind) {
            (Cell::None, _) => "-".to_owned(),
            (Cell::Absent(why), _) => (*why).to_owned(),
            (Cell::Text(text), _) => visible(text),
            (Cell::About(cell), _) => format!("~{}", cell.shown(kind)),
            (Cell::Pe(pe), _) => pe.to_string(),
            (Cell::Whole(n), Kind::Bytes) => units::bytes(*n),
            (Cell::Whole(u64::MAX), Kind::Below) => "any".to_owned(),
            (Cell::Whole(n), Kind::Below) => format!("< {}", units::bytes(n + 1)),
            (Cell::Whole(n), Kind::Count | Kind::Text | Kind::Number) => units::count(*n),
            (cell, Kind::Time) => units::time(cell.number()),
            (cell, Kind::Rate) => units::rate(cell.number()),
            (cell, Kind::Share) => format!("{:.1} %", 100.0 * cell.number()),
            (cell, Kind::Bytes | Kind::Below) => units::bytes(cell.number() as u64),
            (Cell::Real(value), _) => units::number(*value),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::None | Cell::Absent(_) => Value::Null,
            Cell::Text(text) => json!(text),
            Cell::Whole(n) => json!(n),
            Cell::Pe(pe) => json!(pe),
            Cell::Real(value) => json!(value),
            Cell::About(cell) => cell.json(),
        }
    }

    fn csv(&self) -> String {
        match self {
            Cell::None | Cell::Absent(_) => String::new(),
            Cell::Whole(n) => n.to_string(),
            Cell::Pe(pe) => pe.to_string(),
            Cell::Real(value) => value.to_string(),
            Cell::About(cell) => cell.csv(),
            Cell::Text(text) => csv_field(text),
        }
    }
}

/// Text as a field of comma-separated values: with quotes where it needs them, and nothing that a spreadsheet takes for
/// a formula, which a leading sign is, also behind white space.
pub fn csv_field(text: &str) -> String {
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let safe = if is_formula || text.starts_with(['\t', '\r', '\n']) { format!("'{text}") } else { text.to_owned() };
    if safe.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Name in JSON.
    pub name: &'static str,
    /// Title for people.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, as many cells as columns each.
    pub rows: Vec<Vec<Cell>>,
    /// What to know of it.
    pub notes: Vec<String>,
    /// What to say where there is no row.
    pub empty: &'static str,
    /// What is summed over PEs in it, where nothing else says so.
    pub sums: Option<&'static str>,
    /// In a report as text it is there only where it was asked for by its own name.
    pub on_request: bool,
}

impl Grid {
    /// A table without rows.
    pub fn new(name: &'static str, title: &str, columns: &[Column], empty: &'static str) -> Grid {
        let (title, columns) = (title.to_owned(), columns.to_vec());
        Grid { name, title, columns, rows: Vec::new(), notes: Vec::new(), empty, sums: None, on_request: false }
    }

    /// The same of which a note says what is summed over PEs: `Calls and bytes`.
    pub fn of_sums(self, sums: &'static str) -> Grid {
        Grid { sums: Some(sums), ..self }
    }

    /// The same that is no part of a report as text, unless it is asked for by its own name.
    pub fn on_request(self) -> Grid {
        Grid { on_request: true, ..self }
    }

    /// The place of the column with this name.
    pub fn at(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        self.rows.push(row);
    }

    /// What the mark of estimates says, where there are any.
    pub fn estimates(&self) -> Option<String> {
        let is_any = self.rows.iter().flatten().any(|cell| matches!(cell, Cell::About(_)));
        is_any.then(|| "~ estimated: not each of these calls was timed.".to_owned())
    }

    /// Keeps the first rows; says how many are left out.
    pub fn cut(&mut self, top: Option<usize>) {
        let left_out = self.rows.len().saturating_sub(top.unwrap_or(usize::MAX));
        if left_out > 0 {
            self.rows.truncate(self.rows.len() - left_out);
            self.notes.push(format!("... and {left_out} more"));
        }
    }

    /// Aligned text, as wide as a report is: the first column takes what is left.
    pub fn text(&self) -> String {
        if self.rows.is_empty() {
            let notes: String = self.notes.iter().map(|note| table::filled(note)).collect();
            return table::filled(self.empty) + &notes;
        }
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&at| !self.columns[at].title.is_empty()).collect();
        let columns: Vec<Column> = kept.iter().map(|&at| self.columns[at]).collect();
        let shown: Vec<Vec<String>> =
            self.rows.iter().map(|row| kept.iter().map(|&at| row[at].shown(self.columns[at].kind)).collect()).collect();
        let width = |at: usize| {
            let cells = shown.iter().map(|row| table::columns(&row[at]));
            cells.chain([table::columns(columns[at].title)]).max().unwrap_or(0)
        };
        let widths: Vec<(&str, usize)> = (1..columns.len()).map(|at| (columns[at].title, width(at) + 2)).collect();
        let taken: usize = widths.iter().map(|(_, width)| width).sum();
        if taken + 9 > table::width() {
            return self.stacked(&columns, &shown);
        }
        // Numbers of PEs are in columns of texts, too.
        let is_text = |at: &usize| self.rows.iter().any(|row| matches!(row[*at], Cell::Text(_)));
        let texts = kept.iter().skip(1).map(is_text).collect();
        let mut aligned = Table::new(columns[0].title, width(0), &widths).with_texts(texts);
        for row in &shown {
            aligned.row(&row[0], &row[1..]);
        }
        self.notes.iter().flat_map(|note| table::wrapped(note)).for_each(|line| aligned.line(&line));
        aligned.finish()
    }

    /// What is too wide for a line: a block a row.
    fn stacked(&self, columns: &[Column], shown: &[Vec<String>]) -> String {
        let mut out = String::new();
        for (row, cells) in shown.iter().zip(&self.rows) {
            let begin = if matches!(cells.first(), Some(Cell::Pe(_))) { "PE " } else { "" };
            out.push_str(&format!("{}\n", table::hanging(&format!("{begin}{}", row[0]))));
            let mut line = String::from(" ");
            for (cell, column) in row.iter().zip(columns).skip(1).filter(|(cell, _)| *cell != "-") {
                let part = format!(" {} {cell}", column.title);
                if table::columns(&part) + 2 > table::width() {
                    // Longer than a line by itself.
                    if line.trim() != "" {
                        out.push_str(&format!("{}\n", line.trim_end_matches(',')));
                    }
                    let lines = table::wrapped_to(part.trim(), table::width() - 4);
                    lines.iter().for_each(|part| out.push_str(&format!("  {part}\n")));
                    line = String::from(" ");
                    continue;
                }
                if table::columns(&line) + table::columns(&part) + 1 > table::width() && line.trim() != "" {
                    out.push_str(&format!("{}\n", line.trim_end_matches(',')));
                    line = String::from(" ");
                }
                line.push_str(&part);
                line.push(',');
            }
            if line.trim() != "" {
                out.push_str(&format!("{}\n", line.trim_end_matches(',')));
            }
        }
        self.notes.iter().flat_map(|note| table::wrapped(note)).for_each(|line| out.push_str(&format!("{line}\n")));
        out
    }

    /// Comma-separated values with a line of names, as RFC 4180 has them.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let mut out = format!("{}\r\n", names.join(","));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::csv).collect();
            out.push_str(&format!("{}\r\n", cells.join(",")));
        }
        out
    }

    /// One object a row.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| -> Value {
            let pairs = row.iter().zip(&self.columns).map(|(cell, column)| (column.name.to_owned(), cell.json()));
            Value::Object(pairs.collect::<Map<String, Value>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let columns = [
            column("name", "name", Kind::Text),
            column("bytes", "bytes", Kind::Bytes),
            column("ns", "time", Kind::Time),
        ];
        let mut grid = Grid::new("things", "Things", &columns, "nothing");
        grid.row(["a, \"b\"".into(), 2048_u64.into(), 1500.0.into()]);
        grid.row(["=1+1".into(), Cell::None, 0.5.into()]);
        grid.row([Cell::Absent("(others)"), 0_u64.into(), 0.0.into()]);
        grid
    }

    #[test]
    fn every_form_has_every_cell() {
        let grid = grid();
        assert_eq!(
            grid.text(),
            "name      bytes     time\na, \"b\"    2 KiB  1.50 us\n=1+1          -  0.50 ns\n(others)    0 B     0 ns\n"
        );
        assert_eq!(grid.csv(), "name,bytes,ns\r\n\"a, \"\"b\"\"\",2048,1500\r\n'=1+1,,0.5\r\n,0,0\r\n");
        assert_eq!(grid.json()[0], json!({ "name": "a, \"b\"", "bytes": 2048, "ns": 1500.0 }));
        assert_eq!((&grid.json()[1]["bytes"], &grid.json()[2]["name"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn a_place_that_is_longer_than_a_line_goes_on_in_the_next() {
        let place =
            ["receive_edges at stencil.c:97", "inlined in step_with_signals at stencil.c:115", "inlined in main"];
        let (columns, mut few) = (grid().columns, grid());
        few.row([place.join(", ").into(), 0_u64.into(), 0.0.into()]);
        let many: Vec<Column> = columns.iter().copied().cycle().take(30).collect();
        let mut wide = Grid::new("things", "Things", &many, "nothing");
        wide.rows.push(std::iter::once(place.join(", ").into()).chain((1..30).map(|n| (n as f64).into())).collect());
        for text in [few.text(), wide.text()] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains(&place.join(", ")), "{text}");
        }
    }

    #[test]
    fn estimates_have_a_mark_for_people_only() {
        let mut grid = Grid::new("things", "Things", &grid().columns[1..], "nothing");
        grid.row([Cell::Whole(2048).about(), Cell::Real(1500.0).about()]);
        grid.row([Cell::None.about(), 0.5.into()]);
        assert_eq!(grid.text(), "bytes       time\n~2 KiB  ~1.50 us\n-        0.50 ns\n");
        assert_eq!(grid.csv(), "bytes,ns\r\n2048,1500\r\n,0.5\r\n");
        assert_eq!(grid.json()[0], json!({ "bytes": 2048, "ns": 1500.0 }));
    }

    #[test]
    fn what_is_cut_is_told() {
        let mut grid = grid();
        grid.cut(Some(1));
        assert!(grid.text().ends_with("... and 2 more\n"));
        let empty = Grid { rows: Vec::new(), notes: Vec::new(), ..grid };
        assert_eq!(empty.text(), "nothing\n");
    }
}
