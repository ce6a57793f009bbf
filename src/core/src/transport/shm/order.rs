//! Ordering of stores.
#![allow(unsafe_code)]

use std::sync::atomic::{Ordering, fence as cpu_fence};

/// Stores before are seen by other PEs before stores after: free on x86, where stores are never reordered (copies that
/// use streaming stores end with a store fence of their own).
#[inline(always)]
pub fn fence() {
    cpu_fence(Ordering::Release);
}

/// Stores before are visible to every PE before any later load or store of this one.
#[inline(always)]
pub fn quiet() {
    #[cfg(target_arch = "x86_64")]
    // A locked instruction drains the store buffer, at a tenth of the cost of mfence. It works on a word of the red
    // zone: at the top of the stack it would wait for a push just before it, which takes four times as long. SAFETY:
    // or-ing 0 changes nothing, whatever the word holds; the red zone belongs to this thread.
    unsafe {
        std::arch::asm!("lock or dword ptr [rsp - 64], 0");
    }
    #[cfg(not(target_arch = "x86_64"))]
    cpu_fence(Ordering::SeqCst);
}
