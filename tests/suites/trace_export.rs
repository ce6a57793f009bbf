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

const SITES: &str = include_str!("../programs/tools/trace_sites.c");

fn line_of(site: &str) -> String {
    let mark = format!("/* SITE {site} */");
    let at = SITES.lines().position(|line| line.contains(&mark)).expect("each site is marked");
    format!("trace_sites.c:{}", at + 1)
}

/// Over many chunks, of a program and of an object that was loaded later, and of a PE that was killed.
#[test]
fn events_have_the_line_that_they_were_called_at() {
    let folder = tree::fresh("trace-sites");
    std::fs::create_dir_all(&folder).expect("a folder");
    let options = ["-g", "-O1", "-fno-optimize-sibling-calls"];
    let object = Build::program("tools/trace_sites.c").named("trace-sites.so").options(options);
    let object = object.options(["-DOBJECT", "-fPIC", "-shared"]).build();
    let program = Build::program("tools/trace_sites.c").options(options).libraries(["-ldl"]).build();
    let turns = 6000;
    for (directory, rest, code) in [("whole", None, 0), ("killed", Some("kill"), 137)] {
        let job = Job::oshrun(2).args(["--trace", directory]).arg(&program).arg(turns.to_string()).arg(&object);
        job.args(rest).directory(&folder).run().expect_code(code);
        let to = |options: &[&str]| {
            let job = Job::new(tree::tool("oshprof")).args(["trace", directory]).args(options).directory(&folder);
            job.run().expect_code(0).stdout
        };
        let csv = to(&["--to", "csv"]);
        let of = |pe: &str, site: &str| {
            let (pe, site) = (format!("call,shmem_barrier_all,barrier,{pe},"), format!(" at {}", line_of(site)));
            csv.lines().filter(|line| line.starts_with(&pe) && line.ends_with(&site)).count()
        };
        for pe in ["0", "1"] {
            let counts = ["first", "second", "object"].map(|site| of(pe, site));
            assert_eq!(counts, [turns, turns, turns / 3], "PE {pe}, {directory}");
        }
        for format in ["chrome", "perfetto"] {
            let file = folder.join(format);
            to(&["--to", format, "-o", file.to_str().expect("a name")]);
            let bytes = std::fs::read(&file).expect("the file");
            let text = String::from_utf8_lossy(&bytes);
            for site in ["first", "object"] {
                assert!(text.contains(&line_of(site)), "{format}, {site}");
            }
        }
        to(&["--to", "otlp", "-o", folder.join("otlp").to_str().expect("a name")]);
        let spans = std::fs::read_to_string(folder.join("otlp")).expect("the file");
        assert!(spans.contains("shmem.site") && spans.contains(&line_of("second")), "{spans:.2000}");
    }
}
