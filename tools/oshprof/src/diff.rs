//! `oshprof diff`: what differs between two sets of profiles.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::text::with_our_quotes;

use crate::FAILED;
use crate::args::Command;
use crate::compare::accept;
use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::compare::verdict::{self, CountsMode, Rules};
use crate::destination::Destination;
use crate::emit::{self, Output, OutputForm};
use crate::resolve::Resolver;

const HELP: &str = "\
usage: oshprof diff BASE... -- NEW... [options]

Compares profiles of two versions of a program: BASE and NEW are directories
that `oshrun --profile` wrote. Communication is compared exactly; give two runs
of each side, so that what varies from run to run is known.

  --json, --markdown     the form of the output (default: a table)
  --html FILE            all of it in one file for a browser
  --junit FILE           as a test report (both: - is standard output, which
                         then has nothing else)
  --counts fail|warn|off what more calls or bytes are: a regression (default), a
    remark, not looked at
  --varying              counts that vary from run to run may fail as well
  --pair                 the runs are pairs, in their order: test times (10 of
                         each side at least; 12 can find it slower)
  --min-effect P         least effect on time that matters (default 2%)
  --metric M             what decides on time: run, library, waiting,
                         region:NAME (repeat for several; default: the first
                         three)
  --accept FILE          changes that are accepted (default:
                         .pellucid-perf.toml)
  --scale                jobs of different numbers of PEs: compare calls by PE
  --any-arguments        compare although the arguments of the programs differ
  --strict               not to know is a failure
  --id NAME              name in the first line of Markdown, by which a bot
                         finds its comment
  -h, --help             this text

Exit status: 0 no regression, 1 a profile could not be read, 2 wrong usage, 3
regression, 4 not comparable (with --strict: or inconclusive).
";

/// `oshprof diff`.
#[derive(Debug)]
pub struct Request {
    base: Vec<PathBuf>,
    new: Vec<PathBuf>,
    paired: bool,
    options: Options,
}

/// What `diff` and `gate` have in common.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How to compare.
    pub rules: Rules,
    /// File of what is accepted, where named.
    pub accept: Option<PathBuf>,
    /// Where to write what.
    pub output: Output,
    metrics: Vec<String>,
}

impl Options {
    /// Understands an option; gives false for one that it does not know.
    ///
    /// # Errors
    /// What is wrong with its value.
    pub fn take(&mut self, command: &str, name: &str, parser: &mut Parser) -> Result<bool, String> {
        // Names of files may be anything.
        let mut raw = || parser.value().map_err(|_| format!("{command}: --{name} needs a value"));
        let mut value = || raw()?.string().map_err(|error| format!("{command}: --{name}: {error}"));
        let failed = |error| format!("{command}: {error}");
        match name {
            "json" => self.output.ask_for(OutputForm::Json).map_err(failed)?,
            "markdown" => self.output.ask_for(OutputForm::Markdown).map_err(failed)?,
            "html" => self.output.html = Some(Destination::new(raw()?)),
            "junit" => self.output.junit = Some(Destination::new(raw()?)),
            "id" => self.output.id = value()?,
            "counts" => {
                self.rules.counts = match value()?.as_str() {
                    "fail" => CountsMode::Fail,
                    "warn" => CountsMode::Warn,
                    "off" => CountsMode::Off,
                    other => {
                        return Err(format!("{command}: --counts `{other}` is unknown; there are: fail, warn, off"));
                    }
                }
            }
            "varying" => self.rules.varying = true,
            "scale" => self.rules.scale = true,
            "any-arguments" => self.rules.any_arguments = true,
            "strict" => self.rules.strict = true,
            "min-effect" => self.rules.min_effect = share(command, &value()?)?,
            "metric" => self.metrics.push(metric(command, value()?)?),
            "accept" => self.accept = Some(raw()?.into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self, command: &str) -> Result<(), String> {
        self.output.on_standard_output().map(drop).map_err(|error| format!("{command}: {error}"))
    }

    /// Reads the file of what is accepted.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn finish(&mut self) -> Result<(), String> {
        self.rules.accepts = accept::read(self.accept.as_deref())?;
        if !self.metrics.is_empty() {
            self.rules.primary = std::mem::take(&mut self.metrics);
        }
        Ok(())
    }
}

fn metric(command: &str, name: String) -> Result<String, String> {
    if crate::compare::metric::PRIMARY.contains(&name.as_str())
        || name.strip_prefix("region:").is_some_and(|n| !n.is_empty())
    {
        return Ok(name);
    }
    Err(format!("{command}: --metric `{name}` is unknown; there are: run, library, waiting, region:NAME"))
}

/// `2%` or `0.02`.
fn share(command: &str, text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|value| value / 100.0),
        None => text.trim().parse().ok(),
    };
    number
        .filter(|value| (0.0..1.0).contains(value))
        .ok_or_else(|| format!("{command}: --min-effect `{text}` is no share such as 2% or 0.02"))
}

