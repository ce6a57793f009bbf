//! Metrics of jobs that run, through the exporter of their host, by the real Prometheus where that is installed.

#[path = "metrics/found.rs"]
mod found;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use harness::browser::Browser;
use harness::compile::Build;
use harness::exporter::{Exporter, LONG, Process, Prometheus, sum, wait_for};
use harness::plots::Page;
use harness::run::Job;
use harness::{system, tree};
use serde_json::Value;

/// A job that hands itself over to an exporter, named for Prometheus.
fn job(exporter: &Exporter, id: &str, pes: usize, way: &str) -> Job {
    let binary = Build::program("metrics/short.c").build();
    let job = Job::oshrun(pes).args(["--profile-dir"]).arg(exporter.folder.join(format!("{id}.prof")));
    job.arg("--profile")
        .arg(binary)
        .arg(way)
        .env("PELLUCID_SERVE", &exporter.socket())
        .env("PELLUCID_JOB_ID", id)
        .limit(60)
}

/// What the report says of a job that has ended: calls, bytes, errors and nanoseconds by routine, and those in calls
/// that did not return.
fn report(folder: &Path) -> HashMap<String, [u64; 5]> {
    let output = Command::new(tree::tool("oshprof")).args(["report", "--json"]).arg(folder).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    // What was not timed is null.
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let of = |routine: &Value| {
        let [calls, bytes, errors] = [&routine["calls"], &routine["bytes"], &routine["errors"]].map(number);
        [calls, bytes, errors, number(&routine["time_ns"]["total"]), number(&routine["unfinished_ns"])]
    };
    let list = report["routines"].as_array().expect("routines").iter();
    list.map(|routine| (routine["name"].as_str().unwrap_or_default().to_owned(), of(routine))).collect()
}

/// The last numbers of a job that ended between two scrapes are those of its report, to the last call.
#[test]
fn a_short_job_is_scraped_with_its_last_numbers() {
    let exporter = Exporter::start("metrics-short", &[]);
    let prometheus = Prometheus::start(&exporter.folder, exporter.address(), "2s", &[], "");
    let outcome = job(&exporter, "short", 4, "").run();
    // Before Prometheus has had its look and the next.
    let short = exporter.metrics_of("short");
    outcome.expect_code(0);
    job(&exporter, "killed", 4, "kill").run().expect_failure();
    for (id, page) in [("short", short), ("killed", exporter.metrics_of("killed"))] {
        let label = format!("job_id=\"{id}\"");
        let all = report(&exporter.folder.join(format!("{id}.prof")));
        for (routine, op, distance) in [
            ("shmem_long_p", "p", "host"),
            ("shmem_putmem", "putmem", "host"),
            ("shmem_barrier_all", "barrier_all", "none"),
        ] {
            let [calls, bytes, errors, ns, unfinished] = all[routine];
            let parts = [label.as_str(), &format!("op=\"{op}\"")];
            assert_eq!(sum(&page, "shmem_calls_total", &parts), calls as f64, "{id} {op}");
            assert_eq!(sum(&page, "shmem_call_bytes_total", &parts), bytes as f64, "{id} {op}");
            assert_eq!(sum(&page, "shmem_call_errors_total", &parts), errors as f64, "{id} {op}");
            let seconds = sum(&page, "shmem_call_seconds_total", &parts);
            // Of a call that never returned, who scraped before the end was known has had more.
            let least = (ns - unfinished) as f64 - 2.0;
            let most = if unfinished > 0 { f64::INFINITY } else { ns as f64 + 2.0 };
            assert!((least..most).contains(&(seconds * 1e9)), "{id} {op}: {seconds} s, {ns} ns");
            if let Some(prometheus) = &prometheus {
                let query = format!("shmem_calls_total{{{label},op=\"{op}\",distance=\"{distance}\"}}");
                let seen = wait_for(&query, || prometheus.value(&query));
                assert_eq!(seen, calls as f64, "{query}");
            }
        }
        assert_eq!(all["shmem_long_p"][0], 400, "as the program has it");
        let state = if id == "short" { "finished" } else { "killed" };
        assert_eq!(sum(&page, "shmem_job_state", &[&label, state]), 1.0, "{id}: {page}");
        let lost = sum(&page, "shmem_lost_pes", &[&label]);
        assert!(if id == "short" { lost == 0.0 } else { lost >= 1.0 }, "{lost}");
    }
    let Some(prometheus) = prometheus else { return };
    // Gone with the scrape after: Prometheus marks its series as stale, and queries find nothing.
    let absent = "absent(shmem_calls_total{job_id=\"short\"}) and on() absent(shmem_calls_total{job_id=\"killed\"})";
    wait_for("the jobs to leave", || prometheus.value(absent));
}

