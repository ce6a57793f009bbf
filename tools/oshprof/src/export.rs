//! `oshprof export`: profiles and histories in the formats that other people's tools read: a row of
//! [`FORMATS`] each.

mod profiles;
mod store;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValue;
use pellucid_cli::{Words, file, string};

use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::compare::same;
use crate::destination::Destination;
use crate::resolve::Resolver;
use crate::{FAILED, diff};

/// Makes the text from runs of one program.
type Make = fn(&[&Run]) -> String;

/// Makes the text from what was chosen of a store.
type MakeOfStore = fn(&Path, &Choice) -> Result<String, String>;

/// A format: of profiles, of a history, or of either.
#[derive(Debug)]
struct Format {
    name: &'static str,
    help: &'static str,
    of_profiles: Option<Make>,
    of_store: Option<MakeOfStore>,
}

impl Format {
    const fn of_profiles(name: &'static str, make: Make, help: &'static str) -> Format {
        Format { name, help, of_profiles: Some(make), of_store: None }
    }
}

/// Every format.
static FORMATS: [Format; 7] = [
    Format::of_profiles("benchstat", profiles::benchstat, "Go's benchmark format: calls and bytes as exact units"),
    Format::of_profiles("gab", profiles::gab, "github-action-benchmark, customSmallerIsBetter"),
    Format::of_profiles("bmf", profiles::bmf, "Bencher Metric Format"),
    Format {
        name: "openmetrics",
        help: "for GitLab's artifacts:reports:metrics; from a store for Prometheus: how many commits changed it",
        of_profiles: Some(profiles::openmetrics),
        of_store: Some(store::openmetrics),
    },
    Format::of_profiles("hatchet", profiles::hatchet, "literal of hatchet.GraphFrame.from_literal, as JSON"),
    Format::of_profiles("csv", profiles::csv, "a row a run, call site and PE"),
    Format {
        name: "otava",
        help: "CSV of Apache Otava, from a store: a series",
        of_profiles: None,
        of_store: Some(store::otava),
    },
];

/// Which runs of a store; `None`: all.
#[derive(Clone, Debug, Default)]
struct Choice {
    suite: Option<String>,
    branch: Option<String>,
}

/// convert for benchstat, pandas and others
///
/// Writes profiles, or a store of `oshprof history`, in a format that another program reads. Several profiles are runs
/// of one program.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 written, 1 something could not be read or written, 2 wrong usage.")]
#[command(override_usage = "oshprof export DIR... --to FORMAT [-o FILE]
       oshprof export --store DIR --to otava|openmetrics [OPTIONS]")]
pub struct Request {
    /// directories of profiles
    #[arg(value_name = "DIR", required_unless_present = "store")]
    dirs: Vec<PathBuf>,
    /// what to write
    #[arg(long = "to", value_name = "FORMAT", value_parser = formats())]
    format: &'static Format,
    /// the directory of a history, in place of profiles
    #[arg(long, value_name = "DIR", conflicts_with = "dirs")]
    store: Option<PathBuf>,
    /// of the store only what was added by this name
    #[arg(long, value_name = "NAME", value_parser = string())]
    suite: Option<String>,
    /// of the store only the runs of this branch
    #[arg(long, value_name = "NAME", value_parser = string())]
    branch: Option<String>,
    /// write there instead of standard output (-, too)
    #[arg(
        short, long, value_name = "FILE", value_parser = file(Destination::new), default_value = "-",
        hide_default_value = true
    )]
    output: Destination,
}

fn formats() -> Words<&'static Format> {
    Words::new(FORMATS.iter().map(|row| (PossibleValue::new(row.name).help(row.help), row)).collect())
}

impl Request {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        if self.store.is_none() && (self.suite.is_some() || self.branch.is_some()) {
            return Err("--suite and --branch are for --store".to_owned());
        }
        let Format { name, of_profiles, of_store, .. } = self.format;
        match self.store {
            None if of_profiles.is_none() => Err(format!("{name} is made from a store: --store DIR, and no profile")),
            Some(_) if of_store.is_none() => Err(format!("{name} is made from profiles, not from a store")),
            _ => Ok(()),
        }
    }
}

/// Writes it.
pub fn run(request: &Request) -> ExitCode {
    let text = match (&request.store, request.format.of_profiles, request.format.of_store) {
        (Some(store), _, Some(make)) => {
            make(store, &Choice { suite: request.suite.clone(), branch: request.branch.clone() })
        }
        (None, Some(make), _) => {
            let symbols = Resolver::default();
            let places = Places::new(&symbols);
            let Some(runs) = diff::read(&request.dirs, &places) else { return ExitCode::from(FAILED) };
            for (run, failure) in runs.iter().filter_map(|run| Some((run, run.failure()?))) {
                let dir = run.dir.display();
                pellucid_profile::say!("oshprof: {dir}: {failure}: its numbers are those of a part of a run");
            }
            let (once, copies) = same::without_copies(&runs.iter().collect::<Vec<_>>());
            copies.iter().for_each(|note| pellucid_profile::say!("oshprof: {note}"));
            match same::differences(&once, false).into_iter().next() {
                Some(difference) => Err(format!("these are not runs of one program: {difference}")),
                None => Ok(make(&once)),
            }
        }
        _ => request.check().map(|()| String::new()),
    };
    text.map(|text| request.output.write(&text)).unwrap_or_else(|message| {
        pellucid_profile::say!("oshprof: {message}");
        ExitCode::from(FAILED)
    })
}
