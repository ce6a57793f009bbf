//! Who started this process: our launcher, another one, or nobody.
#![allow(unsafe_code)]

use super::detect::Launcher;
use super::job::Job;
use super::neighbours;
use super::oshrun::Oshrun;
use super::pmi_socket::Door;
use super::pmi1::Pmi1;
use super::pmi2::Pmi2;
use super::pmix::Pmix;
use super::reminder::{self, Reminder};
use super::rendezvous::{self, MakeProfile, Member, Shared};
use super::ring::HostRing;
use super::wireup::Wireup;
use crate::base::{Cause, Fault};
use crate::os::{mmap, process};
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;

/// What this process was given.
pub struct Launch {
    /// The job file, mapped.
    pub job: Job,
    /// The profile segment, where the launcher or the host's first PE holds one.
    pub profile: Option<OwnedFd>,
    /// This process in the job.
    pub pe: u32,
    /// Whether a launcher is there to end the job.
    pub launched: bool,
    /// How PEs of different hosts find each other, and the way to another's launcher; `None`: our launcher, and the job
    /// is all on this host, or no launcher.
    pub wireup: Option<Arc<dyn Wireup>>,
    /// Which launcher this is and how it was recognized, for people.
    pub how: String,
    /// The connections to the hosts next to this one, under another's launcher and in the first PE of a host.
    pub ring: Option<HostRing>,
    /// Says that others do not come, until it is dropped: the PEs of all hosts meet once more.
    pub reminder: Option<Reminder>,
}

pub(super) const JOB: &str = "PELLUCID_JOB_FD";
const PROFILE: &str = "PELLUCID_PROFILE_FD";
const PE: &str = "PELLUCID_PE";
const NPES: &str = "PELLUCID_NPES";
const WIREUP: &str = "PELLUCID_WIREUP_FD";
/// Which PE of which job this process became, with its number: what it starts inherits that.
const IS: &str = "PELLUCID_IS";

/// Whether this process is started as a PE by our launcher.
pub fn is_of_oshrun() -> bool {
    std::env::var_os(JOB).is_some()
}

/// Joins the job that the environment describes, or makes one of a single PE. `connected` is told of another's launcher
/// as soon as there is one: from then on it has to hear how this process ends. `profile` makes a profile segment where
/// the launcher is none of ours.
pub fn find(profile: MakeProfile, connected: impl Fn(Arc<dyn Wireup>)) -> Result<Launch, Fault> {
    is_first_program()?;
    let launcher = Launcher::find()?;
    let found = launcher.evidence();
    match launcher {
        Launcher::None => {
            let how = format!("no launcher ({found})");
            Ok(Launch {
                job: Job::new(0..1, 1)?,
                profile: None,
                pe: 0,
                launched: false,
                wireup: None,
                how,
                ring: None,
                reminder: None,
            })
        }
        Launcher::Oshrun => ours(&found),
        Launcher::Pmix { rank } => {
            let mark = format!("{}.{rank}=", std::env::var("PMIX_NAMESPACE").unwrap_or_default());
            is_this_process(&mark)?;
            let pmix = Pmix::connect(rank)?;
            remember(&mark);
            let how = format!("PMIx ({found}; {})", pmix.version());
            let advice = if pmix.job().starts_with("slurm.") { reminder::SRUN } else { reminder::MPIRUN };
            join(pmix, profile, connected, how, advice)
        }
        Launcher::Pmi2 { door, rank } => {
            let pmi = Pmi2::connect(&door, rank)?;
            remember(&format!("{found}="));
            join(pmi, profile, connected, format!("PMI-2 ({found})"), reminder::SRUN)
        }
        Launcher::Pmi1(given) if matches!(given.door, Door::Port(..)) => {
            let mark = format!("{found}=");
            is_this_process(&mark)?;
            let pmi = Pmi1::connect(&given)?;
            remember(&mark);
            join(pmi, profile, connected, format!("PMI-1 ({found})"), reminder::HYDRA)
        }
        // A descriptor is closed in what this process starts.
        Launcher::Pmi1(given) => {
            let pmi = Pmi1::connect(&given)?;
            remember(&format!("{found}="));
            join(pmi, profile, connected, format!("PMI-1 ({found})"), reminder::HYDRA)
        }
    }
}

/// Meets the PEs of this host under another's launcher.
fn join<M: Member + 'static>(
    member: M,
    profile: MakeProfile,
    connected: impl Fn(Arc<dyn Wireup>),
    how: String,
    advice: &'static str,
) -> Result<Launch, Fault> {
    let member = Arc::new(member);
    connected(member.clone());
    let reminder = || Reminder::new(member.pe(), member.npes(), advice);
    let first = reminder();
    rendezvous::locate(&*member)?;
    let listener = neighbours::listen(&*member)?;
    let Shared { job, profile } = rendezvous::share_job(&*member, profile)?;
    drop(first);
    let ring = neighbours::close_ring(&*member, listener);
    let reminder = reminder();
    let pe = member.pe();
    if let Err(other) = job.pe(pe).claim(process::id()) {
        return Err(Fault::from(Cause::Startup(format!("PE {pe} is process {other} already"))));
    }
    let local = member.local();
    let how = format!(
        "{how}: PE {pe} of {}, PEs {} to {} on host {}",
        member.npes(),
        local.start,
        local.end - 1,
        process::host_name()
    );
    Ok(Launch { job, profile, pe, launched: true, wireup: Some(member), how, ring, reminder })
}

fn closed(variable: &str, fd: i32) -> Fault {
    Fault::from(Cause::Startup(format!(
        "{variable}={fd} is not an open descriptor: something between oshrun and this program closed it (Python's \
         subprocess does: close_fds=False)"
    )))
}

