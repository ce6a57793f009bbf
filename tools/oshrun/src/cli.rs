//! The command line.

use crate::foreign::{self, Foreign};
use crate::options::{self, Options, Request};
use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory, FromArgMatches};
use pellucid_cli::{Answer, shown};
use std::ffi::OsString;

/// The options.
pub fn command() -> Command {
    Options::command()
}

/// The options, with those of other launchers that are understood.
pub(crate) fn with_foreign() -> Command {
    Foreign::augment_args(command())
}

/// Reads the arguments that follow the name of the launcher. Error: help, or what is wrong.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request, Answer> {
    let mut command = shown(with_foreign());
    let args = foreign::translated(args.into_iter().collect(), &command);
    let matches = command.try_get_matches_from_mut(std::iter::once("oshrun".into()).chain(args));
    let matches = matches.map_err(foreign::answered)?;
    let (options, foreign) = (Options::from_arg_matches(&matches)?, Foreign::from_arg_matches(&matches)?);
    let asked = options::finish(options, &foreign);
    Ok(asked.map_err(|message| command.error(ErrorKind::ArgumentConflict, message))?)
}
