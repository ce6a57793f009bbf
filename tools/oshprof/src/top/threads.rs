//! What the threads of a PE do outside of the library, where it has several: while one waits there, another may work.

use std::collections::BTreeMap;
use std::fs;

use pellucid_profile::segment::Segment;
use pellucid_profile::snapshot;

/// A thread so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Thread {
    /// On cores, or in line for one.
    pub busy: u64,
    /// In the library.
    pub in_library: u64,
}

/// The threads of a process, by their ids.
pub(super) type Threads = BTreeMap<u32, Thread>;

/// Looks at all threads of a PE's process; none where it is not to be seen from here.
pub(super) fn look(segment: &Segment, pe: u32, pid: u32) -> Threads {
    let calling: BTreeMap<u32, u64> = snapshot::in_library(segment, pe).into_iter().collect();
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Threads::new() };
    let one = |task: fs::DirEntry| {
        let id = task.file_name().to_str()?.parse().ok()?;
        let busy = busy_ns(&fs::read_to_string(task.path().join("schedstat")).ok()?)?;
        Some((id, Thread { busy, in_library: calling.get(&id).copied().unwrap_or_default() }))
    };
    tasks.flatten().filter_map(one).collect()
}

/// On a core, and in line for one.
fn busy_ns(schedstat: &str) -> Option<u64> {
    let mut numbers = schedstat.split_ascii_whitespace().map_while(|number| number.parse::<u64>().ok());
    Some(numbers.next()?.saturating_add(numbers.next()?))
}

/// How long threads that were there at both looks worked outside of the library in between, at least: a thread that is
/// outside may wait for others, and does no work then.
pub(super) fn work_ns(before: &Threads, now: &Threads) -> u64 {
    let of = |(id, now): (&u32, &Thread)| {
        let before = before.get(id)?;
        let busy = now.busy.saturating_sub(before.busy);
        Some(busy.saturating_sub(now.in_library.saturating_sub(before.in_library)))
    };
    now.iter().filter_map(of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_busy_and_not_in_the_library_works() {
        let of = |threads: [(u32, u64, u64); 4]| -> Threads {
            threads.into_iter().map(|(id, busy, in_library)| (id, Thread { busy, in_library })).collect()
        };
        // One works, one looks for a flag, one puts, one waits for the others to end.
        let before = of([(1, 500, 20), (2, 300, 300), (3, 400, 390), (4, 7, 0)]);
        let now = of([(1, 1500, 20), (2, 1200, 1300), (3, 1390, 1380), (4, 7, 0)]);
        assert_eq!(work_ns(&before, &now), 1000);
        assert_eq!(work_ns(&Threads::new(), &now), 0, "of a new thread nothing is known");
        assert_eq!((busy_ns("12 5 3\n"), busy_ns("12"), busy_ns("")), (Some(17), None, None));
    }
}
