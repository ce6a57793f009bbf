//! One job from the first system call to the exit status.

use crate::cpus;
use crate::debugger::{self, Debugger};
use crate::handover;
use crate::hosts::allocation::{self, Found};
use crate::hosts::list::{Placement, Wish};
use crate::hosts::{agent, head, info, list};
use crate::input::Relay;
use crate::metrics;
use crate::options::Options;
use crate::pes::Pes;
use crate::plan::{self, Environment, Plan};
use crate::profile::{self, Profile};
use crate::program::{self, CannotRun};
use crate::results::{self, ProfileOutput};
use crate::signals;
use crate::spawn::Launch;
use crate::supervise::Supervisor;
use crate::sys::epoll::Epoll;
use crate::sys::limit::{self, Limit};
use crate::sys::process;
use crate::sys::signal::{Reader, Set};
use crate::tools;
use crate::watchdog::Watchdog;
use pellucid_core::bootstrap::job::Job;
use pellucid_core::transport::registry::{self, Wanted};
use pellucid_profile::segment::JobInfo;
use pellucid_profile::text::visible;
use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Descriptors that a PE costs the launcher: two pipes, two files of `--output`, claims on the two hardware threads of
/// its core, its way to other hosts. A host costs no more.
const DESCRIPTORS: u64 = 7;
/// Descriptors for everything else, with room for the ends of pipes that exist for a moment.
const SPARE: u64 = 32;

/// Why there is no job.
pub struct Failure {
    /// Exit status.
    pub status: i32,
    /// What to say.
    pub message: String,
}

impl Failure {
    /// Something in the options that cannot be.
    fn usage(message: String) -> Self {
        Self { status: crate::USAGE, message }
    }

    /// Something that the launcher needs and the system does not give.
    pub fn needs(what: &str, error: impl Display) -> Self {
        Self { status: 1, message: format!("cannot {what}: {error}") }
    }
}

/// How a job went.
pub struct Outcome {
    /// Its exit status.
    pub status: i32,
    /// From the start of the first PE to the end of the last, without what is done before and after.
    pub ran: Duration,
}

/// The options with the hosts that a batch system has given, where they name none themselves; and what was found, for
/// people.
fn in_allocation(options: &Options) -> Result<(Options, String), Failure> {
    let named = options.hosts.is_some() || options.hostfile.is_some();
    match allocation::find() {
        Ok(Found::Hosts(found)) if !named => {
            let text = found.text();
            Ok((Options { allocation: Some(found), ..options.clone() }, text))
        }
        Ok(found) => {
            let text = match found {
                Found::Nothing => "none (of Slurm, PBS or LSF)".into(),
                Found::Step(step) => format!("{step}: what it starts runs here"),
                Found::Hosts(found) => format!("{}, but the options name other hosts", found.text()),
            };
            Ok((options.clone(), text))
        }
        // Whoever names hosts need not know.
        Err(error) if named => Ok((options.clone(), error)),
        Err(message) => Err(Failure { status: 1, message }),
    }
}

/// Runs a job.
///
/// # Errors
/// Why there is none.
pub fn run(options: &Options) -> Result<Outcome, Failure> {
    let (options, _) = &in_allocation(options)?;
    if let Some(wanted) = list::wanted(options).map_err(Failure::usage)? {
        let placements = list::place(&wanted, &Wish::of(options)).map_err(Failure::usage)?;
        return match placements.as_slice() {
            [only] if agent::is_here(&only.host) && !agrees_by_head(options) => {
                run_on_this_host(&Options { pes: only.pes.end, ..options.clone() })
            }
            _ => run_through_head(options, &placements),
        };
    }
    if agrees_by_head(options) {
        return run_through_head(options, &[Placement { host: "localhost".into(), pes: 0..options.pes }]);
    }
    run_on_this_host(options)
}

/// Runs a job whose PEs are started by daemons.
fn run_through_head(options: &Options, placements: &[Placement]) -> Result<Outcome, Failure> {
    check_placed(options, placements).map_err(Failure::usage)?;
    head::run(options, placements)
}

/// Error: an option is given that shows PEs of this host only.
fn check_placed(options: &Options, placements: &[Placement]) -> Result<(), String> {
    let needs = [("--gdb", options.gdb.is_some()), ("--dashboard", options.metrics.page)];
    let Some((option, _)) = needs.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let all = placements.last().map_or(0, |last| last.pes.end);
    Err(match placements.iter().find(|placement| !agent::is_here(&placement.host)) {
        Some(Placement { host, pes }) => format!(
            "option {option}: all PEs have to be on this host, and PE {} is to be on {host}; with \
             --hosts localhost:{all} they are here",
            pes.start
        ),
        None => format!("option {option}: not with --survive where SHMEM_TRANSPORT has PEs share no memory"),
    })
}

/// Whether PEs of one host that go on without others do not share memory, so that a head makes their agreements.
fn agrees_by_head(options: &Options) -> bool {
    options.survive && share_no_memory(env::vars_os().chain(Environment::new(options, None).set))
}

