//! Prometheus' text format 0.0.4, written by the `prometheus` crate from a collector of ours.

use std::collections::HashMap;

use prometheus::core::{Collector, Desc};
use prometheus::proto::{self, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Registry, TextEncoder};

use super::family::{Family, Series, Value};
use super::table::{Kind, Row};

/// What the answer is.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Values that were read before: the registry asks for them once.
struct Page {
    families: Vec<MetricFamily>,
    descriptions: Vec<Desc>,
}

impl Collector for Page {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.families.clone()
    }
}

/// The whole page.
///
/// # Errors
/// Names that the format does not have: the table is wrong.
pub fn encode(families: &[Family]) -> Result<String, String> {
    let describe = |family: &Family| {
        let labels = family.row.labels.iter().map(|&label| label.to_owned()).collect();
        Desc::new(family.row.name.into(), family.row.help.into(), labels, HashMap::new())
    };
    let descriptions = families.iter().map(describe).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let page = Page { families: families.iter().map(family).collect(), descriptions };
    let registry = Registry::new();
    registry.register(Box::new(page)).map_err(|error| error.to_string())?;
    TextEncoder::new().encode_to_string(&registry.gather()).map_err(|error| error.to_string())
}

fn family(of: &Family) -> MetricFamily {
    let mut made = MetricFamily::default();
    made.set_name(of.row.name.into());
    made.set_help(of.row.help.into());
    made.set_field_type(match of.row.kind {
        Kind::Counter => MetricType::COUNTER,
        Kind::Gauge | Kind::Info => MetricType::GAUGE,
        Kind::Histogram => MetricType::HISTOGRAM,
    });
    made.set_metric(of.series.iter().map(|series| metric(of.row, series)).collect());
    made
}

fn metric(row: &'static Row, series: &Series) -> Metric {
    let pair = |(name, value): (&str, &str)| {
        let mut pair = LabelPair::default();
        pair.set_name(name.into());
        pair.set_value(value.into());
        pair
    };
    let mut made = Metric::from_label(series.pairs(row).map(pair).collect());
    match (&series.value, row.kind) {
        (Value::Histogram(from), _) => {
            let mut histogram = proto::Histogram::default();
            histogram.set_sample_count(from.count);
            histogram.set_sample_sum(from.sum);
            let bucket = |&(bound, count): &(f64, u64)| {
                let mut bucket = proto::Bucket::default();
                bucket.set_upper_bound(bound);
                bucket.set_cumulative_count(count);
                bucket
            };
            histogram.set_bucket(from.buckets.iter().map(bucket).collect());
            made.set_histogram(histogram);
        }
        (value, Kind::Counter) => {
            let mut counter = proto::Counter::default();
            counter.set_value(value.number());
            made.set_counter(counter);
        }
        (value, _) => {
            let mut gauge = proto::Gauge::default();
            gauge.set_value(value.number());
            made.set_gauge(gauge);
        }
    }
    made
}
