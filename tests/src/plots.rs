//! The panels of a dashboard as plots on one page, for a person to look at where no Grafana is at hand: each query of
//! each panel, as Prometheus answers it for the last seconds, in the places and with the units and names that Grafana
//! would give them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

/// Width and height of a plot, and what is left of it for the axes: left, below.
const SIZE: (f64, f64) = (560.0, 170.0);
const AXES: (f64, f64) = (76.0, 18.0);
/// Series that a legend names.
const NAMED: usize = 10;
/// Colours of Okabe and Ito, and dashes for those that come after.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 3] = ["none", "7 3", "2 3"];
const STYLE: &str = "body{font:13px/1.3 \
    sans-serif;margin:16px;color:#1a1a1a;background:#f4f5f5}h1{font-size:20px;margin:0 0 12px}\
    main{display:grid;grid-template-columns:repeat(24,1fr);gap:8px}\
    section{background:#fff;border:1px solid #ccc;border-radius:3px;padding:8px;min-width:0;overflow:hidden}\
    h2{font-size:14px;margin:0}p{margin:2px 0 6px;color:#555}svg{width:100%;display:block}svg \
    text{font-size:12px;fill:#444}ul{list-style:none;margin:6px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:2px 14px}\
    dl{display:flex;flex-wrap:wrap;gap:4px 22px;margin:6px 0}dd{margin:0;font-size:26px}dt{color:#555}\
    th,td{text-align:left;padding:2px 16px 2px 0}.none{color:#b33c00}";

/// A page under way.
pub struct Page {
    text: String,
}

/// A series of an answer: its name, and times and values.
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Page {
    /// An empty one.
    pub fn new(title: &str) -> Page {
        let title = escape(title);
        Page {
            text: format!(
                "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>\
                 <h1>{title}</h1><main>\n"
            ),
        }
    }

    /// Adds a panel, as it is in a dashboard. `answers`: of its queries, as `/api/v1/query_range` gives them.
    pub fn add(&mut self, panel: &Value, answers: &[Value]) {
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        let legend = |at: usize| targets.get(at).and_then(|target| target["legendFormat"].as_str()).unwrap_or_default();
        let mut all: Vec<Series> =
            answers.iter().enumerate().flat_map(|(at, answer)| series(answer, legend(at))).collect();
        // A quantile of no calls is not a number.
        all.retain(|series| series.points.iter().any(|(_, value)| value.is_finite()));
        let defaults = &panel["fieldConfig"]["defaults"];
        let unit = defaults["unit"].as_str().unwrap_or_default();
        let text = |key: &str| escape(panel[key].as_str().unwrap_or_default());
        let place = |side: &str| panel["gridPos"][side].as_i64().unwrap_or(0);
        let _ = write!(
            self.text,
            "<section style=\"grid-column:{}/span {};grid-row:{}/span {}\"><h2>{}</h2><p>{}</p>",
            place("x") + 1,
            place("w"),
            place("y") + 1,
            place("h"),
            text("title"),
            text("description")
        );
        if all.is_empty() {
            self.text += "<p class=none>no data</p>";
        } else if panel["type"] == "table" {
            self.text += &table(answers);
        } else if panel["type"] == "timeseries" {
            let is_stacked = defaults["custom"]["stacking"]["mode"] == "normal";
            self.text += &plot(&all, unit, is_stacked);
        } else {
            self.text += "<dl>";
            for series in &all {
                let last = series.points.last().map_or(f64::NAN, |(_, value)| *value);
                let _ =
                    write!(self.text, "<div><dd>{}</dd><dt>{}</dt></div>", amount(last, unit), escape(&series.name));
            }
            self.text += "</dl>";
        }
        self.text += "</section>\n";
    }

    /// Writes it.
    pub fn write(&self, file: &Path) {
        std::fs::write(file, format!("{}</main></html>\n", self.text)).expect("a file");
    }
}