/// Whether variables, the last of a name counts, have PEs of one host reach each other through the network.
fn share_no_memory(variables: impl Iterator<Item = (OsString, OsString)>) -> bool {
    let last = variables.filter(|(name, _)| name == "SHMEM_TRANSPORT").last();
    last.and_then(|(_, value)| registry::parse(&value.to_string_lossy())).is_some_and(Wanted::is_network_only)
}

/// Says how a job would be run.
pub fn info(options: &Options) -> Result<String, Failure> {
    let oshrun = env::current_exe().map_err(|error| Failure::needs("find the file of oshrun", error))?;
    let (options, found) = &in_allocation(options)?;
    let wanted = list::wanted(options).map_err(Failure::usage)?;
    let placements = wanted.map(|wanted| list::place(&wanted, &Wish::of(options)).map_err(Failure::usage));
    let placements = placements.transpose()?.unwrap_or_default();
    let environment = Environment::new(options, None).set;
    let pes = placements.first().map_or(options.pes as usize, |first| first.pes.len());
    let binding = cpus::bind(pes, &options.bind, plan::threads(&environment).as_deref()).map_err(Failure::usage)?;
    Ok(info::text(options, found, &placements, &oshrun, &binding))
}

/// The program, and whether it is one of this library's.
fn locate(options: &Options) -> Result<PathBuf, Failure> {
    if let Some(directory) = &options.wdir {
        let there = directory.read_dir().map(drop);
        there.map_err(|error| Failure::usage(format!("option --wdir: {}: {error}", directory.display())))?;
    }
    program::locate_from(options.wdir.as_deref(), &options.program)
        .and_then(|file| program::check_library(&options.program, &file).map(|()| file))
        .map_err(|error| Failure { status: error.status(), message: error.to_string() })
}

/// Runs a job that is all on this host.
fn run_on_this_host(options: &Options) -> Result<Outcome, Failure> {
    let file = locate(options)?;
    let limit = raise_limit(options.pes, &format!("option -n: {} PEs", options.pes))?;
    let tools = tools::list(options).map_err(|message| Failure { status: 1, message })?;
    let mut plan = Plan::new(options, file, environment(options, tools)).map_err(Failure::usage)?;
    if let Some(note) = &plan.binding.note {
        pellucid_profile::say!("oshrun: {note}");
    }
    let job = job_file(options)?;
    let companions = metrics::start(&plan.environment)?;
    // The page shows all that there is.
    let page = metrics::wanted(&plan.environment)?.page;
    let detailed = options.profile.detailed().map(|detailed| detailed || page);
    let profile = profile(options, detailed, &mut plan);
    let trace = results::take_trace(options)?;
    let kept = ProfileOutput::take(options)?;
    if let Some(trace) = &trace {
        plan.environment.extend(results::trace_variables(trace)?);
    }
    plan.hand_over(job.fd(), profile.as_ref().map(Profile::fd));

    // From here on, whoever dies is noticed: signals wait to be read, orphans come to us.
    let mask = Set::of(&[]).block();
    let signals = signals::take().map_err(|error| Failure::needs("read signals", error))?;
    process::adopt_orphans();
    let watchdog = Watchdog::start(Duration::ZERO)?;
    let shown = profile.as_ref().filter(|_| detailed.is_some());
    let handover = shown.and_then(|profile| handover::offer(profile, &plan.environment));
    if let Some(profile) = shown {
        metrics::take(&companions, profile);
    }
    let mut supervisor = supervisor(options, job, profile, signals)?;
    supervisor.debugged = plan.debugger.as_ref().and_then(Debugger::in_terminal);
    // Without the thread, a PE that asks for a snapshot goes on without.
    let is_asked = kept.is_some() || !companions.is_empty();
    let profile = supervisor.profile.as_ref().filter(|_| is_asked);
    let snapshots = profile.and_then(|profile| profile.serve(kept.as_ref(), &companions).ok());
    let launch = Launch { plan: &plan, watchdog: watchdog.fd(), limit, mask };
    let refused = start_all(&launch, 0..options.pes, options.label, &mut supervisor).err().map(|error| {
        let error = CannotRun::refused(&options.program, &error);
        (error.status(), error.to_string())
    });
    let status = supervisor.run(watchdog, refused).map_err(|error| Failure::needs("wait for the PEs", error));
    if supervisor.debugged.is_some() {
        debugger::take_terminal_back();
    }
    let status = status?;
    drop(snapshots);
    handover::end(handover, &companions, profile::state(status, supervisor.pes.all()));
    if let Some(directory) = trace {
        let (pes, profile) = (supervisor.pes.all(), supervisor.profile.as_ref());
        let explained = profile.is_some_and(Profile::told_of_trace);
        results::show_trace(&directory, explained, |pe, slot| profile?.unreturned(0, pes, pe, slot));
    }
    if let (Some(kept), Some(profile)) = (kept, &supervisor.profile) {
        let pes = supervisor.pes.all();
        results::show(&kept, |directory| profile.finish(status, pes, directory));
    }
    Ok(Outcome { status, ran: supervisor.ran() })
}

