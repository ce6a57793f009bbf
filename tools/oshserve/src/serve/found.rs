//! Jobs that were not handed over: processes of this host that hold a segment, as `oshprof top` finds them. Who has
//! made it, `oshrun` or under other launchers the first PE of the host, says when the job ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::clock::realtime_ns;
use pellucid_profile::live::find;
use pellucid_profile::model::JobIdentity;
use pellucid_profile::segment::{Segment, handover};

use super::tracked::{Key, Tracked, key};
use crate::metrics::collect::Identity;
use crate::sys;

/// How long after its begin a job that has no name yet is not looked at: whoever has made it is about to give it one.
const NAMED_WITHIN_NS: u64 = 5_000_000_000;

/// Jobs that are not among the known ones. Errors: segments that cannot be read.
pub fn jobs(known: &[Key], show_user: bool) -> Vec<Result<Tracked, std::io::Error>> {
    let is_mine = |pid: &u32| handover::user() == 0 || find::owner(*pid) == Some(handover::user());
    let is_known = |pid: &u32| known.iter().any(|known| known.maker == *pid);
    // By the file, which all PEs of a job hold: one of them, and who they are.
    let mut held: BTreeMap<(u64, u64), (File, Vec<u32>)> = BTreeMap::new();
    for pid in find::processes().filter(|pid| is_mine(pid) && !is_known(pid)) {
        // A process that has gone, or hides its descriptors, has nothing to show.
        let Ok(Some(file)) = find::open_segment(pid) else { continue };
        let Ok(facts) = file.metadata() else { continue };
        held.entry((facts.dev(), facts.ino())).or_insert_with(|| (file, Vec::new())).1.push(pid);
    }
    held.into_values().filter_map(|(file, pids)| open(&file, &pids, known, show_user).transpose()).collect()
}

/// The job of a segment that these processes hold; `None`: it is known, or whoever has made it is not among them.
fn open(file: &File, pids: &[u32], known: &[Key], show_user: bool) -> std::io::Result<Option<Tracked>> {
    let segment = Segment::map(file.as_fd())?;
    let this = key(&segment);
    let is_off = segment.header().off.load(Relaxed) != 0;
    if is_off || known.contains(&this) || !sys::is_sealed(file.as_fd()) || !pids.contains(&this.maker) {
        return Ok(None);
    }
    if is_unnamed(&segment) && realtime_ns().saturating_sub(this.start) < NAMED_WITHIN_NS {
        return Ok(None);
    }
    let identity = identity(&segment, this.maker, show_user);
    let user = find::owner(this.maker).unwrap_or_else(handover::user);
    Ok(Some(Tracked::new(segment, identity, Some(this.maker), user)))
}

/// Who the job of a launcher is. One without a name has that which its begin gives it: jobs are told apart by it.
pub fn identity(segment: &Segment, pid: u32, show_user: bool) -> Identity {
    let user = if show_user { find::owner(pid).map(sys::user_name) } else { None };
    let mut identity = Identity::of(segment, user.unwrap_or_default());
    if identity.job_id.is_empty() {
        let host = handover::host();
        identity.job_id = JobIdentity::new(|_| None, "", (Some(&host), pid, key(segment).start)).id;
    }
    identity
}

/// Whether it does not say who its job is: whoever makes a segment writes that after all else.
fn is_unnamed(segment: &Segment) -> bool {
    segment.header().identity().id.is_empty()
}

#[cfg(test)]
mod tests {
    use pellucid_profile::segment::{self, JobInfo, Origin};

    use super::*;

    /// The job of a process that has begun so long ago.
    fn begun(ns: u64) -> File {
        let origin = Origin { counter_ns: 0, realtime_ns: realtime_ns() - ns, launcher_pid: 71 };
        segment::create(1, &JobInfo { origin: Some(origin), ..JobInfo::default() }).unwrap().into()
    }

    #[test]
    fn a_job_without_a_name_is_called_by_its_begin() {
        let found = |file: &File| {
            let this = key(&Segment::map(file.as_fd()).unwrap());
            open(file, &[this.maker], &[], false).unwrap().map(|job| (this, job.identity.job_id))
        };
        let (key, name) = found(&begun(2 * NAMED_WITHIN_NS)).unwrap();
        let JobIdentity { id, .. } = JobIdentity::new(|_| None, "", (Some(&handover::host()), key.maker, key.start));
        assert_eq!(name, id);
        assert!(found(&begun(0)).is_none(), "whoever has made it may give it one");
    }
}
