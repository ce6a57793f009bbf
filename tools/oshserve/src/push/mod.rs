//! Metrics that are sent instead of fetched: to a collector of OpenTelemetry, or to Prometheus' Pushgateway.
//!
//! | module | what it is |
//! |---|---|
//! | [`target`] | who takes them, by their address |
//! | [`settings`] | what the `OTEL_*` variables say |
//! | [`http`] | requests and answers |

pub mod http;
pub mod settings;
pub mod target;
mod trust;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::Method;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use prost::Message as _;

use crate::metrics::family::Family;
use crate::metrics::otlp::{self, Source};
use crate::metrics::text;
use crate::say::complain;
use http::{Answer, Client, Message};
use settings::Settings;
use target::{Protocol, Target};

/// The pause before a second attempt; each one after is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause that is not asked for.
const LONGEST_PAUSE: Duration = Duration::from_secs(32);

/// A job whose metrics are pushed.
#[derive(Clone, Debug, Default)]
pub struct PushedJob {
    /// Label `job_id`.
    pub job_id: String,
    /// Host, where these are only its share of the job.
    pub host: Option<String>,
    /// Where numbers come from, for OpenTelemetry.
    pub source: Source,
}

/// Sends metrics.
pub struct Push {
    target: Target,
    client: Client,
    settings: Settings,
    /// Whether a Pushgateway is to forget the job at its end.
    forget: bool,
    /// What has been said to the user: each trouble once.
    said: BTreeSet<String>,
    /// Numbers that are on no other export than this one, should it fail: it is the last.
    last: bool,
}

/// What an answer means.
enum Outcome {
    /// It was taken. A message: not all of it.
    Taken(Option<String>),
    /// Another attempt may help, after this time where it was said.
    Again(String, Option<Duration>),
    /// No other attempt helps.
    Refused(String),
}

impl Push {
    /// Prepares pushing to an address.
    ///
    /// # Errors
    /// What is wrong with the address, or with a certificate.
    pub fn open(to: &str, settings: Settings, forget: bool) -> Result<Push, String> {
        let target = Target::parse(to, &settings)?;
        let client = Client::new(&target.address, settings.certificate.as_deref(), settings.client.as_ref())?;
        Ok(Push { target, client, settings, forget, said: BTreeSet::new(), last: false })
    }

    /// Where to, for messages.
    pub fn shown(&self) -> String {
        self.target.address.shown()
    }

    /// Time from one export to the next.
    pub fn interval(&self) -> Duration {
        self.settings.interval
    }

    /// The attributes that variables ask for, before those of the job.
    pub fn complete(&self, source: &mut Source) {
        let named = self.settings.attributes.iter().cloned();
        let service = self.settings.service_name.clone().map(|name| ("service.name".to_owned(), name));
        for (name, value) in named.chain(service) {
            source.attributes.retain(|(known, _)| *known != name);
            source.attributes.push((name, value));
        }
    }

    /// Sends the numbers, trying again until `until`. `pause` waits; true: no more attempts.
    pub fn export(
        &mut self,
        families: &[Family],
        about: &PushedJob,
        until: Instant,
        pause: &mut dyn FnMut(Duration) -> bool,
    ) -> bool {
        match self.message(families, about) {
            Ok(message) => self.deliver(&message, about, until, pause),
            Err(error) => {
                self.say(&error);
                false
            }
        }
    }

    /// As [`Push::export`], for the last numbers of a job.
    pub fn finish(&mut self, families: &[Family], about: &PushedJob, until: Instant) -> bool {
        self.last = true;
        let sleep = &mut |time| {
            std::thread::sleep(time);
            false
        };
        let sent = self.export(families, about, until, sleep);
        if !(self.forget && self.target.protocol == Protocol::Gateway) {
            return sent;
        }
        let delete =
            Message { method: Method::DELETE, kind: text::CONTENT_TYPE, headers: Vec::new(), body: Vec::new() };
        self.deliver(&delete, about, until, sleep)
    }

    fn message(&self, families: &[Family], about: &PushedJob) -> Result<Message, String> {
        let (method, kind, body) = match self.target.protocol {
            Protocol::Gateway => (Method::PUT, text::CONTENT_TYPE, text::encode(families)?.into_bytes()),
            Protocol::Otlp => {
                let request = otlp::request(families, &about.source);
                if self.settings.json {
                    let body = serde_json::to_vec(&request).map_err(|error| error.to_string())?;
                    (Method::POST, "application/json", body)
                } else {
                    (Method::POST, "application/x-protobuf", request.encode_to_vec())
                }
            }
        };
        let mut headers = self.settings.headers.clone();
        if !self.settings.gzip {
            return Ok(Message { method, kind, headers, body });
        }
        headers.push(("content-encoding".into(), "gzip".into()));
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        let body = std::io::Write::write_all(&mut packed, &body).and_then(|()| packed.finish());
        Ok(Message { method, kind, headers, body: body.map_err(|error| error.to_string())? })
    }

