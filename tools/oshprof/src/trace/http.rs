//! The HTTP that an exporter needs: one POST a connection, without encryption.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};

use super::partial::Partial;
use super::patience::{Deadline, Patience};

/// Longest answer that is read.
const LONGEST: u64 = 4 << 20;

/// Blocks until the answer is there: nothing else is going on.
#[derive(Clone, Debug)]
pub(super) struct Client {
    patience: Patience,
    said: Arc<Mutex<Said>>,
}

/// What the exporter does not tell: it has one text for all there is.
#[derive(Debug, Default)]
struct Said {
    /// To where the last request went, where that has failed, and why it has.
    failure: Option<String>,
    /// What was left out of all of them, and where that was said.
    partial: Partial,
    by: String,
}

impl Client {
    /// That waits so long for each answer.
    pub(super) fn new(patience: Patience) -> Client {
        Client { patience, said: Arc::default() }
    }

    /// To where the last request went that has failed, and why it has.
    pub(super) fn failure(&self) -> Option<String> {
        self.said().failure.take()
    }

    /// What was left out of all that was taken, and who says so.
    pub(super) fn partial(&self) -> (Partial, String) {
        let said = self.said();
        (said.partial.clone(), said.by.clone())
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let deadline = self.patience.begin();
        let result = post(&request, &deadline).map_err(|error| deadline.name(error));
        let why = match &result {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("status {}{}", answer.status().as_u16(), first_line(answer.body()))),
            Err(error) => Some(error.to_string()),
        };
        let mut said = self.said();
        if let Some(answer) = result.as_ref().ok().filter(|_| why.is_none()) {
            said.partial.add(answer);
            said.by = request.uri().to_string();
        }
        said.failure = why.map(|why| format!("{}: {why}", request.uri()));
        Ok(result?)
    }
}

/// What a server says of its status, where that is text.
fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line: String = text.lines().next().unwrap_or_default().trim().chars().take(200).collect();
    if line.is_empty() || line.chars().any(char::is_control) { String::new() } else { format!(": {line}") }
}

fn post(request: &Request<Bytes>, deadline: &Deadline) -> io::Result<Response<Bytes>> {
    let uri = request.uri();
    let invalid = |what: &'static str| io::Error::new(io::ErrorKind::InvalidInput, what);
    if uri.scheme_str() != Some("http") {
        return Err(invalid("only http is spoken; send to a collector that forwards with encryption"));
    }
    let host = uri.host().ok_or_else(|| invalid("no host"))?;
    let port = uri.port_u16().unwrap_or(80);
    let mut stream = Timed { stream: connect(host.trim_matches(['[', ']']), port, deadline)?, deadline };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut head = format!("POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n");
    for (name, value) in request.headers() {
        head += &format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
    }
    head += &format!("Content-Length: {}\r\n\r\n", request.body().len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(request.body())?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer)?;
    understand(&answer)
}

/// A connection whose reads and writes end when time is up.
struct Timed<'d> {
    stream: TcpStream,
    deadline: &'d Deadline,
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.deadline.left()?))?;
        self.stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.deadline.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn connect(host: &str, port: u16, deadline: &Deadline) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{host}: no address"));
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, deadline.left()?) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Status, kind and body of an answer that ends with its connection.
fn understand(answer: &[u8]) -> io::Result<Response<Bytes>> {
    let strange = || io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(strange)?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let mut words = head.lines().next().unwrap_or_default().split_whitespace();
    let version = words.next().filter(|version| version.starts_with("HTTP/1."));
    let status = version.and(words.next()).and_then(|status| status.parse::<u16>().ok()).ok_or_else(strange)?;
    let field = |wanted: &str| {
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim()).next()
    };
    let chunked = field("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    let body = &answer[end + 4..];
    let body = if chunked { join(body).ok_or_else(strange)? } else { body.to_vec() };
    let kind = field("content-type").unwrap_or_default();
    Response::builder().status(status).header("Content-Type", kind).body(body.into()).map_err(io::Error::other)
}

/// The contents of a chunked body.
fn join(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::new();
    loop {
        let line = body.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&body[..line]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(joined);
        }
        let begin = line + 2;
        joined.extend(body.get(begin..begin.checked_add(size)?)?);
        body = body.get(begin + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let plain = understand(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab").unwrap();
        assert_eq!((plain.status().as_u16(), &plain.body()[..]), (200, &b"ab"[..]));
        let chunked =
            understand(b"HTTP/1.1 503 Busy\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\n\r\n")
                .unwrap();
        assert_eq!((chunked.status().as_u16(), &chunked.body()[..]), (503, &b"abc"[..]));
        for bad in [&b""[..], b"SSH-2.0\r\n\r\n", b"HTTP/1.1 2x0\r\n\r\n", b"HTTP/1.1 200 OK\r\n"] {
            assert!(understand(bad).is_err());
        }
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nab";
        assert!(understand(cut).is_err());
    }
}
