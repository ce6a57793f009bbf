//! The command line.

use crate::suite;
use clap::builder::PossibleValue;
use clap::{CommandFactory, FromArgMatches, Parser};
use pellucid_cli::{Answer, Words, shown, text};
use std::ffi::OsString;
use std::path::PathBuf;

/// measure this library, the limits of the machine and other libraries
///
/// Measures this library, the limits of the machine and, where it is installed, Open MPI's OSHMEM with the same
/// programs, run in turn.
#[derive(Clone, Debug, PartialEq, Eq, Default, Parser)]
#[command(name = "oshbench", bin_name = "./x bench", override_usage = "./x bench [WHAT...] [OPTIONS]")]
pub struct Options {
    /// groups of measurements (default: everything but scaling)
    #[arg(value_name = "WHAT", value_parser = groups())]
    pub groups: Vec<String>,
    /// also write the results to FILE, an array of objects
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// also draw the group 'scaling' to FILE, a picture in SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// shorter measurements and 3 repetitions: under a minute
    #[arg(long)]
    pub quick: bool,
    /// repetitions of every program, of which the median counts
    #[arg(long, value_name = "N", value_parser = text(|n| positive(n, 1000)))]
    pub reps: Option<u32>,
    /// PEs of collectives and startup, in place of 2, 4 and 8
    #[arg(long, value_name = "N", value_parser = text(|n| positive(n, 4096)))]
    pub pes: Option<u32>,
    /// do not run other libraries
    #[arg(long)]
    pub no_peers: bool,
    /// measure the library installed in DIR, in place of target/pellucid
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
    /// list what can be measured
    #[arg(long)]
    pub list: bool,
}

fn groups() -> Words<String> {
    let row = |group: &suite::Group| (PossibleValue::new(group.name).help(group.about), group.name.to_owned());
    Words::new(suite::GROUPS.iter().map(row).collect())
}

fn positive(number: &str, most: u32) -> Result<u32, String> {
    let number = number.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {most}"))
}

/// Reads the arguments after the program's name. Error: help, or what is wrong.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, Answer> {
    let arguments = std::iter::once("oshbench".into()).chain(arguments);
    Ok(Options::from_arg_matches(&shown(Options::command()).try_get_matches_from(arguments)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Options, Answer> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn nothing_means_everything_with_defaults() {
        assert_eq!(parsed(&[]), Ok(Options::default()));
    }

    #[test]
    fn groups_and_options_in_any_order() {
        let options = parsed(&["rma", "--json", "out.json", "amo", "--quick", "--reps=7", "--pes", "4"]).unwrap();
        assert_eq!(options.groups, ["rma", "amo"]);
        assert_eq!(options.json, Some("out.json".into()));
        assert!(options.quick);
        assert_eq!((options.reps, options.pes), (Some(7), Some(4)));
    }

    #[test]
    fn errors_name_option_and_value() {
        for (words, part) in [
            (&["warp"][..], "'warp'"),
            (&["--fast"][..], "'--fast'"),
            (&["--reps", "0"][..], "'0' for '--reps <N>': expected a number from 1"),
            (&["--pes", "two"][..], "'two'"),
            (&["--json"][..], "'--json <FILE>'"),
            (&["--quick=yes"][..], "'--quick'"),
        ] {
            assert!(matches!(parsed(words), Err(Answer::Wrong(text)) if text.contains(part)), "{words:?}");
        }
    }

    #[test]
    fn help_names_every_option_and_group() {
        let Err(Answer::Text(text)) = parsed(&["--help"]) else { panic!("no help") };
        assert!(text.starts_with("Usage: ./x bench "), "{text}");
        for group in suite::GROUPS {
            assert!(text.contains(group.name) && text.contains("--no-peers"), "{}", group.name);
        }
    }
}
