//! Jobs that were not handed over: processes of this host that hold a segment, as `oshprof top` finds them. Who has
//! made it, `oshrun` or under other launchers the first PE of the host, says when the job ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::live::find;
use pellucid_profile::segment::{Segment, handover};

use super::tracked::{Key, Tracked, key};
use crate::metrics::collect::Identity;
use crate::sys;

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
    let identity = identity(&segment, this.maker, show_user);
    let user = find::owner(this.maker).unwrap_or_else(handover::user);
    Ok(Some(Tracked::new(segment, identity, Some(this.maker), user)))
}

/// Who the job of a launcher is.
pub fn identity(segment: &Segment, pid: u32, show_user: bool) -> Identity {
    let user = if show_user { find::owner(pid).map(sys::user_name) } else { None };
    Identity::of(segment, user.unwrap_or_default())
}