/// Joins the job that oshrun made.
///
/// Takes the variables out of the environment: a program that this one starts is no PE of the job.
fn ours(found: &str) -> Result<Launch, Fault> {
    let fd = number(JOB)?;
    let job_fd = mmap::inherited(fd).ok_or_else(|| closed(JOB, fd))?;
    mmap::close_on_exec(&job_fd);
    let job = Job::open(job_fd)?;
    let pe = number(PE)? as u32;
    let npes = number(NPES)? as u32;
    if !job.pes().contains(&pe) || npes != job.npes() {
        return Err(Fault::from(Cause::Startup(format!(
            "{PE}={pe} and {NPES}={npes} do not fit a job of {} PEs with {:?} on this host",
            job.npes(),
            job.pes()
        ))));
    }
    if let Err(other) = job.pe(pe).claim(process::id()) {
        return Err(Fault::from(Cause::Startup(format!(
            "PE {pe} is process {other} already: start a further OpenSHMEM program from within a PE with its own oshrun"
        ))));
    }
    let profile = match std::env::var_os(PROFILE) {
        Some(_) => mmap::inherited(number(PROFILE)?),
        None => None,
    };
    if let Some(fd) = &profile {
        mmap::close_on_exec(fd);
    }
    let wireup = wireup(&job, pe)?;
    remember(&format!("oshrun.{pe}="));
    // With the ranks that oshrun sets for tools, what a launcher further out has left would make a PE of its job.
    for name in [JOB, PROFILE, PE, NPES, WIREUP, "PMIX_NAMESPACE", "PMI_FD", "PMI_PORT"] {
        // SAFETY: called from shmem_init, before the library has threads; a program that reads its environment in
        // another thread at this moment would race with any setenv of its own as well.
        unsafe { std::env::remove_var(name) };
    }
    if super::detect::is_counted() {
        // A program that this one starts is none of the processes that a launcher further out counts, either.
        // SAFETY: as above.
        unsafe { std::env::set_var("SHMEM_SINGLETON", "1") };
    }
    let pes = job.pes();
    let how = format!(
        "oshrun ({found}): PE {pe} of {npes}, PEs {} to {} on host {}",
        pes.start,
        pes.end - 1,
        process::host_name()
    );
    Ok(Launch { job, profile, pe, launched: true, wireup, how, ring: None, reminder: None })
}

/// The job of our launcher and the PE in it, for one that cannot join it: what it has to say others may have, too.
pub fn before_joining() -> Option<(Job, u32)> {
    let (fd, pe) = (number(JOB).ok()?, number(PE).ok()? as u32);
    let job = Job::open(mmap::inherited(fd)?).ok()?;
    job.pes().contains(&pe).then_some((job, pe))
}

/// The connection to the launcher, where there are other hosts.
fn wireup(job: &Job, pe: u32) -> Result<Option<Arc<dyn Wireup>>, Fault> {
    if std::env::var_os(WIREUP).is_none() {
        return Ok(None);
    }
    let fd = number(WIREUP)?;
    let socket = mmap::inherited(fd).ok_or_else(|| closed(WIREUP, fd))?;
    mmap::close_on_exec(&socket);
    Ok(Some(Arc::new(Oshrun::new(socket, job, pe))))
}

/// A program that a PE started has inherited all of its variables, but is not that PE.
fn is_this_process(mark: &str) -> Result<(), Fault> {
    let inherited = std::env::var(IS).ok();
    let before = inherited.as_deref().and_then(|value| value.strip_prefix(mark)).map(parts);
    match before.filter(|(before, _)| *before != identity()).map(|(pid, _)| pid.split('.').next().unwrap_or(pid)) {
        None => Ok(()),
        Some(pid) => Err(Fault::from(Cause::Startup(format!(
            "process {pid} is this PE already: start a further OpenSHMEM program from within a PE with its own \
             launcher, or with SHMEM_BOOTSTRAP=none as a job of one PE"
        )))),
    }
}

fn remember(mark: &str) {
    // SAFETY: as in `ours`.
    unsafe { std::env::set_var(IS, format!("{mark}{}.{:x}", identity(), process::image())) };
}

/// What this process keeps when it replaces its program, and no other has: its number, and when it was started.
fn identity() -> String {
    format!("{}.{}", process::id(), process::start_time())
}

/// The process that a value names, and the program in it.
fn parts(value: &str) -> (&str, &str) {
    value.rsplit_once('.').unwrap_or((value, ""))
}

/// A PE that replaces its program (`exec`) has lost its memory and its connections: the others would wait for it for
/// ever, and it would be alone in a job of its own. So would another copy of the library in one process be.
fn is_first_program() -> Result<(), Fault> {
    let before = std::env::var(IS).ok();
    let before = before.as_deref().and_then(|value| value.rsplit_once('=')).map(|(_, before)| parts(before));
    let Some((_, image)) = before.filter(|(before, _)| *before == identity()) else { return Ok(()) };
    let is_same = process::image() != 0 && image == format!("{:x}", process::image());
    Err(Fault::from(Cause::Startup(if is_same {
        "another copy of the library in this process has made it a PE already: the program and what it loads have to \
         use the same libsma.so.1 (a program that is linked with -static or libsma.a has a copy of its own, as each \
         namespace of dlmopen has)"
            .into()
    } else {
        "this process was a PE already when it replaced its program (exec): a PE can do that before shmem_init \
         only, and starts a further OpenSHMEM program as a process of its own"
            .into()
    })))
}

fn number(name: &str) -> Result<RawFd, Fault> {
    let value = std::env::var(name).unwrap_or_default();
    value.parse().ok().filter(|n| *n >= 0).ok_or_else(|| {
        Fault::from(Cause::Environment { name: name.into(), value, reason: "expected a number, set by oshrun".into() })
    })
}
