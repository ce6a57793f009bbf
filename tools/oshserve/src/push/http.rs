//! Requests to whoever takes metrics: HTTP is hyper's, TLS is rustls'.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::trust::Trust;

/// Longest answer that is read.
const ANSWER_BYTES: usize = 1 << 20;
/// Where systems keep the certificates that they trust.
const SYSTEM_ROOTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"];

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether it is encrypted.
    pub https: bool,
    /// Host name or IP address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// User and password, as a header has them.
    pub authorization: Option<String>,
}

impl Address {
    /// `http://[USER:PASSWORD@]HOST[:PORT][/PATH]`
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Address, String> {
        let wrong = |why: &str| format!("`{text}` is no address: {why}");
        let uri: Uri = text.parse().map_err(|error: hyper::http::uri::InvalidUri| wrong(&error.to_string()))?;
        let https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("it begins with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it has no host"))?;
        let user = authority.as_str().rsplit_once('@').map(|(user, _)| user);
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let behind = authority.as_str().rsplit('@').next().unwrap_or_default();
        let behind = behind.rsplit_once(']').map_or(behind, |(_, behind)| behind);
        if behind.contains(':') && authority.port_u16().is_none() {
            return Err(wrong("its port is not a number up to 65535"));
        }
        let authorization =
            user.map(|user| format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(user)));
        let port = authority.port_u16().unwrap_or(if https { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Address { https, host, port, path, authorization })
    }

    /// Without user and password, for messages.
    pub fn shown(&self) -> String {
        format!("http{}://{}{}", if self.https { "s" } else { "" }, self.authority(), self.path)
    }

    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.https, self.port) {
            (false, 80) | (true, 443) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

/// What is sent.
#[derive(Clone, Debug)]
pub struct Message {
    /// Method.
    pub method: Method,
    /// Type of the body.
    pub kind: &'static str,
    /// Headers beside those that every request has.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// How long to wait before the next attempt, where it says so.
    pub retry_after: Option<Duration>,
    /// Whether the body is JSON.
    pub json: bool,
    /// Body.
    pub body: Vec<u8>,
}

/// Sends requests, one after another.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    tls: Option<Arc<ClientConfig>>,
}

impl Client {
    /// For an address: certificates are read where it is encrypted.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn new(to: &Address, roots: Option<&Path>, own: Option<&(PathBuf, PathBuf)>) -> Result<Client, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let tls = if to.https { Some(Arc::new(client_config(roots, own)?)) } else { None };
        Ok(Client { runtime: runtime.map_err(|error| error.to_string())?, tls })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// Why there is none.
    pub fn send(&self, to: &Address, message: &Message, at_most: Duration) -> Result<Answer, String> {
        self.runtime.block_on(async {
            let late = || format!("no answer within {} ms", at_most.as_millis());
            tokio::time::timeout(at_most, self.try_send(to, message)).await.map_err(|_| late())?
        })
    }

    async fn try_send(&self, to: &Address, message: &Message) -> Result<Answer, String> {
        let stream = TcpStream::connect((to.host.as_str(), to.port)).await.map_err(|error| error.to_string())?;
        match &self.tls {
            None => converse(stream, to, message).await,
            Some(config) => {
                let name = ServerName::try_from(to.host.clone()).map_err(|error| error.to_string())?;
                let connected = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
                converse(connected.map_err(|error| error.to_string())?, to, message).await
            }
        }
    }
}

async fn converse<T>(stream: T, to: &Address, message: &Message) -> Result<Answer, String>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
    // What is wrong with it comes with the answer, too.
    let carrier = tokio::spawn(connection);
    let exchange = async {
        let request = request(to, message)?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (head, body) = response.into_parts();
        let header = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = header(RETRY_AFTER).and_then(retry_after);
        let json = header(CONTENT_TYPE).is_some_and(|kind| kind.contains("json"));
        let status = head.status.as_u16();
        let body = Limited::new(body, ANSWER_BYTES).collect().await.map_err(|error| error.to_string())?;
        Ok(Answer { status, retry_after, json, body: body.to_bytes().to_vec() })
    };
    let answer = exchange.await;
    carrier.abort();
    answer
}

