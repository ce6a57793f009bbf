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

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::text::with_our_quotes;

use crate::args;
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

const HELP: &str = "\
usage: oshprof gate [options] --base CMD --new CMD
       oshprof gate [options] --baseline STORE[:BRANCH] CMD

Runs both commands (as `oshrun -n 8 ./program`) in pairs, each with a profile,
and compares: communication exactly, times by a test of the pairs. It looks
after 10, 14, 20, 28 and 40 pairs and stops when it knows. With --baseline the
command is run twice and compared with what `oshprof history add` kept; STORE is
a directory.

  --base CMD, --new CMD  what to run, as the shell takes it
  --pairs A..B           at least and at most so many pairs (default 10..40; 12
                         or more can find it slower)
  --calibrate            run the base against itself: how loud is this machine,
                         and what can be seen on it
  --suite NAME           with --baseline: what was added by this name (default:
                         program, PEs and arguments)
  --keep DIR             keep the profiles
  --seed N               order of the pairs (default 1)
  --limit S              end a run after so many seconds (default 600)
  -h, --help             this text

As of oshprof diff:
  --json, --markdown, --varying, --any-arguments, --strict
  --html FILE, --junit FILE, --accept FILE
  --counts fail|warn|off
  --min-effect P
  --metric M
  --id NAME

Exit status: 0 no regression, 1 a run failed, 2 wrong usage, 3 regression, 4 not
comparable (with --strict: or inconclusive).
";

/// `oshprof gate`.
#[derive(Debug)]
pub struct Request {
    base: Option<String>,
    new: Option<String>,
    baseline: Option<OsString>,
    suite: Option<String>,
    pairs: (usize, usize),
    calibrate: bool,
    keep: Option<PathBuf>,
    seed: u64,
    limit: u64,
    options: Options,
}

/// Understands the rest of the command line.
///
/// # Errors
/// A message that names the argument.
pub fn parse(mut parser: Parser) -> Result<args::Command, String> {
    let mut request = Request {
        base: None,
        new: None,
        baseline: None,
        suite: None,
        pairs: (metric::FEWEST, 40),
        calibrate: false,
        keep: None,
        seed: 1,
        limit: 600,
        options: Options::default(),
    };
    while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
        let name = match arg {
            Arg::Short('h') => return Ok(args::Command::Help(HELP)),
            Arg::Long(name) => name.to_owned(),
            Arg::Value(command) if request.new.is_none() => {
                request.new = Some(command.string().map_err(|error| format!("gate: {error}"))?);
                continue;
            }
            other => return Err(format!("gate: {}", with_our_quotes(&other.unexpected()))),
        };
        // Names of files may be anything.
        let mut raw = || parser.value().map_err(|_| format!("gate: --{name} needs a value"));
        let mut value = || raw()?.string().map_err(|error| format!("gate: --{name}: {error}"));
        match name.as_str() {
            "help" => return Ok(args::Command::Help(HELP)),
            "base" => request.base = Some(value()?),
            "new" => request.new = Some(value()?),
            "baseline" => request.baseline = Some(raw()?),
            "suite" => request.suite = Some(value()?),
            "pairs" => request.pairs = pairs(&value()?)?,
            "calibrate" => request.calibrate = true,
            "keep" => request.keep = Some(raw()?.into()),
            "seed" => request.seed = number(&name, &value()?)?,
            "limit" => request.limit = number(&name, &value()?)?,
            _ if request.options.take("gate", &name, &mut parser)? => {}
            _ => return Err(format!("gate: invalid option `--{name}`")),
        }
    }
    match (&request.base, &request.new, &request.baseline, request.calibrate) {
        (Some(_), Some(_), None, false) | (Some(_), _, None, true) | (None, Some(_), Some(_), false) => {}
        _ => {
            return Err(
                "gate: needs --base CMD and --new CMD, or --calibrate --base CMD, or --baseline STORE CMD".to_owned()
            );
        }
    }
    if request.suite.is_some() && request.baseline.is_none() {
        return Err("gate: --suite is for --baseline".to_owned());
    }
    request.options.check("gate")?;
    Ok(args::Command::Gate(request))
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("gate: --{name} `{text}` is no number"))
}

/// `10..40`, or one number for both.
fn pairs(text: &str) -> Result<(usize, usize), String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let number = |part: &str| part.trim().parse::<usize>().ok();
    match (number(least), number(most)) {
        (Some(a), Some(b)) if a <= b && (metric::FEWEST..=1000).contains(&b) => Ok((a.max(metric::FEWEST), b)),
        _ => Err(format!(
            "gate: --pairs `{text}` is not A..B with 10 to 1000 pairs (fewer rule out nothing; slower takes 12)"
        )),
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
    let (base, new) = (request.base.as_deref().unwrap_or_default(), request.new.as_deref().unwrap_or_default());
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
