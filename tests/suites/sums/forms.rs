//! The forms of a report: what a table says as text and as CSV is what it says as JSON.

use std::path::Path;

use harness::run::Job;
use harness::tree;
use serde_json::Value;

use super::views::Views;

/// Tables: name of the view in JSON, as an option, title of the first column, and a column with its member.
const COLUMNS: [(&str, &str, &str, &str, &str); 14] = [
    ("routines", "routines", "routine", "calls", "calls"),
    ("callsites", "callsites", "call site", "calls", "calls"),
    ("per_size", "sizes", "routine, message size", "calls", "calls"),
    ("imbalance", "imbalance", "where", "meetings", "calls"),
    ("waits", "waits", "where", "calls", "calls"),
    ("nbi", "nbi", "PE", "issued", "issued"),
    ("nbi", "nbi", "PE", "batches", "batches"),
    ("regions", "regions", "region", "entries", "entries"),
    ("contexts", "contexts", "context", "puts", "put_calls"),
    ("teams", "teams", "team", "collectives", "calls"),
    ("algorithms", "algorithms", "routine", "calls", "calls"),
    ("locks", "locks", "lock", "taken", "taken"),
    ("rates", "rates", "routine, size", "calls", "calls"),
    ("by_distance", "distances", "to", "calls", "calls"),
];

/// The numbers of a column of whole numbers: from the line of titles that begins with `first` to the first line that
/// has none there.
fn column(text: &str, first: &str, title: &str) -> Vec<f64> {
    let mut lines = text.lines().skip_while(|line| !(line.starts_with(&format!("{first} ")) && line.contains(title)));
    let titles = lines.next().unwrap_or_else(|| panic!("no column {title} behind {first}: {text}"));
    // Texts are flush left, numbers flush right.
    let edge = titles.char_indices().skip(first.len()).find_map(|(at, _)| {
        let rest = &titles[at..];
        let is_it = rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(title));
        is_it.then(|| titles[..at].chars().count() + 1 + title.chars().count())
    });
    let edge = edge.unwrap_or_else(|| panic!("no column {title}: {titles}"));
    let cell = |line: &str| -> String { line.chars().take(edge).collect() };
    // Notes below are sentences, whatever stands at that place in them.
    let rows = lines.take_while(|line| line.chars().count() >= edge && line.trim_start().contains("  "));
    let word = |line: &str| cell(line).split_whitespace().last().map(str::to_owned);
    rows.map_while(|line| word(line).filter(|word| word == "-" || word.parse::<f64>().is_ok()))
        .map(|word| word.parse().unwrap_or(0.0))
        .collect()
}

/// Every table with rows, as text and as CSV.
pub fn agree(directory: &Path, views: &Views, what: &str) {
    let oshprof = || Job::new(tree::tool("oshprof")).arg("report").arg(directory);
    let text = |view: &str| oshprof().args(["--view", view, "--wide"]).run().expect_code(0).stdout;
    for (name, view, first, title, member) in COLUMNS {
        let rows = views.rows(name);
        if rows.is_empty() {
            continue;
        }
        let mut shown = column(&text(view), first, title);
        // What begins and ends the program stands below the sum of the others.
        let is_apart = |row: &&Value| name == "routines" && row["share"].is_null();
        let of = |row: &Value| row[member].as_f64().unwrap_or(0.0);
        let main: Vec<f64> = rows.iter().filter(|row| !is_apart(row)).map(of).collect();
        if name == "routines" {
            assert_eq!(shown.remove(main.len()), main.iter().sum::<f64>(), "{what}: {}", text(view));
        }
        let numbers: Vec<f64> = main.into_iter().chain(rows.iter().filter(is_apart).map(of)).collect();
        assert_eq!(shown, numbers, "{what}: {view} as text: {}", text(view));
    }
    // A line for each routine whose calls were timed.
    let log = oshprof().args(["--hdr", "-"]).run().expect_code(0).stdout;
    for row in views.rows("routines").iter().filter(|row| row["p99_ns"].as_f64().is_some_and(|ns| ns > 0.0)) {
        let line = format!("\nTag={},0.000,", row["routine"].as_str().expect("a name"));
        assert!(log.contains(&line), "{what}: {line}: {log}");
    }
    let folder = directory.with_extension("csv");
    oshprof().arg("--csv-dir").arg(&folder).run().expect_code(0);
    for view in ["callsites", "rates", "regions", "nbi", "imbalance", "waits", "phases", "locks", "contexts", "teams"] {
        let text = std::fs::read_to_string(folder.join(format!("{view}.csv"))).expect("the table");
        let lines: Vec<Vec<String>> = text.lines().map(fields).collect();
        let rows = views.rows(view);
        assert_eq!(lines.len(), rows.len() + 1, "{what}: {view} as CSV");
        for (line, row) in lines[1..].iter().zip(rows) {
            for (cell, name) in line.iter().zip(&lines[0]) {
                assert!(is_same(cell, &row[name]), "{what}: {name} of {view} as CSV: {cell}, {row}");
            }
        }
    }
}

/// Whether a cell of CSV is this value; fractions but for the last digits, which JSON is read without.
fn is_same(cell: &str, value: &Value) -> bool {
    match value {
        Value::Null => cell.is_empty(),
        Value::Number(number) => match (cell.parse::<f64>(), number.as_f64()) {
            (Ok(cell), Some(number)) => (cell - number).abs() <= 1e-12 * number.abs(),
            _ => false,
        },
        value => value.as_str() == Some(cell),
    }
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    all.push(field);
    all
}
