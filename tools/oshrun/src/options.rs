//! From arguments to [`Options`]: parsing only, nothing is done here.

use crate::bind::{Bind, Wanted};
use crate::debugger;
use crate::files;
use crate::flags::{FLAGS, Flag, Id, Value};
use crate::foreign;
use crate::hosts::allocation::Allocation;
use crate::hosts::list::{self, Host};
use crate::metrics;
use crate::settings::Variable;
use crate::values;
use pellucid_core::base::text::edit_distance;
use pellucid_profile::companion::Destinations;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// What the user asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// Print the help text.
    Help,
    /// Print the version.
    Version,
    /// Run a job.
    Run(Box<Options>),
    /// Say how a job would be run.
    Info(Box<Options>),
    /// Measure what calls take.
    Calibrate(Box<Options>),
}

/// A job, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Number of PEs, at least 1.
    pub pes: u32,
    /// Whether `-n` was given.
    pub pes_given: bool,
    /// `--hosts`.
    pub hosts: Option<Vec<Host>>,
    /// `--hostfile`.
    pub hostfile: Option<PathBuf>,
    /// What a batch system has given, where neither says which hosts.
    pub allocation: Option<Allocation>,
    /// `--launch-agent`: command and arguments.
    pub launch_agent: Option<Vec<String>>,
    /// `--ppn`.
    pub ppn: Option<u32>,
    /// `--info`.
    pub info: bool,
    /// `-x`, in the order given.
    pub exports: Vec<(OsString, Option<OsString>)>,
    /// `--bind` and `--cores-per-pe`.
    pub bind: Wanted,
    /// `--wdir`.
    pub wdir: Option<PathBuf>,
    /// `--output`.
    pub output: Option<String>,
    /// `--label`.
    pub label: bool,
    /// `--timeout`.
    pub timeout: Option<Duration>,
    /// `--heap`: the text, checked, and its meaning in bytes.
    pub heap: Option<(String, u64)>,
    /// `--profile`.
    pub profile: ProfileChoice,
    /// Settings of the profile, as the variables that they stand for.
    pub settings: Vec<Variable>,
    /// `--profile-dir`.
    pub profile_dir: Option<PathBuf>,
    /// `--profile-cost`.
    pub profile_cost: bool,
    /// `--calibrate`.
    pub calibrate: bool,
    /// `--trace`: empty for the usual name.
    pub trace: Option<PathBuf>,
    /// `--metrics` and its kind.
    pub metrics: Destinations,
    /// `--gdb`: these PEs.
    pub gdb: Option<Vec<u32>>,
    /// `--check`.
    pub check: bool,
    /// `--survive`.
    pub survive: bool,
    /// `--tool`, in the order given.
    pub tools: Vec<PathBuf>,
    /// `--tool-optional`.
    pub tool_optional: bool,
    /// The program, as given.
    pub program: OsString,
    /// Its arguments.
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

