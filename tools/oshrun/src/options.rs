//! The options of `oshrun`: what each is called, takes and does. Parser, help, manual page and completion are made of
//! this; names of other launchers are aliases here, or a matter of [`crate::foreign`].

use crate::bind::Wanted;
use crate::debugger;
use crate::files;
use crate::foreign::{Foreign, MapBy};
use crate::hosts::allocation::Allocation;
use crate::hosts::list::{self, Host};
use crate::metrics;
use crate::settings::Variable;
use crate::values;
use clap::{ArgAction, Parser, ValueHint};
use pellucid_cli::{file, parsed, text};
use pellucid_profile::companion::Destinations;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const HOSTS: &str = "Hosts";
pub(crate) const PLACEMENT: &str = "Placement";
const OUTPUT: &str = "Output";
const PROFILE: &str = "Profile and trace";
const METRICS: &str = "Metrics";

// Not as documentation: that of what is flattened would take its place.
const ABOUT: &str = "run a program as the PEs of an OpenSHMEM job";
const LONG: &str = "Runs PROGRAM as the PEs of one OpenSHMEM job, on this host or on several.";
const NOTES: &str = "\
PROGRAM is looked up in PATH unless it contains a slash. PE 0 reads the standard input. Output is forwarded in whole \
    lines (of up to 16 MiB). Signals sent to oshrun go to every PE. SIGQUIT (Ctrl-\\) first says what each PE does and \
    who waits for whom; SIGUSR1 says so where no PE handles or ignores it, and then ends nothing.

Options of mpirun, mpiexec and srun are understood where they mean something here (docs/launchers.md): -np N is --np N.

Exit status: that of the first PE that ends with a nonzero one, or of shmem_global_exit; 128 + N where a signal N \
    ended that PE; 124 after --timeout; 126 and 127 where PROGRAM cannot be run or found; 2 for a wrong option; 1 \
    where the job cannot be set up (memory, files, metrics; nothing was run then), or a host is lost or cannot be \
    reached.";

/// Hosts, as one value.
pub type HostList = Vec<Host>;
/// Numbers of PEs, as one value.
pub type PeList = Vec<u32>;
/// Words of a command, as one value.
pub type CommandWords = Vec<String>;
/// `--profile`: the level, settings as the variables that they stand for, and the directory.
pub type ProfileValue = (ProfileChoice, Vec<Variable>, Option<PathBuf>);

/// What the user asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// Run a job.
    Run(Box<Options>),
    /// Say how a job would be run.
    Info(Box<Options>),
    /// Measure what calls take.
    Calibrate(Box<Options>),
}

