//! `oshprof`: reports on the profiles and traces that Pellucid records, and on jobs that run.
//!
//! Exit status: 0 all was read and reported, 1 something could not be read (the rest is reported), 2 wrong usage; of
//! comparisons 3 a regression, 4 not comparable.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]

mod advise;
pub mod cli;
mod colour;
mod compare;
mod destination;
mod diff;
mod emit;
mod export;
mod exporter;
mod gate;
mod hang;
mod hdr;
mod history;
mod html;
mod line;
mod live;
mod newest;
mod outline;
mod progress;
mod report;
mod stack;
mod stats;
mod top;
mod trace;

use pellucid_cli::Answer;
use pellucid_profile::report::lines as resolve;
use std::io::{self, Write};
use std::process::ExitCode;

/// Something could not be read or written.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    match cli::parse(std::env::args_os().skip(1)) {
        Ok(asked) => asked.run(),
        Err(Answer::Text(text)) => print(&text),
        Err(Answer::Wrong(message)) => {
            pellucid_profile::say!("oshprof: {message}");
            ExitCode::from(USAGE)
        }
    }
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no failure.
fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of printing to standard output.
fn printed(result: io::Result<()>) -> ExitCode {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            pellucid_profile::say!("oshprof: standard output: {error}");
            ExitCode::from(FAILED)
        }
        _ => ExitCode::SUCCESS,
    }
}
