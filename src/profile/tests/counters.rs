//! Hardware and software counters around timed calls and regions. A process counts once: one test.
#![allow(unsafe_code)]

use std::os::fd::AsFd;

use pellucid_profile::report::{self, NoSymbols, Options};
use pellucid_profile::segment::Segment;
use pellucid_profile::snapshot::{self, Outcome};
use pellucid_profile::tables::{Counter, Counters};
use pellucid_profile::{counters, op, recorder};

const PAGES: usize = 512;

/// Touches that many new pages.
fn touch() {
    let bytes = PAGES * 4096;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, written within its bounds and unmapped again; small pages, so that each is a fault.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
        for page in 0..PAGES {
            memory.cast::<u8>().add(page * 4096).write_volatile(1);
        }
        libc::munmap(memory, bytes);
    }
}

fn has_software_counters() -> bool {
    // SAFETY: a process without perf events gets an error.
    let mut attributes = [0_u64; 16];
    attributes[0] = 1 | 128 << 32;
    attributes[1] = 2;
    // exclude_kernel
    attributes[5] = 1 << 5;
    // SAFETY: a zeroed description of 128 bytes but for the fields above; the descriptor is closed.
    unsafe {
        let fd = libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0);
        if fd >= 0 {
            libc::close(fd as i32);
        }
        fd >= 0
    }
}

fn find<'a>(counters: &'a Counters, name: &str) -> (usize, &'a Counter) {
    counters.list.iter().enumerate().find(|(_, c)| c.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn page_faults_are_counted_where_they_happen_and_what_is_missing_says_why() {
    let fd = recorder::attach_private(0, 1, true).unwrap();
    recorder::count(&counters::parse("page-faults,cycles,task-clock").unwrap());
    recorder::set_level(1);
    let (barrier, p) = (op::find("shmem_barrier_all").unwrap(), op::find("shmem_long_p").unwrap());
    recorder::timed(barrier, -1, 0, 0, || ());
    assert!(recorder::region_begin("fill"));
    touch();
    (0..3).for_each(|_| recorder::timed(barrier, -1, 0, 0, touch));
    recorder::sampled(p, 0, 0, 8, || ());
    assert!(recorder::region_end(None));
    std::thread::spawn(touch).join().unwrap();
    std::thread::spawn(move || recorder::timed(barrier, -1, 0, 0, touch)).join().unwrap();
    recorder::mark(recorder::Mark::Finalizing);

    let segment = Segment::map(fd.as_fd()).unwrap();
    let profile = snapshot::take(&segment, &Outcome::default());
    let tables = &profile.pes[0].tables;
    let counted = &tables.counters;
    let (_, cycles) = find(counted, "cycles");
    assert!(cycles.available && cycles.total > 0 || !cycles.remark.is_empty(), "{cycles:?}");
    if !has_software_counters() {
        assert!(counted.list.iter().all(|c| !c.available && !c.remark.is_empty()), "{counted:?}");
        return;
    }
    let (at, faults) = find(counted, "page-faults");
    let pages = PAGES as u64;
    // Others fault too: stacks of threads, our own tables.
    let about = |value: u64, times: u64| (times * pages..times * pages + 300).contains(&value);
    assert!(faults.available && about(faults.total, 6), "{faults:?}");
    let routine = counted.routines.iter().find(|r| r.routine == "shmem_barrier_all").unwrap();
    assert!(routine.calls == 5 && about(routine.values[at], 4), "{routine:?}");
    assert!(counted.routines.iter().all(|r| r.routine != "shmem_long_p"), "short calls are not read for");
    let fill = tables.regions.iter().position(|r| r.name == "fill").unwrap() as u8;
    let region = counted.regions.iter().find(|r| r.region == fill).unwrap();
    assert!(about(region.values[at], 4) && about(region.library[at], 3), "{region:?}");
    let (clock, _) = find(counted, "task-clock");
    assert!(region.values[clock] > region.library[clock] && region.library[clock] > 0);

    let view = report::VIEWS.iter().find(|view| view.name == "counters").expect("a view");
    let options = Options { view, ..Options::default() };
    let text = report::text(&(&profile).into(), &options, &NoSymbols);
    // Long reasons are broken between words.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["page-faults, run", "task-clock (ns), run", "library in region fill", "routine shmem_barrier_all"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    if !cycles.available {
        assert!(text.contains(&cycles.remark), "{text}");
    }
}