/// A job, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "oshrun", version = concat!("(Pellucid) ", env!("CARGO_PKG_VERSION"), ", OpenSHMEM 1.6"))]
#[command(about = ABOUT, long_about = LONG, after_help = NOTES)]
#[command(override_usage = "oshrun [OPTIONS] [--] PROGRAM [ARGUMENT]...")]
pub struct Options {
    /// number of PEs (default 1; with hosts: as many as they have slots)
    #[arg(
        short = 'n', long = "np", aliases = ["n", "ntasks", "num-procs"], value_name = "N",
        value_parser = parsed(values::pes)
    )]
    pub pes_given: Option<u32>,
    /// set VAR in the environment of the PEs (without a value: pass it on as it is); may be given several times
    #[arg(
        short = 'x', short_alias = 'e', alias = "env", value_name = "VAR[=VALUE]",
        value_parser = parsed(values::export)
    )]
    pub exports: Vec<(OsString, Option<OsString>)>,
    /// run the PEs in this directory
    #[arg(long, short_alias = 'D', aliases = ["wd", "chdir"], value_name = "DIR", value_parser = parsed(values::path))]
    pub wdir: Option<PathBuf>,
    /// end the job after this time, say what each PE was doing, and exit with 124; seconds, or 500ms, 5s, 2m, 1h, 1:30
    /// (minutes:seconds), 1:00:00
    #[arg(long, value_name = "TIME", value_parser = parsed(values::seconds))]
    pub timeout: Option<Duration>,
    /// symmetric heap of a PE: a number with an optional suffix k, m, g or t (sets SHMEM_SYMMETRIC_SIZE)
    #[arg(long, value_name = "SIZE", value_parser = parsed(values::size))]
    pub heap: Option<(String, u64)>,
    /// check more arguments, at some cost (sets SHMEM_DEBUG)
    #[arg(long)]
    pub check: bool,
    /// a PE that is killed by a signal, or a host that is lost, does not end the job: the others are told, and go on;
    /// the status is theirs. An exit with another status than 0 and shmem_global_exit end it (docs/extensions.md)
    #[arg(long)]
    pub survive: bool,
    /// load a PSHMEM tool, a shared object, into every PE; several times: each one's pshmem_ calls go to the next one's
    /// shmem_ routines (sets SHMEM_TOOLS)
    #[arg(long = "tool", value_name = "FILE", value_parser = parsed(values::tool), value_hint = ValueHint::FilePath)]
    pub tools: Vec<PathBuf>,
    /// go on without a tool that cannot be loaded (sets SHMEM_TOOLS_OPTIONAL)
    #[arg(long)]
    pub tool_optional: bool,
    /// run a PE (0 unless named) under gdb, in this terminal; several, or where this is no terminal: each in a window
    /// of the tmux that oshrun is started in (docs/debugging.md)
    #[arg(
        long, value_name = "PE,...", value_parser = parsed(debugger::pes),
        num_args = 0..=1, require_equals = true, default_missing_value = ""
    )]
    pub gdb: Option<PeList>,
    /// print what would be used: launcher, hosts and their PEs; start nothing
    #[arg(long)]
    pub info: bool,

    /// run on these hosts, as A:SLOTS,B,..., each with a block of consecutive PEs: as its SLOTS say, or an even share
    /// of -n where it has no number (docs/launchers.md)
    #[arg(
        long, short_aliases = ['H', 'w'], aliases = ["host", "nodelist"], value_name = "LIST",
        value_parser = text(list::parse), conflicts_with = "hostfile", help_heading = HOSTS
    )]
    pub hosts: Option<HostList>,
    /// the same from a file, a host a line: "name", "name:8" or "name slots=8"
    #[arg(
        long, short_alias = 'f', aliases = ["machinefile", "default-hostfile"], value_name = "FILE",
        value_parser = parsed(values::file), help_heading = HOSTS
    )]
    pub hostfile: Option<PathBuf>,
    /// PEs on each host, whatever its slots
    #[arg(
        long, short_alias = 'N', aliases = ["npernode", "ntasks-per-node", "perhost"], value_name = "N",
        value_parser = parsed(values::pes), help_heading = HOSTS
    )]
    pub ppn: Option<u32>,
    /// how hosts are reached: run as CMD HOST COMMAND ARGUMENT... (default: ssh)
    #[arg(long, value_name = "CMD", value_parser = parsed(values::words), help_heading = HOSTS)]
    pub launch_agent: Option<CommandWords>,

    /// `--bind` and `--cores-per-pe`.
    #[command(flatten)]
    pub bind: Wanted,

    /// begin every line of output with the number of its PE, as in "[3] "
    #[arg(
        long, short_alias = 'l', aliases = ["tag-output", "prepend-rank", "output-label"], help_heading = OUTPUT
    )]
    pub label: bool,
    /// a file for the output of each PE: %p in its name stands for the number of the PE, %h for its host, %j for the
    /// job, %s for out or err (without it both go to one file); directories are made
    #[arg(
        long, short_alias = 'o', aliases = ["output-filename", "outfile-pattern"], value_name = "FILE",
        value_parser = text(files::pattern), help_heading = OUTPUT
    )]
    pub output: Option<String>,

    /// print the profile when the job ends (stderr) and write it to a directory; LEVEL is 1 unless given (sets
    /// SHMEM_PROFILE){n}
    /// - off: record nothing{n}
    /// - DIR: as --profile-dir; --profile=DIR where there is a command of that name{n}
    /// - LEVEL,NAME=VALUE...: sampling, long, sites, counters, trace-start, trace-detail (set SHMEM_PROFILE_SAMPLING
    ///   and so on: docs/environment.md)
    #[arg(
        long = "profile", value_name = "LEVEL|off|DIR", value_parser = parsed(values::profile), help_heading = PROFILE,
        num_args = 0..=1, require_equals = true, default_missing_value = "", action = ArgAction::Append
    )]
    pub profile_values: Vec<ProfileValue>,
    /// directory for the profile, as --profile writes it; never overwritten (default: pellucid-PROGRAM.prof in the
    /// current directory)
    #[arg(long, value_name = "DIR", value_parser = parsed(values::path), help_heading = PROFILE)]
    pub profile_dir: Option<PathBuf>,
    /// run the job with its profile, then once more without and with the same input, and print what profiling cost:
    /// the difference from the first PE's start to the last one's end (level 1 unless --profile says another)
    #[arg(long, help_heading = PROFILE)]
    pub profile_cost: bool,
    /// count page-faults, context-switches, cycles ... around library calls and regions (docs/counters.md; sets
    /// SHMEM_COUNTERS, and --profile where not given)
    #[arg(long = "counters", value_name = "NAME,...", value_parser = parsed(values::counters), help_heading = PROFILE)]
    pub settings: Vec<Variable>,
    /// write every call to a trace (default: pellucid-PROGRAM.trace; never overwritten); oshprof trace DIR converts it
    /// (sets SHMEM_TRACE){n}
    /// - DIR: --trace=DIR; behind a space it is the program where there is a command of that name
    #[arg(
        long, value_name = "DIR", value_parser = file(PathBuf::from), help_heading = PROFILE,
        num_args = 0..=1, require_equals = true, default_missing_value = ""
    )]
    pub trace: Option<PathBuf>,
    /// run no program: measure for a second what puts, gets and atomics take on this host, or with --hosts A,B between
    /// two, and keep it for oshprof report --view rates; with -n N also what the algorithms of collectives take at N
    /// PEs, for oshprof advise
    #[arg(long, help_heading = PROFILE)]
    pub calibrate: bool,

    /// serve the job's metrics to Prometheus (default: 127.0.0.1:9745), until it has seen the last ones
    /// (docs/metrics.md; sets SHMEM_METRICS, as do the others)
    #[arg(
        long = "metrics", value_name = "ADDR", value_parser = parsed(metrics::address), help_heading = METRICS,
        num_args = 0..=1, require_equals = true, default_missing_value = ""
    )]
    pub metrics_serve: Option<String>,
    /// write the metrics to FILE every 15 s, at snapshots and at the end, for node_exporter's textfile collector, which
    /// reads names that end with .prom; %h in the name is the host
    #[arg(long, value_name = "FILE", value_parser = parsed(values::file_name), help_heading = METRICS)]
    pub metrics_file: Option<String>,
    /// send the metrics to a collector of OpenTelemetry or to a Pushgateway; otlp: where the OTEL_ variables say
    #[arg(long, value_name = "URL|otlp", value_parser = parsed(metrics::target), help_heading = METRICS)]
    pub metrics_push: Option<String>,
    /// delete the job from the Pushgateway when it ends
    #[arg(long, requires = "metrics_push", help_heading = METRICS)]
    pub metrics_push_forget: bool,
    /// serve a page for a browser that shows the job while it runs, on this host only
    #[arg(long, help_heading = METRICS)]
    pub dashboard: bool,

    /// The program and its arguments.
    #[arg(hide = true, value_name = "PROGRAM", trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    pub words: Vec<OsString>,

    /// Number of PEs, at least 1.
    #[arg(skip = 1_u32)]
    pub pes: u32,
    /// Hosts get more PEs than slots where there are to be more.
    #[arg(skip)]
    pub oversubscribe: bool,
    /// What a batch system has given, where neither option says which hosts.
    #[arg(skip)]
    pub allocation: Option<Allocation>,
    /// What is profiled.
    #[arg(skip = ProfileChoice::Silent)]
    pub profile: ProfileChoice,
    /// What becomes of metrics.
    #[arg(skip)]
    pub metrics: Destinations,
    /// The program, as given.
    #[arg(skip)]
    pub program: OsString,
    /// Its arguments.
    #[arg(skip)]
    pub args: Vec<OsString>,
}

