//! Who started this process: our launcher, or nobody.
#![allow(unsafe_code)]

use super::job::Job;
use super::oshrun::Oshrun;
use super::wireup::Wireup;
use crate::base::{Cause, Fault};
use crate::os::{mmap, process};
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;

/// What this process was given.
pub struct Launch {
    /// The job file, mapped.
    pub job: Job,
    /// The profile segment, where the launcher holds one.
    pub profile: Option<OwnedFd>,
    /// This process in the job.
    pub pe: u32,
    /// Whether a launcher is there to end the job.
    pub launched: bool,
    /// How PEs of different hosts find each other; `None`: the job is all on this host.
    pub wireup: Option<Arc<dyn Wireup>>,
}

const JOB: &str = "PELLUCID_JOB_FD";
const PROFILE: &str = "PELLUCID_PROFILE_FD";
const PE: &str = "PELLUCID_PE";
const NPES: &str = "PELLUCID_NPES";
const WIREUP: &str = "PELLUCID_WIREUP_FD";

/// Joins the job that the environment describes, or makes one of a single PE.
///
/// Takes the variables out of the environment: a program that this one starts is no PE of the job.
pub fn find() -> Result<Launch, Fault> {
    if std::env::var_os(JOB).is_none() {
        return Ok(Launch { job: Job::new(0..1, 1)?, profile: None, pe: 0, launched: false, wireup: None });
    }
    let fd = number(JOB)?;
    let job_fd = mmap::inherited(fd).ok_or_else(|| {
        Fault::from(Cause::Startup(format!(
            "{JOB}={fd} is not an open descriptor: something between oshrun and this program closed it"
        )))
    })?;
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
    for name in [JOB, PROFILE, PE, NPES, WIREUP] {
        // SAFETY: called from shmem_init, before the library has threads; a program that reads its environment in
        // another thread at this moment would race with any setenv of its own as well.
        unsafe { std::env::remove_var(name) };
    }
    process::end_with_parent();
    Ok(Launch { job, profile, pe, launched: true, wireup })
}

/// The connection to the launcher, where there are other hosts.
fn wireup(job: &Job, pe: u32) -> Result<Option<Arc<dyn Wireup>>, Fault> {
    if std::env::var_os(WIREUP).is_none() {
        return Ok(None);
    }
    let fd = number(WIREUP)?;
    let socket = mmap::inherited(fd).ok_or_else(|| {
        Fault::from(Cause::Startup(format!(
            "{WIREUP}={fd} is not an open descriptor: something between oshrun and this program closed it"
        )))
    })?;
    mmap::close_on_exec(&socket);
    Ok(Some(Arc::new(Oshrun::new(socket, job, pe))))
}

fn number(name: &str) -> Result<RawFd, Fault> {
    let value = std::env::var(name).unwrap_or_default();
    value.parse().ok().filter(|n| *n >= 0).ok_or_else(|| {
        Fault::from(Cause::Environment { name: name.into(), value, reason: "expected a number, set by oshrun" })
    })
}
