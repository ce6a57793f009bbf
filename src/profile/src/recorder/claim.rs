//! Which slot a thread records into.
//!
//! A thread takes the first free slot at its first recorded call and gives it back when it exits, through a pthread
//! key: its destructor runs again when later destructors of the same thread still call the library.
#![allow(unsafe_code)]

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::{cold, cost, counting, recent, release, timeline, tls};
use crate::clock::Scale;
use crate::hash::fibonacci;
use crate::segment::layout::{OWNER_NONE, Region, SLOT_BYTES, SLOTS, Slot};

static REGION: AtomicPtr<Region> = AtomicPtr::new(std::ptr::null_mut());
/// The process that attached: a forked child has another id and must not write.
static PID: AtomicU32 = AtomicU32::new(0);
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// Copy of what the region says, for recording.
static SAMPLE_OVERHEAD: AtomicU64 = AtomicU64::new(0);
/// No slot was free at the last look, and none was given back since.
static FULL: AtomicBool = AtomicBool::new(false);

/// What a thread does at its first call, and what at its end.
type Observer = (fn(), fn());

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// From now on each thread does this at its first call that is recorded, and that when it ends. Once a process.
pub fn observe_threads(begins: fn(), ends: fn()) {
    let _ = OBSERVER.set((begins, ends));
}

/// Where a thread records.
pub(super) enum Place {
    /// A slot that the calling thread now owns.
    Own(&'static Slot),
    /// The shared slot of this region.
    Shared(&'static Region),
    /// Nothing is attached, or this process is a forked child.
    Nowhere,
}

/// The attached region.
pub(super) fn region() -> Option<&'static Region> {
    let region = REGION.load(Acquire);
    // SAFETY: null or set by `publish` to a mapping that is never unmapped.
    let region = unsafe { region.as_ref() }?;
    (PID.load(Relaxed) == std::process::id()).then_some(region)
}

/// Makes a region the one to record into. Slots are prepared so that a claim only has to take one.
pub(super) fn publish(region: &'static Region, pe: u32, npes: u32, first_local: u32, local_pes: u32, scale: Scale) {
    let shared = &region.slots[SLOTS];
    prepare(shared, pe, first_local, local_pes, scale);
    shared.tables.teams[0].stride.store(1, Relaxed);
    shared.tables.teams[0].size.store(npes as i32, Relaxed);
    let overhead = cold::sample_overhead(shared);
    region.head.sample_overhead.store(overhead, Relaxed);
    SAMPLE_OVERHEAD.store(overhead, Relaxed);
    cost::measure(region);
    PID.store(std::process::id(), Relaxed);
    FULL.store(false, Relaxed);
    create_key();
    REGION.store(std::ptr::from_ref(region).cast_mut(), Release);
}

/// Stops recording in this process: later claims find nothing.
pub(super) fn withdraw() {
    REGION.store(std::ptr::null_mut(), Release);
    forget();
}

/// Makes the calling thread forget its slot, which stays as it is.
pub(super) fn forget() {
    tls::set_slot(None);
}

/// As [`region`], without asking whether this is a forked child: for calls that only PEs make, and that should not cost
/// a system call.
pub(super) fn region_unchecked() -> Option<&'static Region> {
    // SAFETY: as in `region`.
    unsafe { REGION.load(Acquire).as_ref() }
}

/// Whether the PE has begun to finalize: what the system gives it from then on is no part of the run.
pub(super) fn is_finalizing() -> bool {
    region_unchecked().is_some_and(|region| region.head.finalize_ticks.load(Relaxed) != 0)
}

/// As [`region`], without a system call where the thread has a slot: a forked child's threads have none of their
/// parent's.
pub(super) fn region_of_thread() -> Option<&'static Region> {
    if tls::slot().is_some() { region_unchecked() } else { region() }
}

/// The calling thread's slot, claimed if need be, and its region. Threads that share a slot have none.
pub(super) fn own() -> Option<(&'static Region, &'static Slot)> {
    let slot = tls::slot().or_else(|| match claim() {
        Place::Own(slot) => Some(slot),
        Place::Shared(_) | Place::Nowhere => None,
    })?;
    Some((region_unchecked()?, slot))
}

