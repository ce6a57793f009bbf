//! The command line of the exporter.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pellucid_cli::Address;

use crate::companion;
use crate::metrics::pes::MOST;
use crate::push::settings::Settings;
use crate::push::target::Target;
use crate::say::complain;
use crate::serve::{self, Listen, PORT, Pages};

/// Something could not be read or written.
pub const FAILED: u8 = 1;

/// The part of the options that are of one job.
const OF_A_JOB: &str = "For launchers, which start one beside a job";

// Not as documentation: that of what is flattened would take its place.
const SERVE_ABOUT: &str = "serve metrics of the jobs on this host";
const SERVE_LONG: &str = "\
Serves the metrics of the jobs on this host to Prometheus and whatever reads its formats (docs/metrics.md lists them). \
    Jobs hand themselves over when they start, so that none is too short; those that run already are found. Yours \
    only, or, for root, everybody's.";
const SERVE_END: &str = "\
oshrun --metrics, --metrics-file, --metrics-push and --dashboard start one beside a job, as does SHMEM_METRICS.

Paths: /metrics, / (what runs), /-/healthy, /sd (service discovery of Prometheus).

Exit status: 0 ended with its job, 1 something could not be read or served, 2 wrong usage; of a signal that ends it, \
    as of any program (143 of SIGTERM).";

/// What metrics are printed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// text format 0.0.4, as node_exporter's textfile collector reads it
    #[default]
    Prometheus,
    /// OpenMetrics 1.0
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// an export request of OpenTelemetry, one line of JSON
    OtlpJson,
}

/// `oshprof serve`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(about = SERVE_ABOUT, long_about = SERVE_LONG, after_help = SERVE_END)]
pub struct Serve {
    #[command(flatten)]
    serve: serve::Request,
    /// serve one job, which is handed over on standard input; without --listen: nowhere
    #[arg(long, help_heading = OF_A_JOB)]
    job_on_stdin: bool,
    /// write its metrics to F: every 15 s, at snapshots and at the end; %h in F is the host
    #[arg(long, value_name = "F", help_heading = OF_A_JOB)]
    file: Option<PathBuf>,
    /// send them by OTLP, or to a Pushgateway (docs/metrics.md)
    #[arg(long, value_name = "URL", value_parser = pellucid_cli::text(target), help_heading = OF_A_JOB)]
    push: Option<String>,
    /// have the Pushgateway forget the job at its end
    #[arg(long, help_heading = OF_A_JOB)]
    push_forget: bool,
    /// serve a page for a browser instead of metrics
    #[arg(long, help_heading = OF_A_JOB)]
    page: bool,
}

impl Serve {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        let of_a_job = self.push.is_some() || self.file.is_some() || self.push_forget || self.page;
        if of_a_job && !self.job_on_stdin {
            let instead = "oshrun --metrics-push, --metrics-file, --dashboard";
            return Err(format!("--push, --file and --page are for one job: {instead}"));
        }
        Ok(())
    }

    /// Does it.
    pub fn run(self) -> ExitCode {
        let Serve { mut serve, job_on_stdin, file, push, push_forget: forget, page } = self;
        if page {
            match serve::word() {
                Ok(word) => serve.pages = Pages::Live(word),
                Err(error) => {
                    complain(format_args!("serve: {error}"));
                    return ExitCode::from(FAILED);
                }
            }
        }
        if job_on_stdin {
            return companion::run(&companion::Request { serve, push, forget, file });
        }
        serve.listen.get_or_insert_with(|| Listen::Tcp(format!("127.0.0.1:{PORT}")));
        serve::run(&serve)
    }
}

fn target(address: &str) -> Result<String, String> {
    Target::parse(address, &Settings::default()).map(|_| address.to_owned()).map_err(|error| error.to_string())
}

pub(crate) fn max_series(number: &str) -> Result<usize, String> {
    let positive = number.parse().ok().filter(|&number| number > 0);
    positive.ok_or_else(|| "expected a number from 1 on".to_owned())
}

pub(crate) fn pe_labels(given: &str) -> Result<usize, String> {
    let number = given.strip_prefix("top=").and_then(|number| number.parse().ok());
    number.filter(|&number| number <= MOST).ok_or_else(|| format!("expected top=K with K from 0 to {MOST}"))
}

