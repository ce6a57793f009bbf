//! `oshprof trace DIR --to otlp --endpoint URL`: a collector of OpenTelemetry that others have made takes the spans of
//! a trace and hands them on.

use std::collections::BTreeMap;

use harness::collector::{Collector, Request, rotel};
use harness::compile::Build;
use harness::exporter::wait_for;
use harness::run::Job;
use harness::tree;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

/// Spans by name.
fn spans(requests: &[Request]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for request in requests {
        assert_eq!(request.line, "POST /v1/traces");
        let body = request.content();
        let message = ExportTraceServiceRequest::decode(body.as_slice()).expect("spans");
        let scopes = message.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
        for span in scopes.flat_map(|scope| &scope.spans) {
            *names.entry(span.name.clone()).or_default() += 1;
        }
    }
    names
}

#[test]
fn a_real_collector_takes_the_spans_of_a_trace() {
    let folder = tree::fresh("trace-rotel");
    std::fs::create_dir_all(&folder).expect("a folder");
    let behind = Collector::start(Vec::new());
    let Some(collector) = rotel(&folder, &behind.url()) else { return };
    let program = Build::program("profile/views.c").build();
    Job::oshrun(2).args(["--trace", "t"]).arg(program).directory(&folder).run().expect_code(0);
    let trace =
        |options: &[&str]| Job::new(tree::tool("oshprof")).args(["trace", "t"]).args(options).directory(&folder);
    let csv = trace(&["--to", "csv"]).run().expect_code(0);
    let begun = csv.stdout.lines().filter(|line| line.starts_with("region begin,")).count();
    assert!(begun > 0, "{}", csv.describe());
    let endpoint = format!("http://{}", collector.address);
    trace(&["--to", "otlp", "--endpoint", &endpoint]).run().expect_code(0);
    // A span for each PE, and one for each region that it went through.
    let names = wait_for("the spans", || {
        let names = spans(&behind.taken());
        (names.len() > 2 && names.get("PE 0") == Some(&1) && names.get("PE 1") == Some(&1)).then_some(names)
    });
    let regions: usize = ["exchange", "step", "inner"].iter().filter_map(|name| names.get(*name)).sum();
    assert_eq!(regions, begun, "{names:?}");
}
