//! Start and end of the library, and of its profile.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use pellucid_core::base::observer::{self, Observer};
use pellucid_core::base::{Cause, Fault, env};
use pellucid_core::bootstrap::Profiles;
use pellucid_core::collectives::table;
use pellucid_core::os::cgroup;
use pellucid_core::os::crash::{self, Crashed};
use pellucid_core::os::own_fd;
use pellucid_core::os::{python, signal_stack};
use pellucid_core::runtime::{self, Level, Start};
use pellucid_profile::recorder::{self, Mark, Stamp};
use pellucid_profile::segment::identity::set_transport;
use pellucid_profile::segment::{self, Segment};
use pellucid_profile::{arm, op, trace};

use crate::caller;
use crate::check;
use crate::dispatcher;
use crate::errors;
use crate::fault_site;
use crate::finale;
use crate::handles;
use crate::identity;
use crate::info::answer;
use crate::line;
use crate::metrics;
use crate::places;
use crate::profile_files;
use crate::stall;
use crate::thread;
use crate::tool;

/// Those that initialize.
const ROUTINES: [&str; 3] = ["shmem_init", "shmem_init_thread", "start_pes"];

/// 9.1.1: initializes the library, or counts one more user of it.
///
/// # Errors
/// What the runtime found.
pub fn init() -> Result<(), Fault> {
    begin(Some(ROUTINES[0]), Level::Single as c_int).map(drop)
}

/// 9.2.1: as [`init`], with a thread level.
///
/// # Errors
/// What the runtime found.
pub fn init_thread(requested: c_int, provided: *mut c_int) -> Result<c_int, Fault> {
    if provided.is_null() {
        return Err(Fault::from(Cause::Null { arg: "provided", bytes: size_of::<i32>() }));
    }
    let start = begin(Some(ROUTINES[1]), requested)?;
    answer("provided", provided, start.provided)?;
    Ok(0)
}

/// The same for a routine of another interface, which is the program's call, and records itself. Gives the level.
///
/// # Errors
/// What the runtime found.
pub fn init_within(requested: c_int) -> Result<c_int, Fault> {
    begin(None, requested).map(|start| start.provided)
}

/// 9.1.4: finalizes the library, or counts one user less.
///
/// # Errors
/// What the runtime found.
pub fn finalize() -> Result<(), Fault> {
    if runtime::uses() == 1 {
        recorder::mark(Mark::Finalizing);
    }
    if runtime::finalize()? {
        STARTED.store(false, Relaxed);
        recorder::mark(Mark::Finalized);
        errors::forget_teams();
        finale::begin();
    }
    Ok(())
}

/// Whether `start_pes` has initialized the library, and that is not finalized.
static STARTED: AtomicBool = AtomicBool::new(false);

/// 9.1.13: initializes once; the number of PEs is ignored, repeated calls do nothing until the library is
/// finalized. The runtime finalizes at exit what is still open.
///
/// # Errors
/// What the runtime found.
pub fn start_pes(_npes: c_int) -> Result<(), Fault> {
    if STARTED.swap(true, Relaxed) {
        return Ok(());
    }
    let begun = begin(Some(ROUTINES[2]), Level::Single as c_int);
    STARTED.store(begun.is_ok(), Relaxed);
    begun.map(drop)
}

/// What the end of a program does that left an initialization open. Of one that began with [`start_pes`] it is the
/// `shmem_finalize` (9.1.13); of others it is recorded as one, but they have not finalized.
fn finish_at_exit(finish: &mut dyn FnMut()) {
    let op = op::find("shmem_finalize").filter(|_| recorder::level() > 0);
    // The program has no call for it: it would be said to be at the last one that it has.
    recorder::set_site(0);
    recorder::mark(Mark::Finalizing);
    match op {
        Some(op) => recorder::timed(op, -1, 0, 0, finish),
        None => finish(),
    }
    if STARTED.load(Relaxed) {
        recorder::mark(Mark::Finalized);
    }
}

/// The first constructor of this library.
#[allow(unsafe_code)] // the name is ours alone
#[unsafe(no_mangle)]
extern "C" fn pellucid_register_forks() {
    pellucid_core::memory::fork_copy::register();
}

