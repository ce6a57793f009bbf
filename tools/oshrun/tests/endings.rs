//! Exit statuses, and how a job ends before its time.
mod common;

use common::{SOON, mark, processes_with, shell, shell_with_input};

#[test]
fn the_status_is_that_of_the_first_that_fails() {
    assert_eq!(shell(&["-n", "4"], "exit 0").status, 0);
    let result = shell(&["-n", "4"], "[ $PMI_RANK = 2 ] && exit 7; sleep 30");
    assert_eq!(result.status, 7);
    assert!(result.err.contains("PE 2 of 4 (pid "), "{}", result.err);
    assert!(result.err.contains(") exited with status 7 before shmem_init"), "{}", result.err);
    assert!(result.time < SOON, "{:?}", result.time);
    let result = shell(&["-n", "3"], "sleep 0.$((6 - 2 * PMI_RANK)); exit $((10 + PMI_RANK))");
    assert_eq!(result.status, 12, "{}", result.err);
}

#[test]
fn a_signal_gives_128_and_its_number() {
    for (name, number, words) in
        [("SEGV", 11, "segmentation fault"), ("ABRT", 6, "abort"), ("KILL", 9, "kill"), ("TERM", 15, "termination")]
    {
        let result = shell(&["-n", "3"], &format!("[ $PMI_RANK = 1 ] && kill -{name} $$; sleep 30"));
        assert_eq!(result.status, 128 + number);
        let text = format!("was killed by signal {number} ({words})");
        assert!(result.err.contains(&text), "{}", result.err);
        assert_eq!(result.err.lines().count(), 1, "{}", result.err);
        assert!(result.time < SOON, "{:?}", result.time);
    }
}

#[test]
fn who_does_not_listen_to_sigterm_is_killed() {
    let mark = mark(1);
    let script = format!("[ $PMI_RANK = 1 ] && exit 3; trap '' TERM; sleep {mark}; sleep {mark}");
    let result = shell(&["-n", "3"], &script);
    assert_eq!(result.status, 3);
    assert!(result.time < SOON, "{:?}", result.time);
    assert!(processes_with(&mark).is_empty());
}

#[test]
fn who_is_stopped_is_ended_too() {
    let result = shell(&["-n", "2"], "[ $PMI_RANK = 1 ] && { sleep 0.2; exit 3; }; kill -STOP $$");
    assert_eq!(result.status, 3);
    assert!(result.time < SOON, "{:?}", result.time);
}

#[test]
fn what_a_script_leaves_behind_goes_with_the_job() {
    let mark = mark(2);
    let result = shell(&["-n", "2"], &format!("sleep {mark} & exit 0"));
    assert_eq!((result.status, result.err.as_str()), (0, ""));
    assert!(processes_with(&mark).is_empty());
    assert!(result.time < SOON, "{:?}", result.time);
}

#[test]
fn what_left_the_process_group_goes_too() {
    let mark = mark(3);
    let result = shell(&["-n", "2"], &format!("setsid sh -c 'sleep {mark} & sleep {mark}' & sleep 0.3; exit 0"));
    assert_eq!(result.status, 0, "{}", result.err);
    assert!(processes_with(&mark).is_empty());
}

#[test]
fn time_limit() {
    let result = shell(&["-n", "3", "--timeout", "0.5"], "[ $PMI_RANK = 1 ] || sleep 30");
    assert_eq!(result.status, 124);
    assert!(result.err.contains("the job has not ended within 0.5 s (--timeout)"), "{}", result.err);
    assert!(result.err.contains("  PEs 0, 2 of 3 (pids "), "{}", result.err);
    assert!(result.err.contains("not in the library: shmem_init was not called"), "{}", result.err);
    assert!(!result.err.contains("1 of 3"), "{}", result.err);
    assert!(result.time < SOON, "{:?}", result.time);
    assert_eq!(shell(&["-n", "2", "--timeout", "30"], "true").status, 0);
}

#[test]
fn a_failure_of_one_pe_ends_a_pe_that_waits_for_input() {
    let result = shell_with_input(&["-n", "2"], "[ $PMI_RANK = 1 ] && exit 5; cat", b"");
    assert_eq!(result.status, 5);
}

#[test]
fn many_pes() {
    let result = shell(&["-n", "200"], "echo $PMI_RANK");
    assert_eq!(result.status, 0, "{}", result.err);
    let mut pes: Vec<u32> = result.out.lines().map(|line| line.parse().unwrap()).collect();
    pes.sort_unstable();
    assert_eq!(pes, (0..200).collect::<Vec<_>>());
}
