//! `oshcc`, `oshc++` and `oshfort`: the C, C++ and Fortran compiler, with what OpenSHMEM programs need added.
//!
//! One program under several names: which compiler it stands for is in the name it is called by.
//!
//! | module | what it is |
//! |---|---|
//! | [`language`] | C, C++ or Fortran, and the compiler for it |
//! | [`fortran`] | options and module files for Fortran |
//! | [`tree`] | where headers and libraries are |
//! | [`mode`] | what a command line makes the compiler do |
//! | [`plan`] | the command that is run |
//! | [`response`] | arguments in files |
//! | [`order`] | profilers that would be silently left out |
//! | [`show`] | printing commands for a shell |
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]

mod fortran;
mod help;
mod language;
mod mode;
mod order;
mod plan;
mod response;
mod show;
mod tree;

use fortran::Toolchain;
use language::Language;
use plan::{Request, With};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::exit;
use tree::Tree;

/// Exit status where the compiler cannot be run, as a shell has it.
const NOT_FOUND: i32 = 127;

/// Exit status where a signal ends the compiler, less the signal's number, as a shell has it.
const KILLED: i32 = 128;

fn main() {
    let mut words = std::env::args_os();
    let language = Language::of_program(&words.next().unwrap_or_default());
    let args: Vec<OsString> = words.collect();
    match run(language, &args) {
        Ok(()) => exit(0),
        Err((status, message)) => {
            // The compiler has said it all.
            if !message.is_empty() {
                say(language, &message);
            }
            exit(status)
        }
    }
}

/// A line on standard error; where that cannot be written to, nobody can be told.
fn say(language: Language, what: &str) {
    let _ = writeln!(io::stderr(), "{}: {what}", language.wrapper());
}

/// Shows or runs the compiler. Returns only where nothing was to be run, or could be.
fn run(language: Language, args: &[OsString]) -> Result<(), (i32, String)> {
    let compiler = language.compiler().map_err(|message| (1, message))?;
    let tree = Tree::of_this_program().map_err(|message| (1, message))?;
    for warning in order::warnings(args) {
        say(language, &format!("warning: {warning}"));
    }
    if language == Language::Fortran {
        for warning in fortran::warnings(&response::expanded(args)) {
            say(language, &format!("warning: {warning}"));
        }
    }
    let toolchain = (language == Language::Fortran).then(|| Toolchain::of(&compiler));
    let with = With { language, compiler: &compiler.words, toolchain: toolchain.as_ref(), tree: &tree };
    let command = match plan::plan(&with, args) {
        Request::Show(words) => return print(&(show::line(&words) + "\n")),
        Request::Text(text) => return print(&(text + "\n")),
        Request::Help(words) => {
            print(&help::text(language, &compiler))?;
            words
        }
        Request::Run(words) => words,
    };
    let mut compile = compiler.command(&command);
    let error = match toolchain.filter(|toolchain| !toolchain.has_modules(&tree)) {
        // Nothing to say: the compiler takes this process's place.
        None => compile.exec(),
        // Sources are looked at when the compiler has read them, and only where it did not like them.
        Some(toolchain) => match compile.status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => {
                let code = status.code().unwrap_or_else(|| KILLED + status.signal().unwrap_or(0));
                let note = toolchain.note(&tree, &response::expanded(args));
                return Err((code, note.unwrap_or_default()));
            }
            Err(error) => error,
        },
    };
    let name = command[0].to_string_lossy();
    Err((NOT_FOUND, format!("cannot run the compiler {name:?} ({}): {error}", compiler.origin)))
}

fn print(text: &str) -> Result<(), (i32, String)> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| (1, format!("standard output: {error}")))
}
