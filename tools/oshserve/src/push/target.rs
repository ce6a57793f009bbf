//! Who takes what is pushed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::http::Address;
use super::settings::Settings;

/// Stands for the address that the `OTEL_*` variables name.
pub const BY_VARIABLES: &str = "otlp";
/// Where collectors listen.
const COLLECTOR: &str = "http://localhost:4318/v1/metrics";
/// The port of Prometheus' Pushgateway.
const GATEWAY_PORT: u16 = 9091;
/// Where a Pushgateway takes groups.
const GROUPS: &str = "/metrics/job";

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OTLP over HTTP.
    Otlp,
    /// Prometheus' Pushgateway.
    Gateway,
}

/// Whom metrics are pushed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// How.
    pub protocol: Protocol,
    /// Where.
    pub address: Address,
}

impl Target {
    /// Understands an address. `otlp+` and `pushgateway+` before it say what is spoken; without, a Pushgateway is
    /// known by its port or by the path of its groups.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, settings: &Settings) -> Result<Target, String> {
        if text == BY_VARIABLES {
            let address = Address::parse(settings.endpoint.as_deref().unwrap_or(COLLECTOR))?;
            return Ok(Target { protocol: Protocol::Otlp, address });
        }
        let said = [("otlp+", Protocol::Otlp), ("pushgateway+", Protocol::Gateway)];
        let prefix = said.into_iter().find_map(|(prefix, protocol)| Some((text.strip_prefix(prefix)?, protocol)));
        let mut address = Address::parse(prefix.map_or(text, |(rest, _)| rest))?;
        let is_gateway = address.path.contains(GROUPS) || address.port == GATEWAY_PORT;
        let guessed = if is_gateway { Protocol::Gateway } else { Protocol::Otlp };
        let protocol = prefix.map_or(guessed, |(_, protocol)| protocol);
        let path = address.path.trim_end_matches('/');
        address.path = match protocol {
            Protocol::Otlp if path.ends_with("/v1/metrics") || path.contains('?') => path.to_owned(),
            Protocol::Otlp => format!("{path}/v1/metrics"),
            Protocol::Gateway if path.contains(GROUPS) => path.to_owned(),
            Protocol::Gateway => format!("{path}{GROUPS}/shmem"),
        };
        Ok(Target { protocol, address })
    }

    /// The address of a job's group at a Pushgateway. `host`: where only one host's share of the job is pushed.
    pub fn group(&self, job_id: &str, host: Option<&str>) -> Address {
        let mut address = self.address.clone();
        for (label, value) in [("job_id", Some(job_id)), ("instance", host)] {
            let is_named = ["/", "@base64/"].iter().any(|end| address.path.contains(&format!("/{label}{end}")));
            if let Some(value) = value.filter(|_| !is_named) {
                address.path += &match value.contains('/') || [".", ".."].contains(&value) {
                    // Between slashes a gateway takes it for two, encoded or not; dots it takes for a way up or down.
                    true => format!("/{label}@base64/{}", URL_SAFE_NO_PAD.encode(value)),
                    false => format!("/{label}/{}", encode(value)),
                };
            }
        }
        address
    }
}

/// Percent-encoded, as part of a path.
fn encode(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => (byte as char).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Protocol, String) {
        let target = Target::parse(text, &Settings::default()).unwrap();
        (target.protocol, target.address.shown())
    }

    #[test]
    fn protocols_follow_from_addresses() {
        use Protocol::{Gateway, Otlp};
        for (text, protocol, address) in [
            ("otlp", Otlp, "http://localhost:4318/v1/metrics"),
            ("http://c:4318", Otlp, "http://c:4318/v1/metrics"),
            ("http://c/v1/metrics/", Otlp, "http://c/v1/metrics"),
            ("https://p/api/v1/otlp", Otlp, "https://p/api/v1/otlp/v1/metrics"),
            ("http://g:9091", Gateway, "http://g:9091/metrics/job/shmem"),
            ("http://g:9091/below/", Gateway, "http://g:9091/below/metrics/job/shmem"),
            ("http://g/metrics/job/mine/team/a", Gateway, "http://g/metrics/job/mine/team/a"),
            ("pushgateway+https://g", Gateway, "https://g/metrics/job/shmem"),
            ("otlp+http://c:9091", Otlp, "http://c:9091/v1/metrics"),
        ] {
            assert_eq!(of(text), (protocol, address.to_owned()), "{text}");
        }
        let named = Settings { endpoint: Some("http://m/x".into()), ..Settings::default() };
        assert_eq!(Target::parse("otlp", &named).unwrap().address.shown(), "http://m/x");
    }

    #[test]
    fn groups_are_named_by_job_and_host() {
        let target = Target::parse("http://g:9091", &Settings::default()).unwrap();
        assert_eq!(target.group("9[1].host", None).path, "/metrics/job/shmem/job_id/9%5B1%5D.host");
        assert_eq!(target.group("7", Some("n1")).path, "/metrics/job/shmem/job_id/7/instance/n1");
        assert_eq!(target.group("a/b", None).path, "/metrics/job/shmem/job_id@base64/YS9i");
        for (text, encoded) in [("/", "Lw"), ("x/", "eC8"), ("/\u{fb}\u{ff}/", "L8O7w78v"), (".", "Lg"), ("..", "Li4")]
        {
            assert_eq!(target.group(text, None).path, format!("/metrics/job/shmem/job_id@base64/{encoded}"));
        }
        let own = Target::parse("http://g/metrics/job/a/job_id/b", &Settings::default()).unwrap();
        assert_eq!(own.group("7", None).path, "/metrics/job/a/job_id/b");
    }
}