/// What to profile, and whether to show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileChoice {
    /// Record as the environment says; show nothing.
    Silent,
    /// Record nothing.
    Off,
    /// Record at this level; print the table and write the directory.
    Level(i32),
}

impl ProfileChoice {
    /// Whether a profile is recorded, and whether by call site and peer, for it is kept.
    pub fn detailed(self) -> Option<bool> {
        match self {
            Self::Off => None,
            Self::Silent => Some(false),
            Self::Level(_) => Some(true),
        }
    }
}

impl Options {
    /// Takes over the directories for profile and trace that the environment names, as under other launchers; options
    /// come first.
    pub fn take_over(&mut self, profile_dir: Option<OsString>, trace: Option<OsString>) {
        if self.trace.is_none() && self.profile != ProfileChoice::Off {
            self.trace = trace.filter(|name| !name.is_empty()).map(PathBuf::from);
        }
        let Some(directory) = profile_dir.filter(|name| !name.is_empty()) else { return };
        if self.profile_dir.is_some() || self.profile == ProfileChoice::Off {
            return;
        }
        self.profile_dir = Some(directory.into());
        if self.profile == ProfileChoice::Silent {
            self.profile = ProfileChoice::Level(1);
        }
    }
}

/// Whether these arguments are those of mpirun for several programs: `: -n 1 ./other`.
fn has_second_program(args: &[OsString]) -> bool {
    let number = ["-n", "-np", "--np", "-c"];
    args.windows(2).any(|pair| pair[0] == ":" && number.iter().any(|option| pair[1] == *option))
}

