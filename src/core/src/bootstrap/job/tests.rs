use super::*;

#[test]
fn the_first_exit_request_wins() {
    let job = Job::create(0..3, 3).unwrap();
    assert_eq!(job.exit_request(), None);
    let first = ExitRequest { pe: 2, status: 9, kind: ExitKind::GlobalExit };
    assert!(job.request_exit(first));
    assert!(!job.request_exit(ExitRequest { pe: 0, status: 1, kind: ExitKind::Failed }));
    assert_eq!(job.exit_request(), Some(first));
}

#[test]
fn what_a_crash_could_not_say_is_said_once_by_another() {
    let job = Job::create(0..3, 3).unwrap();
    assert!(!job.take_unsaid(0) && !job.take_unsaid(1));
    job.set_unsaid(1);
    assert!(!job.take_unsaid(0) && !job.take_unsaid(2));
    assert!(job.take_unsaid(1));
    assert!(!job.take_unsaid(1));
}

#[test]
fn a_foreign_file_is_refused() {
    let fd = mmap::memfd(c"other").unwrap();
    assert!(Job::open(fd).is_err());
    let fd = mmap::memfd(c"other").unwrap();
    mmap::grow(fd.as_raw_fd(), 8192).unwrap();
    assert!(Job::open(fd).is_err_and(|f| f.to_string().contains("another format")));
}

#[test]
fn all_pass_the_host_barrier() {
    let job = std::sync::Arc::new(Job::create(0..3, 3).unwrap());
    let count = std::sync::Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (job, count) = (job.clone(), count.clone());
            std::thread::spawn(move || {
                for round in 1..=100 {
                    count.fetch_add(1, Ordering::Relaxed);
                    job.host_barrier();
                    assert!(count.load(Ordering::Relaxed) >= 3 * round);
                    job.host_barrier();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}