/// A row a series, a column a label.
fn table(answers: &[Value]) -> String {
    let lists = answers.iter().filter_map(|answer| answer["data"]["result"].as_array());
    let rows: Vec<&Value> = lists.flatten().map(|series| &series["metric"]).collect();
    let labels = rows.iter().filter_map(|row| row.as_object()).flat_map(|row| row.keys());
    let columns: BTreeSet<&String> = labels.filter(|label| *label != "__name__").collect();
    let mut text = "<table><tr>".to_owned();
    columns.iter().for_each(|column| text += &format!("<th>{}</th>", escape(column)));
    for row in rows {
        text += "<tr>";
        let cell = |column: &&String| escape(row[column.as_str()].as_str().unwrap_or_default());
        columns.iter().for_each(|column| text += &format!("<td>{}</td>", cell(column)));
    }
    text + "</table>"
}

/// Points of a series: time and value.
type Points = Vec<(f64, f64)>;

/// The lines that are drawn, each on top of those before it where they are stacked.
fn layers(all: &[Series], is_stacked: bool) -> Vec<Points> {
    let mut base = Points::new();
    let mut layers = Vec::new();
    for series in all {
        let below = |time: f64| base.iter().find(|(at, _)| is_stacked && *at == time).map_or(0.0, |(_, value)| *value);
        let finite = series.points.iter().filter(|(_, value)| value.is_finite());
        let layer: Points = finite.map(|&(time, value)| (time, below(time) + value)).collect();
        let others: Points = base.iter().filter(|(at, _)| layer.iter().all(|(time, _)| time != at)).copied().collect();
        base = layer.iter().copied().chain(others).collect();
        layers.push(layer);
    }
    layers
}

/// Where times and values are in the picture: from the first to the last time, and from the least to the highest value.
struct Axes {
    times: (f64, f64),
    values: (f64, f64),
}

impl Axes {
    fn of(all: &[Series], layers: &[Points]) -> Self {
        let times = || all.iter().flat_map(|series| series.points.iter().map(|(time, _)| *time));
        let values = || layers.iter().flatten().map(|(_, value)| *value);
        Self {
            times: (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)),
            values: (values().fold(0.0, f64::min), values().fold(0.0, f64::max)),
        }
    }

    fn span(&self) -> f64 {
        let (least, most) = self.values;
        if most > least { most - least } else { 1.0 }
    }

    fn x(&self, time: f64) -> f64 {
        let (begin, end) = self.times;
        AXES.0 + (SIZE.0 - AXES.0) * (time - begin) / (end - begin).max(1.0)
    }

    fn y(&self, value: f64) -> f64 {
        8.0 + (SIZE.1 - AXES.1 - 8.0) * (1.0 - (value - self.values.0) / self.span())
    }

    /// Three lines with their values, and the times.
    fn grid(&self, unit: &str) -> String {
        let mut text = String::new();
        for part in [0.0, 0.5, 1.0] {
            let value = self.values.0 + part * self.span();
            let y = self.y(value);
            let _ = write!(text, "<line x1={} x2={} y1={y:.1} y2={y:.1} stroke=#ddd />", AXES.0, SIZE.0);
            let (x, y) = (AXES.0 - 6.0, y + 4.0);
            let _ = write!(text, "<text x={x} y={y:.1} text-anchor=end>{}</text>", amount(value, unit));
        }
        let (y, seconds) = (SIZE.1 - 3.0, self.times.1 - self.times.0);
        let _ = write!(text, "<text x={} y={y}>{seconds:.0} s ago</text>", AXES.0);
        let _ = write!(text, "<text x={} y={y} text-anchor=end>now</text>", SIZE.0 - 2.0);
        text
    }

    /// A line, or the area below it, in the colour of its number.
    fn layer(&self, at: usize, layer: &Points, is_area: bool) -> String {
        let points: Vec<String> =
            layer.iter().map(|&(time, value)| format!("{:.1},{:.1}", self.x(time), self.y(value))).collect();
        let points = points.join(" ");
        let (colour, dash) = (COLOURS[at % COLOURS.len()], DASHES[at / COLOURS.len() % DASHES.len()]);
        if let (true, Some(first), Some(last)) = (is_area, layer.first(), layer.last()) {
            let (from, to, floor) = (self.x(first.0), self.x(last.0), self.y(0.0));
            format!("<polygon fill=\"{colour}\" points=\"{from:.1},{floor:.1} {points} {to:.1},{floor:.1}\"/>")
        } else {
            let style = format!("fill=none stroke=\"{colour}\" stroke-width=2 stroke-dasharray=\"{dash}\"");
            format!("<polyline {style} points=\"{points}\"/>")
        }
    }
}

