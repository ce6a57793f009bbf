//! The command line of the exporter.

use std::ffi::OsString;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::text::with_our_quotes;

use crate::companion;
use crate::from_profile;
use crate::metrics::pes::MOST;
use crate::push::settings::Settings;
use crate::push::target::Target;
use crate::say::page;
use crate::serve::{self, Listen, PORT, Pages};

/// Something could not be read or written.
pub const FAILED: u8 = 1;

const METRICS_HELP: &str = "\
usage: oshprof metrics DIR [options]

Prints the metrics of the profile in DIR, which `oshrun --profile` wrote
(docs/metrics.md lists them).

  --format FORMAT  prometheus (default): text format 0.0.4, as node_exporter's
                   textfile collector reads it
                   openmetrics: OpenMetrics 1.0
                   otlp-json: an export request of OpenTelemetry, one line of
                   JSON
  --job-id ID      label job_id (default: the one that the job had)
  -h, --help       this text

Exit status: 0 all was read, 1 something could not be read, 2 wrong usage.
";

const SERVE_HELP: &str = "\
usage: oshprof serve [options]

Serves the metrics of the jobs on this host to Prometheus and whatever reads its
formats (docs/metrics.md lists them). Jobs hand themselves over when they start,
so that none is too short; those that run already are found. Yours only, or, for
root, everybody's.

  --listen ADDR        address and port (default: 127.0.0.1:9745), or unix:PATH
                       for a socket in the file system
  --linger TIME        how long a job that has ended is shown until Prometheus
                       has seen its last numbers (default: 15m)
  --web.config.file F  TLS and passwords, in the format of Prometheus' exporters
  --max-series-per-job N
                       series of a job; what is more is left out and counted
                       (default: 1000)
  --pe-labels top=K    the K PEs (16 at most) that stand out have series of
                       their own, in three gauges
  --labels job|node    node: series do not say of which job they are, but for
                       shmem_job_info: for hosts that run one job at a time
                       (default: job)
  --show-user          name the user of each job in shmem_job_info
  --socket PATH        where jobs hand themselves over (default: PELLUCID_SERVE,
                       or /run/pellucid/serve.sock for root, or
                       pellucid/serve.sock in XDG_RUNTIME_DIR)
  -h, --help           this text

For launchers, which start one beside a job (oshrun --metrics, --metrics-file,
--metrics-push, --dashboard; SHMEM_METRICS):
  --job-on-stdin       serve one job, which is handed over on standard input;
                       without --listen: nowhere
  --file F             write its metrics to F: every 15 s, at snapshots and at
                       the end; %h in F is the host
  --push URL           send them by OTLP, or to a Pushgateway (docs/metrics.md)
  --push-forget        have the Pushgateway forget the job at its end
  --page               serve a page for a browser instead of metrics

Paths: /metrics, / (what runs), /-/healthy, /sd (service discovery of
Prometheus).

Exit status: 0 ended with its job, 1 something could not be read or served, 2
wrong usage; of a signal that ends it, as of any program (143 of SIGTERM).
";

/// Formats by name.
pub const FORMATS: [(&str, Format); 3] =
    [("prometheus", Format::Prometheus), ("openmetrics", Format::OpenMetrics), ("otlp-json", Format::OtlpJson)];

/// What metrics are printed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text 0.0.4.
    #[default]
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// OTLP's JSON.
    OtlpJson,
}

/// What the user wants of the exporter.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// Print this help.
    Help(&'static str),
    /// `oshprof metrics`.
    Metrics(from_profile::Request),
    /// `oshprof serve`.
    Serve(serve::Request),
    /// `oshprof serve --job-on-stdin`.
    Companion(companion::Request),
}

/// Understands what follows the command.
///
/// # Errors
/// A message that names the argument.
pub fn parse(command: &str, parser: Parser) -> Result<Request, String> {
    match command {
        "metrics" => metrics(parser).map_err(|error| format!("metrics: {error}")),
        "serve" => self::serve(parser).map_err(|error| format!("serve: {error}")),
        _ => Err(format!("unknown command `{command}`")),
    }
}

/// Does it.
pub fn run(request: &Request) -> ExitCode {
    match request {
        Request::Help(text) if page(text) => ExitCode::SUCCESS,
        Request::Help(_) => ExitCode::from(FAILED),
        Request::Metrics(request) => from_profile::run(request),
        Request::Serve(request) => serve::run(request),
        Request::Companion(request) => companion::run(request),
    }
}