/// What the alert for lost PEs is not for.
#[test]
fn a_job_that_goes_on_without_lost_pes_says_so() {
    let exporter = Exporter::start("metrics-survives", &[]);
    let binary = Build::program("metrics/short.c").build();
    for (id, options, survives) in [("mortal", &[][..], 0), ("survivor", &["--survive"], 1)] {
        let job = Job::oshrun(2).args(options).arg(&binary).env("PELLUCID_SERVE", &exporter.socket());
        job.env("PELLUCID_JOB_ID", id).limit(60).run().expect_code(0);
        let page = exporter.metrics_of(id);
        let line = format!("shmem_job_survives{{job_id=\"{id}\"}} {survives}");
        assert!(page.lines().any(|found| found == line), "{page}");
    }
}

/// Native histograms come with the protobuf format, which Prometheus asks for with a feature flag.
#[test]
fn prometheus_takes_native_histograms() {
    let exporter = Exporter::start("metrics-native", &[]);
    let options = ["--enable-feature=native-histograms"];
    let Some(prometheus) = Prometheus::start(&exporter.folder, exporter.address(), "1s", &options, "") else { return };
    job(&exporter, "native", 2, "").run().expect_code(0);
    let page = exporter.metrics_of("native");
    let count = sum(&page, "shmem_call_duration_seconds_count", &["job_id=\"native\"", "class=\"barrier\""]);
    let query = "histogram_count(shmem_call_duration_seconds{job_id=\"native\",class=\"barrier\"})";
    assert_eq!(wait_for(query, || prometheus.value(query)), count);
    assert!(count >= 22.0, "{count}");
    // Where half of the calls lie, by both kinds of buckets.
    let quantile = "histogram_quantile(0.5, shmem_call_duration_seconds{job_id=\"native\",class=\"barrier\"})";
    let median = prometheus.value(quantile).filter(|median| (1e-8..1.0).contains(median));
    assert!(median.is_some(), "{}", prometheus.ask(quantile));
    // Panels of quantiles have data: there are no series of buckets.
    let running = job(&exporter, "native-panels", 2, "load").start();
    let text = std::fs::read_to_string(tree::workspace().join("dashboards/grafana/job.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    let quantiles: Vec<_> = queries.iter().filter(|query| query.contains("histogram_quantile")).collect();
    assert_eq!(quantiles.len(), 2);
    for query in quantiles {
        let query = of_any(query);
        wait_for(&query, || prometheus.query(&query).first().map(drop));
    }
    // SAFETY: no pointers.
    unsafe { libc::kill(running.pid() as i32, libc::SIGTERM) };
    running.wait();
}

/// As many series for many PEs as for few, and not too long a wait for them.
#[test]
fn series_do_not_grow_with_pes() {
    let exporter = Exporter::start("metrics-pes", &[]);
    let mut series = Vec::new();
    for pes in [4, 64] {
        let running = job(&exporter, &format!("pes-{pes}"), pes, "stand").start();
        let label = format!("job_id=\"pes-{pes}\"");
        let blocked = (pes - 1) as f64;
        let page = wait_for("all PEs but one in the barrier", || {
            let page = exporter.metrics();
            (sum(&page, "shmem_blocked_pes", &[&label, "kind=\"barrier\""]) == blocked).then_some(page)
        });
        series.push(page.lines().filter(|line| line.contains(&label)).count());
        // SAFETY: no pointers.
        unsafe { libc::kill(running.pid() as i32, libc::SIGTERM) };
        running.wait();
        if pes == 64 {
            let time = sum(&page, "shmem_exporter_scrape_duration_seconds", &[]);
            println!("scrape of {pes} PEs: {time} s");
            assert!(time < 1.0, "{time}");
        }
        wait_for("the job to be seen and forgotten", || (!exporter.scrape().contains(&label)).then_some(()));
    }
    assert_eq!(series[0], series[1]);
    assert!(series[0] <= 1000, "{series:?}");
}

#[test]
fn too_many_series_are_dropped_and_counted() {
    let exporter = Exporter::start("metrics-most", &["--max-series-per-job", "50"]);
    job(&exporter, "most", 2, "").run().expect_code(0);
    let page = exporter.metrics_of("most");
    let kept = page.lines().filter(|line| line.contains("job_id=\"most\"")).count();
    assert!((1..=50).contains(&kept), "{kept}");
    assert!(sum(&page, "shmem_exporter_series_dropped_total", &[]) > 100.0, "{page}");
}

/// PEs that stand out have series where somebody wants them, and as many of 8 as of 3.
#[test]
fn single_pes_are_named_where_asked() {
    let exporter = Exporter::start("metrics-top", &["--pe-labels", "top=2"]);
    for pes in [3, 8] {
        let id = format!("top-{pes}");
        let running = job(&exporter, &id, pes, "stand").start();
        let label = format!("job_id=\"{id}\"");
        let is_one = |line: &&str| line.contains(&label) && line.contains(",pe=\"");
        // Those that wait, and what they have sent by then.
        let page = wait_for("two PEs that wait", || {
            let page = exporter.metrics();
            let waits = page.lines().filter(is_one).filter(|line| line.starts_with("shmem_longest_wait")).count();
            (waits == 2 && page.lines().filter(is_one).count() == 6).then_some(page)
        });
        assert!(!page.contains("pe=\"\""), "PEs that are not named have no label");
        system::signal(running.pid(), libc::SIGTERM);
        running.wait();
    }
}

/// Of a host with one job at a time, only one metric says which job it is.
#[test]
fn series_of_a_node_do_not_name_the_job() {
    // The series are those of one job, the newest of those that run: where one of another program of tests begins
    // meanwhile, of that until it ends.
    let exporter = Exporter::start_alone("metrics-node", &["--labels", "node", "--linger", "1s"]);
    let mut started = 0;
    let mut shown = |name: &str| {
        wait_for(name, || {
            started += 1;
            let id = format!("{name}-{started}");
            let running = job(&exporter, &id, 2, "stand").start();
            let begin = Instant::now();
            let mut found = None;
            while found.is_none() && begin.elapsed() < Duration::from_secs(5) {
                let page = exporter.metrics();
                let jobs: Vec<&str> = page.lines().filter(|line| line.starts_with("shmem_job_info{")).collect();
                let is_this = jobs.len() == 1 && jobs[0].contains(&format!("job_id=\"{id}\""));
                // PE 0 stands still when it has done all.
                if is_this && sum(&page, "shmem_calls_total", &["op=\"p\""]) == 200.0 {
                    found = Some((page, id.clone()));
                }
            }
            system::signal(running.pid(), libc::SIGTERM);
            running.wait();
            found
        })
    };
    let (first, second) = (shown("first"), shown("second"));
    for (page, id) in [&first, &second] {
        let named: Vec<&str> = page.lines().filter(|line| line.contains("job_id=")).collect();
        assert!(named.iter().all(|line| line.starts_with("shmem_job_info{")), "{named:?}");
        assert_eq!(named.iter().filter(|line| line.contains(&format!("job_id=\"{id}\""))).count(), 1, "{named:?}");
        let both = [sum(page, "shmem_calls_total", &["op=\"p\""]), sum(page, "shmem_calls_total", &[])];
        assert!(both[0] == 200.0 && both[1] > both[0], "{id}: {both:?}");
    }
}

#[test]
fn counters_never_decrease() {
    let exporter = Exporter::start("metrics-grow", &[]);
    let running = job(&exporter, "grow", 3, "load").start();
    wait_for("the job", || exporter.metrics().contains("job_id=\"grow\"").then_some(()));
    let mut before: HashMap<String, f64> = HashMap::new();
    let scrapes = system::repetitions(40, 10_000);
    for scrape in 0..scrapes {
        if scrape == scrapes / 2 {
            let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.pid())).unwrap();
            let pe: i32 = children.split_whitespace().last().unwrap().parse().unwrap();
            // SAFETY: no pointers.
            unsafe { libc::kill(pe, libc::SIGKILL) };
        }
        for line in exporter.metrics().lines().filter(|line| line.contains("job_id=\"grow\"")) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let counts = ["_total{", "_bucket{", "_count{", "_sum{"].iter().any(|part| name.contains(part));
            let value: f64 = value.parse().unwrap();
            if counts && let Some(old) = before.insert(name.to_owned(), value) {
                assert!(value >= old, "{name}: {old}, then {value}");
            }
        }
    }
    running.wait();
    assert!(before.len() > 100);
}

