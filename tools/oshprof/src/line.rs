//! `oshprof line`: the source lines of calls that messages name as `FILE+ADDRESS`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pellucid_profile::report::stored::Lines;
use pellucid_profile::report::{Symbols, place};

use crate::report::load;
use crate::resolve::Resolver;
use crate::stack;

/// A file, and a return address in it.
pub type Address = (String, u64);

/// print the source lines of calls
///
/// Prints the source line of each call, as far as FILE has debug information: ADDRESS, which begins with 0x, is where
/// the call returns to. Messages name calls so (`called from a.out+0x1234`) where they find no line themselves. With -
/// they are read from standard input, one a line, and each is answered by one line; FILE@ADDRESS is a variable,
/// answered by NAME+OFFSET; #PID a process, answered by the lines that it is in, which stops it for less than a
/// millisecond.
///
/// With --store the lines of the profile in DIR are kept with it, so that reports have them when the program is built
/// anew or gone: as oshrun does when a job ends, and else the first report.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 each line was found, 1 one was not (it is printed as it was given), 2 wrong usage.")]
#[command(override_usage = "oshprof line FILE+ADDRESS...
       oshprof line -
       oshprof line --store DIR")]
pub struct Request {
    /// a call; -: read them from standard input
    #[arg(
        value_name = "FILE+ADDRESS", value_parser = pellucid_cli::parsed(call), required_unless_present = "store"
    )]
    calls: Vec<Call>,
    /// keep the lines of this profile with it
    #[arg(long, value_name = "DIR", conflicts_with = "calls")]
    store: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    /// Those that standard input names.
    Input,
    /// This one.
    At(Address),
}

fn call(text: &OsStr) -> Result<Call, String> {
    if text == "-" { Ok(Call::Input) } else { address(&text.to_string_lossy()).map(Call::At) }
}

impl Request {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        let is_input = self.calls.contains(&Call::Input);
        if is_input && self.calls.len() > 1 { Err("- stands alone".to_owned()) } else { Ok(()) }
    }
}

fn address(text: &str) -> Result<Address, String> {
    let parts = text.rsplit_once("+0x").filter(|(file, _)| !file.is_empty());
    let found = parts.and_then(|(file, number)| Some((file.to_owned(), u64::from_str_radix(number, 16).ok()?)));
    found.ok_or_else(|| format!("`{text}` is not FILE+0xADDRESS"))
}

/// Prints the lines.
pub fn run(request: &Request) -> ExitCode {
    match (&request.store, request.calls.as_slice()) {
        (Some(dir), _) => store(dir),
        (None, [Call::Input]) => answer(io::stdin().lock(), &mut io::stdout().lock()),
        (None, calls) => of(calls),
    }
}

/// Answers each line at once: whoever asks waits for it. What is no place is given back.
fn answer(input: impl BufRead, output: &mut impl Write) -> ExitCode {
    let symbols = Resolver::with_offsets();
    for asked in input.lines().map_while(Result::ok) {
        let process = asked.strip_prefix('#').and_then(|pid| pid.parse().ok());
        let shown = match variable(&asked) {
            None if process.is_some() => process.and_then(|pid| stack::shown(pid, &symbols)).unwrap_or(asked),
            Some((file, address)) => {
                symbols.object(file, address).map_or(asked, |(name, offset)| format!("{name}+{offset:#x}"))
            }
            None => address(&asked).map_or(asked, |(file, address)| place(Some((&file, address)), &symbols)),
        };
        if writeln!(output, "{shown}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// `FILE@0xADDRESS`
fn variable(text: &str) -> Option<(&str, u64)> {
    let (file, number) = text.rsplit_once("@0x")?;
    Some((file, u64::from_str_radix(number, 16).ok()?))
}

/// Keeps the lines of a profile with it.
fn store(dir: &Path) -> ExitCode {
    let Some((profile, directory)) = load(Some(dir)) else { return ExitCode::from(crate::FAILED) };
    let debug = Resolver::default();
    match Lines::open(&debug, &profile, directory.path()).keep(&profile) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            pellucid_profile::say!("oshprof: {problem}");
            ExitCode::from(crate::FAILED)
        }
    }
}

fn of(calls: &[Call]) -> ExitCode {
    let symbols = Resolver::with_offsets();
    let (mut text, mut unknown) = (String::new(), false);
    for call in calls {
        let Call::At((file, address)) = call else { continue };
        let shown = place(Some((file, *address)), &symbols);
        unknown |= shown.ends_with(&format!("+{address:#x}"));
        let _ = writeln!(text, "{shown}");
    }
    let printed = crate::print(&text);
    if unknown { ExitCode::from(crate::FAILED) } else { printed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_input_is_answered_by_one() {
        let mut output = Vec::new();
        answer("/no/such+0x10\nnothing\n\n/no/such@0x10\n".as_bytes(), &mut output);
        assert_eq!(String::from_utf8(output).unwrap(), "such+0x10\nnothing\n\n/no/such@0x10\n");
    }

    #[test]
    fn places_are_a_file_and_an_address() {
        assert_eq!(address("/a b/c+d.so+0x1f"), Ok(("/a b/c+d.so".to_owned(), 0x1f)));
        for wrong in ["", "a.out", "a.out+12", "+0x1", "a.out+0x", "a.out+0xg"] {
            assert!(address(wrong).is_err_and(|text| text.contains(wrong)), "{wrong}");
        }
    }
}
