//! `cargo run -p pellucid-generate` writes the generated files; `-- --check` compares them with what is there.
#![deny(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pellucid_generate::{coverage, emit, expand};

const USAGE: &str = "\
usage: pellucid-generate [--root DIR]             write the generated files
       pellucid-generate [--root DIR] --check     compare them with what is there
       pellucid-generate --coverage API.csv       count the functions that are there
  --root DIR   root of the repository (default: the one this program was built from)";

enum Command {
    Write,
    Check,
    Coverage(PathBuf),
}

struct Options {
    command: Command,
    root: PathBuf,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("pellucid-generate: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("pellucid-generate: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut options = Options { command: Command::Write, root: home };
    while let Some(arg) = args.next() {
        let mut value = || args.next().map(PathBuf::from).ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--check" => options.command = Command::Check,
            "--coverage" => options.command = Command::Coverage(value()?),
            "--root" => options.root = value()?,
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<bool, String> {
    let routines = expand::expand();
    if let Command::Coverage(path) = &options.command {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        print!("{}", coverage::report(&routines, &text)?);
        return Ok(true);
    }
    let files = emit::files(&routines)?;
    let mut same = true;
    for file in &files {
        let path = options.root.join(&file.path);
        if matches!(options.command, Command::Check) {
            same &= matches_disk(file, &path);
        } else {
            write(&path, &file.text).map_err(|e| format!("{}: {e}", file.path))?;
        }
    }
    if !same {
        eprintln!("run `cargo run -p pellucid-generate` and commit the result");
    }
    Ok(same)
}

/// Compares a file with what is on disk and names the first line that differs.
fn matches_disk(file: &emit::File, path: &Path) -> bool {
    let found = match std::fs::read_to_string(path) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{}: {error}", file.path);
            return false;
        }
    };
    if found == file.text {
        return true;
    }
    let end = "(end of file)";
    let (mut found, mut expected) = (found.lines(), file.text.lines());
    for line in 1.. {
        let pair = (found.next(), expected.next());
        if pair.0 != pair.1 || pair.0.is_none() {
            eprintln!("{}:{line}: differs from the table", file.path);
            eprintln!("  found    {}", pair.0.unwrap_or(end));
            eprintln!("  expected {}", pair.1.unwrap_or(end));
            break;
        }
    }
    false
}

/// Writes a file only when it changes, so that cargo rebuilds nothing without need.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}
