//! What the command lines of the tools have in common: how help looks, how values are understood, and what is said of
//! what is wrong.
//!
//! Each tool declares its options for clap, in a function `cli::command`; from that come its parser, its help, its
//! manual pages and its completion (`tools/manual`).
#![deny(unsafe_code)]

mod address;
mod time;
mod values;

pub use address::{Address, address, is_ipv6};
pub use time::{TIMES, duration, milliseconds};
pub use values::{Words, file, parsed, string, text};

use clap::error::ErrorKind;
use clap::{Arg, Command};
use pellucid_core::base::text::visible_lines;

/// Columns of a help text, however wide the terminal is.
const WIDTH: usize = 80;

/// How to call it comes first, then what it does.
const TEMPLATE: &str = "{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}\n";

/// A command as it is parsed and as its help is shown: as one text for `-h` and `--help`, with the words that an
/// option takes below it. The last one of an option that is given several times counts; a value may begin with a dash.
pub fn shown(command: Command) -> Command {
    let description = description(&command);
    let command =
        command.help_template(TEMPLATE).term_width(WIDTH).args_override_self(true).long_about(None::<&'static str>);
    let command = if description.is_empty() { command } else { command.before_help(description) };
    command.mut_args(shown_option).mut_subcommands(shown)
}

/// What a command does: its documentation without the first line, which says what it is.
pub fn description(command: &Command) -> String {
    let text = |styled: Option<&clap::builder::StyledStr>| styled.map(ToString::to_string).unwrap_or_default();
    let (name, all) = (text(command.get_about()), text(command.get_long_about()));
    all.strip_prefix(&name).unwrap_or(&all).trim_start_matches(['.', '\n']).to_owned()
}

fn shown_option(option: Arg) -> Arg {
    let help = option.get_help().map(|help| help.to_string().replace("{n} ", "\n")).unwrap_or_default();
    let words = option.get_possible_values();
    let lines = words.iter().filter_map(|word| Some(format!("\n- {}: {}", word.get_name(), word.get_help()?)));
    let lines: String = lines.collect();
    let option = if lines.is_empty() {
        option.help(help)
    } else {
        let defaults = if option.is_hide_default_value_set() { &[] } else { option.get_default_values() };
        let default: String = defaults.iter().map(|word| format!(" (default: {})", word.display())).collect();
        option.help(format!("{help}{default}{lines}")).hide_possible_values(true).hide_default_value(true)
    };
    let follows = !option.is_positional() && option.get_action().takes_values() && !option.is_require_equals_set();
    if follows { option.allow_hyphen_values(true) } else { option }
}

/// What came of a command line that asks for nothing to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Help or the version, for standard output.
    Text(String),
    /// What is wrong with it, for standard error.
    Wrong(String),
}

impl From<clap::Error> for Answer {
    fn from(error: clap::Error) -> Answer {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Answer::Text(text),
            _ => Answer::Wrong(visible_lines(text.strip_prefix("error: ").unwrap_or(&text).trim_end())),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValue;

    use super::*;

    fn command() -> Command {
        let words = ["red", "green"].map(|name| (PossibleValue::new(name).help(format!("as {name}")), name.len()));
        let long = "word ".repeat(40);
        let colour = Arg::new("colour").long("colour").help("a colour").value_parser(Words::new(words.to_vec()));
        let command =
            Command::new("tool").version("(Pellucid) 1").about("does it").long_about("does it\n\nIt is done.");
        command.arg(colour).arg(Arg::new("long").long("long").help(long)).after_help("The end.")
    }

    fn answer(words: &[&str]) -> Answer {
        let words = std::iter::once("tool").chain(words.iter().copied());
        shown(command()).try_get_matches_from(words).expect_err("an answer").into()
    }

    #[test]
    fn help_is_one_text_of_80_columns() {
        let Answer::Text(help) = answer(&["--help"]) else { panic!("no text") };
        assert_eq!(answer(&["-h"]), Answer::Text(help.clone()));
        assert!(help.starts_with("Usage: tool [OPTIONS]\n\nIt is done.\n\nOptions:\n"), "{help}");
        assert!(help.contains(" a colour\n") && help.contains(" - green: as green\n"), "{help}");
        assert!(help.ends_with("\n\nThe end.\n") && help.lines().all(|line| line.len() <= WIDTH), "{help}");
        assert_eq!(answer(&["-V"]), Answer::Text("tool (Pellucid) 1\n".to_owned()));
    }

    #[test]
    fn what_is_wrong_has_option_value_and_the_nearest_one() {
        let said = |words| match answer(words) {
            Answer::Wrong(text) => text,
            Answer::Text(text) => panic!("{text}"),
        };
        let text = said(&["--colour", "geen"]);
        assert!(text.starts_with("invalid value 'geen' for '--colour <colour>'"), "{text}");
        assert!(text.contains("red, green") && text.contains("tip: a similar value exists: 'green'"), "{text}");
        assert!(said(&["--color=a"]).contains("tip: a similar argument exists: '--colour'"));
        // With colours, which other packages of a build may ask clap for, it leaves such characters out itself.
        assert!(!said(&["--\u{1b}[31m"]).contains('\u{1b}'));
    }
}
