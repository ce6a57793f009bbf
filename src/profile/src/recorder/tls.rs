//! What belongs to the calling thread: its slot and what it has called of late (null until its first recorded call, and
//! again once it exits), and where the call returns to that an entry is about to record.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use super::recent::Recent;
use crate::segment::layout::Slot;

unsafe extern "C" {
    #[cfg(not(target_arch = "x86_64"))]
    fn pellucid_profile_slot_get() -> *const Slot;
    #[cfg(not(target_arch = "x86_64"))]
    fn pellucid_profile_site_get() -> u64;
    #[cfg(not(target_arch = "x86_64"))]
    fn pellucid_profile_recent_get() -> *const c_void;
    fn pellucid_profile_slot_set(slot: *const Slot, recent: *const c_void);
    fn pellucid_profile_site_set(site: u64);
}

/// The word at this place of the thread-local variable of shim/slot.c, which is initial-exec: a load relative to the
/// thread pointer.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn word<T, const AT: usize>() -> *const T {
    let word: *const T;
    // SAFETY: reads a variable that holds for every thread the library can be called on; not an option `pure`, so
    // that a value from before a claim is not reused after it.
    unsafe {
        core::arch::asm!(
            "mov {word}, qword ptr [rip + pellucid_profile_thread@GOTTPOFF]",
            "mov {word}, qword ptr fs:[{word} + {at}]",
            word = out(reg) word,
            at = const AT,
            options(readonly, nostack, preserves_flags)
        );
    }
    word
}

/// The calling thread's slot.
#[inline(always)]
pub(super) fn slot() -> Option<&'static Slot> {
    #[cfg(target_arch = "x86_64")]
    let slot = word::<Slot, 0>();
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: no precondition.
    let slot = unsafe { pellucid_profile_slot_get() };
    // SAFETY: the pointer is null or was set by `set_slot` to a slot of a mapping that is never unmapped.
    unsafe { slot.as_ref() }
}

/// [`slot`] and [`site`], whose place is looked up once.
#[inline(always)]
pub(super) fn slot_and_site() -> (Option<&'static Slot>, u64) {
    #[cfg(target_arch = "x86_64")]
    {
        let (slot, site): (*const Slot, u64);
        // SAFETY: as in `word`; the pointer as in `slot`.
        unsafe {
            core::arch::asm!(
                "mov {site}, qword ptr [rip + pellucid_profile_thread@GOTTPOFF]",
                "mov {slot}, qword ptr fs:[{site}]",
                "mov {site}, qword ptr fs:[{site} + 8]",
                slot = out(reg) slot,
                site = out(reg) site,
                options(readonly, nostack, preserves_flags)
            );
            (slot.as_ref(), site)
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    (slot(), site())
}

/// Where the call returns to that the calling thread's last armed entry was for; 0 before the first.
#[inline(always)]
pub(crate) fn site() -> u64 {
    #[cfg(target_arch = "x86_64")]
    let site = word::<u8, 8>().addr() as u64;
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: no precondition.
    let site = unsafe { pellucid_profile_site_get() };
    site
}

/// What the calling thread has called of late.
#[inline(always)]
pub(super) fn recent() -> Option<&'static Recent> {
    #[cfg(target_arch = "x86_64")]
    let recent = word::<Recent, 16>();
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: no precondition.
    let recent: *const Recent = unsafe { pellucid_profile_recent_get() }.cast();
    // SAFETY: the pointer is null or was set by `set_slot`.
    unsafe { recent.as_ref() }
}

/// Sets the calling thread's slot, and what its owner has called of late.
pub(super) fn set_slot(own: Option<(&'static Slot, &'static Recent)>) {
    let (slot, recent) = own.unzip();
    // SAFETY: stores thread-local pointers.
    unsafe {
        pellucid_profile_slot_set(
            slot.map_or(ptr::null(), ptr::from_ref),
            recent.map_or(ptr::null(), |recent| ptr::from_ref(recent).cast()),
        );
    }
}

/// Sets where the call returns to that is recorded next: what an entry does, for calls that come another way.
pub fn set_site(site: u64) {
    // SAFETY: stores a thread-local number.
    unsafe { pellucid_profile_site_set(site) }
}
