//! Jobs that were not handed over: processes of this host that hold a segment, as `oshprof top` finds them. Who has
//! made it, `oshrun` or under other launchers the first PE of the host, says when the job ends.

use std::collections::HashSet;
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
    let is_known = |pid: &u32| known.iter().any(|(maker, ..)| maker == pid);
    // A process that has gone, or hides its descriptors, has nothing to show.
    let hold = |pid: u32| Some((pid, find::open_segment(pid).ok()??));
    let holders: Vec<(u32, File)> =
        find::processes().filter(|pid| is_mine(pid) && !is_known(pid)).filter_map(hold).collect();
    let mut looked_at = HashSet::new();
    let mut found = Vec::new();
    for (_, file) in &holders {
        // All PEs of a job hold the same one.
        let Ok(facts) = file.metadata() else { continue };
        if looked_at.insert((facts.dev(), facts.ino())) {
            found.extend(open(file, &holders, known, show_user).transpose());
        }
    }
    found
}

/// The job of a segment; `None`: it is known, or whoever has made it does not hold it.
fn open(file: &File, holders: &[(u32, File)], known: &[Key], show_user: bool) -> std::io::Result<Option<Tracked>> {
    let segment = Segment::map(file.as_fd())?;
    let (this, ino) = (key(&segment), file.metadata()?.ino());
    let is_off = segment.header().off.load(Relaxed) != 0;
    let holds = |(pid, file): &(u32, File)| *pid == this.0 && file.metadata().is_ok_and(|facts| facts.ino() == ino);
    if is_off || known.contains(&this) || !sys::is_sealed(file.as_fd()) || !holders.iter().any(holds) {
        return Ok(None);
    }
    let identity = identity(&segment, this.0, show_user);
    let user = find::owner(this.0).unwrap_or_else(handover::user);
    Ok(Some(Tracked::new(segment, identity, Some(this.0), user)))
}

/// Who the job of a launcher is.
pub fn identity(segment: &Segment, pid: u32, show_user: bool) -> Identity {
    let user = if show_user { find::owner(pid).map(sys::user_name) } else { None };
    Identity::of(segment, user.unwrap_or_default())
}
