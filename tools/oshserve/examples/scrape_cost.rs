//! What a scrape costs: of a simulated job whose PEs are processes that have recorded calls and wait.
//!
//! `cargo run --release -p oshserve --example scrape_cost [PES [SCRAPES]]` prints the time of a scrape, its series and its bytes.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use oshserve::metrics::collect::Identity;
use oshserve::metrics::openmetrics;
use oshserve::serve::jobs::{Jobs, Limits};
use oshserve::serve::tracked::Tracked;
use pellucid_profile::recorder::{self, Mark, Stamp};
use pellucid_profile::segment::{self, JobInfo, Segment};
use pellucid_profile::{op, recorder::set_level};

/// Routines that each PE calls.
const ROUTINES: [&str; 8] = [
    "shmem_long_p",
    "shmem_putmem",
    "shmem_getmem",
    "shmem_quiet",
    "shmem_barrier_all",
    "shmem_long_atomic_fetch_add",
    "shmem_long_sum_reduce",
    "shmem_malloc",
];

fn main() {
    let number = |at: usize, default: usize| std::env::args().nth(at).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (pes, scrapes) = (number(1, 64), number(2, 20));
    let info = JobInfo { program: "simulated".into(), ..JobInfo::default() };
    let fd = segment::create(pes as u32, &info).expect("a segment");
    let children: Vec<i32> = (0..pes).map(|pe| start(fd.as_raw_fd(), pe as u32, pes as u32)).collect();
    let segment = Segment::map(std::os::fd::AsFd::as_fd(&fd)).expect("the segment");
    await_all(&segment);
    let limits = Limits { linger: Duration::from_secs(1), max_series: 1000, show_user: false, top: 0, by_node: false };
    let jobs = Jobs::new(limits);
    jobs.only_these();
    let identity = Identity { job_id: "simulated".into(), ..Identity::default() };
    jobs.add(Tracked::new(segment, identity, None));
    let (mut times, mut bytes, mut series) = (Vec::new(), 0, 0);
    for _ in 0..scrapes.max(1) {
        let begun = Instant::now();
        let families = jobs.page(None);
        bytes = openmetrics::encode(&families).len();
        times.push(begun.elapsed());
        series = families.iter().map(|family| family.len()).sum::<usize>();
    }
    times.sort();
    println!(
        "{pes} PEs, {scrapes} scrapes: median {:.2} ms, least {:.2} ms, most {:.2} ms; {series} series, {bytes} bytes",
        times[times.len() / 2].as_secs_f64() * 1e3,
        times[0].as_secs_f64() * 1e3,
        times[times.len() - 1].as_secs_f64() * 1e3,
    );
    for child in children {
        // SAFETY: children of this process that have not been waited for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
}

/// A process that records some calls of a PE, and waits.
fn start(segment: RawFd, pe: u32, pes: u32) -> i32 {
    // SAFETY: there is one thread.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: sets an attribute of this process.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            if recorder::attach(segment, pe, pes, 0, pes).is_ok() {
                set_level(1);
                for routine in ROUTINES.into_iter().filter_map(op::find) {
                    for call in 0..4 {
                        recorder::record(routine, ((pe + call) % pes) as i32, 0, 64, Stamp::now());
                    }
                }
                recorder::mark(Mark::Initialized);
            }
            loop {
                // SAFETY: no arguments.
                unsafe { libc::pause() };
            }
        }
        child => child,
    }
}

/// All have recorded what they have to.
fn await_all(segment: &Segment) {
    use pellucid_profile::segment::layout::PE_INITIALIZED;
    use std::sync::atomic::Ordering::Relaxed;
    let is_there = |pe| segment.region(pe).is_some_and(|region| region.head.state.load(Relaxed) == PE_INITIALIZED);
    while !segment.pes().all(is_there) {
        std::thread::sleep(Duration::from_millis(10));
    }
}
