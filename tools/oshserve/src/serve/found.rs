//! Jobs that were not handed over: launchers of this host that hold a segment, as `oshprof top` finds them.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::live::find;
use pellucid_profile::segment::{Segment, handover};

use super::tracked::{Key, Tracked, key};
use crate::metrics::collect::Identity;
use crate::sys;

/// Jobs that are not among the known ones. Errors: segments that cannot be read.
pub fn jobs(known: &[Key], show_user: bool) -> Vec<Result<Tracked, std::io::Error>> {
    let launchers = find::processes().filter(|&pid| {
        find::is_launcher(pid)
            && !known.iter().any(|(launcher, ..)| *launcher == pid)
            && (handover::user() == 0 || find::owner(pid) == Some(handover::user()))
    });
    launchers.filter_map(|pid| open(pid, known, show_user).transpose()).collect()
}

/// The job of a launcher; `None`: it has none, or it is known.
fn open(pid: u32, known: &[Key], show_user: bool) -> std::io::Result<Option<Tracked>> {
    // A process that has gone, or hides its descriptors, has nothing to show.
    let Ok(Some(file)) = find::open_segment(pid) else { return Ok(None) };
    let segment = Segment::map(file.as_fd())?;
    let this = key(&segment);
    let is_off = segment.header().off.load(Relaxed) != 0;
    if is_off || known.contains(&this) || !sys::is_sealed(file.as_fd()) || this.0 != pid {
        return Ok(None);
    }
    let identity = identity(&segment, pid, show_user);
    let user = find::owner(pid).unwrap_or_else(handover::user);
    Ok(Some(Tracked::new(segment, identity, Some(pid), user)))
}

/// Who the job of a launcher is.
pub fn identity(segment: &Segment, pid: u32, show_user: bool) -> Identity {
    let user = if show_user { find::owner(pid).map(sys::user_name) } else { None };
    Identity::of(segment, user.unwrap_or_default())
}
