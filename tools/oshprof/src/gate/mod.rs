//! `oshprof gate`: runs two versions of a program in pairs and says whether the new one got worse.
//!
//! | module | what it is |
//! |---|---|
//! | `command` | a command that is run again and again, each time with a profile |
//! | `order` | which of a pair comes first |
//! | `interrupt` | Ctrl-C meanwhile |
//! | `machine` | what the times depend on beside the program |
//! | `calibrate` | what the noise of this machine lets one see |
//! | `baseline` | the same against a store of counts |

mod baseline;
mod calibrate;
mod command;
mod interrupt;
pub mod machine;
mod order;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueHint};
use pellucid_cli::{string, text};

use crate::compare::metric;
use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::compare::verdict::{self, Comparison};
use crate::diff::Options;
use crate::progress::Bar;
use crate::resolve::Resolver;
use crate::stats::sequence;
use crate::{FAILED, USAGE, emit};
use command::{Failure, Program};

// Not as documentation: that of what is flattened would take its place.
const ABOUT: &str = "run two versions in pairs: is one worse?";
const LONG: &str = "\
Runs both commands (as `oshrun -n 8 ./program`) in pairs, each with a profile, and compares: communication exactly, \
    times by a test of the pairs. It looks after 10, 14, 20, 28 and 40 pairs and stops when it knows. With --baseline \
    the command is run twice and compared with what `oshprof history add` kept; STORE is a directory.";
const END: &str = "\
Exit status: 0 no regression, 1 a run failed, 2 wrong usage, 3 regression, 4 not comparable (with --strict: or \
    inconclusive).";

/// `oshprof gate`.
#[derive(Debug, Args)]
#[command(about = ABOUT, long_about = LONG, after_help = END)]
#[command(override_usage = "oshprof gate [OPTIONS] --base CMD --new CMD
       oshprof gate [OPTIONS] --baseline STORE[:BRANCH] CMD")]
pub struct Request {
    /// what to run, as the shell takes it
    #[arg(long, value_name = "CMD", value_parser = string())]
    base: Option<String>,
    /// what to compare it with
    #[arg(long, value_name = "CMD", value_parser = string())]
    new: Option<String>,
    /// what to run and compare with the store, as the shell takes it
    #[arg(value_name = "CMD", value_parser = string(), conflicts_with = "new", value_hint = ValueHint::Other)]
    command: Option<String>,
    /// a history to compare with
    #[arg(long, value_name = "STORE", value_hint = ValueHint::DirPath)]
    baseline: Option<OsString>,
    /// at least and at most so many pairs (12 or more can find it slower)
    #[arg(long, value_name = "A..B", value_parser = text(pairs), default_value = "10..40")]
    pairs: (usize, usize),
    /// run the base against itself: how loud is this machine, and what can be seen on it
    #[arg(long)]
    calibrate: bool,
    /// with --baseline: what was added by this name (default: program, PEs and arguments)
    #[arg(long, value_name = "NAME", value_parser = string(), requires = "baseline")]
    suite: Option<String>,
    /// keep the profiles
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// order of the pairs
    #[arg(long, value_name = "N", value_parser = text(number), default_value = "1")]
    seed: u64,
    /// end a run after so long
    #[arg(long, value_name = "TIME", value_parser = text(limit), default_value = "600")]
    limit: Duration,
    #[command(flatten, next_help_heading = "As of oshprof diff")]
    options: Options,
}

impl Request {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        match (self.base.is_some(), self.new_command().is_some(), self.baseline.is_some(), self.calibrate) {
            (true, true, false, false) | (true, _, false, true) | (false, true, true, false) => self.options.check(),
            _ => Err("needs --base CMD and --new CMD, or --calibrate --base CMD, or --baseline STORE CMD".to_owned()),
        }
    }

    /// The command of the new version.
    fn new_command(&self) -> Option<&str> {
        self.new.as_deref().or(self.command.as_deref())
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

fn limit(text: &str) -> Result<Duration, String> {
    pellucid_cli::duration(text).ok_or_else(|| format!("expected a time: {}", pellucid_cli::TIMES))
}

/// `10..40`, or one number for both.
fn pairs(text: &str) -> Result<(usize, usize), String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let number = |part: &str| part.trim().parse::<usize>().ok();
    match (number(least), number(most)) {
        (Some(a), Some(b)) if a <= b && (metric::FEWEST..=1000).contains(&b) => Ok((a.max(metric::FEWEST), b)),
        _ => Err("expected A..B with 10 to 1000 pairs (fewer rule out nothing; slower takes 12)".to_owned()),
    }
}

