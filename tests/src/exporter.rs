//! The exporter of metrics under test, and the real Prometheus that scrapes it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::tree;

/// Longer than anything here takes.
pub const LONG: Duration = Duration::from_secs(30);

/// A port that nobody listened at a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Tries until there is an answer.
pub fn wait_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(started.elapsed() < LONG, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that is ended when dropped, as where a test panics.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Held by tests that have an exporter, which finds the jobs of all of them.
static EXPORTERS: RwLock<()> = RwLock::new(());

/// With other tests of the program beside, or without.
#[expect(dead_code, reason = "held, not read")]
enum Company {
    Others(RwLockReadGuard<'static, ()>),
    Nobody(RwLockWriteGuard<'static, ()>),
}

/// `oshprof serve`.
pub struct Exporter {
    _process: Process,
    _company: Company,
    /// Where it listens.
    pub port: u16,
    /// Its folder.
    pub folder: PathBuf,
}

impl Exporter {
    /// Starts one with a hand-over socket of its own.
    pub fn start(name: &str, options: &[&str]) -> Exporter {
        Self::start_in(Company::Others(EXPORTERS.read().unwrap_or_else(PoisonError::into_inner)), name, options)
    }

    /// As [`Self::start`], while no other test of the program has one.
    pub fn start_alone(name: &str, options: &[&str]) -> Exporter {
        Self::start_in(Company::Nobody(EXPORTERS.write().unwrap_or_else(PoisonError::into_inner)), name, options)
    }

    fn start_in(company: Company, name: &str, options: &[&str]) -> Exporter {
        let (folder, port) = (tree::fresh(name), free_port());
        std::fs::create_dir_all(&folder).expect("a folder for the exporter");
        let log = std::fs::File::create(folder.join("serve.log")).expect("a log");
        let process = Command::new(tree::tool("oshprof"))
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(options)
            .env("PELLUCID_SERVE", folder.join("s"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("oshprof starts");
        let exporter = Exporter { _process: Process(process), _company: company, port, folder };
        wait_for("the exporter", || TcpStream::connect(exporter.address()).ok());
        exporter
    }

    /// What jobs have to have in `PELLUCID_SERVE`.
    pub fn socket(&self) -> String {
        self.folder.join("s").display().to_string()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// What it has said.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("serve.log")).unwrap_or_default()
    }

    /// A page: status and body.
    pub fn get(&self, path: &str, headers: &[&str]) -> (u16, String) {
        get(self.address(), path, headers)
    }

    /// The metrics as text.
    pub fn metrics(&self) -> String {
        self.get("/metrics", &[]).1
    }

    /// The metrics, once they have a job: it is handed over beside its start, and a busy exporter may take it later.
    pub fn metrics_of(&self, job_id: &str) -> String {
        let label = format!("job_id=\"{job_id}\"");
        wait_for(&label, || Some(self.metrics()).filter(|page| page.contains(&label)))
    }

    /// As Prometheus asks: a job's last numbers are shown once.
    pub fn scrape(&self) -> String {
        self.get("/metrics", &["X-Prometheus-Scrape-Timeout-Seconds: 10"]).1
    }
}

/// A GET without encryption: status and body. Status 0: the connection was closed without an answer.
pub fn get(address: SocketAddr, path: &str, headers: &[&str]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(LONG)).expect("a time limit");
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    headers.iter().for_each(|header| head += &format!("{header}\r\n"));
    // It may refuse in the middle.
    let _ = stream.write_all((head + "\r\n").as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, body.to_owned())
}

/// Sum of the series of a metric whose line has all of `parts`.
pub fn sum(page: &str, name: &str, parts: &[&str]) -> f64 {
    let is_one = |line: &&str| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']))
            && parts.iter().all(|part| line.contains(part))
    };
    page.lines().filter(is_one).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

/// The distribution's Prometheus.
pub struct Prometheus {
    _process: Process,
    address: SocketAddr,
}

impl Prometheus {
    /// Starts one that scrapes a target every `interval`; `None`, and said: it is not installed.
    pub fn start(
        folder: &Path,
        target: SocketAddr,
        interval: &str,
        options: &[&str],
        more: &str,
    ) -> Option<Prometheus> {
        let prometheus = Prometheus::begin(folder, target, interval, options, more)?;
        wait_for("a first scrape by Prometheus", || {
            prometheus.query("up").first().filter(|(_, value)| *value == 1.0).map(drop)
        });
        Some(prometheus)
    }

    /// As [`Prometheus::start`], for a target that is not there yet.
    pub fn begin(
        folder: &Path,
        target: SocketAddr,
        interval: &str,
        options: &[&str],
        more: &str,
    ) -> Option<Prometheus> {
        if Command::new("prometheus").arg("--version").output().is_err() {
            eprintln!("prometheus is not installed: not tested with it");
            return None;
        }
        let config = format!(
            "global:\n  scrape_interval: {interval}\n  scrape_timeout: {interval}\n{more}\nscrape_configs:\n  \
             - job_name: pellucid\n    static_configs:\n      - targets: [\"{target}\"]\n"
        );
        let (file, data) = (folder.join("prometheus.yml"), folder.join("data"));
        std::fs::write(&file, config).expect("prometheus.yml");
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let log = std::fs::File::create(folder.join("prometheus.log")).expect("a log");
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", data.display()))
            .arg(format!("--web.listen-address={address}"))
            .args(options)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("prometheus starts");
        let prometheus = Prometheus { _process: Process(process), address };
        wait_for("a first attempt by Prometheus", || prometheus.query("up").first().map(drop));
        Some(prometheus)
    }

    /// An instant query: labels and value of each series. Empty while it cannot be asked.
    pub fn query(&self, expression: &str) -> Vec<(Value, f64)> {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
        if TcpStream::connect(self.address).is_err() {
            return Vec::new();
        }
        let answer = json(&get(self.address, &format!("/api/v1/query?query={encoded}"), &[]).1);
        let list = answer["data"]["result"].as_array().cloned().unwrap_or_default();
        let number = |one: &Value| one["value"][1].as_str().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
        list.iter().map(|one| (one["metric"].clone(), number(one))).collect()
    }

    /// The value of a query with one answer.
    pub fn value(&self, expression: &str) -> Option<f64> {
        self.query(expression).first().map(|(_, value)| *value)
    }

    /// The answer for each of the last seconds.
    pub fn range(&self, expression: &str, seconds: u64) -> Value {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
        let path = format!("/api/v1/query_range?query={encoded}&start={}&end={now}&step=1", now - seconds);
        json(&get(self.address, &path, &[]).1)
    }

    /// The whole answer, for queries whose text may be wrong.
    pub fn ask(&self, expression: &str) -> String {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
        get(self.address, &format!("/api/v1/query?query={encoded}"), &[]).1
    }
}

/// The body may be in chunks: what is between the outer braces is the JSON, and lines of their lengths are in it.
fn json(body: &str) -> Value {
    let whole = body.find('{').zip(body.rfind('}')).map(|(begin, end)| &body[begin..=end]).unwrap_or_default();
    let is_length = |line: &str| (1..=6).contains(&line.len()) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: String = whole.split("\r\n").filter(|line| !is_length(line)).collect();
    serde_json::from_str(&parts).unwrap_or_default()
}
