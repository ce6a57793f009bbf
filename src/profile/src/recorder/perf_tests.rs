//! Counters without a processor that has any: what a processor would say is made up here, and counters of the kernel go
//! the way of those of the processor.

use super::*;

fn index(name: &str) -> usize {
    KNOWN.iter().position(|known| known.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_counter_that_took_turns_is_scaled_to_the_whole_time() {
    for (count, wanted, counted, value) in [
        (1000, 50, 50, 1000),
        (1000, 100, 25, 4000),
        (7, 3, 2, 10),
        (0, 100, 1, 0),
        // It never had a place, or the kernel is ahead of itself by a reading.
        (0, 100, 0, 0),
        (1000, 50, 51, 1000),
        // Weeks of cycles in nanoseconds do not overflow.
        (1 << 60, 1 << 50, 1 << 49, 1 << 61),
    ] {
        assert_eq!(scaled(count, wanted, counted), value, "{count} in {counted} of {wanted} ns");
    }
}

#[test]
fn the_words_of_a_group_are_read_as_the_kernel_writes_them() {
    let mut words: Words = [0; _];
    // Three counters, of which the first is the group's own; wanted 200 ns, counted for 50.
    words[..9].copy_from_slice(&[3, 200, 50, 99, 1, 10, 2, 20, 3]);
    assert_eq!((value(&words, 0), value(&words, 1), value(&words, 2), value(&words, COUNTERS)), (40, 80, 0, 0));
}

#[test]
fn what_is_missing_is_told_by_name() {
    let why = |name: &str, code: i32| {
        reason(index(name), &io::Error::from_raw_os_error(code), "kernel.perf_event_paranoid is 3")
    };
    for code in [libc::ENOENT, libc::ENODEV, libc::EOPNOTSUPP] {
        assert!(why("cycles", code).contains("the virtual machine does not pass it on"), "{}", why("cycles", code));
    }
    assert!(!why("page-faults", libc::ENOENT).contains("virtual machine"));
    for (code, name) in [(libc::EACCES, "EACCES"), (libc::EPERM, "EPERM")] {
        let text = why("cycles", code);
        assert!(text.starts_with(name) && text.ends_with("kernel.perf_event_paranoid is 3"), "{text}");
        assert!(is_refused(&io::Error::from_raw_os_error(code)));
    }
    assert!(why("cycles", libc::ENOSYS).contains("the kernel has no perf events"));
    assert!(why("cycles", libc::EMFILE).contains("Too many open files"));
    assert!(paranoid().contains("perf"));
}

/// As on a processor with room for two or three counters: several groups, gaps between the columns.
#[test]
fn counters_in_several_groups_keep_their_columns() {
    let names = ["task-clock", "page-faults", "minor-faults", "major-faults", "task-clock"];
    let columns = [6, 0, 3, 7, 2];
    let plan: Vec<Planned> = columns.into_iter().zip(names).map(|(at, name)| (at, index(name), false)).collect();
    if builder(index("task-clock"), false, false).build().is_err() {
        return eprintln!("no perf events here: not tested");
    }
    for most in [1, 2, 3, COUNTERS] {
        let set = Set::open(&plan, 1, most).unwrap();
        assert_eq!(set.batches.len(), names.len().div_ceil(most), "{most} a group");
        let before = set.read().unwrap();
        let pages = vec![1_u8; 4 << 20];
        let sum: u64 = std::hint::black_box(&pages).iter().map(|&page| u64::from(page)).sum();
        let now = set.read().unwrap();
        assert_eq!(sum, 4 << 20);
        for column in [6, 2] {
            assert!(now[column] > before[column], "{most} a group: the clock stands at {now:?}");
        }
        assert!(now[0] >= before[0] && now[3] >= before[3]);
        assert_eq!((now[1], now[4], now[5]), (0, 0, 0), "columns that nobody asked for");
    }
}
