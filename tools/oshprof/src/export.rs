//! `oshprof export`: profiles and histories in the formats that other people's tools read: a row of [`FORMATS`] or
//! [`OF_STORES`] each.

mod profiles;
mod store;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::text::with_our_quotes;

use crate::args::Command;
use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::destination::Destination;
use crate::resolve::Resolver;
use crate::{FAILED, diff};

const HELP: &str = "\
usage: oshprof export DIR... --to FORMAT [-o FILE]
       oshprof export --store S [--suite NAME] --to otava|openmetrics [-o FILE]

Writes profiles, or a store of `oshprof history`, in a format that another
program reads. Several profiles are runs of one program.

  --to FORMAT  benchstat    Go's benchmark format: calls and bytes as exact
                            units
               gab          github-action-benchmark, customSmallerIsBetter
               bmf          Bencher Metric Format
               openmetrics  for GitLab's artifacts:reports:metrics; from a
                            store: for Prometheus, how many commits
                            changed something
               hatchet      literal of hatchet.GraphFrame.from_literal, as JSON
               csv          a row a run, call site and PE
               otava        CSV of Apache Otava, from a store
  -o FILE      write there instead of standard output (-, too)
  -h, --help   this text

Exit status: 0 written, 1 something could not be read or written, 2 wrong usage.
";

/// Makes the text from runs of one program.
type Make = fn(&[Run]) -> String;

/// Every format of profiles.
const FORMATS: [(&str, Make); 6] = [
    ("benchstat", profiles::benchstat),
    ("gab", profiles::gab),
    ("bmf", profiles::bmf),
    ("openmetrics", profiles::openmetrics),
    ("hatchet", profiles::hatchet),
    ("csv", profiles::csv),
];

/// Makes the text from a store, of one series or of all.
type MakeOfStore = fn(&Path, Option<&String>) -> Result<String, String>;

/// Every format of histories.
const OF_STORES: [(&str, MakeOfStore); 2] = [("otava", store::otava), ("openmetrics", store::openmetrics)];

/// `oshprof export`.
#[derive(Debug)]
pub struct Request {
    what: What,
    output: Destination,
}

#[derive(Debug)]
enum What {
    Profiles(Vec<PathBuf>, Make),
    Store(PathBuf, Option<String>, MakeOfStore),
}

/// Understands the rest of the command line.
///
/// # Errors
/// A message that names the argument.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let (mut dirs, mut to, mut store, mut suite) = (Vec::new(), None, None, None);
    let mut output = Destination::Standard;
    while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
        let name = match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
            Arg::Value(dir) => {
                dirs.push(PathBuf::from(dir));
                continue;
            }
            Arg::Short('o') => "-o".to_owned(),
            Arg::Long(name) => format!("--{name}"),
            other => return Err(format!("export: {}", with_our_quotes(&other.unexpected()))),
        };
        let value = parser.value().map_err(|_| format!("export: {name} needs a value"))?;
        // Names of files may be anything.
        let text = |value: OsString| value.string().map_err(|error| format!("export: {name}: {error}"));
        match name.as_str() {
            "--to" => to = Some(text(value)?),
            "--store" => store = Some(PathBuf::from(value)),
            "--suite" => suite = Some(text(value)?),
            "-o" | "--output" => output = Destination::new(value),
            _ => return Err(format!("export: invalid option `{name}`")),
        }
    }
    let to = to.ok_or_else(|| format!("export: --to is missing; there are: {}", names()))?;
    let of_profiles = FORMATS.iter().find(|(name, _)| *name == to).map(|(_, make)| *make);
    let of_store = OF_STORES.iter().find(|(name, _)| *name == to).map(|(_, make)| *make);
    let what = match (of_profiles, of_store, store) {
        (None, None, _) => return Err(format!("export: --to `{to}` is unknown; there are: {}", names())),
        (_, Some(make), Some(store)) if dirs.is_empty() => What::Store(store, suite, make),
        (Some(make), _, None) if !dirs.is_empty() => What::Profiles(dirs, make),
        (None, Some(_), _) => {
            return Err(format!("export: {to} is made from a store: --store S, and no directory"));
        }
        (Some(_), None, Some(_)) => return Err(format!("export: {to} is made from profiles, not from a store")),
        (.., Some(_)) => return Err("export: profiles or --store S, not both".to_owned()),
        (.., None) => return Err("export: the directory of a profile is missing".to_owned()),
    };
    Ok(Command::Export(Request { what, output }))
}

/// All formats, each once.
fn names() -> String {
    let mut names: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
    names.extend(OF_STORES.iter().map(|(name, _)| *name).filter(|name| FORMATS.iter().all(|(known, _)| known != name)));
    names.join(", ")
}

/// Writes it.
pub fn run(request: &Request) -> ExitCode {
    let text = match &request.what {
        What::Profiles(dirs, make) => {
            let symbols = Resolver::default();
            let places = Places::new(&symbols);
            let Some(runs) = diff::read(dirs, &places) else { return ExitCode::from(FAILED) };
            for run in &runs {
                if let Some(failure) = run.failure() {
                    pellucid_profile::say!(
                        "oshprof: {}: {failure}: its numbers are those of a part of a run",
                        run.dir.display()
                    );
                }
            }
            Ok(make(&runs))
        }
        What::Store(store, suite, make) => make(store, suite.as_ref()),
    };
    text.map(|text| request.output.write(&text)).unwrap_or_else(|message| {
        pellucid_profile::say!("oshprof: {message}");
        ExitCode::from(FAILED)
    })
}