/// Lines over time, or areas on top of each other, with axes and a legend.
fn plot(all: &[Series], unit: &str, is_stacked: bool) -> String {
    let layers = layers(all, is_stacked);
    let axes = Axes::of(all, &layers);
    let mut text = format!("<svg viewBox=\"0 0 {} {}\" role=img>", SIZE.0, SIZE.1) + &axes.grid(unit);
    // The highest layer first, so that those below it are drawn over its lower part.
    for (at, layer) in layers.iter().enumerate().rev() {
        text += &axes.layer(at, layer, is_stacked);
    }
    text + "</svg>" + &legend(all, unit)
}

/// Those with most last, by name and last value.
fn legend(all: &[Series], unit: &str) -> String {
    let mut text = "<ul>".to_owned();
    let last = |series: &Series| series.points.last().map_or(f64::NAN, |(_, value)| *value);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| last(&all[*b]).total_cmp(&last(&all[*a])));
    for &at in order.iter().take(NAMED) {
        let (colour, dash) = (COLOURS[at % COLOURS.len()], DASHES[at / COLOURS.len() % DASHES.len()]);
        let _ = write!(
            text,
            "<li><svg style=\"display:inline;width:22px\" width=22 height=8><line x2=22 y1=4 y2=4 stroke=\"{colour}\" \
             stroke-width=3 stroke-dasharray=\"{dash}\" /></svg> {}: {}",
            escape(&all[at].name),
            amount(last(&all[at]), unit)
        );
    }
    if all.len() > NAMED {
        let _ = write!(text, "<li>and {} more", all.len() - NAMED);
    }
    text + "</ul>"
}

/// A value with its unit, as Grafana writes it.
fn amount(value: f64, unit: &str) -> String {
    const LARGE: [&str; 4] = ["", "k", "M", "G"];
    let (step, large, end): (f64, [&str; 4], &str) = match unit {
        "percentunit" => return format!("{:.1} %", 100.0 * value),
        "bytes" => (1024.0, ["", "Ki", "Mi", "Gi"], "B"),
        "Bps" => (1000.0, LARGE, "B/s"),
        "cps" => (1000.0, LARGE, "/s"),
        "s" => (1000.0, LARGE, "s"),
        _ => (1000.0, LARGE, ""),
    };
    let (mut value, mut at, mut prefix) = (value, 0, "");
    while value.abs() >= step && at < 3 {
        (value, at, prefix) = (value / step, at + 1, large[at + 1]);
    }
    for small in ["m", "µ"] {
        if end == "s" && value != 0.0 && value.abs() < 1.0 {
            (value, prefix) = (value * 1000.0, small);
        }
    }
    let digits = if value == value.trunc() || value.abs() >= 100.0 { 0 } else { 2 };
    format!("{value:.digits$} {prefix}{end}").trim_end().to_owned()
}

fn series(answer: &Value, legend: &str) -> Vec<Series> {
    let list = answer["data"]["result"].as_array().cloned().unwrap_or_default();
    let one = |series: &Value| {
        let labels = series["metric"].as_object().cloned().unwrap_or_default();
        let name = labels.iter().fold(legend.to_owned(), |name, (label, value)| {
            name.replace(&format!("{{{{{label}}}}}"), value.as_str().unwrap_or_default())
        });
        let points = series["values"].as_array().cloned().unwrap_or_default();
        let point = |pair: &Value| Some((pair[0].as_f64()?, pair[1].as_str()?.parse().ok()?));
        Series { name, points: points.iter().filter_map(point).collect() }
    };
    list.iter().map(one).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
