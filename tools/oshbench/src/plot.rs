//! What collectives cost as PEs and sizes grow, as a picture: a chart a collective, a line a size, both axes
//! logarithmic.

use std::fmt::Write;

use crate::results::Row;
use crate::table;

/// Group whose rows are drawn.
const GROUP: &str = "scaling";
const CHART: (f64, f64) = (360.0, 300.0);
const MARGIN: (f64, f64) = (70.0, 40.0);
/// From light to dark: sizes from small to large.
const COLORS: [&str; 8] = ["#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#41ab5d", "#238b45", "#e6842a", "#b30000"];

struct Point {
    pes: f64,
    ns: f64,
}

/// One collective's lines: bytes and points by PEs.
type Lines = Vec<(u64, Vec<Point>)>;

/// The picture; without rows of the group, one that says so.
pub fn svg(rows: &[Row]) -> String {
    let mut charts: Vec<(String, Lines)> = Vec::new();
    for row in rows.iter().filter(|r| r.group == GROUP) {
        let Some(ours) = row.ours else { continue };
        let chart = position(&mut charts, row.key.bench.clone());
        let line = position(&mut charts[chart].1, row.key.bytes);
        charts[chart].1[line].1.push(Point { pes: f64::from(row.key.pes), ns: ours.median });
    }
    let columns = 2.min(charts.len()).max(1);
    let lines = charts.len().div_ceil(columns).max(1);
    let (width, height) = (columns as f64 * (CHART.0 + 180.0), lines as f64 * (CHART.1 + 90.0));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    if charts.is_empty() {
        text += "<text x=\"20\" y=\"40\">nothing of the group scaling was measured</text>\n";
    }
    for (i, (name, lines)) in charts.iter().enumerate() {
        let x = (i % columns) as f64 * (CHART.0 + 180.0) + MARGIN.0;
        let y = (i / columns) as f64 * (CHART.1 + 90.0) + MARGIN.1;
        chart(&mut text, name, lines, x, y);
    }
    text + "</svg>\n"
}

/// Index of the entry with that key, made where it is missing.
fn position<K: PartialEq, V: Default>(entries: &mut Vec<(K, V)>, key: K) -> usize {
    entries.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
        entries.push((key, V::default()));
        entries.len() - 1
    })
}

fn chart(text: &mut String, name: &str, lines: &Lines, x: f64, y: f64) {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let most_pes = points().map(|p| p.pes).fold(2.0, f64::max);
    let low = points().map(|p| p.ns).fold(f64::INFINITY, f64::min).log10().floor();
    let high = points().map(|p| p.ns).fold(1.0, f64::max).log10().ceil().max(low + 1.0);
    let at_x = |pes: f64| x + CHART.0 * pes.log2() / most_pes.log2();
    let at_y = |ns: f64| y + CHART.1 * (high - ns.log10()) / (high - low);
    let _ = writeln!(text, "<text x=\"{x}\" y=\"{}\" font-size=\"15\" font-weight=\"bold\">{name}</text>", y - 14.0);
    let mut decade = low;
    while decade <= high {
        let (ns, line) = (10f64.powf(decade), at_y(10f64.powf(decade)));
        let _ = writeln!(
            text,
            "<line x1=\"{x}\" x2=\"{}\" y1=\"{line:.1}\" y2=\"{line:.1}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            x + CHART.0,
            x - 8.0,
            line + 4.0,
            table::time(ns)
        );
        decade += 1.0;
    }
    let mut pes = 1.0;
    while pes <= most_pes {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{pes}</text>",
            at_x(pes),
            y + CHART.1 + 18.0
        );
        pes *= 2.0;
    }
    let _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">PEs</text>",
        x + CHART.0 / 2.0,
        y + CHART.1 + 36.0
    );
    for (i, (bytes, points)) in lines.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let path: Vec<String> = points.iter().map(|p| format!("{:.1},{:.1}", at_x(p.pes), at_y(p.ns))).collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for point in points {
            let (cx, cy) = (at_x(point.pes), at_y(point.ns));
            let _ = writeln!(text, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{color}\"/>");
        }
        key(text, color, *bytes, x + CHART.0 + 14.0, y + 14.0 + 18.0 * (lines.len() - 1 - i) as f64);
    }
}

/// What a colour means, beside a chart.
fn key(text: &mut String, color: &str, bytes: u64, left: f64, label: f64) {
    let _ = writeln!(
        text,
        "<rect x=\"{left}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{color}\"/>\
         <text x=\"{}\" y=\"{label}\">{}</text>",
        label - 10.0,
        left + 18.0,
        if bytes == 0 { "no data".to_owned() } else { table::size(bytes) }
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Key;
    use crate::stats::Summary;

    fn row(group: &'static str, pes: u32, bytes: u64, ns: f64) -> Row {
        Row {
            group,
            key: Key { bench: "sum".to_owned(), memory: "heap".to_owned(), bytes, pes },
            ours: Some(Summary { median: ns, spread: 0.0 }),
            machine: false,
            peers: Vec::new(),
            limit: None,
            instructions: None,
        }
    }

    #[test]
    fn a_line_for_each_size_through_all_its_points() {
        let rows = [
            row(GROUP, 2, 8, 100.0),
            row(GROUP, 4, 8, 1000.0),
            row(GROUP, 2, 64, 200.0),
            row("collectives", 2, 512, 300.0),
        ];
        let picture = svg(&rows);
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert_eq!(picture.matches("<circle").count(), 3);
        // 4 PEs at the right edge, 1 us at the top.
        assert!(picture.contains(&format!("{:.1},{:.1}", MARGIN.0 + CHART.0, MARGIN.1)), "{picture}");
        assert!(svg(&[]).contains("nothing of the group"));
    }
}
