//! `pellucid-manual --tools BIN --to SHARE`: man pages and shell completion for what is in BIN, below SHARE.
//!
//! Everything comes from what the tools say of themselves: each one's `--help` is read ([`help`]) and written as a page
//! ([`page`]) and as a completion ([`completion`]). `./x build` runs it.
//!
//! Exit status: 0 all was written, 1 a tool's help cannot be read or a file not written, 2 wrong usage.
#![deny(unsafe_code)]

mod completion;
mod help;
mod library;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use help::Help;

/// The tools, each with what it is, as the first line of a page has it.
const TOOLS: &[(&str, &str)] = &[
    ("oshrun", "run a program as the PEs of an OpenSHMEM job"),
    ("oshprof", "report on profiles, traces and running jobs of OpenSHMEM programs"),
    ("oshcc", "compile and link OpenSHMEM programs"),
];

/// Other names of a tool, which have its page.
const ALIASES: &[(&str, &str)] = &[("oshc++", "oshcc"), ("oshcxx", "oshcc"), ("oshCC", "oshcc"), ("oshfort", "oshcc")];

/// A command with its page: `oshprof report`.
pub struct Topic {
    /// The tool and its command.
    pub words: Vec<String>,
    /// What it is, in a line.
    pub summary: String,
    /// What it says of itself.
    pub help: Help,
}

impl Topic {
    /// What the command does, where its usage has a word for each.
    pub fn actions(&self) -> String {
        self.help.actions(&self.words.join(" "))
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [first, tools, second, share] = words.as_slice() else { return usage() };
    if (first.as_str(), second.as_str()) != ("--tools", "--to") {
        return usage();
    }
    match write_all(Path::new(tools), Path::new(share)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("pellucid-manual: {message}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: pellucid-manual --tools BIN --to SHARE");
    ExitCode::from(2)
}

fn write_all(tools: &Path, share: &Path) -> Result<(), String> {
    let topics = topics(tools)?;
    for topic in &topics {
        let others: Vec<String> = topics.iter().map(|topic| topic.words.join("-")).collect();
        put(&share.join(format!("man/man1/{}.1", topic.words.join("-"))), &page::text(topic, &others))?;
    }
    for (alias, tool) in ALIASES {
        put(&share.join(format!("man/man1/{alias}.1")), &format!(".so man1/{tool}.1\n"))?;
    }
    put(&share.join("man/man7/libsma.7"), &library::text())?;
    for alias in ["pellucid.7", "shmem.7"] {
        put(&share.join("man/man7").join(alias), ".so man7/libsma.7\n")?;
    }
    for (tool, _) in TOOLS {
        let of_tool: Vec<&Topic> = topics.iter().filter(|topic| topic.words[0] == *tool).collect();
        let names = ALIASES.iter().filter(|(_, of)| of == tool).map(|(alias, _)| *alias);
        let names: Vec<&str> = std::iter::once(*tool).chain(names).collect();
        let (text, fish) = (completion::bash(&of_tool, &names), completion::fish(&of_tool, &names));
        put(&share.join(format!("zsh/site-functions/_{tool}")), &completion::zsh(&of_tool, &names))?;
        for name in &names {
            put(&share.join("bash-completion/completions").join(name), &text)?;
            put(&share.join(format!("fish/vendor_completions.d/{name}.fish")), &fish)?;
        }
    }
    Ok(())
}

/// The tools and their commands: those that a tool's usage names, with their help.
fn topics(tools: &Path) -> Result<Vec<Topic>, String> {
    let mut topics = Vec::new();
    for (tool, summary) in TOOLS {
        let help = ask(tools, &[tool])?;
        let commands = help.commands(tool);
        topics.push(Topic { words: vec![(*tool).to_owned()], summary: (*summary).to_owned(), help });
        for (command, summary) in commands {
            let help = ask(tools, &[tool, &command])?;
            topics.push(Topic { words: vec![(*tool).to_owned(), command], summary, help });
        }
    }
    Ok(topics)
}

/// What a command prints for `--help`.
fn ask(tools: &Path, words: &[&str]) -> Result<Help, String> {
    let mut command = Command::new(tools.join(words[0]));
    // The compiler that a page names is the default one.
    command.args(&words[1..]).arg("--help").env_remove("CC").env_remove("CXX").env_remove("FC").env("COLUMNS", "100");
    let shown = words.join(" ");
    let output = command.output().map_err(|error| format!("{shown}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{shown} --help: {}", output.status));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| format!("{shown} --help: no UTF-8"))?;
    let help = Help::parse(&text);
    if help.usage.is_empty() {
        return Err(format!("{shown} --help: no usage line"));
    }
    Ok(help)
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
