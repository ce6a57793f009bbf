//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::report::{ALL, Options, SortKey, VIEWS, view_help, view_names};
use pellucid_profile::text::with_our_quotes;

use crate::destination::Destination;
use crate::nearest;

/// Help of the program.
const HELP: &str = "\
oshprof: reports on the profiles of OpenSHMEM programs

usage: oshprof report [DIR] [options]  report a profile: in DIR, or the newest
       oshprof advise [DIR] [--json]   say what slows a program down
       oshprof trace DIR [options]     sum up a trace, convert it
       oshprof top [JOB] [options]     watch a job that runs
       oshprof hang [JOB] [options]    say who waits for whom in a hung job
       oshprof metrics DIR [options]   metrics of a profile, for Prometheus
       oshprof serve [options]         serve metrics of the jobs on this host
       oshprof diff BASE... -- NEW...  say what differs between two versions
       oshprof gate [options]          run two versions in pairs: is one worse?
       oshprof history COMMAND         find the commit that changed a program
       oshprof export DIR... --to F    convert for benchstat, pandas and others
       oshprof line FILE+ADDRESS ...   print the source lines of calls
       oshprof --version

`oshrun --profile` writes a profile, `oshrun --trace` a trace.
`oshprof COMMAND --help` lists the options.
";

/// Whether a word is one of the commands.
pub fn is_command(word: &str) -> bool {
    let begin = format!("oshprof {word} ");
    HELP.lines().any(|line| line.trim_start_matches("usage:").trim_start().starts_with(&begin))
}

/// Help of `advise`.
const ADVISE_HELP: &str = "\
usage: oshprof advise [DIR] [--json]

Says what slows the program down whose profile is in DIR (default: the newest
one here), what that costs at most, where, and what to try. Most costly first.

  --json      one JSON object (docs/profile-json.md)
  -h, --help  this text

Exit status: 0 all was read, 1 something could not be read, 2 wrong usage.
";

/// Help of `report`; each view says itself what it shows.
static REPORT_HELP: LazyLock<String> = LazyLock::new(|| {
    let mut lines = view_help(80 - TEXT_COLUMN);
    let older: Vec<&str> = VIEWS.iter().flat_map(|view| view.aliases).copied().collect();
    lines.push(format!("--by VIEW, {} are older names", older.join(", ")));
    let views = lines.iter().enumerate().map(|(at, line)| {
        let option = if at == 0 { "  --view VIEW" } else { "" };
        format!("{option:TEXT_COLUMN$}{line}\n")
    });
    format!("{REPORT_BEGIN}{}{REPORT_END}", views.collect::<String>())
});

/// Where the text beside an option begins.
const TEXT_COLUMN: usize = 17;

/// Help of `report` before that of the views.
const REPORT_BEGIN: &str = "\
usage: oshprof report [DIR] [options]

Reports on the profile in DIR, which `oshrun --profile` wrote (default: the
newest one in this directory).

";

/// Help of `report` after that of the views.
const REPORT_END: &str = "  --json         one JSON object instead of tables (docs/profile-json.md)
  --csv          comma-separated values instead of tables: the table of VIEW
  --csv-dir DIR  every table as DIR/VIEW.csv
  --html FILE    all views in one file for a browser; - is standard output
  --sort KEY     order of routines: total (default), calls, bytes, mean, p50,
                 p99, max, errors, name
  --top N        only the first N routines
  --wide         all columns, however wide the terminal is (80 columns where the
                 output is none)
  -h, --help     this text

On a terminal, what matters has a colour, unless NO_COLOR is set.

Exit status: 0 all was read, 1 something could not be read (the rest is
reported), 2 wrong usage.
";

/// Commands, as messages list them.
const COMMANDS: &str = "report, advise, trace, top, hang, metrics, serve, diff, gate, history, export, line";

/// What the user wants.
#[derive(Debug)]
pub enum Command {
    /// Print this help.
    Help(&'static str),
    /// Print the version.
    Version,
    /// `oshprof report`.
    Report(Report),
    /// `oshprof trace`.
    Trace(crate::trace::Request),
    /// `oshprof top`.
    Top(crate::top::Request),
    /// `oshprof hang`.
    Hang(crate::hang::Request),
    /// A command of the exporter.
    Exporter(crate::exporter::Request),
    /// `oshprof diff`.
    Diff(crate::diff::Request),
    /// `oshprof gate`.
    Gate(crate::gate::Request),
    /// `oshprof history`.
    History(crate::history::Request),
    /// `oshprof line`.
    Line(crate::line::Line),
    /// `oshprof export`.
    Export(crate::export::Request),
    /// `oshprof advise`: the directory, and whether as JSON.
    Advise(Option<PathBuf>, bool),
}

/// How a report is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Tables.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// Comma-separated values.
    Csv,
    /// The same, a file a table in a directory.
    CsvDir(PathBuf),
    /// A file for a browser.
    Html(Destination),
}