/// The destructor of this library.
#[allow(unsafe_code)] // the name is ours alone
#[unsafe(no_mangle)]
extern "C" fn pellucid_left() {
    profile_files::at_exit();
    runtime::left();
}

/// What the core tells of.
const OBSERVER: Observer = Observer {
    heap_in_use: recorder::heap_in_use,
    context_made: recorder::context_made,
    algorithm: recorder::algorithm,
    waits: stall::OBSERVER,
    requests: handles::OBSERVER,
    faults: errors::OBSERVER,
    callers: fault_site::CALLERS,
    call_name: check::call_name,
    routines: thread::ROUTINES,
    finish: finish_at_exit,
    failing: profile_files::at_failure,
};

/// Initializes on behalf of a routine. If it is named, it is recorded at the first time after the fact: it began before
/// there was anything to record into.
fn begin(routine: Option<&str>, thread_level: c_int) -> Result<Start, Fault> {
    let stamp = Stamp::now();
    begun();
    stall::keep();
    observer::install(OBSERVER);
    let start = runtime::init_thread(thread_level, PROFILES)?;
    finale::end();
    if start.first && runtime::map().check {
        check::begin();
    }
    let counters = beside(&start).inspect_err(|_| runtime::forget_init())?;
    if start.first && profile(&start) {
        recorder::began(stamp);
        if recorder::level() > 0
            && let Some(op) = routine.and_then(called)
        {
            recorder::record(op, -1, 0, 0, stamp);
        }
        // What recording it takes is no time of the program's.
        recorder::mark(Mark::Initialized);
        // From here on: what initialization counts is not the program's.
        if !counters.is_empty() {
            recorder::count(&counters);
        }
    }
    Ok(start)
}

/// The operation that the program has called where `routine` initializes: a tool that has its call may do so by another
/// routine.
fn called(routine: &str) -> Option<u16> {
    let initializes = |op: &u16| op::traits(*op) & op::INITIALIZES != 0;
    dispatcher::unrecorded().filter(initializes).or_else(|| op::find(routine))
}

/// Finds what is asked for beside the library's own part, before the program does anything. Gives the counters.
fn beside(start: &Start) -> Result<Vec<usize>, Fault> {
    let counters = counters(start)?;
    metrics::check(start)?;
    if start.first && start.profile_fd.is_none() {
        places::take_alone();
    }
    places::check()?;
    Ok(counters)
}

/// When the first initialization began.
fn begun() -> Instant {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    *BEGUN.get_or_init(Instant::now)
}

/// A profile segment for the PEs of this host is made by the first of them. A job runs on without, as it does where its
/// begin is not known on another host.
const PROFILES: Profiles = Profiles {
    make: |pes, npes| {
        let is_first = pes.start == 0;
        let made = recorder::shared_segment(pes, npes, profile_files::counts_only(), begun().elapsed()).ok()?;
        identity::tell(made.as_raw_fd());
        if is_first {
            places::take(made.as_raw_fd());
        }
        Some(made)
    },
    origin: |fd| segment::origin(fd).unwrap_or_default(),
    follow: |fd, origin| {
        if segment::follow(fd, origin).is_ok() {
            places::follow(fd);
        }
    },
    place,
};

/// Words for where a PE of this host is. `line`: how long the source line may take.
#[allow(unsafe_code)]
fn place(segment: RawFd, pe: u32, crashed: Option<&Crashed>, line: Duration) -> String {
    if segment == own_fd::NONE {
        return String::new();
    }
    // SAFETY: the runtime holds the descriptor open while it asks.
    let segment = unsafe { BorrowedFd::borrow_raw(segment) };
    Segment::map(segment)
        .map(|segment| {
            let of = |file: &str, address| line::of(file, address, line);
            let crashed = crashed.and_then(|crashed| segment.crashed(pe, crashed, of));
            crashed.unwrap_or_else(|| segment.place(pe, of))
        })
        .unwrap_or_default()
}

/// The counters that `SHMEM_COUNTERS` names.
fn counters(start: &Start) -> Result<Vec<usize>, Fault> {
    let Some((name, value)) = &start.counters else { return Ok(Vec::new()) };
    pellucid_profile::counters::parse(value).map_err(|reason| {
        Fault::from(Cause::Environment { name: name.clone(), value: value.clone(), reason: reason.into() })
    })
}

