//! `oshprof trace`: converts a trace for other programs.

mod chrome;
mod csv;
mod flows;
mod http;
mod otf2;
mod otlp;
mod partial;
mod patience;
mod perfetto;
mod protobuf;
mod regions;
mod rows;
mod sites;
mod summary;
mod waits;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pellucid_cli::{Words, file, string};
use pellucid_profile::file::ReadError;
use pellucid_profile::output::{OutputFile, no_room};
use pellucid_profile::trace::read::Trace;

use crate::destination::Destination;

/// sum up a trace, convert it
///
/// Says what is in the trace in DIR, which `oshrun --trace` wrote: PEs, events and what is missing of them, regions,
/// longest waits. With --to, converts it.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 all was read and written, 1 something could not be (the rest is converted), 2 wrong usage.")]
pub struct Request {
    /// directory of the trace
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// what to convert it to
    #[arg(long = "to", value_parser = Words::<Format>::all())]
    format: Option<Format>,
    /// write there instead of standard output (-, too)
    #[arg(short, long, value_name = "FILE", value_parser = file(Destination::new), requires = "format")]
    output: Option<Destination>,
    /// where to send spans: http only, /v1/traces is appended where URL has no path (default:
    /// OTEL_EXPORTER_OTLP_ENDPOINT or http://localhost:4318)
    #[arg(long, value_name = "URL", value_parser = string())]
    endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON for chrome://tracing and ui.perfetto.dev
    Chrome,
    /// protobuf for ui.perfetto.dev and trace_processor; smaller than JSON
    Perfetto,
    /// OpenTelemetry spans, to --endpoint, or with -o to a file of JSON lines
    Otlp,
    /// a line an event
    Csv,
    /// archive for Vampir, Score-P's tools and the Python package otf2; needs libotf2 3 and -o DIR, a new directory
    Otf2,
    /// a table of who ended whose waits
    Waits,
    /// the same for programs
    WaitsJson,
}

impl Request {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        if self.endpoint.is_some() && (self.format != Some(Format::Otlp) || self.output.is_some()) {
            return Err("--endpoint is for --to otlp without -o".to_owned());
        }
        if self.format == Some(Format::Otf2) && !matches!(self.output, Some(Destination::File(_))) {
            return Err("--to otf2 needs -o DIR, a new directory".to_owned());
        }
        Ok(())
    }
}

/// What could not be done besides reading.
type Failure = String;

/// Converts a trace.
pub fn run(request: &Request) -> ExitCode {
    let mut trace = match Trace::open(&request.dir) {
        Ok(trace) => trace,
        Err(error) => {
            pellucid_profile::say!("oshprof: {error}");
            return ExitCode::from(crate::FAILED);
        }
    };
    let mut problems = std::mem::take(&mut trace.problems);
    let Some(format) = request.format else {
        crate::report::set_width(false);
        let printed = crate::print(&summary::text(&trace, &request.dir, &mut problems));
        return if complain(&problems) { ExitCode::from(crate::FAILED) } else { printed };
    };
    let done = convert(request, format, &trace, &mut problems);
    let is_damaged = complain(&problems);
    let losses = trace.losses().phrases();
    if !losses.is_empty() {
        pellucid_profile::say!(
            "oshprof: {} events of the program are not in the trace: {}",
            trace.dropped(),
            losses.join(", ")
        );
    }
    if let Err(failure) = &done {
        pellucid_profile::say!("oshprof: {failure}");
    }
    if !is_damaged && done.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(crate::FAILED) }
}

/// Says what could not be read; whether that is anything. A damaged file is read more than once: it is said once.
fn complain(problems: &[ReadError]) -> bool {
    let mut said: Vec<String> = Vec::new();
    for problem in problems {
        let text = problem.to_string();
        if !said.contains(&text) {
            pellucid_profile::say!("oshprof: {text}");
            said.push(text);
        }
    }
    !said.is_empty()
}

fn convert(request: &Request, format: Format, trace: &Trace, problems: &mut Vec<ReadError>) -> Result<(), Failure> {
    if format == Format::Otlp && request.output.is_none() {
        return otlp::send(trace, problems, request.endpoint.as_deref());
    }
    let Some(Destination::File(path)) = &request.output else {
        if format == Format::Perfetto && io::stdout().is_terminal() {
            return Err("a Perfetto trace is not for a terminal: give a file with -o".to_owned());
        }
        return match write(format, trace, problems, io::stdout()) {
            // A reader that has seen enough is no failure.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map(drop).map_err(|error| format!("standard output: {}", no_room(&error))),
        };
    };
    if format == Format::Otf2 {
        return otf2::write(trace, problems, path);
    }
    let file = OutputFile::create(path).map_err(|error| error.to_string())?;
    let written = write(format, trace, problems, file).map_err(|error| OutputFile::failed(path, error));
    written.and_then(OutputFile::finish).map_err(|error| error.to_string())
}

/// Converts to a stream; gives that back.
fn write<W: Write>(format: Format, trace: &Trace, problems: &mut Vec<ReadError>, to: W) -> io::Result<W> {
    let mut out = BufWriter::with_capacity(1 << 20, to);
    match format {
        Format::Chrome => chrome::write(trace, problems, &mut out)?,
        Format::Perfetto => perfetto::write(trace, problems, &mut out)?,
        Format::Waits => waits::write(trace, problems, false, &mut out)?,
        Format::WaitsJson => waits::write(trace, problems, true, &mut out)?,
        Format::Csv => csv::write(trace, problems, &mut out)?,
        Format::Otlp => otlp::write(trace, problems, &mut out)?,
        // Handled by the caller; without -o it is a wrong command line.
        Format::Otf2 => {}
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Asked, parsed};

    #[test]
    fn options() {
        let Ok(Asked::Trace(request)) = parsed("trace d --to chrome -o f") else { panic!() };
        assert_eq!((request.dir, request.format), ("d".into(), Some(Format::Chrome)));
        assert_eq!(request.output, Some(Destination::File("f".into())));
        let Ok(Asked::Trace(request)) = parsed("trace d --to otlp -o -") else { panic!() };
        assert_eq!(request.output, Some(Destination::Standard));
        let formats = Format::value_variants().iter().filter_map(Format::to_possible_value);
        let formats: Vec<String> = formats.map(|format| format.get_name().to_owned()).collect();
        let possible = format!("[possible values: {}]", formats.join(", "));
        for (line, part) in [
            ("trace", "<DIR>"),
            ("trace d -o f", "were not provided:\n  --to <FORMAT>"),
            ("trace d --to svg", possible.as_str()),
            ("trace d --to otf2", "--to otf2 needs -o DIR"),
            ("trace d --to otf2 -o -", "--to otf2 needs -o DIR"),
            ("trace d e", "'e'"),
            ("trace d --to csv --endpoint http://h", "--endpoint is for --to otlp"),
            ("trace d --to otlp --endpoint http://h -o f", "--endpoint is for --to otlp without -o"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
