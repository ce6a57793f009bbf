//! What a job is called whose launcher is none of ours: as on all of its hosts.
#![allow(unsafe_code)]

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::model::JobIdentity;
use pellucid_profile::segment::Segment;
use pellucid_profile::segment::identity::{BATCH, VARIABLE, WITHIN_JOB, set_identity};

/// Names of jobs that launchers give to each of their processes.
const NAMES: [&str; 2] = ["PMIX_NAMESPACE", "PMI_JOBID"];

/// Has a segment say it, from which all take it that show the job. By its begin, which is to be that of all hosts.
pub fn tell(segment: RawFd) {
    // SAFETY: whoever has made the segment holds its descriptor open.
    let fd = unsafe { BorrowedFd::borrow_raw(segment) };
    // What has no segment is not shown.
    let Ok(map) = Segment::map(fd) else { return };
    let header = map.header();
    let host = (map.pes().len() == map.npes() as usize).then(|| header.host.get());
    let begin = (host.as_deref(), header.launcher_pid.load(Relaxed), header.start_realtime.load(Relaxed));
    let launcher =
        env::var_os("SHMEM_BOOTSTRAP").filter(is_set).map_or_else(launcher, |name| name.to_string_lossy().into_owned());
    let _ = set_identity(segment, &JobIdentity::new(variable, &launcher, begin));
}

fn is_set(value: &OsString) -> bool {
    !value.is_empty()
}

/// As the environment has it; the name of the job, where neither its user nor a batch system gives one, from the
/// launcher.
fn variable(name: &str) -> Option<OsString> {
    let batch = || BATCH.into_iter().any(|name| env::var_os(name).is_some());
    let given = env::var_os(name).filter(is_set);
    // Not that of the job that has started this one.
    let given = given.filter(|_| name != VARIABLE || env::var_os(WITHIN_JOB).is_none());
    if name != VARIABLE || given.is_some() || batch() {
        return given;
    }
    NAMES.iter().find_map(|name| env::var_os(name).filter(is_set)).map(|name| plain(&name))
}

/// A name that can be a label.
fn plain(name: &OsStr) -> OsString {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.to_string_lossy().chars().map(plain).take(64).collect::<String>().into()
}

/// Who has started this process, by the variables that are there.
fn launcher() -> String {
    let known = [("SLURM_PROCID", "srun"), ("PMIX_RANK", "pmix"), ("PMI_RANK", "pmi"), ("", "none")];
    let found = known.iter().find(|(name, _)| name.is_empty() || env::var_os(name).is_some());
    found.map(|(_, launcher)| (*launcher).to_owned()).unwrap_or_default()
}