fn metrics(mut parser: Parser) -> Result<Request, String> {
    let (mut dir, mut format, mut job_id) = (None, Format::default(), None);
    while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help(METRICS_HELP)),
            Arg::Long("format") => {
                let name = text(&mut parser, "--format")?;
                let known = FORMATS.iter().find(|(known, _)| *known == name);
                format = known.map(|&(_, format)| format).ok_or_else(|| {
                    let names: Vec<&str> = FORMATS.iter().map(|&(name, _)| name).collect();
                    format!("--format `{name}` is unknown; there are: {}", names.join(", "))
                })?;
            }
            Arg::Long("job-id") => job_id = Some(text(&mut parser, "--job-id")?),
            Arg::Value(value) if dir.is_none() => dir = Some(PathBuf::from(value)),
            other => return Err(with_our_quotes(&other.unexpected())),
        }
    }
    let dir = dir.ok_or("the directory of the profile is missing")?;
    Ok(Request::Metrics(from_profile::Request { dir, format, job_id }))
}

fn serve(mut parser: Parser) -> Result<Request, String> {
    let mut request = serve::Request {
        listen: None,
        linger: Duration::from_secs(900),
        web_config: None,
        max_series: 1000,
        show_user: false,
        top: 0,
        by_node: false,
        pages: Pages::Metrics,
        socket: None,
    };
    let (mut beside, mut push, mut forget, mut file) = (false, None, false, None);
    while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help(SERVE_HELP)),
            Arg::Long("listen") => request.listen = Some(listen(&text(&mut parser, "--listen")?)?),
            Arg::Long("linger") => request.linger = time("--linger", &text(&mut parser, "--linger")?)?,
            Arg::Long("web.config.file") => {
                request.web_config = Some(value(&mut parser, "--web.config.file")?.into());
            }
            Arg::Long("max-series-per-job") => {
                request.max_series = max_series(&text(&mut parser, "--max-series-per-job")?)?;
            }
            Arg::Long("pe-labels") => {
                request.top = pe_labels(&text(&mut parser, "--pe-labels")?)?;
            }
            Arg::Long("labels") => {
                request.by_node = match text(&mut parser, "--labels")?.as_str() {
                    "node" => true,
                    "job" => false,
                    given => return Err(format!("--labels `{given}`: there are job and node")),
                };
            }
            Arg::Long("show-user") => request.show_user = true,
            Arg::Long("socket") => request.socket = Some(value(&mut parser, "--socket")?.into()),
            Arg::Long("job-on-stdin") => beside = true,
            Arg::Long("page") => request.pages = Pages::Live(serve::word().map_err(|error| error.to_string())?),
            Arg::Long("file") => file = Some(value(&mut parser, "--file")?.into()),
            Arg::Long("push") => {
                let to = text(&mut parser, "--push")?;
                Target::parse(&to, &Settings::default()).map_err(|error| format!("--push {error}"))?;
                push = Some(to);
            }
            Arg::Long("push-forget") => forget = true,
            other => return Err(with_our_quotes(&other.unexpected())),
        }
    }
    if beside {
        return Ok(Request::Companion(companion::Request { serve: request, push, forget, file }));
    }
    if push.is_some() || file.is_some() || forget || request.pages != Pages::Metrics {
        return Err(
            "--push, --file and --page are for one job: oshrun --metrics-push, --metrics-file, --dashboard".into()
        );
    }
    request.listen.get_or_insert_with(|| Listen::Tcp(format!("127.0.0.1:{PORT}")));
    Ok(Request::Serve(request))
}

fn max_series(number: &str) -> Result<usize, String> {
    let positive = number.parse().ok().filter(|&number| number > 0);
    positive.ok_or_else(|| format!("--max-series-per-job `{number}` is not a number from 1 on"))
}

fn pe_labels(given: &str) -> Result<usize, String> {
    let number = given.strip_prefix("top=").and_then(|number| number.parse().ok());
    number
        .filter(|&number| number <= MOST)
        .ok_or_else(|| format!("--pe-labels `{given}`: expected top=K with K from 0 to {MOST}"))
}

/// `ADDR:PORT`, `:PORT`, `ADDR` or `unix:PATH`.
pub(crate) fn listen(given: &str) -> Result<Listen, String> {
    if let Some(path) = given.strip_prefix("unix:") {
        return if path.is_empty() { Err("--listen unix: needs a path".into()) } else { Ok(Listen::Unix(path.into())) };
    }
    if given.is_empty() {
        return Err("--listen needs an address: 127.0.0.1, or : for all interfaces".into());
    }
    // An address of IPv6 has colons, and brackets where a port follows.
    let (host, port) = match given.rsplit_once(':') {
        _ if given.ends_with(']') => (given, None),
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        Some(_) if is_ipv6(given) => return Ok(Listen::Tcp(format!("[{given}]:{PORT}"))),
        Some(_) => return Err(format!("--listen `{given}` is no ADDRESS:PORT ([ADDRESS]:PORT of IPv6)")),
        None => (given, None),
    };
    let port = match port {
        Some(text) => {
            text.parse::<u16>().map_err(|_| format!("--listen `{given}`: port `{text}` is not 0 to 65535"))?
        }
        None => PORT,
    };
    Ok(Listen::Tcp(if host.is_empty() { format!("0.0.0.0:{port}") } else { format!("{host}:{port}") }))
}

