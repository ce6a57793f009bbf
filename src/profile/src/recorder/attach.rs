//! The recorder's life: attach, level, marks, fork, detach.
#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use super::claim;
use crate::arm;
use crate::clock::{Scale, realtime_ns};
use crate::segment::layout::{
    HEADER_BYTES, PE_ATTACHED, PE_FINALIZED, PE_INITIALIZED, REGION_BYTES, Region, SLOTS, Slot,
};
use crate::segment::{JobInfo, Mapping, Origin, SegmentShape, create, host_name};

/// A moment in the life of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Initialization ended.
    Initialized,
    /// The last finalization began.
    Finalizing,
    /// The last finalization ended.
    Finalized,
}

/// Maps this PE's part of the profile segment behind `fd` and begins to record into it as soon as a level is set.
/// The descriptor stays the caller's and may be closed. Attaching again replaces the region.
///
/// `pe` and `first_local_pe` are world numbers; the host has `local_pes` PEs from `first_local_pe` on.
///
/// # Errors
/// `InvalidData` for a segment of another build, `InvalidInput` for a PE that has no region in it, else what the system
/// answered. The PE can run on without a profile.
pub fn attach(fd: RawFd, pe: u32, npes: u32, first_local_pe: u32, local_pes: u32) -> io::Result<()> {
    let facts = SegmentShape::read(fd)?;
    let index = pe.checked_sub(facts.first_pe).filter(|&i| i < facts.local_pes && facts.npes == npes);
    let Some(index) = index else {
        let (first, end, all) = (facts.first_pe, facts.first_pe + facts.local_pes, facts.npes);
        let message =
            format!("profile segment: PE {pe} of {npes} is not among its PEs {first} to {} of {all}", end - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mapping = Mapping::new(fd, HEADER_BYTES + index as usize * REGION_BYTES, REGION_BYTES, true)?;
    // SAFETY: `SegmentShape::read` checked that the segment, sealed against shrinking, has all its regions; the mapping
    // is page-aligned and never unmapped (threads may be in the middle of a call); all fields are atomics.
    let region = unsafe { &*mapping.leak().cast::<Region>() };
    let head = &region.head;
    head.pe.store(pe, Relaxed);
    head.pid.store(std::process::id(), Relaxed);
    head.host.set(&host_name());
    head.attach_ticks.store(facts.scale.now(), Relaxed);
    head.queued_before.store(super::system::queued_before_ns(), Relaxed);
    head.state.store(PE_ATTACHED, Relaxed);
    claim::forget();
    arm::set_counts_only(facts.counts_only);
    arm::forget_sampled_sites();
    super::modules::note(region);
    super::control::serve(fd)?;
    super::release::unmap();
    super::locks::unmap();
    if !facts.counts_only {
        super::locks::map(fd);
    }
    if !facts.counts_only && super::release::map(fd, &facts).is_err() {
        // Who ended a wait stays unknown.
        super::release::unmap();
    }
    claim::publish(region, pe, npes, first_local_pe, local_pes, facts.scale);
    forget_in_forked_children();
    Ok(())
}

/// A segment for the PEs `pes` of a job of `npes`, made by one of them, whose initialization began so long ago.
/// `counts_only`: nobody will see more than the numbers by routine.
///
/// # Errors
/// As [`create`].
pub fn shared_segment(pes: Range<u32>, npes: u32, counts_only: bool, ago: Duration) -> io::Result<OwnedFd> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let (program, arguments) = (words.next().unwrap_or_default(), words.collect());
    let local_pes = Some(pes.len() as u32);
    let (scale, ago) = (Scale::of_this_machine(), u64::try_from(ago.as_nanos()).unwrap_or(0));
    let origin = Origin {
        counter_ns: scale.ns(scale.now()).saturating_sub(ago),
        realtime_ns: realtime_ns().saturating_sub(ago),
        launcher_pid: std::process::id(),
    };
    create(
        npes,
        &JobInfo {
            program,
            arguments,
            first_pe: pes.start,
            local_pes,
            counts_only,
            origin: Some(origin),
            ..JobInfo::default()
        },
    )
}

/// Records into a segment of this process's own: for a PE that runs without a launcher. The descriptor of the segment
/// is returned; dropping it changes nothing.
///
/// # Errors
/// As [`attach`].
pub fn attach_private(pe: u32, npes: u32, counts_only: bool) -> io::Result<OwnedFd> {
    let fd = shared_segment(pe..pe + 1, npes, counts_only, Duration::ZERO)?;
    attach(fd.as_raw_fd(), pe, npes, pe, 1)?;
    Ok(fd)
}

/// Whether this process records into a segment. No system call for a thread that has recorded.
pub fn is_attached() -> bool {
    claim::region_of_thread().is_some()
}

/// Sets the profiling level: 0 or less disarms every entry point. Without a segment the level stays off.
pub fn set_level(level: i32) {
    let Some(region) = claim::region_of_thread() else { return arm::set_level(level.min(0)) };
    let head = &region.head;
    if head.level.load(Relaxed) == level && arm::level() == level {
        return;
    }
    if head.max_level.load(Relaxed) > 0 && head.level.load(Relaxed) != level {
        head.level_changes.fetch_add(1, Relaxed);
    }
    if level > 0 && arm::level() <= 0 {
        super::nbi::begin_anew(super::hot::ticks(&region.slots[SLOTS].head));
        if head.max_level.load(Relaxed) <= 0 {
            super::unrecorded::began_before(head);
        }
        super::unrecorded::end(region);
    }
    if level > 0 && head.state.load(Relaxed) == PE_ATTACHED {
        super::early::make(&region.slots[0]);
    }
    head.level.store(level, Relaxed);
    head.max_level.fetch_max(level, Relaxed);
    let was_on = arm::level() > 0;
    arm::set_level(level);
    if was_on && level <= 0 {
        super::unrecorded::begin(region);
    }
}

/// The profiling level in force.
pub fn level() -> i32 {
    arm::level()
}

/// Stamps a moment in the life of this PE.
pub fn mark(mark: Mark) {
    let Some(region) = claim::region() else { return };
    let head = &region.head;
    let now = super::hot::ticks(&region.slots[SLOTS].head);
    match mark {
        Mark::Initialized => {
            super::modules::note(region);
            super::system::note_usage(region);
            if head.init_ticks.load(Relaxed) == 0 {
                head.usage_before.iter().zip(&head.usage).for_each(|(to, of)| to.store(of.load(Relaxed), Relaxed));
            }
            if let Some(slot) = super::tls::slot() {
                super::system::begin_queue(slot);
                // What is outside of all regions begins here, too.
                slot.head.region_since.store(super::hot::ticks(&slot.head), Relaxed);
            }
            head.init_ticks.store(now, Relaxed);
            if head.max_level.load(Relaxed) > 0 && arm::level() <= 0 {
                super::unrecorded::begin(region);
            }
            head.state.store(PE_INITIALIZED, Relaxed);
        }
        Mark::Finalizing => {
            // Objects that were loaded later are known now.
            super::modules::note(region);
            super::counting::refresh();
            super::network::refresh();
            super::unrecorded::end(region);
            super::system::note_usage(region);
            if let Some(slot) = super::tls::slot() {
                super::system::note_queue(slot);
                super::timeline::settle_until(slot, now);
            }
            head.finalize_ticks.store(now, Relaxed);
        }
        Mark::Finalized => {
            super::counting::refresh();
            head.end_ticks.store(now, Relaxed);
            head.state.store(PE_FINALIZED, Relaxed);
        }
    }
}

/// The calling thread's slot, claimed where it has none, and the time now on its clock.
pub(crate) fn own_slot() -> Option<(&'static Slot, u64)> {
    let slot = super::tls::slot().or_else(|| match claim::claim() {
        claim::Place::Own(slot) => Some(slot),
        claim::Place::Shared(_) | claim::Place::Nowhere => None,
    })?;
    Some((slot, super::hot::ticks(&slot.head)))
}

/// The time now on a slot's clock.
pub(crate) fn now(slot: &Slot) -> u64 {
    super::hot::ticks(&slot.head)
}

/// This PE's run began at `stamp`: before its initialization, which is a call like any other in the profile.
pub fn began(stamp: super::Stamp) {
    let Some(region) = claim::region() else { return };
    region.head.attach_ticks.store(super::hot::ticks_of(&region.slots[SLOTS].head, stamp), Relaxed);
}

/// Stops recording in this process for good. The numbers stay in the segment.
pub fn detach() {
    arm::set_level(0);
    claim::withdraw();
}

/// Stops recording in a forked child, which must not write to its parent's slots. To be called by the runtime's fork
/// handler once the child's static data is its own. Until then, and where nobody calls it, a child's calls find that
/// the process id differs and record nothing.
pub fn detach_after_fork() {
    detach();
}

/// In every forked child the calling thread's slot pointer is reset: it belongs to the parent. Only thread-local memory
/// is touched, since the child's static data may still be shared with the parent at that point.
fn forget_in_forked_children() {
    extern "C" fn child() {
        claim::forget();
    }
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Relaxed) {
        // SAFETY: the handler is a function of this library that only resets a thread-local pointer.
        unsafe { libc::pthread_atfork(None, None, Some(child)) };
    }
}
