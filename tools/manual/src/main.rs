//! `pellucid-manual --to SHARE`: man pages and shell completion of the tools, below SHARE.
//!
//! All of it comes from what the tools declare for clap: pages by `clap_mangen` ([`page`]), completion by
//! `clap_complete` ([`completion`]). `./x build` runs it.
//!
//! Exit status: 0 all was written, 1 a file was not written, 2 wrong usage.
#![deny(unsafe_code)]

mod completion;
mod library;
mod oshcc;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;

/// Other names of a tool, which have its page.
const ALIASES: &[(&str, &str)] = &[("oshc++", "oshcc"), ("oshcxx", "oshcc"), ("oshCC", "oshcc"), ("oshfort", "oshcc")];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let share = match words.as_slice() {
        [option, share] if option == "--to" => Path::new(share),
        _ => {
            eprintln!("usage: pellucid-manual --to SHARE");
            return ExitCode::from(2);
        }
    };
    match write_all(share) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("pellucid-manual: {message}");
            ExitCode::FAILURE
        }
    }
}

/// What the tools declare, with the names that `oshprof report` and its like have.
fn tools() -> [Command; 3] {
    [oshrun::cli::command(), oshprof::cli::command(), oshcc::command()].map(|mut tool| {
        tool.build();
        tool
    })
}

fn write_all(share: &Path) -> Result<(), String> {
    let tools = tools();
    let pages: Vec<&Command> =
        tools.iter().flat_map(|tool| std::iter::once(tool).chain(page::commands(tool))).collect();
    for command in &pages {
        put(&share.join(format!("man/man1/{}.1", page::name(command))), &page::text(command, &pages))?;
    }
    for (alias, tool) in ALIASES {
        put(&share.join(format!("man/man1/{alias}.1")), &format!(".so man1/{tool}.1\n"))?;
    }
    put(&share.join("man/man7/libsma.7"), &library::text())?;
    for alias in ["pellucid.7", "shmem.7"] {
        put(&share.join("man/man7").join(alias), ".so man7/libsma.7\n")?;
    }
    for tool in &tools {
        let name = tool.get_name();
        let aliases = ALIASES.iter().filter(|(_, of)| *of == name).map(|(alias, _)| *alias);
        let names: Vec<&str> = std::iter::once(name).chain(aliases).collect();
        put(&share.join(format!("zsh/site-functions/_{name}")), &completion::zsh(tool, &names))?;
        for name in names {
            put(&share.join("bash-completion/completions").join(name), &completion::bash(tool, name))?;
            put(&share.join(format!("fish/vendor_completions.d/{name}.fish")), &completion::fish(tool, name))?;
        }
    }
    Ok(())
}

/// Writes a file where it differs.
fn put(path: &PathBuf, text: &str) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}
