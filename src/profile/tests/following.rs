//! A job that is looked at again and again: each meeting is read once, and the sums are those of a reading of
//! everything.

use std::os::fd::{AsFd, AsRawFd};

use pellucid_profile::merge::{Following, Merged};
use pellucid_profile::recorder::{self, Mark, set_level};
use pellucid_profile::segment::{self, JobInfo, Segment};
use pellucid_profile::snapshot::{self, Outcome};
use pellucid_profile::{model::Profile, op};

/// Meetings of each PE.
const MEETINGS: u64 = 10;

fn calls(pe: u32, fd: i32) {
    recorder::attach(fd, pe, 2, 0, 2).expect("a region");
    set_level(1);
    recorder::mark(Mark::Initialized);
    let (barrier, put) = (op::find("shmem_barrier_all").unwrap(), op::find("shmem_putmem").unwrap());
    assert!(recorder::region_begin("step"));
    for _ in 0..MEETINGS {
        recorder::sized(put, 1 - pe as i32, 0, 100, || ());
        recorder::timed(barrier, -1, 0, 0, || ());
    }
    assert!(recorder::region_end(Some("step")));
}

/// What does not depend on the moment of reading: calls and latencies by routine, entries by region, meetings and who
/// came last.
fn numbers(profile: &Profile, merged: &Merged) -> String {
    let routine =
        |r: &pellucid_profile::model::Routine| (r.name.clone(), r.calls, r.bytes, r.sizes.clone(), r.latency.clone());
    let routines: Vec<_> = merged.routines.iter().map(routine).collect();
    let regions: Vec<_> = merged.regions.iter().map(|(name, sum)| (name, sum.entries)).collect();
    let late = merged.late.iter().filter(|row| row.meetings > 0);
    let late: Vec<_> = late.map(|row| (&row.routine, row.meetings, row.lost_ns, &row.by_pe)).collect();
    format!("{} {routines:?} {regions:?} {late:?}", profile.pes.len())
}

#[test]
fn each_meeting_is_read_once() {
    let fd = segment::create(2, &JobInfo::default()).expect("a segment");
    let segment = Segment::map(fd.as_fd()).expect("the segment");
    let mut following = Following::default();
    let mut look = || {
        let profile = following.look(&segment);
        let merged = following.sums(&profile);
        (numbers(&profile, &merged), merged)
    };
    calls(0, fd.as_raw_fd());
    assert!(look().1.late.is_empty(), "nobody knows when PE 1 comes");
    calls(1, fd.as_raw_fd());
    let (first, merged) = look();
    assert_eq!((merged.late.len(), merged.late[0].meetings), (1, MEETINGS));
    assert_eq!(merged.late[0].by_pe.keys().collect::<Vec<_>>(), [&1]);
    assert_eq!(look().0, first, "and not again");
    let all = snapshot::take(&segment, &Outcome::default());
    assert_eq!(numbers(&all, &Merged::from(&all)), first);
}
