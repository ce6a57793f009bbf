//! A daemon: from its first line of input to where its PEs run.

mod contact;

use super::agent::Invitation;
use super::key_values::DaemonKeyValues;
use super::link::Link;
use super::message::Order;
use super::snapshots::HostSnapshots;
use crate::bind::{Bind, Wanted};
use crate::cpus::{self, Binding};
use crate::files;
use crate::handover;
use crate::job::{Failure, raise_limit, start_all};
use crate::metrics;
use crate::pes::Pes;
use crate::plan::{self, Plan};
use crate::profile::{self, Profile};
use crate::program::{self, CannotRun};
use crate::results;
use crate::signals;
use crate::spawn::Launch;
use crate::supervise::remote::Remote;
use crate::supervise::{LINK, Supervisor};
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::limit::Limit;
use crate::sys::signal::Set;
use crate::sys::{net, process};
use crate::watchdog::Watchdog;
use contact::{Waiting, connect, first_line};
use pellucid_core::base::text::visible_lines;
use pellucid_core::bootstrap::job::Job;
use pellucid_profile::companion::Companions;
use pellucid_profile::model::JobIdentity;
use pellucid_profile::output::OutputDir;
use pellucid_profile::segment::{JobInfo, Origin};
use std::env;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The option that makes an `oshrun` a daemon. Not for users.
pub const OPTION: &str = "--daemon";

/// Runs a daemon; returns its exit status. What goes wrong before there is a connection is told on standard error,
/// which the agent shows to the head.
pub fn run() -> i32 {
    match try_run() {
        Ok(status) => status,
        Err(failure) => {
            pellucid_profile::say!("oshrun: {}", visible_lines(&failure.message));
            failure.status
        }
    }
}

fn try_run() -> Result<i32, Failure> {
    let failed = |message: String| Failure { status: 1, message };
    let line = first_line();
    let invitation = Invitation::parse(&line).ok_or_else(|| {
        failed(format!(
            "{OPTION} is for oshrun's own use on other hosts: the first line of input is not what it expects"
        ))
    })?;
    let mask = Set::of(&[]).block();
    let signals = signals::take().map_err(|error| Failure::needs("read signals", error))?;
    let watchdog = Watchdog::start(Duration::ZERO)?;
    let epoll = Epoll::new().map_err(|error| Failure::needs("wait for events", error))?;
    let stream = connect(&invitation, &signals).map_err(failed)?;
    // From now on it is the connection that tells of the head's end: there is something to do then.
    process::outlive_parent();
    let mut link = Link::new(stream, LINK, &epoll).map_err(|error| Failure::needs("use the connection", error))?;
    link.trust();
    epoll.add(&signals, 0, Interest::Read).map_err(|error| Failure::needs("wait for events", error))?;
    let mut waiting = Waiting { link, epoll, signals, host: invitation.name };
    let Some((order, said)) = waiting.order()? else {
        watchdog.stop();
        return Ok(0);
    };
    let ready = match prepare(&order) {
        Ok(ready) => ready,
        Err(failure) => {
            watchdog.stop();
            return waiting.refuse(&failure);
        }
    };
    let Waiting { link, epoll, signals, .. } = waiting;
    // Not before: what serves metrics is to be nobody's child.
    process::adopt_orphans();
    epoll.remove(&signals);
    let pes = order.first..order.first + order.pes;
    let snapshots = ready.profile.as_ref().filter(|_| order.profile == Some(true));
    // Without the thread, a PE that asks for a snapshot goes on without.
    let snapshots = snapshots.and_then(|profile| HostSnapshots::serve(profile.as_fd(), &ready.companions).ok());
    let remote = remote(&order, link, ready.trace, snapshots);
    let mut supervisor = Supervisor::new((epoll, signals), Pes::new(order.first), ready.job, ready.profile)
        .map_err(|error| Failure::needs("wait for events", error))?;
    supervisor.remote = Some(remote);
    let shown = supervisor.profile.as_ref().filter(|_| order.profile.is_some());
    let handover = shown.and_then(|profile| handover::offer(profile, &ready.plan.environment));
    if let Some(profile) = shown {
        metrics::take(&ready.companions, profile);
    }
    let launch = Launch { plan: &ready.plan, watchdog: watchdog.fd(), limit: ready.limit, mask };
    let started = start_all(&launch, pes, order.label, &mut supervisor);
    supervisor.show_start();
    said.into_iter().for_each(|message| supervisor.obey(message));
    let refused = started.and_then(|()| supervisor.poll_wireups()).err().map(|error| {
        let error = CannotRun::refused(&order.program, &error);
        (error.status(), format!("host {}: {error}", order.host))
    });
    let status = supervisor.run(watchdog, refused).map_err(|error| Failure::needs("wait for the PEs", error))?;
    handover::end(handover, &ready.companions, profile::state(status, supervisor.pes.all()));
    Ok(status)
}

