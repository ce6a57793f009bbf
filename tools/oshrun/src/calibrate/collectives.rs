//! A PE of the job that measures collectives: this program, with the library opened at run time. Which algorithms they
//! take is set in its environment.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_void};
use std::mem::transmute;
use std::path::Path;
use std::ptr;
use std::time::{Duration, Instant};

use super::common::{self, Common, NAME};
use crate::sys::library::Library;

/// Bytes of the argument of a PE.
const SIZES: [usize; 4] = [8, 1024, 32_768, 1 << 20];
/// A result of all PEs is not larger.
const LARGEST: usize = 16 << 20;
/// A group of calls takes about this long.
const GROUP: Duration = Duration::from_micros(300);
/// Most calls of a group.
const MOST: u64 = 1000;
/// Groups of a size, unless they take longer than [`LONGEST`].
const GROUPS: usize = 31;
/// Groups that there are in any case.
const FEWEST: usize = 5;
/// Time for a size.
const LONGEST: Duration = Duration::from_millis(100);
/// `SHMEM_TEAM_WORLD` of `shmem.h`.
const WORLD: *mut c_void = ptr::without_provenance_mut(1);

type Rooted = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_void, usize, c_int) -> c_int;
type All = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_void, usize) -> c_int;
type Longs = unsafe extern "C" fn(*mut c_void, *mut c_long, *const c_long, usize) -> c_int;

struct Routines {
    common: Common,
    broadcast: Rooted,
    fcollect: All,
    alltoall: All,
    sum: Longs,
    scan: Longs,
}

impl Routines {
    fn of(library: &Library) -> Result<Routines, String> {
        // SAFETY: the types are those of `shmem.h`.
        unsafe {
            Ok(Routines {
                common: Common::of(library)?,
                broadcast: transmute::<*mut c_void, Rooted>(library.find(c"shmem_broadcastmem")?),
                fcollect: transmute::<*mut c_void, All>(library.find(c"shmem_fcollectmem")?),
                alltoall: transmute::<*mut c_void, All>(library.find(c"shmem_alltoallmem")?),
                sum: transmute::<*mut c_void, Longs>(library.find(c"shmem_long_sum_reduce")?),
                scan: transmute::<*mut c_void, Longs>(library.find(c"shmem_long_sum_inscan")?),
            })
        }
    }
}

/// Measures as one of the PEs; PE 0 prints what it finds. Gives the exit status.
pub fn run(library: &Path) -> i32 {
    common::run(library, Routines::of, measure_all)
}

/// Symmetric memory of the job.
struct Memory {
    /// As many bytes as the largest argument.
    source: *mut c_void,
    /// [`LARGEST`] bytes.
    dest: *mut c_void,
    /// Calls of a group, as PE 0 has chosen.
    calls: *mut u64,
    /// The PE's host.
    name: *mut c_void,
}

fn measure_all(r: &Routines) -> i32 {
    // SAFETY: the library is initialized before it is used and finalized after; all PEs allocate the same. What one
    // reads of another was written before a barrier.
    unsafe {
        (r.common.init)();
        let (me, npes) = ((r.common.my_pe)(), (r.common.n_pes)());
        let (source, dest) = ((r.common.malloc)(SIZES[SIZES.len() - 1]), (r.common.malloc)(LARGEST));
        let words = (r.common.malloc)(size_of::<u64>() + NAME);
        if source.is_null() || dest.is_null() || words.is_null() {
            pellucid_profile::say!("oshrun --calibrate: no {} MiB of symmetric heap", (LARGEST >> 20) + 1);
            return 1;
        }
        let memory = Memory { source, dest, calls: words.cast(), name: words.cast::<u64>().add(1).cast() };
        libc::gethostname(memory.name.cast(), NAME - 1);
        (r.common.barrier)();
        if me == 0 {
            println!("hosts\t{}", hosts(r, &memory, npes).join("\t"));
        }
        for bytes in SIZES {
            of_size(r, &memory, (me, npes), bytes);
        }
        (r.common.barrier)();
        (r.common.finalize)();
    }
    0
}

