//! The panels of a dashboard as plots on one page, for a person to look at where no Grafana is at hand: each query of each
//! panel, as Prometheus answers it for the last seconds.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

/// Width and height of a plot.
const SIZE: (f64, f64) = (420.0, 150.0);
/// Colours of Okabe and Ito.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// A page under way.
pub struct Page {
    text: String,
}

/// The series of an answer: what tells it from the others, and its values.
type Series = (String, Vec<f64>);

impl Page {
    /// An empty one.
    pub fn new(title: &str) -> Page {
        let style = "body{font:13px sans-serif}h2{font-size:14px;margin:0}\
                     section{display:inline-block;margin:8px;vertical-align:top;width:430px}";
        Page {
            text: format!(
                "<!doctype html><meta charset=utf-8><title>{title}</title><style>{style}</style><h1>{title}</h1>\n"
            ),
        }
    }

    /// Adds a panel. `answers`: of its queries, as `/api/v1/query_range` gives them.
    pub fn add(&mut self, title: &str, unit: &str, answers: &[Value]) {
        let all: Vec<Series> = answers.iter().flat_map(series).collect();
        let _ = write!(self.text, "<section><h2>{}</h2>", escape(title));
        if all.is_empty() {
            self.text += "<p>no data</p></section>\n";
            return;
        }
        let most =
            all.iter().flat_map(|(_, values)| values).copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let _ = write!(self.text, "<svg width={} height={} style=\"border:1px solid #999\">", SIZE.0, SIZE.1);
        for (at, (_, values)) in all.iter().enumerate() {
            let step = SIZE.0 / (values.len().max(2) - 1) as f64;
            let height =
                |value: f64| SIZE.1 - 4.0 - (SIZE.1 - 8.0) * if most > 0.0 { value.max(0.0) / most } else { 0.0 };
            let finite = values.iter().enumerate().filter(|(_, value)| value.is_finite());
            let points: Vec<String> =
                finite.map(|(x, &value)| format!("{:.1},{:.1}", x as f64 * step, height(value))).collect();
            let colour = COLOURS[at % COLOURS.len()];
            let _ = write!(
                self.text,
                "<polyline fill=none stroke=\"{colour}\" stroke-width=2 points=\"{}\"/>",
                points.join(" ")
            );
        }
        let _ = write!(self.text, "</svg><p>top: {most:.4} {}</p><ul>", escape(unit));
        for (at, (name, values)) in all.iter().enumerate().take(12) {
            let (colour, last) = (COLOURS[at % COLOURS.len()], values.last().copied().unwrap_or(f64::NAN));
            let _ = write!(self.text, "<li style=\"color:{colour}\">{}: {last:.4}", escape(name));
        }
        self.text += "</ul></section>\n";
    }

    /// Writes it.
    pub fn write(&self, file: &Path) {
        std::fs::write(file, &self.text).expect("a file");
    }
}

fn series(answer: &Value) -> Vec<Series> {
    let list = answer["data"]["result"].as_array().cloned().unwrap_or_default();
    let one = |series: &Value| {
        let labels = series["metric"].as_object().cloned().unwrap_or_default();
        let names = ["__name__", "job", "instance"];
        let shown = labels.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        let name: Vec<String> =
            shown.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
        let values = series["values"].as_array().cloned().unwrap_or_default();
        let values = values.iter().filter_map(|pair| pair[1].as_str()?.parse().ok());
        (name.join(" "), values.collect())
    };
    list.iter().map(one).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
