//! The command line.

use crate::foreign;
use crate::options::{self, Options, Request};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};
use pellucid_cli::{Answer, shown};
use std::ffi::OsString;

/// The options.
pub fn command() -> Command {
    Options::command()
}

/// Reads the arguments that follow the name of the launcher. Error: help, or what is wrong.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request, Answer> {
    let mut command = shown(command());
    let args = foreign::translated(args.into_iter().collect(), &command);
    let matches = command.try_get_matches_from_mut(std::iter::once("oshrun".into()).chain(args));
    let options = Options::from_arg_matches(&matches.map_err(foreign::answered)?)?;
    Ok(options::finish(options).map_err(|message| command.error(ErrorKind::ArgumentConflict, message))?)
}