/// Who waits for whom is a metric.
#[test]
fn a_deadlock_is_counted() {
    let exporter = Exporter::start("metrics-cycle", &[]);
    let binary = Build::program("live/stuck.c").build();
    let ring = Job::oshrun(3).arg(binary).arg("ring").env("PELLUCID_JOB_ID", "ring");
    let running = ring.env("PELLUCID_SERVE", &exporter.socket()).limit(60).start();
    // Other tests have jobs on this host, too.
    let of_ring = "job_id=\"ring\"";
    let page = wait_for("the ring", || {
        let page = exporter.metrics();
        (sum(&page, "shmem_wait_cycles", &[of_ring]) == 1.0).then_some(page)
    });
    assert_eq!(sum(&page, "shmem_slowest_pe", &[of_ring, "kind=\"barrier\""]), 1.0);
    assert!(sum(&page, "shmem_longest_wait_seconds", &[of_ring, "kind=\"lock\""]) >= 1.0);
    // SAFETY: no pointers.
    unsafe { libc::kill(running.pid() as i32, libc::SIGTERM) };
    running.wait();
    assert_eq!(sum(&exporter.metrics(), "shmem_wait_cycles", &[of_ring]), 0.0);
}

#[test]
fn every_path_answers() {
    let exporter = Exporter::start("metrics-paths", &[]);
    assert_eq!(exporter.get("/-/healthy", &[]), (200, "healthy\n".into()));
    let (status, targets) = exporter.get("/sd", &[]);
    let targets: Value = serde_json::from_str(&targets).unwrap();
    assert_eq!((status, &targets[0]["targets"][0]), (200, &"localhost".into()));
    let (status, page) = exporter.get("/", &[]);
    assert!(status == 200 && page.contains("<h1>Pellucid exporter"), "{page}");
    assert_eq!(exporter.get("/etc/passwd", &[]).0, 404);
    let (_, open) = exporter.get("/metrics", &["Accept: application/openmetrics-text;version=1.0.0"]);
    assert!(open.ends_with("# EOF\n"));
}