/// What the options come to together. Error: what is wrong with them.
pub fn finish(mut options: Options, foreign: &Foreign) -> Result<Request, String> {
    let (command, given) = (std::mem::take(&mut options.words), std::mem::take(&mut options.profile_values));
    let mut command = command.into_iter();
    (options.program, options.args) = (command.next().unwrap_or_default(), command.collect());
    for (profile, settings, directory) in given {
        options.profile = profile;
        options.settings.extend(settings);
        options.profile_dir = directory.or(options.profile_dir.take());
    }
    options.oversubscribe = foreign.oversubscribe;
    if let Some(MapBy { ppn, cores, oversubscribe }) = foreign.map_by {
        options.ppn = ppn.or(options.ppn);
        options.bind.cores = cores.or(options.bind.cores);
        options.oversubscribe |= oversubscribe;
    }
    options.metrics = Destinations {
        serve: options.metrics_serve.take(),
        file: options.metrics_file.take(),
        push: options.metrics_push.take(),
        forget: options.metrics_push_forget,
        page: options.dashboard,
    };
    // PEs of each host, of which there is this one.
    let ppn = options.ppn.filter(|_| options.hosts.is_none() && options.hostfile.is_none());
    options.pes = options.pes_given.or(ppn).unwrap_or(1);
    if options.info {
        return Ok(Request::Info(Box::new(options)));
    }
    if options.calibrate {
        return match options.program.is_empty() {
            true => Ok(Request::Calibrate(Box::new(options))),
            false => Err("--calibrate and a program exclude each other".into()),
        };
    }
    if options.program.is_empty() {
        return Err("no program given".into());
    }
    if has_second_program(&options.args) {
        return Err("`:`: a job has one program: a script that starts one or the other by PELLUCID_PE \
                    (docs/launchers.md)"
            .into());
    }
    let of_profile = of_profile(&options);
    match (options.profile, of_profile) {
        (ProfileChoice::Off, Some(option)) => return Err(format!("--profile off and {option} exclude each other")),
        (ProfileChoice::Silent, Some("--counters" | "--profile-dir")) => options.profile = ProfileChoice::Level(1),
        _ => {}
    }
    Ok(Request::Run(Box::new(options)))
}

/// An option that is nothing without a profile.
fn of_profile(options: &Options) -> Option<&'static str> {
    let Destinations { serve, file, push, page, .. } = &options.metrics;
    let asked = [
        (options.settings.iter().any(|(name, _)| *name == "SHMEM_COUNTERS"), "--counters"),
        (options.profile_dir.is_some(), "--profile-dir"),
        (serve.is_some(), "--metrics"),
        (file.is_some(), "--metrics-file"),
        (push.is_some(), "--metrics-push"),
        (*page, "--dashboard"),
        (options.trace.is_some(), "--trace"),
        (options.profile_cost, "--profile-cost"),
    ];
    asked.into_iter().find(|(asked, _)| *asked).map(|(_, option)| option)
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
