//! The results as a table on screen.

use crate::results::Row;
use crate::targets::{self, Target};

const HEADS: [&str; 12] = [
    "bench",
    "memory",
    "bytes",
    "PEs",
    "Pellucid",
    "spread",
    "rate",
    "OSHMEM",
    "ratio",
    "limit",
    "instructions",
    "target",
];
/// The last column: its head is empty.
const COLUMNS: usize = HEADS.len() + 1;
/// These are text and stand left; numbers stand right.
const LEFT: [usize; 5] = [0, 1, 9, 11, 12];

/// Nanoseconds in the unit that suits them, three digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        size if size < 1e3 => (ns, "ns"),
        size if size < 1e6 => (ns / 1e3, "us"),
        size if size < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Bytes as people write sizes of buffers.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => "-".to_owned(),
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n if n >= 1 << 10 && n % (1 << 10) == 0 => format!("{} KiB", n >> 10),
        n => n.to_string(),
    }
}

/// How much a second: data where that is what counts, operations else.
fn rate(bytes: u64, ns: f64) -> String {
    if bytes >= 64 {
        format!("{} GB/s", three_digits(bytes as f64 / ns))
    } else if ns < 1e3 {
        format!("{} M/s", three_digits(1e3 / ns))
    } else if ns < 1e6 {
        format!("{} k/s", three_digits(1e6 / ns))
    } else {
        String::new()
    }
}

fn cells(row: &Row, target: Option<&Target>) -> [String; COLUMNS] {
    let key = &row.key;
    let dash = || "-".to_owned();
    let ours = row.ours.filter(|_| !row.machine);
    let own_time = row.ours.map(|s| s.median);
    let peer = row.peer("oshmem");
    let limit = match (&row.limit, row.machine) {
        (_, true) => own_time.map_or_else(dash, time),
        (Some((name, ns)), _) => format!("{} {name}", time(*ns)),
        (None, _) => dash(),
    };
    let instructions = row.instructions.map_or_else(String::new, |(ours, theirs)| format!("{ours:.0} / {theirs:.0}"));
    [
        key.bench.clone(),
        if key.memory == "none" { dash() } else { key.memory.clone() },
        size(key.bytes),
        key.pes.to_string(),
        ours.map_or_else(dash, |s| time(s.median)),
        row.ours.map_or_else(dash, |s| time(s.spread)),
        own_time.or(peer).map_or_else(dash, |ns| rate(key.bytes, ns)),
        peer.map_or_else(dash, time),
        ours.zip(peer).map_or_else(dash, |(s, peer)| format!("{:.2}", s.median / peer)),
        limit,
        instructions,
        target.map_or_else(String::new, |t| t.text.clone()),
        match target.and_then(|t| t.met) {
            Some(true) => "met".to_owned(),
            Some(false) => "MISSED".to_owned(),
            None => String::new(),
        },
    ]
}

/// The whole table, a heading for each group.
pub fn table(rows: &[Row]) -> String {
    let lines: Vec<(&str, [String; COLUMNS])> =
        rows.iter().map(|row| (row.group, cells(row, targets::target(row, rows).as_ref()))).collect();
    let mut widths = [0; COLUMNS];
    for (column, width) in widths.iter_mut().enumerate() {
        let head = HEADS.get(column).map_or(0, |h| h.len());
        let longest = lines.iter().map(|(_, cells)| cells[column].len()).max().unwrap_or(0);
        // A column with nothing in it is left out.
        *width = if longest == 0 { 0 } else { head.max(longest) };
    }

    let mut text = aligned(&HEADS.map(str::to_owned), &widths);
    let mut group = "";
    for (of, cells) in &lines {
        if *of != group {
            group = of;
            text += &format!("\n{group}\n");
        }
        text += &aligned(cells, &widths);
    }
    text
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0) {
        line += &if LEFT.contains(&column) { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") };
    }
    format!("{}\n", line.trim_end())
}

/// How many targets are met, and which are not.
pub fn verdict(rows: &[Row]) -> String {
    let mut met = 0;
    let mut missed = Vec::new();
    let mut unknown = 0;
    for row in rows {
        let Some(target) = targets::target(row, rows) else {
            continue;
        };
        match target.met {
            Some(true) => met += 1,
            None => unknown += 1,
            Some(false) => missed.push(format!(
                "  {} {} {}, {} PEs: {}, target {}{}\n",
                row.key.bench,
                row.key.memory,
                size(row.key.bytes),
                row.key.pes,
                row.ours.map_or_else(String::new, |s| time(s.median)),
                target.text,
                match target.ns.map(time) {
                    Some(ns) if !target.text.contains(&ns) => format!(" = {ns}"),
                    _ => String::new(),
                },
            )),
        }
    }
    let mut text = format!("targets: {met} met, {} missed, {unknown} that this run cannot tell\n", missed.len());
    if !missed.is_empty() {
        text += "missed:\n";
        text += &missed.concat();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::OURS;
    use crate::results::Results;
    use crate::results::tests::measured;

    #[test]
    fn times_and_sizes_read_well() {
        assert_eq!(time(4.213), "4.21 ns");
        assert_eq!(time(12_345.0), "12.3 us");
        assert_eq!(time(99_990_000.0), "100 ms");
        assert_eq!(time(2.5e9), "2.50 s");
        assert_eq!(size(0), "-");
        assert_eq!(size(8), "8");
        assert_eq!(size(32768), "32 KiB");
        assert_eq!(size(16 << 20), "16 MiB");
        assert_eq!(rate(1 << 20, 104_857.6), "10.0 GB/s");
        assert_eq!(rate(8, 4.0), "250 M/s");
    }

    #[test]
    fn a_table_shows_ratio_and_target() {
        let mut results = Results::default();
        results.add("rma", OURS, measured("p", "heap", 8, 2, 4.0));
        results.add("rma", "oshmem", measured("p", "heap", 8, 2, 16.0));
        results.add("rma", OURS, measured("g", "heap", 8, 2, 40.0));
        let rows = results.rows();
        let text = table(&rows);
        let p = text.lines().find(|l| l.starts_with("p ")).unwrap();
        for part in ["4.00 ns", "16.0 ns", "0.25", "2.00 ns memcpy", "<= 5.00 ns", "met"] {
            assert!(p.contains(part), "{part} in {p}");
        }
        let summary = verdict(&rows);
        assert!(summary.starts_with("targets: 1 met, 1 missed, 0"), "{summary}");
        assert!(summary.contains("g heap 8, 2 PEs: 40.0 ns"), "{summary}");
    }
}