/// What this host has to do with the one that `oshrun` was started on.
fn remote(order: &Order, link: Link, trace: Option<OutputDir>, snapshots: Option<HostSnapshots>) -> Remote {
    let pes = order.first..order.first + order.pes;
    Remote {
        link,
        host: order.host.clone(),
        key_values: DaemonKeyValues::new(pes, order.hosts.clone()),
        wireups: Vec::new(),
        prompt: order.prompt,
        trace,
        told: false,
        lost: false,
        deaf: false,
        begun: false,
        collect: None,
        over: false,
        snapshots,
    }
}

/// What PEs are started with.
struct Ready {
    plan: Plan,
    limit: Limit,
    job: Job,
    profile: Option<Profile>,
    trace: Option<OutputDir>,
    companions: Arc<Companions>,
}

/// The memory that the PEs record in: with the begin of the job, and its name, as the head knows them.
fn profile_of(order: &Order, pes: Range<u32>) -> io::Result<Profile> {
    let origin =
        Origin { counter_ns: order.start_counter_ns, realtime_ns: order.start_realtime, launcher_pid: order.root_pid };
    let identity = JobIdentity { step: order.step.clone(), ..handover::identity(&order.environment) };
    let more = JobInfo { survives: order.survive, origin: Some(origin), identity, ..JobInfo::default() };
    Profile::create(pes, order.npes, &order.program, &order.args, order.profile, more)
}

fn prepare(order: &Order) -> Result<Ready, Failure> {
    let at = |text: String| format!("host {}: {text}", order.host);
    let needs = |what: &str, error: &dyn std::fmt::Display| {
        let message = at(format!("cannot {what}: {error}"));
        Failure { status: 1, message }
    };
    env::set_current_dir(&order.directory).map_err(|error| {
        needs(&format!("change to the job's working directory {}", order.directory.to_string_lossy()), &error)
    })?;
    let path = order.environment.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = path.or_else(|| env::var_os("PATH")).unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let file = program::locate_in(&order.program, &path)
        .and_then(|file| program::check_library(&order.program, &file).map(|()| file))
        .map_err(|error| Failure { status: error.status(), message: at(error.to_string()) })?;
    let pes = order.first..order.first + order.pes;
    let job = job_file(order).map_err(|error| needs("make the job's shared memory", &error))?;
    let profile = match profile_of(order, pes.clone()) {
        Ok(profile) => Some(profile),
        // It would have shown long waits only.
        Err(_) if order.profile.is_none() => None,
        Err(error) => return Err(needs("make the profile segment", &error)),
    };
    let trace = match order.trace {
        true => Some(trace_directory().map_err(|error| needs("write the trace", &error))?),
        false => None,
    };
    let refused = |message: String| Failure { status: 2, message: at(message) };
    let binding = binding(order, pes.len()).map_err(refused)?;
    let files = match order.output.as_str() {
        "" => Vec::new(),
        pattern => files::open(pattern, pes.clone(), plan::job_id(&order.environment)).map_err(refused)?,
    };
    let mut environment = order.environment.clone();
    if let Some(trace) = &trace {
        environment.extend(results::trace_variables(trace)?);
    }
    let mut plan = Plan {
        file,
        program: order.program.clone(),
        args: order.args.clone(),
        binding,
        environment,
        directory: None,
        files,
        debugger: None,
    };
    plan.hand_over(job.fd(), profile.as_ref().map(Profile::fd));
    let companions = match profile {
        Some(_) => {
            metrics::start(&order.environment).map_err(|failure| Failure { message: at(failure.message), ..failure })?
        }
        None => Arc::default(),
    };
    let limit = raise_limit(order.pes, &at(format!("{} PEs", order.pes)))?;
    Ok(Ready { plan, limit, job, profile, trace, companions })
}

/// The memory in which this host's PEs meet.
fn job_file(order: &Order) -> io::Result<Job> {
    let job = Job::create(order.first..order.first + order.pes, order.npes)?;
    if order.survive {
        job.survive();
    }
    Ok(job)
}

fn binding(order: &Order, pes: usize) -> Result<Binding, String> {
    let bind = Some(&order.bind).filter(|bind| !bind.is_empty()).map(|bind| Bind::parse(bind));
    let wanted = Wanted { bind: bind.transpose()?, cores: Some(order.cores).filter(|cores| *cores > 0) };
    cpus::bind(pes, &wanted, plan::threads(&order.environment).as_deref())
}

/// A directory of this host: the files go to the head at the end.
fn trace_directory() -> Result<OutputDir, Box<dyn std::error::Error>> {
    let name = format!("pellucid-trace-{}-{}", process::id(), net::secret()?);
    Ok(OutputDir::take_private(&env::temp_dir().join(name))?)
}
