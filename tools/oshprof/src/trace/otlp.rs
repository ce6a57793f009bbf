//! OpenTelemetry spans: a resource a PE, a span a call, a link from a wait to the update that released it.
//!
//! The spans of a job are one trace. Each PE has a span around all of its own; regions are spans around theirs.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use pellucid_profile::file::ReadError;
use pellucid_profile::trace::read::{Call, Event, Trace, TraceFile, TraceFileHeader, What};

use super::flows::{At, Flows};
use super::partial::Partial;
use super::patience::Patience;
use super::sites::Sites;
use super::{Failure, http, rows};

/// Spans sent at a time.
const BATCH: usize = 2048;

/// Sends the spans to a collector, by OTLP over HTTP.
pub(super) fn send(trace: &Trace, problems: &mut Vec<ReadError>, endpoint: Option<&str>) -> Result<(), Failure> {
    let patience = Patience::from(|name| std::env::var(name).ok()).map_err(|error| format!("otlp: {error}"))?;
    let client = http::Client::new(patience);
    let mut builder = SpanExporter::builder().with_http().with_http_client(client.clone());
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(with_path(endpoint));
    }
    let mut exporter = builder.build().map_err(|error| format!("otlp: {error}"))?;
    batches(trace, problems, |resource, spans| {
        exporter.set_resource(resource);
        let sent = futures_executor::block_on(exporter.export(spans));
        sent.map_err(|error| format!("otlp: {}", client.failure().unwrap_or_else(|| error.to_string())))
    })?;
    match client.partial() {
        (Partial { rejected: 0, why }, by) => {
            if !why.is_empty() {
                pellucid_profile::say!("oshprof: otlp: {by}: taken, with a remark: {why}");
            }
            Ok(())
        }
        (Partial { rejected, why }, by) => {
            let spans = if rejected == 1 { "span was" } else { "spans were" };
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            Err(format!("otlp: {by}: {rejected} {spans} rejected{why}"))
        }
    }
}

/// An address without a path gets that of the standard.
fn with_path(endpoint: &str) -> String {
    let has_path = endpoint.split_once("://").is_some_and(|(_, rest)| rest.trim_end_matches('/').contains('/'));
    if has_path { endpoint.to_owned() } else { format!("{}/v1/traces", endpoint.trim_end_matches('/')) }
}

/// Writes the spans as OTLP's JSON, an export request a line.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, out: &mut dyn Write) -> io::Result<()> {
    batches(trace, problems, |resource, spans| {
        let resource_spans = group_spans_by_resource_and_scope(spans, &resource.into());
        serde_json::to_writer(&mut *out, &ExportTraceServiceRequest { resource_spans })?;
        out.write_all(b"\n")
    })
}

/// Makes spans of events and hands them on, file by file.
fn batches<E>(
    trace: &Trace,
    problems: &mut Vec<ReadError>,
    mut hand_on: impl FnMut(&Resource, Vec<SpanData>) -> Result<(), E>,
) -> Result<(), E> {
    let flows = Flows::find(trace, problems);
    for (number, file) in trace.files.iter().enumerate() {
        let resource = resource(&file.facts);
        let mut spans = Spans::new(number, file);
        let mut result = Ok(());
        let mut event_number = 0;
        file.for_each(problems, |event| {
            // Nobody takes what is still read.
            if result.is_err() {
                return;
            }
            let at = (number, event_number);
            event_number += 1;
            spans.add(at, event, flows.to.get(&at).map(|&(_, from)| from));
            if spans.ready.len() >= BATCH {
                result = hand_on(&resource, std::mem::take(&mut spans.ready));
            }
        });
        result?;
        hand_on(&resource, spans.finish())?;
    }
    Ok(())
}

fn resource(facts: &TraceFileHeader) -> Resource {
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", facts.program.clone()),
            KeyValue::new("service.instance.id", format!("PE {}", facts.pe)),
            KeyValue::new("host.name", facts.host.clone()),
            KeyValue::new("process.pid", i64::from(facts.pid)),
            KeyValue::new("shmem.job", job(facts)),
            KeyValue::new("shmem.pe", i64::from(facts.pe)),
            KeyValue::new("shmem.npes", i64::from(facts.npes)),
        ])
        .build()
}

/// What tells jobs apart, as in metrics; of traces that do not say it, launcher and time.
fn job(facts: &TraceFileHeader) -> String {
    match facts.job_id.as_str() {
        "" => format!("{}-{}", facts.launcher_pid, facts.start_realtime),
        known => known.to_owned(),
    }
}

/// A region that has begun.
struct Open {
    thread: u32,
    name: String,
    start: u64,
    id: SpanId,
    parent: SpanId,
}

/// The spans of one file.
struct Spans<'a> {
    facts: &'a TraceFileHeader,
    trace: TraceId,
    /// The span around all.
    whole: SpanId,
    time: Option<(u64, u64)>,
    open: Vec<Open>,
    markers: SpanEvents,
    scope: InstrumentationScope,
    ready: Vec<SpanData>,
    sites: Sites,
}

/// Each event of the trace has a number of its own.
fn span_id((file, event): At) -> SpanId {
    SpanId::from((file as u64 + 1) << 40 | (event + 1))
}