/// `oshprof report`.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// Profile directory; the newest here unless named.
    pub dir: Option<PathBuf>,
    /// All columns, however wide the terminal is.
    pub wide: bool,
    /// How to show it.
    pub form: Form,
    /// What to show.
    pub options: Options,
}

/// Understands a command line, without the program's name.
///
/// # Errors
/// A message that names the argument.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_args(args);
    match next(&mut parser)? {
        None => Err(format!("no command given; there are: {COMMANDS}")),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Command::Help(HELP)),
        Some(Arg::Short('V') | Arg::Long("version")) => Ok(Command::Version),
        Some(Arg::Value(command)) if command == "help" => match parser.next() {
            Ok(Some(Arg::Value(command))) => parse([command, "--help".into()]),
            _ => Ok(Command::Help(HELP)),
        },
        Some(Arg::Value(command)) if command == "report" => report(parser),
        Some(Arg::Value(command)) if command == "advise" => advise(parser),
        Some(Arg::Value(command)) if command == "trace" => crate::trace::parse(parser),
        Some(Arg::Value(command)) if command == "top" => crate::top::parse(parser),
        Some(Arg::Value(command)) if command == "hang" => crate::hang::parse(parser),
        Some(Arg::Value(command)) if crate::exporter::is_one(&command) => crate::exporter::parse(&command, parser),
        Some(Arg::Value(command)) if command == "diff" => crate::diff::parse(parser),
        Some(Arg::Value(command)) if command == "gate" => crate::gate::parse(parser),
        Some(Arg::Value(command)) if command == "history" => crate::history::parse(parser),
        Some(Arg::Value(command)) if command == "export" => crate::export::parse(parser),
        Some(Arg::Value(command)) if command == "line" => crate::line::parse(parser),
        Some(Arg::Value(command)) => {
            let command = command.to_string_lossy();
            let hint = nearest::hint(&command, COMMANDS.split(", "));
            Err(format!("unknown command `{command}`{hint}: {COMMANDS}"))
        }
        Some(other) => Err(with_our_quotes(&with_our_quotes(&other.unexpected()))),
    }
}

fn report(mut parser: Parser) -> Result<Command, String> {
    let (mut dir, mut forms, mut options, mut wide) = (None, Vec::new(), Options::default(), false);
    while let Some(arg) = next(&mut parser)? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(&REPORT_HELP)),
            Arg::Long("json") => forms.push(Form::Json),
            Arg::Long("csv") => forms.push(Form::Csv),
            Arg::Long("wide") => wide = true,
            Arg::Long("csv-dir") => {
                let dir = parser.value().map_err(|_| "report: --csv-dir needs a value".to_owned())?;
                forms.push(Form::CsvDir(PathBuf::from(dir)));
            }
            Arg::Long("html") => {
                let file = parser.value().map_err(|_| "report: --html needs a value".to_owned())?;
                forms.push(Form::Html(Destination::new(file)));
            }
            Arg::Long("view") => options.view = named(&mut parser, "--view", &view_names())?,
            Arg::Long("by") => options.view = named(&mut parser, "--by", &view_names())?,
            Arg::Long("sort") => options.sort = named(&mut parser, "--sort", &SortKey::ALL)?,
            Arg::Long("top") => options.top = Some(positive(&mut parser, "--top")?),
            Arg::Value(value) if dir.is_none() => dir = Some(PathBuf::from(value)),
            Arg::Value(value) => {
                return Err(format!("report: one directory at a time, `{}` is too many", value.to_string_lossy()));
            }
            other => return Err(format!("report: {}", with_our_quotes(&other.unexpected()))),
        }
    }
    let form = forms.pop().unwrap_or(Form::Text);
    if forms.iter().any(|other| *other != form) {
        return Err("report: one of --json, --csv, --csv-dir and --html at a time".to_owned());
    }
    if form == Form::Csv && options.view == ALL {
        return Err("report: --csv is one table, --view all is many: --csv-dir DIR has a file for each".to_owned());
    }
    Ok(Command::Report(Report { dir, wide, form, options }))
}

fn advise(mut parser: Parser) -> Result<Command, String> {
    let (mut dir, mut json) = (None, false);
    while let Some(arg) = next(&mut parser)? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(ADVISE_HELP)),
            Arg::Long("json") => json = true,
            Arg::Value(value) if dir.is_none() => dir = Some(PathBuf::from(value)),
            other => return Err(format!("advise: {}", with_our_quotes(&other.unexpected()))),
        }
    }
    Ok(Command::Advise(dir, json))
}

fn next(parser: &mut Parser) -> Result<Option<Arg<'_>>, String> {
    parser.next().map_err(|error| with_our_quotes(&error))
}

fn value(parser: &mut Parser, option: &str) -> Result<String, String> {
    let value = parser.value().map_err(|_| format!("report: {option} needs a value"))?;
    value.string().map_err(|error| format!("report: {option}: {error}"))
}

fn named<T: Copy>(parser: &mut Parser, option: &str, all: &[(&'static str, T)]) -> Result<T, String> {
    let value = value(parser, option)?;
    all.iter().find(|(name, _)| *name == value).map(|&(_, found)| found).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&(name, _)| name).collect();
        let hint = nearest::hint(&value, names.iter().copied());
        format!("report: {option} `{value}` is unknown{hint}: {}", names.join(", "))
    })
}

