//! `oshprof diff`: what differs between two sets of profiles.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::FAILED;
use crate::compare::accept;
use crate::compare::place::Places;
use crate::compare::run::Run;
use crate::compare::verdict::{self, Rules};
use crate::emit::{self, Output};
use crate::resolve::Resolver;

// Not as documentation: that of what is flattened would take its place.
const ABOUT: &str = "say what differs between two versions";
const LONG: &str = "\
Compares profiles of two versions of a program: BASE and NEW are directories that `oshrun --profile` wrote. \
    Communication is compared exactly; give two runs of each side, so that what varies from run to run is known.";

/// Exit status of comparisons.
const END: &str = "\
Exit status: 0 no regression, 1 a profile could not be read, 2 wrong usage, 3 regression, 4 not comparable (with \
    --strict: or inconclusive).";

/// What stands for the `--` between the sides, behind which there are options, too: no argument can be that.
const BETWEEN: &str = "\0";

/// `oshprof diff`.
#[derive(Debug, Args)]
#[command(about = ABOUT, long_about = LONG, after_help = END)]
#[command(override_usage = "oshprof diff [OPTIONS] BASE... -- NEW...")]
pub struct Request {
    /// profiles of the older version, and behind -- of the newer one
    #[arg(value_name = "BASE... -- NEW", value_hint = clap::ValueHint::DirPath)]
    sides: Vec<PathBuf>,
    /// the runs are pairs, in their order: test times (10 of each side at least; 12 can find it slower)
    #[arg(long)]
    pair: bool,
    /// jobs of different numbers of PEs: compare calls by PE
    // Not of a gate: pairs of times are of as many PEs.
    #[arg(long)]
    scale: bool,
    #[command(flatten)]
    options: Options,
}

/// What `diff` and `gate` have in common.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Where to write what.
    #[command(flatten)]
    pub output: Output,
    /// How to compare.
    #[command(flatten)]
    pub rules: Rules,
    /// changes that are accepted (default: .pellucid-perf.toml)
    #[arg(long, value_name = "FILE")]
    accept: Option<PathBuf>,
}

impl Options {
    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        self.output.on_standard_output().map(drop)
    }

    /// Reads the file of what is accepted.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn finish(&mut self) -> Result<(), String> {
        self.rules.accepts = accept::read(self.accept.as_deref())?;
        Ok(())
    }
}

/// The arguments with a word for the `--` that separates the sides: it ends options elsewhere.
pub fn separated(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.first().is_some_and(|command| command == "diff")
        && let Some(between) = args.iter_mut().find(|arg| *arg == "--")
    {
        *between = BETWEEN.into();
    }
    args
}

impl Request {
    /// Profiles of the base and of the new version.
    fn sides(&self) -> [&[PathBuf]; 2] {
        let at = self.sides.iter().position(|dir| dir.as_os_str() == OsStr::new(BETWEEN)).unwrap_or(self.sides.len());
        [&self.sides[..at], self.sides.get(at + 1..).unwrap_or_default()]
    }

    /// Whether all that was asked for can be done.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), String> {
        let [base, new] = self.sides();
        if base.is_empty() || new.is_empty() {
            return Err("profiles of both sides are needed: oshprof diff BASE... -- NEW...".to_owned());
        }
        if self.pair && base.len() != new.len() {
            return Err(format!("--pair takes as many profiles of each side, not {} and {}", base.len(), new.len()));
        }
        self.options.check()
    }
}

/// Compares and reports.
pub fn run(mut request: Request) -> ExitCode {
    if let Err(message) = request.options.finish() {
        pellucid_profile::say!("oshprof: {message}");
        return ExitCode::from(crate::USAGE);
    }
    request.options.rules.scale = request.scale;
    let symbols = Resolver::default();
    let places = Places::new(&symbols);
    let [base, new] = request.sides();
    let (Some(base), Some(new)) = (read(base, &places), read(new, &places)) else {
        return ExitCode::from(FAILED);
    };
    let (base, new): (Vec<&Run>, Vec<&Run>) = (base.iter().collect(), new.iter().collect());
    let found = verdict::compare(&base, &new, request.pair, &request.options.rules);
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
