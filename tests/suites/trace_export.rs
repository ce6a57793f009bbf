//! `oshprof trace DIR --to otlp --endpoint URL`: a collector of OpenTelemetry that others have made takes the spans of
//! a trace and hands them on.

use std::collections::{BTreeMap, BTreeSet};

use harness::collector::{Collector, Request, rotel};
use harness::compile::Build;
use harness::exporter::wait_for;
use harness::hosts::Hosts;
use harness::run::Job;
use harness::tree;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::Value;

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

/// What a viewer shows: from when to when, in microseconds.
#[derive(Debug)]
struct Slice {
    thread: String,
    name: String,
    begin: f64,
    end: f64,
}

/// What a viewer makes of a trace in Chrome's form. The end of a slice is that of what was begun last in its thread.
fn slices(json: &str) -> Vec<Slice> {
    let trace: Value = serde_json::from_str(json).expect("JSON");
    let mut all = Vec::new();
    let mut events: Vec<&Value> = trace["traceEvents"].as_array().expect("events").iter().collect();
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    events.sort_by(|a, b| number(&a["ts"]).total_cmp(&number(&b["ts"])));
    let mut open: BTreeMap<String, Vec<Slice>> = BTreeMap::new();
    for event in events {
        let (thread, name) = (event["tid"].to_string(), event["name"].as_str().unwrap_or_default().to_owned());
        let begin = number(&event["ts"]);
        let slice = Slice { thread: thread.clone(), name, begin, end: begin + number(&event["dur"]) };
        let stack = open.entry(thread).or_default();
        match event["ph"].as_str() {
            Some("B") => stack.push(slice),
            Some("E") => all.push(Slice { end: begin, ..stack.pop().expect("something to end") }),
            Some("X") => all.push(slice),
            _ => {}
        }
    }
    all
}

/// What calls take, from when to when, and where regions begin and end.
type Thread = (BTreeSet<(u64, u64)>, Vec<u64>);

/// Calls, folded ones and regions of a thread are beside or within each other, in whatever chunks of the file they are.
#[test]
fn nothing_of_a_thread_lies_across_something_else() {
    let folder = tree::fresh("trace-nested");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = Build::program("tools/trace_nested.c").build();
    for detail in ["auto", "full"] {
        let job = Job::oshrun(2).env("SHMEM_TRACE_DETAIL", detail).args(["--trace", detail]).arg(&program);
        job.directory(&folder).run().expect_code(0);
        let job = Job::new(tree::tool("oshprof")).args(["trace", detail, "--to", "csv", "-o", "-"]).directory(&folder);
        let csv = job.run().expect_code(0).stdout;
        let mut threads: BTreeMap<&str, Thread> = BTreeMap::new();
        for line in csv.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [begin, took] = [6, 7].map(|at: usize| fields[at].parse::<u64>().expect("a number"));
            let (spans, regions) = threads.entry(fields[5]).or_default();
            match fields[0] {
                "region begin" | "region end" => regions.push(begin),
                _ => drop(spans.insert((begin, begin + took))),
            }
        }
        assert_eq!(threads.len(), 2, "{detail}");
        for (spans, regions) in threads.values() {
            assert_eq!(regions.len(), 8000, "{detail}");
            let across = spans.iter().zip(spans.iter().skip(1)).find(|(one, next)| next.0 < one.1);
            assert_eq!(across, None, "{detail}");
            for &at in regions {
                let before = spans.range(..(at, 0)).next_back();
                assert!(before.is_none_or(|(_, end)| *end <= at), "{detail}: {before:?} and a region at {at}");
            }
        }
    }
}

#[test]
fn regions_are_seen_from_their_begin_to_their_end() {
    let folder = tree::fresh("trace-regions");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = Build::program("tools/trace_regions.c").options(["-D_DEFAULT_SOURCE"]).build();
    Job::oshrun(2).args(["--trace", "t"]).arg(&program).directory(&folder).run().expect_code(0);
    let trace = |directory: &str, options: &[&str]| {
        let job = Job::new(tree::tool("oshprof")).args(["trace", directory]).args(options).directory(&folder);
        job.run().expect_code(0).stdout
    };
    let all = slices(&trace("t", &["--to", "chrome", "-o", "-"]));
    let named = |name: &str| all.iter().filter(|slice| slice.name == name).collect::<Vec<_>>();
    let (solve, outer) = (named("solve"), named("outer"));
    assert_eq!((solve.len(), outer.len(), named("inner").len()), (6, 2, 0));
    // They slept for so long.
    assert!(solve.iter().all(|region| region.end - region.begin >= 20_000.0), "{solve:?}");
    assert!(outer.iter().all(|region| region.end - region.begin >= 80_000.0), "{outer:?}");
    // No call lies across the begin or the end of a region.
    for region in solve.into_iter().chain(outer) {
        let is_across = |slice: &&Slice| {
            // Times are in microseconds, and as good as nanoseconds.
            let has = |at: f64| slice.begin + 0.001 < at && at < slice.end - 0.001;
            slice.thread == region.thread && slice.name.starts_with("shmem_") && (has(region.begin) || has(region.end))
        };
        let across: Vec<&Slice> = all.iter().filter(is_across).collect();
        assert!(across.is_empty(), "{region:?}: {across:?}");
    }
    // The calls of each burst are there, where they were made.
    let csv = trace("t", &["--to", "csv", "-o", "-"]);
    let folded = csv.lines().filter(|line| line.starts_with("calls,shmem_long_p,"));
    let counts: Vec<u64> = folded.filter_map(|line| line.split(',').nth(12)?.parse().ok()).collect();
    assert!(counts.len() > 20 && counts.iter().all(|count| *count <= 200_000), "{counts:?}");
    // A PE that is killed loses what was since its last event.
    let killed = Job::oshrun(2).args(["--survive", "--trace", "k"]).arg(&program).arg("kill").directory(&folder).run();
    assert!(killed.stderr.contains("signal 9"), "{}", killed.describe());
    let text = trace("k", &[]);
    assert!(text.contains("short calls of PE 1 after its last event may be missing"), "{text}");
    assert!(!text.contains("no event is missing") && trace("t", &[]).contains("no event is missing"), "{text}");
    let csv = trace("k", &["--to", "csv", "-o", "-"]);
    let puts = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let is_of = fields[1] == "shmem_long_p" && fields[3] == "1";
        let calls = if fields[0] == "calls" { fields[12].parse().unwrap_or(0) } else { 1 };
        if is_of { calls } else { 0_u64 }
    };
    let seen: u64 = csv.lines().map(puts).sum();
    assert!((800_000..=1_000_000).contains(&seen), "{seen} of a million calls");
}

