//! One job from the first system call to the exit status.

use crate::input::Relay;
use crate::options::{Options, Profile as Choice};
use crate::output::Output;
use crate::pes::Pes;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::program::{self, CannotRun};
use crate::results::{self, Kept};
use crate::signals;
use crate::spawn::Launch;
use crate::supervise::{STREAMS, Supervisor, Verdict};
use crate::sys::epoll::Epoll;
use crate::sys::limit::{self, Limit};
use crate::sys::process;
use crate::sys::signal::Set;
use crate::tools;
use crate::watchdog::Watchdog;
use pellucid_core::bootstrap::job::Job;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

/// Descriptors that a PE costs the launcher: two pipes, and claims on the two hardware threads of its core.
const DESCRIPTORS: u64 = 4;
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
    /// Something that the launcher needs and the system does not give.
    fn needs(what: &str, error: impl Display) -> Self {
        Self { status: 1, message: format!("cannot {what}: {error}") }
    }
}

/// Runs a job; returns its exit status.
pub fn run(options: &Options) -> Result<i32, Failure> {
    let file = program::locate(&options.program)
        .map_err(|error| Failure { status: error.status(), message: error.to_string() })?;
    let limit = raise_limit(options.pes)?;
    let tools = tools::list(options).map_err(|message| Failure { status: 1, message })?;
    let mut plan = Plan::new(options, file, tools);
    for name in &plan.unset {
        eprintln!("oshrun: option -x: {} is not set, so it is not passed on", name.to_string_lossy());
    }
    let job = Job::create(0..options.pes, options.pes)
        .map_err(|error| Failure::needs("make the job's shared memory", error))?;
    let profile = match options.profile {
        Choice::Off => None,
        _ => Some(Profile::create(options).map_err(|error| Failure::needs("make the profile segment", error))?),
    };
    let trace = options.trace.as_deref().and_then(|wanted| results::prepare_trace(options, wanted, &mut plan));
    plan.hand_over(job.fd(), profile.as_ref().map(Profile::fd));

    // From here on, whoever dies is noticed: signals wait to be read, orphans come to us.
    let mask = Set::of(&[]).block();
    let signals = signals::take().map_err(|error| Failure::needs("read signals", error))?;
    process::adopt_orphans();
    let watchdog = Watchdog::start().map_err(|error| Failure::needs("start the watchdog process", error))?;
    let started = Instant::now();
    let epoll = Epoll::new().map_err(|error| Failure::needs("wait for events", error))?;
    let output = Output::new(STREAMS).map_err(|error| Failure::needs("wait for events", error))?;
    let mut supervisor = Supervisor {
        epoll,
        signals,
        output,
        pes: Pes::default(),
        job,
        profile,
        relay: None,
        timeout: options.timeout.map(|timeout| (timeout, started + timeout)),
        verdict: Verdict::default(),
    };
    let kept = matches!(options.profile, Choice::Level(_)).then(|| Arc::new(Kept::new(options)));
    // Without the thread, a PE that asks for a snapshot goes on without.
    let snapshots = kept.as_ref().and_then(|kept| supervisor.profile.as_ref()?.serve(kept).ok());
    let launch = Launch { plan: &plan, watchdog: watchdog.fd(), limit, mask };
    let refused = start_all(&launch, options, &mut supervisor).err().map(|error| {
        let error = CannotRun::refused(&options.program, &error);
        (error.status(), error.to_string())
    });
    let status = supervisor.run(watchdog, refused).map_err(|error| Failure::needs("wait for the PEs", error))?;
    drop(snapshots);
    if let Some(directory) = trace {
        results::show_trace(&directory);
    }
    if let (Some(kept), Some(profile)) = (kept, &supervisor.profile) {
        results::show(&kept, profile, status, supervisor.pes.all());
    }
    Ok(status)
}

/// Starts every PE. Error: the first that could not be; those before it run.
fn start_all(launch: &Launch, options: &Options, supervisor: &mut Supervisor) -> io::Result<()> {
    for pe in 0..options.pes {
        let input = if pe == 0 { first_input(supervisor)? } else { Stdio::null() };
        let started = launch.start(pe, input)?;
        supervisor.pes.add(started.pid);
        let label = if options.label { format!("[{pe}] ") } else { String::new() };
        supervisor.output.add(&label, started.out, started.err, &supervisor.epoll)?;
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

/// Allows as many open files as the job needs. Returns the limit that PEs are to have: the one from before.
fn raise_limit(pes: u32) -> Result<Limit, Failure> {
    let before = limit::open_files();
    let needed = u64::from(pes) * DESCRIPTORS + SPARE;
    if before.hard < needed {
        let message = format!(
            "option -n: {pes} PEs need {needed} open files in oshrun, and the hard limit is {}: see ulimit -Hn",
            before.hard
        );
        return Err(Failure { status: 1, message });
    }
    if before.soft < needed {
        limit::set_open_files(Limit { soft: before.hard, hard: before.hard });
    }
    Ok(before)
}
