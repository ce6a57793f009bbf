//! What a scrape costs: of a simulated job whose PEs are processes that have recorded calls and now wait for PE 0 in a
//! barrier. Then what the job pays for it: PE 0 makes short calls, in turns with scrapes and without.
//!
//! `cargo run --release -p oshserve --example scrape_cost [PES [SCRAPES [CALLS]]]` prints the time of a scrape, that
//! of the processor for it, its series and its bytes. Each PE has made CALLS calls (100) of each of eight routines.
//! The second line is the processor time of PE 0 for a call of `shmem_long_p`, without and with 1,000 scrapes.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use oshserve::metrics::collect::Identity;
use oshserve::metrics::openmetrics;
use oshserve::serve::jobs::{Jobs, Limits};
use oshserve::serve::tracked::Tracked;
use pellucid_profile::op::{Class, Timing};
use pellucid_profile::recorder::{self, Mark};
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
    let (pes, scrapes, calls) = (number(1, 64), number(2, 20).max(1), number(3, 100));
    let info = JobInfo { program: "simulated".into(), ..JobInfo::default() };
    let fd = segment::create(pes as u32, &info).expect("a segment");
    let progress = Progress::new();
    let children: Vec<i32> =
        (0..pes).map(|pe| start(fd.as_raw_fd(), (pe as u32, pes as u32), calls, progress)).collect();
    let segment = Segment::map(std::os::fd::AsFd::as_fd(&fd)).expect("the segment");
    await_all(&segment);
    let limits = Limits { linger: Duration::from_secs(1), max_series: 1000, show_user: false, top: 0, by_node: false };
    let jobs = Jobs::new(limits);
    jobs.only_these();
    let identity = Identity { job_id: "simulated".into(), ..Identity::default() };
    assert!(jobs.add(Tracked::new(segment, identity, None, 0)));
    let (mut times, mut bytes, mut series) = (Vec::new(), 0, 0);
    let before = processor();
    for _ in 0..scrapes {
        let begun = Instant::now();
        let families = jobs.page(None);
        bytes = openmetrics::encode(&families).len();
        times.push(begun.elapsed());
        series = families.iter().map(|family| family.len()).sum::<usize>();
    }
    let used = (processor() - before) / scrapes as u64;
    times.sort();
    println!(
        "{pes} PEs, {scrapes} scrapes: median {:.2} ms, least {:.2} ms, most {:.2} ms, of the processor {:.2} ms; \
         {series} series, {bytes} bytes",
        times[times.len() / 2].as_secs_f64() * 1e3,
        times[0].as_secs_f64() * 1e3,
        times[times.len() - 1].as_secs_f64() * 1e3,
        used as f64 / 1e6,
    );
    if pes <= MOST_IN_TURNS {
        turns(&jobs, progress);
    }
    for child in children {
        // SAFETY: children of this process that have not been waited for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
}

/// A process that records some calls of a PE, and waits.
fn start(segment: RawFd, (pe, pes): (u32, u32), calls: usize, progress: &Progress) -> i32 {
    // SAFETY: there is one thread.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: sets an attribute of this process.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            if recorder::attach(segment, pe, pes, 0, pes).is_ok() {
                set_level(1);
                ROUTINES.into_iter().filter_map(op::find).for_each(|routine| call(routine, pe, pes, calls));
                recorder::mark(Mark::Initialized);
            }
            match op::find("shmem_barrier_all").filter(|_| pe > 0) {
                Some(barrier) => recorder::timed(barrier, -1, 0, 0, stay),
                None => progress.make(op::find("shmem_long_p").expect("a routine")),
            }
        }
        child => child,
    }
}

/// What PE 0 has done, in memory that it shares with this process.
struct Progress {
    /// Whether it makes calls.
    runs: AtomicBool,
    calls: AtomicU64,
    /// Its time on a processor, in nanoseconds.
    ns: AtomicU64,
}

/// Calls between two looks at the clock.
const ROUND: u64 = 20_000;

impl Progress {
    fn new() -> &'static Progress {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which stays; zeros are a value of these atomics.
        let place = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Progress>(), access, kind, -1, 0) };
        assert_ne!(place, libc::MAP_FAILED, "memory");
        // SAFETY: as above; a page is aligned for all.
        unsafe { &*place.cast::<Progress>() }
    }

    /// PE 0: calls while they are wanted.
    fn make(&self, routine: u16) -> ! {
        loop {
            while !self.runs.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let before = processor();
            (0..ROUND).for_each(|_| recorder::sampled(routine, 1, 0, 8, || ()));
            self.ns.fetch_add(processor() - before, Relaxed);
            self.calls.fetch_add(ROUND, Relaxed);
        }
    }

    /// Nanoseconds of a call while `during` runs.
    fn of_a_call(&self, during: impl FnOnce()) -> f64 {
        let (calls, ns) = (self.calls.load(Relaxed), self.ns.load(Relaxed));
        during();
        (self.ns.load(Relaxed) - ns) as f64 / (self.calls.load(Relaxed) - calls).max(1) as f64
    }
}

/// PEs up to which turns take seconds.
const MOST_IN_TURNS: usize = 256;
/// Scrapes in all, and in a row.
const SCRAPES: usize = 1000;
const IN_A_ROW: usize = 20;

/// PE 0 calls, in turns with scrapes and for as long without.
fn turns(jobs: &Jobs, progress: &Progress) {
    progress.runs.store(true, Relaxed);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let mut lasted = Duration::from_millis(100);
    for _ in 0..SCRAPES / IN_A_ROW {
        without.push(progress.of_a_call(|| std::thread::sleep(lasted)));
        let begun = Instant::now();
        with.push(progress.of_a_call(|| {
            for _ in 0..IN_A_ROW {
                openmetrics::encode(&jobs.page(None));
                std::thread::sleep(Duration::from_millis(2));
            }
        }));
        lasted = begun.elapsed();
    }
    let ratios: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with / without).collect();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!(
        "a call: {:.3} ns without scrapes, {:.3} ns with {SCRAPES}: median of {} ratios {:.4}",
        median(without),
        median(with),
        ratios.len(),
        median(ratios)
    );
}

/// What this process has had of the processors, in nanoseconds.
fn processor() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to what it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Calls, recorded as the library does.
fn call(routine: u16, pe: u32, pes: u32, calls: usize) {
    let Some(row) = op::get(routine) else { return };
    let has_peer = op::traits(routine) & op::TRANSFER != 0;
    for call in 0..calls {
        let peer = if has_peer { ((pe + 1 + call as u32 % 4) % pes) as i32 } else { -1 };
        match row.timing {
            Timing::Sampled => recorder::sampled(routine, peer, 0, usize::from(row.elem), || ()),
            Timing::Sized => recorder::sized(routine, peer, 0, 64 << (call % 8), || ()),
            Timing::Timed => {
                recorder::timed(routine, peer, 0, if row.class == Class::Collective { 8 } else { 0 }, || ())
            }
        }
    }
}

fn stay() -> ! {
    loop {
        // SAFETY: no arguments.
        unsafe { libc::pause() };
    }
}

/// All have recorded what they have to.
fn await_all(segment: &Segment) {
    use pellucid_profile::segment::layout::PE_INITIALIZED;
    let is_there = |pe| segment.region(pe).is_some_and(|region| region.head.state.load(Relaxed) == PE_INITIALIZED);
    while !segment.pes().all(is_there) {
        std::thread::sleep(Duration::from_millis(10));
    }
}