/// PE, routine and nanoseconds of calls that never returned, of lines of CSV.
fn unreturned(csv: &str) -> Vec<(u32, String, u64)> {
    let lines = csv.lines().filter_map(|line| line.strip_prefix("unreturned call,"));
    let fields = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let number = |text: &str| text.parse().expect("a number");
    let mut all: Vec<_> =
        fields.map(|fields| (number(fields[2]) as u32, fields[0].to_owned(), number(fields[6]))).collect();
    all.sort();
    all
}

/// Of a job that hangs, and of one of which a PE dies, on one host and on several.
#[test]
fn calls_that_never_returned_end_with_their_pe() {
    let folder = tree::fresh("trace-unreturned");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = Build::program("launcher/say.c").options(["-g", "-O1"]).build();
    let trace = |directory: &str, options: &[&str]| {
        let job = Job::new(tree::tool("oshprof")).args(["trace", directory]).args(options).directory(&folder);
        job.run().expect_code(0).stdout
    };
    let hangs = |job: Job, directory: &str| {
        let job = job.args(["--timeout", "1", "--trace", directory]).arg(&program).arg("hang");
        job.directory(&folder).run().expect_code(124);
        unreturned(&trace(directory, &["--to", "csv"]))
    };
    let mut jobs = vec![("hang", Job::oshrun(4))];
    let net = Hosts::new(2);
    jobs.extend(net.as_ref().map(|net| ("hosts", net.oshrun(2))));
    for (directory, job) in jobs {
        let calls = hangs(job, directory);
        assert_eq!(calls.len(), 4, "{calls:?}");
        for (pe, (at, name, ns)) in (0..).zip(&calls) {
            let routine = if pe == 0 { "shmem_long_wait_until" } else { "shmem_barrier_all" };
            assert_eq!((*at, name.as_str()), (pe, routine), "{calls:?}");
            // Until the job was ended: that began a little before the call.
            assert!((200_000_000..20_000_000_000).contains(ns), "{calls:?}");
        }
    }
    let text = trace("hang", &[]);
    assert!(text.contains("never returned") && text.contains("main at say.c:"), "{text}");
    let json: Value = serde_json::from_str(&trace("hang", &["--to", "chrome", "-o", "-"])).expect("JSON");
    let marked = json["traceEvents"].as_array().expect("events");
    assert_eq!(marked.iter().filter(|event| event["args"]["returned"] == false).count(), 4);
    let spans = trace("hang", &["--to", "otlp", "-o", "-"]);
    assert_eq!(spans.matches("shmem.returned").count(), 4, "{spans:.2000}");
    trace("hang", &["--to", "perfetto", "-o", "hang.pftrace"]);
    let bytes = std::fs::read(folder.join("hang.pftrace")).expect("the file");
    assert!(bytes.windows(8).any(|name| name == b"returned"));
    // The others wait for the one that has died.
    let job = Job::oshrun(3).args(["--trace", "dead"]).arg(&program).args(["signal", "1", "9"]);
    job.directory(&folder).run().expect_code(137);
    let calls = unreturned(&trace("dead", &["--to", "csv"]));
    let names: Vec<_> = calls.iter().map(|(pe, name, _)| (*pe, name.as_str())).collect();
    // One that has not had a core since they met in the initialization has not left that.
    let is_known = |(pe, name): &(u32, &str)| [0, 2].contains(pe) && ["shmem_barrier_all", "shmem_init"].contains(name);
    assert!(names.iter().all(is_known), "{calls:?}");
    // Of a job that ends there is none.
    let job = Job::oshrun(2).args(["--trace", "ends"]).arg(&program).arg("numbers");
    job.directory(&folder).run().expect_code(0);
    assert_eq!(unreturned(&trace("ends", &["--to", "csv"])), []);
}
