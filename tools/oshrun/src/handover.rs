//! The profile, handed over to the exporter of metrics that runs on this host, where one does: `oshprof serve`.

use crate::profile::Profile;
use pellucid_profile::clock::realtime_ns;
use pellucid_profile::segment::handover;
use std::env;
use std::ffi::OsString;

pub use pellucid_profile::segment::handover::{Handover, JOB_VARIABLE};

/// What tells this job from others.
pub fn job_id() -> String {
    handover::job_id(|name| env::var_os(name), &handover::host(), std::process::id(), realtime_ns())
}

/// Hands the profile over. `environment`: that of the PEs, which names the job on every host.
pub fn offer(profile: &Profile, environment: &[(OsString, OsString)]) -> Option<Handover> {
    let facts = facts(environment);
    let about = facts.each_ref().map(|(name, value)| (*name, value.as_str()));
    Handover::offer(profile.as_fd(), &handover::sockets(|name| variable(environment, name)), &about)
}

/// What an exporter is told of the job.
pub fn facts(environment: &[(OsString, OsString)]) -> [(&'static str, String); 3] {
    let variable = |name: &str| variable(environment, name);
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
    [("job_id", text(JOB_VARIABLE)), ("step", handover::step(variable)), ("launcher", "oshrun".into())]
}

/// As the PEs have it.
fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    let of_pes = environment.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.clone());
    of_pes.or_else(|| env::var_os(name))
}

/// Says how the job ended.
pub fn end(handover: Option<Handover>, status: i32) {
    if let Some(handover) = handover {
        handover.end(&[("state", handover::state(status))]);
    }
}
