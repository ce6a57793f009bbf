//! `oshprof history`: what communication and times were, commit by commit, and which commit changed them.
//!
//! | module | what it is |
//! |---|---|
//! | `store` | the files: lines that are only added, and tables of counts by their hash |
//! | `check` | steps of counts and change points of times |
//! | `together` | series that change with each other are one finding |
//! | `plot` | all of it as a page |

pub mod check;
mod plot;
pub mod store;
mod together;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pellucid_cli::{Words, text};
use pellucid_profile::text::{visible, visible_path};

use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::compare::same;
use crate::compare::verdict::REGRESSION;
use crate::destination::Destination;
use crate::resolve::Resolver;
use crate::{FAILED, print};
use pellucid_profile::report::{shown_text, shown_time};
use store::{RunMetadata, Store};

const OF_ADD: &str = "add";
const OF_OTHERS: &str = "list, check";

// Not as documentation: that of what is flattened would take its place.
const ABOUT: &str = "find the commit that changed a program";
const LONG: &str = "Keeps what profiles say, commit by commit, in a directory, which may be part of a repository.";
const END: &str = "\
Exit status: 0 no regression, 1 something could not be read or written, 2 wrong usage, 3 check: a regression.";

/// `oshprof history`.
#[derive(Debug, Args)]
#[command(about = ABOUT, long_about = LONG, after_help = END)]
#[command(override_usage = "oshprof history add DIR... --commit SHA [OPTIONS]
       oshprof history list [OPTIONS]
       oshprof history check [OPTIONS]
       oshprof history plot FILE [OPTIONS]")]
pub struct Request {
    /// what to do
    #[arg(value_parser = Words::<Action>::all())]
    action: Action,
    /// profiles to add; the page to write (-: to standard output)
    #[arg(value_name = "DIR|FILE")]
    files: Vec<PathBuf>,
    /// where it is kept
    #[arg(long, value_name = "DIR", default_value = ".pellucid-history")]
    store: PathBuf,
    #[command(flatten)]
    facts: RunMetadata,
    /// for scripts
    #[arg(long, help_heading = OF_OTHERS)]
    json: bool,
    /// check: only what the last N commits of a series brought is a failure, on whatever machine they ran
    #[arg(long, value_name = "N", value_parser = text(number), default_value = "10", help_heading = OF_OTHERS)]
    last: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// adds the profiles in DIR..., which are runs of one program (two tell what varies from run to run); runs of one
    /// suite and branch are a series
    Add,
    /// one line a run
    List,
    /// which commit changed communication (exactly) or times (change points, by a permutation test)
    Check,
    /// writes a page for a browser
    Plot,
}

