//! Several threads, a PE that computes, and a forked child.

use super::job::{job, settings};
use super::pes::heap;
use super::{connect, get, put};
use pellucid_core::transport::{Channel, Completion, Tag, Transport};
use std::time::Duration;

/// A quiet is for what was begun before it: PE 2, which answers nothing, is sent something while PE 0 waits for PE 1.
#[test]
fn quiet_does_not_wait_for_what_other_threads_begin_meanwhile() {
    let Some(pes) = job(3, &settings()) else { return };
    let source = 7u64.to_ne_bytes();
    connect(&pes);
    for pe in &pes {
        pe.fabric.drain();
    }
    put(&pes[0], heap(1, 16), &source, Completion::Deferred);
    // Without its progress thread, only the wait has PE 0 look at the queue.
    let polls = pes[0].fabric.network_counters().polls();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
            tell.send(()).unwrap();
        });
        while pes[0].fabric.network_counters().polls() < polls + 2 {
            std::thread::yield_now();
        }
        put(&pes[0], heap(2, 16), &source, Completion::Deferred);
        scope.spawn(|| pes[1].await_word(16, |n| n == 7));
        let in_time = told.recv_timeout(Duration::from_secs(60));
        assert_eq!(pes[2].word(16), 0);
        pes[2].await_word(16, |n| n == 7);
        assert!(in_time.is_ok(), "the quiet has waited for PE 2");
    });
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
}

/// A child process must not use what it has of its parent's fabric; the parent goes on.
#[test]
fn a_forked_child_is_refused() {
    let Some(pes) = job(2, &settings()) else { return };
    put(&pes[0], heap(1, 0), &1u64.to_ne_bytes(), Completion::Local);
    // SAFETY: the child makes one call that takes no lock, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let value = 2u64.to_ne_bytes();
        // SAFETY: as above.
        unsafe {
            let refused =
                pes[0].fabric.put(Channel::DEFAULT, heap(1, 0), value.as_ptr(), 8, Completion::Local).is_err();
            libc::_exit(i32::from(!refused || pes[0].fabric.progress()));
        }
    }
    let mut status = -1;
    // SAFETY: the child above.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    let mut back = [0; 8];
    get(&pes[0], heap(1, 0), &mut back, Completion::Local);
    assert_eq!(u64::from_ne_bytes(back), 1);
}

/// Memory does not grow with the number of messages. Looked at in a process of its own, without the other tests'
/// memory.
#[test]
fn messages_leave_nothing_behind() {
    const ALONE: &str = "PELLUCID_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "threads::messages_leave_nothing_behind", "--nocapture"]).env(ALONE, "1");
        let output = alone.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let Some(pes) = job(2, &settings()) else { return };
    let resident = || -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let tag = Tag { group: 1, number: 2, step: 3 };
    let exchange = |n: usize| {
        for _ in 0..n {
            for _ in 0..50 {
                pes[0].fabric.send(1, tag, &[7; 16]).unwrap();
            }
            let mut left = 50;
            while left > 0 {
                match pes[1].fabric.take(0, tag).unwrap() {
                    Some(_) => left -= 1,
                    None => {
                        pes[1].fabric.progress();
                    }
                }
            }
        }
    };
    exchange(400);
    let before = resident();
    exchange(4000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 1 << 20, "{grown} bytes more after 200000 messages");
}