fn positive(parser: &mut Parser, option: &str) -> Result<usize, String> {
    let value = value(parser, option)?;
    value.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("report: {option} `{value}` is not a number from 1 on"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_profile::report::View;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn view(name: &str) -> &'static View {
        view_names().into_iter().find(|(known, _)| *known == name).expect("a view").1
    }

    #[test]
    fn understands_every_option() {
        let Ok(Command::Report(request)) = parsed("report --by size d --json --sort=p99 --top 3") else { panic!() };
        assert_eq!((request.dir, request.form), (Some(PathBuf::from("d")), Form::Json));

        assert_eq!(request.options, Options { view: view("sizes"), sort: SortKey::P99, top: Some(3) });
        let Ok(Command::Report(request)) = parsed("report d --view matrix --csv") else { panic!() };
        assert_eq!((request.form, request.options.view), (Form::Csv, view("matrix")));
        let Ok(Command::Report(request)) = parsed("report d --html f.html") else { panic!() };
        assert_eq!(request.form, Form::Html(Destination::File("f.html".into())));
        let Ok(Command::Report(request)) = parsed("report d --html -") else { panic!() };
        assert_eq!(request.form, Form::Html(Destination::Standard));
        let Ok(Command::Report(request)) = parsed("report --view all --csv-dir t --wide") else { panic!() };
        assert_eq!((request.dir, request.form, request.wide), (None, Form::CsvDir(PathBuf::from("t")), true));
        assert!(matches!(parsed("help report"), Ok(Command::Help(help)) if help == *REPORT_HELP));
        assert!(matches!(parsed("advise --help"), Ok(Command::Help(ADVISE_HELP))));
        assert!(matches!(parsed("advise --json"), Ok(Command::Advise(None, true))));
        assert!(matches!(parsed("help"), Ok(Command::Help(HELP))));
        assert!(matches!(parsed("--help"), Ok(Command::Help(HELP))));
        assert!(matches!(parsed("report --by pe -h"), Ok(Command::Help(help)) if help == *REPORT_HELP));
        assert!(matches!(parsed("-V"), Ok(Command::Version)));
    }

    #[test]
    fn names_of_files_may_be_anything() {
        use std::os::unix::ffi::OsStringExt;
        for line in [
            "export d --to csv -o NAME",
            "export --store NAME --to otava",
            "diff a --accept NAME --html NAME --junit NAME -- b",
            "gate --keep NAME --baseline NAME command",
            "history list --store NAME",
            "history plot NAME",
            "report NAME --html NAME",
            "trace NAME --to csv -o NAME",
        ] {
            let word = |word: &str| if word == "NAME" { OsString::from_vec(vec![b'd', 0xff]) } else { word.into() };
            let parsed = parse(line.split(' ').map(word));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }

    #[test]
    fn one_form_at_a_time() {
        assert!(parsed("report d --json --csv").is_err_and(|error| error.contains("at a time")));
        assert!(parsed("report d --csv --html f.html").is_err());
        assert!(parsed("report d --json --json").is_ok());
    }

    #[test]
    fn help_fits_a_terminal() {
        for line in REPORT_HELP.lines().chain(ADVISE_HELP.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn help_names_every_view_and_key() {
        let names = view_names().into_iter().map(|(name, _)| name).chain(SortKey::ALL.iter().map(|(name, _)| *name));
        for name in names {
            assert!(REPORT_HELP.contains(name), "{name}");
        }
        for option in ["--view VIEW", "--json", "--sort KEY"] {
            assert!(REPORT_HELP.contains(&format!("\n  {option} ")), "{option} does not begin a line");
        }
    }

    #[test]
    fn names_what_is_wrong() {
        for (line, part) in [
            ("", "no command"),
            ("repotr d", "unknown command `repotr`; did you mean `report`? There are: report, advise"),
            ("frobnicate", "unknown command `frobnicate`; there are: report, advise"),
            ("report --jsn", "invalid option `--jsn`"),
            ("--nope", "--nope"),
            ("report d --view all --csv", "--csv-dir DIR has a file for each"),
            ("report d --csv-dir", "--csv-dir needs a value"),
            ("help frobnicate", "`frobnicate`"),
            ("report a b", "`b` is too many"),
            ("report d --by colour", "--by `colour` is unknown; there are: routines, efficiency, phases, causes"),
            ("report d --sort size", "--sort `size` is unknown"),
            ("report d --top 0", "--top `0`"),
            ("report d --top x", "--top `x`"),
            ("report d --by", "--by needs a value"),
            ("report d --color", "--color"),
            ("report d -x", "-x"),
            ("diff a -- b --json --markdown", "diff: one of --json, --markdown, "),
            ("gate --base a --new b --scale", "gate: invalid option `--scale`"),
            ("export d --to csv --suite s", "export: --suite and --branch are for --store"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