/// `ADDR:PORT`, `:PORT`, `ADDR` or `unix:PATH`.
pub(crate) fn listen(given: &str) -> Result<Listen, String> {
    Ok(match pellucid_cli::address(given)? {
        Address::Tcp(host, port) => Listen::Tcp(format!("{host}:{}", port.unwrap_or(PORT))),
        Address::Unix(path) => Listen::Unix(path),
    })
}

/// How long something lasts.
pub(crate) fn time(given: &str) -> Result<Duration, String> {
    pellucid_cli::duration(given).ok_or_else(|| format!("expected a time: {}", pellucid_cli::TIMES))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches, Parser};

    use super::*;
    use crate::from_profile;

    #[derive(Debug, Parser)]
    #[command(name = "oshprof", no_binary_name = true)]
    enum Line {
        Metrics(from_profile::Request),
        Serve(Serve),
    }

    fn parsed(line: &str) -> Result<Line, String> {
        let matches = pellucid_cli::shown(Line::command()).try_get_matches_from(line.split_whitespace());
        let line = Line::from_arg_matches(&matches.map_err(|error| error.to_string())?).unwrap();
        match &line {
            Line::Serve(serve) => serve.check().map(|()| line),
            Line::Metrics(_) => Ok(line),
        }
    }

    #[test]
    fn understands_metrics() {
        let Ok(Line::Metrics(request)) = parsed("metrics d --format openmetrics --job-id 71") else { panic!() };
        assert_eq!((request.format, request.job_id.as_deref()), (Format::OpenMetrics, Some("71")));
        for (line, part) in [
            ("metrics", "<DIR>"),
            ("metrics d --format xml", "'xml' for '--format <FORMAT>'\n  [possible values: prometheus, openmetrics, o"),
            ("metrics d e", "'e'"),
            ("metrics d --format", "'--format <FORMAT>' but none was supplied"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }

    #[test]
    fn understands_serve() {
        let line = "serve --listen 0.0.0.0:1 --linger 2m --web.config.file=w.yml --max-series-per-job 7 --socket s";
        let Ok(Line::Serve(Serve { serve: request, .. })) = parsed(line) else { panic!() };
        assert_eq!(request.listen, Some(Listen::Tcp("0.0.0.0:1".into())));
        assert_eq!((request.linger, request.max_series), (Duration::from_secs(120), 7));
        assert_eq!((request.web_config, request.socket), (Some("w.yml".into()), Some("s".into())));
        let Ok(Line::Serve(Serve { serve: request, .. })) = parsed("serve --labels node --pe-labels top=3") else {
            panic!()
        };
        assert_eq!((request.labels, request.top), (serve::Labels::Node, 3));
        assert_eq!((request.linger, request.max_series, request.listen), (Duration::from_secs(900), 1000, None));
        for (given, address) in [
            ("::1", "[::1]:9745"),
            ("::", "[::]:9745"),
            ("fe80::1%eth0", "[fe80::1%eth0]:9745"),
            ("[::1]", "[::1]:9745"),
            ("[::1]:80", "[::1]:80"),
            (":80", ":80"),
            ("node7", "node7:9745"),
            ("node7:0", "node7:0"),
        ] {
            assert_eq!(listen(given), Ok(Listen::Tcp(address.into())), "{given}");
        }
        assert_eq!(listen("unix:/a/b"), Ok(Listen::Unix("/a/b".into())));
        for (line, part) in [
            ("serve --linger soon", "'soon' for '--linger <TIME>': expected a time: seconds, 500ms"),
            ("serve --max-series-per-job 0", "'0' for '--max-series-per-job <N>': expected a number from 1 on"),
            ("serve --listen unix:", "needs a path"),
            ("serve --listen=", "expected an address"),
            ("serve --listen 127.0.0.1:99999", "'--listen <ADDR>': port `99999` is not 0 to 65535"),
            ("serve --listen [::1]:http", "port `http` is not 0 to 65535"),
            ("serve --listen node7:", "port `` is not 0 to 65535"),
            ("serve --listen 127.0.0.1:80:90", "'127.0.0.1:80:90' for '--listen <ADDR>': expected ADDRESS:PORT"),
            ("serve 9745", "'9745'"),
            ("serve --pe-labels top=17", "expected top=K with K from 0 to 16"),
            ("serve --pe-labels 3", "expected top=K"),
            ("serve --labels host", "[possible values: job, node]"),
            ("serve --push http://c", "are for one job: oshrun --metrics-push"),
            ("serve --job-on-stdin --push c:4318", "'--push <URL>': `c:4318` is no address: it begins with http"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
