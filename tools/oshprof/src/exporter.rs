//! The commands of the exporter, which is a package of its own (feature `metrics`).

use std::process::ExitCode;

#[cfg(feature = "metrics")]
pub use oshserve::{commands::Serve, from_profile::Request as Metrics};

/// What this oshprof has not
#[cfg(not(feature = "metrics"))]
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Metrics {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<std::ffi::OsString>,
}

#[cfg(not(feature = "metrics"))]
pub use Metrics as Serve;

/// Without the exporter there is nothing to ask of it.
#[cfg(not(feature = "metrics"))]
impl Metrics {
    /// It cannot be done.
    pub fn check(&self) -> Result<(), String> {
        Err("this oshprof was built without the exporter (feature metrics)".to_owned())
    }

    /// It cannot be done.
    pub fn run(self) -> ExitCode {
        ExitCode::from(crate::USAGE)
    }
}

/// Serves the page of a job.
#[cfg(feature = "metrics")]
pub fn page(job: crate::live::Job) -> ExitCode {
    oshserve::live::web::run(job.segment, job.pid)
}

/// There is no server.
#[cfg(not(feature = "metrics"))]
pub fn page(_: crate::live::Job) -> ExitCode {
    pellucid_profile::say!("oshprof: top: --web: this oshprof was built without the exporter (feature metrics)");
    ExitCode::from(crate::FAILED)
}