/// Whoever is slow, sends too much or garbage neither stops the exporter nor keeps others out.
#[test]
fn bad_requests_do_no_harm() {
    let exporter = Exporter::start("metrics-bad", &[]);
    // More than it has connections for, each with half a request.
    let slow: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(exporter.address()).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n").unwrap();
            stream
        })
        .collect();
    let started = Instant::now();
    assert_eq!(exporter.get("/-/healthy", &[]).0, 200);
    assert!(started.elapsed() < Duration::from_secs(5), "others do not wait for the slow ones");
    drop(slow);
    let long = format!("X-Long: {}", "a".repeat(1 << 20));
    let (status, _) = exporter.get("/metrics", &[&long]);
    assert!(status == 431 || status == 0, "{status}");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..system::repetitions(200, 20_000) {
        let mut stream = TcpStream::connect(exporter.address()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut bytes =
            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\nConnection: close\r\n\r\n".to_vec();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % bytes.len();
            bytes[at] = (seed >> 20) as u8;
        }
        let _ = stream.write_all(&bytes).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert_eq!(exporter.get("/-/healthy", &[]).0, 200);
    // Not a job, but connected to where jobs hand themselves over.
    let mut stream = std::os::unix::net::UnixStream::connect(exporter.socket()).unwrap();
    stream.write_all(b"segment\n\n").unwrap();
    wait_for("the refusal", || exporter.log().contains("no descriptor came with it").then_some(()));
    assert_eq!(sum(&exporter.metrics(), "shmem_exporter_read_errors_total", &[]), 1.0);
}

