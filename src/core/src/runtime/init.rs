//! Start-up (Sections 9.1.1, 9.1.5).
#![allow(unsafe_code)]

use super::spaces;
use super::thread::{check_thread, compare_thread, set_thread};
use super::{
    NESTING, NETWORK, PROCESS, Process, WIREUP, WORLD, Wireup, exit, liveness, losses, map, messages, network, report,
    world,
};
use crate::base::{Cause, Fault, env};
use crate::bootstrap::common::CommonSettings;
use crate::bootstrap::job::{Job, PeState};
use crate::bootstrap::{self, Profiles, by_option, ring::Stage};
use crate::collectives;
use crate::collectives::table;
use crate::memory::heap::Heap;
use crate::memory::segments::{self, INTERNAL};
use crate::memory::{Map, allocator};
use crate::os::{process, standard, streams, wait};
use crate::team::algorithm::{self, Forced};
use crate::team::contribution::Kind;
use crate::team::pe_list::PeList;
use crate::team::{self, Config, Team, World};
use crate::transport::Atomics;
use crate::transport::registry::{self, Wanted};
use std::ops::Range;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// What an initialization tells its caller, who attaches the profile at the first one.
#[derive(Debug, Clone)]
pub struct Start {
    /// Whether this was the first of the process.
    pub first: bool,
    /// The profile segment that the launcher holds; this process owns the descriptor.
    pub profile_fd: Option<RawFd>,
    /// The launcher writes the profile at the end of the job: it is ours.
    pub kept_by_launcher: bool,
    /// This PE.
    pub pe: i32,
    /// PEs of the job.
    pub npes: i32,
    /// Lowest PE of this host.
    pub first_local_pe: i32,
    /// PEs of this host.
    pub local_pes: u32,
    /// Cores that these may take between them.
    pub cores: u32,
    /// Profile level asked for; 0 is off.
    pub profile_level: i32,
    /// Trace asked for: directory, bytes a thread, whether it is on from the start.
    pub trace: Option<env::Trace>,
    /// How calls are sampled.
    pub sampling: (u64, u64),
    /// Counters asked for: name and value of the variable.
    pub counters: Option<(String, String)>,
    /// Thread level in force.
    pub provided: i32,
}

/// Initializes the library with a thread level ([`super::thread::Level`]), or counts one more initialization;
/// collective over the job. Not in a forked child.
/// `profiles` makes the host's profile segment under a launcher that is not ours.
pub fn init_thread(requested: i32, profiles: Profiles) -> Result<Start, Fault> {
    check_thread(requested)?;
    refuse_forked()?;
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let first = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = Counted::nested();
    let nested = counted.is_some();
    let provided = set_thread(requested, nested);
    let mut result = Start {
        first: false,
        profile_fd: None,
        kept_by_launcher: false,
        pe: map().me,
        npes: map().npes,
        first_local_pe: map().first_pe,
        local_pes: map().local_pes,
        cores: map().cores,
        profile_level: 0,
        trace: None,
        sampling: (1, 1),
        counters: None,
        provided,
    };
    match super::process() {
        None => {
            result.first = true;
            prepare();
            let process = start(&mut result, profiles)?;
            process.job.host_barrier();
            compare_thread(world())?;
            process.job.pe(process.pe).set_state(PeState::Initialized);
            process::at_exit(exit::at_exit);
            count_first();
        }
        Some(process) if !nested => {
            // Initialized again after the last finalize: a fresh heap at the same place, no teams, no contexts.
            world().common.after_syncs(None);
            collectives::barrier_in(world(), Kind::Init)?;
            process.heap.clear();
            messages::messages().reopen();
            collectives::files::forget_all();
            collectives::spaces::forget_all(world());
            team::forget_all(world());
            process.job.pe(process.pe).set_state(PeState::Initialized);
            liveness::tell(Stage::Initialized);
            // All PEs meet in it.
            compare_thread(world())?;
            count_first();
        }
        Some(_) => {
            drop(first);
            collectives::barrier_in(world(), Kind::Init)?;
            compare_thread(world())?;
        }
    }
    if let Some(counted) = counted {
        counted.keep();
    }
    Ok(result)
}

/// The first initialization is complete: from now on routines find all that they need.
fn count_first() {
    NESTING.store(1, Ordering::Release);
}

/// A further initialization in [`NESTING`], until this is dropped: one that fails has no finalize.
struct Counted;

impl Counted {
    /// Where the library is initialized.
    fn nested() -> Option<Self> {
        let more = |uses: u32| (uses > 0).then_some(uses + 1);
        NESTING.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self)
    }

    /// It has succeeded.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        forget_init();
    }
}

/// The last initialization is none: it has come to an error, and has no finalize.
pub fn forget_init() {
    // Others may have ended all meanwhile.
    let _ = NESTING.fetch_update(Ordering::AcqRel, Ordering::Acquire, |uses| uses.checked_sub(1));
}

/// A forked child would take its parent's place where the PEs meet.
fn refuse_forked() -> Result<(), Fault> {
    let Some(process) = super::process().filter(|process| exit::is_forked(process)) else { return Ok(()) };
    let text = format!("called in a forked child of PE {}, which has no part in the job", process.pe);
    Err(Fault::from(Cause::Startup(text)))
}

/// Before anything is opened or asked for. What the options of a job further out have set is for the PEs of that.
fn prepare() {
    standard::reserve();
    if !bootstrap::is_of_oshrun() {
        // SAFETY: as for the variables of the launcher: the library has no threads yet, and a program whose threads
        // change the environment at this moment would race with any setenv of its own as well.
        unsafe { by_option::forget() };
    }
}