/// Has the profile know the lines of a script that Python runs in this process. Where they are not to be had, those who
/// asked for a profile are told, once.
fn script_lines(start: &Start) {
    if !env::python_lines().unwrap_or(false) || !python::is_there() {
        return;
    }
    if python::is_readable() {
        recorder::script_source(python::lines);
    } else if start.profile_level > 0 && start.pe == 0 {
        pellucid_core::say!("pellucid: no lines of the script in the profile: this Python does not show its stack");
    }
}

/// Attaches the recorder at the first initialization and arms the entries. A PE runs on without a profile where there
/// is none to be had: then this gives false.
fn profile(start: &Start) -> bool {
    let attached = match start.profile_fd {
        Some(fd) => {
            recorder::attach(fd, start.pe as u32, start.npes as u32, start.first_local_pe as u32, start.local_pes)
                .map(|()| fd)
        }
        None => recorder::attach_private(start.pe as u32, start.npes as u32, profile_files::counts_only())
            .map(IntoRawFd::into_raw_fd)
            .inspect(|fd| identity::tell(*fd)),
    };
    match attached {
        Ok(segment) => {
            // All PEs of a host would say the same.
            if start.pe == start.first_local_pe {
                let _ = set_transport(segment, runtime::transport_name());
            }
            profile_files::begin(start, segment);
            metrics::begin(start, segment);
            tool::find();
            recorder::set_sampling(Some(start.sampling.0), Some(start.sampling.1));
            recorder::set_exact_sites(env::exact_sites().unwrap_or(false));
            set_level(start.profile_level);
            prepare(start, segment);
            // Callers are looked for where a profile has call sites.
            if !arm::counts_only() {
                caller::prepare();
            }
            recorder::stack_source(caller::calls_into);
            recorder::observe_threads(crash::cover_thread, signal_stack::uncover_thread);
            script_lines(start);
            recorder::network_source(|publish| {
                runtime::network_counters().into_iter().for_each(|(name, value)| publish(name, value));
            });
            let names = table::rows().into_iter().map(|row| format!("{}:{}", row.collective, row.name));
            recorder::algorithm_names(names);
            recorder::note_processors(start.cores, cgroup::cpu_quota());
            true
        }
        Err(error) => {
            // Once a host, and not where nobody asked for one.
            if start.profile_level > 0 && (start.profile_fd.is_some() || start.pe == start.first_local_pe) {
                pellucid_core::say!("pellucid: PE {}: no profile: {error}", start.pe);
            }
            false
        }
    }
}

/// From now on calls are recorded at this level.
pub fn set_level(level: c_int) {
    recorder::set_level(level);
    pellucid_core::team::tell_algorithms(recorder::level() > 0);
}

/// Says where symmetric memory is, and prepares a trace where `SHMEM_TRACE` asks for one. A PE runs on without.
fn prepare(start: &Start, segment: RawFd) {
    let map = runtime::map();
    let memory = trace::Memory { heap: (map.heap_base, map.heap_len), data: (map.data_base, map.data_len) };
    recorder::memory(memory.heap, memory.data);
    let config = match &start.trace {
        Some(env::Trace { bytes, on, full, .. }) => (*bytes, *on, *full),
        None => return,
    };
    let complain = |error: &dyn std::fmt::Display| pellucid_core::say!("pellucid: PE {}: no trace: {error}", start.pe);
    let directory = match places::trace(start, segment) {
        Some(Ok(directory)) => directory,
        Some(Err(error)) => return complain(&error),
        // oshrun was told of no trace; all its PEs would say the same.
        None if start.profile_level > 0 && start.pe == 0 => {
            return complain(&"SHMEM_TRACE is for oshrun to see, which makes the directory: oshrun --trace=DIR");
        }
        None => return,
    };
    let (bytes, on, full) = config;
    let config = trace::Config { directory, bytes, on, full };
    if let Err(error) = trace::attach(segment, start.pe as u32, config, memory) {
        complain(&error);
    }
}
