//! What `oshrun --metrics`, `--metrics-file`, `--metrics-push` and `SHMEM_METRICS` do with a job's metrics:
//! Prometheus, a Pushgateway, a collector of OpenTelemetry, a file.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use harness::collector::{Collector, Request, pushgateway, rotel};
use harness::compile::Build;
use harness::exporter::{Prometheus, free_port, get, sum, wait_for};
use harness::run::{Job, Outcome, is_over_network};
use harness::{launchers, system, tree};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data, number_data_point};
use prost::Message;

/// Calls of `shmem_p` by each PE.
const PUTS: u64 = 100;

fn short() -> std::path::PathBuf {
    Build::program("metrics/short.c").build()
}

/// A job with these options, in a folder of its own.
fn job(folder: &Path, pes: usize, options: &[&str]) -> Job {
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Job::oshrun(pes).args(options).env("PELLUCID_JOB_ID", &id).directory(folder).limit(90)
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = tree::fresh(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn decoded(request: &Request) -> ExportMetricsServiceRequest {
    let body = request.content();
    match request.header("content-type") {
        "application/x-protobuf" => ExportMetricsServiceRequest::decode(body.as_slice()).expect("protobuf"),
        "application/json" => serde_json::from_slice(&body).expect("JSON"),
        other => panic!("{other}"),
    }
}

fn attribute(list: &[KeyValue], name: &str) -> String {
    let found = list.iter().find(|pair| pair.key == name).and_then(|pair| pair.value.clone()?.value);
    match found {
        Some(any_value::Value::StringValue(text)) => text,
        other => format!("{other:?}"),
    }
}

fn metric(request: &ExportMetricsServiceRequest, name: &str) -> Option<Metric> {
    let all = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    all.flat_map(|scope| &scope.metrics).find(|metric| metric.name == name).cloned()
}

/// Sum of a counter's points with this attribute.
fn total(request: &ExportMetricsServiceRequest, name: &str, (label, value): (&str, &str)) -> u64 {
    let Some(Data::Sum(sum)) = metric(request, name).and_then(|metric| metric.data) else { return 0 };
    assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "cumulative, and only growing");
    let of = |value: &Option<number_data_point::Value>| match value {
        Some(number_data_point::Value::AsInt(count)) => *count as u64,
        other => panic!("{other:?}"),
    };
    let points = sum.data_points.iter().filter(|point| attribute(&point.attributes, label) == value);
    points.map(|point| of(&point.value)).sum()
}

fn puts(request: &ExportMetricsServiceRequest) -> u64 {
    total(request, "shmem.calls", ("shmem.op", "p"))
}

#[test]
fn a_collector_gets_the_last_numbers_after_a_pause() {
    let folder = folder("push-otlp");
    let collector =
        Collector::start(vec![(503, "Retry-After: 0\r\n", b"busy".to_vec()), (429, "Retry-After: 0\r\n", Vec::new())]);
    let job = job(&folder, 2, &["--metrics-push", &collector.url()]).arg(short());
    let job = job.env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b").env("OTEL_SERVICE_NAME", "solver");
    job.env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=no").run().expect_code(0);
    let taken = collector.taken();
    assert_eq!(taken.len(), 3, "two were to be tried again");
    let last = taken.last().expect("a request");
    assert_eq!((last.line.as_str(), last.header("x-tenant")), ("POST /v1/metrics", "a b"));
    let request = decoded(last);
    assert_eq!(puts(&request), 2 * PUTS);
    assert_eq!(total(&request, "shmem.call.io", ("shmem.op", "putmem")), 2 * 50 * 1024);
    let resource = request.resource_metrics[0].resource.clone().expect("a resource").attributes;
    for (name, value) in [
        ("service.name", "solver"),
        ("deployment.environment.name", "test"),
        ("shmem.job", "push-otlp"),
        ("shmem.npes", "2"),
        ("host.name", &system::host_name()),
    ] {
        assert_eq!(attribute(&resource, name), value, "{name}");
    }
    let Some(Data::ExponentialHistogram(durations)) = metric(&request, "shmem.call.duration").and_then(|m| m.data)
    else {
        panic!("no histogram");
    };
    for point in &durations.data_points {
        let buckets = point.positive.as_ref().map_or(0, |positive| positive.bucket_counts.iter().sum());
        assert_eq!(point.count, point.zero_count + buckets);
        assert!(point.start_time_unix_nano > 0 && point.time_unix_nano >= point.start_time_unix_nano);
    }
}

#[test]
fn json_compression_and_what_a_collector_leaves_out() {
    let folder = folder("push-json");
    let partial = ExportMetricsPartialSuccess { rejected_data_points: 3, error_message: "too old".into() };
    let answer = ExportMetricsServiceResponse { partial_success: Some(partial) };
    let body = serde_json::to_vec(&answer).expect("JSON");
    let collector = Collector::start(vec![(200, "Content-Type: application/json\r\n", body)]);
    let job = job(&folder, 2, &["--metrics-push", "otlp"]).arg(short());
    let job = job.env("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &format!("{}/own/path", collector.url()));
    let job = job.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json").env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    job.run().expect_code(0).expect_text(&["3 data points were rejected: too old"]);
    let taken = collector.taken();
    assert_eq!((taken.len(), taken[0].line.as_str()), (1, "POST /own/path"), "the address is taken as it is");
    assert_eq!(puts(&decoded(&taken[0])), 2 * PUTS);
}

#[test]
fn a_collector_that_refuses_or_is_not_there_does_the_job_no_harm() {
    let folder = folder("push-refused");
    let collector = Collector::start(vec![(400, "", b"no such tenant".to_vec())]);
    let outcome = job(&folder, 2, &["--metrics-push", &collector.url()]).arg(short()).run().expect_code(0);
    outcome.expect_text(&["the last numbers: status 400: no such tenant"]);
    assert_eq!(collector.taken().len(), 1, "no other attempt helps");
    let nowhere = format!("http://127.0.0.1:{}", free_port());
    let outcome = job(&folder, 2, &["--metrics-push", &nowhere]).arg(short()).run().expect_code(0);
    outcome.expect_text(&["the last numbers: ", "refused"]);
    for (options, part) in [
        (&["--metrics-push", "c:4318"][..], "expected http://HOST:PORT"),
        (&["--metrics-push", "ftp://c"], "expected http://HOST:PORT"),
        (&["--metrics-push", "http://c:99999"], "its port is not a number up to 65535"),
        (&["--metrics-push", "otlp", "--profile", "off"], "exclude each other"),
    ] {
        job(&folder, 1, options).arg(short()).run().expect_failure().expect_text(&[part]);
    }
    let job = job(&folder, 1, &["--metrics-push", "otlp"]).arg(short()).env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    job.run().expect_code(1).expect_text(&["nothing was run", "OTEL_EXPORTER_OTLP_PROTOCOL `grpc`"]);
}

/// Numbers are sent while the job runs, never fall, and the last ones come although the launcher was killed.
#[test]
fn exports_while_the_job_runs() {
    let folder = folder("push-interval");
    let collector = Collector::start(Vec::new());
    let job = job(&folder, 3, &["--metrics-push", &collector.url()]).arg(short()).arg("load");
    let running = job.env("OTEL_METRIC_EXPORT_INTERVAL", "100").start();
    wait_for("some exports", || (collector.taken().len() >= 4).then_some(()));
    assert!(system::signal(running.pid(), libc::SIGKILL));
    running.wait();
    let killed = |request: &Request| {
        let Some(Data::Gauge(states)) = metric(&decoded(request), "shmem.job.state").and_then(|m| m.data) else {
            return false;
        };
        let is_set = |value| matches!(value, Some(number_data_point::Value::AsInt(1)));
        states.data_points.iter().any(|p| attribute(&p.attributes, "shmem.state") == "killed" && is_set(p.value))
    };
    wait_for("the end", || collector.taken().last().filter(|last| killed(last)).map(drop));
    let counts: Vec<u64> = collector.taken().iter().map(|request| puts(&decoded(request))).collect();
    assert!(counts.windows(2).all(|two| two[0] <= two[1]) && counts[counts.len() - 1] > 0, "{counts:?}");
}

/// A collector that others have made takes it all, in both formats, and hands it on.
#[test]
fn a_real_collector_understands() {
    for format in ["http/protobuf", "http/json"] {
        let folder = folder(&format!("push-rotel-{}", format.len()));
        let behind = Collector::start(Vec::new());
        let Some(collector) = rotel(&folder, &behind.url()) else { return };
        let job = job(&folder, 2, &["--metrics-push", &format!("http://{}", collector.address)]).arg(short());
        let outcome = job.env("OTEL_EXPORTER_OTLP_PROTOCOL", format).run().expect_code(0);
        assert!(!outcome.stderr.contains("metrics"), "{}", outcome.describe());
        let request = wait_for("what it hands on", || behind.taken().first().cloned());
        let request = decoded(&request);
        assert!(metric(&request, "shmem.calls").is_some(), "{format}: {request:?}");
        // This collector loses integers that are texts, which is what the JSON mapping of protobuf says.
        if format == "http/protobuf" {
            assert_eq!(puts(&request), 2 * PUTS);
        }
    }
}

#[test]
fn a_pushgateway_has_the_job_as_one_group() {
    let folder = folder("push-gateway");
    let Some(gateway) = pushgateway(&folder) else { return };
    let to = format!("pushgateway+http://{}", gateway.address);
    job(&folder, 2, &["--metrics-push", &to]).arg(short()).run().expect_code(0);
    let page = get(gateway.address, "/metrics", &[]).1;
    let parts = ["job_id=\"push-gateway\"", "job=\"shmem\"", "op=\"p\""];
    assert_eq!(sum(&page, "shmem_calls_total", &parts), 2.0 * PUTS as f64, "{page}");
    job(&folder, 2, &["--metrics-push", &to, "--metrics-push-forget"]).arg(short()).run().expect_code(0);
    assert!(!get(gateway.address, "/metrics", &[]).1.contains("job_id=\"push-gateway\""));
}

/// A kept profile has its heaps; a trace that was full says how much it lacks, while the job runs and afterwards.
#[test]
fn a_kept_profile_has_heaps_and_what_its_trace_lacks() {
    let folder = folder("metrics-kept");
    let options = ["--profile=kept.prof", "--trace=t", "--metrics-file", "m.prom"];
    let traced = job(&folder, 2, &options)
        .env("SHMEM_TRACE_SIZE", "1M")
        .env("SHMEM_TRACE_DETAIL", "full")
        .arg(short())
        .arg("many");
    traced.run().expect_code(0);
    let kept = Command::new(tree::tool("oshprof")).args(["metrics", "kept.prof"]).current_dir(&folder).output();
    let kept = String::from_utf8_lossy(&kept.expect("oshprof runs").stdout).into_owned();
    let live = std::fs::read_to_string(folder.join("m.prom")).expect("the file");
    for page in [&kept, &live] {
        let size = sum(page, "shmem_heap_size_bytes", &["stat=\"sum\""]);
        assert!(size > 0.0 && size == 2.0 * sum(page, "shmem_heap_size_bytes", &["stat=\"max\""]), "{page}");
        assert!(sum(page, "shmem_heap_used_bytes", &["stat=\"sum\""]) <= size);
    }
    let dropped = |page: &str| sum(page, "shmem_trace_dropped_events_total", &[]);
    assert!(dropped(&kept) > 0.0 && dropped(&kept) == dropped(&live), "{} and {}", dropped(&kept), dropped(&live));
}

/// `report --json` and the file have the same counts.
fn expect_counts(page: &str, pes: usize) {
    let pes = pes as f64;
    assert_eq!(sum(page, "shmem_calls_total", &["op=\"p\""]), pes * PUTS as f64, "{page}");
    assert_eq!(sum(page, "shmem_call_bytes_total", &["op=\"putmem\""]), pes * 50.0 * 1024.0);
}

#[test]
fn a_file_is_written_at_snapshots_and_at_the_end() {
    let folder = folder("metrics-file");
    let options = ["--metrics-file", "job-%h.prom"];
    let name = format!("job-{}.prom", system::host_name());
    let job_of = |way: &str| job(&folder, 4, &options).arg(short()).args([way, &name]);
    let outcome = job_of("snapshot").run().expect_code(0);
    assert_eq!(outcome.stdout.trim(), "a file", "{}", outcome.describe());
    let file = folder.join(&name);
    let page = std::fs::read_to_string(&file).expect("the file");
    expect_counts(&page, 4);
    assert_eq!(sum(&page, "shmem_job_state", &["state=\"finished\""]), 1.0);
    assert!(!page.contains("shmem_exporter_"), "these are about a job");
    if let Ok(output) =
        Command::new("promtool").args(["check", "metrics"]).stdin(std::fs::File::open(&file).unwrap()).output()
    {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    job_of("kill").run().expect_failure();
    let page = std::fs::read_to_string(&file).expect("the file");
    assert_eq!(sum(&page, "shmem_job_state", &["state=\"killed\""]), 1.0);
    assert!(sum(&page, "shmem_lost_pes", &[]) >= 1.0);
    let left: Vec<String> = system::entries(&folder).into_iter().filter(|entry| entry != &name).collect();
    assert_eq!(left, [""; 0], "nothing else is left");
    let outcome = job(&folder, 1, &["--metrics-file", "no/such/place.prom"]).arg(short()).run();
    outcome.expect_code(1).expect_text(&["nothing was run", "no/such/place.prom"]);
}

/// That of whoever has started the job, though a process beside it writes there.
#[test]
fn the_file_may_be_the_standard_output() {
    let folder = folder("metrics-stdout");
    for name in ["/dev/stdout", "/dev/fd/1"] {
        let outcome = job(&folder, 2, &["--metrics-file", name]).arg(short()).run().expect_code(0);
        assert_eq!(sum(&outcome.stdout, "shmem_job_state", &["state=\"finished\""]), 1.0, "{}", outcome.describe());
    }
}

/// The job's own address: a short job is scraped with its last numbers, and so is a killed one; then nobody listens
/// there any more.
#[test]
fn prometheus_scrapes_the_jobs_own_address() {
    for (name, way) in [("own-short", ""), ("own-killed", "kill")] {
        let folder = folder(name);
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let prometheus = Prometheus::begin(&folder, address, "1s", &[], "");
        let Some(prometheus) = prometheus else { return };
        let outcome = job(&folder, 4, &[&format!("--metrics={address}")]).arg(short()).arg(way).run();
        assert!(
            outcome.stderr.contains(&format!("oshrun: metrics: http://{address}/metrics")),
            "{}",
            outcome.describe()
        );
        let query = "sum(shmem_calls_total{op=\"p\"})";
        assert_eq!(wait_for(query, || prometheus.value(query)), 4.0 * PUTS as f64, "{name}");
        let state = if way.is_empty() { "finished" } else { "killed" };
        let query = format!("shmem_job_state{{state=\"{state}\"}}");
        // A scrape from before the end may have had all calls.
        wait_for(&query, || prometheus.value(&query).filter(|value| *value == 1.0));
        wait_for("its end", || TcpStream::connect(address).err());
        wait_for("its series to go", || prometheus.value("absent(shmem_calls_total)"));
    }
}

#[test]
fn an_address_that_is_taken_is_told_before_the_job() {
    let folder = folder("own-taken");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let outcome = job(&folder, 1, &[&format!("--metrics={address}")]).arg(short()).run();
    outcome.expect_code(1).expect_text(&["nothing was run", &address, "in use"]);
}

/// Steps of a script at one address, whose last numbers nobody has fetched.
#[test]
fn the_next_job_has_the_address_of_one_that_has_ended() {
    let folder = folder("own-again");
    let address = format!("--metrics=127.0.0.1:{}", free_port());
    for _ in 0..3 {
        job(&folder, 1, &[&address]).arg(short()).run().expect_code(0);
    }
}

/// Each job its own file, where the name says so.
#[test]
fn a_file_is_called_as_the_job() {
    let folder = folder("metrics-file-of-job");
    for id in ["first", "second"] {
        let of = job(&folder, 1, &["--metrics-file", "%j.prom"]).env("PELLUCID_JOB_ID", id);
        of.arg(short()).run().expect_code(0);
        let page = std::fs::read_to_string(folder.join(format!("{id}.prom"))).expect("its file");
        assert_eq!(sum(&page, "shmem_job_state", &[&format!("job_id=\"{id}\""), "state=\"finished\""]), 1.0, "{page}");
    }
    assert_eq!(system::entries(&folder).len(), 2);
    let outcome = job(&folder, 1, &["--metrics-file", "%x.prom"]).arg(short()).run();
    outcome.expect_code(1).expect_text(&["nothing was run", "%x.prom: after % comes h"]);
}

/// One that somebody reads is written to.
#[test]
fn a_pipe_that_nobody_reads_is_told_before_the_job() {
    let folder = folder("pipe");
    let pipe = folder.join("job.prom");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let options = ["--metrics-file", pipe.to_str().expect("a name")];
    let outcome = job(&folder, 1, &options).arg(short()).run();
    outcome.expect_code(1).expect_text(&["nothing was run", "job.prom: nobody reads it"]);
    // A reader sees an end where nobody has it open for writing any more: not before the job's own.
    let from = pipe.clone();
    let reader = std::thread::spawn(move || std::fs::read_to_string(from).expect("a page"));
    // It waits there for a writer, which a job does not.
    let writer = std::fs::File::options().write(true).open(&pipe).expect("the pipe");
    let running = job(&folder, 1, &options).arg(short()).arg("stand").start();
    std::thread::sleep(std::time::Duration::from_millis(1000));
    drop(writer);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(system::signal(running.pid(), libc::SIGTERM));
    running.wait();
    let page = reader.join().expect("a reader");
    assert_eq!(sum(&page, "shmem_job_pes", &[]), 1.0, "{page}");
}

/// The file has the last numbers, and what did not get there is told.
#[test]
fn a_collector_that_hangs_does_not_cost_the_file() {
    let folder = folder("push-hangs");
    let collector = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, file) = (format!("http://{}", collector.local_addr().unwrap()), folder.join("job.prom"));
    // It is connected to, and never answers. The push of this moment is under way when the job ends.
    let options = ["--metrics-file", file.to_str().expect("a name"), "--metrics-push", &url];
    let running =
        job(&folder, 2, &options).arg(short()).arg("stand").env("OTEL_METRIC_EXPORT_INTERVAL", "3000").start();
    let _open = collector.accept().expect("a push");
    assert!(system::signal(running.pid(), libc::SIGTERM));
    running.wait().expect_text(&["the last numbers"]);
    let page = std::fs::read_to_string(&file).expect("the file");
    assert_eq!(sum(&page, "shmem_job_state", &["state=\"killed\""]), 1.0, "{page}");
}

/// What serves the numbers of a job that has ended has nothing open of whoever started it and stands in no directory of
/// theirs: not the job's memory, and no pipe that somebody reads to its end, as Hydra does before it ends.
#[test]
fn what_stays_behind_a_job_holds_nothing_of_it() {
    if is_over_network() {
        return;
    }
    let folder = folder("metrics-behind");
    let check = |way: &str, job: &dyn Fn(&str) -> Job| {
        let address = format!("127.0.0.1:{}", free_port());
        let outcome = job(&address).directory(&folder).limit(60).run().expect_code(0);
        let is_this = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|argument| argument == address.as_bytes())
        };
        let found: Vec<u32> = system::processes(&tree::tool("oshprof")).into_iter().filter(is_this).collect();
        let [pid] = found[..] else { panic!("{way}: {found:?}\n{}", outcome.describe()) };
        let link = |path: std::path::PathBuf| std::fs::read_link(path).unwrap_or_default().display().to_string();
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors").flatten();
        let open: Vec<String> = open.map(|entry| link(entry.path())).collect();
        let held: Vec<&String> =
            open.iter().filter(|name| name.contains("pellucid-job") || name.starts_with("pipe:")).collect();
        assert!(held.is_empty() && !open.is_empty(), "{way}: {open:?}");
        assert_eq!(link(format!("/proc/{pid}/cwd").into()), "/", "{way}");
        assert!(system::signal(pid, libc::SIGTERM));
    };
    let with_pipe = ["sh", "-c", "exec 8>&1; exec \"$@\"", "sh"];
    let started = |program: &Path| Job::new(with_pipe[0]).args(&with_pipe[1..]).arg(program);
    check("oshrun", &|to| started(&tree::tool("oshrun")).args(["-n", "2", &format!("--metrics={to}")]).arg(short()));
    check("alone", &|to| started(&short()).env("SHMEM_METRICS", &format!("serve={to}")));
    match launchers::hydra() {
        Ok(hydra) => check("hydra", &|to| {
            hydra.behind(&with_pipe).job(2).arg(short()).env("SHMEM_METRICS", &format!("serve={to}"))
        }),
        Err(why) => println!("skipped: {why}"),
    }
}