    fn deliver(
        &mut self,
        message: &Message,
        about: &PushedJob,
        until: Instant,
        pause: &mut dyn FnMut(Duration) -> bool,
    ) -> bool {
        let address = match self.target.protocol {
            Protocol::Otlp => self.target.address.clone(),
            Protocol::Gateway => self.target.group(&about.job_id, about.host.as_deref()),
        };
        let mut next_pause = FIRST_PAUSE;
        loop {
            let left = until.saturating_duration_since(Instant::now()).min(self.settings.timeout);
            let outcome = match self.client.send(&address, message, left.max(Duration::from_millis(1))) {
                Ok(answer) => understand(self.target.protocol, &answer),
                Err(error) => Outcome::Again(error, None),
            };
            let (why, asked) = match outcome {
                Outcome::Taken(None) => return true,
                Outcome::Taken(Some(partly)) => {
                    self.say(&partly);
                    return true;
                }
                Outcome::Refused(why) => {
                    self.say(&why);
                    return false;
                }
                Outcome::Again(why, asked) => (why, asked),
            };
            // Many jobs push to one server: not all of them come again at the same moment.
            let wait = asked.unwrap_or_else(|| next_pause.mul_f64(jitter()));
            // What a server asks for may be more than there are seconds.
            let has_time = Instant::now().checked_add(wait).is_some_and(|at| at < until);
            if !has_time || pause(wait) {
                if !has_time || self.last {
                    self.say(&why);
                }
                return false;
            }
            next_pause = (next_pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Says each trouble once, but what becomes of the last numbers always.
    fn say(&mut self, what: &str) {
        if self.said.insert(what.to_owned()) || self.last {
            let numbers = if self.last { "the last numbers: " } else { "" };
            complain(format_args!("metrics to {}: {numbers}{what}", self.target.address.shown()));
        }
    }
}

fn understand(protocol: Protocol, answer: &Answer) -> Outcome {
    match answer.status {
        200..=299 if protocol == Protocol::Otlp => Outcome::Taken(partly(answer)),
        200..=299 => Outcome::Taken(None),
        429 | 502 | 503 | 504 => Outcome::Again(said(answer), answer.retry_after),
        _ => Outcome::Refused(said(answer)),
    }
}

/// The status, and what the server says of it.
fn said(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    let line = text.lines().next().unwrap_or_default().trim();
    let is_text = !line.is_empty() && !line.chars().any(char::is_control);
    let more = if is_text { format!(": {}", line.chars().take(200).collect::<String>()) } else { String::new() };
    format!("status {}{more}", answer.status)
}

/// What a collector says that it has left out.
fn partly(answer: &Answer) -> Option<String> {
    let (points, why) = if answer.json { rejected_in_json(&answer.body)? } else { rejected(&answer.body)? };
    match (points, why.is_empty()) {
        (0, true) => None,
        (0, false) => Some(format!("taken, with a remark: {why}")),
        _ => Some(format!("{points} data points were rejected: {why}")),
    }
}

fn rejected(body: &[u8]) -> Option<(i64, String)> {
    let partial = ExportMetricsServiceResponse::decode(body).ok()?.partial_success?;
    Some((partial.rejected_data_points, partial.error_message))
}

/// JSON has 64-bit integers as text; some collectors write them as numbers.
fn rejected_in_json(body: &[u8]) -> Option<(i64, String)> {
    let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
    let partial = answer.get("partialSuccess")?;
    let points = &partial["rejectedDataPoints"];
    let points = points.as_i64().or_else(|| points.as_str()?.parse().ok()).unwrap_or(0);
    Some((points, partial["errorMessage"].as_str().unwrap_or_default().to_owned()))
}

/// From 0.5 to 1.5.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8) as f64 / u64::MAX as f64 + 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_their_meaning() {
        let answer = |status: u16, body: &str| Answer { status, body: body.into(), json: true, ..Answer::default() };
        let of = |status, body: &str| match understand(Protocol::Otlp, &answer(status, body)) {
            Outcome::Taken(partly) => ("taken", partly.unwrap_or_default()),
            Outcome::Again(why, _) => ("again", why),
            Outcome::Refused(why) => ("refused", why),
        };
        let partial = r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}"#;
        for (status, body, meaning, text) in [
            (200, "{}", "taken", ""),
            (200, partial, "taken", "3 data points were rejected: too old"),
            (429, "slow down", "again", "status 429: slow down"),
            (503, "", "again", "status 503"),
            (500, "broken", "refused", "status 500: broken"),
            (401, "\u{1}", "refused", "status 401"),
        ] {
            assert_eq!(of(status, body), (meaning, text.to_owned()), "{status}");
        }
    }

    /// Whatever a server asks for: the numbers wait for the next export.
    #[test]
    fn a_pause_that_is_too_long_is_none() {
        use std::io::{Read, Write};
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", server.local_addr().unwrap());
        let longest = u64::MAX;
        let serve = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 503 Busy\r\nRetry-After: {longest}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
        });
        let mut push = Push::open(&address, Settings::default(), false).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        assert!(!push.export(&[], &PushedJob::default(), until, &mut |_| panic!("it does not wait")));
        assert!(push.said.contains("status 503"), "{:?}", push.said);
        serve.join().unwrap();
    }
}
