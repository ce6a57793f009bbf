//! What a job is called: by all that shows it, while it runs and after, on all of its hosts.

use std::ffi::OsString;
use std::io;
use std::os::fd::RawFd;

use super::follow::{header, open};
use super::layout::Header;
use crate::model::JobIdentity;

/// Names the job: set by the launcher for its PEs.
pub const VARIABLE: &str = "PELLUCID_JOB_ID";
/// Set in the PEs of a job: the name in their environment is that of this job, and of no other that they start.
pub const WITHIN_JOB: &str = "PELLUCID_PE";
/// Where batch systems tell the number of their job.
pub const BATCH: [&str; 4] = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"];
/// Characters of a job's identity, and of whatever else its user has named: the rest is cut.
const LONGEST: usize = 64;

impl JobIdentity {
    /// By the variables of its PEs, and what started it: host, process and begin of the job in nanoseconds since 1970.
    /// No host: it has several, and each only knows a process of its own.
    pub fn new(
        variable: impl Fn(&str) -> Option<OsString>,
        launcher: &str,
        begin: (Option<&str>, u32, u64),
    ) -> JobIdentity {
        JobIdentity { id: id(&variable, begin), step: step(&variable), launcher: launcher.to_owned() }
    }
}

impl Header {
    /// Who the job is. Whoever makes a segment can write anything there: each is a label, all the same.
    pub fn identity(&self) -> JobIdentity {
        JobIdentity {
            id: label(&self.job_id.get()),
            step: label(&self.job_step.get()),
            launcher: label(&self.launcher.get()),
        }
    }

    /// What its PEs communicate through. Empty until they have begun.
    pub fn transport(&self) -> String {
        label(&self.transport.get())
    }

    pub(super) fn set_identity(&self, identity: &JobIdentity) {
        self.job_id.set(&identity.id);
        self.job_step.set(&identity.step);
        self.launcher.set(&identity.launcher);
    }
}

/// Says in a segment who its job is. Before anybody reads that.
///
/// # Errors
/// As for reading a segment.
pub fn set_identity(fd: RawFd, identity: &JobIdentity) -> io::Result<()> {
    let (_, mapping) = open(fd)?;
    header(&mapping).set_identity(identity);
    Ok(())
}

/// Says in a segment what its job's PEs communicate through.
///
/// # Errors
/// As for reading a segment.
pub fn set_transport(fd: RawFd, name: &str) -> io::Result<()> {
    let (_, mapping) = open(fd)?;
    header(&mapping).transport.set(name);
    Ok(())
}

/// What tells a job from others: the batch system's number, with its step or, as a batch script may start several jobs,
/// the launcher, where all hosts know that; else host, launcher and second of the start.
fn id(variable: impl Fn(&str) -> Option<OsString>, (host, launcher, start_ns): (Option<&str>, u32, u64)) -> String {
    let text =
        |name| variable(name).map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty());
    if let Some(known) = text(VARIABLE) {
        return label(&known);
    }
    let batch = BATCH.into_iter().find_map(text);
    let id = match (batch, step(&variable)) {
        (Some(id), step) if !step.is_empty() => format!("{id}_{step}"),
        (Some(id), _) if host.is_none() => id,
        (Some(id), _) => format!("{id}_{launcher}"),
        (None, _) => format!("{}-{launcher}-{}", host.unwrap_or("job"), start_ns / 1_000_000_000),
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-[]".contains(c) { c } else { '_' };
    id.chars().map(plain).take(LONGEST).collect()
}

/// What a user has named, as a label of metrics: cut, and on one line.
fn label(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '_' } else { c }).take(LONGEST).collect()
}

/// The batch system's step, or nothing.
fn step(variable: impl Fn(&str) -> Option<OsString>) -> String {
    let value = variable("SLURM_STEP_ID").map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
    // Numbers from 2^32 - 16 on are Slurm's own: batch script, interactive and external step.
    value.parse::<u32>().ok().filter(|&step| step < u32::MAX - 16).map(|step| step.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'a>(pairs: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |wanted| pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| OsString::from(*value))
    }

    #[test]
    fn jobs_are_named_by_their_batch_system() {
        let id = |pairs: &[(&str, &str)]| {
            JobIdentity::new(set(pairs), "oshrun", (Some("n 1"), 71, 1_750_000_000_900_000_000)).id
        };
        assert_eq!(id(&[]), "n_1-71-1750000000");
        assert_eq!(id(&[("SLURM_JOB_ID", "42"), ("SLURM_STEP_ID", "3")]), "42_3");
        assert_eq!(id(&[("SLURM_JOB_ID", "42"), ("SLURM_STEP_ID", "4294967291")]), "42_71");
        assert_eq!(id(&[("PBS_JOBID", "9[1].host")]), "9[1].host_71");
        // Of several hosts, each knows another process.
        let on_several = |pairs: &[(&str, &str)]| JobIdentity::new(set(pairs), "pmix", (None, 71, 1_750_000_000)).id;
        assert_eq!(on_several(&[("PBS_JOBID", "9")]), "9");
        assert_eq!(on_several(&[]), "job-71-1");
        assert_eq!(id(&[("FLUX_JOB_ID", "a\"b\n")]), "a_b__71");
        assert_eq!(id(&[("LSB_JOBID", &"7".repeat(100))]).len(), 64);
        assert_eq!(id(&[("SLURM_JOB_ID", "42"), (VARIABLE, "my job: 7\n")]), "my job: 7_");
        assert_eq!(id(&[(VARIABLE, &"é".repeat(100_000))]), "é".repeat(64));
    }
}