/// What is wrong with the arguments.
#[derive(Debug, PartialEq, Eq)]
pub enum UsageError {
    /// No such option; the nearest one, where one is near.
    Unknown { option: String, nearest: Option<&'static str> },
    /// An option of another launcher, and what it is called here.
    Foreign { option: String, answer: &'static str },
    /// An option without its value.
    MissingValue { option: &'static str, value: &'static str },
    /// A value for an option that takes none.
    UnwantedValue { option: &'static str, value: String },
    /// A value that the option cannot use.
    BadValue { option: &'static str, value: String, reason: String },
    /// Options that exclude each other.
    Conflict { a: &'static str, b: &'static str },
    /// An option that is nothing without another one.
    Alone { option: &'static str, needs: &'static str },
    /// No program to run.
    NoProgram,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { option, nearest: Some(near) } => {
                write!(f, "unknown option {option} (did you mean {near}?)")
            }
            Self::Unknown { option, nearest: None } => write!(f, "unknown option {option}"),
            Self::Foreign { option, answer } => write!(f, "unknown option {option}: {answer}"),
            Self::MissingValue { option, value } => write!(f, "option {option} needs a value: {option} {value}"),
            Self::UnwantedValue { option, value } => write!(f, "option {option} takes no value, got {value:?}"),
            Self::BadValue { option, value, reason } => write!(f, "option {option}: {value:?}: {reason}"),
            Self::Conflict { a, b } => write!(f, "options {a} and {b} exclude each other"),
            Self::Alone { option, needs } => write!(f, "option {option} needs {needs}"),
            Self::NoProgram => f.write_str("no program given"),
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

/// The next argument, where it is the directory of `--profile DIR` or `--trace DIR` and not the program: it is nothing
/// to run, and what comes behind it is the program or one more option.
fn next_directory(args: &mut (impl Iterator<Item = OsString> + Clone)) -> Option<OsString> {
    let runs = |name: &OsStr| crate::program::locate(name).is_ok();
    let mut ahead = args.clone();
    let first = ahead.next().filter(|first| !first.as_bytes().starts_with(b"-") && !first.is_empty())?;
    let second = ahead.next()?;
    let is_directory = !runs(&first) && (second.as_bytes().starts_with(b"-") || runs(&second));
    if is_directory { args.next() } else { None }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            pes: 1,
            pes_given: false,
            hosts: None,
            hostfile: None,
            allocation: None,
            launch_agent: None,
            ppn: None,
            info: false,
            exports: Vec::new(),
            bind: Wanted::default(),
            wdir: None,
            output: None,
            label: false,
            timeout: None,
            heap: None,
            profile: ProfileChoice::Silent,
            settings: Vec::new(),
            profile_dir: None,
            profile_cost: false,
            calibrate: false,
            trace: None,
            metrics: Destinations::default(),
            gdb: None,
            check: false,
            survive: false,
            tools: Vec::new(),
            tool_optional: false,
            program: OsString::new(),
            args: Vec::new(),
        }
    }
}

/// Whether these arguments are those of mpirun for several programs: `: -n 1 ./other`.
fn has_second_program(args: &[OsString]) -> bool {
    let number = ["-n", "-np", "--np", "-c"];
    args.windows(2).any(|pair| pair[0] == ":" && number.iter().any(|option| pair[1] == *option))
}

/// Reads the arguments that follow the name of the launcher.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request, UsageError> {
    let args: Vec<OsString> = args.into_iter().collect();
    let mut args = args.into_iter().peekable();
    let mut options = Options::default();
    while let Some(arg) = args.next() {
        if arg == "--" {
            options.program = args.next().ok_or(UsageError::NoProgram)?;
            break;
        }
        if !arg.as_bytes().starts_with(b"-") || arg == "-" {
            options.program = arg;
            break;
        }
        let (flag, name, attached) = find(&arg)?;
        let value = match flag.value {
            Value::None => match attached {
                Some(value) => return Err(UsageError::UnwantedValue { option: name, value: lossy(&value) }),
                None => OsString::new(),
            },
            Value::Required(value) => match attached.or_else(|| args.next()) {
                Some(value) => value,
                None => return Err(UsageError::MissingValue { option: name, value }),
            },
            Value::Optional(_) => attached
                .or_else(|| args.next_if(|next| flag.id == Id::Profile && values::looks_like_level(next)))
                .or_else(|| args.next_if(|next| flag.id == Id::Metrics && values::looks_like_address(next)))
                .or_else(|| if matches!(flag.id, Id::Metrics | Id::Gdb) { None } else { next_directory(&mut args) })
                .unwrap_or_default(),
        };
        match flag.id {
            Id::Help => return Ok(Request::Help),
            Id::Version => return Ok(Request::Version),
            // In two words, as Hydra has it.
            Id::Env => {
                let missing = UsageError::MissingValue { option: name, value: "VAR VALUE" };
                options.exports.push((value, Some(args.next().ok_or(missing)?)));
            }
            id => apply(&mut options, id, &value).map_err(|reason| UsageError::BadValue {
                option: name,
                value: lossy(&value),
                reason,
            })?,
        }
    }
    options.args = args.collect();
    finish(options)
}

/// Checks that need all options at once.
fn finish(mut options: Options) -> Result<Request, UsageError> {
    // PEs of each host, of which there is this one.
    if let Some(ppn) =
        options.ppn.filter(|_| !options.pes_given && options.hosts.is_none() && options.hostfile.is_none())
    {
        options.pes = ppn;
    }
    if options.hosts.is_some() && options.hostfile.is_some() {
        return Err(UsageError::Conflict { a: "--hosts", b: "--hostfile" });
    }
    if options.info {
        return Ok(Request::Info(Box::new(options)));
    }
    if options.calibrate {
        return match options.program.is_empty() {
            true => Ok(Request::Calibrate(Box::new(options))),
            false => Err(UsageError::Conflict { a: "--calibrate", b: "a program" }),
        };
    }
    if options.program.is_empty() {
        return Err(UsageError::NoProgram);
    }
    if has_second_program(&options.args) {
        let answer = "a job has one program: a script that starts one or the other by PELLUCID_PE (docs/launchers.md)";
        return Err(UsageError::Foreign { option: "`:`".to_owned(), answer });
    }
    let Destinations { serve, file, push, forget, page } = &options.metrics;
    if *forget && push.is_none() {
        return Err(UsageError::Alone { option: "--metrics-push-forget", needs: "--metrics-push" });
    }
    let asked = [
        (serve.is_some(), "--metrics"),
        (file.is_some(), "--metrics-file"),
        (push.is_some(), "--metrics-push"),
        (*page, "--dashboard"),
    ];
    if let Some((_, b)) = asked.into_iter().find(|(asked, _)| *asked && options.profile == ProfileChoice::Off) {
        return Err(UsageError::Conflict { a: "--profile off", b });
    }
    if options.trace.is_some() && options.profile == ProfileChoice::Off {
        return Err(UsageError::Conflict { a: "--profile off", b: "--trace" });
    }
    if options.profile_cost && options.profile == ProfileChoice::Off {
        return Err(UsageError::Conflict { a: "--profile off", b: "--profile-cost" });
    }
    let has_counters = options.settings.iter().any(|(name, _)| *name == "SHMEM_COUNTERS");
    if options.profile_dir.is_some() || has_counters {
        let b = if has_counters { "--counters" } else { "--profile-dir" };
        match options.profile {
            ProfileChoice::Off => return Err(UsageError::Conflict { a: "--profile off", b }),
            ProfileChoice::Silent => options.profile = ProfileChoice::Level(1),
            ProfileChoice::Level(_) => {}
        }
    }
    Ok(Request::Run(Box::new(options)))
}

/// Puts one option into effect. Error: what is wrong with the value.
fn apply(options: &mut Options, id: Id, value: &OsStr) -> Result<(), String> {
    match id {
        Id::Pes => (options.pes, options.pes_given) = (values::pes(value)?, true),
        Id::Hosts => options.hosts = Some(list::parse(values::text(value)?)?),
        Id::Hostfile => options.hostfile = Some(values::path(value)?),
        Id::LaunchAgent => options.launch_agent = Some(values::words(value)?),
        Id::Ppn => options.ppn = Some(values::pes(value)?),
        Id::Info => options.info = true,
        Id::Export => options.exports.push(values::export(value)?),
        Id::Bind => options.bind.bind = Some(Bind::parse(values::text(value)?)?),
        Id::CoresPerPe => options.bind.cores = Some(values::count(value, "cores")?),
        Id::MapBy => foreign::map_by(options, values::text(value)?)?,
        Id::EnvList => {
            for name in values::text(value)?.split(',') {
                options.exports.push(values::export(OsStr::new(name))?);
            }
        }
        Id::Wdir => options.wdir = Some(values::path(value)?),
        Id::Output => options.output = Some(files::pattern(values::text(value)?)?),
        Id::Label => options.label = true,
        Id::Timeout => options.timeout = Some(values::seconds(value)?),
        Id::Heap => options.heap = Some(values::size(value)?),
        Id::Profile => {
            let (profile, settings, directory) = values::profile(value)?;
            options.profile = profile;
            options.settings.extend(settings);
            options.profile_dir = directory.or(options.profile_dir.take());
        }
        Id::Counters => options.settings.push(values::counters(value)?),
        Id::ProfileCost => options.profile_cost = true,
        Id::Calibrate => options.calibrate = true,
        Id::ProfileDir => options.profile_dir = Some(values::path(value)?),
        Id::Trace if value.is_empty() => options.trace = Some(PathBuf::new()),
        Id::Trace => options.trace = Some(values::path(value)?),
        Id::Metrics => options.metrics.serve = Some(metrics::address(value)?),
        Id::MetricsFile => options.metrics.file = Some(values::text(value)?.to_owned()),
        Id::MetricsPush => options.metrics.push = Some(metrics::target(value)?),
        Id::MetricsPushForget => options.metrics.forget = true,
        Id::Dashboard => options.metrics.page = true,
        Id::Gdb => options.gdb = Some(debugger::pes(value)?),
        Id::Check => options.check = true,
        Id::Survive => options.survive = true,
        Id::Tool => options.tools.push(values::tool(value)?),
        Id::ToolOptional => options.tool_optional = true,
        Id::Help | Id::Version | Id::Env | Id::Nothing => {}
    }
    Ok(())
}

/// The option that an argument names, the spelling used, and the value attached to it (`--name=value`, `-n4`).
fn find(arg: &OsStr) -> Result<(&'static Flag, &'static str, Option<OsString>), UsageError> {
    let bytes = arg.as_bytes();
    let (head, tail) = match bytes.iter().position(|b| *b == b'=') {
        Some(at) => (&bytes[..at], Some(OsString::from_vec(bytes[at + 1..].to_vec()))),
        None => (bytes, None),
    };
    let names = || FLAGS.iter().flat_map(|flag| flag.names.iter().map(move |name| (flag, *name)));
    let others = || foreign::ALIASES.iter().flat_map(|flag| flag.names.iter().map(move |name| (flag, *name)));
    if let Some((flag, name)) = names().chain(others()).find(|(_, name)| name.as_bytes() == head) {
        return Ok((flag, name, tail));
    }
    // `-n4`, `-np4`, `-xVAR=1`: the longest short name that the argument begins with.
    let short = names()
        .filter(|(flag, name)| {
            !name.starts_with("--") && flag.value != Value::None && bytes.starts_with(name.as_bytes())
        })
        .filter(|(flag, name)| flag.id != Id::Pes || bytes[name.len()].is_ascii_digit())
        .max_by_key(|(_, name)| name.len());
    if let Some((flag, name)) = short {
        return Ok((flag, name, Some(OsString::from_vec(bytes[name.len()..].to_vec()))));
    }
    // `-N2`
    if let Some(count) = bytes.strip_prefix(b"-N").filter(|count| count.iter().all(u8::is_ascii_digit))
        && let Some((flag, name)) = others().find(|(_, name)| *name == "-N")
    {
        return Ok((flag, name, Some(OsString::from_vec(count.to_vec()))));
    }
    let option = String::from_utf8_lossy(head).into_owned();
    if let Some(answer) = foreign::answer(&option) {
        return Err(UsageError::Foreign { option, answer });
    }
    // With one dash every letter is a word: nothing is near. Of two, `--labl` and `-label` are near `--label`.
    let near = names().map(|(_, name)| name).filter(|n| n.len() > 3).min_by_key(|n| edit_distance(&option, n));
    Err(UsageError::Unknown { nearest: near.filter(|n| option.len() > 3 && edit_distance(&option, n) <= 2), option })
}

fn lossy(value: &OsStr) -> String {
    value.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
