//! A PE of the job that measures: this program, with the library opened at run time.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_void};
use std::mem::transmute;
use std::path::Path;
use std::time::{Duration, Instant};

use pellucid_profile::calibration::{MEMORY, Measured, Point};

use super::common::{self, Common, NAME, Transfer};
use crate::sys::library::Library;

/// Bytes of the largest put and get.
const LARGEST: usize = 8 << 20;
/// Sizes of puts and gets.
const SIZES: [usize; 10] = [8, 64, 512, 2048, 8192, 32_768, 131_072, 524_288, 2 << 20, LARGEST];
/// Bytes of strided puts.
const STRIDED: [usize; 5] = [64, 512, 8192, 131_072, 2 << 20];
/// A group of calls takes this long at the least.
const GROUP: Duration = Duration::from_micros(20);
/// Groups of a size, unless they take longer than [`LONGEST`].
const GROUPS: usize = 400;
/// Groups that there are in any case.
const FEWEST: usize = 5;
/// Time for a size.
const LONGEST: Duration = Duration::from_millis(40);

type Strided = unsafe extern "C" fn(*mut c_long, *const c_long, isize, isize, usize, c_int);
type Pointer = unsafe extern "C" fn(*const c_void, c_int) -> *mut c_void;
type Add = unsafe extern "C" fn(*mut c_long, c_long, c_int) -> c_long;

/// The routines that are measured, and those that are needed for it.
struct Routines {
    common: Common,
    quiet: unsafe extern "C" fn(),
    pointer: Pointer,
    put: Transfer,
    iput: Strided,
    add: Add,
}

impl Routines {
    fn of(library: &Library) -> Result<Routines, String> {
        // SAFETY: the types are those of `shmem.h`.
        unsafe {
            Ok(Routines {
                common: Common::of(library)?,
                quiet: transmute::<*mut c_void, unsafe extern "C" fn()>(library.find(c"shmem_quiet")?),
                pointer: transmute::<*mut c_void, Pointer>(library.find(c"shmem_ptr")?),
                put: transmute::<*mut c_void, Transfer>(library.find(c"shmem_putmem")?),
                iput: transmute::<*mut c_void, Strided>(library.find(c"shmem_long_iput")?),
                add: transmute::<*mut c_void, Add>(library.find(c"shmem_long_atomic_fetch_add")?),
            })
        }
    }
}

/// Measures as one of two PEs; PE 0 prints what it finds. Gives the exit status.
pub fn run(library: &Path) -> i32 {
    common::run(library, Routines::of, measure_all)
}

fn measure_all(r: &Routines) -> i32 {
    let mut own = vec![1_u8; LARGEST];
    // SAFETY: the library is initialized before it is used and finalized after; both PEs allocate the same, of which PE
    // 0 alone reads and writes PE 1's, within its bounds, before the barrier that both leave then.
    unsafe {
        (r.common.init)();
        let (me, npes) = ((r.common.my_pe)(), (r.common.n_pes)());
        let memory = (r.common.malloc)(LARGEST + NAME);
        if npes != 2 || memory.is_null() {
            pellucid_profile::say!(
                "oshrun --calibrate: {npes} PEs, where 2 measure, or no {LARGEST} bytes of symmetric heap"
            );
            return 1;
        }
        let name = memory.cast::<u8>().add(LARGEST).cast::<c_void>();
        libc::gethostname(name.cast(), NAME - 1);
        memory.write_bytes(0, LARGEST);
        (r.common.barrier)();
        if me == 0 {
            let mut other = [0_u8; NAME];
            (r.common.get)(other.as_mut_ptr().cast(), name, NAME, 1);
            let here = &*name.cast::<[u8; NAME]>();
            // Hosts may have the same name, containers above all: what can be pointed to goes through memory.
            let is_memory = !(r.pointer)(memory, 1).is_null();
            let (begin, stood) = (Instant::now(), stood_in_line());
            let points = points(r, memory, &mut own);
            let stood = stood_in_line().saturating_sub(stood).as_secs_f64() / begin.elapsed().as_secs_f64();
            say([here, &other], is_memory, stood.min(1.0), &points);
        }
        (r.common.barrier)();
        (r.common.finalize)();
    }
    0
}

/// Time in which this thread could have run and had no core, so far; nothing where the kernel does not tell.
fn stood_in_line() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0))
}

/// What [`super::understood`] reads: host, host, way and the share of the time without a core, then a line a point.
fn say(names: [&[u8; NAME]; 2], is_memory: bool, coreless: f64, points: &[Point]) {
    let [here, other] = names.map(common::host);
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let provider = || variable("SHMEM_OFI_PROVIDER").or_else(|| variable("FI_PROVIDER"));
    let way = if is_memory { MEMORY.to_owned() } else { provider().unwrap_or_else(|| "network".to_owned()) };
    println!("hosts\t{here}\t{other}\t{way}\t{coreless}");
    for p in points {
        println!("{}\t{}\t{}\t{}", p.kind.name(), p.bytes, p.ns, p.spread);
    }
}

/// # Safety
/// The library is initialized; `to` is symmetric, of [`LARGEST`] bytes, and PE 1 does not use its own now.
unsafe fn points(r: &Routines, to: *mut c_void, own: &mut [u8]) -> Vec<Point> {
    let from = own.as_mut_ptr().cast::<c_void>();
    let mut points = Vec::new();
    let mut add = |kind, bytes: usize, (ns, spread)| {
        points.push(Point { kind, bytes: bytes as u64, ns, spread });
    };
    // SAFETY: the caller's; no call goes beyond its buffers: the strided ones write to half of the
    // target.
    unsafe {
        for bytes in SIZES {
            add(Measured::Put, bytes, measure(|| (r.put)(to, from, bytes, 1), r.quiet));
            add(Measured::Get, bytes, measure(|| (r.common.get)(from, to, bytes, 1), r.quiet));
        }
        add(Measured::Amo, 8, measure(|| _ = (r.add)(to.cast(), 1, 1), r.quiet));
        for bytes in STRIDED {
            let call = || (r.iput)(to.cast(), from.cast(), 2, 1, bytes / size_of::<c_long>(), 1);
            add(Measured::Strided, bytes, measure(call, r.quiet));
        }
    }
    points
}

/// Time of a call in the fastest group of calls, in nanoseconds, and how much longer the median group took.
///
/// # Safety
/// The library is initialized.
unsafe fn measure(call: impl Fn(), quiet: unsafe extern "C" fn()) -> (f64, f64) {
    let group = |calls: u32| {
        let begin = Instant::now();
        (0..calls).for_each(|_| call());
        // SAFETY: the caller's.
        unsafe { quiet() };
        begin.elapsed()
    };
    // Caches, pages and connections are there from the second call on.
    group(2);
    let mut calls = 1;
    while calls < 1 << 20 && group(calls) < GROUP {
        calls *= 2;
    }
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < GROUPS && (times.len() < FEWEST || begin.elapsed() < LONGEST) {
        times.push(group(calls));
    }
    times.sort_unstable();
    let ns = |time: Duration| time.as_nanos() as f64 / f64::from(calls);
    let (best, median) = (ns(times[0]), ns(times[times.len() / 2]));
    (best, median / best.max(0.1) - 1.0)
}
