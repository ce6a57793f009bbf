//! The commands of the exporter, which is a package of its own (feature `metrics`).

use std::ffi::OsStr;
use std::process::ExitCode;

use lexopt::Parser;

use crate::args::Command;

#[cfg(feature = "metrics")]
pub use oshserve::commands::Request;

/// Without the exporter there is nothing to ask of it.
#[cfg(not(feature = "metrics"))]
#[derive(Debug, PartialEq, Eq)]
pub enum Request {}

/// Commands that the exporter has.
const COMMANDS: [&str; 2] = ["metrics", "serve"];

/// Whether a command is the exporter's.
pub fn is_one(command: &OsStr) -> bool {
    COMMANDS.iter().any(|&known| command == known)
}

/// Understands what follows the command.
#[cfg(feature = "metrics")]
pub fn parse(command: &OsStr, parser: Parser) -> Result<Command, String> {
    match oshserve::commands::parse(&command.to_string_lossy(), parser)? {
        Request::Help(text) => Ok(Command::Help(text)),
        request => Ok(Command::Exporter(request)),
    }
}

#[cfg(not(feature = "metrics"))]
pub fn parse(command: &OsStr, _: Parser) -> Result<Command, String> {
    Err(format!("{}: this oshprof was built without the exporter (feature metrics)", command.to_string_lossy()))
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

/// Does it.
#[cfg(feature = "metrics")]
pub fn run(request: &Request) -> ExitCode {
    oshserve::commands::run(request)
}

#[cfg(not(feature = "metrics"))]
pub fn run(request: &Request) -> ExitCode {
    match *request {}
}
