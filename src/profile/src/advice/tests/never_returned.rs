//! Jobs that were ended in calls that never returned.

use super::*;
use crate::model::End;

/// Two PEs of a second that never came back from this routine, of a job that was ended by `ends`.
fn stuck(ends: [End; 2]) -> Profile {
    let mut lock = Routine::new("shmem_set_lock", Class::Lock);
    (lock.calls[0], lock.timed_calls, lock.total_ns) = (2, 1, 3000);
    (lock.unfinished, lock.unfinished_ns) = (1, 900 * MS);
    let mut all = profile(&[lock], 0.25);
    all.pes.truncate(2);
    (all.job.npes, all.job.exit_status) = (2, Some(124));
    for (pe, end) in all.pes.iter_mut().zip(ends) {
        (pe.progress, pe.end) = (Progress::Initialized, end);
    }
    all
}

#[test]
fn of_a_job_that_was_given_up_the_calls_that_never_returned_are_all_that_counts() {
    for ends in [[End::Stopped; 2], [End::Killed(libc::SIGINT), End::Stopped]] {
        let found = findings(&stuck(ends));
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["never-returned"], "{ends:?}");
        let finding = &found[0].1;
        assert_eq!(finding.what, "calls never returned: 2 of shmem_set_lock");
        assert!(finding.evidence.starts_with("1.80 s in these 2 when the job was ended"), "{finding:?}");
        assert!(finding.try_this.contains("oshprof hang"), "{finding:?}");
    }
    // One crashed: the others waited for it.
    assert!(!names(&stuck([End::Killed(libc::SIGSEGV), End::Stopped])).contains(&"never-returned"));
    let mut runs = stuck([End::Unknown; 2]);
    runs.job.exit_status = None;
    assert!(!names(&runs).contains(&"never-returned"));
}
