//! `oshprof trace`: converts a trace for other programs.

mod chrome;
mod csv;
mod flows;
mod http;
mod otf2;
mod otlp;
mod partial;
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

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::file::ReadError;
use pellucid_profile::output::{OutputFile, no_room};
use pellucid_profile::text::with_our_quotes;
use pellucid_profile::trace::read::Trace;

use crate::args::Command;
use crate::destination::Destination;

const HELP: &str = "\
usage: oshprof trace DIR [--to FORMAT] [options]

Says what is in the trace in DIR, which `oshrun --trace` wrote: PEs, events and
what is missing of them, regions, longest waits. With --to, converts it.

  --to FORMAT      chrome: JSON for chrome://tracing and ui.perfetto.dev
                   perfetto: protobuf for ui.perfetto.dev and trace_processor;
                   smaller than JSON
                   otlp: OpenTelemetry spans, to --endpoint, or with -o to a
                   file of JSON lines
                   csv: a line an event
                   otf2: archive for Vampir, Score-P's tools and the Python
                   package otf2; needs libotf2 3 and -o DIR, a new directory
                   waits: a table of who ended whose waits; waits-json: the same
                   for programs
  -o FILE          write to FILE instead of standard output (-, too)
  --endpoint URL   where to send spans: http only, /v1/traces is appended where
                   URL has no path
                   (default: OTEL_EXPORTER_OTLP_ENDPOINT or
                   http://localhost:4318)
  -h, --help       this text

Exit status: 0 all was read and written, 1 something could not be (the rest is
converted), 2 wrong usage.
";

/// `oshprof trace`.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    dir: PathBuf,
    /// `None`: say what is in it.
    format: Option<Format>,
    output: Option<Destination>,
    endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Chrome,
    Perfetto,
    Otlp,
    Csv,
    Otf2,
    Waits,
    WaitsJson,
}

const FORMATS: [(&str, Format); 7] = [
    ("chrome", Format::Chrome),
    ("perfetto", Format::Perfetto),
    ("otlp", Format::Otlp),
    ("csv", Format::Csv),
    ("otf2", Format::Otf2),
    ("waits", Format::Waits),
    ("waits-json", Format::WaitsJson),
];

/// Understands what follows `trace`.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let (mut dir, mut format, mut output, mut endpoint) = (None, None, None, None);
    while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
            Arg::Long("to") => {
                let name = text(&mut parser, "--to")?;
                let found = FORMATS.iter().find(|(known, _)| *known == name);
                format = Some(found.map(|&(_, format)| format).ok_or_else(|| {
                    let names: Vec<&str> = FORMATS.iter().map(|&(name, _)| name).collect();
                    format!("trace: --to `{name}` is unknown; there are: {}", names.join(", "))
                })?);
            }
            Arg::Long("endpoint") => endpoint = Some(text(&mut parser, "--endpoint")?),
            Arg::Short('o') => {
                output = Some(Destination::new(parser.value().map_err(|_| "trace: -o needs a file")?));
            }
            Arg::Value(value) if dir.is_none() => dir = Some(PathBuf::from(value)),
            Arg::Value(value) => return Err(format!("trace: `{}` is too many", value.to_string_lossy())),
            other => return Err(format!("trace: {}", with_our_quotes(&other.unexpected()))),
        }
    }
    let dir = dir.ok_or("trace: the directory of the trace is missing")?;
    if output.is_some() && format.is_none() {
        return Err("trace: -o is for --to FORMAT".to_owned());
    }
    if endpoint.is_some() && (format != Some(Format::Otlp) || output.is_some()) {
        return Err("trace: --endpoint is for --to otlp without -o".to_owned());
    }
    if format == Some(Format::Otf2) && !matches!(output, Some(Destination::File(_))) {
        return Err("trace: --to otf2 needs -o DIR, a new directory".to_owned());
    }
    Ok(Command::Trace(Request { dir, format, output, endpoint }))
}

fn text(parser: &mut Parser, option: &str) -> Result<String, String> {
    let value = parser.value().map_err(|_| format!("trace: {option} needs a value"))?;
    value.string().map_err(|error| format!("trace: {option}: {error}"))
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

    fn parsed(line: &str) -> Result<Command, String> {
        crate::args::parse(line.split_whitespace().map(std::ffi::OsString::from))
    }

    #[test]
    fn options() {
        let Ok(Command::Trace(request)) = parsed("trace d --to chrome -o f") else { panic!() };
        assert_eq!((request.dir, request.format), ("d".into(), Some(Format::Chrome)));
        assert_eq!(request.output, Some(Destination::File("f".into())));
        let Ok(Command::Trace(request)) = parsed("trace d --to otlp -o -") else { panic!() };
        assert_eq!(request.output, Some(Destination::Standard));
        for (line, part) in [
            ("trace", "directory of the trace"),
            ("trace d -o f", "-o is for --to FORMAT"),
            ("trace d --to svg", "`svg` is unknown; there are: chrome, perfetto, otlp, csv, otf2, waits"),
            ("trace d --to otf2", "--to otf2 needs -o DIR"),
            ("trace d --to otf2 -o -", "--to otf2 needs -o DIR"),
            ("trace d e", "`e` is too many"),
            ("trace d --to csv --endpoint http://h", "--endpoint is for --to otlp"),
            ("trace d --to otlp --endpoint http://h -o f", "--endpoint is for --to otlp without -o"),
        ] {
            assert!(parsed(line).unwrap_err().contains(part), "{line}");
        }
        assert!(FORMATS.iter().all(|(name, _)| HELP.contains(name)));
    }
}
