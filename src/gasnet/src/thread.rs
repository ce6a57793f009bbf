//! What is kept for each thread.
#![allow(unsafe_code)]

use crate::am::prepare::Prepared;
use crate::am::token::Token;
use crate::nbi::Operations;
use crate::progress::Stalled;
use crate::vis::{self, PeerCompletion};
use crate::{nbi, progress};
use pellucid_core::os::thread::AtEnd;
use std::ffi::c_void;
use std::ptr;

/// `struct pellucid_gasnet_thread` of `shim/thread.c`.
#[derive(Debug)]
#[repr(C)]
pub struct Thread {
    /// Handlers that run here, locks held, messages prepared: with any of them little may be called.
    pub restricted: u32,
    /// Handler-safe locks held.
    pub locks: u32,
    /// Polls in a row that found nothing.
    pub idle: u32,
    /// Where the thread is besides: [`crate::fail::Section`].
    pub section: u32,
    /// Of the message whose handler runs here.
    pub token: *mut Token,
    /// A message between Prepare and Commit.
    pub prepared: *mut Prepared,
    /// Operations without an event of their own.
    pub operations: *mut Operations,
    /// What the next VIS put tells its peer.
    pub completion: *mut PeerCompletion,
    /// The locks held, as far as there is room.
    pub held: [*const c_void; 8],
    /// Polls have found nothing for long.
    pub stalled: *mut Stalled,
    /// When a request's last wait for room was over, on the profile's clock.
    pub waited: u64,
}

#[allow(improper_ctypes)] // pointers that the C side only keeps
unsafe extern "C" {
    #[cfg(not(target_arch = "x86_64"))]
    fn pellucid_gasnet_thread_get() -> *mut Thread;
}

/// The calling thread's.
#[inline(always)]
pub fn get() -> &'static mut Thread {
    let thread: *mut Thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the address of the initial-exec thread-local variable of shim/thread.c: the same throughout a call, so
    // that it may be kept in a register.
    unsafe {
        core::arch::asm!(
            "mov {thread}, qword ptr [rip + pellucid_gasnet_thread@GOTTPOFF]",
            "add {thread}, qword ptr fs:[0]",
            thread = out(reg) thread,
            options(pure, nomem, nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: no precondition.
    unsafe {
        thread = pellucid_gasnet_thread_get();
    }
    // SAFETY: the thread's own variable, there as long as the thread is; no caller keeps the reference across a call of
    // another function that takes it.
    unsafe { &mut *thread }
}

/// Has what is kept for the calling thread given back when it ends.
pub fn release_at_exit() {
    static KEEPERS: AtEnd = AtEnd::new(at_exit);
    KEEPERS.ask();
}

fn at_exit() {
    let thread = get();
    drop(vis::take_completion());
    if !thread.stalled.is_null() {
        progress::over(thread);
    }
    let operations = std::mem::replace(&mut thread.operations, ptr::null_mut());
    if !operations.is_null() {
        // SAFETY: made from a box by `nbi`, and taken once.
        nbi::give_back(*unsafe { Box::from_raw(operations) });
    }
}
