//! The profile, handed over to the exporter of metrics that runs on this host, where one does: `oshprof serve`.

use crate::profile::Profile;
use pellucid_profile::clock::realtime_ns;
use pellucid_profile::model::JobIdentity;
use pellucid_profile::segment::handover;
use std::env;
use std::ffi::OsString;

pub use pellucid_profile::segment::handover::Handover;
pub use pellucid_profile::segment::identity::VARIABLE as JOB_VARIABLE;

/// What tells this job from others.
pub fn job_id() -> String {
    let begin = (&*handover::host(), std::process::id(), realtime_ns());
    JobIdentity::new(|name| env::var_os(name), "oshrun", begin).id
}

/// Hands the profile over. `environment`: that of the PEs, which names the job on every host.
pub fn offer(profile: &Profile, environment: &[(OsString, OsString)]) -> Option<Handover> {
    Handover::offer(profile.as_fd(), &handover::sockets(|name| variable(environment, name)))
}

/// Who the job is whose PEs have this `environment`, by its name in there.
pub fn identity(environment: &[(OsString, OsString)]) -> JobIdentity {
    JobIdentity::new(|name| variable(environment, name), "oshrun", ("", 0, 0))
}

/// As the PEs have it.
fn variable(environment: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    let of_pes = environment.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.clone());
    of_pes.or_else(|| env::var_os(name))
}

/// Says how the job ended.
pub fn end(handover: Option<Handover>, status: i32) {
    if let Some(handover) = handover {
        handover.end(handover::state(status));
    }
}
