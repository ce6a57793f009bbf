//! The profile, handed over to the exporter of metrics that runs on this host, where one does: `oshprof serve`.

use crate::profile::Profile;
use pellucid_profile::clock::realtime_ns;
use pellucid_profile::companion::Companions;
use pellucid_profile::model::JobIdentity;
use pellucid_profile::segment::handover;
use std::env;
use std::ffi::OsString;

pub use pellucid_profile::segment::handover::Handover;
pub use pellucid_profile::segment::identity::VARIABLE as JOB_VARIABLE;
use pellucid_profile::segment::identity::WITHIN_JOB;

/// What tells this job from others: what its PEs are told with `-x`, or what this process was; not the name of a job
/// that it is a part of.
pub fn job_id(environment: &[(OsString, OsString)]) -> String {
    let host = handover::host();
    let begin = (Some(&*host), std::process::id(), realtime_ns());
    let own = |name: &str| env::var_os(name).filter(|_| name != JOB_VARIABLE || env::var_os(WITHIN_JOB).is_none());
    JobIdentity::new(|name| given(environment, name).or_else(|| own(name)), "oshrun", begin).id
}

/// Hands the profile over. `environment`: that of the PEs, which names the job on every host.
pub fn offer(profile: &Profile, environment: &[(OsString, OsString)]) -> Option<Handover> {
    Handover::offer(profile.as_fd(), &handover::sockets(|name| variable(environment, name)))
}

/// Who the job is whose PEs have this `environment`, by its name in there.
pub fn identity(environment: &[(OsString, OsString)]) -> JobIdentity {
    JobIdentity::new(|name| variable(environment, name), "oshrun", (None, 0, 0))
}

/// As the PEs have it.
fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    given(environment, name).or_else(|| env::var_os(name))
}

fn given(environment: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    environment.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// Says how the job ended to all who show its metrics, and waits for the last exports.
pub fn end(handover: Option<Handover>, companions: &Companions, state: &str) {
    if let Some(handover) = handover {
        handover.end(state);
    }
    if !companions.is_empty() {
        companions.end(state);
    }
}
