//! Spans of OpenTelemetry: in a file, and to a collector, which may take them, reject them, or not be there.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::{oshprof, oshprof_with, stdout, trace};

fn attribute(attributes: &[opentelemetry_proto::tonic::common::v1::KeyValue], key: &str) -> Option<Any> {
    attributes.iter().find(|a| a.key == key)?.value.clone()?.value
}

/// What both ways of export say.
fn check_spans(requests: &[ExportTraceServiceRequest]) {
    let resources: Vec<_> = requests.iter().flat_map(|request| &request.resource_spans).collect();
    for pe in [0, 1] {
        let mine = |attributes: &[_]| attribute(attributes, "shmem.pe") == Some(Any::IntValue(pe));
        let resource = resources.iter().find_map(|r| r.resource.as_ref().filter(|r| mine(&r.attributes))).unwrap();
        assert_eq!(attribute(&resource.attributes, "host.name"), Some(Any::StringValue("node7".into())));
        assert_eq!(attribute(&resource.attributes, "service.name"), Some(Any::StringValue("solve".into())));
        let job = Any::StringValue("499-1700000000000000000".into());
        assert_eq!(attribute(&resource.attributes, "shmem.job"), Some(job));
    }
    let spans: Vec<&Span> = resources.iter().flat_map(|r| &r.scope_spans).flat_map(|s| &s.spans).collect();
    let find = |name: &str| *spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no span {name}"));
    let put = find("shmem_long_put_signal");
    assert_eq!(put.start_time_unix_nano, 1_700_000_000_000_000_500);
    assert_eq!(put.end_time_unix_nano, 1_700_000_000_000_000_700);
    assert_eq!(attribute(&put.attributes, "shmem.routine"), Some(Any::StringValue("shmem_long_put_signal".into())));
    assert_eq!(attribute(&put.attributes, "shmem.peer"), Some(Any::IntValue(1)));
    assert_eq!(attribute(&put.attributes, "shmem.bytes"), Some(Any::IntValue(512)));
    assert_eq!(attribute(&put.attributes, "shmem.context"), Some(Any::StringValue("default".into())));
    let explicit = find("shmem_ctx_long_p");
    assert_eq!(attribute(&explicit.attributes, "shmem.context"), Some(Any::StringValue("0x21".into())));
    assert_eq!(attribute(&explicit.attributes, "shmem.team"), Some(Any::StringValue("team 3".into())));
    let folded = find("shmem_long_p");
    assert_eq!(attribute(&folded.attributes, "shmem.calls"), Some(Any::IntValue(37)));
    assert_eq!(attribute(&folded.attributes, "shmem.bytes"), Some(Any::IntValue(296)));
    let wait = find("shmem_signal_wait_until");
    assert_eq!(wait.links.len(), 1);
    assert_eq!(wait.links[0].span_id, put.span_id);
    let (region, whole) = (find("halo, \"x\""), find("PE 0"));
    assert_eq!((&put.parent_span_id, &region.parent_span_id), (&region.span_id, &whole.span_id));
    assert_eq!(whole.events[0].name, "step");
    assert!(spans.iter().all(|span| span.trace_id == put.trace_id));
    let ids: std::collections::BTreeSet<_> = spans.iter().map(|span| &span.span_id).collect();
    assert_eq!((ids.len(), spans.len()), (9, 9));
}

#[test]
fn otlp_to_a_file() {
    let dir = trace("trace-otlp-file");
    let text = dir.path().join("spans.jsonl");
    stdout(&oshprof(dir.path(), &["--to", "otlp", "-o", text.to_str().unwrap()]));
    let text = fs::read_to_string(text).unwrap();
    let requests: Vec<ExportTraceServiceRequest> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    check_spans(&requests);
}

#[test]
fn otlp_to_a_collector() {
    let dir = trace("trace-otlp");
    let (endpoint, collector) = collector(|| "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned());
    stdout(&oshprof(dir.path(), &["--to", "otlp", "--endpoint", &endpoint]));
    check_spans(&collector.join().unwrap());
}

/// What it takes and leaves out is told.
#[test]
fn otlp_to_a_collector_that_rejects_spans() {
    let dir = trace("trace-otlp-partial");
    for (rejected, why, code, said) in [
        (3, "too old", 1, "v1/traces: 6 spans were rejected: too old\n"),
        (0, "deprecated", 0, "v1/traces: taken, with a remark: deprecated\n"),
    ] {
        let partial = format!(r#"{{"partialSuccess":{{"rejectedSpans":"{rejected}","errorMessage":"{why}"}}}}"#);
        let (endpoint, collector) = collector(move || {
            let length = partial.len();
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{partial}")
        });
        let output = oshprof(dir.path(), &["--to", "otlp", "--endpoint", &endpoint]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains("oshprof: otlp: http://127.0.0.1:") && text.contains(said), "{text}");
        assert_eq!(text.matches("otlp").count(), 1, "{text}");
        check_spans(&collector.join().unwrap());
    }
}

/// A collector with this answer: its address, and what it was sent, a file of the trace a request.
fn collector(answer: impl Fn() -> String + Send + 'static) -> (String, JoinHandle<Vec<ExportTraceServiceRequest>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            let head = String::from_utf8(request).unwrap().to_ascii_lowercase();
            assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
            assert!(head.contains("content-type: application/x-protobuf"), "{head}");
            let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            requests.push(ExportTraceServiceRequest::decode(&body[..]).unwrap());
            stream.write_all(answer().as_bytes()).unwrap();
        }
        requests
    });
    (endpoint, collector)
}

/// One that takes all and says nothing.
#[test]
fn a_collector_that_hangs_is_not_waited_for_without_an_end() {
    let dir = trace("trace-otlp-hang");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let args = ["--to", "otlp", "--endpoint", &endpoint];
    let variables = [("OTEL_EXPORTER_OTLP_TIMEOUT", "60000"), ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "200")];
    let output = oshprof_with(dir.path(), &args, &variables);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("oshprof: otlp: {endpoint}/v1/traces: no answer within 0.2 s")), "{said}");
    let output = oshprof_with(dir.path(), &args, &[("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("otlp: OTEL_EXPORTER_OTLP_TIMEOUT `soon` is not a number of milliseconds"), "{said}");
}

#[test]
fn a_collector_that_is_not_there_is_an_error() {
    let dir = trace("trace-otlp-none");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let whole = format!("http://{free}/v1/traces: Connection refused");
    for (endpoint, why) in [
        (format!("http://{free}"), whole.as_str()),
        ("https://127.0.0.1:1/x".to_owned(), "https://127.0.0.1:1/x: only http is spoken"),
    ] {
        let output = oshprof(dir.path(), &["--to", "otlp", "--endpoint", &endpoint]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&format!("oshprof: otlp: {why}")), "{said}");
    }
}