/// The calling thread, as the system counts them.
pub(super) fn me() -> u32 {
    tls::slot().map_or_else(thread_id, |slot| slot.head.owner.load(Relaxed))
}

/// Which of the attached region's slots this is.
#[inline(always)]
pub(crate) fn slot_index(slot: &Slot) -> usize {
    let region = REGION.load(Relaxed).cast_const().cast::<u8>();
    let first = region.wrapping_add(std::mem::offset_of!(Region, slots)).addr();
    std::ptr::from_ref(slot).addr().wrapping_sub(first) / SLOT_BYTES
}

/// Whether the calling thread owns a slot, or nobody does.
pub(crate) fn is_own_or_free(index: usize) -> bool {
    let own = tls::slot().is_some_and(|slot| slot_index(slot) == index);
    let owner = || Some(region_unchecked()?.slots.get(index)?.head.owner.load(Acquire));
    own || owner() == Some(OWNER_NONE)
}

/// The shared slot of the attached region, without asking whether this is a forked child: for calls that were entered.
pub(super) fn shared() -> Option<&'static Slot> {
    // SAFETY: as in `region`.
    unsafe { REGION.load(Acquire).as_ref() }.map(|region| &region.slots[SLOTS])
}

/// What timing a sample takes, in ticks times 256.
pub(super) fn sample_overhead() -> u64 {
    SAMPLE_OVERHEAD.load(Relaxed)
}

/// Finds the calling thread a place.
pub(super) fn claim() -> Place {
    let Some(region) = region() else { return Place::Nowhere };
    if FULL.load(Relaxed) {
        return Place::Shared(region);
    }
    let thread = thread_id();
    match own_again(region, thread).or_else(|| take_free(region, thread)).or_else(|| take_dead(region, thread)) {
        Some(slot) => {
            tls::set_slot(Some((slot, recent::of_slot(slot_index(slot)))));
            release_at_exit(slot);
            if let Some((begins, _)) = OBSERVER.get() {
                begins();
            }
            Place::Own(slot)
        }
        None => {
            FULL.store(true, Relaxed);
            Place::Shared(region)
        }
    }
}

