//! Prometheus' protobuf format: the only one that carries native histograms.
//!
//! Messages of `io.prometheus.client`, as far as they are written.

use prost::Message;

use super::family::{Family, Series, Value};
use super::histogram::{self, Histogram};
use super::table::{Kind, Row};

/// What the answer is.
pub const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Values below have no bucket: the default of Prometheus' own client.
const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// `io.prometheus.client.MetricFamily`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct MetricFamily {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub help: Option<String>,
    #[prost(int32, optional, tag = "3")]
    pub kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    pub metric: Vec<Metric>,
    #[prost(string, optional, tag = "5")]
    pub unit: Option<String>,
}

/// `io.prometheus.client.Metric`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub label: Vec<Label>,
    #[prost(message, optional, tag = "2")]
    pub gauge: Option<Single>,
    #[prost(message, optional, tag = "3")]
    pub counter: Option<Single>,
    #[prost(message, optional, tag = "7")]
    pub histogram: Option<HistogramValue>,
}

/// `io.prometheus.client.LabelPair`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct Label {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// `io.prometheus.client.Gauge` and `Counter`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct Single {
    #[prost(double, optional, tag = "1")]
    pub value: Option<f64>,
}

/// `io.prometheus.client.Histogram`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct HistogramValue {
    #[prost(uint64, optional, tag = "1")]
    pub sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    pub bucket: Vec<Bucket>,
    #[prost(sint32, optional, tag = "5")]
    pub schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    pub zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    pub zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    pub positive_span: Vec<Span>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    pub positive_delta: Vec<i64>,
}

/// `io.prometheus.client.Bucket`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct Bucket {
    #[prost(uint64, optional, tag = "1")]
    pub cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub upper_bound: Option<f64>,
}

/// `io.prometheus.client.BucketSpan`.
#[derive(Clone, PartialEq, Message)]
#[expect(missing_docs, reason = "as in its definition")]
pub struct Span {
    #[prost(sint32, optional, tag = "1")]
    pub offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    pub length: Option<u32>,
}

/// The whole answer: families, each behind its length.
pub fn encode(families: &[Family]) -> Vec<u8> {
    families.iter().flat_map(|of| family(of).encode_length_delimited_to_vec()).collect()
}

fn family(of: &Family) -> MetricFamily {
    let row = of.row;
    MetricFamily {
        name: Some(row.name.into()),
        help: Some(row.help.into()),
        kind: Some(match row.kind {
            Kind::Counter => 0,
            Kind::Gauge | Kind::Info => 1,
            Kind::Histogram => 4,
        }),
        metric: of.series.iter().map(|series| metric(row, series)).collect(),
        unit: (!row.unit.is_empty()).then(|| row.unit.into()),
    }
}

fn metric(row: &'static Row, series: &Series) -> Metric {
    let pair = |(name, value): (&str, &str)| Label { name: Some(name.into()), value: Some(value.into()) };
    let mut made = Metric { label: series.pairs(row).map(pair).collect(), ..Metric::default() };
    match (&series.value, row.kind) {
        (Value::Histogram(from), _) => made.histogram = Some(native(from)),
        (value, Kind::Counter) => made.counter = Some(Single { value: Some(value.number()) }),
        (value, _) => made.gauge = Some(Single { value: Some(value.number()) }),
    }
    made
}

fn native(from: &Histogram) -> HistogramValue {
    let bucket = |&(bound, count): &(f64, u64)| Bucket { cumulative_count: Some(count), upper_bound: Some(bound) };
    let (mut spans, mut deltas): (Vec<Span>, Vec<i64>) = (Vec::new(), Vec::new());
    let (mut next, mut before) = (0, 0_i64);
    for (&at, &count) in &from.native {
        match spans.last_mut().filter(|_| at == next) {
            Some(span) => span.length = span.length.map(|length| length + 1),
            None => spans.push(Span { offset: Some(at - next), length: Some(1) }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count.wrapping_sub(before));
        (next, before) = (at + 1, count);
    }
    if spans.is_empty() {
        // Without a span it would be read as a classic one.
        spans.push(Span { offset: Some(0), length: Some(0) });
    }
    HistogramValue {
        sample_count: Some(from.count),
        sample_sum: Some(from.sum),
        bucket: from.buckets.iter().map(bucket).collect(),
        schema: Some(histogram::SCHEMA),
        zero_threshold: Some(ZERO_THRESHOLD),
        zero_count: Some(from.zeros),
        positive_span: spans,
        positive_delta: deltas,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_deltas_give_the_counts_back() {
        let native_counts = [(-80, 3), (-79, 5), (-60, 2)].into_iter().collect();
        let made = native(&Histogram { native: native_counts, count: 10, ..Histogram::default() });
        let spans: Vec<_> = made.positive_span.iter().map(|span| (span.offset(), span.length())).collect();
        assert_eq!(spans, [(-80, 2), (18, 1)]);
        assert_eq!(made.positive_delta, [3, 2, -3]);
        let again = HistogramValue::decode(made.encode_to_vec().as_slice()).unwrap();
        assert_eq!(again, made);
    }
}