impl Request {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        match (self.action, self.files.as_slice()) {
            (Action::Add, []) => Err("add: the directory of the profile is missing".to_owned()),
            (Action::Add, _) if self.facts.commit.is_empty() => Err("add: --commit SHA is missing".to_owned()),
            (Action::Add, _) if self.facts.commit == self.facts.parent => {
                Err(format!("add: --parent `{}` is the commit itself", self.facts.parent))
            }
            (Action::List | Action::Check, [file, ..]) => Err(format!("`{}` is too many", file.display())),
            (Action::Plot, [] | [_, _, ..]) => Err("plot: one file to write is needed".to_owned()),
            _ => Ok(()),
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

/// A name of a commit; an empty one is none.
fn commit(name: &str) -> Result<String, String> {
    if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{}` is no commit: it has a blank", visible(name)));
    }
    Ok(name.to_owned())
}

/// A name of a series.
fn suite(name: &str) -> Result<String, String> {
    if name.trim().is_empty() {
        return Err("expected a name: without the option it is program, PEs and arguments".to_owned());
    }
    Ok(name.to_owned())
}

/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

/// A time; milliseconds would be one far behind that of all other runs.
fn seconds(time: &str) -> Result<u64, String> {
    let time = number(time)?;
    if time > LAST {
        return Err(format!("{time} is not in seconds since 1970: that is after the year 9999"));
    }
    Ok(time)
}

/// Does it.
pub fn run(request: &Request) -> ExitCode {
    let result = match request.action {
        Action::Add => add(request, &request.files, &request.facts),
        Action::List => of_store(request, |_, entries| list(entries, request.json)),
        Action::Check => of_store(request, |store, entries| {
            some(request, entries)?;
            check_all(store, entries, request.last as usize, request.json)
        }),
        Action::Plot => of_store(request, |store, entries| {
            some(request, entries)?;
            let to = Destination::new(request.files[0].as_path());
            Ok(to.write(&plot::page(store, entries)?))
        }),
    };
    result.unwrap_or_else(|message| {
        pellucid_profile::say!("oshprof: {message}");
        ExitCode::from(FAILED)
    })
}

/// Whether there is anything to look at: of a store in which nothing can be read nobody knows whether it is well.
fn some(request: &Request, entries: &[store::Entry]) -> Result<(), String> {
    if entries.is_empty() {
        let store = visible_path(&request.store);
        return Err(format!("{store}: no run can be read there: oshprof history add DIR --commit SHA adds one"));
    }
    Ok(())
}

/// Does something with the entries that were asked for.
fn of_store(
    request: &Request,
    act: impl FnOnce(&Store, &[store::Entry]) -> Result<ExitCode, String>,
) -> Result<ExitCode, String> {
    let store = Store::open(&request.store)?;
    let branch = Some(request.facts.branch.as_str()).filter(|branch| !branch.is_empty());
    let entries = store.all(branch)?;
    act(&store, &entries)
}

fn add(request: &Request, dirs: &[PathBuf], facts: &RunMetadata) -> Result<ExitCode, String> {
    let symbols = Resolver::default();
    let places = Places::new(&symbols);
    let runs: Vec<Run> = dirs.iter().map(|dir| Run::read(dir, &places)).collect::<Result<_, _>>()?;
    if let Some((run, failure)) = runs.iter().find_map(|run| Some((run, run.failure()?))) {
        return Err(format!("{}: {failure}: later runs cannot be compared with it", run.dir.display()));
    }
    let store = Store::make(&request.store)?;
    let (runs, copies) = same::without_copies(&runs.iter().collect::<Vec<_>>());
    copies.iter().for_each(|note| pellucid_profile::say!("oshprof: {note}"));
    let (suite, is_new) = store.add(&runs, facts)?;
    let what = if is_new { "added to" } else { "is already in" };
    Ok(print(&shown_text(&format!("{} {what} {} as `{suite}`", facts.commit, request.store.display())).add_line()))
}

trait Line {
    fn add_line(self) -> String;
}

impl Line for String {
    fn add_line(mut self) -> String {
        self.push('\n');
        self
    }
}

fn list(entries: &[store::Entry], json: bool) -> Result<ExitCode, String> {
    if json {
        let list: Vec<_> = entries.iter().map(store::Entry::to_json).collect();
        return Ok(print(&format!("{:#}\n", serde_json::json!({ "schema_version": 1, "runs": list }))));
    }
    let mut out = String::new();
    for entry in entries {
        let time = pellucid_profile::report::shown_date(entry.time.saturating_mul(1_000_000_000));
        let run = entry.metrics.get("run").map_or("-".to_owned(), |ns| shown_time(ns.round()));
        let (commit, counts, branch) = (short(&entry.commit), &entry.counts[..8], of_branch(&entry.branch));
        let line = format!("{time}  {commit:<12}  {run:>8}  counts {counts}  {}{branch}", entry.suite);
        out.push_str(&shown_text(&line).add_line());
    }
    Ok(print(&out))
}

/// Digits of a whole hash, at least: SHA-1 has 40. What is shorter somebody has cut already.
const SHORTEST_HASH: usize = 40;

/// A commit as people name it: hashes are cut, other names are told by their ends, too.
pub fn short(commit: &str) -> &str {
    let is_hash = commit.len() >= SHORTEST_HASH && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { &commit[..12] } else { commit }
}

/// A branch behind the name of a suite; nothing where it is not known.
pub fn of_branch(branch: &str) -> String {
    if branch.is_empty() { String::new() } else { format!(" of branch {branch}") }
}

fn check_all(store: &Store, entries: &[store::Entry], last: usize, json: bool) -> Result<ExitCode, String> {
    let check::Checked { findings, notes } = check::all(store, entries)?;
    let is_new = |finding: &&check::Finding| finding.age < last;
    let fails = findings.iter().filter(is_new).any(check::Finding::fails);
    let unknown = findings.iter().filter(is_new).find(|finding| finding.is_unknown());
    let (verdict, status) = match unknown {
        _ if fails => ("regression", REGRESSION),
        Some(_) => ("unknown", FAILED),
        None => ("ok", 0),
    };
    let text = if json {
        let list: Vec<_> = findings.iter().map(check::Finding::to_json).collect();
        let all = serde_json::json!({ "schema_version": 1, "verdict": verdict, "findings": list, "notes": notes });
        format!("{all:#}\n")
    } else {
        let mut out: String = findings.iter().map(|finding| shown_text(&finding.text()).add_line()).collect();
        out.extend(notes.iter().map(|note| shown_text(&format!("note: {note}")).add_line()));
        let plural = if findings.len() == 1 { "" } else { "s" };
        out.push_str(&format!("{verdict}: {} finding{plural}\n", findings.len()));
        out
    };
    let printed = print(&text);
    if let Some(why) = unknown.and_then(|finding| finding.unread.as_ref()) {
        pellucid_profile::say!("oshprof: {why}");
    }
    Ok(if printed == ExitCode::SUCCESS { ExitCode::from(status) } else { printed })
}