/// Runs, compares, reports.
pub fn run(mut request: Request) -> ExitCode {
    if let Err(message) = request.options.finish() {
        pellucid_profile::say!("oshprof: {message}");
        return ExitCode::from(USAGE);
    }
    interrupt::install();
    let result = match (&request.baseline, request.calibrate) {
        (Some(store), _) => baseline::run(&request, store),
        (None, true) => calibrate::run(&request),
        (None, false) => both(&request),
    };
    result.unwrap_or_else(|failure| {
        pellucid_profile::say!("oshprof: {failure}");
        match failure {
            Failure::Interrupted(signal) => ExitCode::from(128_u8.saturating_add(signal as u8)),
            _ => ExitCode::from(FAILED),
        }
    })
}

fn both(request: &Request) -> Result<ExitCode, Failure> {
    let (base, new) = (request.base.as_deref().unwrap_or_default(), request.new_command().unwrap_or_default());
    let facts = machine::facts();
    let mut runner = Runner::new(request, base, new)?;
    // The first pair reads the programs from disk: it is dropped.
    runner.pair(0)?;
    runner.forget();
    let looks = sequence::looks(request.pairs.0, request.pairs.1);
    let mut found = Comparison::default();
    for look in looks {
        while runner.runs[0].len() < look {
            runner.pair(look)?;
        }
        found = runner.compare(request);
        if !found.reasons.is_empty() || is_decided(&found) {
            break;
        }
    }
    let changed = machine::changes(&facts, &machine::facts());
    if !changed.is_empty() {
        found.reasons.extend(changed);
        found.decide(&request.options.rules, true);
    }
    for (side, name) in found.sides.iter_mut().zip([base, new]) {
        side.name = name.to_owned();
        side.facts.extend(facts.iter().cloned());
    }
    found.notes.extend(machine::doubts(&facts, found.sides[1].shape.npes));
    let [base, new] = runner.runs.each_ref().map(|runs| runs.iter().collect::<Vec<&Run>>());
    Ok(emit::all(&found, &base, &new, &request.options.output))
}

fn is_decided(found: &Comparison) -> bool {
    let tested: Vec<_> = found.metrics.iter().filter(|m| m.primary).filter_map(|m| m.tested).collect();
    sequence::is_decided(&tested)
}

/// Two programs that are run in turn.
struct Runner {
    programs: [Program; 2],
    runs: [Vec<Run>; 2],
    order: order::Order,
    symbols: Resolver,
    bar: Bar,
}

impl Runner {
    fn new(request: &Request, base: &str, new: &str) -> Result<Runner, Failure> {
        let folder = command::Folder::new(request.keep.as_deref())?;
        let programs = command::pair(base, new, folder, request.limit)?;
        Ok(Runner {
            programs,
            runs: [Vec::new(), Vec::new()],
            order: order::Order::new(request.seed),
            symbols: Resolver::default(),
            bar: Bar::new("pairs"),
        })
    }

    /// Runs both, in the order whose turn it is.
    fn pair(&mut self, of: usize) -> Result<(), Failure> {
        let new_first = self.order.new_is_first();
        for side in if new_first { [1, 0] } else { [0, 1] } {
            let places = Places::new(&self.symbols);
            let run = self.programs[side].run(&places)?;
            self.runs[side].push(run);
        }
        self.bar.show(self.runs[0].len(), of);
        Ok(())
    }

    fn forget(&mut self) {
        self.runs.iter_mut().for_each(Vec::clear);
    }

    fn compare(&self, request: &Request) -> Comparison {
        let [base, new] = self.runs.each_ref().map(|runs| runs.iter().collect::<Vec<&Run>>());
        verdict::compare(&base, &new, true, &request.options.rules)
    }
}
