//! `oshprof report`.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use pellucid_profile::calibration::Calibrations;
use pellucid_profile::file::Directory;
use pellucid_profile::merge::Merged;
use pellucid_profile::output::{OutputDir, no_room};
use pellucid_profile::report;
use pellucid_profile::report::stored::Lines;
use pellucid_profile::text::visible_path;

use crate::args::{Form, Report};
use crate::progress::Bar;
use crate::resolve::Resolver;
use crate::top::screen;
use crate::{FAILED, colour, html, newest, print, printed};

/// Prints the report. What cannot be read is named on standard error; the rest is reported.
pub fn run(request: &Report) -> ExitCode {
    let Some((profile, directory)) = load(request.dir.as_deref()) else { return ExitCode::from(FAILED) };
    let problems = directory.problems();
    let debug = Resolver::default();
    let symbols = Lines::open(&debug, &profile, directory.path());
    let options = &request.options;
    let result = match &request.form {
        Form::Text => {
            set_width(request.wide);
            print(&colour::painted(&report::text(&profile, options, &symbols)))
        }
        Form::Json => {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = report::json((&profile, &directory), options, &problems, &symbols, &mut out);
            printed(written.and_then(|()| out.flush()))
        }
        Form::Csv => print(&report::csv(&profile, options, &symbols)),
        Form::CsvDir(dir) => match write_tables(dir, &report::csv_files(&profile, options, &symbols)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                pellucid_profile::say!("oshprof: {message}");
                ExitCode::from(FAILED)
            }
        },
        Form::Html(to) => to.write(&html::page(&profile, options, &problems, &symbols)),
    };
    symbols.keep_first(&profile);
    complain(&problems);
    if problems.is_empty() { result } else { ExitCode::from(FAILED) }
}

/// Makes tables as wide as the terminal, or as they are.
pub fn set_width(wide: bool) {
    match screen::size() {
        _ if wide => report::set_wide(),
        Some((columns, _)) => report::set_width(columns),
        None => {}
    }
}

/// Writes each table to a file of its own in a directory, which is made; no file is overwritten.
fn write_tables(dir: &Path, tables: &[(&str, String)]) -> Result<(), String> {
    let to = OutputDir::own(dir).map_err(|error| error.to_string())?;
    for (name, text) in tables {
        let name = format!("{name}.csv");
        let written = to.create(&name).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| format!("{}: {}", visible_path(&dir.join(&name)), no_room(&error)))?;
    }
    print(&format!("{} tables in {}\n", tables.len(), visible_path(dir)));
    Ok(())
}

/// Reads a profile; `None` where there is nothing to report, which is said.
pub fn load(dir: Option<&Path>) -> Option<(Merged, Directory)> {
    let dir = newest::profile(dir).inspect_err(|message| pellucid_profile::say!("oshprof: {message}")).ok()?;
    let mut bar = Bar::new("reading");
    match Directory::open(&dir) {
        Ok(directory) => {
            let mut merged = Merged::new(&directory, |done, all| bar.show(done, all));
            merged.calibrations = Calibrations::of_user();
            Some((merged, directory))
        }
        Err(error) => {
            pellucid_profile::say!("oshprof: {error}");
            None
        }
    }
}

/// Names what could not be read.
pub fn complain(problems: &[String]) {
    for problem in problems {
        pellucid_profile::say!("oshprof: {problem}");
    }
}