/// A slot that this thread still owns: its pointer was reset by a fork or a detach.
fn own_again(region: &'static Region, thread: u32) -> Option<&'static Slot> {
    used(region).find(|slot| slot.head.owner.load(Relaxed) == thread)
}

fn take_free(region: &'static Region, thread: u32) -> Option<&'static Slot> {
    region.slots[..SLOTS].iter().enumerate().find_map(|(index, slot)| take(region, index, slot, OWNER_NONE, thread))
}

/// A slot whose owner ended without giving it back: more rounds of destructors than the system runs.
fn take_dead(region: &'static Region, thread: u32) -> Option<&'static Slot> {
    region.slots[..SLOTS].iter().enumerate().find_map(|(index, slot)| {
        let owner = slot.head.owner.load(Relaxed);
        (owner != OWNER_NONE && !is_alive(owner)).then(|| take(region, index, slot, owner, thread)).flatten()
    })
}

fn take(region: &'static Region, index: usize, slot: &'static Slot, from: u32, thread: u32) -> Option<&'static Slot> {
    // Acquire pairs with the release of the previous owner: its counts are seen before they are added to.
    slot.head.owner.compare_exchange(from, thread, AcqRel, Relaxed).ok()?;
    let head = &slot.head;
    if slot.tables.owners.load(Relaxed) == 0 {
        // The shared slot has what every slot needs to know.
        let model = &region.slots[SLOTS].head;
        head.pe.store(model.pe.load(Relaxed), Relaxed);
        head.first_local.store(model.first_local.load(Relaxed), Relaxed);
        head.local_pes.store(model.local_pes.load(Relaxed), Relaxed);
        head.clock_source.store(model.clock_source.load(Relaxed), Relaxed);
        head.clock_mult.store(model.clock_mult.load(Relaxed), Relaxed);
        head.clock_overhead.store(model.clock_overhead.load(Relaxed), Relaxed);
        head.random.store(seed(thread, index), Relaxed);
        let world = &slot.tables.teams[0];
        world.stride.store(1, Relaxed);
        world.size.store(region.slots[SLOTS].tables.teams[0].size.load(Relaxed), Relaxed);
    }
    let now = super::hot::ticks(head);
    // What the thread before was in has been settled.
    head.region_since.store(now, Relaxed);
    slot.tables.lives.since.store(now, Relaxed);
    // What it had issued, and where it was last, is not the new one's.
    super::nbi::begin(slot);
    let phase = &slot.tables.phase;
    [&phase.site, &phase.left, &phase.passed_site, &phase.waits_ns].iter().for_each(|word| word.store(0, Relaxed));
    phase.claimed_ns.store(head.claimed_ns.load(Relaxed), Relaxed);
    super::system::begin_queue(slot);
    slot.tables.owners.store(slot.tables.owners.load(Relaxed) + 1, Relaxed);
    timeline::begin(slot, &region.head);
    release::begin(slot);
    region.head.threads.fetch_add(1, Relaxed);
    region.head.slots_used.fetch_max(index as u32 + 1, Release);
    Some(slot)
}

fn used(region: &'static Region) -> impl Iterator<Item = &'static Slot> {
    region.slots[..SLOTS].iter().take(region.head.slots_used.load(Acquire) as usize)
}

fn prepare(slot: &Slot, pe: u32, first_local: u32, local_pes: u32, scale: Scale) {
    let head = &slot.head;
    head.pe.store(pe as i32, Relaxed);
    head.first_local.store(first_local as i32, Relaxed);
    head.local_pes.store(local_pes, Relaxed);
    head.clock_source.store(scale.source as u32, Relaxed);
    head.clock_mult.store(scale.mult, Relaxed);
    head.clock_overhead.store(scale.overhead, Relaxed);
    head.random.store(seed(pe, SLOTS), Relaxed);
}

fn seed(a: u32, b: usize) -> u64 {
    fibonacci((u64::from(a) << 32 | b as u64).wrapping_add(1)) | 1
}

fn create_key() {
    if KEY.load(Relaxed) != u32::MAX {
        return;
    }
    let mut key: libc::pthread_key_t = 0;
    // SAFETY: `key` is a valid place; the destructor is a function of this library, which is never unloaded while
    // attached. Without a key, slots of ended threads are found by `take_dead`.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_thread_exit)) } == 0 {
        KEY.store(key, Relaxed);
    }
}

fn release_at_exit(slot: &'static Slot) {
    let key = KEY.load(Relaxed);
    if key != u32::MAX {
        // SAFETY: the key exists; the value is only handed back to `at_thread_exit`.
        unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(slot).cast()) };
    }
}

/// Gives the slot of an exiting thread back.
extern "C" fn at_thread_exit(slot: *mut libc::c_void) {
    // SAFETY: `release_at_exit` stored a slot of a mapping that is never unmapped.
    let slot = unsafe { &*slot.cast::<Slot>() };
    if PID.load(Relaxed) == std::process::id() && tls::slot().is_some() {
        super::control::leave_regions(slot);
    }
    tls::set_slot(None);
    if let Some((_, ends)) = OBSERVER.get() {
        ends();
    }
    if PID.load(Relaxed) == std::process::id() {
        crate::trace::thread_ends(slot);
        counting::thread_ends(slot);
        timeline::end(slot);
        end_life(slot);
        let _ = slot.head.owner.compare_exchange(thread_id(), OWNER_NONE, Release, Relaxed);
        FULL.store(false, Relaxed);
    }
}

/// Adds the life of a slot's owner, from the end of initialization on.
fn end_life(slot: &Slot) {
    let Some(region) = region_unchecked() else { return };
    if !is_finalizing() {
        super::system::note_queue(slot);
    }
    let lives = &slot.tables.lives;
    let begin = lives.since.load(Relaxed).max(region.head.init_ticks.load(Relaxed));
    let life = super::unrecorded::recorded(super::hot::ticks(&slot.head)).saturating_sub(begin);
    lives.ended.store(lives.ended.load(Relaxed).saturating_add(life), Relaxed);
}

fn thread_id() -> u32 {
    // SAFETY: no precondition.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

fn is_alive(thread: u32) -> bool {
    // SAFETY: signal 0 only asks whether the thread exists.
    let answer = unsafe {
        libc::syscall(libc::SYS_tgkill, libc::c_long::from(std::process::id()), libc::c_long::from(thread), 0)
    };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
