//! `oshprof hang`: what each PE of a running job does, and who waits for whom.

use std::process::ExitCode;

use lexopt::{Arg, Parser};
use pellucid_profile::live::{Waits, activity_at};

use crate::args::Command;
use crate::live;
use crate::resolve::Resolver;

const HELP: &str = "\
usage: oshprof hang [JOB]

Says what every PE of a running job does and for how long, who waits for whom,
and names rings of PEs that wait for each other. The job goes on undisturbed.
JOB is the process id of its oshrun; where one job runs, it need not be given.

oshrun says the same on SIGQUIT, on SIGUSR1 where the program does not handle
that, and at the end of --timeout.
";

/// `oshprof hang`.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    job: Option<u32>,
}

/// Understands what follows `hang`.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let mut job = None;
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
            Arg::Value(value) if job.is_none() => job = Some(number("hang", &value)?),
            other => return Err(format!("hang: {}", other.unexpected())),
        }
    }
    Ok(Command::Hang(Request { job }))
}

/// A process id.
pub fn number(command: &str, value: &std::ffi::OsStr) -> Result<u32, String> {
    let text = value.to_string_lossy();
    text.parse().map_err(|_| format!("{command}: `{text}` is not the process id of an oshrun"))
}

/// Prints the report.
pub fn run(request: &Request) -> ExitCode {
    let job = match live::find(request.job) {
        Ok(job) => job,
        Err(error) => {
            eprintln!("oshprof: {error}");
            return ExitCode::from(crate::FAILED);
        }
    };
    let pes = job.look();
    let mut text = format!("{}, since {:.1} s\n\n", job.title(), job.segment.now_ns() as f64 / 1e9);
    let symbols = Resolver::default();
    for pe in &pes {
        text += &format!("PE {} (pid {}): {}\n", pe.pe, pe.pid, activity_at(pe, &symbols));
    }
    let waits = Waits::find(&pes).text();
    text += "\n";
    text += if waits.is_empty() { "nobody waits\n" } else { &waits };
    crate::print(&text)
}
