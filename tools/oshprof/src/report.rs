//! `oshprof report`.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValue;
use pellucid_cli::{Words, file, text};
use pellucid_profile::calibration::Calibrations;
use pellucid_profile::file::Directory;
use pellucid_profile::merge::Merged;
use pellucid_profile::output::{OutputDir, no_room};
use pellucid_profile::report::stored::Lines;
use pellucid_profile::report::{self, ALL, Options, SortKey, View};
use pellucid_profile::text::visible_path;

use crate::destination::Destination;
use crate::progress::Bar;
use crate::resolve::Resolver;
use crate::top::screen;
use crate::{FAILED, colour, hdr, html, newest, print, printed};

/// report a profile: in DIR, or the newest
///
/// Reports on the profile in DIR, which `oshrun --profile` wrote (default: the newest one in this directory).
#[derive(Debug, Args)]
#[command(after_help = "\
On a terminal, what matters has a colour, unless NO_COLOR is set.

Exit status: 0 all was read, 1 something could not be read (the rest is reported), 2 wrong usage.")]
pub struct Request {
    /// directory of the profile
    dir: Option<PathBuf>,
    /// what to show (older names: --by VIEW, routine, size)
    #[arg(long, alias = "by", value_parser = views(), default_value = "routines")]
    view: &'static View,
    /// one JSON object instead of tables (docs/profile-json.md)
    #[arg(long, group = "form")]
    json: bool,
    /// comma-separated values instead of tables: the table of VIEW
    #[arg(long, group = "form")]
    csv: bool,
    /// every table as DIR/VIEW.csv
    #[arg(long, value_name = "DIR", group = "form")]
    csv_dir: Option<PathBuf>,
    /// all views in one file for a browser; - is standard output
    #[arg(long, value_name = "FILE", value_parser = file(Destination::new), group = "form")]
    html: Option<Destination>,
    /// histograms of the times of calls, by routine, as a log of HdrHistogram; - is standard output
    #[arg(long, value_name = "FILE", value_parser = file(Destination::new), group = "form")]
    hdr: Option<Destination>,
    /// order of routines
    #[arg(long, value_name = "KEY", value_parser = Words::named(SortKey::ALL), default_value = "total")]
    sort: SortKey,
    /// only the first N routines
    #[arg(long, value_name = "N", value_parser = text(positive))]
    top: Option<usize>,
    /// all columns, however wide the terminal is (80 columns where the output is none)
    #[arg(long)]
    wide: bool,
}

fn views() -> Words<&'static View> {
    let word = |view: &'static View| PossibleValue::new(view.name).aliases(view.aliases).help(view.help);
    Words::new(report::listed_views().map(|view| (word(view), view)).collect())
}

fn positive(number: &str) -> Result<usize, String> {
    number.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a number from 1 on".to_owned())
}

impl Request {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        if self.csv && self.view == ALL {
            return Err("--csv is one table, --view all is many: --csv-dir DIR has a file for each".to_owned());
        }
        Ok(())
    }
}

/// Prints the report. What cannot be read is named on standard error; the rest is reported.
pub fn run(request: &Request) -> ExitCode {
    let Some((profile, directory)) = load(request.dir.as_deref()) else { return ExitCode::from(FAILED) };
    let problems = directory.problems();
    let debug = Resolver::default();
    let symbols = Lines::open(&debug, &profile, directory.path());
    let options = &Options { view: request.view, sort: request.sort, top: request.top };
    let result = if request.json {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = report::json((&profile, &directory), options, &problems, &symbols, &mut out);
        printed(written.and_then(|()| out.flush()))
    } else if request.csv {
        print(&report::csv(&profile, options, &symbols))
    } else if let Some(dir) = &request.csv_dir {
        write_tables(dir, &report::csv_files(&profile, options, &symbols)).map_or_else(
            |message| {
                pellucid_profile::say!("oshprof: {message}");
                ExitCode::from(FAILED)
            },
            |()| ExitCode::SUCCESS,
        )
    } else if let Some(to) = &request.html {
        to.write(&html::page(&profile, options, &problems, &symbols))
    } else if let Some(to) = &request.hdr {
        to.write(&hdr::log(&profile))
    } else {
        set_width(request.wide);
        print(&colour::painted(&report::text(&profile, options, &symbols)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Asked, parsed};

    fn request(line: &str) -> Request {
        match parsed(line) {
            Ok(Asked::Report(request)) => request,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn understands_every_option() {
        let asked = request("report --by size d --json --sort=p99 --top 3");
        assert_eq!((asked.dir, asked.json, asked.view.name), (Some(PathBuf::from("d")), true, "sizes"));
        assert_eq!((asked.sort, asked.top), (SortKey::P99, Some(3)));
        let asked = request("report d --view matrix --csv");
        assert_eq!((asked.csv, asked.view.name), (true, "matrix"));
        assert_eq!(request("report d --html f.html").html, Some(Destination::File("f.html".into())));
        assert_eq!(request("report d --html -").html, Some(Destination::Standard));
        let asked = request("report --view all --csv-dir t --wide");
        assert_eq!((asked.dir, asked.csv_dir, asked.wide), (None, Some(PathBuf::from("t")), true));
    }

    #[test]
    fn one_form_at_a_time() {
        let message = "'--json' cannot be used with '--csv'";
        assert!(parsed("report d --json --csv").is_err_and(|error| error.contains(message)));
        assert!(parsed("report d --csv --html f.html").is_err());
        assert!(parsed("report d --json --json").is_ok());
    }

    #[test]
    fn help_has_every_view_and_key() {
        let help = parsed("report --help").unwrap_err();
        for view in report::VIEWS {
            assert!(help.contains(&format!(" {}: ", view.name)), "{view:?}: {help}");
        }
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, keys) = help.split_once("[possible values: ").expect("keys");
        for (name, _) in SortKey::ALL {
            assert!(keys.split_once(']').is_some_and(|(keys, _)| keys.contains(name)), "{name}: {help}");
        }
    }
}
