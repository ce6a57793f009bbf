//! Tables as comma-separated values, read by those who read such files: Python's csv module, and pandas where it is
//! installed.

mod cases;
mod scratch;

use std::fs;
use std::path::Path;
use std::process::Command;

use pellucid_profile::file;
use pellucid_profile::output::OutputDir;
use pellucid_profile::report::VIEWS;
use scratch::Scratch;

/// Reads every file of a directory; prints how many rows each has. What is no table ends it with a message.
const READER: &str = r#"
import csv, os, sys
TEXT = {"site", "routine", "region", "host", "lock", "address", "waiting_at", "released_by", "by_routine", "by_site",
    "by_region", "because", "from", "to", "from_routine", "to_routine", "of", "kind", "counter", "around", "name",
    "reason", "size", "why", "what", "callers", "marker",
    "context", "team", "distance", "number", "algorithm", "file", "estimated"}
try:
    import pandas
except ImportError:
    pandas = None
for name in sorted(os.listdir(sys.argv[1])):
    path, view = os.path.join(sys.argv[1], name), name.removesuffix(".csv")
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f, strict=True))
    head, rows = rows[0], rows[1:]
    assert len(set(head)) == len(head) and all(column.isidentifier() for column in head), (name, head)
    # In the matrix these are numbers of PEs.
    text = TEXT - ({"from", "to"} if view == "matrix" else set())
    for row in rows:
        assert len(row) == len(head), (name, row)
        for column, value in zip(head, row):
            assert value not in ("-", "(not known)", "nan", "inf", "null", "None"), (name, column, value)
            if column not in text and value != "":
                float(value)
    if pandas is not None:
        frame = pandas.read_csv(path, keep_default_na=False, na_values=[""])
        assert list(frame.columns) == head and len(frame) == len(rows), name
        for column in set(head) - text:
            assert frame[column].dtype.kind in "iuf" or not rows, (name, column, frame[column].dtype)
    print(view, len(rows))
"#;

/// Every shape of profile that the golden texts are of, and one with what cannot be known in it.
#[test]
fn every_view_of_every_shape_is_one_table() {
    let mut seen = 0;
    for (case, profile) in cases::all() {
        let dir = Scratch::new(&format!("tables-{case}"));
        file::write(&profile, &OutputDir::take(dir.path()).unwrap()).unwrap();
        let tables = Scratch::new(&format!("tables-{case}-csv"));
        let output = Command::new(env!("CARGO_BIN_EXE_oshprof"))
            .args(["report", "--csv-dir"])
            .args([tables.path(), dir.path()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
        let read = read_with_python(tables.path());
        let Some(counts) = read else { return };
        for view in VIEWS.iter().map(|view| view.name) {
            assert!(counts.iter().any(|(name, _)| name == view), "{case}: {view} is not in {counts:?}");
        }
        seen += counts.iter().map(|(_, rows)| rows).sum::<usize>();
    }
    assert!(seen > 400, "{seen} rows in all");
}

/// Views and their rows; `None` where there is no Python.
fn read_with_python(tables: &Path) -> Option<Vec<(String, usize)>> {
    let output = Command::new("python3").args(["-c", READER]).arg(tables).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| line.rsplit_once(' ').map(|(view, rows)| (view.to_owned(), rows.parse().unwrap()));
    let counts: Vec<_> = text.lines().filter_map(pair).collect();
    assert_eq!(counts.len(), fs::read_dir(tables).unwrap().count());
    Some(counts)
}
