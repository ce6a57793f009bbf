//! The first call of a thread, which claims the thread's slot, is filed under its own call site, time included.
#![allow(unsafe_code)]

use std::os::fd::AsFd;
use std::time::Duration;

use pellucid_profile::segment::Segment;
use pellucid_profile::snapshot::{self, Outcome};
use pellucid_profile::tables::Site;
use pellucid_profile::{arm, op, recorder};

/// Records a call that does what it is given.
type Call = fn(&mut dyn FnMut());

const PAUSE: Duration = Duration::from_millis(3);

/// Makes its first call from `first`, which takes long, and another one from `second`, which does not.
fn calls(call: Call, first: u64, second: u64) {
    recorder::set_site(first);
    call(&mut || std::thread::sleep(PAUSE));
    recorder::set_site(second);
    call(&mut || ());
}

#[test]
fn the_first_call_of_a_thread_is_filed_under_its_own_site() {
    let fd = recorder::attach_private(1, 4, false).unwrap();
    // As where a profile is kept: short calls have sites as well.
    arm::set_counts_only(false);
    recorder::set_level(1);
    let kinds: [(&str, Call); 4] = [
        ("shmem_barrier_all", |f| recorder::timed(op::find("shmem_barrier_all").unwrap(), -1, 0, 0, f)),
        ("shmem_long_put", |f| recorder::sized(op::find("shmem_long_put").unwrap(), 2, 0, 64, f)),
        ("shmem_double_put", |f| recorder::sized(op::find("shmem_double_put").unwrap(), 2, 0, 1 << 20, f)),
        ("shmem_long_p", |f| recorder::sampled(op::find("shmem_long_p").unwrap(), 2, 0, 8, f)),
    ];
    for (at, (_, call)) in kinds.into_iter().enumerate() {
        let base = 0x1000 * (at as u64 + 1);
        // The second thread may get the slot of the first, which has the site of its last call.
        std::thread::spawn(move || calls(call, base + 0x10, base + 0x20)).join().unwrap();
        std::thread::spawn(move || calls(call, base + 0x30, base + 0x20)).join().unwrap();
    }
    let profile = snapshot::take(&Segment::map(fd.as_fd()).unwrap(), &Outcome::default());
    let sites = &profile.pes[0].tables.sites;
    let of = |address: u64| -> &Site {
        let found = sites.iter().find(|site| site.address == address);
        found.unwrap_or_else(|| panic!("no site {address:#x} in {sites:?}"))
    };
    let (long, all) = (PAUSE.as_nanos() as u64, 2 * PAUSE.as_nanos() as u64);
    for (at, (name, _)) in kinds.into_iter().enumerate() {
        let base = 0x1000 * (at as u64 + 1);
        for first in [of(base + 0x10), of(base + 0x30)] {
            assert_eq!((first.routine.as_str(), first.calls, first.timed_calls), (name, 1, 1));
            assert!(first.total_ns.is_some_and(|ns| ns >= long) && first.max_ns >= long, "{name}: {first:?}");
        }
        let second = of(base + 0x20);
        assert_eq!((second.routine.as_str(), second.calls, second.timed_calls), (name, 2, 2));
        // Whatever else the machine does in the meantime, the pauses are not here.
        let routine = profile.pes[0].routines.iter().find(|r| r.name == name).unwrap();
        let sum: u64 = [0x10, 0x20, 0x30].into_iter().filter_map(|offset| of(base + offset).total_ns).sum();
        assert!(sum >= all && second.total_ns.unwrap_or(0) <= sum - all, "{name}: {second:?}, {sum} ns");
        assert_eq!((routine.all_calls(), routine.timed_calls), (4, 4));
    }
    assert_eq!(sites.len(), 3 * kinds.len(), "{sites:?}");
}
