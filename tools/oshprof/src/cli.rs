//! The command line: each command has its options in its own module, as a `Request`. Parser, help, manual pages and
//! completion are made of them.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use pellucid_cli::{Answer, shown};

use crate::{advise, diff, export, exporter, gate, hang, history, line, report, top, trace};

/// report on profiles, traces and running jobs of OpenSHMEM programs
///
/// `oshrun --profile` writes a profile, `oshrun --trace` a trace. `oshprof COMMAND --help` lists the options.
#[derive(Debug, Parser)]
#[command(name = "oshprof", version = concat!("(Pellucid) ", env!("CARGO_PKG_VERSION")))]
#[command(arg_required_else_help = false)]
struct CommandLine {
    #[command(subcommand)]
    asked: Asked,
}

/// What the user wants.
#[derive(Debug, Subcommand)]
pub(crate) enum Asked {
    Report(report::Request),
    Advise(advise::Request),
    Trace(trace::Request),
    Top(top::Request),
    Hang(hang::Request),
    Metrics(exporter::Metrics),
    Serve(exporter::Serve),
    Diff(diff::Request),
    Gate(gate::Request),
    History(history::Request),
    Export(export::Request),
    Line(line::Request),
}

impl Asked {
    /// Whether what was asked for can be done. Error: what cannot.
    fn check(&self) -> Result<(), String> {
        match self {
            Asked::Report(request) => request.check(),
            Asked::Trace(request) => request.check(),
            Asked::Serve(request) => request.check(),
            Asked::Diff(request) => request.check(),
            Asked::Gate(request) => request.check(),
            Asked::History(request) => request.check(),
            Asked::Export(request) => request.check(),
            Asked::Line(request) => request.check(),
            #[cfg(not(feature = "metrics"))]
            Asked::Metrics(request) => request.check(),
            _ => Ok(()),
        }
    }

    /// Does it.
    pub(crate) fn run(self) -> ExitCode {
        match self {
            Asked::Report(request) => report::run(&request),
            Asked::Advise(request) => advise::run(&request),
            Asked::Trace(request) => trace::run(&request),
            Asked::Top(request) => top::run(&request),
            Asked::Hang(request) => hang::run(&request),
            Asked::Metrics(request) => request.run(),
            Asked::Serve(request) => request.run(),
            Asked::Diff(request) => diff::run(request),
            Asked::Gate(request) => gate::run(request),
            Asked::History(request) => history::run(&request),
            Asked::Export(request) => export::run(&request),
            Asked::Line(request) => line::run(&request),
        }
    }
}

/// Every command with its options.
pub fn command() -> Command {
    CommandLine::command()
}

/// Understands a command line, without the program's name. Error: help, or what is wrong.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Asked, Answer> {
    let mut command = shown(command());
    let args = std::iter::once("oshprof".into()).chain(diff::separated(args));
    let matches = command.try_get_matches_from_mut(args)?;
    let asked = CommandLine::from_arg_matches(&matches)?.asked;
    asked.check().map_err(|message| {
        let name = matches.subcommand_name().unwrap_or_default();
        let of = command.find_subcommand_mut(name).expect("the command that was parsed");
        of.error(ErrorKind::ArgumentConflict, message)
    })?;
    Ok(asked)
}

/// As [`parse`], of words between blanks; what is printed in place of running is an error.
#[cfg(test)]
pub(crate) fn parsed(line: &str) -> Result<Asked, String> {
    parse(line.split_whitespace().map(OsString::from)).map_err(|answer| match answer {
        Answer::Text(text) | Answer::Wrong(text) => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declarations_are_sound() {
        shown(command()).debug_assert();
    }

    #[test]
    fn help_is_the_same_however_it_is_asked_for_and_fits_a_terminal() {
        for command in command().get_subcommands() {
            let name = command.get_name();
            let help = parsed(&format!("help {name}")).unwrap_err();
            assert_eq!(parsed(&format!("{name} --help")).unwrap_err(), help);
            assert_eq!(parsed(&format!("{name} -h")).unwrap_err(), help);
            assert!(
                help.starts_with(&format!("Usage: oshprof {name} ")) && help.contains("\n\nExit status: "),
                "{help}"
            );
            let summary = command.get_about().expect("what it is").to_string();
            assert!(parsed("--help").unwrap_err().contains(&summary), "{summary}");
            assert!(
                summary.starts_with(char::is_lowercase) && !pellucid_cli::description(command).is_empty(),
                "{name}"
            );
        }
        assert_eq!(parsed("help").unwrap_err(), parsed("--help").unwrap_err());
        assert!(parsed("-V").unwrap_err().starts_with("oshprof (Pellucid) "));
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
        let odd = ["report", "--sort"].map(OsString::from).into_iter().chain([OsString::from_vec(vec![0xff])]);
        assert!(matches!(parse(odd), Err(Answer::Wrong(text)) if text.contains("for '--sort <KEY>'")));
    }

    #[test]
    fn names_what_is_wrong() {
        for (line, part) in [
            ("", "requires a subcommand but one was not provided\n  [subcommands: report, advise"),
            (
                "repotr d",
                "unrecognized subcommand 'repotr'\n\n  tip: some similar subcommands exist: 'export', 'report'",
            ),
            ("histry", "a similar subcommand exists: 'history'"),
            ("frobnicate", "unrecognized subcommand 'frobnicate'"),
            ("report --jsn", "'--jsn' found\n\n  tip: a similar argument exists: '--json'"),
            ("--nope", "--nope"),
            ("report d --view all --csv", "--csv-dir DIR has a file for each"),
            ("report d --csv-dir", "'--csv-dir <DIR>' but none was supplied"),
            ("help frobnicate", "'frobnicate'"),
            ("report a b", "'b'"),
            ("report d --by colour", "'colour' for '--view <VIEW>'\n  [possible values: routines, efficiency, ph"),
            ("report d --sort size", "'size' for '--sort <KEY>'"),
            ("report d --top 0", "'0' for '--top <N>': expected a number from 1 on"),
            ("report d --top x", "'x' for '--top <N>'"),
            ("report d --by", "'--view <VIEW>' but none"),
            ("report d --color", "--color"),
            ("report d -x", "-x"),
            ("diff a -- b --json --markdown", "'--json' cannot be used with '--markdown'"),
            ("gate --base a --new b --scale", "'--scale'"),
            ("gate --base a --new b --suite s", "--baseline <STORE>"),
            ("gate --base a", "needs --base CMD and --new CMD"),
            ("export d --to csv --suite s", "--suite and --branch are for --store"),
            ("export d --to otava", "otava is made from a store"),
            ("history list a", "`a` is too many"),
            ("line", "<FILE+ADDRESS>..."),
            ("line - a+0x1", "- stands alone"),
        ] {
            let message = parsed(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
            assert!(!message.starts_with("Usage: ") && message.contains("--help"), "{line}: {message}");
        }
    }
}
