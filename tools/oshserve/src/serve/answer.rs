//! Paths, formats and pages.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::IpAddr;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, USER_AGENT};
use hyper::{Method, Response, StatusCode};

use super::jobs::Jobs;
use super::scrapers::Scraper;
use crate::metrics::{openmetrics, protobuf, text};

/// What only those send who scrape regularly: Prometheus and what behaves like it. A person who looks does not use up a
/// job's last numbers.
const SCRAPER: &str = "x-prometheus-scrape-timeout-seconds";

/// A format of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Text 0.0.4.
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Protobuf with native histograms.
    Protobuf,
}

/// What is asked for.
#[derive(Debug)]
pub struct HttpRequest {
    /// Method.
    pub method: Method,
    /// Path.
    pub path: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Who asks; `None` for those without an address.
    pub from: Option<IpAddr>,
}

/// Answers.
pub fn answer(asked: &HttpRequest, jobs: &Jobs, listens_at: &str) -> Response<Vec<u8>> {
    if asked.method != Method::GET && asked.method != Method::HEAD {
        return refused_method();
    }
    match asked.path.as_str() {
        "/metrics" => metrics(asked, jobs),
        "/-/healthy" => plain(StatusCode::OK, "healthy\n"),
        "/sd" => with_type("application/json", discovery(asked, listens_at).into_bytes()),
        "/" => with_type("text/html; charset=utf-8", landing(jobs).into_bytes()),
        _ => plain(StatusCode::NOT_FOUND, "there are /metrics, /sd, /-/healthy and /\n"),
    }
}

fn with_type(kind: &'static str, body: Vec<u8>) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}

/// An answer of one line.
pub fn plain(status: StatusCode, text: &str) -> Response<Vec<u8>> {
    let mut response = with_type("text/plain; charset=utf-8", text.as_bytes().to_vec());
    *response.status_mut() = status;
    response
}

/// Says which methods there are (RFC 9110, Section 15.5.6).
pub fn refused_method() -> Response<Vec<u8>> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    response.headers_mut().insert(hyper::header::ALLOW, hyper::header::HeaderValue::from_static("GET, HEAD"));
    response
}

fn metrics(asked: &HttpRequest, jobs: &Jobs) -> Response<Vec<u8>> {
    let accept = header(&asked.headers, ACCEPT.as_str());
    // Those who come through a socket of the file system have no address: one place for all of them.
    let from = asked.from.unwrap_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
    let who = Scraper::new(from, &header(&asked.headers, USER_AGENT.as_str()));
    let scrapes = asked.headers.contains_key(SCRAPER) && asked.method == Method::GET;
    let families = jobs.page(scrapes.then_some(&who));
    let (kind, body) = match negotiate(&accept) {
        Encoding::Protobuf => (protobuf::CONTENT_TYPE, protobuf::encode(&families)),
        Encoding::OpenMetrics => (openmetrics::CONTENT_TYPE, openmetrics::encode(&families).into_bytes()),
        Encoding::Text => match text::encode(&families) {
            Ok(page) => (text::CONTENT_TYPE, page.into_bytes()),
            Err(error) => return plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
        },
    };
    let zips = header(&asked.headers, ACCEPT_ENCODING.as_str());
    if zips.split(',').any(|one| quality(one) > 0.0 && one.trim().split(';').next() == Some("gzip")) {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        if let Ok(packed) = packed.write_all(&body).and_then(|()| packed.finish()) {
            let mut response = with_type(kind, packed);
            response.headers_mut().insert(CONTENT_ENCODING, hyper::header::HeaderValue::from_static("gzip"));
            return response;
        }
    }
    with_type(kind, body)
}

/// All values of a header in one text.
fn header(headers: &HeaderMap, name: &str) -> String {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    values.join(",")
}

/// The `q` of one choice: 1 unless it says otherwise.
fn quality(choice: &str) -> f64 {
    let q = choice.split(';').skip(1).find_map(|part| part.trim().strip_prefix("q=")?.trim().parse().ok());
    q.unwrap_or(1.0)
}

/// The format that whoever asks likes best; text where it names none of ours.
pub fn negotiate(accept: &str) -> Encoding {
    let known = |choice: &str| {
        let has = |part: &str| choice.split(';').any(|one| one.trim() == part);
        match choice.split(';').next().unwrap_or_default().trim() {
            "application/vnd.google.protobuf"
                if has("proto=io.prometheus.client.MetricFamily") && has("encoding=delimited") =>
            {
                Some(Encoding::Protobuf)
            }
            "application/openmetrics-text" if has("version=1.0.0") || !choice.contains("version=") => {
                Some(Encoding::OpenMetrics)
            }
            "text/plain" | "*/*" | "text/*" => Some(Encoding::Text),
            _ => None,
        }
    };
    let mut best = (Encoding::Text, 0.0);
    for choice in accept.split(',') {
        if let Some(format) = known(choice)
            && quality(choice) > best.1
        {
            best = (format, quality(choice));
        }
    }
    best.0
}

/// HTTP service discovery: this exporter, as whoever asks has reached it.
fn discovery(asked: &HttpRequest, listens_at: &str) -> String {
    let host = header(&asked.headers, HOST.as_str());
    let target = if host.is_empty() { listens_at } else { &host };
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    serde_json::json!([{ "targets": [target], "labels": { "__meta_pellucid_host": name.trim() } }]).to_string() + "\n"
}

fn landing(jobs: &Jobs) -> String {
    let mut rows = String::new();
    for line in jobs.lines() {
        let state = if line.runs { "running" } else { "ended, waits for a last scrape" };
        let _ = writeln!(rows, "<tr><td>{}</td><td>{state}</td></tr>", escape(&line.job_id));
    }
    if rows.is_empty() {
        rows = "<tr><td colspan=\"2\">no job of OpenSHMEM runs on this host</td></tr>\n".into();
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Pellucid exporter</title>\
         <style>body{{font:16px sans-serif;margin:2em}}td,th{{text-align:left;padding:.2em 1em .2em 0}}</style></head>\
         <body><h1>Pellucid exporter {}</h1><p><a href=\"/metrics\">Metrics</a>, \
         <a href=\"/sd\">service discovery</a>, <a href=\"/-/healthy\">health</a></p>\
         <table><tr><th>job</th><th>state</th></tr>\n{rows}</table></body></html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_negotiated() {
        // What Prometheus 2.42 sends without and with native histograms, and 3.x.
        let open = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                    text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let proto = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
                     application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let three = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                     application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,*/*;q=0.2";
        assert_eq!(negotiate(open), Encoding::OpenMetrics);
        assert_eq!(negotiate(proto), Encoding::Protobuf);
        assert_eq!(negotiate(three), Encoding::OpenMetrics);
        for text in ["", "*/*", "text/html", "application/openmetrics-text;version=9", "a;q=x,,;;q="] {
            assert_eq!(negotiate(text), Encoding::Text, "{text}");
        }
        assert_eq!(negotiate("application/openmetrics-text;version=1.0.0;q=0"), Encoding::Text);
    }
}