/// Whether that is an address of IPv6, which may name an interface.
fn is_ipv6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// `90`, `90s`, `15m`, `2h`.
pub(crate) fn time(option: &str, given: &str) -> Result<Duration, String> {
    let (number, unit) = match given.strip_suffix(['s', 'm', 'h']) {
        Some(number) if given.ends_with('m') => (number, 60.0),
        Some(number) if given.ends_with('h') => (number, 3600.0),
        Some(number) => (number, 1.0),
        None => (given, 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .filter(|seconds| (0.0..=1e7).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("{option} `{given}` is not a time such as 90s, 15m or 2h"))
}

/// The value of an option.
pub(crate) fn value(parser: &mut Parser, option: &str) -> Result<OsString, String> {
    parser.value().map_err(|_| format!("{option} needs a value"))
}

/// As [`value`], as text.
pub(crate) fn text(parser: &mut Parser, option: &str) -> Result<String, String> {
    value(parser, option)?.string().map_err(|error| format!("{option}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request, String> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        parse(command, Parser::from_args(rest.split_whitespace().map(OsString::from)))
    }

    #[test]
    fn understands_metrics() {
        let Ok(Request::Metrics(request)) = parsed("metrics d --format openmetrics --job-id 71") else { panic!() };
        assert_eq!((request.format, request.job_id.as_deref()), (Format::OpenMetrics, Some("71")));
        assert_eq!(parsed("metrics -h"), Ok(Request::Help(METRICS_HELP)));
        for (line, part) in [
            ("metrics", "directory of the profile is missing"),
            ("metrics d --format xml", "`xml` is unknown; there are: prometheus, openmetrics, otlp-json"),
            ("metrics d e", "`e`"),
            ("metrics d --format", "--format needs a value"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.starts_with("metrics: ") && message.contains(part), "{line}: {message}");
        }
    }

    #[test]
    fn understands_serve() {
        let line = "serve --listen 0.0.0.0:1 --linger 2m --web.config.file=w.yml --max-series-per-job 7 --socket s";
        let Ok(Request::Serve(request)) = parsed(line) else { panic!() };
        assert_eq!(request.listen, Some(Listen::Tcp("0.0.0.0:1".into())));
        assert_eq!((request.linger, request.max_series), (Duration::from_secs(120), 7));
        assert_eq!((request.web_config, request.socket), (Some("w.yml".into()), Some("s".into())));
        for (given, address) in [
            ("::1", "[::1]:9745"),
            ("::", "[::]:9745"),
            ("fe80::1%eth0", "[fe80::1%eth0]:9745"),
            ("[::1]", "[::1]:9745"),
            ("[::1]:80", "[::1]:80"),
            (":80", "0.0.0.0:80"),
            ("node7", "node7:9745"),
            ("node7:0", "node7:0"),
        ] {
            assert_eq!(listen(given), Ok(Listen::Tcp(address.into())), "{given}");
        }
        assert_eq!(listen("unix:/a/b"), Ok(Listen::Unix("/a/b".into())));
        for (line, part) in [
            ("serve --linger soon", "--linger `soon` is not a time"),
            ("serve --max-series-per-job 0", "`0` is not a number from 1 on"),
            ("serve --listen unix:", "needs a path"),
            ("serve --listen=", "--listen needs an address"),
            ("serve --listen 127.0.0.1:99999", "--listen `127.0.0.1:99999`: port `99999` is not 0 to 65535"),
            ("serve --listen [::1]:http", "port `http` is not 0 to 65535"),
            ("serve --listen node7:", "port `` is not 0 to 65535"),
            ("serve --listen 127.0.0.1:80:90", "`127.0.0.1:80:90` is no ADDRESS:PORT"),
            ("serve 9745", "`9745`"),
            ("serve --pe-labels top=17", "expected top=K with K from 0 to 16"),
            ("serve --pe-labels 3", "expected top=K"),
            ("serve --labels host", "there are job and node"),
            ("serve --push http://c", "are for one job: oshrun --metrics-push"),
            ("serve --job-on-stdin --push c:4318", "--push `c:4318` is no address: it begins with http"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.starts_with("serve: ") && message.contains(part), "{line}: {message}");
        }
    }
}
