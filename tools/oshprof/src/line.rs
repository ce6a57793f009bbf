//! `oshprof line`: the source lines of calls that messages name as `FILE+ADDRESS`.

use std::fmt::Write;
use std::process::ExitCode;

use lexopt::{Arg, Parser};
use pellucid_profile::report::place;

use crate::args::Command;
use crate::resolve::Resolver;

const HELP: &str = "\
usage: oshprof line FILE+ADDRESS ...

Prints the source line of each call, as far as FILE has debug information:
ADDRESS, which begins with 0x, is where the call returns to. Messages name calls
so (`called from a.out+0x1234`) where they find no line themselves.

Exit status: 0 each line was found, 1 one was not (it is printed as it was
given), 2 wrong usage.
";

/// A file, and a return address in it.
pub type Address = (String, u64);

/// Understands what follows `line`.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let mut places = Vec::new();
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
            Arg::Value(value) => places.push(address(&value.to_string_lossy())?),
            other => return Err(format!("line: {}", other.unexpected())),
        }
    }
    if places.is_empty() { Err("line: expected FILE+ADDRESS".to_owned()) } else { Ok(Command::Line(places)) }
}

fn address(text: &str) -> Result<Address, String> {
    let parts = text.rsplit_once("+0x").filter(|(file, _)| !file.is_empty());
    let found = parts.and_then(|(file, number)| Some((file.to_owned(), u64::from_str_radix(number, 16).ok()?)));
    found.ok_or_else(|| format!("line: `{text}` is not FILE+0xADDRESS"))
}

/// Prints the lines.
pub fn run(places: &[Address]) -> ExitCode {
    let symbols = Resolver::default();
    let (mut text, mut unknown) = (String::new(), false);
    for (file, address) in places {
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
    fn places_are_a_file_and_an_address() {
        assert_eq!(address("/a b/c+d.so+0x1f"), Ok(("/a b/c+d.so".to_owned(), 0x1f)));
        for wrong in ["", "a.out", "a.out+12", "+0x1", "a.out+0x", "a.out+0xg"] {
            assert!(address(wrong).is_err_and(|text| text.contains(wrong)), "{wrong}");
        }
    }
}
