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

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::text::{visible, visible_path, with_our_quotes};

use crate::args::Command;
use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::compare::verdict::REGRESSION;
use crate::destination::Destination;
use crate::resolve::Resolver;
use crate::{FAILED, print};
use pellucid_profile::report::{shown_text, shown_time};
use store::{RunMetadata, Store};

const HELP: &str = "\
usage: oshprof history add DIR... --commit SHA [--store S] [options]
       oshprof history list [--store S] [--branch NAME] [--json]
       oshprof history check [--store S] [--branch NAME] [--json] [--last N]
       oshprof history plot FILE [--store S] [--branch NAME]

Keeps what profiles say, commit by commit, in the directory S (default:
.pellucid-history), which may be part of a repository.

  add    adds the profiles in DIR..., which are runs of one program (two tell
         what varies from run to run); runs of one suite and branch are a series
  list   one line a run
  check  which commit changed communication (exactly) or times (change points,
         by a permutation test)
  plot   writes a page for a browser (-: to standard output)

  --store DIR     the store S
  --branch NAME   add: where the commit is; list, check, plot: only the runs of
                  this branch
  -h, --help      this text

add:
  --commit SHA    of the program that was run
  --parent SHA    the commit before it: it comes first, whatever the times are
  --time SECONDS  when, since 1970 (default: now)
  --suite NAME    what the runs are compared with (default: program, PEs and
                  arguments)
  --no-times      counts only: for a baseline in a repository

list, check:
  --json          for scripts
  --last N        check: only what the last N commits of a series brought is a
                  failure, on whatever machine they ran (default 10)

Exit status: 0 no regression, 1 something could not be read or written, 2 wrong
usage, 3 check: a regression.
";

/// `oshprof history`.
#[derive(Debug)]
pub struct Request {
    action: Action,
    store: PathBuf,
    /// Of which only the runs are looked at.
    branch: Option<String>,
    json: bool,
}

#[derive(Debug)]
enum Action {
    Add(Vec<PathBuf>, RunMetadata),
    List,
    Check(usize),
    Plot(Destination),
}

/// Understands the rest of the command line.
///
/// # Errors
/// A message that names the argument.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let (mut words, mut store, mut json, mut last) = (Vec::new(), PathBuf::from(".pellucid-history"), false, 10);
    let mut facts = RunMetadata::default();
    while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
        let name = match arg {
            Arg::Short('h') => return Ok(Command::Help(HELP)),
            Arg::Value(word) => {
                words.push(word);
                continue;
            }
            Arg::Long(name) => name.to_owned(),
            other => return Err(format!("history: {}", with_our_quotes(&other.unexpected()))),
        };
        let mut raw = || parser.value().map_err(|_| format!("history: --{name} needs a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("history: --{name} `{text}` is no number"));
        let mut value = || raw()?.string().map_err(|error| format!("history: --{name}: {error}"));
        match name.as_str() {
            "help" => return Ok(Command::Help(HELP)),
            "store" => store = raw()?.into(),
            "json" => json = true,
            "commit" => facts.commit = commit("commit", value()?)?,
            "parent" => facts.parent = commit("parent", value()?)?,
            "branch" => facts.branch = value()?,
            "suite" => facts.suite = Some(suite(value()?)?),
            "time" => facts.time = Some(seconds(number(&value()?)?)?),
            "no-times" => facts.no_times = true,
            "last" => last = number(&value()?)? as usize,
            _ => return Err(format!("history: invalid option `--{name}`")),
        }
    }
    let branch = Some(facts.branch.clone()).filter(|branch| !branch.is_empty());
    let mut words = words.into_iter();
    let action = words.next().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let rest: Vec<PathBuf> = words.map(PathBuf::from).collect();
    let action = match (action.as_str(), rest.as_slice()) {
        ("add", []) => return Err("history add: the directory of the profile is missing".to_owned()),
        ("add", _) if facts.commit.is_empty() => return Err("history add: --commit SHA is missing".to_owned()),
        ("add", _) if facts.commit == facts.parent => {
            return Err(format!("history add: --parent `{}` is the commit itself", facts.parent));
        }
        ("add", _) => Action::Add(rest, facts),
        ("list", []) => Action::List,
        ("check", []) => Action::Check(last),
        ("plot", [file]) => Action::Plot(Destination::new(file.clone())),
        ("plot", _) => return Err("history plot: one file to write is needed".to_owned()),
        ("list" | "check", [word, ..]) => return Err(format!("history {action}: `{}` is too many", word.display())),
        (other, _) => return Err(format!("history: `{other}` is unknown; there are: add, list, check, plot")),
    };
    Ok(Command::History(Request { action, store, branch, json }))
}

/// A name of a commit; an empty one is none.
fn commit(option: &str, name: String) -> Result<String, String> {
    if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("history: --{option} `{}` is no commit: it has a blank", visible(&name)));
    }
    Ok(name)
}

/// A name of a series.
fn suite(name: String) -> Result<String, String> {
    if name.trim().is_empty() {
        return Err("history: --suite needs a name: without the option it is program, PEs and arguments".to_owned());
    }
    Ok(name)
}

/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

/// A time; milliseconds would be one far behind that of all other runs.
fn seconds(time: u64) -> Result<u64, String> {
    if time > LAST {
        return Err(format!("history: --time {time} is not in seconds since 1970: that is after the year 9999"));
    }
    Ok(time)
}

/// Does it.
pub fn run(request: &Request) -> ExitCode {
    let result = match &request.action {
        Action::Add(dirs, facts) => add(request, dirs, facts),
        Action::List => of_store(request, |_, entries| list(entries, request.json)),
        Action::Check(last) => of_store(request, |store, entries| {
            some(request, entries)?;
            check_all(store, entries, *last, request.json)
        }),
        Action::Plot(to) => of_store(request, |store, entries| {
            some(request, entries)?;
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
    let entries = store.all(request.branch.as_deref())?;
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
    let (suite, is_new) = store.add(&runs.iter().collect::<Vec<_>>(), facts)?;
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

/// A commit as people name it.
pub fn short(commit: &str) -> &str {
    commit.char_indices().nth(12).map_or(commit, |(at, _)| &commit[..at])
}

/// A branch behind the name of a suite; nothing where it is not known.
pub fn of_branch(branch: &str) -> String {
    if branch.is_empty() { String::new() } else { format!(" of branch {branch}") }
}

fn check_all(store: &Store, entries: &[store::Entry], last: usize, json: bool) -> Result<ExitCode, String> {
    let check::Checked { findings, notes } = check::all(store, entries)?;
    let fails = findings.iter().any(|finding| finding.fails() && finding.age < last);
    let verdict = if fails { "regression" } else { "ok" };
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
    Ok(if fails && printed == ExitCode::SUCCESS { ExitCode::from(REGRESSION) } else { printed })
}