/// The memory in which PEs meet.
fn job_file(options: &Options) -> Result<Job, Failure> {
    let job = Job::create(0..options.pes, options.pes);
    let job = job.map_err(|error| Failure::needs("make the job's shared memory", error))?;
    if options.survive {
        job.survive();
    }
    Ok(job)
}

/// The memory that PEs record in. Where there can be none, the job runs without.
fn profile(options: &Options, detailed: Option<bool>, plan: &mut Plan) -> Option<Profile> {
    let identity = handover::identity(&plan.environment);
    let more = JobInfo { survives: options.survive, identity, ..JobInfo::default() };
    match Profile::create(0..options.pes, options.pes, &options.program, &options.args, detailed, more) {
        Ok(profile) => Some(profile),
        // It would have shown long waits only.
        Err(_) if detailed.is_none() => None,
        Err(error) => {
            results::no_profile(&error, plan);
            None
        }
    }
}

/// What looks after the PEs, none of which is there yet.
fn supervisor(options: &Options, job: Job, profile: Option<Profile>, signals: Reader) -> Result<Supervisor, Failure> {
    let events = |error| Failure::needs("wait for events", error);
    let epoll = Epoll::new().map_err(events)?;
    let mut supervisor = Supervisor::new((epoll, signals), Pes::new(0), job, profile).map_err(events)?;
    supervisor.timeout = options.timeout.map(|timeout| (timeout, Instant::now() + timeout));
    Ok(supervisor)
}

/// Variables for the PEs; says which of `-x` are not set.
pub fn environment(options: &Options, tools: Option<OsString>) -> Vec<(OsString, OsString)> {
    let mut environment = Environment::new(options, tools);
    environment.set.push((handover::JOB_VARIABLE.into(), handover::job_id(&environment.set).into()));
    for name in &environment.unset {
        pellucid_profile::say!(
            "oshrun: option -x: {} is not set, so it is not passed on",
            visible(&name.to_string_lossy())
        );
    }
    environment.set
}

/// Starts every PE of this host. Error: the first that could not be; those before it run.
pub fn start_all(launch: &Launch, pes: Range<u32>, label: bool, supervisor: &mut Supervisor) -> io::Result<()> {
    let now = Instant::now();
    supervisor.ran = Some((now, now));
    for (place, pe) in pes.enumerate() {
        let debugger = launch.plan.debugger.as_ref();
        let has_terminal = debugger.is_some_and(|debugger| debugger.has_terminal(pe));
        let input = match pe {
            _ if has_terminal => Stdio::inherit(),
            0 if !matches!(debugger, Some(Debugger::Terminal(_))) => first_input(supervisor)?,
            _ => Stdio::null(),
        };
        let wireup = supervisor.wireup()?;
        let started = launch.start(pe, place, input, wireup)?;
        supervisor.pes.add(started.pid);
        let label = if label { format!("[{pe}] ") } else { String::new() };
        supervisor.output.add(&label, started.out, started.err, &supervisor.epoll)?;
        if let Some(debugger) = debugger {
            debugger.open(pe, started.pid).map_err(io::Error::other)?;
        }
    }
    Ok(())
}

/// PE 0 inherits our input, or gets what is typed from us.
fn first_input(supervisor: &mut Supervisor) -> io::Result<Stdio> {
    if !io::stdin().is_terminal() {
        return Ok(Stdio::inherit());
    }
    let (reader, writer) = io::pipe()?;
    supervisor.relay = Some(Relay::new(writer)?);
    Ok(reader.into())
}

/// Allows as many open files as so many processes need, which messages call `what`. Returns the limit that PEs are to
/// have: the one from before.
pub fn raise_limit(processes: u32, what: &str) -> Result<Limit, Failure> {
    let before = limit::open_files().map_err(|error| {
        Failure::needs("ask for its limit of open files (getrlimit; a sandbox may forbid prlimit64)", error)
    })?;
    let needed = u64::from(processes) * DESCRIPTORS + SPARE;
    if before.hard < needed {
        let message =
            format!("{what} need {needed} open files in oshrun, and the hard limit is {}: see ulimit -Hn", before.hard);
        return Err(Failure { status: 1, message });
    }
    // Strangers who connect may cost some for a while.
    if before.soft < needed + SPARE {
        limit::set_open_files(Limit { soft: before.hard, hard: before.hard });
    }
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_core::transport::registry::NAMES_BETWEEN_HOSTS;

    #[test]
    fn pes_share_no_memory_where_the_library_says_so() {
        let is = |set: &[(&str, &str)]| {
            share_no_memory(set.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
        };
        for name in NAMES_BETWEEN_HOSTS {
            assert!(is(&[("SHMEM_TRANSPORT", name)]) && is(&[("SHMEM_TRANSPORT", &name.to_uppercase())]));
            assert!(!is(&[("SHMEM_TRANSPORT", name), ("SHMEM_TRANSPORT", "auto")]), "the last one counts");
            assert!(!is(&[("SMA_TRANSPORT", name)]), "the library has no variable of this name");
        }
        assert!(!is(&[]) && !is(&[("SHMEM_TRANSPORT", "auto")]));
    }
}