fn start(result: &mut Start, profiles: Profiles) -> Result<&'static Process, Fault> {
    env::check()?;
    exit::end_faults_by(env::abort()?);
    result.profile_level = env::profile_level()?;
    result.trace = env::trace()?;
    result.sampling = env::sampling()?;
    result.counters = env::counters();
    let check = env::is_set("DEBUG");
    let algorithms = table::from_env()?;
    let transports = registry::wanted()?;
    let launch = bootstrap::find(profiles.make, |wireup| _ = WIREUP.set(wireup))?;
    if launch.launched {
        streams::line_buffered_stdout();
    }
    if launch.pe == 0 {
        report::at_start(&launch.how);
    }
    let wireup = network::wireup(&launch, transports.is_network_only())?;
    // Until all hosts have met below.
    let _reminder = launch.reminder;
    let (job, pe) = (launch.job, launch.pe);
    let heap_len = allocator::room_for(usize::try_from(env::symmetric_size()?).unwrap_or(usize::MAX));
    let settings = CommonSettings::new(check, transports.is_network_only(), env::atomics_by_nic()?, &algorithms.0);
    let segments = segments::establish(&job, pe, settings, heap_len, env::static_segment()?)?;
    if check {
        let how = (pe == job.pes().start && WIREUP.get().is_some()).then(|| format!("started by {}", launch.how));
        how.iter().chain(&segments.notes).for_each(|note| crate::say!("pellucid: PE {pe}: {note}"));
    }
    let heap = Heap::observed(segments.heap_base, segments.heap_len);
    // From here on a fault knows which PE it is.
    let process: &'static Process = Box::leak(Box::new(Process { job, pe, heap, id: process::id() }));
    let _ = PROCESS.set(process);
    wait::set_look(exit::flush_before_end);
    liveness::start(process, launch.launched, launch.profile.as_ref(), profiles.place);
    launch.ring.into_iter().for_each(liveness::join);
    let job = &process.job;
    // Who is reached through memory.
    let near = if wireup.is_some() && transports.is_network_only() { pe..pe + 1 } else { job.pes() };
    let mut map = segments.map(pe, near.clone(), job.npes(), check);
    (map.heap, map.losses) = (Some(&process.heap), losses::of(job, segments.peers));
    let mut hosts = vec![0];
    if let Some(wireup) = wireup {
        let begin = network::Begin { profiles, segment: launch.profile.as_ref(), settings };
        hosts = join_network(&mut map, wireup, transports, &begin)?;
    }
    // Areas are found by world number.
    let internal = segments.internal.wrapping_sub(job.pes().start as usize * INTERNAL).cast_const();
    spaces::open(&mut map, job, &near, internal);
    make_world(map, job, near.clone(), hosts, internal, algorithms);
    let map = super::map();
    losses::monitor(world())?;
    messages::open(map, internal.wrapping_add(near.start as usize * INTERNAL).cast_mut());
    result.kept_by_launcher = launch.launched && WIREUP.get().is_none();
    result.profile_fd = launch.profile.map(IntoRawFd::into_raw_fd);
    (result.pe, result.npes) = (map.me, map.npes);
    result.first_local_pe = map.first_pe;
    result.local_pes = map.local_pes;
    result.cores = map.cores;
    Ok(process)
}

/// Meets the PEs of all hosts over the network, and gives the first PE of each host.
fn join_network(
    map: &mut Map,
    wireup: Arc<dyn Wireup>,
    transports: Wanted,
    begin: &network::Begin<'_>,
) -> Result<Vec<u32>, Fault> {
    let atomics = if env::atomics_by_nic()? { Atomics::Nic } else { Atomics::Cpu };
    let (network, hosts) = network::join(wireup, map, transports, atomics, begin)?;
    if map.me == 0 && env::is_set("INFO") {
        crate::say!("pellucid: {}", network.about(hosts.len()).trim_end());
    }
    map.transport = Some(network.transport);
    if atomics == Atomics::Nic {
        map.atomic_pes = 0;
    }
    let _ = NETWORK.set(network);
    network::assist_waiters();
    Ok(hosts)
}

/// Makes the teams. `near`: the PEs that are reached through memory; `internal`: where PE 0's internal area is, or
/// would be.
fn make_world(map: Map, job: &'static Job, near: Range<u32>, hosts: Vec<u32>, internal: *const u8, algorithms: Forced) {
    let (me, all) = (map.me, PeList::Strided { start: 0, stride: 1, size: map.npes as usize });
    let shared = (near.start as i32, 1, near.len() as i32);
    let barriers = algorithm::Barriers::of(&algorithms, map.oversubscribed);
    let world = World {
        map,
        world: Team::placed(&hosts, internal, 0, all, me, Config::default()),
        shared: Team::new(internal, 1, shared, me - shared.0, Config::default()),
        numa: spaces::numa_team(job, &near, internal, me),
        finalize_barrier: team::finalizing::FinalizeBarrier::new(internal, shared, me - shared.0),
        internal,
        algorithms,
        barriers,
        hosts,
        common: team::hierarchical::Common::new(),
    };
    // Ids that are never free.
    world.world.mine().ids[0].store(team::ALWAYS, Ordering::Release);
    // SAFETY: inits are one at a time, and no other thread reads the world before this one has returned: see WorldCell.
    unsafe { WORLD.0.get().write(world) };
}

/// Whether an initialization is without its finalize.
pub fn query_initialized() -> bool {
    NESTING.load(Ordering::Acquire) > 0
}

/// Initializations without their finalize.
pub fn uses() -> u32 {
    NESTING.load(Ordering::Acquire)
}

/// This PE.
#[inline]
pub fn my_pe() -> Result<i32, Fault> {
    map().ready().map(|()| map().me)
}

/// PEs of the job.
#[inline]
pub fn n_pes() -> Result<i32, Fault> {
    map().ready().map(|()| map().npes)
}
