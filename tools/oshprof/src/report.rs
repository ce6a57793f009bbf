//! `oshprof report`.

use std::path::Path;
use std::process::ExitCode;

use pellucid_profile::file::{self, Loaded};
use pellucid_profile::report;

use crate::args::{Form, Report};
use crate::progress::Bar;
use crate::resolve::Resolver;
use crate::{FAILED, html, print};

/// Prints the report. What cannot be read is named on standard error; the rest is reported.
pub fn run(request: &Report) -> ExitCode {
    let Some(Loaded { profile, problems }) = load(&request.dir) else { return ExitCode::from(FAILED) };
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let symbols = Resolver::default();
    let options = &request.options;
    let printed = match &request.form {
        Form::Text => print(&report::text(&profile, options, &symbols)),
        Form::Json => print(&report::json(&profile, options, &problems, &symbols)),
        Form::Csv => print(&report::csv(&profile, options, &symbols)),
        Form::Html(file) => match std::fs::write(file, html::page(&profile, options, &problems, &symbols)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("oshprof: {}: {error}", file.display());
                ExitCode::from(FAILED)
            }
        },
    };
    complain(&problems);
    if problems.is_empty() { printed } else { ExitCode::from(FAILED) }
}

/// Reads a profile; `None` where there is nothing to report, which is said.
pub fn load(dir: &Path) -> Option<Loaded> {
    let mut bar = Bar::new("reading");
    match file::read_with(dir, |done, all| bar.show(done, all)) {
        Ok(loaded) => Some(loaded),
        Err(error) => {
            eprintln!("oshprof: {error}");
            None
        }
    }
}

/// Names what could not be read.
pub fn complain(problems: &[String]) {
    for problem in problems {
        eprintln!("oshprof: {problem}");
    }
}