/// The host of each PE.
///
/// # Safety
/// Each PE has written its own before a barrier.
unsafe fn hosts(r: &Routines, memory: &Memory, npes: c_int) -> Vec<String> {
    let host = |pe| {
        let mut name = [0_u8; NAME];
        // SAFETY: the buffer has as many bytes.
        unsafe { (r.common.get)(name.as_mut_ptr().cast(), memory.name, NAME, pe) };
        common::host(&name)
    };
    (0..npes).map(host).collect()
}

/// Each collective with an argument of so many bytes.
///
/// # Safety
/// All PEs come here, the memory is symmetric.
unsafe fn of_size(r: &Routines, memory: &Memory, (me, npes): (c_int, c_int), bytes: usize) {
    let (to, from, count) = (memory.dest, memory.source.cast_const(), bytes / size_of::<c_long>());
    let say = |name: &str, bytes: usize, (ns, spread): (f64, f64)| {
        if me == 0 {
            println!("{name}\t{bytes}\t{ns}\t{spread}");
        }
    };
    // SAFETY: the caller's; arguments and results are within their bounds.
    unsafe {
        if bytes == SIZES[0] {
            say("barrier", 0, measure(r, memory, me, || (r.common.barrier)()));
        }
        say("broadcast", bytes, measure(r, memory, me, || _ = (r.broadcast)(WORLD, to, from, bytes, 0)));
        say("reduce", bytes, measure(r, memory, me, || _ = (r.sum)(WORLD, to.cast(), from.cast(), count)));
        say("scan", bytes, measure(r, memory, me, || _ = (r.scan)(WORLD, to.cast(), from.cast(), count)));
        let of_all = bytes.saturating_mul(npes as usize);
        if of_all <= LARGEST {
            say("fcollect", bytes, measure(r, memory, me, || _ = (r.fcollect)(WORLD, to, from, bytes)));
        }
        // Its argument has a block for each PE.
        if of_all <= SIZES[SIZES.len() - 1] {
            say("alltoall", bytes, measure(r, memory, me, || _ = (r.alltoall)(WORLD, to, from, bytes)));
        }
    }
}

/// Time of a call in the median group of calls, in nanoseconds, and how far the quarters of the groups are from each
/// other as a share of that. All PEs make the same calls.
///
/// # Safety
/// The library is initialized; all PEs come here.
unsafe fn measure(r: &Routines, memory: &Memory, me: c_int, call: impl Fn()) -> (f64, f64) {
    let group = |calls: u64| {
        // SAFETY: the caller's.
        unsafe { (r.common.barrier)() };
        let begin = Instant::now();
        (0..calls).for_each(|_| call());
        // SAFETY: the caller's. Who is through first waits for what the others still do.
        unsafe { (r.common.barrier)() };
        begin.elapsed()
    };
    // Caches, pages and connections are there from the second call on.
    group(2);
    let took = group(8) / 8;
    if me == 0 {
        let calls = (GROUP.as_nanos() / took.as_nanos().max(1)).clamp(1, u128::from(MOST)) as u64;
        let most = LONGEST.as_nanos() / (took.as_nanos().max(1) * u128::from(calls));
        let groups = most.clamp(FEWEST as u128, GROUPS as u128) as u64;
        // SAFETY: PE 0's own word, which the others read after the barrier.
        unsafe { memory.calls.write(calls << 32 | groups) };
    }
    let mut chosen = 0_u64;
    // SAFETY: as above; nobody writes the word before all have read it, which they have where the first group begins.
    unsafe {
        (r.common.barrier)();
        (r.common.get)((&raw mut chosen).cast(), memory.calls.cast_const().cast(), size_of::<u64>(), 0);
    }
    let (calls, groups) = (chosen >> 32, chosen & u64::from(u32::MAX));
    let mut times: Vec<f64> = (0..groups).map(|_| group(calls).as_nanos() as f64 / calls.max(1) as f64).collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[part * (times.len() - 1) / 4];
    (at(2), (at(3) - at(1)) / at(2).max(0.1))
}