fn request(to: &Address, message: &Message) -> Result<Request<Full<Bytes>>, String> {
    let mut builder = Request::builder().method(message.method.clone()).uri(&to.path);
    let headers = builder.headers_mut().ok_or_else(|| format!("the path {} cannot be asked for", to.path))?;
    let value = |text: &str, of: &str| HeaderValue::from_str(text).map_err(|_| format!("no value of the header {of}"));
    headers.insert(HOST, value(&to.authority(), "host")?);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(message.kind));
    if let Some(authorization) = &to.authorization {
        headers.insert(AUTHORIZATION, value(authorization, "authorization")?);
    }
    for (name, text) in &message.headers {
        let (name, value) = header(name, text)?;
        headers.insert(name, value);
    }
    builder.body(Full::new(Bytes::from(message.body.clone()))).map_err(|error| error.to_string())
}

/// A header. What it says may be secret: no message has it.
///
/// # Errors
/// What cannot be sent.
pub fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no name of a header"))?;
    let value = HeaderValue::from_str(value).map_err(|_| format!("the value of {name} cannot be sent in a header"))?;
    Ok((name, value))
}

/// Seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    let until = |date: SystemTime| date.duration_since(SystemTime::now()).unwrap_or_default();
    let seconds = text.trim().parse().ok().map(Duration::from_secs);
    seconds.or_else(|| httpdate::parse_http_date(text.trim()).ok().map(until))
}

fn client_config(roots: Option<&Path>, own: Option<&(PathBuf, PathBuf)>) -> Result<ClientConfig, String> {
    let named = || std::env::var_os("SSL_CERT_FILE").filter(|name| !name.is_empty()).map(PathBuf::from);
    let system = || SYSTEM_ROOTS.iter().map(PathBuf::from).find(|path| path.is_file());
    let file = roots.map(Path::to_owned).or_else(named).or_else(system);
    let file = file.ok_or("no certificates are trusted here: name a file by OTEL_EXPORTER_OTLP_CERTIFICATE")?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = Trust::new(certificates(&file)?, Arc::clone(&provider))?;
    let trust = trust.ok_or_else(|| format!("{}: it has no certificates", file.display()))?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    // What rustls calls dangerous is a verifier of one's own: this one asks rustls' first.
    let builder = builder.map_err(|error| error.to_string())?.dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(trust));
    let Some((certificate, key)) = own else { return Ok(builder.with_no_client_auth()) };
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{}: {error}", key.display()))?;
    let made = builder.with_client_auth_cert(certificates(certificate)?, private);
    made.map_err(|error| format!("{}: {error}", certificate.display()))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |error: rustls_pki_types::pem::Error| format!("{}: {error}", file.display());
    CertificateDer::pem_file_iter(file).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let of = |text: &str| Address::parse(text).unwrap();
        let plain = of("http://c:4318/v1/metrics?x=1");
        assert_eq!(
            (plain.https, plain.host.as_str(), plain.port, plain.path.as_str()),
            (false, "c", 4318, "/v1/metrics?x=1")
        );
        assert_eq!(plain.authorization, None);
        let own = of("https://ada:secret@[::1]/x");
        assert_eq!((own.https, own.host.as_str(), own.port), (true, "::1", 443));
        assert_eq!(own.authorization.as_deref(), Some("Basic YWRhOnNlY3JldA=="));
        assert_eq!(own.shown(), "https://[::1]/x", "without the password");
        assert_eq!((of("http://h").path.as_str(), of("http://h").port), ("/", 80));
        for (text, part) in [
            ("c:4318", "it begins with http"),
            ("ftp://c", "it begins with http"),
            ("http://", "is no address"),
            ("http://c:99999/", "is no address"),
            ("http://a b/", "is no address"),
        ] {
            let message = Address::parse(text).unwrap_err();
            assert!(message.contains(part) && message.contains(text), "{message}");
        }
    }

    #[test]
    fn pauses() {
        assert_eq!(retry_after("7"), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO), "long ago");
        assert_eq!(retry_after("soon"), None);
    }
}
