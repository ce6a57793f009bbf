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
    let of_pes = |name: &str| environment.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.clone());
    let variable = |name: &str| of_pes(name).or_else(|| env::var_os(name));
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
    let about = [
        ("job_id", &*text(JOB_VARIABLE)),
        ("step", &*handover::step(variable)),
        ("user", &*text("USER")),
        ("launcher", "oshrun"),
    ];
    Handover::offer(profile.as_fd(), &handover::sockets(variable), &about)
}

/// Says how the job ended.
pub fn end(handover: Option<Handover>, status: i32) {
    let state = match status {
        0 => "finished",
        status if status > 128 => "killed",
        _ => "failed",
    };
    if let Some(handover) = handover {
        handover.end(&[("state", state)]);
    }
}
