//! Who takes pushed metrics: a server that keeps what it gets and answers as it is told, a real Pushgateway, a real
//! collector.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::read::GzDecoder;

use crate::exporter::{Process, free_port, wait_for};
use crate::{system, wheels};

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `POST /v1/metrics`
    pub line: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Request {
    /// A header's value; empty where it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The body, unpacked.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        match self.header("content-encoding") {
            "gzip" => _ = GzDecoder::new(self.body.as_slice()).read_to_end(&mut content).expect("gzip"),
            _ => content.clone_from(&self.body),
        }
        content
    }
}

/// An answer: status, further headers, body.
pub type Answer = (u16, &'static str, Vec<u8>);

/// The server.
pub struct Collector {
    /// Where it listens.
    pub address: SocketAddr,
    taken: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    /// Answers with these, then with 200 and nothing.
    pub fn start(answers: Vec<Answer>) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let taken: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (keep, answers) = (Arc::clone(&taken), Arc::new(Mutex::new(VecDeque::from(answers))));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (keep, answers) = (Arc::clone(&keep), Arc::clone(&answers));
                std::thread::spawn(move || serve_connection(stream, &keep, &answers));
            }
        });
        Collector { address, taken }
    }

    /// Its address for programs.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What has come so far.
    pub fn taken(&self) -> Vec<Request> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve_connection(stream: TcpStream, keep: &Mutex<Vec<Request>>, answers: &Mutex<VecDeque<Answer>>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        keep.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let next = answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let (status, headers, body) = next.unwrap_or((200, "Content-Type: application/x-protobuf\r\n", Vec::new()));
        let head = format!("HTTP/1.1 {status} S\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        let sent = reader.get_mut().write_all(head.as_bytes()).and_then(|()| reader.get_mut().write_all(&body));
        if sent.is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        reader.read_line(line).ok().filter(|&bytes| bytes > 0).map(|_| line.trim_end().to_owned())
    };
    let first = next(&mut line)?;
    let mut request = Request { line: first.trim_end_matches(" HTTP/1.1").to_owned(), ..Request::default() };
    while let Some(header) = next(&mut line).filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(':')?;
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let bytes = request.header("content-length").parse().unwrap_or(0);
    request.body = vec![0; bytes];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// A process that is ended when dropped, and where it listens.
pub struct Server {
    _process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

fn start(mut command: Command, address: SocketAddr, log: &Path) -> Server {
    let log = std::fs::File::create(log).expect("a log");
    command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
    let server = Server { _process: Process(command.spawn().expect("a server starts")), address };
    wait_for("the server", || TcpStream::connect(address).ok());
    server
}

/// The distribution's Pushgateway; `None`, and said: it is not installed.
pub fn pushgateway(folder: &Path) -> Option<Server> {
    let Some(program) = system::find(&["prometheus-pushgateway"]) else {
        println!("skipped: no prometheus-pushgateway is installed");
        return None;
    };
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let mut command = Command::new(program);
    command.arg(format!("--web.listen-address={address}"));
    Some(start(command, address, &folder.join("pushgateway.log")))
}

/// A collector of OpenTelemetry that hands what it takes on to another one; `None`, and said: it is not installed.
pub fn rotel(folder: &Path, to: &str) -> Option<Server> {
    let program = match wheels::collector() {
        Ok(program) => program,
        Err(why) => {
            println!("skipped: {why}");
            return None;
        }
    };
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let other = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let mut command = Command::new(program);
    command.args(["start", "--exporter", "otlp", "--otlp-exporter-protocol", "http", "--batch-timeout", "100ms"]);
    command.args(["--otlp-exporter-endpoint", to, "--otlp-exporter-compression", "none"]);
    command.arg(format!("--otlp-http-endpoint={address}")).arg(format!("--otlp-grpc-endpoint={other}"));
    Some(start(command, address, &folder.join("rotel.log")))
}
