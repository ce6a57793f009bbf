//! Who sends how much to whom.

use super::row::{Chart, Json, Tables, View};
use serde_json::{Value, json};

use crate::merge::{LARGEST, LARGEST_TEXT, Matrix, Merged};
use crate::report::distinct_names;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::table::{self, Table};
use crate::tables::Peer;

pub(super) static VIEW: View = View {
    name: "matrix",
    title: "Matrix: who sends to whom",
    help: "bytes and calls from each PE to each PE",
    hint: "Puts, gets, atomics and signals from each PE to each. A column that stands out: many write to or read from \
           one PE. Shades are by the logarithm.",
    chart: Chart::Matrix,
    tables: Tables::Made(|p, _, _| grids(p)),
    text: Some(|p, _| vec![text(p)]),
    json: Json::Member("matrix", |p, _| object(p)),
    ..View::BASE
};

const COLUMNS: [Column; 9] = [
    column("from", "from", Kind::Text),
    column("to", "to", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("put_calls", "puts", Kind::Count),
    column("put_bytes", "put bytes", Kind::Bytes),
    column("get_calls", "gets", Kind::Count),
    column("get_bytes", "get bytes", Kind::Bytes),
    column("amo_calls", "atomics", Kind::Count),
];

/// Columns of text of a label at least.
const LABEL: usize = 7;
/// Pairs of PEs that are listed beside a matrix of groups.
const MOST: usize = 10;

/// Pairs of PEs that have traffic, most bytes first.
fn grids(profile: &Merged) -> Vec<Grid> {
    let mut grid = Grid::new("pairs", "Pairs of PEs", &COLUMNS, "no PE sent anything to another");
    let mut row = |from: Cell, to: Cell, peer: &Peer| {
        let all = peer.all();
        grid.row([
            from,
            to,
            all.calls.into(),
            all.bytes.into(),
            peer.put.calls.into(),
            peer.put.bytes.into(),
            peer.get.calls.into(),
            peer.get.bytes.into(),
            peer.amo.calls.into(),
        ]);
    };
    let others = Cell::Absent("(others)");
    for (from, to) in &profile.pairs {
        row(Cell::Pe(*from), to.pe.map_or_else(|| others.clone(), Cell::Pe), to);
    }
    let (left_out, sum) = &profile.other_pairs;
    if *left_out > 0 {
        row(others.clone(), others, sum);
        grid.notes.push(format!("{left_out} pairs with less traffic are summed up in the last row."));
    }
    vec![grid]
}

/// The matrix for people: bytes above calls.
fn text(profile: &Merged) -> String {
    let m = profile.matrix(LARGEST_TEXT);
    let mut out = String::new();
    let labels = labels(&m);
    let first = labels.iter().map(|label| label.chars().count()).fold(LABEL, usize::max) + 1;
    for (title, rows, kind) in [("bytes", &m.bytes, Kind::Bytes), ("calls", &m.calls, Kind::Count)] {
        out.push_str(&format!("{title} from (row) to (column)\n"));
        let cell = |n: u64| if n == 0 { "-".to_owned() } else { Cell::Whole(n).shown(kind) };
        let cells = |row: Vec<u64>| row.into_iter().map(cell).collect::<Vec<_>>();
        let rows = with_sums(rows).into_iter().map(cells);
        let (table, width) = fitting(first, std::iter::once(labels.clone()).chain(rows).collect());
        for (at, row) in table.iter().enumerate() {
            let label = at.checked_sub(1).map_or("", |at| &labels[at]);
            let row: String = row.iter().map(|cell| format!("{cell:>width$}")).collect();
            out.push_str(&format!("{label:<first$}{row}\n"));
        }
        out.push('\n');
    }
    if !m.by_pe {
        out.push_str("Rows and columns stand for several PEs each; --csv has the pairs of PEs.\n");
    }
    if !m.by_pe {
        out.push_str(&most(profile));
    }
    if m.elsewhere.calls > 0 {
        out.push_str(&format!("{} calls went to PEs that are not kept one by one.\n", m.elsewhere.calls));
    }
    out
}

/// What rows and columns are called, in the room that there is for each beside the others.
fn labels(m: &Matrix) -> Vec<String> {
    let label = |label: &String| if m.by_pe { format!("PE {label}") } else { label.clone() };
    let all: Vec<String> = m.labels.iter().map(label).collect();
    // Of the rows' labels, of each column and of the sums.
    let columns = all.len() + 2;
    let mut labels = distinct_names(&all, LABEL.max(table::width() / columns - 1), "...");
    labels.push("all".to_owned());
    labels
}

/// The same with the sum of each row behind it, and below them the sum of each column.
fn with_sums(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let add = |sum: u64, n: &u64| sum.saturating_add(*n);
    let with_sum = |row: &Vec<u64>| row.iter().copied().chain([row.iter().fold(0, add)]).collect::<Vec<_>>();
    let mut rows: Vec<Vec<u64>> = rows.iter().map(with_sum).collect();
    if let Some(first) = rows.first() {
        rows.push((0..first.len()).map(|at| rows.iter().map(|row| &row[at]).fold(0, add)).collect());
    }
    rows
}

/// The pairs of PEs with most traffic, which groups hide.
fn most(profile: &Merged) -> String {
    if profile.pairs.is_empty() {
        return String::new();
    }
    let mut table = Table::new("most from, to", 20, &[("bytes", 10), ("calls", 10)]);
    for (from, to) in profile.pairs.iter().take(MOST) {
        let all = to.all();
        let to = to.pe.map_or("others".to_owned(), |pe| format!("PE {pe}"));
        let cells = [(all.bytes, Kind::Bytes), (all.calls, Kind::Count)].map(|(n, kind)| Cell::Whole(n).shown(kind));
        table.row(&format!("PE {from} to {to}"), &cells);
    }
    format!("\n{}", table.finish())
}

/// Rows of cells, and the width of each: units are right behind their numbers where there is no room for blanks.
/// `first`: columns of text of what stands before each row.
fn fitting(first: usize, table: Vec<Vec<String>>) -> (Vec<Vec<String>>, usize) {
    let width = |table: &[Vec<String>]| table.iter().flatten().map(|cell| cell.chars().count() + 1).fold(8, usize::max);
    let spaced = width(&table);
    if first + spaced * table.first().map_or(0, Vec::len) <= table::width() {
        return (table, spaced);
    }
    let close = |cell: &String| if cell.starts_with("PE ") { cell.clone() } else { cell.replace(' ', "") };
    let table: Vec<Vec<String>> = table.iter().map(|row| row.iter().map(close).collect()).collect();
    let width = width(&table);
    (table, width)
}

/// For programs. Rows are origins, columns targets.
fn object(profile: &Merged) -> Value {
    let m = profile.matrix(LARGEST);
    json!({
        "by": if m.by_pe { "pe" } else { "group" },
        "labels": m.labels,
        "bytes": m.bytes,
        "calls": m.calls,
        "elsewhere": { "bytes": m.elsewhere.bytes, "calls": m.elsewhere.calls },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_have_their_sums() {
        let rows = [vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9]];
        let sums = [vec![1, 2, 3, 6], vec![4, 5, 6, 15], vec![7, 8, 9, 24], vec![12, 15, 18, 45]];
        assert_eq!(with_sums(&rows), sums);
        assert_eq!(with_sums(&[vec![u64::MAX, 1]]), [[u64::MAX, 1, u64::MAX], [u64::MAX, 1, u64::MAX]]);
    }

    #[test]
    fn hosts_have_labels_of_their_own() {
        let named = |count: usize| Matrix {
            labels: (0..count).map(|host| format!("compute-{host:03}")).collect(),
            ..Matrix::default()
        };
        assert_eq!(labels(&named(8))[6..], ["...-006", "...-007", "all"]);
        assert_eq!(labels(&named(4)), ["compute-000", "compute-001", "compute-002", "compute-003", "all"]);
        let pes = Matrix { labels: vec!["0".to_owned()], by_pe: true, ..Matrix::default() };
        assert_eq!(labels(&pes), ["PE 0", "all"]);
    }

    #[test]
    fn units_stand_apart_where_there_is_room() {
        let row = |cells: usize| vec![vec!["PE 1".to_owned(); cells], vec!["1.50 MiB".to_owned(); cells]];
        assert_eq!(fitting(8, row(8)), (row(8), 9));
        let (table, width) = fitting(8, row(9));
        assert_eq!((table[0][0].as_str(), table[1][0].as_str(), width), ("PE 1", "1.50MiB", 8));
    }
}