/// The PE that ends the job says how, whoever looks after the metrics of its host.
fn expect_failed(job: Job, file: &Path) {
    let value = format!("file={}", file.display());
    let outcome = job.arg(short()).arg("exit").env("SHMEM_METRICS", &value).limit(90).run();
    let said = || sum(&std::fs::read_to_string(file).unwrap_or_default(), "shmem_job_state", &["state=\"failed\""]);
    let is_said = system::wait_until(Duration::from_secs(10), || said() == 1.0);
    assert!(is_said, "{}\n{}", std::fs::read_to_string(file).unwrap_or_default(), outcome.describe());
}

/// Under other launchers, and without one, the library does it.
#[test]
fn other_launchers_have_a_variable() {
    if is_over_network() {
        return;
    }
    let folder = folder("metrics-variable");
    let check = |job: Job, name: &str, pes: usize| -> Outcome {
        let file = folder.join(format!("{name}.prom"));
        let collector = Collector::start(Vec::new());
        let value = format!("file={},push={}", file.display(), collector.url());
        let outcome =
            job.arg(short()).env("SHMEM_METRICS", &value).env("PELLUCID_JOB_ID", name).limit(90).run().expect_code(0);
        let page = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}\n{}", outcome.describe()));
        expect_counts(&page, pes);
        assert_eq!(sum(&page, "shmem_job_state", &["state=\"finished\"", &format!("job_id=\"{name}\"")]), 1.0);
        let last = collector.taken().last().cloned().expect("an export");
        assert_eq!(puts(&decoded(&last)), pes as u64 * PUTS, "{name}");
        outcome
    };
    check(Job::new("env"), "alone", 1);
    for (name, launcher) in [("mpirun", launchers::open_mpi()), ("hydra", launchers::hydra())] {
        match launcher {
            Ok(launcher) => {
                check(launcher.job(3), name, 3);
                expect_failed(launcher.job(2), &folder.join(format!("{name}-exit.prom")));
            }
            Err(why) => println!("skipped: {why}"),
        }
    }
    let outcome = Job::new(short()).env("SHMEM_METRICS", "9745").run().expect_failure();
    outcome.expect_text(&["SHMEM_METRICS", "expected serve"]);
    let outcome = Job::oshrun(1).arg(short()).env("SHMEM_METRICS", "9745").run().expect_failure();
    outcome.expect_text(&["SHMEM_METRICS is \"9745\"", "expected serve"]);
}
