//! OpenMetrics 1.0 text.
//!
//! Without `_created` samples: Prometheus before 3 keeps each as a series of its own, which would double them. The
//! job's start is a metric.

use std::fmt::Write;

use super::family::{Family, Series, Value};
use super::table::{Kind, Row};

/// What the answer is.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The whole page.
pub fn encode(families: &[Family]) -> String {
    let mut out = String::new();
    for family in families {
        let (row, name) = (family.row, family.row.family());
        let _ = writeln!(out, "# TYPE {name} {}", row.kind.name());
        if !row.unit.is_empty() {
            let _ = writeln!(out, "# UNIT {name} {}", row.unit);
        }
        let _ = writeln!(out, "# HELP {name} {}", escape(row.help));
        for series in &family.series {
            write_series(&mut out, row, series);
        }
    }
    out += "# EOF\n";
    out
}

fn write_series(out: &mut String, row: &'static Row, series: &Series) {
    let labels: Vec<String> = series.pairs(row).map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
    let labels = labels.join(",");
    let mut line = |suffix: &str, more: &str, value: String| {
        let comma = if labels.is_empty() || more.is_empty() { "" } else { "," };
        let braces = match format!("{labels}{comma}{more}") {
            inside if inside.is_empty() => inside,
            inside => format!("{{{inside}}}"),
        };
        let _ = writeln!(out, "{}{suffix}{braces} {value}", row.family());
    };
    match &series.value {
        Value::Histogram(histogram) => {
            for (bound, count) in &histogram.buckets {
                line("_bucket", &format!("le=\"{}\"", float(*bound)), count.to_string());
            }
            line("_bucket", "le=\"+Inf\"", histogram.count.to_string());
            line("_sum", "", float(histogram.sum));
            line("_count", "", histogram.count.to_string());
        }
        Value::Count(count) => line(suffix(row.kind), "", count.to_string()),
        Value::Number(number) => line(suffix(row.kind), "", float(*number)),
    }
}

fn suffix(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "_total",
        Kind::Info => "_info",
        Kind::Gauge | Kind::Histogram => "",
    }
}

/// With a point, as the canonical form of numbers that are no counts wants it.
fn float(value: f64) -> String {
    if value.is_finite() {
        format!("{value:?}")
    } else if value > 0.0 {
        "+Inf".to_owned()
    } else {
        "NaN".to_owned()
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::super::histogram::Histogram;
    use super::super::table::Id;
    use super::*;

    #[test]
    fn the_format() {
        let mut calls = Family::new(Id::Calls);
        calls.add(&["a\"b\\c\n\u{1b}[31md", "p", "host"], Value::Count(u64::MAX));
        let mut sizes = Family::new(Id::MessageSize);
        let histogram = Histogram { buckets: vec![(15.0, 1)], count: 3, sum: 0.25, ..Histogram::default() };
        sizes.add(&["j", "put"], Value::Histogram(Box::new(histogram)));
        let mut info = Family::new(Id::BuildInfo);
        info.add(&["1"], Value::Count(1));
        let text = encode(&[calls, sizes, info]);
        for line in [
            "# TYPE shmem_calls counter\n",
            "shmem_calls_total{job_id=\"a\\\"b\\\\c\\\\n\\\\u{1b}[31md\",\
             op=\"p\",distance=\"host\"} 18446744073709551615\n",
            "# UNIT shmem_message_size_bytes bytes\n",
            "shmem_message_size_bytes_bucket{job_id=\"j\",class=\"put\",le=\"15.0\"} 1\n",
            "shmem_message_size_bytes_bucket{job_id=\"j\",class=\"put\",le=\"+Inf\"} 3\n",
            "shmem_message_size_bytes_sum{job_id=\"j\",class=\"put\"} 0.25\n",
            "# TYPE shmem_exporter_build info\n",
            "shmem_exporter_build_info{version=\"1\"} 1\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(text.ends_with("\n# EOF\n"));
    }
}