/// Understands the rest of the command line.
///
/// # Errors
/// A message that names the argument.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let (mut sides, mut options, mut paired) = ([Vec::new(), Vec::new()], Options::default(), false);
    // What separates the sides is what ends options elsewhere: the arguments are taken apart before.
    let all: Vec<_> = parser.raw_args().map_err(|error| with_our_quotes(&error))?.collect();
    let cut = all.iter().position(|arg| arg == "--");
    let parts = [&all[..cut.unwrap_or(all.len())], cut.map_or(&[][..], |at| &all[at + 1..])];
    for (side, part) in sides.iter_mut().zip(parts) {
        let mut parser = Parser::from_args(part.iter().cloned());
        while let Some(arg) = parser.next().map_err(|error| with_our_quotes(&error))? {
            match arg {
                Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
                Arg::Long("pair") => paired = true,
                Arg::Long(name) => {
                    let name = name.to_owned();
                    if !options.take("diff", &name, &mut parser)? {
                        return Err(format!("diff: invalid option `--{name}`"));
                    }
                }
                Arg::Value(dir) => side.push(PathBuf::from(dir)),
                other => return Err(format!("diff: {}", with_our_quotes(&other.unexpected()))),
            }
        }
    }
    let [base, new] = sides;
    if base.is_empty() || new.is_empty() {
        return Err("diff: profiles of both sides are needed: oshprof diff BASE... -- NEW...".to_owned());
    }
    if paired && base.len() != new.len() {
        return Err(format!("diff: --pair takes as many profiles of each side, not {} and {}", base.len(), new.len()));
    }
    options.check("diff")?;
    Ok(Command::Diff(Request { base, new, paired, options }))
}

/// Compares and reports.
pub fn run(mut request: Request) -> ExitCode {
    if let Err(message) = request.options.finish() {
        pellucid_profile::say!("oshprof: {message}");
        return ExitCode::from(crate::USAGE);
    }
    let symbols = Resolver::default();
    let places = Places::new(&symbols);
    let (Some(base), Some(new)) = (read(&request.base, &places), read(&request.new, &places)) else {
        return ExitCode::from(FAILED);
    };
    let (base, new): (Vec<&Run>, Vec<&Run>) = (base.iter().collect(), new.iter().collect());
    let found = verdict::compare(&base, &new, request.paired, &request.options.rules);
    emit::all(&found, &base, &new, &request.options.output)
}

/// Reads profiles; `None` where one cannot be read, which is told of each.
pub fn read(dirs: &[impl AsRef<Path>], places: &Places<'_>) -> Option<Vec<Run>> {
    let mut runs = Vec::new();
    for dir in dirs {
        match Run::read(dir.as_ref(), places) {
            Ok(run) => runs.push(run),
            Err(problem) => pellucid_profile::say!("oshprof: {problem}"),
        }
    }
    (runs.len() == dirs.len()).then_some(runs)
}
