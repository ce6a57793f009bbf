//! The exporter: `oshprof serve`.
//!
//! | module | what it is |
//! |---|---|
//! | [`tracked`] | a job that is known: its segment, or its last numbers |
//! | [`jobs`] | all of them; when one is forgotten |
//! | [`handover`], [`found`] | how jobs become known: by the socket, and under `/proc` |
//! | [`places`] | how many jobs each user may hand over |
//! | [`scrapers`] | who scrapes regularly, and has seen a job's last numbers |
//! | [`answer`] | paths, formats, the pages |
//! | [`config`] | the file of `--web.config.file`: TLS and passwords |
//! | [`server`] | connections and their bounds |
//! | [`sockets`] | sockets in the file system |
//! | [`successor`] | a port that the last job's numbers need no more |

pub mod answer;
pub mod config;
pub mod found;
pub mod handover;
pub mod jobs;
pub mod places;
pub mod scrapers;
pub mod server;
pub mod sockets;
pub mod successor;
pub mod tracked;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pellucid_cli::{Words, text};

use crate::commands::{self, FAILED};
use crate::say::{complain, print};
use crate::sys;
use jobs::Jobs;
use server::Listener;
use sockets::Sockets;

/// Port by default.
pub const PORT: u16 = 9745;

/// What is served, where, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct Request {
    /// address and port (default: 127.0.0.1:9745), or unix:PATH for a socket in the file system
    #[arg(long, value_name = "ADDR", value_parser = text(commands::listen))]
    pub listen: Option<Listen>,
    /// how long a job that has ended is shown until Prometheus has seen its last numbers
    #[arg(long, value_name = "TIME", value_parser = text(commands::time), default_value = "15m")]
    pub linger: Duration,
    /// TLS and passwords, in the format of Prometheus' exporters
    #[arg(long = "web.config.file", value_name = "F")]
    pub web_config: Option<PathBuf>,
    /// series of a job; what is more is left out and counted
    #[arg(
        long = "max-series-per-job", value_name = "N", value_parser = text(commands::max_series), default_value = "1000"
    )]
    pub max_series: usize,
    /// the K PEs (16 at most) that stand out have series of their own, in three gauges
    #[arg(
        long = "pe-labels", value_name = "top=K", value_parser = text(commands::pe_labels), default_value = "top=0",
        hide_default_value = true
    )]
    pub top: usize,
    /// what series say of where they are from
    #[arg(long, value_name = "WHAT", value_parser = Words::<Labels>::all(), default_value = "job")]
    pub labels: Labels,
    /// name the user of each job in shmem_job_info
    #[arg(long)]
    pub show_user: bool,
    /// where jobs hand themselves over (default: PELLUCID_SERVE, or /run/pellucid/serve.sock for root, or
    /// pellucid/serve.sock in XDG_RUNTIME_DIR)
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// What is served.
    #[arg(skip)]
    pub pages: Pages,
}

/// What series say of where they are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Labels {
    /// of which job they are
    Job,
    /// not of which job, but for shmem_job_info: for hosts that run one job at a time
    Node,
}

/// What is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Metrics.
    #[default]
    Metrics,
    /// A page that shows a job while it runs, for those who know this word.
    Live(String),
}

/// A word that nobody guesses.
///
/// # Errors
/// What the system answered.
pub fn word() -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Request {
    /// Limits of what is shown.
    pub fn limits(&self) -> jobs::Limits {
        jobs::Limits {
            linger: self.linger,
            max_series: self.max_series,
            show_user: self.show_user,
            top: self.top,
            by_node: self.labels == Labels::Node,
        }
    }
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Address and port.
    Tcp(String),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// Serves until it is ended by a signal.
pub fn run(request: &Request) -> ExitCode {
    match start(request) {
        Ok(never) => match never {},
        Err(message) => {
            complain(format_args!("serve: {message}"));
            ExitCode::from(FAILED)
        }
    }
}

fn start(request: &Request) -> Result<std::convert::Infallible, String> {
    sys::raise_limit_of_files();
    let config = request.web_config.clone().map(config::Config::open).transpose()?;
    let jobs = Arc::new(Jobs::new(request.limits()));
    let listen = request.listen.as_ref().ok_or("it listens nowhere")?;
    let sockets = Sockets::default();
    let made = sockets.clone();
    sys::before_signals_end(move || made.remove()).map_err(|error| error.to_string())?;
    open(request, listen, &jobs, config, &sockets).inspect_err(|_| sockets.remove())
}

fn open(
    request: &Request,
    listen: &Listen,
    jobs: &Arc<Jobs>,
    config: Option<config::Config>,
    sockets: &Sockets,
) -> Result<std::convert::Infallible, String> {
    let path = request.socket.clone().unwrap_or_else(handover::default_socket);
    // Before anything else answers: whoever finds us there may start a job, which is handed over once.
    let socket = handover::bind(&path).inspect(|_| sockets.add(&path));
    let listener = Listener::bind(listen)?;
    if let Listener::Unix(_, path) = &listener {
        sockets.add(path);
    }
    if let Err(error) = socket.and_then(|socket| handover::take_jobs(socket, Arc::clone(jobs))) {
        let instead = "jobs are found by themselves, except for those between two scrapes";
        complain(format_args!("serve: {}: {error}; {instead}", path.display()));
    }
    if listener.is_open_to_others() && config.as_ref().is_none_or(|config| !config.has_users()) {
        let name = listener.name();
        complain(format_args!("serve: {name} is open to everybody on the network: see --web.config.file"));
    }
    let url = listener.url(config.as_ref().is_some_and(config::Config::has_tls));
    print(&format!("oshprof: serving metrics at {url}\n"))?;
    server::serve(listener, Arc::clone(jobs), config, request.pages.clone())
}