/// A head that does not come to its end, one with too many lines, and a body that nobody wants.
#[test]
fn requests_have_bounds() {
    let exporter = Exporter::start("metrics-bounds", &[]);
    let mut slow = TcpStream::connect(exporter.address()).unwrap();
    slow.set_read_timeout(Some(LONG)).unwrap();
    slow.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n").unwrap();
    let many: Vec<String> = (0..1000).map(|line| format!("X-{line}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (status, _) = exporter.get("/metrics", &many);
    assert!(status == 431 || status == 0, "{status}");
    let mut large = TcpStream::connect(exporter.address()).unwrap();
    large.set_read_timeout(Some(LONG)).unwrap();
    large.write_all(b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\nab").unwrap();
    let mut answer = [0; 12];
    large.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 405");
    // The other end closes: no error of a time limit here.
    slow.read_to_end(&mut Vec::new()).expect("the connection is closed in time");
    assert_eq!(exporter.get("/-/healthy", &[]).0, 200);
}

/// Whatever is sent to where jobs hand themselves over, jobs are taken afterwards.
#[test]
fn nonsense_is_not_handed_over() {
    let exporter = Exporter::start("metrics-nonsense", &[]);
    let good = b"segment\n\nstate=finished\n\n".to_vec();
    let mut seed = 0x1234_5678_9abc_def1_u64;
    for round in 0..system::repetitions(100, 5_000) {
        let mut bytes = if round % 10 == 0 { vec![b'a'; 100_000] } else { good.clone() };
        for _ in 0..round % 7 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % bytes.len();
            bytes[at] = (seed >> 20) as u8;
        }
        let mut stream = std::os::unix::net::UnixStream::connect(exporter.socket()).unwrap();
        // It may refuse in the middle.
        let _ = stream.write_all(&bytes);
    }
    job(&exporter, "sound", 2, "").run().expect_code(0);
    let page = exporter.metrics_of("sound");
    assert_eq!(sum(&page, "shmem_calls_total", &["job_id=\"sound\"", "op=\"p\""]), 200.0, "{page}");
    assert!(sum(&page, "shmem_exporter_read_errors_total", &[]) >= 50.0, "{page}");
}

/// A job that nobody scrapes is shown until its time is over, and no longer.
#[test]
fn a_job_leaves_after_the_linger() {
    let exporter = Exporter::start("metrics-linger", &["--linger", "5"]);
    let id = "job_id=\"lingers\"";
    let running = job(&exporter, "lingers", 2, "stand").start();
    wait_for("the job", || exporter.metrics().contains(id).then_some(()));
    // Longer than that while it runs.
    std::thread::sleep(Duration::from_secs(6));
    assert!(exporter.metrics().contains(id), "it runs");
    system::signal(running.pid(), libc::SIGTERM);
    running.wait();
    assert_eq!(sum(&exporter.metrics(), "shmem_job_state", &[id, "state=\"killed\""]), 1.0);
    wait_for("its time to be over", || (!exporter.metrics().contains(id)).then_some(()));
}

/// The exporter of a user has nothing of another user's job.
#[test]
fn jobs_of_others_are_not_shown() {
    // SAFETY: no arguments.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("only root can start a job of another user: not tested");
        return;
    }
    let exporter = Exporter::start("metrics-other", &[]);
    let running = job(&exporter, "roots", 2, "stand").start();
    wait_for("the job", || exporter.metrics().contains("job_id=\"roots\"").then_some(()));
    // The same, as nobody.
    let port = harness::exporter::free_port();
    let script = format!(
        "exec setpriv --reuid=65534 --regid=65534 --clear-groups {} serve --listen 127.0.0.1:{port} --socket \
         /tmp/pellucid-test-{port}/s",
        tree::tool("oshprof").display()
    );
    let nobody = Process(Command::new("sh").args(["-c", &script]).spawn().unwrap());
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    wait_for("the other exporter", || TcpStream::connect(address).ok());
    let (status, page) = harness::exporter::get(address, "/metrics", &[]);
    // And root does not hand a job over to it.
    let socket = format!("/tmp/pellucid-test-{port}/s");
    wait_for("its socket", || Path::new(&socket).exists().then_some(()));
    job(&exporter, "second", 2, "").env("PELLUCID_SERVE", &socket).run().expect_code(0);
    let (_, later) = harness::exporter::get(address, "/metrics", &[]);
    drop(nobody);
    let _ = std::fs::remove_dir_all(format!("/tmp/pellucid-test-{port}"));
    // SAFETY: no pointers.
    unsafe { libc::kill(running.pid() as i32, libc::SIGTERM) };
    running.wait();
    assert_eq!(status, 200);
    assert!(!page.contains("shmem_job_pes") && !later.contains("shmem_job_pes"), "{page}{later}");
}

#[test]
fn passwords_and_encryption() {
    let folder = tree::fresh("metrics-tls-files");
    std::fs::create_dir_all(&folder).unwrap();
    let (cert, key, config) = (folder.join("cert.pem"), folder.join("key.pem"), folder.join("web.yml"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&cert)
        .output();
    if !made.is_ok_and(|output| output.status.success()) || Command::new("curl").arg("--version").output().is_err() {
        eprintln!("openssl or curl is not installed: encryption is not tested");
        return;
    }
    // Of the password "secret".
    let hash = "$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a";
    let users = format!("basic_auth_users:\n  ada: {hash}\n");
    let text = format!("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n{users}");
    std::fs::write(&config, &text).unwrap();
    if let Ok(output) = Command::new("promtool").args(["check", "web-config"]).arg(&config).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let exporter = Exporter::start("metrics-tls", &["--web.config.file", &config.display().to_string()]);
    let ask = |scheme: &str, user: &[&str]| {
        let output = Command::new("curl")
            .args(["-s", "-w", "\n%{http_code}", "--cacert"])
            .arg(&cert)
            .args(user)
            .arg(format!("{scheme}://localhost:{}/metrics", exporter.port))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let curl = |user: &[&str]| ask("https", user);
    assert!(curl(&["-u", "ada:secret"]).ends_with("\n200"));
    assert!(curl(&["-u", "ada:secret"]).contains("shmem_exporter_build_info"));
    for wrong in [&["-u", "ada:public"][..], &["-u", "eve:secret"], &[]] {
        assert!(curl(wrong).ends_with("\n401"), "{wrong:?}");
    }
    // While the file is written anew there is nothing in it, for a moment.
    for cut in ["", "# made by a tool\n"] {
        std::fs::write(&config, cut).unwrap();
        assert_eq!((ask("http", &[]).as_str(), curl(&["-u", "ada:secret"]).as_str()), ("\n000", "\n000"), "{cut:?}");
    }
    assert!(exporter.log().contains("web.yml: the file is not complete"), "{}", exporter.log());
    std::fs::write(&config, &text).unwrap();
    assert!(curl(&["-u", "ada:secret"]).ends_with("\n200"));
    // A certificate that cannot be read: a message at the start, and now and then one later.
    std::fs::rename(&key, folder.join("away.pem")).unwrap();
    assert!(curl(&["-u", "ada:secret"]).ends_with("\n000"));
    let output = Command::new(tree::tool("oshprof"))
        .args(["serve", "--listen", "127.0.0.1:0", "--web.config.file"])
        .arg(&config)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("key.pem: "));
}

/// Panels that have data only where a program names regions, or where there are several hosts.
const ONLY_SOMETIMES: [&str; 2] = ["shmem_region_seconds_total", "shmem_network_events_total"];

/// The query of a panel, for all jobs and exporters.
fn of_any(query: &str) -> String {
    let mut query = query.replace("$__rate_interval", "10s");
    for variable in ["$job_id", "$job", "$instance"] {
        query = query.replace(&format!("\"{variable}\""), "\".+\"");
    }
    assert!(!query.contains('$'), "{query}");
    query
}

/// Pictures of the pages, for whoever wants to look, and that each panel has its place.
fn look_at(folder: &Path, pages: &[(PathBuf, u64)]) {
    let Some(browser) = Browser::start(folder) else { return };
    for (page, panels) in pages {
        browser.open(&format!("file://{}", page.display()));
        assert_eq!(browser.value("return document.querySelectorAll('section').length").as_u64(), Some(*panels));
        let wide = "return document.documentElement.scrollWidth <= window.innerWidth";
        assert_eq!(browser.value(wide), true, "{} is wider than the window", page.display());
        browser.picture(&page.with_extension("png"));
    }
}

/// Every query of every panel has an answer in a Prometheus that scrapes a job.
#[test]
fn every_panel_has_data() {
    let exporter = Exporter::start("metrics-panels", &[]);
    let rules = tree::workspace().join("dashboards/prometheus/rules.yml");
    let more = format!("  evaluation_interval: 1s\nrule_files:\n  - {}", rules.display());
    let Some(prometheus) = Prometheus::start(&exporter.folder, exporter.address(), "1s", &[], &more) else { return };
    let running = job(&exporter, "panels", 2, "load").start();
    let (mut asked, mut pages) = (0, Vec::new());
    for file in std::fs::read_dir(tree::workspace().join("dashboards/grafana")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let dashboard: Value = serde_json::from_str(&text).unwrap();
        let mut plots = Page::new(dashboard["title"].as_str().unwrap());
        for panel in dashboard["panels"].as_array().unwrap() {
            let mut answers = Vec::new();
            for target in panel["targets"].as_array().unwrap() {
                let query = of_any(target["expr"].as_str().unwrap());
                asked += 1;
                if ONLY_SOMETIMES.iter().any(|name| query.contains(name)) {
                    assert!(prometheus.ask(&query).contains("\"status\":\"success\""), "{query}");
                } else {
                    wait_for(&query, || prometheus.query(&query).first().map(drop));
                }
                answers.push(prometheus.range(&query, 20));
            }
            plots.add(panel, &answers);
        }
        let page = exporter.folder.join(format!("{}.html", dashboard["uid"].as_str().unwrap()));
        plots.write(&page);
        pages.push((page, dashboard["panels"].as_array().unwrap().len() as u64));
    }
    look_at(&exporter.folder, &pages);
    for record in ["job_id:shmem_waiting:ratio_rate5m", "job_id:shmem_communication:ratio_rate5m"] {
        wait_for(record, || prometheus.value(record));
    }
    // SAFETY: no pointers.
    unsafe { libc::kill(running.pid() as i32, libc::SIGTERM) };
    running.wait();
    assert!(asked > 30, "{asked}");
}