impl<'a> Spans<'a> {
    fn new(number: usize, file: &'a TraceFile) -> Self {
        let facts = &file.facts;
        Spans {
            facts,
            trace: TraceId::from(u128::from(facts.start_realtime) << 64 | u128::from(facts.launcher_pid)),
            whole: SpanId::from((number as u64 + 1) << 40),
            time: None,
            open: Vec::new(),
            markers: SpanEvents::default(),
            scope: InstrumentationScope::builder("pellucid").with_version(env!("CARGO_PKG_VERSION")).build(),
            ready: Vec::new(),
            sites: Sites::default(),
        }
    }

    fn at(&self, ns: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.facts.start_realtime.saturating_add(ns))
    }

    fn parent(&self, thread: u32) -> SpanId {
        self.open.iter().rev().find(|open| open.thread == thread).map_or(self.whole, |open| open.id)
    }

    fn attributes(&self, call: &Call, thread: u32) -> Vec<KeyValue> {
        let op = rows::routine(call);
        let mut attributes = vec![
            KeyValue::new("shmem.routine", op.name()),
            KeyValue::new("shmem.class", op.class.name()),
            KeyValue::new("shmem.context", rows::context(call)),
            KeyValue::new("thread.id", i64::from(thread)),
        ];
        attributes.extend(rows::team(call, self.facts).map(|team| KeyValue::new("shmem.team", team)));
        attributes.extend(call.root.map(|root| KeyValue::new("shmem.root", i64::from(root))));
        attributes.extend(call.peer.map(|peer| KeyValue::new("shmem.peer", i64::from(peer))));
        attributes.extend(self.sites.of(call).map(|site| KeyValue::new("shmem.site", site.to_string())));
        if call.bytes != 0 {
            attributes.push(KeyValue::new("shmem.bytes", call.bytes as i64));
        }
        if call.addr != 0 {
            attributes.push(KeyValue::new("shmem.address", format!("{:#x}", call.addr)));
        }
        attributes
    }

    fn add(&mut self, at: At, event: &Event, released_by: Option<At>) {
        let (first, last) = self.time.unwrap_or((event.start_ns, event.end_ns));
        self.time = Some((first.min(event.start_ns), last.max(event.end_ns)));
        match &event.what {
            What::Call(call) | What::Unreturned(call) => {
                let op = rows::routine(call);
                let mut attributes = self.attributes(call, event.thread);
                if matches!(event.what, What::Unreturned(_)) {
                    attributes.push(KeyValue::new("shmem.returned", false));
                }
                let mut links = SpanLinks::default();
                links.links.extend(released_by.map(|from| Link::with_context(self.context(span_id(from)))));
                let parent = self.parent(event.thread);
                let mut span = self.span(span_id(at), parent, op.name().into(), event.start_ns, event.end_ns);
                (span.attributes, span.links) = (attributes, links);
                self.ready.push(span);
            }
            What::Calls(calls) => {
                let op = rows::known(calls.op);
                let parent = self.parent(event.thread);
                let mut span = self.span(span_id(at), parent, op.name().into(), event.start_ns, event.end_ns);
                span.attributes = vec![
                    KeyValue::new("shmem.routine", op.name()),
                    KeyValue::new("shmem.class", op.class.name()),
                    KeyValue::new("shmem.calls", calls.count as i64),
                    KeyValue::new("shmem.bytes", calls.bytes as i64),
                    KeyValue::new("thread.id", i64::from(event.thread)),
                ];
                self.ready.push(span);
            }
            What::RegionBegin(name) => {
                let parent = self.parent(event.thread);
                let (thread, name) = (event.thread, name.clone());
                self.open.push(Open { thread, name, start: event.start_ns, id: span_id(at), parent });
            }
            What::RegionEnd(name) => {
                let matching = |open: &Open| open.thread == event.thread && open.name == *name;
                if let Some(index) = self.open.iter().rposition(matching) {
                    let open = self.open.remove(index);
                    self.close(open, event.end_ns);
                }
            }
            What::Marker(name, value) => {
                let attributes = vec![KeyValue::new("value", *value)];
                let time = self.at(event.start_ns);
                self.markers.events.push(opentelemetry::trace::Event::new(name.clone(), time, attributes, 0));
            }
        }
    }

    fn close(&mut self, open: Open, end: u64) {
        let mut span = self.span(open.id, open.parent, open.name.into(), open.start, end);
        span.attributes.push(KeyValue::new("shmem.class", "region"));
        self.ready.push(span);
    }

    /// What is left, and the span around all.
    fn finish(mut self) -> Vec<SpanData> {
        let Some((first, last)) = self.time else { return self.ready };
        while let Some(open) = self.open.pop() {
            self.close(open, last);
        }
        let mut whole = self.span(self.whole, SpanId::INVALID, format!("PE {}", self.facts.pe).into(), first, last);
        whole.events = std::mem::take(&mut self.markers);
        whole.attributes.push(KeyValue::new("shmem.dropped_events", self.facts.dropped as i64));
        self.ready.push(whole);
        self.ready
    }

    fn context(&self, span: SpanId) -> SpanContext {
        SpanContext::new(self.trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
    }

    fn span(&self, id: SpanId, parent: SpanId, name: std::borrow::Cow<'static, str>, start: u64, end: u64) -> SpanData {
        SpanData {
            span_context: self.context(id),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name,
            start_time: self.at(start),
            end_time: self.at(end),
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_path;

    #[test]
    fn the_standard_path_is_added() {
        assert_eq!(with_path("http://h:4318"), "http://h:4318/v1/traces");
        assert_eq!(with_path("http://h/"), "http://h/v1/traces");
        assert_eq!(with_path("http://h/otlp/v1/traces"), "http://h/otlp/v1/traces");
    }
}
