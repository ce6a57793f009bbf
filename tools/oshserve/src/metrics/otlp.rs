//! OpenTelemetry's metrics: an export request, made from the same table. The SDK is not needed: values are in shared
//! memory, and its periodic reader wants a runtime of its own.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, exponential_histogram_data_point::Buckets, metric::Data, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use pellucid_profile::model::Job;
use pellucid_profile::segment::Segment;
use std::sync::atomic::Ordering::Relaxed;

use super::collect::{Identity, program};
use super::family::{Family, Series, Value};
use super::histogram::{Histogram, SCHEMA};
use super::table::{Kind, Row};

/// What a request says of where its numbers come from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Attributes: `service.name` and so on.
    pub attributes: Vec<(String, String)>,
    /// Start of the job in nanoseconds since 1970.
    pub start_ns: u64,
    /// Now.
    pub now_ns: u64,
}

impl Source {
    /// A job that runs: its numbers have the time at which they are sent.
    pub fn of(segment: &Segment, identity: &Identity) -> Source {
        let header = segment.header();
        let job = Job {
            program: header.program.get(),
            host: header.host.get(),
            npes: segment.npes(),
            start_realtime_ns: header.start_realtime.load(Relaxed),
            ..Job::default()
        };
        Source::of_job(&job, identity)
    }

    /// A job, at its end.
    pub fn of_job(job: &Job, identity: &Identity) -> Source {
        let attributes = [
            ("service.name", program(job).to_owned()),
            ("service.instance.id", format!("{}:{}", identity.job_id, job.host)),
            ("host.name", job.host.clone()),
            ("shmem.job", identity.job_id.clone()),
            ("shmem.npes", job.npes.to_string()),
        ];
        Source {
            attributes: attributes.map(|(name, value)| (name.to_owned(), value)).into(),
            start_ns: job.start_realtime_ns,
            now_ns: job.start_realtime_ns.saturating_add(job.wall_ns),
        }
    }
}

/// A request.
pub fn request(families: &[Family], source: &Source) -> ExportMetricsServiceRequest {
    let metrics = families.iter().map(|family| metric(family, source)).collect();
    let attributes = source.attributes.iter().map(|(name, value)| text(name, value)).collect();
    let scope = InstrumentationScope {
        name: "pellucid".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    };
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource { attributes, ..Resource::default() }),
            scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }],
            ..ResourceMetrics::default()
        }],
    }
}

fn text(name: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.into())) };
    KeyValue { key: name.into(), value: Some(value), ..KeyValue::default() }
}

fn metric(family: &Family, source: &Source) -> Metric {
    let row = family.row;
    let numbers = || family.series.iter().map(|series| number(row, series, source)).collect();
    let cumulative = AggregationTemporality::Cumulative as i32;
    let data = match row.kind {
        Kind::Counter => {
            Data::Sum(Sum { data_points: numbers(), aggregation_temporality: cumulative, is_monotonic: true })
        }
        Kind::Gauge | Kind::Info => Data::Gauge(Gauge { data_points: numbers() }),
        Kind::Histogram => Data::ExponentialHistogram(ExponentialHistogram {
            data_points: family.series.iter().filter_map(|series| histogram(row, series, source)).collect(),
            aggregation_temporality: cumulative,
        }),
    };
    Metric {
        name: row.otel.into(),
        description: row.help.into(),
        unit: row.ucum.into(),
        data: Some(data),
        ..Metric::default()
    }
}

fn attributes(row: &'static Row, series: &Series) -> Vec<KeyValue> {
    let name = |name: &str| format!("shmem.{}", if name == "job_id" { "job" } else { name });
    series.pairs(row).filter(|(_, value)| !value.is_empty()).map(|(label, value)| text(&name(label), value)).collect()
}

fn number(row: &'static Row, series: &Series, source: &Source) -> NumberDataPoint {
    let value = match series.value {
        Value::Count(count) => number_data_point::Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX)),
        _ => number_data_point::Value::AsDouble(series.value.number()),
    };
    NumberDataPoint {
        attributes: attributes(row, series),
        start_time_unix_nano: source.start_ns,
        time_unix_nano: source.now_ns,
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

fn histogram(row: &'static Row, series: &Series, source: &Source) -> Option<ExponentialHistogramDataPoint> {
    let Value::Histogram(from) = &series.value else { return None };
    Some(ExponentialHistogramDataPoint {
        attributes: attributes(row, series),
        start_time_unix_nano: source.start_ns,
        time_unix_nano: source.now_ns,
        count: from.count,
        sum: Some(from.sum),
        scale: SCHEMA,
        zero_count: from.zeros,
        positive: Some(buckets(from)),
        ..ExponentialHistogramDataPoint::default()
    })
}

/// OpenTelemetry's bucket i begins where Prometheus' bucket i ends: its numbers are one less.
fn buckets(from: &Histogram) -> Buckets {
    let (Some((&first, _)), Some((&last, _))) = (from.native.first_key_value(), from.native.last_key_value()) else {
        return Buckets::default();
    };
    let bucket_counts = (first..=last).map(|at| from.native.get(&at).copied().unwrap_or(0)).collect();
    Buckets { offset: first - 1, bucket_counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_dense_and_one_lower() {
        let from = Histogram { native: [(-3, 2), (0, 1)].into_iter().collect(), ..Histogram::default() };
        assert_eq!(buckets(&from), Buckets { offset: -4, bucket_counts: vec![2, 0, 0, 1] });
    }
}
