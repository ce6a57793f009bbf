//! What the `OTEL_*` variables say of exports (OpenTelemetry's specification, "OTLP exporter configuration").

use std::path::PathBuf;
use std::time::Duration;

use pellucid_cli::milliseconds;

use super::http;

/// How metrics are pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where to, where a variable says it: the whole address.
    pub endpoint: Option<String>,
    /// Headers of each request.
    pub headers: Vec<(String, String)>,
    /// How long one request may take.
    pub timeout: Duration,
    /// Time from one export to the next.
    pub interval: Duration,
    /// JSON instead of protobuf.
    pub json: bool,
    /// Whether bodies are compressed.
    pub gzip: bool,
    /// Certificates of who may have signed the server's.
    pub certificate: Option<PathBuf>,
    /// Certificate and key by which the server knows us.
    pub client: Option<(PathBuf, PathBuf)>,
    /// `service.name`, where it is not the program's.
    pub service_name: Option<String>,
    /// Further attributes of the resource.
    pub attributes: Vec<(String, String)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            endpoint: None,
            headers: Vec::new(),
            timeout: Duration::from_secs(10),
            interval: Duration::from_secs(60),
            json: false,
            gzip: false,
            certificate: None,
            client: None,
            service_name: None,
            attributes: Vec::new(),
        }
    }
}

impl Settings {
    /// From variables. Those for metrics come before those for all signals.
    ///
    /// # Errors
    /// The name of a variable that cannot be used, its value, and why.
    pub fn from(variable: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        // Whichever of the two is set, under its name.
        let either = |end: &str| {
            let names = [format!("OTEL_EXPORTER_OTLP_METRICS_{end}"), format!("OTEL_EXPORTER_OTLP_{end}")];
            names.into_iter().find_map(|name| set(&name).map(|value| (name, value)))
        };
        let mut made = Settings::default();
        let base =
            || set("OTEL_EXPORTER_OTLP_ENDPOINT").map(|base| format!("{}/v1/metrics", base.trim_end_matches('/')));
        made.endpoint = set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT").or_else(base);
        if let Some((name, value)) = either("HEADERS") {
            made.headers = pairs(&name, &value)?;
            for (header, value) in &made.headers {
                http::header(header, value).map_err(|error| format!("{name}: {error}"))?;
            }
        }
        if let Some((name, value)) = either("TIMEOUT") {
            made.timeout = milliseconds(&name, &value)?;
        }
        if let Some(value) = set("OTEL_METRIC_EXPORT_INTERVAL") {
            made.interval = milliseconds("OTEL_METRIC_EXPORT_INTERVAL", &value)?;
        }
        if let Some((name, value)) = either("PROTOCOL") {
            made.json = match value.as_str() {
                "http/protobuf" => false,
                "http/json" => true,
                _ => return Err(format!("{name} `{value}`: there are http/protobuf and http/json")),
            };
        }
        if let Some((name, value)) = either("COMPRESSION") {
            made.gzip = match value.as_str() {
                "gzip" => true,
                "none" => false,
                _ => return Err(format!("{name} `{value}`: there are gzip and none")),
            };
        }
        made.certificate = either("CERTIFICATE").map(|(_, path)| path.into());
        made.client = match (either("CLIENT_CERTIFICATE"), either("CLIENT_KEY")) {
            (Some((_, certificate)), Some((_, key))) => Some((certificate.into(), key.into())),
            (None, None) => None,
            (Some((name, _)), None) | (None, Some((name, _))) => {
                return Err(format!("{name} needs its counterpart: certificate and key come together"));
            }
        };
        if let Some(value) = set("OTEL_RESOURCE_ATTRIBUTES") {
            made.attributes = pairs("OTEL_RESOURCE_ATTRIBUTES", &value)?;
        }
        let named = made.attributes.iter().find(|(name, _)| name == "service.name").map(|(_, value)| value.clone());
        made.service_name = set("OTEL_SERVICE_NAME").or(named);
        Ok(made)
    }
}

/// `NAME=VALUE,...` with values in percent-encoding, as W3C's baggage.
fn pairs(variable: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let one = |pair: &str| {
        let (name, value) = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
        Some((name.trim().to_owned(), decode(value.trim())?))
    };
    let list = text.split(',').filter(|pair| !pair.trim().is_empty());
    list.map(|pair| one(pair).ok_or_else(|| format!("{variable}: `{pair}` is not NAME=VALUE"))).collect()
}

/// Without percent-encoding; `None`: it is wrong.
fn decode(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::from(|wanted| pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_for_metrics_come_first() {
        assert_eq!(of(&[]), Ok(Settings::default()));
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        assert_eq!(of(&[base]).unwrap().endpoint.as_deref(), Some("http://c:4318/v1/metrics"));
        let whole = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m/api/v1/otlp/v1/metrics");
        assert_eq!(of(&[base, whole]).unwrap().endpoint.as_deref(), Some(whole.1));
        let made = of(&[
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-a=1"),
            ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "authorization=Basic%20YTpi, x-b = 2"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "250"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=test%2C1"),
        ])
        .unwrap();
        let text = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(made.headers, text(&[("authorization", "Basic YTpi"), ("x-b", "2")]));
        assert_eq!((made.timeout, made.interval), (Duration::from_millis(1500), Duration::from_millis(250)));
        assert_eq!((made.json, made.gzip, made.service_name.as_deref()), (true, true, Some("other")));
        assert_eq!(made.attributes[1], ("deployment.environment.name".into(), "test,1".into()));
    }

    #[test]
    fn wrong_values_are_named() {
        for (name, value, part) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL `grpc`: there are http/protobuf"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "0", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT `0` is not a number"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1m", "OTEL_METRIC_EXPORT_INTERVAL `1m`"),
            (
                "OTEL_EXPORTER_OTLP_HEADERS",
                "a=b%0d%0aX: y",
                "OTEL_EXPORTER_OTLP_HEADERS: the value of a cannot be sent",
            ),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a", "OTEL_EXPORTER_OTLP_HEADERS: `a` is not NAME=VALUE"),
            ("OTEL_RESOURCE_ATTRIBUTES", "a=%zz", "`a=%zz`"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "there are gzip and none"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "k.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY needs its counterpart"),
        ] {
            let message = of(&[(name, value)]).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
